"""Shadows: below something it is dark, beside it there is light, and edges between are soft."""

import dataclasses

import numpy as np
import pytest

from kinema.render.meshes import Mesh
from kinema.render.renderer import shade_ground

CORNERS = np.array([(-1.0, 2.0, -1.0), (1.0, 2.0, -1.0), (1.0, 2.0, 1.0), (-1.0, 2.0, 1.0)])
ROOF = Mesh(CORNERS, np.array([(0, 1, 2), (0, 2, 3)]), np.tile((0.0, 1.0, 0.0), (4, 1)), np.ones((4, 3)))
NOON = np.array((0.0, 1.0, 1e-3))


def test_what_is_under_a_roof_is_dark():
    points = np.array([(0.0, 0.0, 0.0), (0.7, 0.0, -0.7), (1.7, 0.0, 0.0), (0.0, 0.0, 30.0)])
    np.testing.assert_allclose(shade_ground(ROOF, NOON, points), [1, 1, 0, 0], atol=1e-9)


def test_edges_are_soft_and_even():
    x = np.linspace(0.5, 1.5, 101)
    shade = shade_ground(ROOF, NOON, np.stack((x, 0 * x, 0 * x), axis=-1))
    assert (shade[0], shade[-1]) == pytest.approx((1.0, 0.0))
    assert (np.diff(shade) <= 1e-9).all()
    assert ((shade > 0.05) & (shade < 0.95)).sum() >= 3
    assert abs(x[np.argmin(np.abs(shade - 0.5))] - 1.0) < 0.02


def test_a_low_sun_throws_the_shadow_to_the_other_side():
    points = np.array([(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0)])
    np.testing.assert_allclose(shade_ground(ROOF, np.array((0.7, 0.7, 0.0)), points), [1, 0], atol=1e-9)


def test_a_large_scene_keeps_its_shadow():
    points = np.array([(0.0, 0.0, 0.0), (39.0, 0.0, 0.0), (45.0, 0.0, 0.0)])
    large = dataclasses.replace(ROOF, vertices=CORNERS * (40.0, 1.0, 40.0))
    np.testing.assert_allclose(shade_ground(large, NOON, points), [1, 1, 0], atol=1e-9)
