"""What Embree is given and what it answers: a triangle for every ray that meets one, edges included."""

import numpy as np
import pytest

from kinema.world import rays
from tests import problems
from tests.world import meshes, naive_casts
from tests.world.casting import random_rays

pytest.importorskip("embreex")

from kinema.world.embree import Embree


def named(corners, origins, directions, reaches):
    checked, _, _ = rays.checked(origins, directions, reaches)
    return Embree(corners).candidates(checked, np.arange(checked.reaches.size))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_names_the_nearest_triangle(size):
    rng = problems.generator(1)
    vertices, triangles = meshes.soup(rng, 200)
    origins, directions, reaches = random_rays(rng, 4000)
    found = named(vertices[triangles] * size, origins * size, directions, reaches * size)
    expected, which = naive_casts.triangles(origins, directions, reaches, vertices[triangles])
    hit = np.isfinite(expected)
    assert hit.sum() > 100
    assert np.mean(found[hit] == which[hit]) > 0.99
    assert np.mean(found[~hit] == -1) > 0.99


@pytest.mark.slow_uncompiled
def test_names_some_triangle_at_every_edge_and_corner():
    """Of these rays float32 alone lets several hundred slip through between two triangles."""
    rng = problems.generator(2)
    vertices, triangles = meshes.grid(rng.uniform(-1, 1, (40, 40)), 0.37)
    which, corner = rng.integers(0, len(triangles), 100_000), rng.integers(0, 3, 100_000)
    share = np.where(rng.uniform(size=100_000) < 0.3, 0.0, rng.uniform(size=100_000))[:, None]
    aimed = vertices[triangles[which, corner]] * (1 - share) + vertices[triangles[which, (corner + 1) % 3]] * share
    aimed = aimed[np.all((aimed[:, (0, 2)] > 0.1) & (aimed[:, (0, 2)] < 0.37 * 39 - 0.1), axis=1)]
    directions = problems.units(rng, len(aimed))
    directions[:, 1] = -np.abs(directions[:, 1]) - 0.2
    found = named(vertices[triangles], aimed - directions * rng.uniform(1, 14, (len(aimed), 1)), directions, 100.0)
    assert np.all(found >= 0)


def test_a_ray_that_passes_the_mesh_by_names_none():
    corners = meshes.box()[0][meshes.box()[1]]
    origins, directions = [[5, 5, 5], [0, 9, 0], [0, 9, 0], [4, 0, 0]], [[1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 1, 0]]
    np.testing.assert_array_equal(named(corners, origins, directions, 7.0), -1)
    assert named(corners, [0, 9, 0], [0, -1, 0], 8.0)[0] >= 0
