"""Several grounds joined into one."""

from __future__ import annotations

import numpy as np

from kinema.errors import InputError
from kinema.world.ground import Castable, Ground, cast_at
from kinema.world.rays import Hits, Rays


class Union(Ground):
    """Several grounds joined into one: the nearest hit counts, and of equally near ones the first ground's.

    grounds: one or more, each a `Ground` or any object with such a `cast` method.
    """

    def __init__(self, *grounds: Castable) -> None:
        if not grounds:
            raise InputError("grounds is empty; a union takes one or more")
        for i, ground in enumerate(grounds):
            if not callable(getattr(ground, "cast", None)):
                raise InputError(f"grounds[{i}] is {ground!r:.60}; it must have a method cast")
        self._grounds = grounds

    def __repr__(self) -> str:
        return f"Union({', '.join(map(repr, self._grounds))})"

    def _cast(self, rays: Rays) -> Hits:
        best = cast_at(self._grounds[0], rays)
        for ground in self._grounds[1:]:
            # Search no farther than the nearest hit so far: most grounds then have less to do.
            found = cast_at(ground, rays._replace(reaches=best.distance))
            nearer = found.hit & (~best.hit | (found.distance < best.distance))
            best = Hits(
                best.hit | nearer,
                np.where(nearer[:, np.newaxis], found.point, best.point),
                np.where(nearer[:, np.newaxis], found.normal, best.normal),
                np.where(nearer, found.distance, best.distance),
            )
        return best
