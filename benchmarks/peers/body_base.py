"""Peers of the full-body benchmark: steps from rest, and from other starts, until all tips are near enough."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.body_problems import BodyPoses

STEPS = 60
"""Most steps from one start."""

STARTS = 20
"""Most starts of an arm with limits, the first at rest; a body without limits arrives from rest."""


class SteppingBody:
    """A peer that takes one step a call. Subclasses build a model and say how it starts, aims, steps and stands."""

    def build(self, problem: BodyPoses) -> None:
        """Build the model."""
        raise NotImplementedError

    def begin(self, rng: Any) -> None:
        """Go to rest; with a random generator, to a random pose inside the limits."""
        raise NotImplementedError

    def aim(self, matrices: list[Any]) -> None:
        """Set the targets, 4x4."""
        raise NotImplementedError

    def step(self) -> None:
        """Take one step."""
        raise NotImplementedError

    def tips(self) -> list[Any]:
        """Where the tips are, 4x4."""
        raise NotImplementedError

    def prepare(self, problem: BodyPoses) -> None:
        self._problem = problem
        self._targets = [problem.matrices(i) for i in range(problem.count)]
        self._starts = STARTS if problem.hinged else 1
        self.build(problem)

    def solve(self) -> float:
        self._answers = []
        start = perf_counter()
        for matrices in self._targets:
            self._answers.append(self._reach(matrices))
        return (perf_counter() - start) / len(self._targets)

    def joints(self) -> Any:
        return self._answers

    def _reach(self, matrices: list[Any]) -> list[Any]:
        rng = np.random.default_rng(0)
        self.aim(matrices)
        for attempt in range(self._starts):
            self.begin(rng if attempt else None)
            for _ in range(STEPS):
                self.step()
                found = self.tips()
                if self._near(found, matrices):
                    return found
        return found

    def _near(self, found: list[Any], wanted: list[Any]) -> bool:
        """Whether all tips are within half of the tolerance."""
        near, angle = 0.5 * self._problem.tolerance, 0.5 * self._problem.rotation_tolerance
        for a, b in zip(found, wanted, strict=True):
            way = a[:3, 3] - b[:3, 3]
            if way @ way > near * near:
                return False
            off = a[:3, :3] - b[:3, :3]
            if (off * off).sum() > 2.0 * angle * angle:  # The squared chord of a small rotation is twice its square.
                return False
        return True
