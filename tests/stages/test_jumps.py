"""A goal that moves is followed at once; a jump becomes an offset that decays without a jump of its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.compile.records import kernel_views
from kinema.stages import jumps
from tests import naive, problems
from tests.compiled import from_python

DT = 1 / 60


@pytest.fixture
def offset():
    return kernel_views(jumps.OFFSET.zeros(1, np.float64))[0][0]


def vector(v):
    return tuple(float(x) for x in v)


def rotation(v):
    """The rotation of a rotation vector."""
    angle = np.linalg.norm(v)
    return naive.quat_from_axis_angle(np.asarray(v) / angle, angle)


@pytest.mark.parametrize(("step", "share"), [(0.0, 1.0), (1.0, 1.0), (2.0, 0.5), (3.0, 0.0), (9.0, 0.0)])
def test_steps_are_followed_up_to_the_largest_and_jumps_are_not(step, share):
    assert from_python(jumps.followed)(step, 1.0) == pytest.approx(share)


@given(st.floats(0.0, 10.0), st.floats(1e-3, 5.0))
def test_the_part_of_a_step_that_is_followed_never_shrinks_to_below_the_largest(step, most):
    followed = from_python(jumps.followed)
    assert 0.0 <= followed(step, most) <= 1.0
    assert followed(step + 0.1, most) <= followed(step, most)


def test_a_jump_is_shown_later_and_then_not_at_all(offset):
    step = from_python(jumps.step_offset)
    jump, shown = np.array((1.0, -2.0, 0.5)), []
    assert step(offset, vector(jump), True, 0.1, DT)
    shown.append(np.array(offset["value"]))
    moving = True
    while moving:
        moving = step(offset, (0.0, 0.0, 0.0), True, 0.1, DT)
        shown.append(np.array(offset["value"]))
    sizes = np.linalg.norm([jump, *shown], axis=-1)
    assert (np.diff(sizes) <= 0).all()
    assert sizes[1] > 0.9 * sizes[0]
    assert sizes[-1] == 0.0
    assert sizes[6] == pytest.approx(sizes[0] / 2, rel=0.02)  # After six frames, 0.1 s.


def test_nothing_that_has_not_begun_jumps(offset):
    assert not from_python(jumps.step_offset)(offset, (1.0, 2.0, 3.0), False, 0.1, DT)
    assert not np.any(offset["value"])


def test_a_jump_of_a_rotation_starts_at_the_old_rotation(offset):
    step = from_python(jumps.step_rotation_offset)
    for v in problems.generator(3).normal(size=(20, 3)):
        offset["value"], offset["velocity"] = 0.0, 0.0
        step(offset, vector(v), True, 1e6, DT)
        assert naive.angle_between_rotations(rotation(offset["value"]), rotation(v)) < 1e-4


def test_two_jumps_of_a_rotation_add_up(offset):
    step = from_python(jumps.step_rotation_offset)
    first, second = np.array((0.5, 0.0, 0.2)), np.array((0.0, 0.4, -0.1))
    step(offset, vector(first), True, 1e6, DT)
    step(offset, vector(second), True, 1e6, DT)
    whole = naive.quat_mul(rotation(first), rotation(second))
    assert naive.angle_between_rotations(rotation(offset["value"]), whole) < 1e-4
