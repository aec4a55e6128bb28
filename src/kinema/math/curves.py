"""Curves of motion: how a share of the time becomes a share of the way, and motions that are planned anew every frame.

A motion that is planned anew on its way stays the same curve, at any frame rate. Where its goal moves, neither its
value nor its speed jumps. `arrays` has `minimum_jerk` and `smoothstep` for whole arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like

# --- shares ----------------------------------------------------------------------------------------------------


@kernel
def clamp_share(share):
    """A number moved into the range from 0 to 1."""
    return min(max(share, like(share, 0.0)), like(share, 1.0))


@kernel
def smoothstep(share):
    """Ease in and out: 0 to 1, with no slope at the ends."""
    s = clamp_share(share)
    return s * s * (like(s, 3.0) - s - s)


@kernel
def minimum_jerk(share):
    """Ease in and out with minimum jerk: 0 to 1, with neither slope nor curvature at the ends."""
    s = clamp_share(share)
    return s * s * s * (like(s, 10.0) + s * (s * like(s, 6.0) - like(s, 15.0)))


@kernel
def falloff(value, start, width):
    """1 up to a value, 0 from so much more on, a straight line between them."""
    return like(value, 1.0) - clamp_share((value - start) / width)


# --- motions ---------------------------------------------------------------------------------------------------


class Motion(NamedTuple):
    """A value with its speed and acceleration."""

    value: Any
    speed: Any
    acceleration: Any


@kernel
def step_cubic(x, speed, goal, seconds, dt):
    """Position and speed, dt on, of a point that comes to rest at its goal in a number of seconds.

    The path is a cubic Hermite curve.
    """
    one, two, three = like(dt, 1.0), like(dt, 2.0), like(dt, 3.0)
    if dt >= seconds:
        return (goal, like(dt, 0.0)) if dt > like(dt, 0.0) else (x, speed)
    u = dt / seconds
    way = goal - x
    at = x + way * u * u * (three - two * u) + speed * seconds * u * (one - u) * (one - u)
    rate = way * (u - u * u) * like(dt, 6.0) / seconds + speed * (one - u) * (one - three * u)
    return at, rate


@kernel
def step_quintic(motion, goal, goal_speed, seconds, dt):
    """A motion dt on, that comes to its goal in a number of seconds, at a speed and without acceleration.

    The path has minimum jerk: it is the quintic Hermite curve.
    """
    zero, one = like(dt, 0.0), like(dt, 1.0)
    if dt >= seconds:
        return Motion(goal, goal_speed, zero)
    u = dt / seconds
    way, v, w = goal - motion.value, motion.speed * seconds, goal_speed * seconds
    a = motion.acceleration * seconds * seconds
    c3 = like(one, 10.0) * way - like(one, 6.0) * v - like(one, 4.0) * w - like(one, 1.5) * a
    c4 = like(one, -15.0) * way + like(one, 8.0) * v + like(one, 7.0) * w + like(one, 1.5) * a
    c5 = like(one, 6.0) * way - like(one, 3.0) * (v + w) - like(one, 0.5) * a
    value = motion.value + u * (v + u * (like(one, 0.5) * a + u * (c3 + u * (c4 + u * c5))))
    speed = v + u * (a + u * (like(one, 3.0) * c3 + u * (like(one, 4.0) * c4 + u * like(one, 5.0) * c5)))
    bend = a + u * (like(one, 6.0) * c3 + u * (like(one, 12.0) * c4 + u * like(one, 20.0) * c5))
    return Motion(value, speed / seconds, bend / (seconds * seconds))


@kernel
def rest_at(motion, goal, near):
    """A motion, brought to rest at its goal where it is as good as there."""
    there = (abs(motion.value - goal) < near) & (abs(motion.speed) < near)
    zero = like(near, 0.0)
    return Motion(goal, zero, zero) if there else motion
