"""placo: the same body from a URDF file, a floating base and three hinges for each ball joint, which URDF lacks.

Its regularisation is as small as it takes, so that steps are full Gauss-Newton steps.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.body_problems import BodyPoses
from benchmarks.machine import installed
from benchmarks.peers.body_base import SteppingBody
from kinema.math import arrays

REGULARISATION = 1e-6


class PlacoBody(SteppingBody):
    name = "placo"

    def available(self) -> bool:
        return installed("placo") is not None

    def version(self) -> str | None:
        return installed("placo")

    def build(self, problem: BodyPoses) -> None:
        import placo

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(_urdf(problem))
            self._robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
        self._root = np.eye(4)
        if problem.free:
            self._root[:3, :3] = arrays.to_matrix(problem.skeleton.rest.rotations[0].astype(float))
            self._root[:3, 3] = problem.skeleton.rest.translations[0]
        self._solver = self._robot.make_solver()
        self._solver.mask_fbase(not problem.free)
        self._solver.enable_joint_limits(problem.hinged)
        self._names = [f"b{tip}" for tip in problem.tips]
        self._tasks = [self._solver.add_frame_task(name, np.eye(4)) for name in self._names]
        for name, task in zip(self._names, self._tasks, strict=True):
            task.configure(name, "soft", 1.0, 0.5)
        self._solver.add_regularization_task(REGULARISATION)
        self._joints = [(joint, self._robot.get_joint_limits(joint)) for joint in self._robot.joint_names()]

    def begin(self, rng: Any) -> None:
        self._robot.reset()
        self._robot.set_T_world_fbase(self._root)
        if rng is not None:
            for joint, (low, high) in self._joints:
                self._robot.set_joint(joint, rng.uniform(low, high))
        self._robot.update_kinematics()

    def aim(self, matrices: list[Any]) -> None:
        for task, matrix in zip(self._tasks, matrices, strict=True):
            task.T_world_frame = matrix

    def step(self) -> None:
        self._solver.solve(True)
        self._robot.update_kinematics()

    def tips(self) -> list[Any]:
        return [self._robot.get_T_world_frame(name) for name in self._names]


def _urdf(problem: BodyPoses) -> str:
    """The body as a URDF text. A ball joint is three hinges about x, y and z."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    rest, parents = problem.skeleton.rest, problem.skeleton.parents
    links, joints = [], []

    def hinge(name: str, parent: str, child: str, origin: str, axis: str, ends: tuple[float, float]) -> None:
        links.append(f'<link name="{child}">{inertial}</link>')
        kind = "revolute" if ends[0] < ends[1] else "fixed"
        joints.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{origin}'
            f'<axis xyz="{axis}"/><limit lower="{ends[0]}" upper="{ends[1]}" effort="1e6" velocity="1e6"/></joint>'
        )

    for j in problem.nodes:
        parent, limit = int(parents[j]), problem.hinges.get(j)
        if parent < 0:
            links.append(f'<link name="b{j}">{inertial}</link>')
            continue
        x, y, z = rest.translations[j]
        roll, pitch, yaw = _angles(arrays.to_matrix(rest.rotations[j].astype(float)))
        origin = f'<origin xyz="{x} {y} {z}" rpy="{roll} {pitch} {yaw}"/>'
        if limit is not None:
            hinge(f"j{j}", f"b{parent}", f"b{j}", origin, "0 0 1", (limit.low, limit.high))
            continue
        wide = (-np.pi, np.pi)
        hinge(f"j{j}x", f"b{parent}", f"b{j}x", origin, "1 0 0", wide)
        hinge(f"j{j}y", f"b{j}x", f"b{j}y", "", "0 1 0", wide)
        hinge(f"j{j}z", f"b{j}y", f"b{j}", "", "0 0 1", wide)
    return f'<robot name="body">{"".join(links)}{"".join(joints)}</robot>'


def _angles(m: Any) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix."""
    pitch = float(np.arctan2(-m[2, 0], np.hypot(m[0, 0], m[1, 0])))
    if np.hypot(m[0, 0], m[1, 0]) < 1e-9:
        return 0.0, pitch, float(np.arctan2(-m[0, 1], m[1, 1]))
    return float(np.arctan2(m[2, 1], m[2, 2])), pitch, float(np.arctan2(m[1, 0], m[0, 0]))
