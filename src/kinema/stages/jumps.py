"""Smooth jumps of a goal: a goal that moves is followed at once, a jump becomes an offset that decays.

A spring reduces the offset to zero. The output is the goal plus the offset, so the output never jumps.
"""

from __future__ import annotations

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.math import quat, vec
from kinema.math.rows import load3, store3
from kinema.stages.axes import settle

JUMP = 3.0
"""Multiple of the speed up to which a goal is followed at once, from which a step counts entirely as a jump."""

OFFSET = Record(value=(REAL, 3), velocity=(REAL, 3))
"""The decaying offset of jumps, and its velocity."""


@kernel
def followed(step, most):
    """The share of a step that is followed at once: 1 up to `most`, less for longer steps, 0 for a jump."""
    one = like(step, 1.0)
    end = most * like(step, JUMP)
    if step <= most:
        return one
    return (end - step) / (end - most) if step < end else like(step, 0.0)


@kernel
def settle3(x, velocity, half_life, dt):
    """Step three springs towards zero. Returns the vector and its velocity."""
    zero = like(dt, 0.0)
    x0, v0 = settle(x[0], velocity[0], zero, half_life, dt)
    x1, v1 = settle(x[1], velocity[1], zero, half_life, dt)
    x2, v2 = settle(x[2], velocity[2], zero, half_life, dt)
    return (x0, x1, x2), (v0, v1, v2)


@routine
def step_offset(offset, jump, begun, half_life, dt):
    """Add a jump to an `OFFSET` and ease it by a frame; zero if nothing had begun. Returns whether it moves."""
    zero = like(dt, 0.0)
    none = (zero, zero, zero)
    x = vec.select(begun, vec.add(load3(offset.value), jump), none)
    x, velocity = settle3(x, vec.select(begun, load3(offset.velocity), none), half_life, dt)
    store3(offset.value, x)
    store3(offset.velocity, velocity)
    return (vec.span(x) != zero) | (vec.span(velocity) != zero)


@routine
def step_rotation_offset(offset, jump, begun, half_life, dt):
    """Add a jump to the `OFFSET` of a rotation, a rotation vector, and ease it likewise. Returns whether it moves.

    jump: the rotation vector from the new goal back to the last one.
    """
    value = load3(offset.value)
    whole = quat.to_vector(quat.mul(quat.exp(value), quat.exp(jump)))
    return step_offset(offset, vec.sub(whole, value), begun, half_life, dt)
