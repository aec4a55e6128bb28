"""Rays: validation, and the kernels that every shape shares.

Kernels see float64 arrays and unit directions, whatever the caller passed. Hits have the precision of the rays.

A shape provides a kernel `meet(ray, shape)` that returns a `RayHit`, and a batch function around it:

    @batch
    def _cast_range(start, stop, rays, hits, shape):
        for i in range(start, stop):
            ray = load_ray(rays, i)
            store_hit(hits, i, ray, meet(ray, shape))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel
from kinema.compile.threads import in_chunks
from kinema.errors import InputError
from kinema.math import vec
from kinema.math.rows import load3, store3
from kinema.validation import Flags, Numbers, Reals

RAY_FAR = 1e200
"""Metres. Farther than any ray reaches (max_distance is at most 1e100), and finite when multiplied by a length."""


class Hits(NamedTuple):
    """What `Ground.cast` returns; ... is the shape of the batch. All numbers are finite, also for a miss."""

    hit: Flags
    """(...): whether the ray hits the ground."""
    point: Reals
    """(..., 3): the point hit; for a miss the ray's end, origin + unit direction * max_distance."""
    normal: Reals
    """(..., 3): unit normal of the ground there, facing the side that the ray came from; zeros for a miss."""
    distance: Numbers
    """(...): metres from the origin to the point; max_distance for a miss."""


class Rays(NamedTuple):
    """N validated rays: float64, contiguous, broadcast to the same length."""

    origins: Any
    """(N, 3): metres."""
    units: Any
    """(N, 3): directions of length 1."""
    reaches: Any
    """(N,): max_distance of each ray, metres."""


class Ray(NamedTuple):
    """One ray, as kernels see it."""

    origin: Any
    unit: Any
    """Direction of length 1."""
    reach: Any
    """Its max_distance, metres."""


class RayHit(NamedTuple):
    """The result for one ray, as kernels return it."""

    found: Any
    distance: Any
    """Metres along the ray; its reach for a miss."""
    normal: Any
    """Unit normal that faces the ray; zeros for a miss."""


@kernel
def load_ray(rays, i):
    """Return ray number i."""
    return Ray(load3(rays.origins[i]), load3(rays.units[i]), rays.reaches[i])


@kernel
def point_along(ray, distance):
    """Return the point of a ray at a distance from its origin."""
    return vec.add(ray.origin, vec.scale(ray.unit, distance))


@kernel
def crossing(gap, speed):
    """Return the distance along a ray at which a coordinate has changed by `gap`.

    speed: change of the coordinate per metre of ray. Returns RAY_FAR if the distance is infinite or larger than that.
    """
    reachable = abs(gap) < RAY_FAR * abs(speed)
    return gap / speed if reachable else RAY_FAR


@kernel
def face_ray(normal, unit):
    """Flip a normal if necessary, so that it faces the side that the ray came from."""
    return vec.scale(normal, -1.0 if vec.dot(normal, unit) > 0.0 else 1.0)


@kernel
def miss(ray):
    """Return the result for a ray that hits nothing."""
    return RayHit(False, ray.reach, (0.0, 0.0, 0.0))


@kernel
def store_hit(hits, i, ray, hit):
    """Write the result for ray number i. Adding zero turns -0.0 into 0.0."""
    hits.hit[i] = hit.found
    hits.distance[i] = hit.distance + 0.0
    store3(hits.point[i], point_along(ray, hit.distance))
    store3(hits.normal[i], vec.add(hit.normal, (0.0, 0.0, 0.0)))


@kernel
def unit_direction(direction):
    """Return a direction in float64 at length 1. It must not be zero."""
    x, y, z = float(direction[0]), float(direction[1]), float(direction[2])
    # Scale by the largest component first: the square of a very small or very large number would under- or overflow.
    # Divide rather than multiply by the inverse, which overflows for subnormal numbers.
    size = max(abs(x), abs(y), abs(z))
    x, y, z = x / size, y / size, z / size
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


@batch
def _normalise(directions, units):
    """Scale every direction (N, 3) to length 1. Return the index of the first zero vector, or -1."""
    for i in range(directions.shape[0]):
        direction = load3(directions[i])
        if vec.span(direction) == 0.0:
            return i
        store3(units[i], unit_direction(direction))
    return -1


# --- input and output ------------------------------------------------------------------------------------------


def checked(origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike) -> tuple[Rays, tuple[int, ...], Any]:
    """Validate rays. Return them with the shape of the batch and the precision of the result.

    Raises InputError as `Ground.cast` describes.
    """
    dtype = validation.precision(origins, directions)
    starts = _finite("origins", validation.shaped("origins", origins, 3, dtype))
    units = _unit(_finite("directions", validation.shaped("directions", directions, 3, dtype)))
    reaches = _finite("max_distance", _converted(validation.real("max_distance", max_distance), dtype))
    validation.check_lengths("max_distance", reaches)
    named = {"origins": starts, "directions": units, "max_distance": reaches}
    shape = validation.batch_shape(named, {"max_distance": 0})
    flat = Rays(
        _broadcast(starts, (*shape, 3)).reshape(-1, 3),
        _broadcast(units, (*shape, 3)).reshape(-1, 3),
        _broadcast(reaches, shape).reshape(-1),
    )
    return flat, shape, dtype


def _finite(name: str, array: Any) -> Any:
    """Check an array in its own precision and convert it to float64."""
    array = validation.writable(array)
    validation.check_finite(name, array)
    return array.astype(np.float64, copy=False)


def _converted(array: Any, dtype: Any) -> Any:
    """Return a contiguous array of another precision. Numbers beyond its range become infinite."""
    if array.dtype == dtype:
        return np.asarray(array, order="C")
    with np.errstate(over="ignore"):  # `check_finite` reports an overflow together with its index.
        return array.astype(dtype, order="C")


def _broadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast an array; a copy if that changes its shape."""
    return array if array.shape == shape else np.broadcast_to(array, shape).copy()


def _unit(directions: Any) -> Any:
    """Return directions (..., 3) at length 1."""
    units = np.empty_like(directions)
    wrong = _normalise(directions.reshape(-1, 3), units.reshape(-1, 3))
    if wrong >= 0:
        index = np.unravel_index(wrong, directions.shape[:-1])
        which = f"directions[{', '.join(str(i) for i in index)}]" if index else "directions"
        raise InputError(f"{which} is the zero vector; it must have a direction")
    return units


def cast_all(rays: Rays, cast_range: Callable[..., Any], shape: tuple[Any, ...], threads_from: int) -> Hits:
    """Cast rays (N,) by a batch function `cast_range(start, stop, rays, hits, *shape)`, large batches in threads."""
    count = rays.reaches.size
    hits = Hits(np.empty(count, np.bool_), np.empty((count, 3)), np.empty((count, 3)), np.empty(count))
    if count < threads_from:
        cast_range(0, count, rays, hits, *shape)
    else:
        in_chunks(cast_range, count, threads_from, rays, hits, *shape)
    return hits


def shaped(hits: Hits, shape: tuple[int, ...], dtype: Any) -> Hits:
    """Return hits (N,) in the shape and the precision of the batch."""
    return Hits(
        np.asarray(hits.hit).reshape(shape)[()],
        hits.point.reshape(*shape, 3).astype(dtype, copy=False),
        hits.normal.reshape(*shape, 3).astype(dtype, copy=False),
        hits.distance.reshape(shape).astype(dtype, copy=False)[()],
    )
