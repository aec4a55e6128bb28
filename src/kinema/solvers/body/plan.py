"""The joints that move some effectors, and the arrays that the kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.compile.threads import in_chunks
from kinema.math import arrays
from kinema.model.limits import Slider
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.solvers.body import records
from kinema.solvers.body.sides import Side
from kinema.solvers.body.solve import solve_bodies

RAIL = 0.3
"""Mobility of a slider, squared body sizes: that of a free root. A hinge moves what is half a body away as easily."""


class SolveBuffers(NamedTuple):
    """What the kernels need for one character at a time."""

    states: Any
    rows: Any
    sweep: Any
    matrix: Any
    pulls: Any
    support: Any


class PoseRows(NamedTuple):
    """Poses as the kernels take them: float64, the batch flattened, one row if all characters share it."""

    t: Any
    """(C or 1, J, 3): translations."""
    r: Any
    """(C or 1, J, 4): rotations."""
    s: Any
    """(C or 1, J, 3): scales."""

    @staticmethod
    def of(pose: Pose, shape: tuple[int, ...]) -> PoseRows:
        """The rows of a pose for a batch. Raises ValueError if it does not broadcast to it."""
        if not pose.shape:
            return PoseRows(*[np.array(array, np.float64, ndmin=3) for array in pose.arrays()])
        parts = []
        for array in pose.arrays():
            wide = array if pose.shape == shape else np.broadcast_to(array, (*shape, *array.shape[-2:]))
            rows = np.ascontiguousarray(wide, np.float64).reshape(-1, *array.shape[-2:])
            parts.append(rows if rows.flags.writeable else rows.copy())
        return PoseRows(*parts)


class Weights(NamedTuple):
    """How a character's mass is spread, and what it stands on."""

    mass: NDArray[np.float64]
    """(J,): shares of the whole, which add up to 1."""
    offset: NDArray[np.float64]
    """(J, 3): where in each joint's own space its mass is."""
    support: Any
    """(P,) SUPPORT, joints by their index in the skeleton."""


class Plan:
    """Every joint above some effectors, parents first, with its settings; then the joints that they only carry along.

    skeleton: whose. tips: joints that carry effectors. mobility: (J,), of every joint of the skeleton. root: the joint
    that may move. slide: its mobility, squared body sizes; 0 keeps it where it is. weights: for the balance; None
    leaves it out. unsettled: joints that are only on their way back to the animated pose.

    loose: (J,), the mobility of joints that no effector moves, 0 for the others.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        tips: tuple[int, ...],
        mobility: NDArray[np.float64],
        root: int,
        slide: float,
        weights: Weights | None = None,
        unsettled: tuple[int, ...] = (),
    ) -> None:
        self.moving = skeleton.above([*tips, *unsettled, root])
        self.nodes = np.concatenate([self.moving, self._carried(skeleton, weights)])
        self.index = np.full(len(skeleton) + 1, -1)
        self.index[self.nodes] = np.arange(self.nodes.size)
        self.root = int(self.index[root])
        driven = np.zeros(len(skeleton), bool)
        driven[skeleton.above([*tips, root])] = True
        self.loose = np.where(driven, 0.0, mobility)
        held = skeleton.joint_limits(np.float64)
        self.joints = records.zeros(records.JOINT, self.nodes.size)
        self.joints["node"], self.joints["driven"] = self.nodes, driven[self.nodes]
        self.joints["parent"] = self.index[skeleton.parents[self.nodes]]
        self.joints["mobility"] = mobility[self.nodes]
        self.joints["slide"][self.root] = slide
        self.joints["rest"] = held.rest[self.nodes]
        self.joints["bone"] = held.bones[self.nodes]
        self.joints["limit"] = held.limits[self.nodes]
        for n, joint in enumerate(self.nodes):
            limit = skeleton.limits[joint]
            if isinstance(limit, Slider):
                self._set_rail(n, limit, skeleton, float(mobility[joint]))
        self._rooms: list[SolveBuffers] = []
        self.support = records.zeros(records.SUPPORT, 0)
        if weights is not None:
            self.joints["mass"], self.joints["mass_offset"] = weights.mass[self.nodes], weights.offset[self.nodes]
            self.support = weights.support.copy()
            self.support["joint"] = self.index[weights.support["joint"]]

    def _set_rail(self, n: int, limit: Slider, skeleton: Skeleton, mobility: float) -> None:
        """Let a joint move along its axis, and not rotate."""
        rest, node = skeleton.rest, self.nodes[n]
        self.joints["slide"][n], self.joints["mobility"][n], self.joints["rail"][n] = RAIL * mobility, 0.0, True
        self.joints["rail_axis"][n] = arrays.rotate(rest.rotations[node].astype(np.float64), np.array(limit.axis))
        self.joints["rail_zero"][n] = rest.translations[node]
        self.joints["rail_low"][n], self.joints["rail_high"][n] = limit.low, limit.high

    def keep_sides(self, sides: Sequence[Side]) -> None:
        """Let elbows and knees bend one way only."""
        for side in sides:
            n = self.index[side.joint]
            if n >= 0:
                self.joints["one_sided"][n] = True
                self.joints["lower"][n], self.joints["side"][n] = side.lower, side.side

    def _carried(self, skeleton: Skeleton, weights: Weights | None) -> NDArray[np.int64]:
        """Joints that do not move by themselves, but that the balance depends on."""
        if weights is None or not len(weights.support):
            return np.zeros(0, np.int64)
        needed = skeleton.above([*np.flatnonzero(weights.mass).tolist(), *weights.support["joint"].tolist()])
        return np.setdiff1d(needed, self.moving)

    def room(self, rows: int) -> SolveBuffers:
        """Buffers for one character whose effectors need this many rows, which is the same in all calls."""
        if self._rooms:
            return self._rooms.pop()
        return SolveBuffers(
            records.zeros(records.JOINT_STATE, self.nodes.size),
            records.zeros(records.ROW, rows),
            np.zeros((self.moving.size + 1, 6, rows)),
            np.zeros((rows, rows)),
            np.zeros(rows),
            self.support.copy(),
        )

    def solve(self, call: records.BodyCall, rows: int, threads_from: int) -> None:
        """Solve all characters of a call, whose effectors need this many rows each; large batches in threads."""

        def work(first: int, last: int) -> None:
            room = self.room(rows)
            solve_bodies(first, last, call, room)
            self._rooms.append(room)

        in_chunks(work, len(call.settings), threads_from)

    def call(
        self, pose: PoseRows, warm: PoseRows | None, unsettled: Any, effectors: Any, settings: Any, outcomes: Any
    ) -> records.BodyCall:
        """A call of the solver, with room for what it returns. The number of characters is that of the settings."""
        count, joints, start = len(settings), pose.r.shape[1], pose if warm is None else warm
        return records.BodyCall(
            self.joints,
            *pose,
            start.t,
            start.r,
            unsettled,
            effectors,
            settings,
            np.empty((count, joints, 3)),
            np.empty((count, joints, 4)),
            outcomes,
            np.empty((2, count, effectors.shape[1])),
            np.zeros((count, joints), bool),
        )
