"""mink: the same body in MuJoCo, ball joints and a free joint, or hinges; full Gauss-Newton steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.body_problems import BodyPoses
from benchmarks.machine import installed
from benchmarks.peers.body_base import SteppingBody

DAMPING = 1e-6


class MinkBody(SteppingBody):
    name = "mink"

    def available(self) -> bool:
        return installed("mink") is not None and installed("mujoco") is not None

    def version(self) -> str | None:
        return installed("mink")

    def build(self, problem: BodyPoses) -> None:
        import mink
        import mujoco

        self._mink = mink
        self._model = mujoco.MjModel.from_xml_string(_xml(problem))
        self._configuration = mink.Configuration(self._model)
        self._rest = self._configuration.q.copy()
        names = [f"b{tip}" for tip in problem.tips]
        self._tasks = [mink.FrameTask(name, "body", position_cost=1.0, orientation_cost=0.5) for name in names]
        self._bodies = [self._model.body(name).id for name in names]
        self._limits = [mink.ConfigurationLimit(self._model)] if problem.hinged else []

    def begin(self, rng: Any) -> None:
        rest = self._rest if rng is None else rng.uniform(*self._model.jnt_range.T)
        self._configuration.update(rest)

    def aim(self, matrices: list[Any]) -> None:
        for task, matrix in zip(self._tasks, matrices, strict=True):
            task.set_target(self._mink.SE3.from_matrix(matrix))

    def step(self) -> None:
        velocity = self._mink.solve_ik(
            self._configuration, self._tasks, 1.0, "daqp", damping=DAMPING, limits=self._limits
        )
        self._configuration.integrate_inplace(velocity, 1.0)

    def tips(self) -> list[Any]:
        data, found = self._configuration.data, np.tile(np.eye(4), (len(self._bodies), 1, 1))
        found[:, :3, :3] = data.xmat[self._bodies].reshape(-1, 3, 3)
        found[:, :3, 3] = data.xpos[self._bodies]
        return list(found)


def _xml(problem: BodyPoses) -> str:
    rest, nodes = problem.skeleton.rest, problem.nodes

    def body(j: int) -> str:
        t, (x, y, z, w) = rest.translations[j], rest.rotations[j]
        limit, first = problem.hinges.get(j), problem.skeleton.parents[j] < 0
        joint = "<freejoint/>" if first and problem.free else "" if first else '<joint type="ball"/>'
        if limit is not None:
            joint = (
                f'<joint type="hinge" axis="0 0 1" range="{limit.low} {limit.high}"/>' if limit.low < limit.high else ""
            )
        below = "".join(body(k) for k in nodes if problem.skeleton.parents[k] == j)
        mass = '<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
        pose = f'pos="{t[0]} {t[1]} {t[2]}" quat="{w} {x} {y} {z}"'
        return f'<body name="b{j}" {pose}>{mass}{joint}{below}</body>'

    return f'<mujoco><compiler angle="radian"/><worldbody>{body(nodes[0])}</worldbody></mujoco>'
