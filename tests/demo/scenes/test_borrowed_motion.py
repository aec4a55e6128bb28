"""Motions of other bodies on a scene's character: retargeted, beside it in step, mapped by hand, kept."""

import io
from dataclasses import replace

import numpy as np
import pytest

from kinema.demo import samples
from kinema.demo.characters.humanoid import humanoid
from kinema.demo.scenes.character_files import saved
from kinema.demo.scenes.registry import scene
from kinema.errors import InputError
from kinema.io.files import load_bytes
from tests.assets import asset

WALK = asset("bvh/cmu_02_01.bvh")


@pytest.fixture
def walking():
    character = scene("character", seed=1)
    character.set("ground", "level")
    character.receive_motion("walk.bvh", WALK.read_bytes())
    return character


def joints(character, name):
    """Positions of a limb's joints on the character and on the body beside it, each of length 1."""
    motion, walker = character.motion_shown, character.walker
    rig, other = walker.character.rig, motion.actor.character.rig
    found = []
    for one, world in ((rig, walker.alone), (other, character.source.world(walker))):
        limb = next(leg for leg in one.legs if leg.name == name)
        way = world[int(limb.joints[1]), :3, 3] - world[int(limb.joints[0]), :3, 3]
        found.append(way / np.linalg.norm(way))
    return found


def test_the_motion_is_played_beside_its_source_in_step(walking):
    assert walking.values["clip"] == "walk_2"
    assert walking.walker.clip == "walk_2"
    for _ in range(90):
        walking.step(1 / 60)
        for side in ("left", "right"):
            own, other = joints(walking, side)
            assert own @ other > np.cos(np.radians(25)), "thighs point the same way"
    frame = walking.frame()
    assert len(frame["beside"]) == len(walking.motion_shown.actor.character.skeleton)
    assert frame["contacts"].shape == (4, 4)
    size = np.ptp(frame["beside"][:, 7]) / np.ptp(frame["world"][:, 7])
    assert size == pytest.approx(1.0, abs=0.25)


def test_feet_of_source_and_result_stand_at_the_same_time(walking):
    walking.set("beside", True)
    stands = []
    for _ in range(150):
        walking.step(1 / 60)
        stands.append(walking.frame()["contacts"][:, 3])
    stands = np.array(stands)[30:]
    assert 0.3 < stands.mean() < 0.95
    assert (stands[:, :2] == stands[:, 2:]).mean() > 0.75


def test_a_joint_follows_another_one_and_the_state_keeps_it(walking):
    assert walking.description()["motion"]["joints"]["upper_arm_l"] == "LeftArm"
    walking.follow("upper_arm_l", "")
    assert "upper_arm_l" not in walking.description()["motion"]["joints"]
    before = walking.snapshot()
    walking.follow("upper_arm_l", "LeftForeArm")
    assert walking.description()["motion"]["joints"]["upper_arm_l"] == "LeftForeArm"
    walking.restore(before)
    assert walking.motion_shown.joints == {"upper_arm_l": ""}
    with pytest.raises(InputError):
        walking.follow("upper_arm_l", "no such joint")
    state = walking.kept()
    other = scene("character", seed=1)
    assert other.wanted_file(state) == "walk.bvh"
    assert other.motion_files(state) == ["walk.bvh"]
    other.receive_motion("walk.bvh", WALK.read_bytes())
    other.restore(state)
    assert other.wanted_file(state) == ""
    assert other.motion_shown.joints == {"upper_arm_l": ""}
    assert other.walker.time == pytest.approx(walking.walker.time, abs=0.01)


def test_the_download_has_the_motion_on_the_character(walking):
    name = next(control.file for control in walking.controls if control.name == "baked")
    job = walking.long_job(name)
    baked = load_bytes(job(lambda share: None), "mine.glb")
    clip = list(baked.clips.values())[-1]
    assert clip.duration == pytest.approx(walking.motion_shown.made.duration, abs=0.1)


def test_what_has_no_motion_is_refused_and_nothing_changes(walking):
    before = walking.kept()
    still = saved(replace(humanoid(), clips={}))
    with pytest.raises(InputError, match="no motion"):
        walking.receive_motion("still.glb", still)
    assert walking.kept() == before


def test_another_character_has_no_motion_beside_it(walking):
    walking.set("character", "spider")
    walking.step(1 / 60)
    assert walking.frame()["beside"].size == 0
    with pytest.raises(InputError):
        walking.receive_motion("walk.bvh", WALK.read_bytes())
    assert walking.walker.actor.name == "spider"


def webcam():
    return b"".join(samples.webcam())


def test_points_move_the_character_and_the_person_walks_beside_it():
    character = scene("character", seed=1)
    character.receive("walk.json", webcam())
    motion = character.motion_shown
    assert character.walker.clip.startswith("walk")
    assert motion.report.contacts > 8
    assert any("around the hips" in warning for warning in motion.report.warnings)
    character.follow("upper_arm_l", "")
    assert character.motion_shown.joints == {"upper_arm_l": ""}
    assert character.motion_shown.seen.name == "mediapipe33"


def test_our_own_points_play_without_a_camera_and_come_back_with_the_state():
    character = scene("character", seed=1)
    character.set("webcam", None)
    clip = character.walker.clip
    character.set("webcam", None)
    assert character.walker.clip == clip
    state = character.snapshot()
    other = scene("character", seed=1)
    assert other.wanted_file(state) == ""
    other.restore(state)
    assert other.walker.clip == clip
    assert other.motion_shown.file == character.motion_shown.file


def test_the_script_of_points_fits_them(tmp_path, monkeypatch):
    character = scene("character", seed=1)
    character.receive("walk.json", webcam())
    script = character.python()
    assert "km.fit(character, take.points, layout='mediapipe33'" in script
    (tmp_path / "walk.json").write_bytes(webcam())
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "script.py", "exec"), {})


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("some.npy", (20, 17, 3), "name it by its layout"),
        ("some.coco17.npy", (1, 17, 3), "two or more"),
        ("some.json", None, "not JSON"),
    ],
)
def test_points_that_cannot_be_read_are_refused(name, shape, message):
    stream = io.BytesIO()
    points = np.random.default_rng(0).normal(size=shape) if shape else 0
    np.save(stream, points)
    character = scene("character", seed=1)
    with pytest.raises(InputError, match=message):
        character.receive(name, stream.getvalue() if shape else b"{")
    assert not character.motions


def test_undo_goes_back_to_the_character_before_and_the_motion_goes_onto_it():
    character = scene("character", seed=1)
    character.receive("knight.glb", asset("gltf/KayKit_Knight.glb").read_bytes())
    knight = character.walker.actor
    before = character.snapshot()
    character.receive("walk.bvh", WALK.read_bytes())
    after = character.snapshot()
    character.restore(before)
    assert character.values["character"] == knight.label
    character.receive_motion("walk.bvh", WALK.read_bytes())
    assert character.walker.actor.name == knight.name
    assert list(character.motions) == ["walk"]
    laid = character.snapshot()
    character.restore(after)
    assert character.walker.actor.file == "walk.bvh"
    character.restore(laid)
    assert character.walker.actor.name == knight.name
    assert character.motion_shown.file == "walk.bvh"


def brought(state):
    """A new scene that gets the files which a state needs, as a session does; their names."""
    character, names = scene("character", seed=1), []
    while (wanted := character.wanted_file(state)) and len(names) < 4:
        names.append(wanted)
        onto = wanted in character.motion_files(state)
        (character.receive_motion if onto else character.receive)(wanted, WALK.read_bytes())
    character.restore(state)
    return character, names


@pytest.mark.parametrize("shown", ["Person", "the body of the file"])
def test_a_file_that_is_a_character_and_a_motion_comes_back_once_for_each(shown):
    character = scene("character", seed=1)
    before = character.snapshot()
    character.receive("walk.bvh", WALK.read_bytes())
    if shown == "Person":
        character.restore(before)
    character.receive_motion("walk.bvh", WALK.read_bytes())
    character.set("store", None)
    state = character.kept()
    other, names = brought(state)
    assert names == ["walk.bvh"] * (1 if shown == "Person" else 2)
    assert list(other.motions) == list(character.motions)
    assert list(other.walker.actor.character.clips) == list(character.walker.actor.character.clips)


def test_the_same_file_again_takes_the_place_of_what_it_gave(walking):
    clips = list(walking.walker.actor.character.clips)
    walking.receive_motion("walk.bvh", WALK.read_bytes())
    assert list(walking.walker.actor.character.clips) == clips
    assert list(walking.motions) == ["walk_2"]


@pytest.mark.parametrize("ground", ["stairs", "course", "voxels"])
def test_the_source_stands_on_the_ground_beside_the_character_and_not_inside_it(walking, ground):
    walking.set("ground", ground)
    inside, behind = [], []
    for _ in range(360):
        walking.step(1 / 60)
        world, rig = walking.source.world(walking.walker), walking.source.walker.character.rig
        ankles = [world[int(leg.joints[2]), :3, 3] for leg in rig.legs]
        inside.append(max(walking.walker.ground_at(ankle) - ankle[1] for ankle in ankles))
        behind.append(abs(walking.source.walker.time - walking.walker.time))
    assert np.mean(np.array(inside) > 0.0) < 0.01, "two frames where the take begins again"
    assert np.median(inside) < -0.05, "metres"
    assert np.median(behind) < 0.03, "seconds"
