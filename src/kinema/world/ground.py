"""`Ground`: the base class of all grounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema.world import rays
from kinema.world.rays import Hits, Rays


class Ground(ABC):
    """Something that rays can be cast at. Any object with such a `cast` method can be used instead.

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
    def union(*grounds: Any) -> Ground:
        """Join several grounds: the nearest hit counts. See `Union`."""
        from kinema.world.union import Union

        return Union(*grounds)


def is_built_in(ground: Any) -> bool:
    """Return whether this is a `Ground` that casts as all of them do: after validation, by its `_cast`."""
    return getattr(type(ground), "cast", None) is Ground.cast


def cast_checked(ground: Any, rays: Rays) -> Hits:
    """Cast rays that are known to be valid at any object with `cast`. Returns hits (N,) in float64.

    A `Ground` is asked without validating the rays again.
    """
    if is_built_in(ground):
        return ground._cast(rays)
    hits = ground.cast(rays.origins, rays.units, rays.reaches)
    return Hits(
        np.ascontiguousarray(hits.hit, np.bool_),
        np.ascontiguousarray(hits.point, np.float64),
        np.ascontiguousarray(hits.normal, np.float64),
        np.ascontiguousarray(hits.distance, np.float64),
    )
