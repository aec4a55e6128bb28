"""Switch from one motion to another without a jump: the old motion's inertia decays on top of the new one.

At the switch the difference between what is shown and the new motion is taken, and how fast it changes. From then on
only the new motion is sampled, and the difference runs out as a critically damped spring. A switch in the middle of
another one starts from what is shown then. (Inertialization, as in Bollo's talk of 2018.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema._jit import batch, kernel, like
from kinema.behaviours.stage import Crowd, FrameContext, LocalEdit
from kinema.math import quat, spring, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.records import REAL, Record, kernel_views

FADE_HALF_LIVES = 4.0
"""Half-lives in a fade: 1% of the way from the old motion to the new one is left at its end."""

FADE_OVER = 4.0
"""Fades after which nothing is left of one (a share of 6e-11), and the new clip is shown bit for bit."""

FADE_PROBE = 1.0 / 120.0
"""Seconds over which the speed of a clip is measured where another one takes over: half a frame."""

OFFSET = Record(
    translation=(REAL, 3),
    rotation=(REAL, 3),
    scale=(REAL, 3),
    translation_rate=(REAL, 3),
    rotation_rate=(REAL, 3),
    scale_rate=(REAL, 3),
)
"""What is added to one joint of a new motion: a translation, a rotation vector in the parent's space, a scale; and how
each of them changes per second."""

FADE = Record(half_life=REAL, left=np.float64)
"""One character's crossfade: the half-life of its offsets, and the seconds until they are gone."""


class Transforms(NamedTuple):
    """Local transforms of some characters' joints."""

    t: Any
    """(n, J, 3): translations."""
    r: Any
    """(n, J, 4): rotations."""
    s: Any
    """(n, J, 3): scales."""


class JointMotion(NamedTuple):
    """How some characters move."""

    now: Transforms
    """Their poses."""
    other: Transforms
    """Their poses a probe's time earlier, or later."""
    step: Any
    """(n,): 1 where the other pose is earlier, -1 where it is later, 0 where the character stands still."""


@kernel
def earlier(now, other, step):
    """A rotation a probe's time before now, from one before (step 1) or, carried on backwards, from one after (-1)."""
    zero = like(now[0], 0.0)
    if step > zero:
        return other
    if step < zero:
        return quat.mul(quat.mul(now, quat.conj(other)), now)
    return now


@kernel
def vector_offset(old, new, offset, rate, i, j):
    """Add the difference of two motions' translations or scales to an offset. old, new: (now, other, step)."""
    probe = like(offset[0], FADE_PROBE)
    for c in range(3):
        gone = (old[0][i, j, c] - old[1][i, j, c]) * old[2][i]
        gone -= (new[0][i, j, c] - new[1][i, j, c]) * new[2][i]
        offset[c] += old[0][i, j, c] - new[0][i, j, c]
        rate[c] += gone / probe


@kernel
def rotation_offset(old, new, offset, i, j):
    """Make a joint's rotation offset lead from the new motion to what is shown: the old one with the offset so far."""
    was, goal = load4(old.now.r[i, j]), load4(new.now.r[i, j])
    zero, one = like(was[0], 0.0), like(was[0], 1.0)
    probe = like(was[0], FADE_PROBE)
    x, v = load3(offset.rotation), load3(offset.rotation_rate)
    was_before = earlier(was, load4(old.other.r[i, j]), old.step[i])
    goal_before = earlier(goal, load4(new.other.r[i, j]), new.step[i])
    shown = quat.mul(quat.exp(x), was)
    shown_before = quat.mul(quat.exp(vec.sub(x, vec.scale(v, probe))), was_before)
    gap = quat.same_hemisphere(quat.mul(shown, quat.conj(goal)), (zero, zero, zero, one))
    gap_before = quat.same_hemisphere(quat.mul(shown_before, quat.conj(goal_before)), gap)
    x = quat.log(gap)
    store3(offset.rotation, x)
    store3(offset.rotation_rate, vec.scale(vec.sub(x, quat.log(gap_before)), one / probe))


@batch
def take_differences(old, new, offsets):
    """Make offsets, (n, J), lead from new motions to what is shown: the old motions with the offsets so far."""
    for i in range(offsets.shape[0]):
        for j in range(offsets.shape[1]):
            o = offsets[i, j]
            parts = (old.now.t, old.other.t, old.step), (new.now.t, new.other.t, new.step)
            vector_offset(parts[0], parts[1], o.translation, o.translation_rate, i, j)
            parts = (old.now.s, old.other.s, old.step), (new.now.s, new.other.s, new.step)
            vector_offset(parts[0], parts[1], o.scale, o.scale_rate, i, j)
            rotation_offset(old, new, o, i, j)


@kernel
def spring_on(offset, rate, spring_of_one):
    """Move an offset on by a spring, which is linear: what it makes of an offset of 1 and a rate of 1 says it all."""
    xx, vx, xv, vv = spring_of_one
    for c in range(3):
        was, going = offset[c], rate[c]
        offset[c] = xx * was + xv * going
        rate[c] = vx * was + vv * going


@batch
def run_out(rows, fades, offsets, dt, t, r, s):
    """Let the offsets of some characters decay for dt seconds, and add them to their poses; all in place."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    for n in range(rows.size):
        i = rows[n]
        xx, vx = spring.critical(one, zero, zero, fades[i].half_life, dt)
        xv, vv = spring.critical(zero, one, zero, fades[i].half_life, dt)
        spring_of_one = (xx, vx, xv, vv)
        for j in range(offsets.shape[1]):
            o = offsets[i, j]
            spring_on(o.translation, o.translation_rate, spring_of_one)
            spring_on(o.rotation, o.rotation_rate, spring_of_one)
            spring_on(o.scale, o.scale_rate, spring_of_one)
            store3(t[i, j], vec.add(load3(t[i, j]), load3(o.translation)))
            store3(s[i, j], vec.add(load3(s[i, j]), load3(o.scale)))
            x = load3(o.rotation)
            if vec.span(x) > zero:
                store4(r[i, j], quat.unit(quat.mul(quat.exp(x), load4(r[i, j]))))


class Inertia:
    """What is left of old motions, for every character."""

    any_active: bool

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._fades = FADE.zeros(crowd.count, crowd.precision)
        self._left = self._fades.left
        self._offsets: Any = None  # Made at the first crossfade: most characters never have one.
        self.any_active = False
        """Whether something is left of anybody's old motion."""

    @property
    def active(self) -> Any:
        """(N,): whether something is left of the character's old motion."""
        return self._left > 0.0

    def stop(self, rows: Any) -> None:
        """Forget the old motions of these characters."""
        self._left[rows] = 0.0

    def switch(self, rows: Any, old: JointMotion, new: JointMotion, fade: float) -> None:
        """Crossfade these characters from one motion to another in `fade` seconds."""
        if self._offsets is None:
            self._offsets = OFFSET.zeros((self._crowd.count, len(self._crowd.skeleton)), self._crowd.precision)
        offsets = self._offsets[rows]
        offsets[~self.active[rows]] = np.zeros((), offsets.dtype)
        take_differences(old, new, *kernel_views(offsets))
        self._offsets[rows] = offsets
        self._fades.half_life[rows] = fade / FADE_HALF_LIVES
        self._left[rows] = fade * FADE_OVER
        self.any_active = True

    def apply(self, context: FrameContext, local: LocalEdit) -> None:
        """Add what is left after this frame's time to the poses of the frame's rows."""
        if not self.any_active:
            return
        busy = context.rows[self.active[context.rows]]
        self._left[busy] = np.maximum(self._left[busy] - context.dt, 0.0)
        busy = busy[self._left[busy] > 0.0]
        self.any_active = bool(self.active.any())
        if busy.size:
            records, dt = kernel_views(self._fades, self._offsets), self._crowd.precision(context.dt)
            context.run(run_out, *records, dt, local.t, local.r, local.s, rows=busy)
