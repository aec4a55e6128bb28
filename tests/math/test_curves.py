"""Curves: they start and end as they promise, and a motion that is planned anew on its way stays the same curve."""

import numpy as np
import pytest
from hypothesis import given

from kinema.compile.jit import kernel
from kinema.math import arrays, curves
from tests.compiled import both_precisions, eps, fits_float32, numbers, run

values = numbers(-2.0, 2.0)
times = numbers(0.05, 2.0)
shares = numbers(0.0, 1.0)


@kernel
def quintic(x, speed, acceleration, goal, goal_speed, seconds, dt):
    return curves.step_quintic(curves.Motion(x, speed, acceleration), goal, goal_speed, seconds, dt)


@kernel
def rested(x, speed, acceleration, goal, near):
    return curves.rest_at(curves.Motion(x, speed, acceleration), goal, near)


def polynomial(seconds, start, end):
    """Coefficients, lowest first, of the polynomial with these derivatives (value, speed, ...) at both ends."""
    count = len(start)
    powers = [np.polynomial.Polynomial(row) for row in np.eye(2 * count)]
    rows = [[power.deriv(order)(at) for power in powers] for at in (0.0, seconds) for order in range(count)]
    return np.polynomial.Polynomial(np.linalg.solve(rows, [*start, *end]))


# --- shares ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", [curves.smoothstep, curves.minimum_jerk])
@both_precisions
@given(share=numbers(-1.0, 2.0))
def test_a_share_of_the_way_is_0_to_1_and_the_same_from_both_ends(curve, dtype, share):
    whole = run(curve, dtype, share)
    assert 0.0 <= whole <= 1.0
    assert whole + run(curve, dtype, 1.0 - share) == pytest.approx(1.0, abs=16 * eps(dtype))


@pytest.mark.parametrize(("curve", "slopes"), [(curves.smoothstep, 1), (curves.minimum_jerk, 2)])
def test_slopes_vanish_at_the_ends(curve, slopes):
    near = 1e-4
    assert 0.0 < run(curve, np.float64, near) < 20 * near ** (slopes + 1)
    assert 0.0 < 1.0 - run(curve, np.float64, 1.0 - near) < 20 * near ** (slopes + 1)


@given(share=shares)
def test_the_curves_of_arrays_are_those_of_kernels(share):
    assert arrays.smoothstep(share) == pytest.approx(float(run(curves.smoothstep, np.float64, share)), abs=1e-15)
    assert arrays.minimum_jerk(share) == pytest.approx(float(run(curves.minimum_jerk, np.float64, share)), abs=1e-15)


@both_precisions
@given(value=values, start=values, width=times)
def test_falloff_is_1_up_to_its_start_and_0_after_its_width(dtype, value, start, width):
    wanted = np.interp(value, (start, start + width), (1.0, 0.0))
    assert run(curves.falloff, dtype, value, start, width) == pytest.approx(wanted, abs=64 * eps(dtype) / width)


# --- motions ---------------------------------------------------------------------------------------------------


@both_precisions
@given(x=values, speed=values, goal=values, seconds=times, share=shares)
def test_a_cubic_comes_to_rest_at_its_goal(dtype, x, speed, goal, seconds, share):
    wanted = polynomial(seconds, (x, speed), (goal, 0.0))
    at, rate = run(curves.step_cubic, dtype, x, speed, goal, seconds, share * seconds)
    assert at == pytest.approx(wanted(share * seconds), abs=100 * eps(dtype))
    assert rate == pytest.approx(wanted.deriv()(share * seconds), abs=400 * eps(dtype) * (1 + 1 / seconds))


@both_precisions
@given(x=values, speed=values, pull=values, goal=values, goal_speed=values, seconds=times, share=shares)
def test_a_quintic_arrives_at_its_speed_without_acceleration(dtype, x, speed, pull, goal, goal_speed, seconds, share):
    wanted = polynomial(seconds, (x, speed, pull), (goal, goal_speed, 0.0))
    motion = run(quintic, dtype, x, speed, pull, goal, goal_speed, seconds, share * seconds)
    near, rate = 2000 * eps(dtype), 1 + 1 / seconds
    assert motion[0] == pytest.approx(wanted(share * seconds), abs=near)
    assert motion[1] == pytest.approx(wanted.deriv()(share * seconds), abs=near * rate)
    assert motion[2] == pytest.approx(wanted.deriv(2)(share * seconds), abs=near * rate * rate)


@given(x=values, speed=values, pull=values, goal=values, seconds=times, share=numbers(0.0, 0.9))
def test_a_quintic_that_is_planned_anew_stays_the_same_curve(x, speed, pull, goal, seconds, share):
    later = 0.95 * seconds
    whole = run(quintic, np.float64, x, speed, pull, goal, 0.0, seconds, later)
    part = run(quintic, np.float64, x, speed, pull, goal, 0.0, seconds, share * seconds)
    rest = run(quintic, np.float64, *part, goal, 0.0, (1 - share) * seconds, later - share * seconds)
    assert rest[0] == pytest.approx(whole[0], abs=1e-9)


@pytest.mark.parametrize("over", [0.0, 0.5])
def test_a_motion_whose_time_is_over_is_at_its_goal(over):
    motion = run(quintic, np.float64, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 0.5 + over)
    np.testing.assert_array_equal(motion, (4.0, 5.0, 0.0))
    np.testing.assert_array_equal(run(curves.step_cubic, np.float64, 1.0, 2.0, 4.0, 0.5, 0.5 + over), (4.0, 0.0))


def test_a_cubic_without_time_stays_where_it_is():
    np.testing.assert_array_equal(run(curves.step_cubic, np.float64, 1.0, 2.0, 4.0, 0.0, 0.0), (1.0, 2.0))


@pytest.mark.parametrize(("off", "speed", "rests"), [(0.009, 0.009, True), (0.011, 0.0, False), (0.0, 0.011, False)])
def test_a_motion_rests_where_it_is_near_its_goal_and_slow(off, speed, rests):
    motion = run(rested, np.float64, 3.0 + off, speed, 7.0, 3.0, 0.01)
    np.testing.assert_array_equal(motion, (3.0, 0.0, 0.0) if rests else (3.0 + off, speed, 7.0))


@given(x=values, goal=values, seconds=times, share=shares)
def test_float32_stays_float32(x, goal, seconds, share):
    assert fits_float32(run(curves.minimum_jerk, np.float32, share))
    assert fits_float32(run(curves.smoothstep, np.float32, share))
    assert fits_float32(run(curves.falloff, np.float32, x, goal, seconds))
    for number in (
        *run(curves.step_cubic, np.float32, x, 0.5, goal, seconds, share),
        *run(quintic, np.float32, x, 0.5, 0.25, goal, 0.5, seconds, share),
    ):
        assert fits_float32(number)
