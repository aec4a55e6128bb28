"""`Ground`: the base class of all grounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.constants import LARGEST_FLOAT64
from kinema.errors import InputError
from kinema.world import rays
from kinema.world.rays import Hits, Rays


class Castable(Protocol):
    """Any object that rays can be cast at: every `Ground`, and your own classes."""

    def cast(
        self,
        origins: NDArray[np.float64],
        directions: NDArray[np.float64],
        max_distance: NDArray[np.float64],
        /,
    ) -> Hits:
        """Return what each ray hits first. origins, unit directions: (N, 3); max_distance: (N,), metres."""
        ...


class Ground(ABC):
    """The base class of our own grounds. Any object with such a `cast` method can be used instead, see `Castable`.

    Surfaces (planes, height fields, meshes, spheres, functions) have no thickness: a ray that crosses one from either
    side hits it, one that starts exactly on it hits at distance 0, and one that only touches it or runs along it
    misses. `two_sided=False` ignores crossings from behind. Voxels are solid.
    """

    def cast(self, origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike) -> Hits:
        """Find where each ray first hits the ground.

        Parameters
        ----------
        origins
            (..., 3): start points, metres.
        directions
            (..., 3): directions of any length but zero.
        max_distance
            (...): metres, 0 or more; a hit at exactly that distance counts.

        Returns
        -------
        Hits with the broadcast shape and the precision of origins and directions; computed in float64.

        Raises
        ------
        InputError
            If a value is not finite, a direction is zero, or shapes do not broadcast.

        Examples
        --------
        >>> float(km.Plane().cast((0, 1, 0), (0, -1, 0), 10).distance)
        1.0
        """
        checked, shape, dtype = rays.checked(origins, directions, max_distance)
        return rays.shaped(self._cast(checked), shape, dtype)

    @abstractmethod
    def _cast(self, rays: Rays) -> Hits:
        """Return hits (N,) of checked rays (N,)."""

    @staticmethod
    def from_function(height_and_normal: Callable[..., Any], *, step: float = 0.1, two_sided: bool = True) -> Ground:
        """Make a ground from a function of x and z. See `FunctionGround`."""
        from kinema.world.function_ground import FunctionGround

        return FunctionGround(height_and_normal, step=step, two_sided=two_sided)

    @staticmethod
    def union(*grounds: Castable) -> Ground:
        """Join several grounds: the nearest hit counts. See `Union`."""
        from kinema.world.union import Union

        return Union(*grounds)


def is_built_in(ground: Any) -> bool:
    """Return whether this is a `Ground` that casts as all of them do: after validation, by its `_cast`."""
    return getattr(type(ground), "cast", None) is Ground.cast


def cast_at(ground: Castable, rays: Rays) -> Hits:
    """Cast rays that are known to be valid at any ground. Returns hits (N,) in float64, contiguous and finite.

    A `Ground` is asked without validating the rays again. Of other objects, an answer that is not finite is a miss.

    Raises
    ------
    InputError
        If the object returns anything but one hit for each ray.
    """
    if is_built_in(ground):
        return ground._cast(rays)  # type: ignore[attr-defined]
    answer = ground.cast(rays.origins, rays.units, rays.reaches)
    count = rays.reaches.size
    try:
        parts = answer.hit, answer.point, answer.normal, answer.distance
        shapes = (count,), (count, 3), (count, 3), (count,)
        arrays = [
            np.ascontiguousarray(part, np.float64).reshape(shape) for part, shape in zip(parts, shapes, strict=True)
        ]
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            f"{type(ground).__name__}.cast returned {answer!r:.80}; it must return Hits(hit, point, normal, distance), "
            f"one for each ray: here (N,), (N, 3), (N, 3) and (N,) for N = {count}"
        ) from None
    hit, finite = arrays[0] != 0.0, arrays[1:]
    # One sum of squares per array finds every NaN and infinity, at little cost.
    if not all(math.isfinite(np.vdot(array, array)) for array in finite):
        within = [(np.abs(array) <= LARGEST_FLOAT64).reshape(count, -1).all(axis=1) for array in finite]
        hit = hit & np.logical_and.reduce(within)
        finite = [np.where(hit.reshape(count, *(1,) * (array.ndim - 1)), array, 0.0) for array in finite]
    return Hits(hit, *finite)


def cast(
    ground: Castable, origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike, dtype: Any = None
) -> Hits:
    """Cast rays at any ground as `Ground.cast` does, with results of a precision: by default that of the rays.

    A hit beyond the range of that precision is a miss.
    """
    checked, shape, precision = rays.checked(origins, directions, max_distance)
    hits, precision = cast_at(ground, checked), precision if dtype is None else dtype
    if precision == np.float32:
        largest = validation.largest(np.float32)
        fits = hits.hit & (np.abs(hits.point) <= largest).all(axis=-1) & (hits.distance <= largest)
        hits = hits._replace(
            hit=fits, point=np.clip(hits.point, -largest, largest), distance=np.minimum(hits.distance, largest)
        )
    return rays.shaped(hits, shape, precision)
