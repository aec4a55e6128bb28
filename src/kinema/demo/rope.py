"""A rope between two points: it falls and swings freely, then every link gets its length back, by FABRIK's own passes.

Space: pixels, y down. Points are complex numbers in the passes: x + iy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.solvers.chain import ChainResult
from kinema.solvers.fabrik import fabrik

LINKS = 24
LINK = 17.0
"""Length of a link, px."""
GRAVITY = np.array((0.0, 1400.0))
"""px/s^2, on a screen whose y points down."""
DRAG = 1.6
"""Of the air, 1/s: a swing is over in a few seconds."""
ROUNDS = 6
"""From the target to the pin and back so many times: what the fall has done stays in the rope's shape."""


class Rope:
    """Both ends are held: the first at `pin`, the last at `target`, as far as it is long enough."""

    def __init__(self, pin: Any, target: Any) -> None:
        self.pin = np.array(pin, float)
        self.target = np.array(target, float)
        self.joints = self.pin + np.arange(LINKS + 1)[:, np.newaxis] * np.array((0.0, LINK))
        self.velocities = np.zeros_like(self.joints)
        self.solved = self._pull()

    def step(self, dt: float) -> None:
        """Position-based dynamics: fall, be put right, and move on with the velocity that this was."""
        if dt <= 0.0:
            return
        before = self.joints
        self.velocities = (self.velocities + GRAVITY * dt) * np.exp(-DRAG * dt)
        self.joints = before + self.velocities * dt
        self.solved = self._pull()
        self.velocities = (self.joints - before) / dt

    def _pull(self) -> ChainResult:
        """Passes from either end, then the solver for the rest of the way: it keeps the links as it finds them."""
        points = [complex(x, y) for x, y in self.joints.tolist()]
        pin, target = complex(*self.pin), complex(*self.target)
        for _ in range(ROUNDS):
            points = _from(target, points[::-1])
            points = _from(pin, points[::-1])
        solved = fabrik(np.array([(p.real, p.imag) for p in points]), self.target)
        self.joints = solved.joints
        return solved


def _from(start: complex, points: list[complex]) -> list[complex]:
    """The points one link apart, each towards where it was, from a start on."""
    placed = [start]
    for point in points[1:]:
        way = (point - placed[-1]) or 1j  # Two in one place: down.
        placed.append(placed[-1] + way * (LINK / abs(way)))
    return placed
