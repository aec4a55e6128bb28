"""The joints that move some effectors, and the arrays that the kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.pose import Pose
from kinema.skeleton import Skeleton
from kinema.solvers.body import records
from kinema.solvers.body.sides import Side

ROWS = 6
"""Rows of the system that one effector needs at most."""


class SolveBuffers(NamedTuple):
    """What the kernels need for one character at a time."""

    rows: Any
    sweep: Any
    matrix: Any
    pulls: Any
    support: Any


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
        self.on_path = np.isin(self.nodes, skeleton.above([*tips, root]))
        held = skeleton.joint_limits(np.float64)
        self.joints = records.zeros(records.JOINT, self.nodes.size)
        self.joints["parent"] = self.index[skeleton.parents[self.nodes]]
        self.joints["mobility"] = mobility[self.nodes]
        self.joints["slide"][self.root] = slide
        self.joints["rest"] = held.rest[self.nodes]
        self.joints["bone"] = held.bones[self.nodes]
        self.joints["limit"] = held.limits[self.nodes]
        self._rooms: list[SolveBuffers] = []
        self.support = records.zeros(records.SUPPORT, 0)
        if weights is not None:
            self.joints["mass"], self.joints["mass_offset"] = weights.mass[self.nodes], weights.offset[self.nodes]
            self.support = weights.support.copy()
            self.support["joint"] = self.index[weights.support["joint"]]

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

    def states(self, t: Any, r: Any, s: Any, warm: Pose | None = None, unsettled: Any = None) -> Any:
        """(characters, N) JOINT_STATE of local transforms, (characters, J, ...).

        warm: the pose to start from. unsettled: (characters, J), joints that are on their way back; those that are not,
        and that no effector moves, start as animated.
        """
        t, r, s = t.take(self.nodes, 1), r.take(self.nodes, 1), s.take(self.nodes, 1)
        states = records.zeros(records.JOINT_STATE, t.shape[:2])
        states["translation"], states["rotation"], states["scale"] = t, r, s
        if warm is not None:
            t_warm, r_warm, _ = (array[:, self.nodes] for array in warm.flat())
            kept = (self.joints["mobility"] > 0) & (self.on_path | unsettled[:, self.nodes])
            states["start"] = np.where(kept[..., np.newaxis], r_warm, r)
            states["start_translation"] = np.where(self.joints["slide"][:, np.newaxis] > 0, t_warm, t)
        return states

    def room(self, effectors: int) -> SolveBuffers:
        """Buffers for one character with this many effectors, which is the same in all calls. Return them afterwards
        with `give_back`, for the next call.
        """
        if self._rooms:
            return self._rooms.pop()
        rows = ROWS * effectors
        return SolveBuffers(
            records.zeros(records.ROW, rows),
            np.zeros((self.moving.size, 6, rows)),
            np.zeros((rows, rows)),
            np.zeros(rows),
            self.support.copy(),
        )

    def give_back(self, room: SolveBuffers) -> None:
        """Keep buffers for the next call."""
        self._rooms.append(room)

    def pose(self, before: Pose, states: Any) -> Pose:
        """The pose with the joints as they were solved."""
        t, r = before.translations.copy(), before.rotations.copy()
        moving, count = self.moving.size, len(states)
        r.reshape(count, -1, 4)[:, self.moving] = states["rotation"][:, :moving]
        t.reshape(count, -1, 3)[:, self.nodes[self.root]] = states["translation"][:, self.root]
        return Pose.of(t, r, before.scales.copy())
