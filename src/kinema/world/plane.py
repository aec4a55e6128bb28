"""An infinite plane."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel
from kinema.constants import THREADS_FROM_CLOSED_FORM
from kinema.math import vec
from kinema.world.ground import Ground
from kinema.world.rays import Hits, RayHit, Rays, cast_all, crossing, face_ray, load_ray, miss, store_hit


class PlaneShape(NamedTuple):
    """What the kernels read."""

    point: Any
    """Any point of the plane."""
    normal: Any
    """Unit normal, pointing out of the front."""
    two_sided: bool


@kernel
def meet(ray, plane):
    """Cast one ray."""
    speed = vec.dot(plane.normal, ray.unit)
    distance = crossing(-vec.dot(plane.normal, vec.sub(ray.origin, plane.point)), speed)
    if distance < 0.0 or distance > ray.reach or (speed > 0.0 and not plane.two_sided):
        return miss(ray)
    return RayHit(True, distance, face_ray(plane.normal, ray.unit))


@batch
def _cast_range(start, stop, rays, hits, plane):
    for i in range(start, stop):
        ray = load_ray(rays, i)
        store_hit(hits, i, ray, meet(ray, plane))


class Plane(Ground):
    """An infinite plane.

    Parameters
    ----------
    point
        (3,), metres: any point of the plane.
    normal
        (3,): direction that the front faces.
    two_sided
        Whether rays hit the plane from behind as well.

    Examples
    --------
    >>> float(km.Plane().cast((0, 1, 0), (0, -1, 0), 10).distance)
    1.0
    """

    def __init__(
        self, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 1.0, 0.0), *, two_sided: bool = True
    ) -> None:
        through, facing = validation.vector("point", point).tolist(), validation.axis("normal", normal)
        self._shape = PlaneShape(tuple(through), facing, validation.flag("two_sided", two_sided))

    def __repr__(self) -> str:
        point, normal = (", ".join(f"{x:g}" for x in vector) for vector in (self._shape.point, self._shape.normal))
        return f"Plane(point=({point}), normal=({normal}))"

    def _cast(self, rays: Rays) -> Hits:
        return cast_all(rays, _cast_range, (self._shape,), THREADS_FROM_CLOSED_FORM)
