"""Feet in the air: on their plan, within the speed of their joints, and where their legs can take them."""

import math

import numpy as np
import pytest

from kinema.math import quat
from kinema.stages.legs.ground_contact import PLANTED, SWINGING
from kinema.stages.walk.swinging import (
    SwingingBody,
    hang_foot,
    land,
    reachable_way,
    set_target,
    side_of,
    swing_foot,
    swing_height,
    swing_within_speed,
)
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import FLOOR, HERE, UP, a_walker, settings, some_feet, some_legs

pytestmark = plain_python_only
SIDE = (1.0, 0.0, 0.0)
DT = 1 / 60


def going(metres, seconds):
    """A leg, and its foot that swings ahead."""
    legs = some_legs(1)
    foot = some_feet(legs, SWINGING)[0]
    foot.foothold.ball[2], foot.swing.left, foot.swing.duration = metres, seconds, seconds
    return legs[0], foot


def test_a_foot_goes_over_its_apex_and_lands_exactly():
    _, foot = going(0.4, 0.25)
    foot.foothold.rotation[:] = quat.from_axis_angle(SIDE, 0.3)
    heights = []
    for _ in range(16):
        swing_foot(foot, UP, DT)
        heights.append(foot.target.ball[1])
    assert max(heights) == pytest.approx(0.12, abs=0.003)
    assert heights.index(max(heights)) == pytest.approx(0.6 * 15, abs=1.5)
    np.testing.assert_array_equal(foot.target.ball, foot.foothold.ball)
    np.testing.assert_array_equal(foot.rotation, foot.foothold.rotation)
    assert foot.target.contact == PLANTED


def test_a_foot_that_waits_only_rises():
    _, foot = going(0.4, 0.3)
    foot.swing.depart = 0.3
    for _ in range(5):
        swing_foot(foot, UP, DT)
    assert foot.target.ball[2] == pytest.approx(0.0, abs=1e-12)
    assert foot.target.ball[1] > 0.02


def test_height_is_planned_anew_and_comes_down_to_the_foothold():
    _, foot = going(0.4, 0.3)
    height, climb = swing_height(foot, 0.0, 0.0, 0.0, 0.18)
    assert height == pytest.approx(0.12)
    assert climb == pytest.approx(0.0, abs=1e-9)
    assert swing_height(foot, 0.0, 0.0, 0.0, 0.3)[0] == pytest.approx(0.0, abs=1e-9)


def test_a_foot_out_of_reach_is_lifted_over_the_step_before_it_is_drawn_to_its_body():
    leg = some_legs(1)[0]
    low = reachable_way(leg, (0.0, -0.45, 0.93), SIDE, UP)
    assert low[2] == pytest.approx(0.93)  # Lifted alone.
    assert math.hypot(*low) == pytest.approx(leg.reach)
    deep = reachable_way(leg, (0.0, -0.9, 0.93), SIDE, UP)
    assert -0.75 < deep[1] < -0.42
    assert deep[2] < 0.93
    assert math.hypot(*deep) == pytest.approx(leg.reach)


@pytest.mark.parametrize("aside", [0.0, 0.3])
@pytest.mark.parametrize("below", [1.0, 1.5, 20.0])
def test_a_foot_far_below_its_body_hangs_at_the_end_of_its_leg(below, aside):
    leg = some_legs(1)[0]
    assert math.hypot(*reachable_way(leg, (0.0, -below, aside), SIDE, UP)) == pytest.approx(leg.reach)


def test_a_foot_too_near_its_hip_is_moved_outwards():
    left, right = some_legs(2)
    assert reachable_way(left, (0.0, -0.1, 0.0), SIDE, UP)[0] > 0.1
    assert reachable_way(right, (0.0, -0.1, 0.0), SIDE, UP)[0] < -0.1
    near = reachable_way(left, (0.0, -0.5, 0.1), SIDE, UP)
    np.testing.assert_allclose(near, (0.0, -0.5, 0.1))


def pace(metres, seconds, hip=(0.1, 0.9, 0.0), **swing):
    """Share of its planned speed that a foot keeps in a step."""
    leg, foot = going(metres, seconds)
    for name, value in swing.items():
        setattr(foot.swing, name, value)
    before = foot.swing.left
    swing_within_speed(leg, foot, hip, SwingingBody((0.0, 0.0, 0.0, 1.0), SIDE), UP, DT)
    return (before - foot.swing.left) / DT


def test_a_foot_that_swings_slowly_keeps_to_its_plan():
    assert pace(0.3, 0.5) == pytest.approx(1.0)


def test_no_joint_of_a_leg_rotates_by_more_than_twenty_degrees_in_a_frame():
    """Half way up the swing its thigh would rotate by 30 degrees."""
    leg, foot = going(0.0, 1.0)
    foot.hip.to_ankle[:] = 0.0, -0.8 * math.cos(0.5), -0.8 * math.sin(0.5)  # 0.5 radians behind, a frame ago.
    before = foot.swing.left
    swing_within_speed(leg, foot, (0.1, 0.9, 0.0), SwingingBody((0.0, 0.0, 0.0, 1.0), SIDE), UP, DT)
    assert 0.55 < (before - foot.swing.left) / DT < 0.9


def test_a_foot_keeps_a_fifth_of_its_speed_whatever_its_body_does():
    leg, foot = going(0.0, 1.0)
    foot.hip.to_ankle[:] = 0.0, 0.8, 0.0
    before = foot.swing.left
    swing_within_speed(leg, foot, (0.1, 0.9, 0.0), SwingingBody((0.0, 0.0, 0.0, 1.0), SIDE), UP, DT)
    assert 0.12 < (before - foot.swing.left) / DT < 0.3


def test_a_foot_that_comes_down_out_of_reach_does_so_at_half_its_speed():
    leg, foot = going(0.0, 1.0)
    foot.swing.left, foot.target.ball[1] = 0.3, 0.05
    hip = (0.1, 1.5, 0.0)
    foot.hip.to_ankle[:] = 0.0, -0.98, 0.0
    before = foot.swing.left
    swing_within_speed(leg, foot, hip, SwingingBody((0.0, 0.0, 0.0, 1.0), SIDE), UP, DT)
    assert 0.35 < (before - foot.swing.left) / DT < 0.75


def test_a_foot_without_ground_hangs_at_its_home():
    legs, walker = some_legs(1), a_walker()
    foot = some_feet(legs)[0]
    foot.target.ball[2] = 0.4
    hang_foot(settings(), legs[0], walker, foot, HERE, 0.1)
    assert foot.target.ball[2] == pytest.approx(0.2)
    assert walker.pelvis.moving


def test_targets_of_ankles_and_what_they_ask_of_the_body():
    leg, foot = going(0.4, 0.3)
    set_target(leg, foot, FLOOR)
    np.testing.assert_allclose(foot.target.ankle, (0.1, 0.1, 0.0))
    assert (foot.target.swing, foot.target.ground) == (1.0, 0.0)
    foot.foothold.ball[1], foot.swing.left = 0.2, 0.15
    set_target(leg, foot, FLOOR)
    assert (foot.target.swing, foot.target.ground) == (pytest.approx(0.5), pytest.approx(0.1))
    land(foot)
    set_target(leg, foot, FLOOR)
    assert (foot.target.swing, foot.target.ground) == (0.0, pytest.approx(0.2))


def test_the_left_of_a_character():
    np.testing.assert_allclose(side_of(settings(), HERE), SIDE)
