"""A sphere: a small planet, or a hollow sphere from inside."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel
from kinema.constants import THREADS_FROM_CLOSED_FORM
from kinema.math import vec
from kinema.world.ground import Ground
from kinema.world.rays import Hits, RayHit, Rays, cast_all, face_ray, load_ray, miss, store_hit


class SphereShape(NamedTuple):
    """What the kernels read."""

    centre: Any
    radius: float
    two_sided: bool


@kernel
def meet(ray, sphere):
    """Cast one ray.

    With p the origin relative to the centre, |p + t u| = radius gives t^2 + 2 b t + c = 0. Each root is computed in the
    form that does not cancel.
    """
    unit, radius = ray.unit, sphere.radius
    p = vec.sub(ray.origin, sphere.centre)
    b = vec.dot(p, unit)
    c = vec.dot(p, p) - radius * radius
    # The discriminant from the distance between line and centre: seen from far away, b * b - c would be mere rounding.
    aside = vec.reject(p, unit)
    square = radius * radius - vec.dot(aside, aside)
    outside = c > 0.0 or (c == 0.0 and b < 0.0)
    if square <= 0.0 or (outside and b >= 0.0) or (not outside and not sphere.two_sided):
        return miss(ray)
    root = math.sqrt(square)
    if outside:
        distance = c / (root - b)
    else:
        distance = root - b if b <= 0.0 else -c / (root + b)
    if distance > ray.reach:
        return miss(ray)
    out = vec.scale(vec.add(p, vec.scale(unit, distance)), 1.0 / radius)
    return RayHit(True, distance, face_ray(vec.unit_or(out, unit), unit))


@batch
def _cast_range(start, stop, rays, hits, sphere):
    for i in range(start, stop):
        ray = load_ray(rays, i)
        store_hit(hits, i, ray, meet(ray, sphere))


class Sphere(Ground):
    """A sphere. Its front is outside.

    Parameters
    ----------
    centre
        (3,), metres.
    radius
        Metres.
    two_sided
        Whether rays hit the sphere from inside as well.

    Examples
    --------
    >>> float(km.Sphere(radius=0.5).cast((0, 2, 0), (0, -1, 0), 10).distance)
    1.5
    """

    def __init__(self, centre: ArrayLike = (0.0, 0.0, 0.0), radius: float = 1.0, *, two_sided: bool = True) -> None:
        middle = validation.vector("centre", centre).tolist()
        size = validation.number("radius", radius, 0.0, validation.largest(np.float64))
        self._shape = SphereShape(tuple(middle), size, validation.flag("two_sided", two_sided))

    def __repr__(self) -> str:
        return f"Sphere(centre=({', '.join(f'{x:g}' for x in self._shape.centre)}), radius={self._shape.radius:g})"

    def _cast(self, rays: Rays) -> Hits:
        return cast_all(rays, _cast_range, (self._shape,), THREADS_FROM_CLOSED_FORM)
