"""The smoothing spline, against its definition solved densely."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.math.smoothing import envelope, smooth, smooth_gaussian


def dense(values, weights, stiffness):
    """The minimum by NumPy's own solver."""
    count = len(values)
    jerk = np.diff(np.eye(count), n=3, axis=0)
    matrix = np.diag(weights) + jerk.T @ (np.broadcast_to(stiffness, count - 3)[:, np.newaxis] * jerk)
    return np.linalg.solve(matrix, weights[:, np.newaxis] * values)


@given(st.integers(4, 60), st.integers(0, 2**32 - 1), st.floats(0.0, 1e5))
def test_it_is_the_minimum(count, seed, stiffness):
    chance = np.random.default_rng(seed)
    values, weights = chance.normal(size=(count, 2)), chance.uniform(0.1, 10.0, count)
    each = stiffness * chance.uniform(0.0, 1.0, count - 3)
    wanted = dense(values, weights, each)
    assert np.abs(smooth(values, weights, each) - wanted).max() <= 1e-7 * (1.0 + np.abs(wanted).max())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_too_few_values_have_no_jerk(count):
    values = np.arange(float(count))[:, np.newaxis]
    assert np.array_equal(smooth(values, np.ones(count), 100.0), values)


def test_a_parabola_has_no_jerk():
    values = (np.arange(30.0) ** 2)[:, np.newaxis]
    assert np.allclose(smooth(values, np.ones(30), 1e4), values, rtol=0.0, atol=1e-6)


def test_pinned_values_stay():
    values = np.zeros((20, 1))
    values[10] = 1.0
    weights = np.ones(20)
    weights[[5, 10]] = 1e9
    result = smooth(values, weights, 1e3)
    assert np.allclose(result[[5, 10]], values[[5, 10]], rtol=0.0, atol=1e-5)
    assert result[11, 0] > 0.5, "what is beside it is drawn along"


def test_inputs_are_not_modified():
    values, weights = np.random.default_rng(0).normal(size=(10, 3)), np.ones(10)
    before = values.copy()
    smooth(values, weights, 10.0)
    assert np.array_equal(values, before)


def column(values):
    return np.asarray(values, float)[:, np.newaxis]


def test_straight_lines_and_constants_are_not_changed():
    line = column(np.linspace(-3.0, 5.0, 40))
    assert np.allclose(smooth_gaussian(line, 6.0, "slope"), line)
    assert np.allclose(smooth_gaussian(column(np.ones(9)), 3.0, "edge"), 1.0)


def test_a_step_is_half_way_where_it_was():
    step = column(np.arange(101) >= 50)
    ramp = smooth_gaussian(step, 5.0, "slope")[:, 0]
    assert (np.diff(ramp) >= -1e-12).all()
    assert (ramp[49] + ramp[50]) / 2 == pytest.approx(0.5)
    assert ramp[30] < 1e-3
    assert ramp[70] > 1 - 1e-3


def test_a_loop_keeps_its_mean_wherever_it_starts():
    values = column(np.random.default_rng(0).normal(size=24))
    once = smooth_gaussian(values, 4.0, "wrap")
    assert once.mean() == pytest.approx(values.mean())
    assert np.allclose(smooth_gaussian(np.roll(values, 7, axis=0), 4.0, "wrap"), np.roll(once, 7, axis=0))
    assert once.std() < 0.5 * values.std()


@pytest.mark.parametrize("beyond", ["wrap", "edge", "slope"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames_and_no_deviation(beyond, count):
    values = column(np.arange(count))
    assert smooth_gaussian(values, 50.0, beyond).shape == values.shape
    assert np.allclose(smooth_gaussian(values, 0.0, beyond), values, atol=1e-6)


@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.floats(0.0, 8.0))
def test_an_envelope_lies_over_every_column_where_it_is_level(count, seed, deviation):
    """No higher than the most there is, and as high where the most lasts for as long as the Gaussian sees."""
    values = np.random.default_rng(seed).normal(size=(count, 2))
    over = envelope(values, deviation)
    assert (over <= values.max(axis=0) + 1e-12).all()
    assert (over >= values.min(axis=0) - 1e-12).all()
    np.testing.assert_array_equal(over[:, :1], envelope(values[:, :1], deviation))
    level = np.full((count, 2), 0.7)
    np.testing.assert_allclose(envelope(level, deviation), level)
