"""Robotics Toolbox for Python on the arm: its compiled Levenberg-Marquardt, with its own restarts inside limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.body_problems import BodyPoses
from benchmarks.machine import installed
from benchmarks.peers.base import OneByOne
from kinema.math import arrays


class RoboticsToolboxArm(OneByOne):
    name = "roboticstoolbox"

    def available(self) -> bool:
        return installed("roboticstoolbox-python") is not None

    def version(self) -> str | None:
        return installed("roboticstoolbox-python")

    def prepare(self, problem: BodyPoses) -> None:
        from roboticstoolbox import ET

        rest, limits = problem.skeleton.rest, problem.hinges
        arm: Any = None
        for number, j in enumerate(problem.nodes[1:]):
            placement = np.eye(4)
            placement[:3, :3] = arrays.to_matrix(rest.rotations[j].astype(float))
            placement[:3, 3] = rest.translations[j]
            link = ET.SE3(placement) * ET.Rz(jindex=number, qlim=np.array([limits[j].low, limits[j].high]))
            arm = link if arm is None else arm * link
        self._arm = arm
        self._inputs = [problem.matrices(i)[0] for i in range(problem.count)]
        # Its tolerance is half the square of metres and radians together.
        near = 0.5 * (0.5 * problem.tolerance) ** 2
        self._call = lambda matrix: arm.ik_LM(matrix, np.zeros(len(problem.nodes) - 1), tol=near)

    def joints(self) -> Any:
        return [
            [np.asarray(self._arm.eval(answer[0] if isinstance(answer, tuple) else answer.q))]
            for answer in self._answers
        ]
