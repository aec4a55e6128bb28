"""Triangles into pixels, against the slow way: each pixel by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinema.render.raster import facing, fill


def naive(points, triangles, shape):
    """Depth of the nearest triangle in each pixel, one pixel and one triangle at a time; and which one."""
    depth, owner = np.full(shape, np.inf), np.full(shape, -1)
    for k, triangle in enumerate(triangles):
        a, b, c = points[triangle]
        matrix = np.array([[a[0], b[0], c[0]], [a[1], b[1], c[1]], [1, 1, 1]])
        if abs(np.linalg.det(matrix)) < 1e-12:
            continue
        for y in range(shape[0]):
            for x in range(shape[1]):
                shares = np.linalg.solve(matrix, (x + 0.5, y + 0.5, 1))
                far = shares @ (a[2], b[2], c[2])
                if shares.min() >= 0 and far < depth[y, x]:
                    depth[y, x], owner[y, x] = far, k
    return depth, owner


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([2.0, 8.0, 60.0]))
@settings(max_examples=30, deadline=None)
def test_the_nearest_triangle_is_seen(seed, count, spread):
    """Small ones, large ones, and those that go out of the picture."""
    draw = np.random.default_rng(seed)
    centres = draw.uniform(0, 20, (count, 1, 3))
    points = (centres + draw.normal(0, spread, (count, 3, 3))).reshape(-1, 3)
    triangles = np.arange(3 * count).reshape(-1, 3)
    got = fill(points, triangles, (16, 20))
    depth, owner = naive(points, triangles, (16, 20))
    # What lies on an edge to within rounding may fall to either side.
    same = np.isclose(got.depth, depth) | (np.isinf(got.depth) & np.isinf(depth))
    assert same.mean() > 0.995
    np.testing.assert_array_equal(got.owner[same & (np.abs(got.depth) < np.inf)] >= 0, True)
    assert (got.owner == owner)[same].mean() > 0.995


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_values_at_corners_are_mixed_where_they_are_seen(seed):
    """A value that grows straight across the picture is, in every pixel, what it is there."""
    draw = np.random.default_rng(seed)
    points = draw.uniform(-10, 50, (30, 3))
    triangles = draw.integers(0, 30, (20, 3))
    fragments = fill(points, triangles, (40, 40))
    values = np.stack((points[:, 0], 2 * points[:, 1] - points[:, 0]), axis=-1)
    y, x = np.nonzero(fragments.seen)
    got = fragments.of(triangles, values)
    np.testing.assert_allclose(got, np.stack((x + 0.5, 2 * (y + 0.5) - (x + 0.5)), axis=-1), atol=1e-6)


def test_a_mesh_without_gaps_has_none_in_the_picture():
    x, y = np.meshgrid(np.linspace(-5, 105, 30), np.linspace(-5, 85, 25))
    points = np.stack((x, y, np.sin(x / 9) + y), axis=-1).reshape(-1, 3)
    points[:, :2] += np.random.default_rng(0).uniform(-1, 1, (len(points), 2))
    corner = (np.arange(24)[:, np.newaxis] * 30 + np.arange(29)).reshape(-1)
    triangles = np.concatenate(
        (np.stack((corner, corner + 1, corner + 31), 1), np.stack((corner, corner + 31, corner + 30), 1))
    )
    assert fill(points, triangles, (80, 100)).seen.all()


@pytest.mark.parametrize("triangles", [np.zeros((0, 3), int), np.array([[0, 0, 1]]), np.array([[0, 1, 2]])])
def test_nothing_to_see_is_an_empty_picture(triangles):
    points = np.array([(500.0, 5.0, 0.0), (600.0, 5.0, 0.0), (600.0, 50.0, 0.0)])
    fragments = fill(points, triangles, (10, 10))
    assert not fragments.seen.any()
    assert np.isinf(fragments.depth).all()
    assert fragments.shares.shape == (0, 3)


def test_only_fronts_face():
    """Counter-clockwise as seen, with y down the screen."""
    points = np.array([(0.0, 0.0, 0.0), (0.0, 9.0, 0.0), (9.0, 0.0, 0.0)])
    np.testing.assert_array_equal(facing(points, np.array([(0, 1, 2), (0, 2, 1)])), [(0, 1, 2)])
