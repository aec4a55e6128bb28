"""Robotics Toolbox for Python: a shoulder of two hinges, an elbow of one, its compiled Levenberg-Marquardt.

It has no pole, so its elbow is free: its problem is easier than that of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.peers.base import OneByOne
from benchmarks.problems import Limbs

START = np.array((0.1, 0.3, 0.5))
"""Radians, away from every singular pose: the solver must not start in one."""

DAMPING = 0.1
"""Its `k`, from 1 to 0.01 the value that takes least time here; all of them arrive everywhere."""

POSITION_ONLY = np.array((1.0, 1.0, 1.0, 0.0, 0.0, 0.0))


class RoboticsToolbox(OneByOne):
    name = "roboticstoolbox"

    def available(self) -> bool:
        return installed("roboticstoolbox-python") is not None

    def version(self) -> str | None:
        return installed("roboticstoolbox-python")

    def prepare(self, problem: Limbs) -> None:
        from roboticstoolbox import ET

        upper, lower = (float(length) for length in problem.lengths[0])
        arm = ET.Rz() * ET.Rx() * ET.ty(upper) * ET.Rx() * ET.ty(lower)
        self._arm, self._upper = arm, ET.Rz() * ET.Rx() * ET.ty(upper)
        self._inputs = [_place(target) for target in problem.target]
        # Its tolerance is half the square of the distance; a hair less than ours.
        near = 0.5 * (0.99 * problem.tolerance * (upper + lower)) ** 2
        settings = {"tol": near, "mask": POSITION_ONLY, "joint_limits": False, "k": DAMPING}
        self._call = lambda pose: arm.ik_LM(pose, START, **settings)

    def joints(self) -> Any:
        poses = [answer.q for answer in self._answers]
        return [((0, 0, 0), self._upper.eval(q[:2])[:3, 3], self._arm.eval(q)[:3, 3]) for q in poses]


def _place(target: Any) -> Any:
    matrix = np.eye(4)
    matrix[:3, 3] = target
    return matrix
