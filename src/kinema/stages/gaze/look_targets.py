"""`TargetState`: the point that each character looks or aims at, for the stages that rotate joints to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from kinema.compile.jit import kernel
from kinema.compile.records import REAL, Record
from kinema.math.arrays import Array, Mask
from kinema.math.rows import load3, store3
from kinema.stages.stage import Crowd, FrameContext, Rows, StageState

LOOK_TARGET = Record(point=(REAL, 3), held=bool, last_point=(REAL, 3), was_held=bool)
"""A point in world space, whether there is one, and both as they were in the frame before."""


@kernel
def advance_target(target):
    """End a frame of a `LOOK_TARGET`: the target becomes that of the frame before."""
    store3(target.last_point, load3(target.point))
    target.was_held = target.held


class TargetState(StageState):
    """The state of a stage that rotates joints to a target."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._targets = LOOK_TARGET.zeros(crowd.count, crowd.precision)
        """(N,): of `LOOK_TARGET`."""
        self._fresh: Mask = crowd.zeros(dtype=bool)
        """(N,): whether the target changed since its last frame."""
        self._moving: Mask = crowd.zeros(dtype=bool)
        """(N,): whether a character is on its way; a field of the records that its stage steps."""

    def awake(self, dt: float) -> Mask:
        return self._moving | self._fresh

    def _set_target(self, point: ArrayLike, rows: Rows) -> None:
        """Set the target of some characters: (3,) for all of them or one each, (rows, 3), world space."""
        selected, targets = self._crowd.select(rows), self._targets
        array = self._crowd.vectors("point", point, selected)
        self._fresh[selected] |= ~targets.held[selected] | (targets.point[selected] != array).any(axis=-1)
        targets.point[selected] = array
        targets.held[selected] = True

    def _clear_target(self, rows: Rows) -> None:
        """Remove the target of some characters."""
        selected = self._crowd.select(rows)
        self._fresh[selected] |= self._targets.held[selected]
        self._targets.held[selected] = False

    def _step(self, context: FrameContext, loop: Callable[..., Any], records: Any, writes: Array, reads: Array) -> None:
        """Run the loop of a stage, as `context.step` does; it advances the targets."""
        context.step(loop, *records, writes=writes, reads=reads)
        self._fresh[self._crowd.index(context.rows)] = False


class GazeState(TargetState):
    """The state of a stage that looks at a target."""

    def look_at(self, point: ArrayLike, rows: Rows = None) -> None:
        """Look at a point from now on.

        point: (3,), or one for each of the rows, (n, 3), world space. rows: indices or a mask of characters; None for
        everyone.
        """
        self._set_target(point, rows)

    def look_ahead(self, rows: Rows = None) -> None:
        """Stop looking, and go back to the animation."""
        self._clear_target(rows)
