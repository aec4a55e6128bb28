"""What every stage of a frame has in common, and the frame that is being made.

One character is a batch of one: everything is an array with a leading axis of characters, and a stage works on the
rows it is given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinema import validation
from kinema.character import Character
from kinema.constants import THREADS_FROM_POSES
from kinema.errors import InputError
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.skeleton import Joint, Skeleton, shift_origins, world_matrices


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Settings of a stage; frozen, shared by every character that it serves.

    weight: how much of it is applied, 0 to 1. priority: stages with the lowest are dropped first when time is short.
    max_distance: metres from the viewer beyond which it is left out (it fades over the last fifth).
    """

    weight: float = 1.0
    priority: int = 0
    max_distance: float = math.inf

    order: ClassVar[int] = 20
    """When its turn comes in a frame: 0 clips, 10 procedural layers, 20 feet or locomotion, 30 hands,
    40 aim, 50 head, 60 eyes, 70 tails."""

    def start(self, body: Crowd) -> StageState:
        """A fresh state for these characters."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who a stage serves: `count` characters of one kind, computed in one precision."""

    character: Character
    count: int
    precision: Any

    @property
    def skeleton(self) -> Skeleton:
        return self.character.skeleton

    @property
    def rig(self) -> Rig:
        if self.character.rig is None:
            raise InputError(
                f"{self.character.name} has no rig: which joint is a leg? Give one, Character(..., rig=Rig(...))"
            )
        return self.character.rig

    def zeros(self, *shape: int, dtype: Any = None) -> Any:
        """(characters, *shape) of zeros."""
        return np.zeros((self.count, *shape), dtype or self.precision)

    def each(self, name: str, value: Any, width: int) -> Any:
        """A vector for every character, (characters, width), from one or from as many."""
        array = validation.vectors(name, value, width, self.precision)
        if array.shape not in ((width,), (self.count, width)):
            raise InputError(f"{name} must have shape ({width},) or ({self.count}, {width}), got {array.shape}")
        return np.array(np.broadcast_to(array, (self.count, width)), order="C")

    def share(self, name: str, value: Any) -> Any:
        """A weight from 0 to 1 for every character, (characters,), from one or from as many."""
        array = validation.weights(name, value, self.precision)[..., 0]
        if array.shape not in ((), (self.count,)):
            raise InputError(f"{name} must be one number or have shape ({self.count},), got {array.shape}")
        return np.array(np.broadcast_to(array, (self.count,)), order="C")


class StageState:
    """What a stage remembers from frame to frame, as arrays over the characters, and what its users set."""

    def awake(self, dt: float) -> Any:
        """(characters,): whose pose this stage would change this frame though nothing else moved."""
        raise NotImplementedError

    def reset(self, rows: Any) -> None:
        """These characters were left out for a while: whatever was eased for them starts anew."""

    def update(self, context: FrameContext) -> Any:
        """Do this stage's part of the frame for the rows of `work`. Returns its report."""
        raise NotImplementedError


class FrameContext:
    """One frame being made, for all characters; stages read and write the rows they are given.

    t, r, s: local translations (N, J, 3), rotations (N, J, 4), scales (N, J, 3), changed in place by each stage.
    world: (N, J, 12), world matrices 3x4 row by row; only those that `refresh` was asked for are up to date.
    transform: (N, 1, 12), where each character's space is in the world. ground: anything with `cast`, or None.
    present: who is worked on in this frame. rows: whom of them the stage at work serves. weights: (N,), how much of the
    stage each one gets. dt: seconds.
    """

    def __init__(self, body: Crowd) -> None:
        skeleton, count, dtype = body.skeleton, body.count, body.precision
        self.body = body
        self.t, self.r, self.s = (
            np.array(np.broadcast_to(array, (count, *array.shape)), dtype, order="C")
            for array in skeleton.rest.arrays()
        )
        self.world = np.zeros((count, len(skeleton), 12), dtype)
        self.transform = np.array(np.broadcast_to(np.eye(4)[:3].reshape(12), (count, 1, 12)), dtype, order="C")
        self.ground: Any = None
        self.present = np.arange(count)
        self.rows = self.present
        self.weights = np.ones(count, dtype)
        self.dt = 0.0
        self._stale = np.ones(len(skeleton), bool)

    def renew(self, everyone: bool) -> None:
        """Go on in new arrays: somebody holds those of the frame before. Whoever is not worked on stays the same.

        everyone: whether every character will be worked on, so that nothing needs to be taken over.
        """
        fresh = np.empty_like if everyone else np.copy
        self.t, self.r, self.s, self.world = (fresh(array) for array in (self.t, self.r, self.s, self.world))
        self.transform = self.transform.copy()

    def changed(self, below: Any) -> None:
        """Say that the local transforms of some joints changed; `below` is `skeleton.below` of them."""
        self._stale[below] = True

    def all_changed(self) -> None:
        self._stale[:] = True

    def shifted(self, below: Any, shifts: Any) -> None:
        """Say that these joints, everything below some of them, were moved as one piece in world space, each
        character by its own shift, (N, 3): matrices that are up to date stay so without computing them again.
        """
        known = below[~self._stale[below]]
        shift_origins(self.rows, known, shifts, self.world)

    def refresh(self, above: Any) -> None:
        """Bring the world matrices of some joints up to date; `above` is `skeleton.above` of them.

        Of everyone present: what is stale is known by joint, and the next stage may serve others.
        """
        order = above[self._stale[above]]
        if order.size == 0:
            return
        parents = self.body.skeleton.parents

        def part(first: int, last: int) -> None:
            world_matrices(self.present[first:last], order, parents, self.transform, self.t, self.r, self.s, self.world)

        validation.in_chunks(part, self.present.size, THREADS_FROM_POSES, 1)
        self._stale[order] = False

    def pose(self) -> Pose:
        """The pose as it stands, (N, J)."""
        return Pose.of(self.t.copy(), self.r.copy(), self.s.copy())


def indices(skeleton: Skeleton, joints: Iterable[Joint]) -> Any:
    """Joints as an array of indices."""
    return np.array([skeleton.index(joint) for joint in joints], np.int64)
