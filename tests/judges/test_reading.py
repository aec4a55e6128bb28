"""three.js reads the same world matrices as we do, at rest and in every clip."""

import pytest

from kinema.errors import FileError
from kinema.io import files
from tests.assets import FOLDER, asset
from tests.judges import programs
from tests.judges.agreement import AGREES, check_scene, check_scenes, moments
from tests.judges.real_files import BVH, DOUBLED, GLTF, REFUSED, ROUGH


@pytest.fixture(scope="module")
def characters():
    """{path: our character} of every file that loads."""
    asset("LICENCES.md")
    left_out = REFUSED.union(DOUBLED)
    return {path: files.load(FOLDER / path, rig=False) for path in [*GLTF, *BVH] if path not in left_out}


@pytest.fixture(scope="module")
def played(characters):
    """{path: three.js's scenes at rest, and of each clip}."""
    jobs = [(FOLDER / path, [moments(clip) for clip in c.clips.values()]) for path, c in characters.items()]
    return dict(zip(characters, programs.three_world(jobs), strict=True))


def test_there_are_files():
    asset("LICENCES.md")
    assert len(GLTF) > 40
    assert len(BVH) == 42
    assert len(DOUBLED) == 3
    assert set(GLTF) > REFUSED | ROUGH.keys()


@pytest.mark.parametrize("path", sorted(REFUSED))
def test_what_is_refused_is_refused_clearly(path):
    with pytest.raises(FileError, match="extensionsRequired"):
        files.load(asset(path))


def test_three_js_shows_every_node_and_surface_where_we_do(characters, played):
    for path, (rest, clips) in played.items():
        check_scenes(characters[path], rest, clips, ROUGH.get(path, AGREES))


def test_the_judge_would_notice(characters, played):
    """The same clip a sixtieth of a second later does not agree."""
    character, (_, clips) = characters["gltf/Fox.glb"], played["gltf/Fox.glb"]
    clip = next(iter(character.clips.values()))
    for time, scene in zip(moments(clip), clips[0], strict=True):
        check_scene(character, clip.sample(time), scene)
        with pytest.raises(AssertionError):
            check_scene(character, clip.sample(time + 1 / 60), scene)
