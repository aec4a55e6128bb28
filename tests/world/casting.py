"""Rays to cast, and what must hold of every answer, whatever was hit."""

import numpy as np

from kinema.world.rays import Hits
from tests import problems
from tests.world import naive_casts

DOWN = np.array([0.0, -1.0, 0.0])


def random_rays(rng, count, size=4.0):
    """Origins about the middle of the world, directions all round, and how far they go."""
    return rng.uniform(-size, size, (count, 3)), problems.units(rng, count), rng.uniform(0.0, 4 * size, count)


def axis_rays(rng, count, size=4.0):
    """The same along the six half axes."""
    origins, _, reaches = random_rays(rng, count, size)
    return origins, np.concatenate([np.eye(3), -np.eye(3)])[rng.integers(0, 6, count)], reaches


def cast_checked(ground, origins, directions, max_distance):
    """A cast whose answer keeps to the contract."""
    hits = ground.cast(origins, directions, max_distance)
    assert isinstance(hits, Hits)
    origins, directions = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
    hit, point, normal, distance = hits
    shape = np.broadcast_shapes(origins.shape[:-1], directions.shape[:-1], np.shape(max_distance))
    assert np.shape(hit) == shape == np.shape(distance)
    assert point.shape == (*shape, 3) == normal.shape
    assert hit.dtype == np.bool_
    assert point.dtype == normal.dtype == distance.dtype
    assert all(np.isfinite(field).all() for field in hits)
    eps = np.finfo(distance.dtype).eps
    units = naive_casts.unit(directions)
    reach = np.broadcast_to(np.asarray(max_distance).astype(distance.dtype), shape)
    assert np.all(distance >= 0)
    assert np.all(distance <= reach)
    assert np.all(distance[~hit] == reach[~hit])
    ends = origins + units * np.asarray(distance, np.float64)[..., None]
    size = np.max(np.abs(origins), axis=-1, initial=0.0) + distance
    assert np.all(np.linalg.norm(point - ends, axis=-1) <= 8 * eps * size)
    length = np.linalg.norm(normal.astype(np.float64), axis=-1)
    assert np.all(np.where(hit, np.abs(length - 1.0) <= 8 * eps, length == 0.0))
    assert np.all(np.sum(normal * np.broadcast_to(units, normal.shape), axis=-1) <= 8 * eps)
    return hits


def agrees(hits, expected, atol=1e-9, rtol=1e-9):
    """Whether hits and misses are those of the oracle, at the same distances."""
    np.testing.assert_array_equal(hits.hit, np.isfinite(expected))
    np.testing.assert_allclose(hits.distance[hits.hit], expected[hits.hit], atol=atol, rtol=rtol)


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
