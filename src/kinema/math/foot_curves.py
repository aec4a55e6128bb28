"""Curves that a foot moves along: minimum-jerk motions, planned anew in every frame from where the foot is."""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like


class FootMotion(NamedTuple):
    """A value with its speed and acceleration."""

    value: Any
    speed: Any
    acceleration: Any


@kernel
def minimum_jerk(share):
    """How far a smooth motion from rest to rest has come after a share of its time, 0 to 1."""
    zero, one = like(share, 0.0), like(share, 1.0)
    s = min(max(share, zero), one)
    return s * s * s * (like(one, 10.0) + s * (s * like(one, 6.0) - like(one, 15.0)))


@kernel
def faded_out(value, start, width):
    """1 up to a value, 0 from so much more on."""
    zero, one = like(value, 0.0), like(value, 1.0)
    return one - min(max((value - start) / width, zero), one)


@kernel
def planned(motion, goal, goal_speed, seconds, t):
    """The smoothest motion (minimum jerk) to a goal in so many seconds, t on; it arrives without acceleration.

    Planned anew on the way it stays the same curve. Where the goal moves, value, speed and acceleration do not jump.
    """
    zero, one = like(t, 0.0), like(t, 1.0)
    if t >= seconds:
        return FootMotion(goal, goal_speed, zero)
    u = t / seconds
    way, v, w = goal - motion.value, motion.speed * seconds, goal_speed * seconds
    a = motion.acceleration * seconds * seconds
    c3 = like(one, 10.0) * way - like(one, 6.0) * v - like(one, 4.0) * w - like(one, 1.5) * a
    c4 = like(one, -15.0) * way + like(one, 8.0) * v + like(one, 7.0) * w + like(one, 1.5) * a
    c5 = like(one, 6.0) * way - like(one, 3.0) * (v + w) - like(one, 0.5) * a
    value = motion.value + u * (v + u * (like(one, 0.5) * a + u * (c3 + u * (c4 + u * c5))))
    speed = v + u * (a + u * (like(one, 3.0) * c3 + u * (like(one, 4.0) * c4 + u * like(one, 5.0) * c5)))
    bend = a + u * (like(one, 6.0) * c3 + u * (like(one, 12.0) * c4 + u * like(one, 20.0) * c5))
    return FootMotion(value, speed / seconds, bend / (seconds * seconds))


@kernel
def settled(motion, goal, near):
    """A motion, brought to rest at its goal where it is as good as there."""
    zero = like(near, 0.0)
    there = (abs(motion.value - goal) < near) & (abs(motion.speed) < near)
    return FootMotion(
        goal if there else motion.value, zero if there else motion.speed, zero if there else motion.acceleration
    )
