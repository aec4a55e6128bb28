"""Smoothing without delay: straight lines stay, steps become ramps about the same moment, loops stay loops."""

import numpy as np
import pytest

from kinema.bake.smoothing import smoothed


def column(values):
    return np.asarray(values, float)[:, np.newaxis]


def test_straight_lines_and_constants_are_not_changed():
    line = column(np.linspace(-3.0, 5.0, 40))
    assert np.allclose(smoothed(line, 6.0, "slope"), line)
    assert np.allclose(smoothed(column(np.ones(9)), 3.0, "edge"), 1.0)


def test_a_step_is_half_way_where_it_was():
    step = column(np.arange(101) >= 50)
    ramp = smoothed(step, 5.0, "slope")[:, 0]
    assert (np.diff(ramp) >= -1e-12).all()
    assert (ramp[49] + ramp[50]) / 2 == pytest.approx(0.5)
    assert ramp[30] < 1e-3
    assert ramp[70] > 1 - 1e-3


def test_a_loop_keeps_its_mean_wherever_it_starts():
    values = column(np.random.default_rng(0).normal(size=24))
    once = smoothed(values, 4.0, "wrap")
    assert once.mean() == pytest.approx(values.mean())
    assert np.allclose(smoothed(np.roll(values, 7, axis=0), 4.0, "wrap"), np.roll(once, 7, axis=0))
    assert once.std() < 0.5 * values.std()


@pytest.mark.parametrize("beyond", ["wrap", "edge", "slope"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames_and_no_deviation(beyond, count):
    values = column(np.arange(count))
    assert smoothed(values, 50.0, beyond).shape == values.shape
    assert np.allclose(smoothed(values, 0.0, beyond), values, atol=1e-6)
