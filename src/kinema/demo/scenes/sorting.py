"""`Sorter`: decides which ball the arm takes next, where to carry it, and when to release it."""

from typing import Any

import numpy as np

from kinema.physics import Balls

SEEK, CARRY, ALL_SORTED = "seek", "carry", "all sorted"

BIN_CENTRES = np.array(((-0.85, 0.0, -0.95), (0.85, 0.0, -0.95)))
"""(2, 3): centre of each bin's floor, one bin per kind."""
BIN_HALF = np.array((0.36, 0.36, 0.36))
"""Half width, height, half depth of a bin."""
WALL = 0.025
"""Thickness of a bin's walls, m."""
ABOVE = 0.75
"""Height from which a ball is dropped, m: well above a bin's rim."""
GRASP = 1.6
"""Distance from a ball's centre at which the hand takes it, in radii."""
HOVER = 0.4
"""Height above a ball at which the hand approaches it, m."""
NEAR = 0.15
"""Horizontal distance from a ball at which the hand is down; at twice this distance it is still high, m."""
OVER = 0.12
"""Distance from the point above a bin at which the hand releases a ball, m."""
TOO_FAST = 2.5
"""Speed above which a ball is left alone, m/s."""
EASE = 0.12
"""Half-life of a ball's movement from where it was taken to the hand, s."""
PATIENCE = 5.0
"""Seconds after which the arm tries another ball."""
REST = 2.0
"""Seconds between the last ball and the next round."""


def bin_boxes(kind: int) -> Any:
    """Return (5, 2, 3): the boxes of a bin's floor and four walls."""
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
    """Return (B,): the bin that each ball is in, or -1. height: up to which it counts, m; default the rim."""
    result = np.full(len(positions), -1)
    for kind, centre in enumerate(BIN_CENTRES):
        away = np.abs(positions - centre)
        inside = (away[:, 0] < BIN_HALF[0]) & (away[:, 2] < BIN_HALF[2]) & (positions[:, 1] < height)
        result[inside] = kind
    return result


class Sorter:
    """The state of the arm's task."""

    def __init__(self) -> None:
        self.state = SEEK
        self.ball: int | None = None
        self._offset = np.zeros(3)
        self._tried = 0.0
        self._given_up: set[int] = set()
        self._idle = 0.0

    def lose(self, ball: int) -> None:
        """Forget a ball that the user took or that was removed."""
        if self.ball == ball:
            self.ball, self.state = None, SEEK

    def waited(self, dt: float) -> bool:
        """Return whether the pause after the last ball is over."""
        self._idle += dt
        return self._idle >= REST

    def decide(self, joints: Any, balls: Balls, kinds: Any, taken: int | None, dt: float) -> tuple[Balls, Any]:
        """Return the balls, one of them perhaps held or released, and the hand's goal (3,)."""
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
        """Return the balls with the carried one released."""
        ball = self.ball if self.state == CARRY else None
        self.ball, self.state = None, SEEK
        return balls.release(ball, (0.0, 0.0, 0.0)) if ball is not None else balls

    def _choose(self, hand: Any, balls: Balls, kinds: Any, taken: int | None, dt: float) -> int | None:
        """Return the nearest ball that is not in its bin; the same one as long as it can be reached."""
        waiting = kind_of_bin(balls.positions, 2.0 * ABOVE) != kinds  # A ball above its bin is falling into it.
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
        """Move the held ball with the hand."""
        if self.state != CARRY or self.ball is None:
            return balls
        along = joints[-1] - joints[-2]
        grip = along / np.linalg.norm(along) * balls.radii[self.ball]
        self._offset = grip + (self._offset - grip) * 0.5 ** (dt / EASE)
        return balls.move(self.ball, joints[-1] + self._offset, dt)


def _from_above(hand: Any, ball: Any) -> Any:
    """Approach a ball from above, so that the arm stays off the floor."""
    aside = float(np.linalg.norm((hand - ball)[[0, 2]]))
    return ball + (0.0, HOVER * min(1.0, max(aside - NEAR, 0.0) / NEAR), 0.0)


def _up_first(hand: Any, over: Any) -> Any:
    """Move up before moving across to a bin, so that the ball is lifted over the rim."""
    aside = float(np.linalg.norm((hand - over)[[0, 2]]))
    if hand[1] < over[1] - 0.5 * NEAR and aside > BIN_HALF[0]:
        return np.array((hand[0], over[1] + NEAR, hand[2]))
    return over
