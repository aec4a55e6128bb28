"""pink: the same body in Pinocchio, spherical joints and a free-flyer, or hinges; full Gauss-Newton steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.body_problems import BodyPoses
from benchmarks.machine import installed
from benchmarks.peers.body_base import SteppingBody
from kinema.math import arrays

DAMPING = 1e-6


class PinkBody(SteppingBody):
    name = "pink"

    def available(self) -> bool:
        return installed("pin-pink") is not None and installed("daqp") is not None

    def version(self) -> str | None:
        return installed("pin-pink")

    def build(self, problem: BodyPoses) -> None:
        import pink
        import pinocchio

        self._pink, self._pinocchio = pink, pinocchio
        self._model = pinocchio_model(problem)
        self._data = self._model.createData()
        self._rest = pinocchio.neutral(self._model)
        names = [f"b{tip}" for tip in problem.tips]
        self._frames = [self._model.getFrameId(name) for name in names]
        self._tasks = [pink.FrameTask(name, position_cost=1.0, orientation_cost=0.5) for name in names]
        self._limits: Any = None if problem.hinged else []
        self.begin(None)

    def begin(self, rng: Any) -> None:
        q = self._rest
        if rng is not None:
            q = rng.uniform(self._model.lowerPositionLimit, self._model.upperPositionLimit)
        self._configuration = self._pink.Configuration(self._model, self._data, q)

    def aim(self, matrices: list[Any]) -> None:
        for task, matrix in zip(self._tasks, matrices, strict=True):
            task.set_target(self._pinocchio.SE3(matrix))

    def step(self) -> None:
        velocity = self._pink.solve_ik(
            self._configuration,
            self._tasks,
            1.0,
            solver="daqp",
            damping=DAMPING,
            limits=self._limits,
            safety_break=False,
        )
        self._configuration.integrate_inplace(velocity, 1.0)

    def tips(self) -> list[Any]:
        return [self._configuration.data.oMf[frame].homogeneous for frame in self._frames]


def pinocchio_model(problem: BodyPoses) -> Any:
    """The body as a Pinocchio model, a frame for each joint."""
    import pinocchio

    model, rest, made = pinocchio.Model(), problem.skeleton.rest, {-1: 0}
    for j in problem.nodes:
        parent, limit = int(problem.skeleton.parents[j]), problem.hinges.get(j)
        placement = pinocchio.SE3(arrays.to_matrix(rest.rotations[j].astype(float)), rest.translations[j].astype(float))
        if parent < 0 and not problem.free:
            model.addFrame(pinocchio.Frame(f"b{j}", 0, placement, pinocchio.FrameType.BODY))
            made[j] = 0
            continue
        kind = pinocchio.JointModelSpherical() if parent >= 0 else pinocchio.JointModelFreeFlyer()
        if limit is None:
            made[j] = model.addJoint(made[parent], kind, placement, f"j{j}")
        else:
            low, high, fast = np.array([limit.low]), np.array([limit.high]), np.array([100.0])
            made[j] = model.addJoint(made[parent], pinocchio.JointModelRZ(), placement, f"j{j}", fast, fast, low, high)
        model.addFrame(pinocchio.Frame(f"b{j}", made[j], pinocchio.SE3.Identity(), pinocchio.FrameType.BODY))
    return model
