"""A sphere: a small planet, or a hollow sphere from inside."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel
from kinema.constants import THREADS_FROM_CLOSED_FORM
from kinema.errors import InputError
from kinema.math import vec
from kinema.world.ground import Ground
from kinema.world.rays import Hits, Rays, against, at, each, miss, record


@kernel
def meet(origin, unit, reach, centre, radius, two_sided):
    """Cast one ray. |p + t u| = radius gives t^2 + 2 b t + c = 0; each root in the form without cancellation."""
    p = vec.sub(origin, centre)
    b = vec.dot(p, unit)
    c = vec.dot(p, p) - radius * radius
    # The discriminant by the distance of the line from the centre: b * b - c would be rounding from far away.
    aside = vec.reject(p, unit)
    square = radius * radius - vec.dot(aside, aside)
    outside = c > 0.0 or (c == 0.0 and b < 0.0)
    if square <= 0.0 or (outside and b >= 0.0) or (not outside and not two_sided):
        return miss(reach)
    root = math.sqrt(square)
    if outside:
        distance = c / (root - b)
    else:
        distance = root - b if b <= 0.0 else -c / (root + b)
    if distance > reach:
        return miss(reach)
    out = vec.scale(vec.add(p, vec.scale(unit, distance)), 1.0 / radius)
    return True, distance, against(vec.unit_or(out, unit), unit)


@batch
def _cast_range(start, stop, origins, units, reaches, centre, radius, two_sided, hits, points, normals, distances):
    for i in range(start, stop):
        origin, unit = at(origins, i), at(units, i)
        answer = meet(origin, unit, reaches[i], at(centre, 0), radius, two_sided)
        record(i, origin, unit, answer, hits, points, normals, distances)


class Sphere(Ground):
    """A sphere with a centre (3,) and a radius, metres; its front is outside."""

    def __init__(self, centre: ArrayLike = (0.0, 0.0, 0.0), radius: float = 1.0, *, two_sided: bool = True) -> None:
        middle = validation.vectors("centre", centre, 3, np.float64)
        if middle.ndim != 1:
            raise InputError(f"centre must have shape (3,), got {middle.shape}")
        size = validation.number("radius", radius, 0.0, validation.largest(np.float64))
        self._shape = (middle.copy(), size, bool(two_sided))

    def _cast(self, rays: Rays) -> Hits:
        return each(rays, _cast_range, self._shape, THREADS_FROM_CLOSED_FORM)
