"""Exact springs and dampers tuned by half-life: any step size gives the same curve, none overshoots or explodes."""

import math

from kinema._jit import kernel, like
from kinema.constants import CRITICAL_HALF, LN2, SHORTEST_HALF_LIFE


@kernel
def decay(half_life, dt):
    """Share of a distance that is left after dt; 0 at once for a half-life of 0."""
    zero = like(dt, 0.0)
    known = half_life > like(dt, SHORTEST_HALF_LIFE)
    return math.exp(-like(dt, LN2) * dt / half_life) if known else (zero if dt > zero else like(dt, 1.0))


@kernel
def damp(x, goal, half_life, dt):
    """x drawn to the goal: half the distance is gone after one half-life."""
    return goal + (x - goal) * decay(half_life, dt)


@kernel
def critical(x, velocity, goal, half_life, dt):
    """A critically damped spring: the fastest way to the goal without passing it, velocity kept continuous.

    Solves x'' = -2 y x' - y^2 (x - goal) exactly over dt, with the rate y at which a spring let go from rest is half
    way after one half-life. Returns x and its velocity.
    """
    zero = like(dt, 0.0)
    if half_life <= like(dt, SHORTEST_HALF_LIFE):
        return (goal, zero) if dt > zero else (x, velocity)
    y = like(dt, CRITICAL_HALF) / half_life
    offset = x - goal
    drive = velocity + offset * y
    left = math.exp(-y * dt)
    return (goal + left * (offset + drive * dt), left * (velocity - drive * y * dt))
