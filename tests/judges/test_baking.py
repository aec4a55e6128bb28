"""Bake real files onto a slope, save them, and check them with three.js and the validator."""

import pytest

from kinema.bake import BakeSettings, bake
from kinema.io import files
from kinema.world.plane import Plane
from tests.assets import asset
from tests.judges import programs
from tests.judges.agreement import check_scenes, moments
from tests.judges.programs import serious
from tests.judges.real_files import with_clip

CLIPS = {
    "gltf/CesiumMan.glb": "clip_0",
    "gltf/KayKit_Knight.glb": "Walking_A",
    "gltf/RobotExpressive.glb": "Walking",
    "gltf/m2m_horse.glb": "Walk",
}


@pytest.fixture(scope="module")
def baked(tmp_path_factory):
    """{path: (character with the clip that was made, its file)}."""
    folder, found = tmp_path_factory.mktemp("baked"), {}
    slope = BakeSettings(ground=Plane((0.0, 0.0, 0.0), (0.1, 1.0, 0.2)), name="on a slope")
    for path, name in CLIPS.items():
        character = files.load(asset(path))
        clip = next(clip for known, clip in character.clips.items() if known.startswith(name))
        found[path] = with_clip(character, bake(character, clip, slope).clip), folder / path.replace("/", "_")
        files.save(found[path][1], found[path][0])
    return found


def test_a_bake_adds_no_error_and_no_warning(baked):
    issues = programs.validator_issues([*map(asset, baked), *(file for _, file in baked.values())])
    for path, before, after in zip(baked, issues[: len(baked)], issues[len(baked) :], strict=True):
        assert not serious(after) - serious(before), path


def test_three_js_shows_what_was_baked(baked):
    jobs = [(file, [moments(clip) for clip in character.clips.values()]) for character, file in baked.values()]
    for (character, _), (rest, clips) in zip(baked.values(), programs.three_world(jobs), strict=True):
        check_scenes(character, rest, clips)
