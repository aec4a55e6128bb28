"""Tentacles on a post that reach for positions around a common target, by FABRIK."""

import math
from typing import Any

import numpy as np

from kinema.solvers.chain.fabrik import fabrik

BONES = 14
BONE = 0.085
"""Length of a bone, m; a tentacle reaches 1.2 m."""
AROUND = 0.06
"""Radius of the post, and half the radius of the ring of positions around the target, m."""
HALF_LIFE = 0.05
"""Half-life with which the tentacles follow the target, s."""
SWAY, RATE = 0.14, 0.35
"""Amplitude of the sway of those positions, m, and its frequency, Hz."""


class Tentacles:
    """A ring of tentacles. joints: (T, BONES + 1, 3), world space. post: (3,), the middle of their roots."""

    def __init__(self, count: int, post: Any) -> None:
        self.post = np.asarray(post, float)
        self.time = 0.0
        angles = 2 * math.pi * np.arange(count) / max(count, 1)
        self.out = np.stack((np.cos(angles), np.zeros(count), np.sin(angles)), axis=-1)
        way = np.arange(BONES + 1)[:, np.newaxis] * BONE
        lean = self.out[:, np.newaxis] * 0.25 + (0.0, 0.97, 0.0)
        self.joints = (self.post + self.out * AROUND)[:, np.newaxis] + lean / np.linalg.norm(lean, axis=-1)[
            ..., None
        ] * way
        self.target = self.joints[:, -1].mean(axis=0) if count else self.post
        self.error = np.zeros(count)

    @property
    def targets(self) -> Any:
        """(T, 3): the target of each."""
        phase = 2 * math.pi * (RATE * self.time + np.arange(len(self.joints)) / max(len(self.joints), 1))
        sway = np.stack((np.zeros_like(phase), np.sin(phase), np.zeros_like(phase)), axis=-1)
        return self.target + self.out * 2 * AROUND + SWAY * sway * self.restless

    restless = 1.0
    """Fraction of the sway; 0 for reduced motion."""

    def step(self, target: Any, dt: float) -> None:
        """Advance by dt seconds and solve all tentacles in one call. target: (3,)."""
        self.time += dt
        self.follow(target, dt)

    def follow(self, target: Any, dt: float) -> None:
        """Follow the target for dt seconds, without swaying. target: (3,)."""
        self.target = target + (self.target - target) * 0.5 ** (dt / HALF_LIFE)
        if len(self.joints):
            found = fabrik(self.joints, self.targets)
            self.joints, self.error = found.joints, found.error
