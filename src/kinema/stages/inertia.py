"""Inertialization: switch from one motion to another without a jump, as in Bollo's talk of 2018.

At the switch, the difference between the shown pose and the new motion is stored, with its rate of change. From then on
only the new motion is sampled, and the difference decays as a critically damped spring. A switch during another one
starts from the pose shown at that time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import quat, spring, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.stages.stage import Crowd, FrameContext, LocalEdit

FADE_HALF_LIVES = 4.0
"""Half-lives in a fade: 1% of the way from the old motion to the new one is left at its end."""

FADE_OVER = 4.0
"""Fades after which the offsets are dropped (a share of 6e-11 is left), and the new clip is shown bit for bit."""

FADE_PROBE = 1.0 / 120.0
"""Seconds over which the speed of a clip is measured at a switch: half a frame."""

OFFSET = Record(
    translation=(REAL, 3),
    rotation=(REAL, 3),
    scale=(REAL, 3),
    translation_rate=(REAL, 3),
    rotation_rate=(REAL, 3),
    scale_rate=(REAL, 3),
)
"""The offset of one joint from the new motion: a translation, a rotation vector in the parent's space, a scale; and the
rate of each per second."""

FADE = Record(half_life=REAL, left=np.float64)
"""One character's crossfade: the half-life of its offsets, and the seconds until they are dropped."""


class Transforms(NamedTuple):
    """Local transforms of some characters' joints."""

    t: Any
    """(n, J, 3): translations."""
    r: Any
    """(n, J, 4): rotations."""
    s: Any
    """(n, J, 3): scales."""


class JointMotion(NamedTuple):
    """The motion of some characters."""

    now: Transforms
    """Their current poses."""
    other: Transforms
    """Their poses FADE_PROBE seconds earlier or later."""
    step: Any
    """(n,): 1 if the other pose is earlier, -1 if it is later, 0 if the character does not move."""


@kernel
def earlier(now, other, step):
    """The rotation FADE_PROBE seconds ago: given (step 1), or extrapolated from a later one (step -1)."""
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
    """Set a joint's rotation offset from the new motion to the shown one: the old motion plus the current offset."""
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


@kernel
def take_difference(old, new, o, i, j):
    """Set the offset of one joint from a new motion to the shown one: the old motion plus the current offset."""
    parts = (old.now.t, old.other.t, old.step), (new.now.t, new.other.t, new.step)
    vector_offset(parts[0], parts[1], o.translation, o.translation_rate, i, j)
    parts = (old.now.s, old.other.s, old.step), (new.now.s, new.other.s, new.step)
    vector_offset(parts[0], parts[1], o.scale, o.scale_rate, i, j)
    rotation_offset(old, new, o, i, j)


@batch
def take_differences(old, new, offsets):
    """Set the offsets, (n, J), from new motions to the shown ones: the old motions plus the current offsets."""
    for i in range(offsets.shape[0]):
        for j in range(offsets.shape[1]):
            take_difference(old, new, offsets[i, j], i, j)


@kernel
def spring_on(offset, rate, spring_of_one):
    """Step an offset by a spring.

    The spring is linear, so its response to an offset of 1 and to a rate of 1 is enough.
    """
    xx, vx, xv, vv = spring_of_one
    for c in range(3):
        was, going = offset[c], rate[c]
        offset[c] = xx * was + xv * going
        rate[c] = vx * was + vv * going


@kernel
def response_of_one(half_life, dt):
    """How the springs of a crossfade respond to an offset of 1, and to a rate of 1: value and rate each."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    xx, vx = spring.critical(one, zero, zero, half_life, dt)
    xv, vv = spring.critical(zero, one, zero, half_life, dt)
    return (xx, vx, xv, vv)


@kernel
def run_out_joint(o, spring_of_one, t, r, s):
    """Decay the offset of one joint, and add it to the rows of its local transform, in place."""
    spring_on(o.translation, o.translation_rate, spring_of_one)
    spring_on(o.rotation, o.rotation_rate, spring_of_one)
    spring_on(o.scale, o.scale_rate, spring_of_one)
    store3(t, vec.add(load3(t), load3(o.translation)))
    store3(s, vec.add(load3(s), load3(o.scale)))
    x = load3(o.rotation)
    if vec.span(x) > like(x[0], 0.0):
        store4(r, quat.unit(quat.mul(quat.exp(x), load4(r))))


@batch
def run_out(rows, fades, offsets, dt, t, r, s):
    """Decay the offsets of some characters by dt seconds, and add them to their poses, in place."""
    for n in range(rows.size):
        i = rows[n]
        spring_of_one = response_of_one(fades[i].half_life, dt)
        for j in range(offsets.shape[1]):
            run_out_joint(offsets[i, j], spring_of_one, t[i, j], r[i, j], s[i, j])


class Inertia:
    """The decaying offsets of old motions, for every character."""

    any_active: bool

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._fades = FADE.zeros(crowd.count, crowd.precision)
        self._left = self._fades.left
        self._offsets: Any = None  # Allocated at the first crossfade, which many characters never have.
        self.any_active = False
        """Whether any character has offsets."""

    @property
    def active(self) -> Any:
        """(N,): whether the character has offsets."""
        return self._left > 0.0

    def stop(self, rows: Any) -> None:
        """Drop the offsets of these characters."""
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
        """Decay the offsets by this frame's time and add them to the poses of the frame's rows."""
        if not self.any_active:
            return
        busy = context.rows[self.active[context.rows]]
        self._left[busy] = np.maximum(self._left[busy] - context.dt, 0.0)
        busy = busy[self._left[busy] > 0.0]
        self.any_active = bool(self.active.any())
        if busy.size:
            records, dt = kernel_views(self._fades, self._offsets), self._crowd.precision(context.dt)
            context.run(run_out, *records, dt, local.t, local.r, local.s, rows=busy)
