"""A rope in the plane that falls, swings and follows its ends: position-based dynamics on FABRIK's passes.

In each step every joint falls freely, then the links get their length back by a few passes from one end to the other
and back, as FABRIK makes them, and the velocities become what the joints really moved.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.constants import LONGEST_STEP
from kinema.errors import InputError
from kinema.solvers.chain.fabrik import fabrik
from kinema.validation import Reals

ROUNDS = 6
"""Passes from the end to the start and back per step. Few passes keep the shape that the fall gave the rope."""

MAX_LINKS = 1000
"""Links of a rope; each costs about a microsecond per pass."""


class Rope2D:
    """A rope of equal links in the plane, held at its start and, if wanted, at its end.

    Any units will do, as long as lengths, positions and gravity agree. On a screen whose y axis points down, give a
    gravity with positive y.

    Parameters
    ----------
    start
        (2,): where the rope is held.
    end
        (2,): where its end is held, as far as the rope is long enough; None lets it hang free.
    links
        Number of links, 1 to 1,000.
    length
        Length of the whole rope.
    gravity
        (2,): acceleration, length units per second squared.
    drag
        Air drag, 1/s: velocities decay as exp(-drag t).

    Raises
    ------
    InputError
        If a value has the wrong shape or is out of range.

    Examples
    --------
    >>> rope = km.Rope2D((0, 2), (1, 2), links=20, length=1.5)
    >>> rope.end = (1.2, 1.8)
    >>> joints = rope.step(1 / 60)
    >>> joints.shape
    (21, 2)
    """

    link: float
    gravity: Any
    drag: float

    joints: Any
    """(links + 1, 2): positions from start to end."""
    velocities: Any
    """(links + 1, 2): velocity of each joint, length units per second."""

    def __init__(
        self,
        start: ArrayLike,
        end: ArrayLike | None = None,
        *,
        links: int = 24,
        length: float = 1.0,
        gravity: ArrayLike = (0.0, -9.81),
        drag: float = 1.6,
    ) -> None:
        count = validation.whole("links", links, 1, MAX_LINKS)
        self.link = validation.number("length", length, 0.0) / count
        if self.link <= 0.0:
            raise InputError(f"length is {length}; allowed are numbers above 0")
        self.gravity = validation.vector("gravity", gravity, 2)
        self.drag = validation.number("drag", drag, 0.0)
        self.start = start
        self.end = end
        size = float(np.linalg.norm(self.gravity))
        down = self.gravity / size if size > 0.0 else np.array((1.0, 0.0))
        self.joints = self.start + self.link * np.arange(count + 1)[:, np.newaxis] * down
        self.velocities = np.zeros_like(self.joints)
        self._restore_lengths()

    def __repr__(self) -> str:
        links = len(self.joints) - 1
        return f"Rope2D({links} links, length {self.link * links:g}, {'free' if self.end is None else 'held'} end)"

    @property
    def start(self) -> Reals:
        """(2,): where the rope is held."""
        return self._start

    @start.setter
    def start(self, point: ArrayLike) -> None:
        self._start = validation.vector("start", point, 2)

    @property
    def end(self) -> Reals | None:
        """(2,): where the end is held; None if it hangs free."""
        return self._end

    @end.setter
    def end(self, point: ArrayLike | None) -> None:
        self._end = None if point is None else validation.vector("end", point, 2)

    @property
    def error(self) -> float:
        """Distance of the rope's last joint from where its end is held; 0 if it hangs free."""
        return 0.0 if self._end is None else float(np.linalg.norm(self.joints[-1] - self._end))

    def step(self, dt: float) -> Reals:
        """Move the rope on by dt seconds and return its joints (links + 1, 2). Nothing happens if dt is 0."""
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        if seconds == 0.0:
            return self.joints
        before = self.joints
        self.velocities = (self.velocities + self.gravity * seconds) * math.exp(-self.drag * seconds)
        self.joints = before + self.velocities * seconds
        self._restore_lengths()
        self.velocities = (self.joints - before) / seconds
        return self.joints

    def _restore_lengths(self) -> None:
        """Give every link its length back; then let the solver close what distance remains to the end."""
        points = [complex(x, y) for x, y in self.joints.tolist()]
        start = complex(*self._start)
        if self._end is None:
            self.joints = _as_rows(_laid_from(start, points, self.link))
            return
        end = complex(*self._end)
        for _ in range(ROUNDS):
            points = _laid_from(end, points[::-1], self.link)
            points = _laid_from(start, points[::-1], self.link)
        self.joints = fabrik(_as_rows(points), self._end).joints


def _laid_from(start: complex, points: list[complex], link: float) -> list[complex]:
    """Return points one link apart from `start` on, each towards its old position. (x, y) is x + iy."""
    laid = [start]
    for point in points[1:]:
        way = (point - laid[-1]) or 1j  # Two points at one position separate along y.
        laid.append(laid[-1] + way * (link / abs(way)))
    return laid


def _as_rows(points: list[complex]) -> Any:
    return np.array([(point.real, point.imag) for point in points])
