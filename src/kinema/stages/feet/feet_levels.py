"""Levels of detail of `Feet`: fewer rays for characters that are far from the viewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.stages.stage import Crowd, FrameContext

COMES_BACK = 0.9
"""Share of a level's distance at which a character that comes nearer leaves it: no flicker between two levels."""


@dataclass(frozen=True, kw_only=True)
class FeetLevel:
    """What the feet of a character do less when it is far from the viewer.

    Parameters
    ----------
    distance
        Metres from the viewer from which on this applies.
    footholds
        Whether feet look for a good hold where they are going to land. If not, they land where the clip puts them.
    look_ahead
        Whether swinging feet look for obstacles on their way. If not, they rise when they meet one.
    every
        Frames from one cast of a foot's rays to the next, 1 or more. In between, the ground goes on as it was hit last.
        A foot that lifts off or lands casts in the next frame.

    Examples
    --------
    >>> feet = km.Feet(levels=(km.FeetLevel(distance=15.0, footholds=True), km.FeetLevel(distance=30.0, every=4)))
    """

    distance: float
    footholds: bool = False
    look_ahead: bool = False
    every: int = 2

    def __post_init__(self) -> None:
        validation.number("distance", self.distance, 0.0)
        validation.whole("every", self.every, 1)


def check_levels(levels: Sequence[FeetLevel]) -> None:
    """Raise InputError unless these are levels, each farther than the one before."""
    for n, level in enumerate(levels):
        if not isinstance(level, FeetLevel):
            raise InputError(f"levels[{n}] is {level!r:.60}; allowed is FeetLevel(distance=...)")
        if n and level.distance <= levels[n - 1].distance:
            raise InputError(f"levels[{n}].distance is {level.distance:g}; it must be larger than the one before")


class LevelChoice:
    """The level of every character: 0 for full detail, n for `levels[n - 1]`."""

    def __init__(self, levels: Sequence[FeetLevel], crowd: Crowd, bodies: Any) -> None:
        self._distances = np.array([level.distance for level in levels], np.float64)
        self._table = (FeetLevel(distance=0.0, footholds=True, look_ahead=True, every=1), *levels)
        self._current: NDArray[np.int64] = np.zeros(crowd.count, np.int64)
        self._bodies = bodies
        self._set(slice(None), self._current)

    def update(self, context: FrameContext) -> None:
        """Choose the levels of the stage's characters by their distance from the viewer."""
        if not self._distances.size:
            return
        rows, chosen = context.rows, np.zeros(context.rows.size, np.int64)
        if context.viewer is not None:
            away = np.linalg.norm(context.transform[rows, 0, 3::4] - context.viewer, axis=-1)
            least = np.searchsorted(self._distances, away, side="right")
            most = np.searchsorted(self._distances * COMES_BACK, away, side="right")
            chosen = np.clip(self._current[rows], least, most)
        changed = chosen != self._current[rows]
        if changed.any():
            self._set(rows[changed], chosen[changed])

    def _set(self, rows: Any, levels: Any) -> None:
        self._current[rows] = levels
        for name in ("footholds", "look_ahead", "every"):
            self._bodies[name][rows] = np.array([getattr(level, name) for level in self._table])[levels]
