"""Rays: checked once on the way in, and what every shape's kernel does with one.

Kernels see flat float64 arrays and unit directions, whatever came in; answers go back in the precision of the rays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel
from kinema.constants import RAY_FAR
from kinema.errors import InputError
from kinema.math import vec


class Hits(NamedTuple):
    """What `cast` returns; ... is the shape of the batch. All numbers are finite, also for a miss."""

    hit: Any
    """(...): whether the ray hits the ground."""
    point: Any
    """(..., 3): the point hit; for a miss the ray's end, origin + unit direction * max_distance."""
    normal: Any
    """(..., 3): unit normal of the ground there, facing the side that the ray came from; zeros for a miss."""
    distance: Any
    """(...): metres from the origin to the point; max_distance for a miss."""


class Rays(NamedTuple):
    """n checked rays: flat, float64, each one written out."""

    origins: Any
    """(3 n,)"""
    units: Any
    """(3 n,): directions of length 1."""
    reaches: Any
    """(n,): how far each ray goes."""


# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def at(vectors, i):
    """Vector number i of a flat row."""
    return (vectors[3 * i], vectors[3 * i + 1], vectors[3 * i + 2])


@kernel
def crossing(gap, speed):
    """How far along a ray a coordinate has made up a gap; RAY_FAR where it never does, or too far off to count."""
    gets_there = abs(gap) < RAY_FAR * abs(speed)
    return gap / speed if gets_there else RAY_FAR


@kernel
def against(normal, unit):
    """The one of both normals that faces the side the ray came from."""
    return vec.scale(normal, -1.0 if vec.dot(normal, unit) > 0.0 else 1.0)


@kernel
def miss(reach):
    """What a cast kernel answers for a miss: found, distance, normal."""
    return False, reach, (0.0, 0.0, 0.0)


@kernel
def record(i, origin, unit, answer, hits, points, normals, distances):
    """Write down the answer (found, distance, normal) to ray number i. Adding zero turns -0.0 into 0.0."""
    found, distance, normal = answer
    hits[i] = found
    distances[i] = distance + 0.0
    for c in range(3):
        points[3 * i + c] = origin[c] + unit[c] * distance
        normals[3 * i + c] = normal[c] + 0.0


@batch
def _normalise(directions, units):
    """Every direction at length 1. Returns the number of the first one that has none, or -1."""
    for i in range(directions.size // 3):
        x, y, z = at(directions, i)
        # Scaled first: the square of a very small or very large number would leave the range. Divided, not multiplied
        # by the inverse, which the smallest numbers do not have.
        size = max(abs(x), abs(y), abs(z))
        if size == 0.0:
            return i
        x, y, z = x / size, y / size, z / size
        length = math.sqrt(x * x + y * y + z * z)
        units[3 * i], units[3 * i + 1], units[3 * i + 2] = x / length, y / length, z / length
    return -1


# --- the way in and out ----------------------------------------------------------------------------------------


def checked(origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike) -> tuple[Rays, tuple[int, ...], Any]:
    """The rays, the batch's shape and the precision to answer in, or an InputError. See `Ground.cast`."""
    dtype = validation.precision(origins, directions)
    starts = _finite("origins", validation.shaped("origins", origins, 3, dtype))
    units = _unit(_finite("directions", validation.shaped("directions", directions, 3, dtype)))
    with np.errstate(over="ignore"):  # Infinity is found, with its place, by the check.
        reaches = _finite("max_distance", validation.real("max_distance", max_distance).astype(dtype))
    validation.check_lengths("max_distance", reaches)
    named = {"origins": starts, "directions": units, "max_distance": reaches}
    shape = validation.batch_shape(named, {"max_distance": 0})
    return Rays(_spread(starts, 1, shape), _spread(units, 1, shape), _spread(reaches, 0, shape)), shape, dtype


def _writeable(array: Any) -> Any:
    """Itself, or a copy where it is read-only: to the compiler that is another type, to be compiled for once more."""
    return array if array.flags.writeable else array.copy()


def _finite(name: str, array: Any) -> Any:
    """Checked in its own precision, then float64."""
    array = _writeable(array)
    validation.check_finite(name, array)
    return array.astype(np.float64, copy=False)


def _spread(array: Any, core: int, shape: tuple[int, ...]) -> Any:
    return _writeable(validation.flat(array, core, shape))


def _unit(directions: Any) -> Any:
    units = np.empty_like(directions)
    wrong = _normalise(directions.reshape(-1), units.reshape(-1))
    if wrong >= 0:
        at = np.unravel_index(wrong, directions.shape[:-1])
        place = f"directions[{', '.join(str(i) for i in at)}]" if at else "directions"
        raise InputError(f"{place} is the zero vector; it must have a direction")
    return units


def each(rays: Rays, cast_range: Callable[..., Any], shape: tuple[Any, ...], threads_from: int) -> Hits:
    """Answers, flat, from a batch function `cast_range(start, stop, *rays, *shape, *answers)`."""
    count = rays.reaches.size
    answers = Hits(np.empty(count, np.bool_), np.empty(3 * count), np.empty(3 * count), np.empty(count))
    validation.in_chunks(lambda start, stop: cast_range(start, stop, *rays, *shape, *answers), count, threads_from, 1)
    return answers


def shaped(answers: Hits, shape: tuple[int, ...], dtype: Any) -> Hits:
    """Flat answers in the batch's shape and precision."""
    return Hits(
        answers.hit.reshape(shape)[()],
        answers.point.reshape(*shape, 3).astype(dtype, copy=False),
        answers.normal.reshape(*shape, 3).astype(dtype, copy=False),
        answers.distance.reshape(shape).astype(dtype, copy=False)[()],
    )
