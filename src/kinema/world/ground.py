"""`Ground`: what all ground has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from kinema.world import rays
from kinema.world.rays import Hits, Rays


class Ground(ABC):
    """Something rays can be cast at. Whatever has such a `cast` can stand in for it.

    Surfaces (planes, height fields, meshes, spheres, functions) have no thickness: a ray that crosses one from either
    side hits it, one that starts exactly on it hits at distance 0, and one that only touches it or runs along it
    misses. `two_sided=False` leaves out crossings from behind. Voxels are solid.
    """

    def cast(self, origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike) -> Hits:
        """Where each ray first meets the ground.

        origins: (..., 3), metres. directions: (..., 3), of any length but zero. max_distance: (...), metres, 0 or
        more; a hit at exactly that distance counts. They broadcast. The answer has the precision of origins and
        directions; all is computed in float64.
        """
        checked, shape, dtype = rays.checked(origins, directions, max_distance)
        return rays.shaped(self._cast(checked), shape, dtype)

    @abstractmethod
    def _cast(self, rays: Rays) -> Hits:
        """Flat answers to checked rays."""

    @staticmethod
    def from_function(height_and_normal: Callable[..., Any], *, step: float = 0.1, two_sided: bool = True) -> Ground:
        """Ground given by a function of x and z: see `FunctionGround`."""
        from kinema.world.function_ground import FunctionGround

        return FunctionGround(height_and_normal, step=step, two_sided=two_sided)

    @staticmethod
    def union(*grounds: Any) -> Ground:
        """Several grounds as one, the nearest hit of all: see `Union`."""
        from kinema.world.union import Union

        return Union(*grounds)
