"""mink: ten ball joints in MuJoCo, full Gauss-Newton steps until the tip is near enough.

Limits are off and the steps undamped but for a trace, which is where it arrives everywhere in the fewest steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.peers.base import OneByOne
from benchmarks.problems import Chains

STEPS = 100
"""Most steps; the average is about five."""

DAMPING = 1e-6


class Mink(OneByOne):
    name = "mink"

    def available(self) -> bool:
        return installed("mink") is not None and installed("mujoco") is not None

    def version(self) -> str | None:
        return installed("mink")

    def prepare(self, problem: Chains) -> None:
        import mink
        import mujoco

        model = mujoco.MjModel.from_xml_string(_xml(problem.bones, problem.length))
        self._configuration = mink.Configuration(model)
        self._task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=0.0)
        self._straight = model.qpos0.copy()
        self._near = problem.tolerance * problem.length * problem.bones
        self._inputs = list(problem.target)
        self._call = self._reach

    def _reach(self, target: Any) -> Any:
        import mink

        configuration, task = self._configuration, self._task
        configuration.update(self._straight)
        task.set_target(mink.SE3.from_translation(target))
        tip = configuration.data.site_xpos[0]
        for _ in range(STEPS):
            velocity = mink.solve_ik(configuration, [task], 1.0, "daqp", damping=DAMPING, limits=[])
            configuration.integrate_inplace(velocity, 1.0)
            if np.linalg.norm(tip - target) <= self._near:
                break
        return configuration.q.copy()

    def joints(self) -> Any:
        return [self._joints_of(pose) for pose in self._answers]

    def _joints_of(self, pose: Any) -> Any:
        self._configuration.update(pose)
        data = self._configuration.data
        return np.concatenate([data.xpos[1:], data.site_xpos])


def _xml(bones: int, length: float) -> str:
    open_bodies = "".join(
        f'<body pos="0 {length if i else 0.0} 0"><joint type="ball"/><geom size="0.01" contype="0" conaffinity="0"/>'
        for i in range(bones)
    )
    tip = f'<site name="tip" pos="0 {length} 0"/>'
    return f"<mujoco><worldbody>{open_bodies}{tip}{'</body>' * bones}</worldbody></mujoco>"
