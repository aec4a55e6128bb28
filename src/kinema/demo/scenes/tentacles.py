"""Tentacles on a post that reach for a lure, each for a place of its own around it, by FABRIK."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.solvers.fabrik import fabrik

BONES = 14
BONE = 0.085
"""m: all of them reach 1.2 m."""
AROUND = 0.06
"""Of the post's top, and of the ring of places around the lure, m."""
HALF_LIFE = 0.05
"""Seconds in which the lure that they follow is half way to the one that is held."""
SWAY, RATE = 0.14, 0.35
"""How far those places go to and fro, m, and how often a second."""


class Tentacles:
    """So many tentacles. joints: (T, BONES + 1, 3), world space. post: (3,), the middle of where they start."""

    def __init__(self, count: int, post: Any) -> None:
        self.post = np.asarray(post, float)
        self.time = 0.0
        turns = 2 * math.pi * np.arange(count) / max(count, 1)
        self.out = np.stack((np.cos(turns), np.zeros(count), np.sin(turns)), axis=-1)
        way = np.arange(BONES + 1)[:, np.newaxis] * BONE
        lean = self.out[:, np.newaxis] * 0.25 + (0.0, 0.97, 0.0)
        self.joints = (self.post + self.out * AROUND)[:, np.newaxis] + lean / np.linalg.norm(lean, axis=-1)[
            ..., None
        ] * way
        self.lure = self.joints[:, -1].mean(axis=0) if count else self.post
        self.error = np.zeros(count)

    @property
    def targets(self) -> Any:
        """(T, 3): where each reaches."""
        phase = 2 * math.pi * (RATE * self.time + np.arange(len(self.joints)) / max(len(self.joints), 1))
        sway = np.stack((np.zeros_like(phase), np.sin(phase), np.zeros_like(phase)), axis=-1)
        return self.lure + self.out * 2 * AROUND + SWAY * sway * self.restless

    restless = 1.0
    """Share of their sway; 0 for somebody who asked for less motion."""

    def step(self, lure: Any, dt: float) -> None:
        """dt seconds on: after the lure, all in one call."""
        self.time += dt
        self.lure = lure + (self.lure - lure) * 0.5 ** (dt / HALF_LIFE)
        if len(self.joints):
            found = fabrik(self.joints, self.targets)
            self.joints, self.error = found.joints, found.error
