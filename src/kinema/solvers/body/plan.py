"""The joints that move some effectors, and the arrays that the kernels take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.pose import Pose
from kinema.skeleton import Skeleton
from kinema.solvers.body import records

ROWS = 6
"""Rows of the system that one effector needs at most."""


class SolveBuffers(NamedTuple):
    """What the kernels need for one character at a time."""

    rows: Any
    sweep: Any
    matrix: Any
    pulls: Any


class Plan:
    """Every joint above some effectors, parents first, with its settings.

    skeleton: whose. tips: joints that carry effectors. mobility: (J,), of every joint of the skeleton. root: the joint
    that may move. slide: its mobility, squared body sizes; 0 keeps it where it is.
    """

    def __init__(
        self, skeleton: Skeleton, tips: tuple[int, ...], mobility: NDArray[np.float64], root: int, slide: float
    ) -> None:
        self.nodes = skeleton.above([*tips, root])
        self.index = np.full(len(skeleton) + 1, -1)
        self.index[self.nodes] = np.arange(self.nodes.size)
        self.root = int(self.index[root])
        held = skeleton.joint_limits(np.float64)
        self.joints = records.zeros(records.JOINT, self.nodes.size)
        self.joints["parent"] = self.index[skeleton.parents[self.nodes]]
        self.joints["mobility"] = mobility[self.nodes]
        self.joints["slide"][self.root] = slide
        self.joints["rest"] = held.rest[self.nodes]
        self.joints["bone"] = held.bones[self.nodes]
        self.joints["limit"] = held.limits[self.nodes]

    def states(self, t: Any, r: Any, s: Any, warm: Pose | None = None) -> Any:
        """(characters, N) JOINT_STATE of local transforms, (characters, J, ...). warm: the pose to start from."""
        t, r, s = (array[:, self.nodes] for array in (t, r, s))
        states = records.zeros(records.JOINT_STATE, t.shape[:2])
        states["translation"] = states["reference_translation"] = t
        states["rotation"] = states["reference"] = r
        states["scale"] = s
        if warm is not None:
            t_warm, r_warm, _ = (array[:, self.nodes] for array in warm.flat())
            states["start"], states["start_translation"] = r_warm, t
            states["start_translation"][:, self.root] = t_warm[:, self.root]
        return states

    def room(self, effectors: int) -> SolveBuffers:
        """Buffers for one character with this many effectors."""
        rows = ROWS * effectors
        return SolveBuffers(
            records.zeros(records.ROW, rows),
            np.zeros((self.nodes.size, 6, rows)),
            np.zeros((rows, rows)),
            np.zeros(rows),
        )

    def pose(self, before: Pose, states: Any) -> Pose:
        """The pose with the joints as they were solved."""
        t, r, s = (array.copy() for array in before.arrays())
        r.reshape(len(states), -1, 4)[:, self.nodes] = states["rotation"]
        t.reshape(len(states), -1, 3)[:, self.nodes[self.root]] = states["translation"][:, self.root]
        return Pose.of(t, r, s)
