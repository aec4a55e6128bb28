"""What the kernels of the ball physics work on: records of balls and boxes, and the laws that hold for all of them.

Everything is float64, in world space, in metres, seconds and kilograms.
"""

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.records import Record

BALL = Record(position=(np.float64, 3), velocity=(np.float64, 3), radius=np.float64, inverse_mass=np.float64)
"""A ball. inverse_mass: 1/kg; 0 for a ball that is held."""

BOX = Record(low=(np.float64, 3), high=(np.float64, 3))
"""A box between two corners. The first box of a scene is the room: balls stay inside it, and outside of the others."""

ROOM = 0
"""Index of the room among the boxes."""

NOTHING = -2
"""What a ball met: nothing."""

FIXED = -1
"""What a ball met: a wall of the room, or a box. 0 and above is the index of another ball."""

CONTACT_GAP = 1e-5
"""Fraction of its radius at which a ball stops short of an obstacle: far above rounding, far below a pixel. A ball
meets an obstacle only if it would get deeper than half of this, so that rounding never stops a ball that slides."""


class Laws(NamedTuple):
    """What holds for every ball."""

    gravity: Any
    """Three numbers, m/s^2."""
    drag: float
    """1/s."""
    restitution: float
    """Speed after a bounce divided by the speed before it."""
    friction: float
    """Friction coefficient."""
    rest_speed: float
    """m/s: a slower impact does not bounce."""


class BallScene(NamedTuple):
    """All that a kernel needs."""

    balls: Any
    """(N,) of `BALL`, changed in place."""
    boxes: Any
    """(1 + B,) of `BOX`: the room, then the boxes in it."""
    laws: Laws
