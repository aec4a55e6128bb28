"""Warnings say what a viewer sees, where and when; a clean bake has none."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.shortfalls import (
    LONGEST_JUMP,
    MOST_BEYOND,
    MOST_JERK,
    MOST_LIFTED,
    MOST_OFF,
    MOST_SLIDE,
    NEAR,
    off_the_ground,
    out_of_reach,
    shortfalls,
)
from kinema.bake.slides import clip_soles
from kinema.demo import humanoid, slope

FRAMES = 91
FLOOR = km.Plane()


@pytest.fixture(scope="module")
def standing():
    """A person that stands still: its frames, its soles, their matrices, and the figures."""
    person = humanoid()
    pose = km.Pose.of(*(np.repeat(array[np.newaxis], 46, axis=0) for array in person.skeleton.rest.arrays()))
    clip = km.Clip.from_poses("stand", person.skeleton, pose, times=np.arange(46) / 30)
    frames = frames_of(person.rig, clip, BakeSettings(ground=FLOOR)).without_lead
    held = np.ones_like(frames.held)
    frames = replace(frames, held=held, planted=held)
    soles = clip_soles(person, frames)
    world = frames.world - frames.rig.floor * np.eye(4)[1][:, np.newaxis] * np.eye(4)[3]
    figures = metrics.measure(frames.rig, world, FLOOR, 1 / 60, planted=frames.planted, reference=world)
    return frames, soles, world, figures


def moved(world, offsets):
    """The matrices with the whole body moved, (F, 3)."""
    result = world.copy()
    result[..., :3, 3] += offsets[:, np.newaxis]
    return result


def test_clean_files_have_no_findings(standing):
    frames, soles, world, figures = standing
    assert list(shortfalls(frames, soles, world, FLOOR, figures)) == []
    assert list(off_the_ground(frames, world, FLOOR)) == []


def test_a_knee_that_flips_is_named_with_its_moment(standing):
    frames, soles, world, figures = standing
    flips = np.zeros_like(figures.flips)
    flips[12, 1] = True
    (reported,) = shortfalls(frames, soles, world, FLOOR, replace(figures, flips=flips))
    assert reported == "a knee flips to the other side 1 time(s), first at 0.20 s: check the legs there"


@pytest.mark.parametrize(("degrees", "told"), [(24.0, False), (26.0, True)])
def test_a_joint_that_pops_is_named(standing, degrees, told):
    """25 degrees in 1/60 s are seen."""
    frames, soles, world, figures = standing
    knee = frames.rig.legs[0].joints[1]
    beyond = np.zeros(len(frames.rig.skeleton))
    beyond[knee] = np.radians(degrees)
    found = list(shortfalls(frames, soles, world, FLOOR, replace(figures, beyond=beyond)))
    words = (
        f"joint {frames.rig.skeleton.names[knee]!r} rotates {degrees:.0f}° further in 1/60 s than it does in the clip"
    )
    assert found == [words] * told
    assert np.degrees(MOST_BEYOND) == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("penetration", "a planted sole is {} of a leg below the ground at 0.10 s"),
        ("hover", "a planted sole is {} of a leg above the ground at 0.10 s"),
        ("shin", "a shin is {} of a leg inside the ground at 0.10 s"),
    ],
)
def test_each_length_is_reported_with_its_time(standing, field, words):
    """Two centimetres of a person are seen."""
    frames, soles, world, figures = standing
    for share in (0.018, 0.022):
        values = np.zeros((FRAMES, len(frames.rig.legs)))
        values[6, 0] = share * figures.leg
        found = list(shortfalls(frames, soles, world, FLOOR, replace(figures, **{field: values})))
        assert found == [words.format(f"{share:.1%}")] * (share > 0.02)
    assert MOST_OFF == 0.02


def test_feet_that_jerk_are_told(standing):
    frames, soles, world, figures = standing
    for ratio in (2.9, 3.1):
        jerk = np.full_like(figures.jerk, ratio * metrics.measuring.CALM * figures.leg)
        found = list(shortfalls(frames, soles, world, FLOOR, replace(figures, jerk=jerk)))
        assert [words[:9] for words in found] == ["feet jerk"] * (ratio > MOST_JERK)
    assert MOST_JERK == 3.0


# --- slides -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "told"), [(0.010, False), (0.012, True)])
def test_a_foot_that_creeps_slides(standing, share, told):
    """A centimetre of a person in a second and a half is seen, and told with its place."""
    frames, soles, world, figures = standing
    offsets = np.linspace(0.0, share * figures.leg, FRAMES)[:, np.newaxis] * (0.0, 0.0, 1.0)
    found = list(shortfalls(frames, soles, moved(world, offsets), FLOOR, figures))
    assert found == ["a standing foot slides by 1.2% of a leg at 1.50 s"] * told
    assert MOST_SLIDE == 0.011


def test_a_foot_that_slides_is_told_where_the_bake_did_not_hold_it(standing):
    """It stands in the clip. Which feet were held is not asked."""
    frames, soles, world, figures = standing
    fast = np.clip(np.arange(FRAMES) - 40, 0, 6)[:, np.newaxis] * 0.02 * figures.leg * np.array((0.0, 0.0, 1.0))
    none = np.zeros_like(frames.held)
    (told,) = shortfalls(replace(frames, held=none, planted=none), soles, moved(world, fast), FLOOR, figures)
    assert told == "a standing foot slides by 12.0% of a leg at 0.77 s"


def test_the_warning_agrees_with_what_feet_do():
    """Our walk, whose feet do not slide, has no warning; the same walk on another speed of the ground has one."""
    person = humanoid()
    assert bake(person, "walk", BakeSettings(ground=slope(5))).problems == ()


# --- height -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "told"), [(0.09, False), (0.11, True)])
def test_a_body_that_leaves_its_height_is_told(standing, share, told):
    frames, _, world, figures = standing
    lifted = moved(world, np.tile((0.0, share * figures.leg, 0.0), (FRAMES, 1)))
    found = [words for words in off_the_ground(frames, lifted, FLOOR) if words.startswith("the body is")]
    assert len(found) == told
    assert MOST_LIFTED == 0.1


@pytest.mark.parametrize(("seconds", "told"), [(0.7, False), (0.9, True)])
def test_who_flies_longer_than_a_jump_is_told(standing, seconds, told):
    frames, _, world, figures = standing
    offsets = np.zeros((FRAMES, 3))
    offsets[20 : 20 + round(60 * seconds), 1] = 0.06 * figures.leg
    found = list(off_the_ground(frames, moved(world, offsets), FLOOR))
    assert found == ["no foot is near the ground for 0.9 s from 0.33 s on"] * told
    low = moved(world, offsets * (0.04 / 0.06))
    assert list(off_the_ground(frames, low, FLOOR)) == []
    assert (LONGEST_JUMP, NEAR) == (0.8, 0.05)


@pytest.mark.parametrize(("share", "told"), [(0.2, False), (0.3, True)])
def test_a_height_is_taken_over_a_seventh_of_a_second(standing, share, told):
    """Half of what a body is lifted for a fifth of a second counts, and 0.12 leg lengths are told."""
    frames, _, world, figures = standing
    offsets = np.zeros((FRAMES, 3))
    offsets[40:52, 1] = share * figures.leg
    found = [words for words in off_the_ground(frames, moved(world, offsets), FLOOR) if words.startswith("the body is")]
    assert len(found) == told


@pytest.mark.parametrize(("last", "late"), [(2.4, False), (2.6, True)])
def test_a_hand_has_a_second_and_a_half_to_come_to_where_its_target_begins(last, late):
    person = humanoid()
    times = np.arange(round(30 * last) + 1) / 30
    world = np.repeat(person.skeleton.rest_world[np.newaxis].astype(float), len(times), axis=0)
    target = MovingPoint(np.array((1.0, 9.0)), np.array(((0.3, 1.2, 0.4), (0.3, 1.2, 0.4))))
    assert bool(list(out_of_reach(person.rig, world, times, {"left_hand": target}))) == late
