"""Blender plays what we play: bones and objects by name. Runs in `make judges` only.

Compared at keys: between them Blender interpolates the four numbers of quaternions, not along the arc.
"""

import os

import numpy as np
import pytest

from kinema import demo
from kinema.io import files
from tests.assets import FOLDER, asset
from tests.judges import programs
from tests.judges.agreement import AGREES, key_moments, size
from tests.judges.real_files import BVH, GLTF, REFUSED, rotated_clip, with_clip

pytestmark = pytest.mark.skipif(not os.environ.get("KINEMA_BLENDER"), reason="`make judges` asks Blender too")

REAL = [path for path in [*GLTF, *BVH] if path not in REFUSED]


def joints_by_name(character):
    """{name: joint} of those that Blender calls the same as the file does: names that come once, and unnamed nodes."""
    if character.source is None:
        return {name: joint for joint, name in enumerate(character.skeleton.names)}
    nodes = zip(character.source.json["nodes"], character.source.joint_of_node, strict=True)
    return programs.once([(node.get("name") or f"Node_{i}", joint) for i, (node, joint) in enumerate(nodes)])


def compared(characters, paths):
    """{name: (how many joints were compared, the largest distance in sizes of the character)} of characters by name."""
    jobs = [(paths[name], [key_moments(clip) for clip in c.clips.values()]) for name, c in characters.items()]
    found = {}
    for (name, character), (_, times), clips in zip(
        characters.items(), jobs, programs.blender_places(jobs), strict=True
    ):
        assert not isinstance(clips, str), (name, clips)
        known, worst, count = joints_by_name(character), 0.0, 0
        for clip, moments, frames in zip(character.clips.values(), times, clips, strict=True):
            world = character.skeleton.world(clip.sample(moments))[..., :3, 3]
            for ours, theirs in zip(world, frames, strict=True):
                both = sorted(known.keys() & theirs.keys())
                apart = ours[[known[joint] for joint in both]] - np.array([theirs[joint] for joint in both]).reshape(
                    -1, 3
                )
                worst, count = max(worst, np.abs(apart).max(initial=0.0) / size(character)), len(both)
        found[name] = count, worst
    return found


def report(title, found):
    print(f"\n{title}")
    for name, (count, worst) in found.items():
        print(f"  {name}: {count} joints, {worst:.1e} of its size")


@pytest.fixture(scope="module")
def characters():
    asset("LICENCES.md")
    loaded = {path: files.load(FOLDER / path, rig=False) for path in REAL}
    return {path: character for path, character in loaded.items() if character.clips}


def test_blender_plays_real_files_as_we_do(characters):
    found = compared(characters, {path: FOLDER / path for path in characters})
    report("Blender, real files", found)
    for path, (count, worst) in found.items():
        assert worst < AGREES, path
        if path.startswith("gltf/"):
            assert count >= 0.5 * len(characters[path].skeleton), path


PEOPLE = ("cmu_91_48", "cmu_91_50", "three_mixamo")
"""FBX files whose only clip moves a person."""

OTHERWISE = {
    "max_geometry_transform_instances_7700_binary": "the true surface",
    "max_transformed_skin_7500_binary": "the true surface",
    "maya_anim_layers_7500_binary": "ufbx",
    "maya_anim_layers_over_7500_binary": "ufbx",
    "maya_anim_layers_over_acc_7500_binary": "ufbx",
    "maya_human_ik_7400_binary": "ufbx",
    "maya_zero_scale_pivot_7700_binary": "the true surface",
}
"""FBX files that Blender's importer reads otherwise, and what agrees with us: the true surface beside the file, as held
in `tests/io/fbx`, or ufbx 0.0.5, asked once for all nodes at ten frames of the clip (to 3e-5)."""

CAMERAS = ("maya_camera_light_axes_y_up",)
"""Files of cameras and lights alone, which Blender gives axes of its own."""

FBX_AGREES = 1e-5
"""Share of the body's size."""


def fbx_files():
    """Names of the binary files that Blender opens, from version 7100 on."""
    names = (path.stem for path in sorted((FOLDER / "fbx").glob("*.fbx")))
    opened = [name for name in names if not name.endswith("ascii") and "_6100_" not in name]
    return [name for name in opened if not name.startswith(CAMERAS)]


Y_UP = np.array([(1, 0, 0), (0, 0, 1), (0, -1, 0)])
"""From Blender's axes to glTF's."""


def since_first(matrices):
    """Rotation and scale of nodes since the first moment: (F, N, 3, 3) of (F, N, 3, 4); none of what had no size."""
    linear = matrices[..., :3]
    sized = np.abs(np.linalg.det(linear[:1])) > 1e-9
    return np.where(sized[..., None, None], linear @ np.linalg.pinv(linear[:1]), 0.0)


def test_blender_places_the_nodes_of_fbx_files_as_we_do():
    asset("LICENCES.md")
    jobs, moved = [], {}
    for name in fbx_files():
        character = files.load(asset(f"fbx/{name}.fbx"), rig=False)
        source, clip = character.source, next(iter(character.clips.values()), None)
        frames = np.linspace(0, round(clip.duration * source.fps), 10).round() / source.fps if clip else np.zeros(1)
        pose = clip.sample(frames) if clip else character.skeleton.rest
        moved[name] = character, character.skeleton.world(pose).reshape(len(frames), -1, 4, 4)
        jobs.append((asset(f"fbx/{name}.fbx"), [frames + (source.starts[clip.name] if clip else 0.0)]))
    apart = {}
    for (name, (character, world)), answer in zip(moved.items(), programs.blender_places(jobs), strict=True):
        assert not isinstance(answer, str), (name, answer)
        names = character.skeleton.names
        both = sorted(set(names).intersection(*answer[0]))
        nodes = len(list(character.source.each("Model")))  # Joints of instances are copies of some.
        assert len(both) > (0.9 if name in PEOPLE else 0.5) * nodes, name
        ours = world[:, [names.index(joint) for joint in both], :3]
        theirs = Y_UP @ np.array([[frame[joint] for joint in both] for frame in answer[0]])[..., :3, :]
        apart[name] = np.abs(ours[..., 3] - theirs[..., 3]).max() / size(character)
        # Bones have axes of their own in Blender: their rotation and scale are compared since the first moment. Two
        # joints of one node are, together, what Blender has as one.
        whole = [k for k, joint in enumerate(both) if f"{joint}_scale" not in names]
        apart[name] = max(apart[name], np.abs(since_first(ours[:, whole]) - since_first(theirs[:, whole])).max())
        print(f"  {name}: {apart[name]:.1e} of its size")
    assert set(apart) >= set(PEOPLE) | set(OTHERWISE)
    for name, worst in apart.items():
        assert (worst < FBX_AGREES) == (name not in OTHERWISE), (name, worst)


def test_blender_plays_added_clips_as_we_computed_them(characters, tmp_path):
    added = {path: with_clip(c, rotated_clip(c)) for path, c in characters.items() if path.startswith("gltf/")}
    outputs = {path: tmp_path / path.replace("/", "_") for path in added}
    for path, character in added.items():
        files.save(outputs[path], character)
    found = compared(added, outputs)
    report("Blender, real files with a clip added", found)
    assert all(worst < AGREES for _, worst in found.values())


def test_blender_plays_files_from_nothing_as_we_do(tmp_path):
    own = {name: getattr(demo, name)() for name in ("humanoid", "quadruped", "spider")}
    outputs = {name: tmp_path / f"{name}.glb" for name in own}
    for name, character in own.items():
        files.save(outputs[name], character)
    found = compared(own, outputs)
    report("Blender, our own characters", found)
    for name, (count, worst) in found.items():
        assert count == len(own[name].skeleton), name
        assert worst < AGREES, name


def test_blender_shows_the_glb_of_an_fbx_file_as_we_do(tmp_path):
    names = [*PEOPLE, "max_transformed_skin_7500_binary", "maya_mixed_inherit_mode_7700_ascii"]
    own = {name: files.load(asset(f"fbx/{name}.fbx"), rig=False) for name in names}
    outputs = {name: tmp_path / f"{name}.glb" for name in names}
    for name, character in own.items():
        files.save(outputs[name], character)
    found = compared({name: files.load(path, rig=False) for name, path in outputs.items()}, outputs)
    report("Blender, FBX files as GLB", found)
    for name, (count, worst) in found.items():
        assert count >= len(own[name].skeleton), name
        assert worst < FBX_AGREES, name


def test_blender_plays_the_bvh_we_write(characters, tmp_path):
    written, outputs = {}, {}
    for path in (
        "gltf/KayKit_Knight.glb",
        "gltf/RobotExpressive.glb",
        "gltf/godot_mannequiny.glb",
        "gltf/m2m_spider.glb",
    ):
        outputs[path] = tmp_path / f"{len(outputs)}.bvh"
        files.save(outputs[path], characters[path], clip=next(iter(characters[path].clips)), fps=30)
        written[path] = files.load(outputs[path], rig=False)
    found = compared(written, outputs)
    report("Blender, clips of glTF files as BVH", found)
    for path, (count, worst) in found.items():
        assert count > 20, path
        assert worst < AGREES, path
