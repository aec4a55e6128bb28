"""Files damaged on purpose, by the thousand: each is read, or refused with a `FileError`; nothing else may happen.

A seed says which file is damaged, and how. `make fuzz` tries 100,000 of them, in two processes:

    python -m tests.io.mutations 100000              from seed 0 on
    python -m tests.io.mutations --seed 4711         that one alone, with what it raises
    python -m tests.io.mutations 5000 --only .fbx    those whose names contain this
"""

import argparse
import json
import multiprocessing
import random
import shutil
import signal
import struct
import tempfile
import time
import traceback
import warnings
from collections import Counter
from copy import deepcopy
from pathlib import Path

import numpy as np

import kinema as km
from tests.assets import FOLDER
from tests.io.fbx import build as fbx
from tests.io.gltf.build import arm, glb
from tests.io.points.build import C3D, TRC, archive
from tests.io.robot.build import CRANE, DEGREES, LIFT

SECONDS = 10
"""A file may take no longer, in the processor's time: a machine that is busy with something else does not matter."""

MEBIBYTES = 1_500
"""A process may not grow beyond: what 50 million numbers need, and the compiler."""

BVH_FRAMES = 3

# --- files to damage -------------------------------------------------------------------------------------------


def sources():
    """{name: bytes}: small ones of every kind, made in code, and real ones where they are."""
    found = {"made.glb": everything().glb(), "made.gltf": everything().gltf(), "made.bvh": ARM_BVH}
    for pattern in ("torture/*.glb", "torture/*/*.gltf", "vrm/*", "gltf/RiggedFigure.glb", "gltf/Fox.glb"):
        for path in sorted(FOLDER.glob(pattern)):
            if path.stat().st_size < 200_000 and "meshopt" not in path.name:
                found[path.name] = path.read_bytes()
    found |= {f"made_{version}_{form.__name__}.fbx": form(tree, version) for form, version, tree in _made_fbx()}
    for path in sorted(FOLDER.glob("fbx/*.fbx")):
        if path.stat().st_size < 60_000:
            found[path.name] = path.read_bytes()
    for path in sorted(FOLDER.glob("bvh/*.bvh")):
        found[path.name] = _shortened(path.read_text(encoding="utf-8"))
    return found | _points() | _robots()


def _robots():
    """Robots, and a motion of an average person."""
    poses = np.zeros((2, 66))
    return {
        "robot.urdf": LIFT.encode(),
        "robot.xml": CRANE.format(order="xyz", **DEGREES).encode(),
        "smpl.npz": archive(poses=poses, trans=np.ones((2, 3)), betas=np.zeros(10), gender="neutral", fps=30.0),
    }


def _points():
    """Files of points of every kind."""
    positions = np.arange(36.0).reshape(3, 3, 4)
    people = [{"image_id": f"{i}.jpg", "keypoints": list(range(51)), "idx": i % 2} for i in range(4)]
    frames = {"fps": 30, "frames": [{"landmarks": [{"x": 1, "y": i, "z": 2, "visibility": 1}] * 3} for i in range(3)]}
    return {
        **{f"points_{kind}.c3d": C3D(positions, kind, scale, analog=2).bytes() for kind, scale in _C3D},
        "points.trc": TRC.encode(),
        "points.csv": b"frame,time,a_x,a_y,a_z,b_x,b_y,b_z,b_score\n0,0,1,2,3,4,5,6,0.5\n1,0.1,1,2,3,4,5,,1\n",
        "points_long.csv": b"frame,person,name,x,y,z\n0,a,nose,1,2,3\n0,a,chin,1,2,3\n1,b,nose,1,2,3\n",
        "points_people.json": json.dumps(people).encode(),
        "points_frames.json": json.dumps(frames).encode(),
        "points.npz": archive(points=positions, names=["a", "b", "c"], fps=30.0),
    }


_C3D = (("intel", -1.0), ("dec", -1.0), ("sgi", 0.5))


def _made_fbx():
    return [(form, version, fbx.leg()) for form, version in fbx.FORMS] + [
        (fbx.binary, 6100, fbx.old_leg()),
        (fbx.text, 6100, fbx.old_leg()),
    ]


def _shortened(text):
    """A BVH file with its first frames only."""
    head, motion = text.split("MOTION")
    lines = motion.strip().splitlines()
    kept = [f"Frames: {BVH_FRAMES}", lines[1], *lines[2 : 2 + BVH_FRAMES]]
    return (head + "MOTION\n" + "\n".join(kept) + "\n").encode()


def everything():
    """A glTF file with a little of all there is."""
    made = arm(extensions={"VRMC_vrm": {"humanoid": {"humanBones": {"hips": {"node": 0}, "spine": {"node": 1}}}}})
    made.add("nodes", matrix=[0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1], mesh=1)
    made.add("nodes", mesh=0, skin=0)
    rotations = np.array([(0, 0, 0, 1), (0, 0, 0.6, 0.8)])
    made.animation((0, "translation", (0, 1), np.eye(3)[:2]), (1, "rotation", (0.5, 2), rotations), name="move")
    made.animation(
        (2, "scale", (0, 1), np.ones((6, 3))), (0, "rotation", (0, 1), np.tile(rotations[1], (6, 1))), how="CUBICSPLINE"
    )
    made.animation((3, "weights", (0, 1), (0, 1)), (None, "scale", (0,), [(1, 1, 1)]), how="STEP")
    pulls = {
        "JOINTS_0": made.accessor([(0, 1, 2, 0)] * 3, "uint8"),
        "WEIGHTS_0": made.accessor([(100, 100, 55, 0)] * 3, "uint8", normalized=True),
        "COLOR_0": made.accessor([(65535, 0, 1, 2)] * 3, "uint16", normalized=True),
        "NORMAL": made.accessor([(0, 0, 127, 0)] * 3, "int8", normalized=True, type="VEC3"),
    }
    made.json["bufferViews"][-1]["byteStride"] = 4
    mesh = made.triangle(**pulls)
    made.json["meshes"][mesh]["primitives"][0]["indices"] = made.accessor((0, 1, 2), "uint16")
    made.triangle()
    sparse = {"count": 1, "indices": {"bufferView": made.view(b"\1\0\0\0"), "componentType": 5121}}
    sparse["values"] = {"bufferView": made.view(np.ones(3, "f4").tobytes())}
    position = made.add("accessors", componentType=5126, type="VEC3", count=3, sparse=sparse)
    strip = {"attributes": {"POSITION": position}, "mode": 5, "material": 0, "targets": [{"POSITION": position}]}
    made.json["meshes"][1]["primitives"].append(strip)
    made.add("materials", pbrMetallicRoughness={"baseColorFactor": [1, 0.5, 0, 1]})
    binds = np.tile(np.eye(4), (3, 1, 1)).reshape(3, 16)
    made.add("skins", joints=[0, 1, 2], inverseBindMatrices=made.accessor(binds))
    return made


ARM_BVH = b"""HIERARCHY
ROOT Hips { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg { OFFSET 0 -1 0.5 CHANNELS 3 Zrotation Xrotation Yrotation
    End Site { OFFSET 0 -1 0 } } }
MOTION
Frames: 2
Frame Time: 0.0333
0 1 0 10 20 30 1 2 3
0 1 0.5 11 21 31 4 5 6
"""

# --- damage ----------------------------------------------------------------------------------------------------

NASTY = [
    *(None, True, False, -1, 0, 1, 2, 3, 255, 2**31 - 1, 2**31, 2**32, 2**63, 10**30, -(2**31), 5120, 5126),
    *(0.5, -0.0, 1e-320, 1e30, 1e38, 1e99, 1e308, [], {}, [[]], [0], [0] * 4, [1e99] * 3, [0] * 16, {"a": 1}),
    *("", "x", "2.0", "VEC4", "STEP", "CUBICSPLINE", "rotation", "\ud800", "../x.bin", "/etc/passwd", "data:,"),
]
"""Values to put where others belong."""

WORDS = [
    b"nan",
    b"-1",
    b"1e400",
    b"1e30",
    b"0",
    b"{",
    b"}",
    b"JOINT",
    b"End Site",
    b"CHANNELS",
    b"",
    b"999999999",
    b"\xff",
]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, 1e38, -1e38, 1e-45, -1.0]


def damaged(data, name, chance):
    """Some bytes, damaged a little."""
    if chance.random() < 0.05:
        return data[: chance.randrange(len(data))]
    if chance.random() < 0.1:
        return _bytes_changed(data, chance)
    if name.startswith("made_"):
        return _elements_changed(name, chance)
    if name.startswith("points"):
        textual = {"csv": b",", "trc": b"\t"}.get(name[-3:])
        if name.endswith(".json"):
            tree = {"": json.loads(data)}
            _member_changed(tree, chance)
            return json.dumps(tree.get("")).encode()
        return _words_changed(data, chance, textual) if textual else _bytes_changed(data, chance)
    if name.startswith("robot"):
        return _attributes_changed(data, chance) if chance.random() < 0.7 else _words_changed(data, chance)
    if name == "smpl.npz":
        return _bytes_changed(data, chance)
    if name.endswith(".fbx"):
        return _words_changed(data, chance, b",") if data[:1] == b";" else _bytes_changed(data, chance)
    return _words_changed(data, chance) if name.endswith(".bvh") else _parts_changed(data, chance)


def _bytes_changed(data, chance):
    changed = bytearray(data)
    reach = len(data) if chance.random() < 0.5 else min(len(data), 2_000)
    for _ in range(chance.choice((1, 2, 8, 64))):
        changed[chance.randrange(reach)] = chance.choice((0, 255, 34, 44, 48, 57, 91, 123, chance.randrange(256)))
    return bytes(changed)


def _elements_changed(name, chance):
    """An FBX file with elements that are others; sometimes its arrays are deflated."""
    form, version, tree = next(
        (form, version, tree) for form, version, tree in _made_fbx() if name == f"made_{version}_{form.__name__}.fbx"
    )
    for _ in range(chance.choice((1, 1, 2, 4))):
        _member_changed({"": tree}, chance)
    options = {"deflate": chance.random() < 0.3} if form is fbx.binary else {}
    return form(tree, version, **options)


def _words_changed(data, chance, between=b" "):
    words = data.split(between)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(words))
        words[at : at + chance.choice((0, 1, 1, 3))] = [chance.choice(WORDS)]
    return between.join(words)


def _attributes_changed(data, chance):
    """XML with attributes that are others."""
    parts = data.split(b'"')
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = 2 * chance.randrange(len(parts) // 2) + 1
        words = parts[at].split(b" ")
        words[chance.randrange(len(words))] = chance.choice((*WORDS, parts[2 * chance.randrange(len(parts) // 2) + 1]))
        parts[at] = b" ".join(words).replace(b'"', b"")
    return b'"'.join(parts)


def _parts_changed(data, chance):
    """A glTF file whose JSON or binary is another, and whose headers say so."""
    if data[:4] == b"glTF":
        size = struct.unpack_from("<I", data, 12)[0]
        tree, binary = json.loads(data[20 : 20 + size]), data[28 + size :]
    else:
        tree, binary = json.loads(data), b""
    if binary and chance.random() < 0.2:
        binary = _numbers_changed(binary, chance)
    else:
        for _ in range(chance.choice((1, 1, 2, 4))):
            _member_changed(tree, chance)
    # A number that JSON has, and Python has no float for.
    text = json.dumps(tree).replace("1e+99", chance.choice(("1e99", "1e999"))).encode()
    return glb(text, binary) if data[:4] == b"glTF" else text


def _numbers_changed(binary, chance):
    changed = bytearray(binary)
    for _ in range(chance.choice((1, 4, 40))):
        struct.pack_into("<f", changed, chance.randrange(len(binary) // 4) * 4, chance.choice(FLOATS))
    return bytes(changed)


def _member_changed(tree, chance):
    """Something somewhere in the tree replaced, left out, doubled, or put elsewhere."""
    spots = []
    # As often in a part of the file that is small as in one that is large.
    _collect(tree if chance.random() < 0.1 else {"": tree[chance.choice(list(tree))]} if tree else tree, spots)
    if not spots:
        return
    holder, key = chance.choice(spots)
    what = chance.random()
    if type(holder[key]) in (int, float) and what < 0.6:
        holder[key] = chance.choice(
            (holder[key] + 1, holder[key] - 1, -holder[key], holder[key] * 1000, holder[key] // 2)
        )
    elif what < 0.2:
        del holder[key]
    elif what < 0.4 and isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    elif what < 0.6:
        other, position = chance.choice(spots)
        holder[key] = deepcopy(other[position])
    else:
        holder[key] = deepcopy(chance.choice(NASTY))


def _collect(tree, spots):
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        spots.append((tree, key))
        if isinstance(value, (dict, list)):
            _collect(value, spots)


# --- trying ----------------------------------------------------------------------------------------------------


class Trial:
    """Where damaged files are put and read from, beside the buffers that some of them need."""

    def __init__(self, folder, only=""):
        """only: what the names of the files contain."""
        self.files = sources()
        self.names = sorted(name for name in self.files if only in name)
        self.folder = Path(folder)
        for path in FOLDER.glob("torture/*/*.bin"):
            shutil.copy(path, self.folder)
        self._compile()

    def _compile(self):
        """Read a file of each kind, so that no other waits for the compiler."""
        for name in ("made.glb", "made.bvh", "made_7400_binary.fbx"):
            path = self.folder / name
            path.write_bytes(self.files[name])
            _check(km.load(path))

    def write(self, seed):
        """The damaged file of a seed."""
        chance = random.Random(seed)
        name = chance.choice(self.names)
        path = self.folder / name
        path.write_bytes(damaged(self.files[name], name, chance))
        return path

    def outcome(self, seed):
        """ "read" or "refused"; whatever else happens is raised."""
        path = self.write(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                if path.name.startswith("points"):
                    _check_takes(km.load_points(path))
                    return "read"
                character = km.load(path, rig=seed % 4 == 0)
            except km.FileError as problem:
                _check_message(problem, path)
                return "refused"
            _check(character)
        return "read"


def _check_message(problem, path):
    assert problem.file == path.name
    assert len(str(problem)) < 500


def _check_takes(takes):
    """Takes of points have the shapes that they promise."""
    for take in takes:
        frames, points, size = take.points.shape
        assert size in (2, 3)
        assert not np.isinf(take.points).any()
        assert not take.names or len(take.names) == points
        assert take.confidence is None or take.confidence.shape == (frames, points)


def _check(character):
    """What was read can be used: everything is finite, clips can be sampled, skins deformed."""
    assert np.isfinite(character.skeleton.rest_world).all()
    for clip in character.clips.values():
        pose = clip.sample((0.0, clip.duration / 2, clip.duration))
        assert all(np.isfinite(part).all() for part in pose.arrays()), clip
    with np.errstate(all="ignore"):  # Numbers at the ends of the range may leave it when they are multiplied.
        palette = character.skeleton.palette(character.skeleton.rest)
        for skin in character.skins:
            assert skin.deform(palette).shape == skin.vertices.shape
            for clip in character.clips.values():
                assert skin.deform(palette, clip.shape_weights(clip.duration / 2)).shape == skin.vertices.shape


def _timed(seeds):
    """What became of some seeds: (counts, slowest (seconds, seed), bugs [(seed, traceback)], peak MiB)."""
    import resource  # Not to be had on Windows, where files are damaged by the tests alone.

    counts, slowest, bugs = Counter(), (0.0, -1), []
    for seed in seeds:
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            counts[_process.outcome(seed)] += 1
        except BaseException:  # The alarm, too.
            bugs.append((seed, traceback.format_exc(limit=-4)))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, (time.process_time() - start, seed))
    return counts, slowest, bugs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


_process = None
"""The `Trial` of this process."""


def _start(folder, only):
    global _process
    signal.signal(signal.SIGPROF, _alarm)
    _process = Trial(tempfile.mkdtemp(dir=folder), only)


def _alarm(*_):
    raise TimeoutError(f"more than {SECONDS} seconds")


def run(first, count, processes=2, piece=200, only=""):
    """Try seeds in several processes; what `_timed` gives, of all. only: what the names of the files contain."""
    pieces = [range(start, min(start + piece, first + count)) for start in range(first, first + count, piece)]
    counts, slowest, bugs, peak = Counter(), (0.0, -1), [], 0
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(processes, _start, [folder, only]) as pool,
    ):
        for done, (some, slow, found, memory) in enumerate(pool.imap_unordered(_timed, pieces), 1):
            counts, slowest, peak = counts + some, max(slowest, slow), max(peak, memory)
            bugs += found
            for at, trace in found:
                print(f"--- seed {at}\n{trace}", flush=True)
            if done % 25 == 0 or done == len(pieces):
                print(f"{sum(counts.values()):,} files, {len(bugs)} bugs, slowest {slowest[0]:.2f} s", flush=True)
    return counts, slowest, bugs, peak


def main():
    options = argparse.ArgumentParser()
    options.add_argument("count", nargs="?", type=int, default=100_000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--seed", type=int)
    options.add_argument("--only", default="", help="damage files whose names contain this")
    options.add_argument("--processes", type=int, default=2)
    given = options.parse_args()
    if given.seed is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(Trial(folder, given.only).outcome(given.seed))
        return
    counts, (seconds, seed), bugs, peak = run(given.first, given.count, given.processes, only=given.only)
    print(f"{dict(counts)}; {len(bugs)} bugs; slowest {seconds:.2f} s (seed {seed}); peak {peak} MiB a process")
    raise SystemExit(bool(bugs) or peak > MEBIBYTES)


if __name__ == "__main__":
    main()
