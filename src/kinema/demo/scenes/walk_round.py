"""`Round`: a closed path along the ground and back, so that a walk never ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


class Spot(NamedTuple):
    """A position on the path: x, z, and the heading, radians from +Z towards +X."""

    x: float
    z: float
    heading: float


@dataclass(frozen=True)
class Round:
    """Along +Z at x = -radius from `near` to `far`, a half circle, back at x = radius, another half circle."""

    near: float
    far: float
    radius: float

    @property
    def straight(self) -> float:
        return self.far - self.near

    @property
    def length(self) -> float:
        """Length of one round."""
        return 2.0 * (self.straight + math.pi * self.radius)

    def at(self, way: float) -> Spot:
        """Return the position after a distance from (-radius, near); longer distances go around again."""
        half = self.length / 2.0
        rest = way % self.length
        there = self._half(min(rest, half) if rest < half else rest - half)
        if rest < half:
            return there
        return Spot(-there.x, self.near + self.far - there.z, there.heading + math.pi)

    def _half(self, way: float) -> Spot:
        """Return the position on the first straight and half circle."""
        if way <= self.straight:
            return Spot(-self.radius, self.near + way, 0.0)
        angle = (way - self.straight) / self.radius
        return Spot(-self.radius * math.cos(angle), self.far + self.radius * math.sin(angle), angle)
