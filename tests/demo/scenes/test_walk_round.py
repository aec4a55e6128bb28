"""The way that walks go."""

import numpy as np
import pytest

from kinema.demo.scenes.grounds import round_of


def test_a_round_is_closed_and_smooth():
    way = round_of("course")
    spots = np.array([way.at(s)[:2] for s in np.linspace(0.0, way.length, 4001)])
    steps = np.linalg.norm(np.diff(spots, axis=0), axis=1)
    assert np.allclose(spots[0], spots[-1])
    assert np.ptp(steps) < 1e-5 * way.length
    assert steps.sum() == pytest.approx(way.length, rel=1e-4)
    for s in np.linspace(0.1, way.length - 0.1, 50):
        here, ahead = way.at(s), way.at(s + 1e-4)
        assert np.arctan2(ahead.x - here.x, ahead.z - here.z) == pytest.approx(
            np.arctan2(np.sin(here.heading), np.cos(here.heading)), abs=1e-3
        )
