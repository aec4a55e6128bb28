"""mink, as general motion retargeting (GMR) uses it: a stand-in, because GMR itself cannot be installed from PyPI.

GMR (Araujo et al., "Retargeting Matters", 2025) moves a free body, frame after frame, to tasks for its parts: positions
and rotations of hips, chest, limbs, hands and feet, taken from the source and scaled about its hips. It solves two sets
of tasks in turns with mink and DAQP, from the pose of the frame before, each until the error falls by less than 0.001
or for ten more steps, with a Levenberg-Marquardt damping of 1 for each task and 0.5 for all. Its package is on GitHub
only, together with the models and tables of its robots (the package `gmr` on PyPI is Gaussian mixture regression). So
this peer does the same on the body of the benchmark, whose rest pose is that of the source: no rotations need to be
calibrated, and every part is scaled by its own limb, which is better than what GMR's tables do.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.retargeting_problem import Walk

DAMPING, TASK_DAMPING, LEAST_GAIN, MORE_STEPS = 0.5, 1.0, 0.001, 10

STAGES = (
    {"feet": (50.0, 10.0), "hips": (100.0, 10.0), "other": (0.0, 10.0)},
    {"hips": (100.0, 5.0), "other": (10.0, 5.0)},
)
"""Costs of position and rotation: feet, hips and directions first, then the positions of all parts, too."""


class MinkRetargeting:
    """One body, one frame after the other."""

    name = "mink as GMR"

    def available(self) -> bool:
        return installed("mink") is not None and installed("mujoco") is not None

    def version(self) -> str | None:
        return installed("mink")

    def prepare(self, problem: Walk) -> None:
        import mink
        import mujoco

        self._mink, self._problem = mink, problem
        model = mujoco.MjModel.from_xml_string(_xml(problem))
        self._configuration, self._step = mink.Configuration(model), model.opt.timestep
        self._bodies = [model.body(f"b{joint}").id for joint in problem.parts]
        self._stages = [[self._task(joint, costs) for joint in problem.parts] for costs in STAGES]
        self._targets = [
            [mink.SE3.from_matrix(matrix) for matrix in matrices] for matrices in problem.targets.astype(np.float64)
        ]

    def _task(self, joint: int, costs: dict[str, tuple[float, float]]) -> Any:
        kind = "hips" if joint == self._problem.hips else "feet" if joint in self._problem.feet else "other"
        position, rotation = costs.get(kind, costs["other"])
        return self._mink.FrameTask(
            f"b{joint}", "body", position_cost=position, orientation_cost=rotation, lm_damping=TASK_DAMPING
        )

    def solve(self) -> float:
        self._frames = []
        start = perf_counter()
        for targets in self._targets:
            for tasks in self._stages:
                for task, target in zip(tasks, targets, strict=True):
                    task.set_target(target)
                self._reach(tasks)
            self._frames.append(self._configuration.data.xpos[self._bodies].copy())
        return (perf_counter() - start) / len(self._targets)

    def _reach(self, tasks: list[Any]) -> None:
        before = np.inf
        for _ in range(1 + MORE_STEPS):
            velocity = self._mink.solve_ik(self._configuration, tasks, self._step, "daqp", damping=DAMPING)
            self._configuration.integrate_inplace(velocity, self._step)
            error = float(np.linalg.norm(np.concatenate([task.compute_error(self._configuration) for task in tasks])))
            if before - error <= LEAST_GAIN:
                return
            before = error

    def joints(self) -> Any:
        return np.array(self._frames)


def _xml(problem: Walk) -> str:
    """The target: parts are ball joints below a free one, other joints are rigid."""
    skeleton = problem.target.skeleton
    rest = skeleton.rest

    def body(j: int) -> str:
        t, (x, y, z, w) = rest.translations[j], rest.rotations[j]
        joint = "<freejoint/>" if j == 0 else '<joint type="ball"/>' if j in problem.moving else ""
        below = "".join(body(int(k)) for k in skeleton.children(j))
        mass = '<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
        return f'<body name="b{j}" pos="{t[0]} {t[1]} {t[2]}" quat="{w} {x} {y} {z}">{mass}{joint}{below}</body>'

    return f"<mujoco><worldbody>{body(0)}</worldbody></mujoco>"
