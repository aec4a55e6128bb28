"""What balls do to each other and to walls where they meet: blows, friction, and lying still.

Impulses are equal and opposite, and no blow adds energy. All in float64. `n` is a unit normal that points from what is
met to the ball.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema._jit import kernel, routine
from kinema.math import vec
from kinema.world.sweep import FIXED, INVERSE, VELOCITY, get, put


class Laws(NamedTuple):
    """What holds for every ball."""

    gravity: Any
    """Three numbers, m/s^2."""
    drag: float
    """1/s"""
    restitution: float
    friction: float
    rest_speed: float
    """m/s: a slower blow does not bounce."""


@kernel
def slowed(v, square):
    """A velocity with at most this square: where rounding, or a support that moved, left it more than it fell for."""
    now = vec.dot(v, v)
    if now <= square:
        return v
    return vec.scale(v, math.sqrt(square / now)) if square > 0.0 else (0.0, 0.0, 0.0)


@kernel
def rub(v, i, j, n, impulse, balls, laws):
    """Friction between ball i, of velocity v, and what it touches, under an impulse along n. Returns i's velocity, and
    what share of the friction was not needed: it stops sliding, never more than that.
    """
    fixed = j == FIXED
    other = 0.0 if fixed else balls[j, INVERSE]
    theirs = (0.0, 0.0, 0.0) if fixed else get(balls, j, VELOCITY)
    slip = vec.reject(vec.sub(v, theirs), n)
    speed = vec.length(slip)
    mine = balls[i, INVERSE]
    most = laws.friction * impulse * (mine + other)
    sticks = most >= speed
    share = (1.0 if sticks else most / speed) / (mine + other)
    if other > 0.0:
        put(balls, j, VELOCITY, vec.add(theirs, vec.scale(slip, share * other)))
    return vec.sub(v, vec.scale(slip, share * mine)), 1.0 - speed / most if sticks and most > 0.0 else 0.0


@routine
def strike(v, i, j, n, balls, laws):
    """The blow between ball i, of velocity v, and what it touches. Returns i's velocity, and how fast they parted
    before it; below 0 they met.
    """
    fixed = j == FIXED
    other = 0.0 if fixed else balls[j, INVERSE]
    theirs = (0.0, 0.0, 0.0) if fixed else get(balls, j, VELOCITY)
    parting = vec.dot(vec.sub(v, theirs), n)
    if parting >= 0.0:
        return v, parting
    bounce = laws.restitution if -parting > laws.rest_speed else 0.0
    mine = balls[i, INVERSE]
    impulse = -(1.0 + bounce) * parting / (mine + other)
    if other > 0.0:
        put(balls, j, VELOCITY, vec.sub(theirs, vec.scale(n, impulse * other)))
    after, _ = rub(vec.add(v, vec.scale(n, impulse * mine)), i, j, n, impulse, balls, laws)
    return after, parting


@kernel
def leads_into(v, a, time, n):
    """Whether a ball of this velocity and acceleration comes back, within the time, to the surface it touches."""
    return vec.dot(v, n) + 0.5 * time * vec.dot(a, n) < 0.0


@kernel
def settle(v, a, time, n, old, on_old):
    """The velocity and acceleration that a ball keeps which comes to lie on surface n: along the surface, or along its
    crease with the one it lies on already.
    """
    slide, pull = vec.reject(v, n), vec.reject(a, n)
    if not (on_old and leads_into(slide, pull, time, old)):
        return slide, pull
    crease = vec.unit_or(vec.cross(old, n), (0.0, 0.0, 0.0))
    return vec.scale(crease, vec.dot(v, crease)), vec.scale(crease, vec.dot(a, crease))


@kernel
def grip(v, a, i, j, n, time, balls, laws):
    """Friction of a ball that lies on a surface, over the time left: first against its sliding, then what is left of it
    against the pull along the surface. Returns velocity and acceleration.
    """
    weight = -vec.dot(laws.gravity, n)
    if weight <= 0.0:
        return v, a
    v, spare = rub(v, i, j, n, weight * time / balls[i, INVERSE], balls, laws)
    if spare > 0.0 and j == FIXED:
        v = (0.0, 0.0, 0.0)
    pull = vec.length(a)
    held = laws.friction * weight * spare
    return v, vec.scale(a, 1.0 - held / pull if pull > held else 0.0)


@routine
def touch(v, i, j, n, time, balls, laws, old, on_old):
    """What meeting j does to ball i, of velocity v, over the time left.

    `old`, `on_old`: the surface it came to lie on last in this substep, if it lies on one. Returns velocity and
    acceleration, these two, and whether it can go on: not where it follows a ball that is on its way.
    """
    v, parting = strike(v, i, j, n, balls, laws)
    inward = -vec.dot(v, n)
    if inward > 0.0 and (parting >= 0.0 or inward > laws.rest_speed):
        return v, laws.gravity, old, on_old, False
    if not leads_into(v, laws.gravity, time, n):
        return v, laws.gravity, old, False, True
    v, a = settle(v, laws.gravity, time, n, old, on_old)
    v, a = grip(v, a, i, j, n, time, balls, laws)
    return v, a, n, True, True
