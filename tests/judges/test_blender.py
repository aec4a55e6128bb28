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

FBX_AGREES = 1e-5
"""Share of the body's size."""


def test_blender_plays_fbx_as_we_do():
    characters = {name: files.load(asset(f"fbx/{name}.fbx"), rig=False) for name in PEOPLE}
    clips = {name: next(iter(character.clips.values())) for name, character in characters.items()}
    starts = {name: characters[name].source.starts[clip.name] for name, clip in clips.items()}
    moments = {name: np.linspace(0, round(clip.duration * 30), 10).round() / 30 for name, clip in clips.items()}
    jobs = [(asset(f"fbx/{name}.fbx"), [moments[name] + starts[name]]) for name in PEOPLE]
    for name, (frames,) in zip(PEOPLE, programs.blender_places(jobs), strict=True):
        character, worst = characters[name], 0.0
        world = character.skeleton.world(clips[name].sample(moments[name]))[..., :3, 3]
        for ours, theirs in zip(world, frames, strict=True):
            both = sorted(set(character.skeleton.names) & theirs.keys())
            assert len(both) > 0.9 * len(character.skeleton)
            apart = ours[[character.skeleton.names.index(joint) for joint in both]] - [theirs[joint] for joint in both]
            worst = max(worst, np.abs(apart).max() / size(character))
        print(f"  {name}: {worst:.1e} of its size")
        assert worst < FBX_AGREES


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
