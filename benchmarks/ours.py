"""Kinema through its public API, under the same rules as its peers."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import kinema as km
from benchmarks.peers.base import OneByOne
from benchmarks.problems import Chains, Limbs


class _Ours:
    name = "kinema"

    def available(self) -> bool:
        return True

    def version(self) -> str | None:
        return None  # Reported with the machine.


class TwoBoneBatch(_Ours):
    """All limbs in one call."""

    def prepare(self, problem: Limbs) -> None:
        self._problem = problem
        self._result: Any = None

    def solve(self) -> float:
        p, self._result = self._problem, None
        start = perf_counter()
        self._result = km.two_bone(p.root, p.target, p.lengths, p.pole)
        return (perf_counter() - start) / p.count

    def joints(self) -> Any:
        return np.stack([self._problem.root, self._result.mid, self._result.end], axis=1)


class TwoBoneSingle(_Ours, OneByOne):
    """One call per limb, from plain tuples."""

    def prepare(self, problem: Limbs) -> None:
        self._problem, self._inputs = problem, problem.rows
        two_bone = km.two_bone
        self._call = lambda row: two_bone(*row)

    def joints(self) -> Any:
        return [(row[0], answer.mid, answer.end) for row, answer in zip(self._inputs, self._answers, strict=True)]


class ChainBatch(_Ours):
    """All chains in one call to `km.fabrik` or `km.ccd`."""

    def __init__(self, solver: Callable[..., Any]) -> None:
        self._solver = solver

    def prepare(self, problem: Chains) -> None:
        self._problem = problem
        self._result: Any = None

    def solve(self) -> float:
        p, self._result = self._problem, None
        joints = p.joints
        start = perf_counter()
        self._result = self._solver(joints, p.target, tolerance=p.tolerance)
        return (perf_counter() - start) / p.count

    def joints(self) -> Any:
        return self._result.joints


class ChainSingle(_Ours, OneByOne):
    """One call per chain."""

    def __init__(self, solver: Callable[..., Any]) -> None:
        self._solver = solver

    def prepare(self, problem: Chains) -> None:
        joints, tolerance, solver = problem.joints[0], problem.tolerance, self._solver
        self._inputs = list(problem.target)
        self._call = lambda target: solver(joints, target, tolerance=tolerance)

    def joints(self) -> Any:
        return [answer.joints for answer in self._answers]
