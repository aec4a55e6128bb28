"""The arm's mind: which ball next, when to take it, where to carry it, when to let it go."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.physics import Balls

SEEK, CARRY, ALL_SORTED = "seek", "carry", "all sorted"

BIN_CENTRES = np.array(((-0.85, 0.0, -0.95), (0.85, 0.0, -0.95)))
"""(2, 3): of the bins' floors, one bin for each kind."""
BIN_HALF = np.array((0.36, 0.36, 0.36))
"""Half width, height, half depth of a bin."""
WALL = 0.025
"""Thickness of a bin's walls, m."""
ABOVE = 0.75
"""Height above the floor from which a ball is dropped, m: well over a bin's rim."""
GRASP = 1.6
"""How near the hand must be to a ball's centre to take it, in radii."""
HOVER = 0.4
"""How high above a ball the hand comes in, m."""
NEAR = 0.15
"""Aside from a ball so far, the hand begins to go down to it; twice as far it is still high, m."""
OVER = 0.12
"""How near the hand must be to the place over the bin, m."""
TOO_FAST = 2.5
"""m/s: a ball that is faster is left alone until it is slower."""
EASE = 0.12
"""Half-life of the way that a ball goes from where it was taken to the hand's end, s."""
PATIENCE = 5.0
"""Seconds after which a ball that cannot be had is left for another one."""
REST = 2.0
"""Seconds between the last ball and the next round."""


def bin_boxes(kind: int) -> Any:
    """(5, 2, 3): a bin's floor and four walls."""
    x, y, z = BIN_CENTRES[kind]
    w, h, d = BIN_HALF
    low, high = (x - w, y, z - d), (x + w, y + h, z + d)
    return np.array(
        (
            (low, (high[0], y + WALL, high[2])),
            (low, (x - w + WALL, high[1], high[2])),
            ((x + w - WALL, y, z - d), high),
            (low, (high[0], high[1], z - d + WALL)),
            ((x - w, y, z + d - WALL), high),
        )
    )


def kind_of_bin(positions: Any, height: float = BIN_HALF[1]) -> Any:
    """(B,): in which bin a ball is, or -1. height: up to where it counts, m; the rim if not told."""
    result = np.full(len(positions), -1)
    for kind, centre in enumerate(BIN_CENTRES):
        away = np.abs(positions - centre)
        inside = (away[:, 0] < BIN_HALF[0]) & (away[:, 2] < BIN_HALF[2]) & (positions[:, 1] < height)
        result[inside] = kind
    return result


class Sorter:
    """What the arm is about to do."""

    def __init__(self) -> None:
        self.state = SEEK
        self.ball: int | None = None
        self._offset = np.zeros(3)
        self._tried = 0.0
        self._given_up: set[int] = set()
        self._idle = 0.0

    def lose(self, ball: int) -> None:
        """Somebody else has this ball now, or it is gone."""
        if self.ball == ball:
            self.ball, self.state = None, SEEK

    def waited(self, dt: float) -> bool:
        """Whether the arm has rested long enough after the last ball."""
        self._idle += dt
        return self._idle >= REST

    def decide(self, joints: Any, balls: Balls, kinds: Any, taken: int | None, dt: float) -> tuple[Balls, Any]:
        """The balls, one of them perhaps taken or let go, and where the hand is to go, (3,)."""
        hand = joints[-1]
        if self.state == CARRY and self.ball is not None:
            over = BIN_CENTRES[kinds[self.ball]] + (0.0, ABOVE, 0.0)
            if np.linalg.norm(hand - over) < OVER:
                return self.let_go(balls), over
            return balls, _up_first(hand, over)
        self.ball = self._choose(hand, balls, kinds, taken, dt)
        if self.ball is None:
            return balls, np.array((0.0, 1.3, 0.6))
        goal = _from_above(hand, balls.positions[self.ball] + (0.0, 0.6 * balls.radii[self.ball], 0.0))
        if np.linalg.norm(hand - balls.positions[self.ball]) < GRASP * balls.radii[self.ball]:
            self.state, self._offset = CARRY, balls.positions[self.ball] - hand
            return balls.hold(self.ball), goal
        return balls, goal

    def let_go(self, balls: Balls) -> Balls:
        """The balls, the carried one let go."""
        ball = self.ball if self.state == CARRY else None
        self.ball, self.state = None, SEEK
        return balls.release(ball, (0.0, 0.0, 0.0)) if ball is not None else balls

    def _choose(self, hand: Any, balls: Balls, kinds: Any, taken: int | None, dt: float) -> int | None:
        """The nearest ball that is not where it belongs; the same one as long as it can be had."""
        waiting = kind_of_bin(balls.positions, 2.0 * ABOVE) != kinds  # Over its bin: it is on its way.
        if taken is not None:
            waiting[taken] = False
        elif not waiting.any():
            self.state = ALL_SORTED
            return None
        self.state = SEEK
        slow = np.linalg.norm(balls.velocities, axis=1) < TOO_FAST
        self._tried += dt
        if self.ball is not None and waiting[self.ball] and slow[self.ball]:
            if self._tried < PATIENCE:
                return self.ball
            self._given_up.add(self.ball)
        free = np.flatnonzero(waiting & slow)
        hopeful = [i for i in free.tolist() if i not in self._given_up]
        if not hopeful:
            self._given_up.clear()
            return None
        self._tried = 0.0
        return min(hopeful, key=lambda i: float(np.linalg.norm(balls.positions[i] - hand)))

    def carry(self, joints: Any, balls: Balls, dt: float) -> Balls:
        """The ball in the hand goes where the hand goes."""
        if self.state != CARRY or self.ball is None:
            return balls
        along = joints[-1] - joints[-2]
        grip = along / np.linalg.norm(along) * balls.radii[self.ball]
        self._offset = grip + (self._offset - grip) * 0.5 ** (dt / EASE)
        return balls.move(self.ball, joints[-1] + self._offset, dt)


def _from_above(hand: Any, ball: Any) -> Any:
    """The way to a ball: over it, then down, so that the arm keeps off the floor."""
    aside = float(np.linalg.norm((hand - ball)[[0, 2]]))
    return ball + (0.0, HOVER * min(1.0, max(aside - NEAR, 0.0) / NEAR), 0.0)


def _up_first(hand: Any, over: Any) -> Any:
    """The way to a bin: up, then across, so that a ball is lifted over the rim and not pushed through the wall."""
    aside = float(np.linalg.norm((hand - over)[[0, 2]]))
    if hand[1] < over[1] - 0.5 * NEAR and aside > BIN_HALF[0]:
        return np.array((hand[0], over[1] + NEAR, hand[2]))
    return over
