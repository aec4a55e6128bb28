"""A rope between two points: it falls and swings freely, then FABRIK gives every link its length back."""

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


class Rope:
    """Both ends are held: the first at `pin`, the last at `target`, as far as it is long enough."""

    def __init__(self, pin: Any, target: Any) -> None:
        self.pin = np.array(pin, float)
        self.target = np.array(target, float)
        self.joints = self.pin + np.arange(LINKS + 1)[:, np.newaxis] * np.array((0.0, LINK))
        self.velocities = np.zeros_like(self.joints)
        self.solved = self._pulled()

    def step(self, dt: float) -> None:
        """Position-based dynamics: fall, be put right, and move on with the velocity that this was."""
        if dt <= 0.0:
            return
        before = self.joints
        self.velocities = (self.velocities + GRAVITY * dt) * np.exp(-DRAG * dt)
        self.joints = before + self.velocities * dt
        self.joints[0] = self.pin
        self.solved = self._pulled()
        self.velocities = (self.joints - before) / dt

    def _pulled(self) -> ChainResult:
        links = np.diff(self.joints, axis=0)
        links *= LINK / np.maximum(np.linalg.norm(links, axis=1, keepdims=True), np.finfo(float).tiny)
        self.joints[1:] = self.pin + np.cumsum(links, axis=0)
        solved = fabrik(self.joints, self.target)
        self.joints = solved.joints
        return solved
