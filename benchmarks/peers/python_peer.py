"""Two-bone in bare Python arithmetic on tuples, no checks, no special cases: the least a call can cost in Python."""

from __future__ import annotations

import platform
from math import sqrt
from typing import Any

from benchmarks.peers.base import OneByOne
from benchmarks.problems import Limbs


def two_bone(root: Any, target: Any, lengths: Any, pole: Any) -> tuple[Any, ...]:
    """Law of cosines without angles: the middle joint, the end and its distance to the target."""
    rx, ry, rz = root
    tx, ty, tz = target
    a, b = lengths
    x, y, z = tx - rx, ty - ry, tz - rz
    distance = sqrt(x * x + y * y + z * z)
    x, y, z = x / distance, y / distance, z / distance
    asked = min(max(distance, abs(a - b)), a + b)
    along = 0.5 * (asked + (a - b) * (a + b) / asked)
    aside = sqrt(max((a - along) * (a + along), 0.0))
    px, py, pz = pole[0] - rx, pole[1] - ry, pole[2] - rz
    dot = px * x + py * y + pz * z
    px, py, pz = px - dot * x, py - dot * y, pz - dot * z
    aside /= sqrt(px * px + py * py + pz * pz)
    mid = (rx + along * x + aside * px, ry + along * y + aside * py, rz + along * z + aside * pz)
    end = (rx + asked * x, ry + asked * y, rz + asked * z)
    return mid, end, abs(distance - asked)


class PythonTwoBone(OneByOne):
    name = "python"

    def available(self) -> bool:
        return True

    def version(self) -> str | None:
        return platform.python_version()

    def prepare(self, problem: Limbs) -> None:
        self._inputs = problem.rows
        self._call = lambda row: two_bone(*row)

    def joints(self) -> Any:
        return [(row[0], *answer[:2]) for row, answer in zip(self._inputs, self._answers, strict=True)]
