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
    seen_slides,
    shortfalls,
)
from kinema.demo import humanoid, slope
from kinema.math import arrays
from kinema.motion.soles import BALL, HEEL, TIP

FRAMES = 91
FLOOR = km.Plane()


@pytest.fixture(scope="module")
def standing():
    """A person that stands still: its frames, their matrices, and the figures."""
    person = humanoid()
    pose = km.Pose.of(*(np.repeat(array[np.newaxis], 46, axis=0) for array in person.skeleton.rest.arrays()))
    clip = km.Clip.from_poses("stand", person.skeleton, pose, times=np.arange(46) / 30)
    frames = frames_of(person.rig, clip, BakeSettings(ground=FLOOR)).without_lead
    held = np.ones_like(frames.held)
    frames = replace(frames, held=held, planted=held, stands=np.ones_like(frames.stands))
    world = frames.world - frames.rig.floor * np.eye(4)[1][:, np.newaxis] * np.eye(4)[3]
    figures = metrics.measure(frames.rig, world, FLOOR, 1 / 60, planted=frames.planted, reference=world)
    return frames, world, figures


def moved(world, offsets):
    """The matrices with the whole body moved, (F, 3)."""
    result = world.copy()
    result[..., :3, 3] += offsets[:, np.newaxis]
    return result


def test_clean_files_have_no_findings(standing):
    frames, world, figures = standing
    assert list(shortfalls(frames, world, FLOOR, figures)) == []
    assert list(off_the_ground(frames, world, FLOOR)) == []


def test_a_knee_that_flips_is_named_with_its_moment(standing):
    frames, world, figures = standing
    flips = np.zeros_like(figures.flips)
    flips[12, 1] = True
    (reported,) = shortfalls(frames, world, FLOOR, replace(figures, flips=flips))
    assert reported == "a knee flips to the other side 1 time(s), first at 0.20 s: check the legs there"


@pytest.mark.parametrize(("degrees", "told"), [(24.0, False), (26.0, True)])
def test_a_joint_that_pops_is_named(standing, degrees, told):
    """25 degrees in 1/60 s are seen."""
    frames, world, figures = standing
    knee = frames.rig.legs[0].joints[1]
    beyond = np.zeros(len(frames.rig.skeleton))
    beyond[knee] = np.radians(degrees)
    found = list(shortfalls(frames, world, FLOOR, replace(figures, beyond=beyond)))
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
    frames, world, figures = standing
    for share in (0.018, 0.022):
        values = np.zeros((FRAMES, len(frames.rig.legs)))
        values[6, 0] = share * figures.leg
        found = list(shortfalls(frames, world, FLOOR, replace(figures, **{field: values})))
        assert found == [words.format(f"{share:.1%}")] * (share > 0.02)
    assert MOST_OFF == 0.02


def test_feet_that_jerk_are_told(standing):
    frames, world, figures = standing
    for ratio in (2.9, 3.1):
        jerk = np.full_like(figures.jerk, ratio * metrics.measuring.CALM * figures.leg)
        found = list(shortfalls(frames, world, FLOOR, replace(figures, jerk=jerk)))
        assert [words[:9] for words in found] == ["feet jerk"] * (ratio > MOST_JERK)
    assert MOST_JERK == 3.0


# --- slides -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "told"), [(0.011, False), (0.013, True)])
def test_a_foot_that_creeps_slides(standing, share, told):
    """A centimetre of a person in a second and a half is seen, and told with its place."""
    frames, world, figures = standing
    offsets = np.linspace(0.0, share * figures.leg, FRAMES)[:, np.newaxis] * (0.0, 0.0, 1.0)
    found = list(shortfalls(frames, moved(world, offsets), FLOOR, figures))
    assert [words[:23] for words in found] == ["a standing foot slides "] * told
    assert MOST_SLIDE == 0.012


def test_a_foot_slides_however_fast_where_it_stands_in_the_clip(standing):
    """What is fast in the clip, too, lands, lifts off, or is dragged."""
    frames, world, figures = standing
    fast = np.clip(np.arange(FRAMES) - 40, 0, 6)[:, np.newaxis] * 0.02 * figures.leg * np.array((0.0, 0.0, 1.0))
    (told,) = shortfalls(frames, moved(world, fast), FLOOR, figures)
    assert told == "a standing foot slides by 12.0% of a leg at 0.77 s"
    stands = frames.stands.copy()
    stands[40:47] = False
    assert list(shortfalls(replace(frames, stands=stands), moved(world, fast), FLOOR, figures)) == []


def test_a_foot_in_the_air_does_not_slide(standing):
    frames, world, figures = standing
    creeps = np.linspace(0.0, 0.05, FRAMES)[:, np.newaxis] * np.array((0.0, 0.0, 1.0)) * figures.leg
    for height, told in ((0.005, True), (0.007, False), (0.03, False)):
        above = creeps + np.array((0.0, height, 0.0)) * figures.leg
        assert bool(list(shortfalls(frames, moved(world, above), FLOOR, figures))) == told
    swings = replace(frames, held=np.zeros_like(frames.held), stands=np.zeros_like(frames.stands))
    assert list(shortfalls(swings, moved(world, creeps), FLOOR, figures)) == []


def swivelling(frames, world, pivot):
    """The soles of a body that rotates about a point by 60 degrees."""
    turns = np.tile(np.eye(4), (FRAMES, 1, 1))
    angles = np.radians(60.0) * np.linspace(0.0, 1.0, FRAMES)
    turns[:, :3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), angles))
    turns[:, :3, 3] = pivot - turns[:, :3, :3] @ pivot
    return metrics.soles_over(frames.rig, turns[:, np.newaxis] @ world, FLOOR)


@pytest.mark.parametrize(("ahead", "slides"), [(0.0, False), (-0.05, False), (0.2, True)])
def test_a_foot_that_swivels_on_a_point_of_its_sole_does_not_slide(standing, ahead, slides):
    """ahead: leg lengths from the ball. Behind it that is a point of the sole, 20% ahead none."""
    frames, world, figures = standing
    ball = metrics.soles_over(frames.rig, world, FLOOR).points[0, 0, BALL]
    soles = swivelling(frames, world, ball + ahead * figures.leg * np.array((0.0, 0.0, 1.0)))
    assert (seen_slides(frames, soles)[:, 0].max() > MOST_SLIDE * figures.leg) == slides


@pytest.mark.parametrize(("height", "slides"), [(0.011, False), (0.013, True)])
def test_a_foot_may_swivel_on_a_point_just_above_the_ground(standing, height, slides):
    frames, world, figures = standing
    soles = swivelling(frames, world, metrics.soles_over(frames.rig, world, FLOOR).points[0, 0, HEEL])
    gap = soles.gap.copy()
    gap[..., HEEL] = height * figures.leg
    found = seen_slides(frames, replace(soles, gap=gap))[:, 0].max()
    assert (found > MOST_SLIDE * figures.leg) == slides


@pytest.mark.parametrize(("lifted", "slid"), [(0.0, False), (0.02, True)])
def test_a_tip_that_wriggles_beside_a_ball_that_stands_does_not_slide(standing, lifted, slid):
    """Where heel and ball are off the ground the foot stands on its tip."""
    frames, world, figures = standing
    soles = metrics.soles_over(frames.rig, world, FLOOR)
    points, gap = soles.points.copy(), soles.gap.copy()
    points[:, :, TIP, 2] += np.linspace(0.0, 0.05 * figures.leg, FRAMES)[:, np.newaxis]
    gap[..., :TIP] += lifted * figures.leg
    found = seen_slides(frames, replace(soles, points=points, gap=gap)).max()
    assert (found > MOST_SLIDE * figures.leg) == slid


def test_a_foot_may_settle_and_lift_off(standing):
    """What it moves in the first and the last two frames of a contact is no slide."""
    frames, world, figures = standing
    held, stands = frames.held.copy(), frames.stands.copy()
    held[:30] = held[-30:] = stands[:30] = stands[-30:] = False
    offsets = np.zeros((FRAMES, 3))
    offsets[:32, 2], offsets[-32:, 2] = -0.03 * figures.leg, 0.03 * figures.leg
    frames = replace(frames, held=held, stands=stands)
    assert list(shortfalls(frames, moved(world, offsets), FLOOR, figures)) == []
    offsets[:33, 2] = -0.03 * figures.leg
    assert len(list(shortfalls(frames, moved(world, offsets), FLOOR, figures))) == 1


@pytest.mark.parametrize(("frames_long", "slid"), [(2, False), (4, True)])
def test_a_foot_settles_for_a_thirtieth_of_a_second(standing, frames_long, slid):
    """Farther than is seen: what it moves in its first frames is a landing, what it moves after them is a slide."""
    frames, world, figures = standing
    held, stands, leg = frames.held.copy(), frames.stands.copy(), figures.leg
    held[:30] = held[-30:] = stands[:30] = stands[-30:] = False
    soles = metrics.soles_over(frames.rig, world, FLOOR)
    points, since = soles.points.copy(), np.clip(np.arange(FRAMES) - 30, 0, frames_long)
    points[..., 2] += (0.02 * leg * since)[:, np.newaxis, np.newaxis]
    found = seen_slides(replace(frames, held=held, stands=stands), replace(soles, points=points)).max()
    assert (found > MOST_SLIDE * leg) == slid


def test_the_warning_agrees_with_what_feet_do():
    """Our walk, whose feet do not slide, has no warning; the same walk on another speed of the ground has one."""
    person = humanoid()
    assert bake(person, "walk", BakeSettings(ground=slope(5))).problems == ()


# --- height -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "told"), [(0.09, False), (0.11, True)])
def test_a_body_that_leaves_its_height_is_told(standing, share, told):
    frames, world, figures = standing
    lifted = moved(world, np.tile((0.0, share * figures.leg, 0.0), (FRAMES, 1)))
    found = [words for words in off_the_ground(frames, lifted, FLOOR) if words.startswith("the body is")]
    assert len(found) == told
    assert MOST_LIFTED == 0.1


@pytest.mark.parametrize(("seconds", "told"), [(0.7, False), (0.9, True)])
def test_who_flies_longer_than_a_jump_is_told(standing, seconds, told):
    frames, world, figures = standing
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
    frames, world, figures = standing
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
