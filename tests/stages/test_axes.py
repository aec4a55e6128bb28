"""Axes and angles of a gaze, and the step of a gaze: limits, the largest speed, jumps, and which shoulder."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.compile.records import kernel_views
from kinema.stages import axes
from kinema.stages.axes import Angles, TargetChange
from tests import naive, problems
from tests.compiled import from_python

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
DT = 1 / 60
HELD = TargetChange(True, True, False)
"""A target that was there before and is the same."""
angles = st.floats(-1.5, 1.5)


def one(layout, **values):
    record = layout.zeros(1, np.float64)
    for name, value in values.items():
        record[name] = value
    return kernel_views(record)[0][0]


def character_axes(**values):
    return one(axes.AXES, **({"left": (1, 0, 0), "up": (0, 1, 0), "forward": (0, 0, 1)} | values))


def gaze_settings(max_yaw=1.2, max_pitch=0.7, half_life=0.1, speed=4.0):
    overhead = min(axes.OVERHEAD, math.cos(max_pitch))
    return one(
        axes.GAZE_SETTINGS, max_yaw=max_yaw, max_pitch=max_pitch, overhead=overhead, half_life=half_life, speed=speed
    )


# --- axes and angles -------------------------------------------------------------------------------------------------


def test_axes_of_a_rotated_joint_are_rotated():
    for q in problems.quaternions(problems.generator(1), 20):
        rotation = naive.quat_to_matrix(q)
        m = (*(tuple(column) for column in rotation.T), (1.0, 2.0, 3.0))
        np.testing.assert_allclose(np.transpose(from_python(axes.axes_of)(m, character_axes())), rotation, atol=1e-12)


def test_axes_of_a_mirrored_joint_are_mirrored():
    mirrored = ((-1.0, 0.0, 0.0), *IDENTITY[1:])
    assert from_python(axes.axes_of)(mirrored, character_axes())[0] == (-1.0, 0.0, 0.0)


@given(yaw=angles, pitch=angles)
def test_angles_and_back(yaw, pitch):
    direction = from_python(axes.direction_of)(Angles(yaw, pitch))
    assert from_python(axes.angles_of)(direction) == pytest.approx((yaw, pitch), abs=1e-9)


@given(left=angles, up=angles)
def test_asides_and_back(left, up):
    direction = from_python(axes.direction_aside)(axes.Aside(left, up))
    assert from_python(axes.aside_of)(direction) == pytest.approx((left, up), abs=1e-9)
    assert math.acos(min(direction[2], 1.0)) == pytest.approx(math.hypot(left, up), abs=1e-6)


def test_the_zero_vector_has_no_angles():
    assert from_python(axes.angles_of)((0.0, 0.0, 0.0)) == (0.0, 0.0)
    assert from_python(axes.to_unit)((0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)
    assert from_python(axes.to_unit)((0.0, 1e-200, 0.0)) == (0.0, 1.0, 0.0)


@given(st.floats(-2 * math.pi, 2 * math.pi))
def test_wrapped_angles_are_the_same_angle(angle):
    found = from_python(axes.wrapped)(angle)
    assert abs(found) <= math.pi + 1e-12
    assert math.cos(found - angle) == pytest.approx(1.0)


# --- springs ---------------------------------------------------------------------------------------------------------


def test_a_spring_is_half_way_after_its_half_life_and_comes_to_rest():
    settle = from_python(axes.settle)
    assert settle(1.0, 0.0, 0.0, 0.1, 0.1)[0] == pytest.approx(0.5, abs=0.01)
    x, velocity = 1.0, 0.0
    for _ in range(600):
        x, velocity = settle(x, velocity, 0.25, 0.05, DT)
    assert (x, velocity) == (0.25, 0.0)


def test_a_spring_is_not_at_rest_where_one_could_see_it():
    assert from_python(axes.settle)(1e-5, 0.0, 0.0, 0.1, 1e-6)[0] == pytest.approx(1e-5, rel=1e-3)


# --- a gaze ----------------------------------------------------------------------------------------------------------


def test_a_target_behind_keeps_its_shoulder():
    shoulder = from_python(axes.shoulder_of)
    assert shoulder((1.0, 0.0, 1.0), 0.0) == 1.0
    assert shoulder((-0.01, 0.0, -1.0), 1.0) == 1.0
    assert shoulder((-1.0, 0.0, 0.1), 1.0) == -1.0
    assert shoulder((-0.01, 0.0, -1.0), 0.0) == -1.0


@given(yaw=angles, pitch=st.floats(-1.0, 1.0), eye=st.tuples(*[st.floats(-0.1, 0.1)] * 3))
def test_the_gaze_through_a_target_meets_it(yaw, pitch, eye):
    target = tuple(2.0 * x for x in from_python(axes.direction_of)(Angles(yaw, pitch)))
    found = from_python(axes.angles_through)(target, eye, 1.0, 0.35)
    forward = np.array(from_python(axes.direction_of)(found))
    pitched = naive.quat_rotate(naive.quat_from_axis_angle((-1.0, 0.0, 0.0), found.pitch), np.array(eye))
    start = naive.quat_rotate(naive.quat_from_axis_angle((0.0, 1.0, 0.0), found.yaw), pitched)
    off = np.array(target) - start
    assert np.linalg.norm(np.cross(off / np.linalg.norm(off), forward)) < 1e-6


def test_a_goal_is_inside_the_limits():
    goal = from_python(axes.gaze_goal)(
        gaze_settings(0.5, 0.3), True, (1.0, 1.0, 0.1), (0.0, 0.0, 0.0), 1.0, Angles(0.0, 0.0)
    )
    assert goal == (0.5, 0.3)


@pytest.mark.parametrize("half_life", [0.0, 0.1, 0.5])
def test_no_step_is_faster_than_the_largest_speed(half_life):
    settings, state = gaze_settings(half_life=half_life, speed=2.0), one(axes.GAZE_STATE)
    step, goal, shown = from_python(axes.step_gaze), Angles(1.0, -0.5), Angles(0.0, 0.0)
    for n in range(1500):
        change = TargetChange(True, n > 0, n == 0)
        gaze, arrived = step(settings, state, goal, Angles(0.0, 0.0), change, DT)
        assert math.hypot(gaze.yaw - shown.yaw, gaze.pitch - shown.pitch) <= 2.0 * DT + 1e-12
        shown = gaze
    assert arrived
    assert shown == goal


def test_a_goal_that_moves_slowly_is_followed_at_once():
    settings, state = gaze_settings(half_life=0.5), one(axes.GAZE_STATE)
    step = from_python(axes.step_gaze)
    step(settings, state, Angles(0.0, 0.0), Angles(0.0, 0.0), HELD, DT)
    for n in range(1, 30):
        goal = Angles(0.02 * n, 0.0)
        gaze, _ = step(settings, state, goal, Angles(0.0, 0.0), HELD, DT)
        assert gaze == goal


@given(yaw=angles, pitch=st.floats(-0.7, 0.7))
def test_an_upright_rotation_has_no_roll(yaw, pitch):
    q = from_python(axes.rotation_between)(Angles(0.0, 0.0), Angles(yaw, pitch), 1.0)
    np.testing.assert_allclose(
        naive.quat_rotate(np.array(q), np.array((0.0, 0.0, 1.0))),
        from_python(axes.direction_of)(Angles(yaw, pitch)),
        atol=1e-9,
    )
    assert naive.quat_rotate(np.array(q), np.array((1.0, 0.0, 0.0)))[1] == pytest.approx(0.0, abs=1e-9)
