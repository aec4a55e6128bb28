"""What we read from a file is what three.js reads from it: where every node is, at rest and in every clip."""

import numpy as np
import pytest

from tests.assets import FOLDER, asset
from tests.judges import agreement, programs
from tests.judges.agreement import AGREES, by_nodes, distance, moments, our_world

GLTF = agreement.real_files("gltf", "torture", "vrm", "terrain")
BVH = agreement.real_files("bvh", endings=(".bvh",))


@pytest.fixture(scope="module")
def played():
    """{path: (our character, three.js's matrices at rest, and of each clip)} of every file that loads."""
    asset("LICENCES.md")
    loaded = {path: agreement.loaded(FOLDER / path) for path in [*GLTF, *BVH]}
    characters = {path: character for path, character in loaded.items() if not isinstance(character, Exception)}
    jobs = [(FOLDER / path, [moments(clip) for clip in c.clips.values()]) for path, c in characters.items()]
    answers = programs.three_world(jobs)
    return {
        path: (character, *answer) for (path, character), answer in zip(characters.items(), answers, strict=True)
    } | {path: refusal for path, refusal in loaded.items() if path not in characters}


def answer_of(played, path):
    if isinstance(played[path], Exception):
        pytest.skip(f"refused: {played[path]}")
    return played[path]


def test_there_are_files():
    asset("LICENCES.md")
    assert len(GLTF) > 40 and len(BVH) == 3


@pytest.mark.parametrize("path", [*GLTF, *BVH])
def test_every_node_rests_where_three_js_has_it(played, path):
    character, rest, _ = answer_of(played, path)
    assert distance(by_nodes(character, character.skeleton.rest_world), rest, character) < AGREES


@pytest.mark.parametrize("path", [*GLTF, *BVH])
def test_every_clip_plays_as_three_js_plays_it(played, path):
    character, _, clips = answer_of(played, path)
    assert len(clips) == len(character.clips)
    for (name, clip), theirs in zip(character.clips.items(), clips, strict=True):
        assert distance(our_world(character, clip, moments(clip)), theirs, character) < AGREES, name


def test_the_judge_would_notice(played):
    """The same clip a sixtieth of a second later is no agreement."""
    character, _, clips = answer_of(played, "gltf/Fox.glb")
    clip = next(iter(character.clips.values()))
    assert distance(our_world(character, clip, moments(clip) + np.array(1 / 60)), clips[0], character) > AGREES
