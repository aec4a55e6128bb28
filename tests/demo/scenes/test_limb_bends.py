"""Which way knees and elbows bend, how that is known, and how far they are bent."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped, spider
from kinema.demo.scenes.character import AGAINST
from kinema.demo.scenes.limb_bends import ASSUMED, AT_REST, IN_CLIPS, LimbBends
from kinema.math import arrays
from tests.assets import asset
from tests.wrong_knee import person_with_a_wrong_knee


def degrees(character, clip):
    """(F, B): the bends during a clip."""
    bends, played = LimbBends(character), character.clips[clip]
    world = character.skeleton.world(played.sample(np.linspace(0.0, played.duration, 25)))
    return np.array([bends.degrees(frame) for frame in world])


def test_knees_of_a_person_bend_forward_and_elbows_back():
    ways = {bend.middle: (bend.way, bend.known) for bend in LimbBends(humanoid()).limbs}
    assert ways == {
        "knee left": ("forward", IN_CLIPS),
        "knee right": ("forward", IN_CLIPS),
        "elbow left": ("back", AT_REST),
        "elbow right": ("back", AT_REST),
    }


def test_a_straight_limb_without_clips_is_assumed_to_bend_as_a_persons():
    knee = next(bend for bend in LimbBends(replace(humanoid(), clips={})).limbs if bend.middle == "knee left")
    assert (knee.way, knee.known) == ("forward", ASSUMED)


def test_front_legs_of_a_fox_bend_back_and_a_spiders_up():
    ways = {bend.middle: bend.way for bend in LimbBends(quadruped()).limbs}
    assert ways == {
        "knee front_left": "back",
        "knee front_right": "back",
        "knee hind_left": "forward",
        "knee hind_right": "forward",
    }
    assert {bend.way for bend in LimbBends(spider()).limbs} == {"up"}


def test_an_angle_is_that_of_the_hinge():
    person = humanoid()
    bends, knee = LimbBends(person), person.skeleton.names.index("shin_l")
    rest = person.skeleton.rest
    rotations = np.array(rest.rotations, float)
    axis = next(bend.axis for bend in bends.limbs if bend.middle == "knee left")
    before = bends.degrees(person.skeleton.world(rest))[0]
    rotations[knee] = arrays.mul(rotations[knee], arrays.from_axis_angle(axis, np.radians(40.0)))
    after = bends.degrees(person.skeleton.world(replace(rest, rotations=rotations)))[0]
    assert after - before == pytest.approx(40.0, abs=1.5)


@pytest.mark.parametrize("make", [humanoid, quadruped, spider])
def test_no_limb_of_ours_bends_against_its_way(make):
    character = make()
    for clip in character.clips:
        assert degrees(character, clip).min() > -AGAINST


def test_a_knee_that_bends_back_is_negative():
    person = person_with_a_wrong_knee()
    left, right, *_ = degrees(person, "walk").T
    assert left.min() < -40.0
    assert right.min() > 0.0


def test_a_character_without_a_rig_has_none():
    bends = LimbBends(replace(humanoid(), rig=None))
    assert bends.description() == []
    assert bends.degrees(humanoid().skeleton.rest_world).shape == (0,)


@pytest.mark.parametrize("take", ["1_bye_active_001", "1_run_proud_001", "1_walk_musical_001"])
def test_knees_of_files_whose_rest_pose_is_folded_bend_forward(take):
    bends = LimbBends(km.load(asset(f"bvh/bandai/dataset-{take}.bvh")))
    assert [limb.way for limb in bends.limbs if limb.middle.startswith("knee")] == ["forward", "forward"]
