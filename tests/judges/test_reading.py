"""What we read from a file is what three.js reads from it: where every node is, at rest and in every clip."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io import files
from tests.assets import FOLDER, asset
from tests.judges import agreement, programs
from tests.judges.agreement import AGREES, by_nodes, distance, moments, our_world

GLTF = agreement.real_files("gltf", "torture", "vrm", "terrain")
BVH = agreement.real_files("bvh", endings=(".bvh",))


REFUSED = {"torture/Fox_gt_meshopt.glb"}
"""Its keys are compressed, and it says that a reader must know how."""

ROUGH = {"torture/Animation_SamplerType/Animation_SamplerType_01.gltf": 1 / 127}
"""Turns stored in bytes are not of length 1: we make them so, three.js takes them as they are."""


@pytest.fixture(scope="module")
def characters():
    """{path: our character} of every file that loads."""
    asset("LICENCES.md")
    return {path: files.load(FOLDER / path, rig=False) for path in [*GLTF, *BVH] if path not in REFUSED}


@pytest.fixture(scope="module")
def played(characters):
    """{path: three.js's matrices at rest, and of each clip}."""
    jobs = [(FOLDER / path, [moments(clip) for clip in c.clips.values()]) for path, c in characters.items()]
    return dict(zip(characters, programs.three_world(jobs), strict=True))


def test_there_are_files():
    asset("LICENCES.md")
    assert len(GLTF) > 40 and len(BVH) == 3
    assert set(GLTF) > REFUSED | ROUGH.keys()


@pytest.mark.parametrize("path", sorted(REFUSED))
def test_what_is_refused_is_refused_clearly(path):
    with pytest.raises(FileError, match="extensionsRequired"):
        files.load(asset(path))


def test_every_node_rests_where_three_js_has_it(characters, played):
    for path, (rest, _) in played.items():
        character = characters[path]
        assert distance(by_nodes(character, character.skeleton.rest_world), rest, character) < AGREES, path


def test_every_clip_plays_as_three_js_plays_it(characters, played):
    for path, (_, clips) in played.items():
        character = characters[path]
        assert len(clips) == len(character.clips)
        for (name, clip), theirs in zip(character.clips.items(), clips, strict=True):
            ours = our_world(character, clip, moments(clip))
            assert distance(ours, theirs, character) < ROUGH.get(path, AGREES), (path, name)


def test_the_judge_would_notice(characters, played):
    """The same clip a sixtieth of a second later is no agreement."""
    path = "gltf/Fox.glb"
    character, (_, clips) = characters[path], played[path]
    clip = next(iter(character.clips.values()))
    assert distance(our_world(character, clip, moments(clip) + np.array(1 / 60)), clips[0], character) > AGREES
