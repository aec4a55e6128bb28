"""The seeded problems that every library solves. Metres, +Y up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

SEED = 20240

NEAR, FAR = 0.05, 0.98
"""Targets lie between these fractions of the reach."""


@dataclass(frozen=True)
class Limbs:
    """Limbs of two bones, every target within reach. root, target, pole: (M, 3); lengths: (M, 2)."""

    root: Any
    target: Any
    lengths: Any
    pole: Any
    tolerance: float = 1e-4

    @property
    def count(self) -> int:
        return len(self.target)

    @cached_property
    def rows(self) -> list[tuple[tuple[float, ...], ...]]:
        """Root, target, lengths and pole of each limb as plain tuples, as a script would pass them."""
        columns = (self.root, self.target, self.lengths, self.pole)
        return list(zip(*(map(tuple, column.tolist()) for column in columns), strict=True))

    def bone_lengths(self) -> Any:
        return self.lengths


@dataclass(frozen=True)
class Chains:
    """One straight chain of equal bones along +Y from the origin, and targets (M, 3) for its tip. It reaches 1 m."""

    bones: int
    target: Any
    tolerance: float = 1e-3

    @property
    def count(self) -> int:
        return len(self.target)

    @property
    def length(self) -> float:
        """Length of one bone."""
        return 1.0 / self.bones

    @property
    def root(self) -> Any:
        return np.zeros((self.count, 3))

    @cached_property
    def joints(self) -> Any:
        """(M, bones + 1, 3): the straight chain, repeated for every target, in the targets' precision."""
        one = np.zeros((self.bones + 1, 3), self.target.dtype)
        one[:, 1] = np.arange(self.bones + 1) * self.length
        return np.tile(one, (self.count, 1, 1))

    def bone_lengths(self) -> Any:
        return np.full((self.count, self.bones), self.length)

    def first(self, count: int) -> Chains:
        """Return the problem with fewer targets, in double precision, for slow libraries."""
        return Chains(self.bones, self.target[:count].astype(np.float64), self.tolerance)


def limbs(count: int) -> Limbs:
    """Make limbs of different sizes and positions, float32."""
    rng = np.random.default_rng(SEED)
    root = rng.normal(size=(count, 3))
    lengths = rng.uniform(0.3, 0.6, (count, 2))
    target = root + _within_reach(rng, lengths)
    pole = root + rng.normal(size=(count, 3))
    single = [array.astype(np.float32) for array in (root, target, lengths, pole)]
    return Limbs(single[0], single[1], single[2], single[3])


def arm(count: int) -> Limbs:
    """Make one arm at the origin with many targets and poles, float64."""
    rng = np.random.default_rng(SEED)
    lengths = np.tile((0.3, 0.27), (count, 1))
    return Limbs(np.zeros((count, 3)), _within_reach(rng, lengths), lengths, rng.normal(size=(count, 3)))


def chains(count: int, bones: int = 10) -> Chains:
    """Make targets in random directions at random distances, float32."""
    rng = np.random.default_rng(SEED)
    distance = rng.uniform(NEAR, FAR, (count, 1))
    return Chains(bones, (_directions(rng, count) * distance).astype(np.float32))


def _within_reach(rng: np.random.Generator, lengths: Any) -> Any:
    """Return offsets from the root, between the closest and the farthest reachable distance."""
    hole, whole = np.abs(lengths[:, :1] - lengths[:, 1:]), lengths.sum(axis=1, keepdims=True)
    share = rng.uniform(NEAR, FAR, (len(lengths), 1))
    return _directions(rng, len(lengths)) * (hole + (whole - hole) * share)


def _directions(rng: np.random.Generator, count: int) -> Any:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
