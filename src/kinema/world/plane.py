"""An infinite plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel
from kinema.constants import THREADS_FROM_CLOSED_FORM
from kinema.errors import InputError
from kinema.math import vec
from kinema.world.ground import Ground
from kinema.world.rays import Hits, Rays, against, at, crossing, each, miss, record


@kernel
def meet(origin, unit, reach, point, normal, two_sided):
    """Cast one ray."""
    speed = vec.dot(normal, unit)
    distance = crossing(-vec.dot(normal, vec.sub(origin, point)), speed)
    if distance < 0.0 or distance > reach or (speed > 0.0 and not two_sided):
        return miss(reach)
    return True, distance, against(normal, unit)


@batch
def _cast_range(start, stop, origins, units, reaches, point, normal, two_sided, hits, points, normals, distances):
    for i in range(start, stop):
        origin, unit = at(origins, i), at(units, i)
        answer = meet(origin, unit, reaches[i], at(point, 0), at(normal, 0), two_sided)
        record(i, origin, unit, answer, hits, points, normals, distances)


class Plane(Ground):
    """An infinite plane through a point (3,), metres, perpendicular to a normal (3,), which points out of its front."""

    def __init__(
        self, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 1.0, 0.0), *, two_sided: bool = True
    ) -> None:
        through = validation.vectors("point", point, 3, np.float64)
        if through.ndim != 1:
            raise InputError(f"point must have shape (3,), got {through.shape}")
        self._shape = (through.copy(), np.array(validation.axis("normal", normal)), bool(two_sided))

    def _cast(self, rays: Rays) -> Hits:
        return each(rays, _cast_range, self._shape, THREADS_FROM_CLOSED_FORM)
