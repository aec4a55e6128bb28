"""Example files for every command: characters, a capture, grounds, a moving point."""

import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.terrain import stairs
from kinema.errors import FileError, InputError, suggestion
from kinema.fitting.layouts import layout_of
from kinema.io import atomic, files, formats
from kinema.io.surfaces import unit_normals
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

CAPTURE_SECONDS, CAPTURE_FPS, CAPTURE_SWAY = 4.0, 60, 0.02
"""The capture's length, its frame rate, and how far its root sways back and forth, metres: the feet slide by it."""

WEBCAM_SECONDS, WEBCAM_FPS, WEBCAM_NOISE, WEBCAM_SEED = 6.0, 30.0, 0.01, 5
"""Length and rate of the points of a webcam, metres of their noise, and its seed."""

WEBCAM_LAYOUT, LEFT_HIP = layout_of("mediapipe33"), 23
"""Which point is which, and the number of the left hip, which the right one follows."""

WEBCAM_FACE = {
    "nose": (0.0, 0.05, 0.12),
    "eye": (0.032, 0.09, 0.09),
    "ear": (0.075, 0.07, 0.0),
    "mouth_corner": (0.026, 0.015, 0.1),
}
WEBCAM_JOINTS = {
    "shoulder": ("upper_arm", (0.0, 0.0, 0.0)),
    "elbow": ("forearm", (0.0, 0.0, 0.0)),
    "wrist": ("hand", (0.0, 0.0, 0.0)),
    "little_1": ("little_1", (0.0, 0.0, 0.0)),
    "index_1": ("index_1", (0.0, 0.0, 0.0)),
    "thumb_2": ("thumb_2", (0.0, 0.0, 0.0)),
    "hip": ("thigh", (0.0, 0.0, 0.0)),
    "knee": ("shin", (0.0, 0.0, 0.0)),
    "ankle": ("foot", (0.0, 0.0, 0.0)),
    "heel": ("foot", (0.0, -0.06, -0.05)),
    "toe": ("foot", (0.01, -0.065, 0.16)),
}
"""Where its points are: metres to the left, up and ahead of the head joint; joints and metres beside them."""

HILLS_SIZE, HILLS_SPACING, HILLS_HEIGHT = 20.0, 0.25, 0.4
"""Extent of the hills along x and z, distance between their heights, and their amplitude, metres."""

_FILE_SUFFIXES = (*formats.READ, ".npy", ".csv", ".txt", ".json", ".png", ".zip")
"""Suffixes that no folder is meant to have."""


def write(wanted: Sequence[str], folder: Path, *, force: bool = False) -> list[Path]:
    """Write example files to a folder and return their paths.

    Raises `InputError` for an unknown name and `FileError` for a file that exists, before anything is written.
    """
    if folder.suffix.lower() in _FILE_SUFFIXES and not folder.is_dir():
        raise InputError(f"--output is {str(folder)!r}, which is the name of a file; expected a folder")
    for name in wanted:
        if name not in SAMPLES:
            raise InputError(f"there is no sample {name!r:.60}; {suggestion(name, SAMPLES)}")
        if (folder / name).exists() and not force:
            raise FileError("the file exists; --force replaces it", str(folder / name))
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        atomic.write(folder / name, SAMPLES[name]())
    return [folder / name for name in wanted]


def _capture() -> Iterable[bytes]:
    """A walk of several steps whose root sways, so that planted feet slide as in a real capture."""
    person = humanoid()
    walk = person.clips["walk"]
    times = np.arange(int(CAPTURE_SECONDS * CAPTURE_FPS) + 1) / CAPTURE_FPS
    pose = walk.sample(times, loop=True)
    duration = float(walk.duration or 1.0)
    root = person.skeleton.index("root")
    passes = np.floor(times / duration)[:, np.newaxis]
    step = walk.sample(np.array((0.0, duration))).translations[:, root]
    translations = pose.translations.copy()
    translations[:, root] += passes * (step[1] - step[0])
    translations[:, root, 2] += CAPTURE_SWAY * np.sin(2.0 * np.pi * 0.7 * times)
    clip = Clip.from_poses(
        "capture", person.skeleton, Pose(translations, pose.rotations, pose.scales), fps=float(CAPTURE_FPS)
    )
    return files.encode(".bvh", Character(person.skeleton, {"capture": clip}, name="capture"), fps=CAPTURE_FPS)


def _stairs() -> Iterable[bytes]:
    """The mesh of ten steps, as a file with one node."""
    vertices, triangles = stairs(0.17, 0.29, 10).mesh()
    vertices = vertices - (0.0, 0.0, 1.0)  # Ground behind the origin too, where heels are.
    skeleton = Skeleton(["stairs"], [-1], Pose(np.zeros((1, 3)), [(0.0, 0.0, 0.0, 1.0)]))
    weights = np.tile((1.0, 0.0, 0.0, 0.0), (len(vertices), 1))
    joints = np.zeros((len(vertices), 4), int)
    skin = Skin(vertices, triangles, joints, weights, unit_normals(vertices, triangles, None))
    return files.encode(".glb", Character(skeleton, {}, skins=[skin], name="stairs"))


def _hills() -> Iterable[bytes]:
    along = np.arange(-HILLS_SIZE / 2, HILLS_SIZE / 2 + HILLS_SPACING / 2, HILLS_SPACING)
    x, z = np.meshgrid(along, along)
    data = io.BytesIO()
    np.save(data, HILLS_HEIGHT * np.sin(0.9 * x) * np.cos(0.7 * z))
    return [data.getvalue()]


def _ball() -> Iterable[bytes]:
    times = np.arange(41) / 10
    points = [(0.3 + 0.1 * np.sin(t), 1.2 + 0.1 * np.cos(2 * t), 0.4) for t in times]
    rows = [f"{t:.2f},{x:.3f},{y:.3f},{z:.3f}" for t, (x, y, z) in zip(times, points, strict=True)]
    return ["\n".join(["t,x,y,z", *rows, ""]).encode()]


def webcam() -> Iterable[bytes]:
    """What a detector would see of our walk: MediaPipe's world landmarks, around the hips, y down, with its noise."""
    person, rng = humanoid(), np.random.default_rng(WEBCAM_SEED)
    skeleton, rest = person.skeleton, person.skeleton.rest_world.astype(float)
    poses = person.clips["walk"].sample(np.arange(round(WEBCAM_SECONDS * WEBCAM_FPS)) / WEBCAM_FPS, loop=True)
    world, frames = skeleton.world(poses).astype(float), []
    places = [_landmark(role) for role in WEBCAM_LAYOUT.roles]
    for pose in world:
        points = []
        for joint, offset in places:
            k = skeleton.index(joint)
            points.append(pose[k, :3, :3] @ rest[k, :3, :3].T @ offset + pose[k, :3, 3])
        around = np.array(points) - 0.5 * (points[LEFT_HIP] + points[LEFT_HIP + 1])
        around = (around + WEBCAM_NOISE * rng.normal(size=around.shape)) * (1.0, -1.0, -1.0)
        seen = [
            dict(zip(("x", "y", "z"), np.round(at, 4).tolist(), strict=True)) | {"visibility": 0.9} for at in around
        ]
        frames.append({"worldLandmarks": [seen]})
    return [json.dumps({"fps": WEBCAM_FPS, "frames": frames}).encode()]


def _landmark(role: str) -> tuple[str, Any]:
    """The joint that carries a point of a detector, and where it is beside it in the rest pose, metres."""
    side, _, part = role.partition("_")
    if part in WEBCAM_JOINTS:
        joint, offset = WEBCAM_JOINTS[part]
        return f"{joint}_{side[0]}", np.array(offset) * (1.0 if side == "left" else -1.0, 1.0, 1.0)
    offset = WEBCAM_FACE.get(part or role, WEBCAM_FACE["nose"])
    return "head", np.array(offset) * (-1.0 if side == "right" else 1.0, 1.0, 1.0)


SAMPLES: dict[str, Callable[[], Iterable[bytes]]] = {
    "person.glb": lambda: files.encode(".glb", humanoid()),
    "fox.glb": lambda: files.encode(".glb", quadruped()),
    "spider.glb": lambda: files.encode(".glb", spider()),
    "capture.bvh": _capture,
    "stairs.glb": _stairs,
    "hills.npy": _hills,
    "webcam.json": webcam,
    "ball.csv": _ball,
}
"""How each file is made."""
