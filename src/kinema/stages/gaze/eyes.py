"""`Eyes`: each eye looks at the target from its own position, glances about it, and the lids blink.

Eyes are fast: they reach a new target within a twentieth of a second, long before the head. The spring eases only jumps
between targets, so the eyes stay exactly on a target while the head rotates.
Glances (saccades) are small angles, the same for both eyes, drawn as a function of seed, character and count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.errors import InputError
from kinema.math import chance, quat, vec, xform
from kinema.math.arrays import Mask
from kinema.math.curves import smoothstep
from kinema.math.rows import load3, load4, load_matrix, store4
from kinema.solvers.joints import character_pose, matrix_above
from kinema.stages.axes import (
    ASIDE,
    AXES,
    Aside,
    angle_between,
    aside_of,
    axes_of,
    direction_aside,
    own_direction,
    rotation_in_parent,
    set_own_axes,
    settle,
    to_unit,
)
from kinema.stages.gaze.look_targets import GazeState, advance_target
from kinema.stages.stage import Crowd, FrameContext, Stage, copied, indices

EYES_BEHIND = 0.5
"""Radians from straight behind (29 degrees) within which the eyes return to straight ahead. Without it they would flip
from one side to the other as a target passes behind the head."""

MOST_EVENTS = 64
"""Most glances in one frame. After a long gap, the remaining ones are dropped."""

BLINK_CLOSING = 0.35
"""Share of a blink in which the lid closes; it opens more slowly."""

VERTICAL_GLANCES = 0.5
"""Height of the field that glances cover, as a share of its width: eyes scan more sideways than up and down."""

# The random numbers of one event, by index.
_WAIT, _LEFT, _UP, _BLINKS, _BLINK_WAIT, _DRAWS = 0, 1, 2, 3, 4, 8

EYES_SETTINGS = Record(
    max_angle=REAL,
    half_life=REAL,
    saccade_size=REAL,
    saccade_shortest=REAL,
    saccade_longest=REAL,
    blink_shortest=REAL,
    blink_longest=REAL,
    blink_time=REAL,
    blink_angle=REAL,
    blink_chance=REAL,
    seed=np.int64,
)
"""The fields of `Eyes` as numbers. Intervals are split into shortest and longest."""

EYE_JOINT = Record(joint=np.int64, parent=np.int64, parent_axes=AXES, forward=(REAL, 3))
"""An eye. parent_axes: in the parent's own space. forward: in the eye's own."""

SACCADE_STATE = Record(glance=ASIDE, wait=REAL, count=np.int64, blink_age=REAL, blink_wait=REAL, blinks=np.int64)
"""glance: how far both eyes look off the target. wait: seconds to the next glance. count: of glances so far. blink_age:
seconds since a blink began. blink_wait: seconds to the next one. blinks: so far."""

EYES_STATE = Record(id=np.int64, saccade=SACCADE_STATE, moving=bool, blink=REAL)
"""One character. id: for the random numbers. moving: whether a jump is under way. blink: as in the report."""

EYE_STATE = Record(offset=ASIDE, velocity=ASIDE, shown=ASIDE, error=REAL)
"""One eye. offset, velocity: what is left of its jumps. shown: where it looks. error: angle to the target."""


class Saccade(NamedTuple):
    """Where both eyes glance, how far they jumped to it in this frame, and whether a blink goes with it."""

    glance: Any
    jump: Any
    blinks: Any


class EyeView(NamedTuple):
    """Where an eye is, the axes of what holds it, and where the animation points it, in these axes."""

    position: Any
    axes: Any
    animated: Any


class EyeStep(NamedTuple):
    """An eye after a frame: the direction of its gaze in the axes of its view, whether that is the animation's, whether
    it is at rest, and whether a jump to a new target calls for a blink.
    """

    gaze: Any
    as_animated: Any
    at_rest: Any
    blinks: Any


# --- glances and blinks ----------------------------------------------------------------------------------------


@routine
def step_saccade(settings, state, id, dt):
    """Step one character's glances by dt, which may start one or more new ones. Returns a `Saccade`."""
    zero = like(dt, 0.0)
    size, seed = settings.saccade_size, settings.seed
    jump, blinks = Aside(zero, zero), False
    if size <= zero:
        return Saccade(Aside(zero, zero), jump, blinks)
    if state.count == 0:  # Start at a random time, so that characters are not synchronized.
        state.count = 1
        state.wait = chance.between(zero, settings.saccade_longest, seed, id, _WAIT)
    state.wait -= dt
    for _ in range(MOST_EVENTS):
        if state.wait > zero:
            break
        state.count += 1
        draw = state.count * _DRAWS
        state.wait += chance.between(settings.saccade_shortest, settings.saccade_longest, seed, id, draw + _WAIT)
        left = chance.between(-size, size, seed, id, draw + _LEFT)
        up = chance.between(-size, size, seed, id, draw + _UP) * like(dt, VERTICAL_GLANCES)
        jump = Aside(jump.left + left - state.glance.left, jump.up + up - state.glance.up)
        state.glance.left, state.glance.up = left, up
        blinks |= chance.uniform(dt, seed, id, draw + _BLINKS) < settings.blink_chance
    state.wait = max(state.wait, zero)
    return Saccade(Aside(state.glance.left, state.glance.up), jump, blinks)


@kernel
def lid(age, duration):
    """How far the lid is closed, 0 to 1. age: seconds since the blink began."""
    if age >= duration:
        return like(age, 0.0)
    closing = duration * like(age, BLINK_CLOSING)
    x = age / closing if age < closing else (duration - age) / (duration - closing)
    return smoothstep(x)


@routine
def step_blink(settings, state, id, called_for, dt):
    """Step one character's lids by dt. Returns how far they are closed, 0 to 1."""
    zero = like(dt, 0.0)
    state.blink_age = min(state.blink_age + dt, settings.blink_time)
    if settings.blink_longest <= zero:
        return zero
    if state.blinks == 0:
        state.blinks = 1
        state.blink_wait = chance.between(zero, settings.blink_longest, settings.seed, id, _BLINK_WAIT)
    state.blink_wait -= dt
    if called_for | (state.blink_wait <= zero):
        state.blinks += 1
        draw = state.blinks * _DRAWS + _BLINK_WAIT
        state.blink_wait = chance.between(settings.blink_shortest, settings.blink_longest, settings.seed, id, draw)
        # Do not restart a blink: the lid would jump open.
        if state.blink_age >= settings.blink_time:
            state.blink_age = zero
    return lid(state.blink_age, settings.blink_time)


# --- one eye ---------------------------------------------------------------------------------------------------


@kernel
def within_cone(a, most):
    """An `Aside` moved into a cone of this half-angle."""
    angle = math.sqrt(a.left * a.left + a.up * a.up)
    k = most / angle if angle > most else like(most, 1.0)
    return Aside(a.left * k, a.up * k)


@kernel
def within_range(direction, most):
    """A direction as an `Aside` inside the cone. Directions to the back return to straight ahead."""
    angle = angle_between((like(most, 0.0), like(most, 0.0), like(most, 1.0)), direction)
    fade = (like(most, math.pi) - angle) / like(most, EYES_BEHIND)
    return within_cone(aside_of(direction), most * max(min(fade, like(most, 1.0)), like(most, 0.0)))


@kernel
def step_jumps(settings, eye, jump, dt):
    """Ease the offset of an eye's jumps, after adding a new one. Returns the offset, and whether it is at rest."""
    zero = like(dt, 0.0)
    half_life = settings.half_life
    left, left_velocity = settle(eye.offset.left + jump.left, eye.velocity.left, zero, half_life, dt)
    up, up_velocity = settle(eye.offset.up + jump.up, eye.velocity.up, zero, half_life, dt)
    eye.offset.left, eye.offset.up = left, up
    eye.velocity.left, eye.velocity.up = left_velocity, up_velocity
    at_rest = (left == zero) & (up == zero) & (left_velocity == zero) & (up_velocity == zero)
    return Aside(left, up), at_rest


@routine
def step_eye(settings, eye, view, target, saccade, dt):
    """Step one eye by a frame. Returns an `EyeStep`."""
    zero = like(dt, 0.0)
    held, most = target.held, settings.max_angle
    now = to_unit(xform.into(view.axes, vec.sub(load3(target.point), view.position)))
    before = to_unit(xform.into(view.axes, vec.sub(load3(target.last_point), view.position)))
    now = vec.select(held, now, view.animated)
    before = vec.select(target.was_held, before, view.animated)
    goal = within_range(now, most) if held else aside_of(now)
    last = within_range(before, most) if target.was_held else aside_of(before)
    jump = Aside(last.left - goal.left - saccade.jump.left, last.up - goal.up - saccade.jump.up)
    offset, at_rest = step_jumps(settings, eye, jump, dt)
    widest = most if held else max(most, math.sqrt(goal.left * goal.left + goal.up * goal.up))
    glance = saccade.glance
    wanted = Aside(goal.left + glance.left + offset.left, goal.up + glance.up + offset.up)
    moved = (glance.left != zero) | (glance.up != zero) | (offset.left != zero) | (offset.up != zero)
    return EyeStep(
        direction_aside(within_cone(wanted, widest)),
        not (held | moved),
        at_rest,
        angle_between(now, before) > settings.blink_angle,
    )


@kernel
def record_gaze(eye, view, target, gaze):
    """Store the direction of an eye and its angle to the target."""
    shown = aside_of(gaze)
    eye.shown.left, eye.shown.up = shown.left, shown.up
    to_target = to_unit(xform.into(view.axes, vec.sub(load3(target.point), view.position)))
    eye.error = angle_between(gaze, to_target) if target.held else like(eye.error, 0.0)


@routine
def step_eyes(settings, joints, target, state, eyes, pose, dt):
    """Step one character's eyes by a frame. Returns how many of them changed."""
    zero = like(dt, 0.0)
    ahead = (zero, zero, like(dt, 1.0))
    saccade = step_saccade(settings, state.saccade, state.id, dt)
    blinks = saccade.blinks
    state.moving = False
    changed = 0
    for e in range(joints.size):
        joint, eye = joints[e], eyes[e]
        parent, m = matrix_above(pose, joint.parent), load_matrix(pose.world[joint.joint])
        axes = axes_of(parent, joint.parent_axes)
        animated = vec.unit_or(xform.into(axes, xform.linear(m, load3(joint.forward))), ahead)
        view = EyeView(m[3], axes, animated)
        step = step_eye(settings, eye, view, target, saccade, dt)
        blinks |= step.blinks
        state.moving |= not step.at_rest
        shown = animated
        if (pose.weight > zero) & (not step.as_animated):
            q = quat.part(quat.between(animated, step.gaze, vec.hinge_of(animated)), pose.weight)
            r = pose.r[joint.joint]
            store4(r, quat.unit(quat.mul(rotation_in_parent(axes, parent, q), load4(r))))
            shown = quat.rotate(q, animated)
            changed += 1
        record_gaze(eye, view, target, shown)
    state.blink = step_blink(settings, state.saccade, state.id, blinks, dt) * pose.weight
    return changed


@batch
def step_all_eyes(rows, settings, joints, targets, states, eyes, frame, dt):
    """Step the eyes of these characters by a frame. Returns how many eyes changed."""
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        pose = character_pose(frame, i)
        changed += step_eyes(settings[0], joints, targets[i], states[i], eyes[i], pose, dt)
        advance_target(targets[i])
    return changed


class EyesReport(NamedTuple):
    """The result of a frame of `Eyes`. N characters, E eyes in the rig's order."""

    blink: NDArray[Any]
    """(N,): how far the lids are closed, 0 to 1."""
    left: NDArray[Any]
    """(N, E): how far each eye looks to the left of straight ahead, radians."""
    up: NDArray[Any]
    """(N, E): how far it looks up. The root of both squares is its angle from straight ahead."""
    error: NDArray[Any]
    """(N, E): angle between the eye's forward and the target, radians; 0 without a target."""


@dataclass(frozen=True, kw_only=True)
class EyeMotion:
    """Settings that `Eyes` and `EyeLook` share."""

    max_angle: float = 0.6
    """Largest angle of an eye from the head's forward, radians."""
    half_life: float = 0.01
    """Seconds in which half of a jump to a new target is done."""
    saccade_size: float = 0.015
    """How far glances stray from the target to the side, radians; half as far up and down. 0 for none."""
    saccade_interval: tuple[float, float] = (0.1, 0.4)
    """Shortest and longest time from one glance to the next, seconds."""
    blink_interval: tuple[float, float] = (2.0, 6.0)
    """Shortest and longest time between blinks, seconds. (0, 0) for none."""
    blink_time: float = 0.25
    """Seconds that a blink takes."""
    blink_angle: float = 0.5
    """A jump to a target further away than this, radians, comes with a blink."""
    blink_chance: float = 0.02
    """Share of the glances that come with a blink."""
    seed: int = 0
    """Seed of the random numbers. The same seed gives the same glances and blinks."""

    def __post_init__(self) -> None:
        validation.number("max_angle", self.max_angle, 0.0, math.pi / 2)
        validation.number("half_life", self.half_life, 0.0)
        validation.number("saccade_size", self.saccade_size, 0.0, math.pi / 2)
        validation.number("blink_time", self.blink_time, 0.0)
        validation.number("blink_angle", self.blink_angle, 0.0)
        validation.number("blink_chance", self.blink_chance, 0.0, 1.0)
        validation.whole("seed", self.seed, 0)
        _check_interval("saccade_interval", self.saccade_interval)
        if tuple(self.blink_interval) != (0, 0):
            _check_interval("blink_interval", self.blink_interval)


@dataclass(frozen=True, kw_only=True)
class Eyes(EyeMotion, Stage):
    """Rotate the eyes to look at a point. Runs after `Head`.

    Set the target with `animator["eyes"].look_at(point)`, end it with `.look_ahead()`.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Head(), km.Eyes(seed=7, blink_interval=(0, 0))])
    >>> animator["eyes"].look_at((0.5, 1.6, 2.0))
    """

    order: ClassVar[int] = 60

    def start(self, crowd: Crowd, /) -> EyesState:
        return EyesState(self, crowd)


class EyesState(GazeState):
    """The targets and the state of every character's eyes."""

    def __init__(self, settings: Eyes, crowd: Crowd) -> None:
        super().__init__(crowd)
        self._restless = settings.saccade_size > 0 or settings.blink_interval[1] > 0
        joints = _joints(crowd)
        states = EYES_STATE.zeros(crowd.count, crowd.precision)
        eyes = EYE_STATE.zeros((crowd.count, joints.size), crowd.precision)
        states.id[:] = np.arange(crowd.count)
        states.saccade.blink_age[:] = settings.blink_time
        self._records = kernel_views(eyes_settings(settings, crowd.precision), joints, self._targets, states, eyes)
        self._ids, self._moving = states.id, states.moving
        self._report = EyesReport(states.blink, eyes.shown.left, eyes.shown.up, eyes.error)
        self._joints = joints.joint.copy()

    @property
    def ids(self) -> NDArray[np.int64]:
        """(N,): the id of each character for the random numbers, initially its index. Change it in place: the same
        seed and id give the same glances and blinks.
        """
        return self._ids

    def awake(self, dt: float) -> Mask:
        return super().awake(dt) | self._restless

    def update(self, context: FrameContext) -> EyesReport:
        self._step(context, step_all_eyes, self._records, self._joints, self._joints)
        return copied(self._report)


def _joints(crowd: Crowd) -> Any:
    """Return the eyes as an array of `EYE_JOINT`."""
    rig, skeleton = crowd.rig, crowd.skeleton
    if not rig.eyes:
        raise InputError(f"{crowd.character.name}: the rig has no eyes to rotate; give some, Rig(..., eyes=...)")
    eyes = EYE_JOINT.zeros(len(rig.eyes), crowd.precision)
    eyes.joint[:] = indices(skeleton, rig.eyes)
    eyes.parent[:] = skeleton.parents[eyes.joint]
    for eye in eyes:
        set_own_axes(eye.parent_axes, rig, int(eye.parent))
        eye.forward[:] = own_direction(rig, int(eye.joint), rig.forward)
    return eyes


def eyes_settings(settings: EyeMotion, precision: Any) -> Any:
    """Return the settings as one `EYES_SETTINGS` record, (1,)."""
    record = EYES_SETTINGS.zeros(1, precision)
    for name in ("max_angle", "half_life", "saccade_size", "blink_time", "blink_angle", "blink_chance"):
        record[name] = getattr(settings, name)
    record.saccade_shortest, record.saccade_longest = settings.saccade_interval
    record.blink_shortest, record.blink_longest = settings.blink_interval
    record.seed = settings.seed & 0xFFFFFFFF
    return record


def _check_interval(name: str, value: Any) -> None:
    """Check an interval: two numbers of seconds, positive and sorted."""
    array = validation.vectors(name, value, 2, np.float64)
    if array.ndim != 1 or not 0 < array[0] <= array[1]:
        raise InputError(f"{name} is {value!r:.60}; allowed are two numbers of seconds above 0, the shorter first")
