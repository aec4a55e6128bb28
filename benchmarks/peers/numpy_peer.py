"""Two-bone in vectorised NumPy: what one writes without a compiler, with care and without checks."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.problems import Limbs


def two_bone(root: Any, target: Any, lengths: Any, pole: Any, tolerance: float) -> tuple[Any, ...]:
    """Law of cosines without angles. Returns what Kinema does: mid, end, reached, error, reach.

    Components are rows here and results are reused in place: two thirds of the time of the same formulas on (N, 3).
    """
    root, target, lengths, pole = (np.ascontiguousarray(array.T) for array in (root, target, lengths, pole))
    length1, length2 = lengths
    whole, difference = length1 + length2, length1 - length2
    line = target - root
    distance = np.sqrt(_dot(line, line))
    line /= distance
    asked = np.minimum(np.maximum(distance, np.abs(difference)), whole)
    along = difference * whole
    along /= asked
    along += asked
    along *= along.dtype.type(0.5)
    bend = pole - root
    bend -= _dot(bend, line) * line
    aside = np.sqrt(np.maximum((length1 - along) * (length1 + along), 0))
    aside /= np.sqrt(_dot(bend, bend))
    end = line * asked
    end += root
    miss = end - target
    error = np.sqrt(_dot(miss, miss))
    line *= along
    bend *= aside
    mid = line + bend
    mid += root
    return np.ascontiguousarray(mid.T), np.ascontiguousarray(end.T), error <= tolerance * whole, error, distance / whole


def _dot(a: Any, b: Any) -> Any:
    result = a[0] * b[0]
    result += a[1] * b[1]
    result += a[2] * b[2]
    return result


class NumpyTwoBone:
    name = "numpy"

    def available(self) -> bool:
        return True

    def version(self) -> str | None:
        return np.__version__

    def prepare(self, problem: Limbs) -> None:
        self._problem = problem
        self._result: Any = None

    def solve(self) -> float:
        p, self._result = self._problem, None
        start = perf_counter()
        self._result = two_bone(p.root, p.target, p.lengths, p.pole, p.tolerance)
        return (perf_counter() - start) / p.count

    def joints(self) -> Any:
        return np.stack([self._problem.root, *self._result[:2]], axis=1)
