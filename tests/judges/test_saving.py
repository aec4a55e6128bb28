"""What we save is what the judges read: the Khronos validator finds nothing wrong, three.js plays what we computed."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kinema import scenes
from kinema.clip import Clip
from kinema.io import files
from kinema.math import arrays
from kinema.pose import Pose
from tests.assets import FOLDER, asset
from tests.judges import agreement, programs
from tests.judges.agreement import AGREES, by_nodes, distance, moments, our_world

GLTF = agreement.real_files("gltf", "torture", "vrm", "terrain")
BVH = agreement.real_files("bvh", endings=(".bvh",))


def turned(character):
    """A new clip: the first one, or the rest pose, at 30 frames a second, with the root and the topmost node turned."""
    first = next(iter(character.clips.values()), None)
    times = np.arange(31) / 30
    pose = Clip("rest", character.skeleton, ()).sample(times) if first is None else first.sample(times)
    rotations = pose.rotations.copy()
    turns = arrays.from_axis_angle((0.0, 1.0, 0.0), 0.7 * np.sin(times * 3)).astype(rotations.dtype)
    for joint in {0, first.root if first else 0}:
        rotations[:, joint] = arrays.mul(rotations[:, joint], turns)
    return Clip.from_poses("turned", character.skeleton, Pose(pose.translations, rotations, pose.scales), fps=30.0)


def serious(issues):
    """How many errors and warnings of each kind."""
    return Counter(code for severity, code, _ in issues if severity < 2)


# --- adding to real files --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """{path: (the character, what its file was and is with a clip added, validator's issues of both, three.js's)}."""
    asset("LICENCES.md")
    folder = tmp_path_factory.mktemp("added")
    characters, outputs = {}, {}
    for path in GLTF:
        character = agreement.loaded(FOLDER / path)
        if not isinstance(character, Exception):
            clip = turned(character)
            characters[path] = replace(character, clips={**character.clips, "turned": clip})
            outputs[path] = folder / f"{len(outputs)}.glb"
            files.save(outputs[path], characters[path])
    issues = programs.validator_issues([*(FOLDER / path for path in characters), *outputs.values()])
    before, after = issues[: len(characters)], issues[len(characters) :]
    jobs = [
        (outputs[path], [*([] for _ in character.source.clips), moments(character.clips["turned"])])
        for path, character in characters.items()
    ]
    worlds = programs.three_world(jobs)
    return dict(
        zip(characters, zip(characters.values(), outputs.values(), before, after, worlds, strict=True), strict=True)
    )


def added_to(added, path):
    if path not in added:
        pytest.skip("refused")
    return added[path]


@pytest.mark.parametrize("path", GLTF)
def test_a_clip_added_to_a_file_is_no_new_error_or_warning(added, path):
    _, _, before, after, _ = added_to(added, path)
    assert not serious(after) - serious(before)


@pytest.mark.parametrize("path", GLTF)
def test_a_clip_added_to_a_file_plays_in_three_js_as_we_computed_it(added, path):
    character, _, _, _, (rest, clips) = added_to(added, path)
    clip = character.clips["turned"]
    assert distance(by_nodes(character, character.skeleton.rest_world), rest, character) < AGREES
    assert distance(our_world(character, clip, moments(clip)), clips[-1], character) < AGREES


@pytest.mark.parametrize("path", GLTF)
def test_a_file_with_a_clip_added_opens_again(added, path):
    character, output, _, _, _ = added_to(added, path)
    again = files.load(output, rig=False)
    assert list(again.clips) == list(character.clips)
    assert again.skeleton.names == character.skeleton.names
    clip = character.clips["turned"]
    ours, read = (our_world(character, c, moments(clip)) for c in (clip, again.clips["turned"]))
    assert distance(ours, read, character) < AGREES


# --- files from nothing ----------------------------------------------------------------------------------------

SCENES = ("humanoid", "quadruped", "spider")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """{name: (the character, its file, validator's issues, three.js's matrices)}."""
    folder = tmp_path_factory.mktemp("written")
    characters = {name: getattr(scenes, name)() for name in SCENES}
    characters |= {path: files.load(FOLDER / path) for path in BVH}
    outputs = {name: folder / f"{k}.glb" for k, name in enumerate(characters)}
    for name, character in characters.items():
        files.save(outputs[name], character)
    issues = programs.validator_issues(outputs.values())
    worlds = programs.three_world(
        [(outputs[name], [moments(clip) for clip in c.clips.values()]) for name, c in characters.items()]
    )
    return dict(zip(characters, zip(characters.values(), outputs.values(), issues, worlds, strict=True), strict=True))


@pytest.mark.parametrize("name", [*SCENES, *BVH])
def test_files_from_nothing_have_no_errors_and_no_warnings(written, name):
    assert not serious(written[name][2])


@pytest.mark.parametrize("name", [*SCENES, *BVH])
def test_files_from_nothing_play_in_three_js_as_ours_do(written, name):
    character, _, _, (rest, clips) = written[name]
    joints = len(character.skeleton)
    assert distance(character.skeleton.rest_world, rest[:joints], character) < AGREES
    for clip, theirs in zip(character.clips.values(), clips, strict=True):
        assert distance(our_world(character, clip, moments(clip)), theirs[:, :joints], character) < AGREES
