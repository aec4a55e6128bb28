"""Switching from one movement to another without a jump: the old one's inertia, decaying on top of the new one.

At the switch the difference between what is shown and the new movement is taken, and how fast it changes; from then on
only the new movement is sampled, and the difference runs out as a critically damped spring. A switch in the middle of
another takes the difference from what is shown then.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch, kernel, like
from kinema.constants import FADE_HALF_LIVES, FADE_OVER, FADE_PROBE, THREADS_FROM_POSES
from kinema.math import quat, spring, vec


class Motion(NamedTuple):
    """How some characters move."""

    now: Any
    """(n, J, 10): translation, rotation, scale of every joint."""
    other: Any
    """The same a probe's time earlier, or later."""
    step: Any
    """(n,): 1 where the other one is earlier, -1 where it is later, 0 where the character stands still."""


@kernel
def turn_at(r, i, j, c):
    """A rotation out of (characters, joints, n), from column c on."""
    return (r[i, j, c], r[i, j, c + 1], r[i, j, c + 2], r[i, j, c + 3])


@kernel
def turn_of(v):
    """The turn of a rotation vector: its axis times its angle."""
    half = like(v[0], 0.5)
    angle = vec.length(v)
    known = angle > like(v[0], 0.0)
    k = math.sin(half * angle) / angle if known else half
    return (v[0] * k, v[1] * k, v[2] * k, math.cos(half * angle))


@kernel
def vector_of(q):
    """The rotation vector of a turn, of less than a whole one."""
    sine = vec.length((q[0], q[1], q[2]))
    two = like(q[0], 2.0)
    k = two * math.atan2(sine, q[3]) / sine if sine > like(q[0], 0.0) else two
    return (q[0] * k, q[1] * k, q[2] * k)


@kernel
def same_side(q, reference):
    """q or -q, the same turn: whichever is nearer."""
    sign = like(q[0], 1.0) if quat.dot(q, reference) >= like(q[0], 0.0) else like(q[0], -1.0)
    return (q[0] * sign, q[1] * sign, q[2] * sign, q[3] * sign)


@kernel
def earlier(now, other, step):
    """A rotation a probe's time before now, from one before (step 1) or, carried on backwards, from one after (-1)."""
    zero = like(now[0], 0.0)
    if step > zero:
        return other
    if step < zero:
        return quat.mul(quat.mul(now, quat.conj(other)), now)
    return now


@batch
def differences(old, old_other, old_step, new, new_other, new_step, offset, speed):
    """From new poses to what is shown, that is old poses with an offset; both (n, J, 9), changed in place.

    An offset is a translation, a rotation vector in the parent's space, and a scale; the speed is its change a second.
    """
    probe = like(offset[0, 0, 0], FADE_PROBE)
    zero, one = like(probe, 0.0), like(probe, 1.0)
    for i in range(offset.shape[0]):
        for j in range(offset.shape[1]):
            for c in (0, 1, 2, 7, 8, 9):
                to = c if c < 3 else c - 1
                gone = (old[i, j, c] - old_other[i, j, c]) * old_step[i]
                gone -= (new[i, j, c] - new_other[i, j, c]) * new_step[i]
                offset[i, j, to] += old[i, j, c] - new[i, j, c]
                speed[i, j, to] += gone / probe
            x = (offset[i, j, 3], offset[i, j, 4], offset[i, j, 5])
            v = (speed[i, j, 3], speed[i, j, 4], speed[i, j, 5])
            was, goal = turn_at(old, i, j, 3), turn_at(new, i, j, 3)
            was_before = earlier(was, turn_at(old_other, i, j, 3), old_step[i])
            goal_before = earlier(goal, turn_at(new_other, i, j, 3), new_step[i])
            shown = quat.mul(turn_of(x), was)
            shown_before = quat.mul(turn_of(vec.sub(x, vec.scale(v, probe))), was_before)
            gap = same_side(quat.mul(shown, quat.conj(goal)), (zero, zero, zero, one))
            gap_before = same_side(quat.mul(shown_before, quat.conj(goal_before)), gap)
            x = vector_of(gap)
            v = vec.scale(vec.sub(x, vector_of(gap_before)), one / probe)
            for c in range(3):
                offset[i, j, 3 + c] = x[c]
                speed[i, j, 3 + c] = v[c]


@batch
def run_out(rows, half_lives, dt, offset, speed, t, r, s):
    """Let the offsets of some characters decay for dt seconds, and add them to their poses; all in place."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    for n in range(rows.size):
        i = rows[n]
        # The spring is linear: what it makes of an offset of 1 and of a speed of 1 is all there is to know.
        xx, vx = spring.critical(one, zero, zero, half_lives[i], dt)
        xv, vv = spring.critical(zero, one, zero, half_lives[i], dt)
        for j in range(offset.shape[1]):
            for c in range(9):
                was, going = offset[i, j, c], speed[i, j, c]
                offset[i, j, c] = xx * was + xv * going
                speed[i, j, c] = vx * was + vv * going
            for c in range(3):
                t[i, j, c] += offset[i, j, c]
                s[i, j, c] += offset[i, j, 6 + c]
            x = (offset[i, j, 3], offset[i, j, 4], offset[i, j, 5])
            if vec.span(x) > zero:
                q = quat.unit(quat.mul(turn_of(x), turn_at(r, i, j, 0)))
                for c in range(4):
                    r[i, j, c] = q[c]


class Inertia:
    """What is left of old movements, for every character."""

    def __init__(self, count: int, joints: int, dtype: Any) -> None:
        self._shape = (count, joints, 9)
        self._dtype = dtype
        self._offset: Any = None  # Made at the first switch: most characters never have one.
        self._speed: Any = None
        self._half_life = np.zeros(count, dtype)
        self._left = np.zeros(count)

    @property
    def active(self) -> Any:
        """(characters,): of whom something is left."""
        return self._left > 0.0

    def stop(self, rows: Any) -> None:
        self._left[rows] = 0.0

    def switch(self, rows: Any, old: Motion, new: Motion, fade: float) -> None:
        """Take the difference of two motions of these characters, to be gone after `fade` seconds."""
        if self._offset is None:
            self._offset, self._speed = np.zeros(self._shape, self._dtype), np.zeros(self._shape, self._dtype)
        fresh = rows[~self.active[rows]]
        self._offset[fresh], self._speed[fresh] = 0.0, 0.0
        offset, speed = self._offset[rows], self._speed[rows]
        differences(*old, *new, offset, speed)
        self._offset[rows], self._speed[rows] = offset, speed
        self._half_life[rows] = fade / FADE_HALF_LIVES
        self._left[rows] = fade * FADE_OVER

    def apply(self, rows: Any, dt: float, t: Any, r: Any, s: Any) -> None:
        """Add what is left after dt more seconds to some rows of t, r, s, (N, J, 3|4|3)."""
        busy = rows[self.active[rows]]
        self._left[busy] = np.maximum(self._left[busy] - dt, 0.0)
        busy = busy[self._left[busy] > 0.0]
        if not busy.size:
            return
        seconds = self._dtype(dt)
        validation.in_chunks(
            lambda first, last: run_out(busy[first:last], self._half_life, seconds, self._offset, self._speed, t, r, s),
            busy.size,
            THREADS_FROM_POSES,
            1,
        )
