"""Shadows: behind something there is no sun, beside it there is."""

import numpy as np
import pytest

from kinema.render.shadows import ShadowMap

SQUARE = np.array([(-1.0, 2.0, -1.0), (1.0, 2.0, -1.0), (1.0, 2.0, 1.0), (-1.0, 2.0, 1.0)])
HALVES = np.array([(0, 1, 2), (0, 2, 3)])
SUN = np.array((0.0, 1.0, 1e-3))


@pytest.fixture(scope="module")
def shadows():
    return ShadowMap.of(SQUARE, HALVES, SUN / np.linalg.norm(SUN), 50)


@pytest.mark.parametrize("look", [lambda m, p: m.lit(p, 2.0, 0.01), lambda m, p: m.under(p, 0.01)])
def test_what_is_under_a_roof_is_dark(shadows, look):
    points = np.array([(0.0, 0.0, 0.0), (0.7, 1.0, -0.7), (1.7, 0.0, 0.0), (0.0, 0.0, 30.0), (0.0, 3.0, 0.0)])
    np.testing.assert_allclose(look(shadows, points), [0, 0, 1, 1, 1], atol=1e-9)


@pytest.mark.parametrize("look", [lambda m, p: m.lit(p, 4.0, 0.01), lambda m, p: m.under(p, 0.01)])
def test_edges_are_soft_and_even(shadows, look):
    x = np.linspace(0.5, 1.5, 101)
    light = look(shadows, np.stack((x, 0 * x, 0 * x), axis=-1))
    assert light[0] == pytest.approx(0, abs=1e-9)
    assert light[-1] == pytest.approx(1, abs=1e-9)
    assert (np.diff(light) >= -1e-9).all()
    assert ((light > 0.05) & (light < 0.95)).sum() >= 3
    assert abs(x[np.argmin(np.abs(light - 0.5))] - 1.0) < 0.05


def test_a_roof_does_not_shade_itself(shadows):
    np.testing.assert_array_equal(shadows.lit(SQUARE * 0.5 + (0, 1, 0), 0.0, 0.01), 1.0)
