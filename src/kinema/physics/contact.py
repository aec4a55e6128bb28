"""What balls do to each other and to walls where they touch: impacts, friction, and rest.

Impulses are equal and opposite, and no impact adds energy. Normals `n` are unit vectors from the obstacle to the ball.
`j` is what ball `i` touches: FIXED, or the index of another ball.
"""

import math
from typing import Any, NamedTuple

from kinema.compile.jit import kernel, routine
from kinema.math import vec
from kinema.math.rows import load3, store3
from kinema.physics.state import FIXED


class Support(NamedTuple):
    """The surface that a ball came to lie on last in this substep."""

    normal: Any
    """Three numbers."""
    lying: bool
    """Whether it lies on one."""


@kernel
def slowed(v, square):
    """Return a velocity whose square is at most this: where rounding or a moving support left it too fast."""
    now = vec.dot(v, v)
    if now <= square:
        return v
    return vec.scale(v, math.sqrt(square / now)) if square > 0.0 else (0.0, 0.0, 0.0)


@kernel
def rub(v, i, j, n, impulse, scene):
    """Apply friction between ball i, of velocity v, and what it touches, under an impulse along n.

    Returns i's velocity, and the fraction of the friction that was not needed: friction stops sliding, no more.
    """
    balls, fixed = scene.balls, j == FIXED
    other = 0.0 if fixed else balls[j].inverse_mass
    theirs = (0.0, 0.0, 0.0) if fixed else load3(balls[j].velocity)
    slip = vec.reject(vec.sub(v, theirs), n)
    speed = vec.length(slip)
    mine = balls[i].inverse_mass
    most = scene.laws.friction * impulse * (mine + other)
    sticks = most >= speed
    share = (1.0 if sticks else most / speed) / (mine + other)
    if other > 0.0:
        store3(balls[j].velocity, vec.add(theirs, vec.scale(slip, share * other)))
    return vec.sub(v, vec.scale(slip, share * mine)), 1.0 - speed / most if sticks and most > 0.0 else 0.0


@routine
def strike(v, i, j, n, scene):
    """Apply the impact between ball i, of velocity v, and what it touches.

    Returns i's velocity, and how fast the two moved apart before the impact; negative if they met.
    """
    balls, fixed = scene.balls, j == FIXED
    other = 0.0 if fixed else balls[j].inverse_mass
    theirs = (0.0, 0.0, 0.0) if fixed else load3(balls[j].velocity)
    parting = vec.dot(vec.sub(v, theirs), n)
    if parting >= 0.0:
        return v, parting
    bounce = scene.laws.restitution if -parting > scene.laws.rest_speed else 0.0
    mine = balls[i].inverse_mass
    impulse = -(1.0 + bounce) * parting / (mine + other)
    if other > 0.0:
        store3(balls[j].velocity, vec.sub(theirs, vec.scale(n, impulse * other)))
    after, _ = rub(vec.add(v, vec.scale(n, impulse * mine)), i, j, n, impulse, scene)
    return after, parting


@kernel
def leads_into(v, a, time, n):
    """Return whether a ball of this velocity and acceleration returns to the surface it touches within the time."""
    return vec.dot(v, n) + 0.5 * time * vec.dot(a, n) < 0.0


@kernel
def settle(v, a, time, n, support):
    """Return the velocity and acceleration of a ball that comes to lie on a surface.

    They lead along the surface, or along its crease with the surface that the ball already lies on.
    """
    slide, pull = vec.reject(v, n), vec.reject(a, n)
    if not (support.lying and leads_into(slide, pull, time, support.normal)):
        return slide, pull
    crease = vec.unit_or(vec.cross(support.normal, n), (0.0, 0.0, 0.0))
    return vec.scale(crease, vec.dot(v, crease)), vec.scale(crease, vec.dot(a, crease))


@kernel
def grip(v, a, i, j, n, time, scene):
    """Apply friction to a ball that lies on a surface, over the remaining time.

    It first slows the sliding; what remains of it resists the pull along the surface. Returns velocity and
    acceleration.
    """
    weight = -vec.dot(scene.laws.gravity, n)
    if weight <= 0.0:
        return v, a
    v, spare = rub(v, i, j, n, weight * time / scene.balls[i].inverse_mass, scene)
    if spare > 0.0 and j == FIXED:
        v = (0.0, 0.0, 0.0)
    pull = vec.length(a)
    held = scene.laws.friction * weight * spare
    return v, vec.scale(a, 1.0 - held / pull if pull > held else 0.0)


@routine
def touch(v, i, j, n, time, support, scene):
    """Let ball i, of velocity v, meet j, with this much time remaining.

    Returns velocity, acceleration, the new support, and whether the ball can go on in this substep: it cannot where it
    follows a ball that is moving away.
    """
    gravity = scene.laws.gravity
    v, parting = strike(v, i, j, n, scene)
    inward = -vec.dot(v, n)
    if inward > 0.0 and (parting >= 0.0 or inward > scene.laws.rest_speed):
        return v, gravity, support, False
    if not leads_into(v, gravity, time, n):
        return v, gravity, Support(support.normal, False), True
    v, a = settle(v, gravity, time, n, support)
    v, a = grip(v, a, i, j, n, time, scene)
    return v, a, Support(n, True), True
