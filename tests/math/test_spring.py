"""Springs: exact over any step, tuned by half-life, and they never pass the goal from rest."""

import numpy as np
import pytest
from hypothesis import given, settings

from kinema.math import spring
from tests import naive
from tests.compiled import COMPILED, both_precisions, cast, eps, fits_float32, from_python, numbers, run

places = numbers(-10.0, 10.0)
half_lives = numbers(0.01, 5.0)
steps = numbers(0.0, 3.0)
shares = numbers(0.0, 1.0)


@both_precisions
@given(half_life=half_lives, dt=steps, share=shares)
def test_decay_of_two_steps_is_that_of_their_sum(dtype, half_life, dt, share):
    parts = run(spring.decay, dtype, half_life, dt * share) * run(spring.decay, dtype, half_life, dt * (1 - share))
    whole = run(spring.decay, dtype, half_life, dt)
    # The exponent itself is rounded, and there is more of it the longer the step.
    assert parts == pytest.approx(whole, rel=8 * eps(dtype) * (1.0 + dt / half_life), abs=1e-38)


@both_precisions
@given(half_life=half_lives, x=places, goal=places)
def test_half_is_gone_after_one_half_life(dtype, half_life, x, goal):
    near = 64 * eps(dtype)
    middle = (x + goal) / 2
    assert run(spring.decay, dtype, half_life, half_life) == pytest.approx(0.5, abs=near)
    assert run(spring.damp, dtype, x, goal, half_life, half_life) == pytest.approx(middle, abs=near)
    assert run(spring.critical, dtype, x, 0.0, goal, half_life, half_life)[0] == pytest.approx(middle, abs=near)


@both_precisions
@given(x=places, goal=places, half_life=half_lives, dt=steps, share=shares)
def test_damp_in_two_steps_is_one(dtype, x, goal, half_life, dt, share):
    part = run(spring.damp, dtype, x, goal, half_life, dt * share)
    twice = run(spring.damp, dtype, part, goal, half_life, dt * (1 - share))
    assert twice == pytest.approx(run(spring.damp, dtype, x, goal, half_life, dt), abs=100 * eps(dtype))


@both_precisions
@given(x=places, velocity=places, goal=places, half_life=numbers(0.1, 5.0), dt=steps, share=shares)
def test_critical_in_two_steps_is_one(dtype, x, velocity, goal, half_life, dt, share):
    part = run(spring.critical, dtype, x, velocity, goal, half_life, dt * share)
    twice = run(spring.critical, dtype, *part, goal, half_life, dt * (1 - share))
    whole = run(spring.critical, dtype, x, velocity, goal, half_life, dt)
    rate = 1.0 + naive.critical_rate(half_life)
    np.testing.assert_allclose(twice, whole, rtol=0, atol=200 * eps(dtype) * rate**2)


@settings(max_examples=25)
@given(x=places, velocity=places, goal=places, half_life=numbers(0.1, 5.0), dt=numbers(0.0, 2.0))
def test_critical_agrees_with_the_reference_spring(x, velocity, goal, half_life, dt):
    result = run(spring.critical, np.float64, x, velocity, goal, half_life, dt)
    np.testing.assert_allclose(result, naive.spring(x, velocity, goal, half_life, dt), rtol=0, atol=1e-7)


@given(x=places, goal=places, half_life=numbers(0.1, 5.0), dt=numbers(0.0, 2.0))
def test_damp_agrees_with_the_reference_damper(x, goal, half_life, dt):
    expected = naive.damper(x, goal, half_life, dt)
    assert run(spring.damp, np.float64, x, goal, half_life, dt) == pytest.approx(expected, abs=1e-10)


@both_precisions
@given(x=places, goal=places, half_life=half_lives, dt=numbers(0.0, 100.0), share=shares)
def test_from_rest_neither_passes_the_goal_nor_turns_back(dtype, x, goal, half_life, dt, share):
    near = 16 * eps(dtype) * (abs(x) + abs(goal))
    for early, late in (
        [float(run(spring.damp, dtype, x, goal, half_life, t)) for t in (dt * share, dt)],
        [float(run(spring.critical, dtype, x, 0.0, goal, half_life, t)[0]) for t in (dt * share, dt)],
    ):
        ahead = 1.0 if goal >= x else -1.0
        assert ahead * (early - x) >= -near
        assert ahead * (late - early) >= -near
        assert ahead * (goal - late) >= -near


@both_precisions
@given(x=places, velocity=places, goal=places, half_life=half_lives)
def test_no_time_changes_nothing(dtype, x, velocity, goal, half_life):
    near = 4 * eps(dtype) * (abs(x) + abs(goal))
    assert run(spring.decay, dtype, half_life, 0.0) == 1.0
    assert run(spring.damp, dtype, x, goal, half_life, 0.0) == pytest.approx(x, abs=near)
    after = run(spring.critical, dtype, x, velocity, goal, half_life, 0.0)
    assert after[0] == pytest.approx(x, abs=near)
    assert after[1] == pytest.approx(velocity, rel=4 * eps(dtype))
    assert run(spring.damp, dtype, x, goal, 0.0, 0.0) == pytest.approx(x, abs=near)
    at_once = run(spring.critical, dtype, x, velocity, goal, 0.0, 0.0)
    assert tuple(at_once) == cast(dtype, (x, velocity))


@both_precisions
@given(x=places, velocity=places, goal=places, dt=numbers(1e-9, 10.0))
def test_no_half_life_is_there_at_once(dtype, x, velocity, goal, dt):
    assert run(spring.decay, dtype, 0.0, dt) == 0.0
    assert run(spring.damp, dtype, x, goal, 0.0, dt) == cast(dtype, goal)
    assert tuple(run(spring.critical, dtype, x, velocity, goal, 0.0, dt)) == cast(dtype, (goal, 0.0))


@both_precisions
@given(
    x=numbers(-1e12, 1e12),
    velocity=numbers(-1e12, 1e12),
    goal=numbers(-1e12, 1e12),
    half_life=numbers(-15.0, 12.0),
    dt=numbers(-12.0, 12.0),
)
def test_results_are_finite_for_all_sizes(dtype, x, velocity, goal, half_life, dt):
    half_life, dt = 10.0**half_life, 10.0**dt
    assert 0.0 <= run(spring.decay, dtype, half_life, dt) <= 1.0
    assert np.isfinite(run(spring.damp, dtype, x, goal, half_life, dt))
    assert np.all(np.isfinite(run(spring.critical, dtype, x, velocity, goal, half_life, dt)))


@pytest.mark.skipif(not COMPILED, reason="plain Python has one precision of its own")
@given(x=places, velocity=places, goal=places, half_life=half_lives, dt=numbers(0.01, 1.0))
def test_float32_stays_float32(x, velocity, goal, half_life, dt):
    x, velocity, goal, half_life, dt = cast(np.float32, (x, velocity, goal, half_life, dt))
    assert fits_float32(from_python(spring.decay)(half_life, dt))
    assert fits_float32(from_python(spring.damp)(x, goal, half_life, dt))
    assert fits_float32(from_python(spring.critical)(x, velocity, goal, half_life, dt))
