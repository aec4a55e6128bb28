"""Jumps made up for: a goal that moves is followed at once, one that jumps leaves an offset that a spring takes away.

What a character shows is its goal plus that offset, so nothing it shows ever jumps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema._jit import kernel, like, routine
from kinema.behaviours.gaze import settle as eased
from kinema.behaviours.inertia import same_side, turn_of, vector_of
from kinema.constants import JUMP
from kinema.math import quat


class Pace(NamedTuple):
    """half_life: seconds in which half of an offset is gone. speed: how fast a goal may move and be followed at once,
    in the offset's unit a second.
    """

    half_life: Any
    speed: Any


class Offsets(NamedTuple):
    """What is left of jumps, for every character."""

    values: Any
    """(N, n)"""
    velocity: Any
    """(N, n)"""
    moving: Any
    """(N,): set where one is not at rest."""


@kernel
def followed(step, most):
    """The share of a step that is made at once: all of it up to `most`, less of a longer one, nothing of a jump."""
    one = like(step, 1.0)
    end = most * like(step, JUMP)
    if step <= most:
        return one
    return (end - step) / (end - most) if step < end else like(step, 0.0)


@kernel
def offset_at(offsets, i, column):
    """Three numbers of a character's offsets."""
    return (offsets.values[i, column], offsets.values[i, column + 1], offsets.values[i, column + 2])


@routine
def put_offset(offsets, i, column, offset, begun, pace, dt):
    """Take an offset on its way to nothing, as one frame's step of springs; at rest where nothing had begun."""
    zero = like(dt, 0.0)
    for c in range(len(offset)):
        was = offset[c] if begun else zero
        velocity = offsets.velocity[i, column + c] if begun else zero
        x, velocity = eased(was, velocity, zero, pace.half_life, dt)
        offsets.values[i, column + c], offsets.velocity[i, column + c] = x, velocity
        offsets.moving[i] |= (x != zero) | (velocity != zero)


@routine
def put_turn(offsets, i, column, jump, begun, pace, dt):
    """The same for a rotation. jump: from the new goal back to the last, axis times angle. Returns the turn left."""
    none = (like(dt, 0.0), like(dt, 0.0), like(dt, 0.0), like(dt, 1.0))
    turn = quat.mul(turn_of(offset_at(offsets, i, column)), turn_of(jump))
    put_offset(offsets, i, column, vector_of(same_side(turn, none)), begun, pace, dt)
    return turn_of(offset_at(offsets, i, column))
