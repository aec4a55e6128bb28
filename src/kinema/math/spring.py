"""Springs and dampers tuned by half-life, integrated exactly: the curve does not depend on the step size.

They are stable for every step size and do not overshoot.
"""

import math

from kinema.compile.jit import kernel, like
from kinema.constants import CRITICAL_HALF, LN2, SHORTEST_HALF_LIFE


@kernel
def decay(half_life, dt):
    """The share of a distance that is left after dt; 0 for a half-life of 0."""
    zero = like(dt, 0.0)
    known = half_life > like(dt, SHORTEST_HALF_LIFE)
    return math.exp(-like(dt, LN2) * dt / half_life) if known else (zero if dt > zero else like(dt, 1.0))


@kernel
def damp(x, goal, half_life, dt):
    """Move x towards the goal: half the distance after one half-life."""
    return goal + (x - goal) * decay(half_life, dt)


@kernel
def critical(x, velocity, goal, half_life, dt):
    """Step a critically damped spring: the fastest approach to the goal without overshoot, at continuous velocity.

    Solves x'' = -2 y x' - y^2 (x - goal) exactly over dt. The rate y is such that a spring released at rest covers half
    the distance in one half-life. Returns x and its velocity.
    """
    zero = like(dt, 0.0)
    if half_life <= like(dt, SHORTEST_HALF_LIFE):
        return (goal, zero) if dt > zero else (x, velocity)
    y = like(dt, CRITICAL_HALF) / half_life
    offset = x - goal
    drive = velocity + offset * y
    left = math.exp(-y * dt)
    return (goal + left * (offset + drive * dt), left * (velocity - drive * y * dt))
