"""`LookTargets`: the point that each character looks or aims at; `TargetState`: what stages with targets share."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kinema.compile.records import REAL, Record
from kinema.math.arrays import Array, Mask
from kinema.stages.stage import Crowd, Rows, StageState

LOOK_TARGET = Record(point=(REAL, 3), held=bool, last_point=(REAL, 3), was_held=bool)
"""A point in world space, whether there is one, and both as they were in the frame before."""


def set_targets(targets: Any, points: Any) -> None:
    """Set all of an array of `LOOK_TARGET`. points: (N, 3), world space, or None for no target."""
    targets["held"] = points is not None
    if points is not None:
        targets["point"] = points


def advance_targets(targets: Any) -> None:
    """End a frame of an array of `LOOK_TARGET`: the targets become those of the frame before."""
    targets["last_point"] = targets["point"]
    targets["was_held"] = targets["held"]


class LookTargets:
    """A target for every character, or none."""

    fresh: Mask

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self.records = LOOK_TARGET.zeros(crowd.count, crowd.precision)
        """(N,): of `LOOK_TARGET`."""
        self._point, self._held = self.records.point, self.records.held
        self._last_point, self._was_held = self.records.last_point, self.records.was_held
        self.fresh = crowd.zeros(dtype=bool)
        """(N,): whether the target changed since its last frame."""

    def set(self, point: ArrayLike, rows: Rows = None) -> None:
        """Set the target of some characters.

        point: (3,) for all of them or one each, (rows, 3), world space. rows: indices or a mask; None for all.
        """
        selected = self._crowd.select(rows)
        array = self._crowd.vectors("point", point, selected)
        self.fresh[selected] |= ~self._held[selected] | (self._point[selected] != array).any(axis=-1)
        self._point[selected] = array
        self._held[selected] = True

    def clear(self, rows: Rows = None) -> None:
        """Remove the target of some characters. rows: indices or a mask; None for all."""
        selected = self._crowd.select(rows)
        self.fresh[selected] |= self._held[selected]
        self._held[selected] = False

    def advance(self, rows: Array) -> None:
        """End a frame of these rows: their targets become those of the frame before."""
        index = self._crowd.index(rows)
        self._last_point[index] = self._point[index]
        self._was_held[index] = self._held[index]
        self.fresh[index] = False


class TargetState(StageState):
    """The state of a stage that rotates joints to a target."""

    def __init__(self, crowd: Crowd) -> None:
        self._targets = LookTargets(crowd)
        self._moving: Mask = crowd.zeros(dtype=bool)
        """(N,): whether a character is on its way; a field of the records that its stage steps."""

    def awake(self, dt: float) -> Mask:
        return self._moving | self._targets.fresh


class GazeState(TargetState):
    """The state of a stage that looks at a target."""

    def look_at(self, point: ArrayLike, rows: Rows = None) -> None:
        """Look at a point from now on.

        point: (3,), or one for each of the rows, (n, 3), world space. rows: indices or a mask of characters; None for
        everyone.
        """
        self._targets.set(point, rows)

    def look_ahead(self, rows: Rows = None) -> None:
        """Stop looking, and go back to the animation."""
        self._targets.clear(rows)
