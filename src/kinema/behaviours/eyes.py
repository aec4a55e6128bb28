"""`Eyes`: each eye looks at the target from its own place, glances about it, and the lids blink.

Eyes are fast: within a twentieth of a second they are on a new target, long before the head is. What the spring eases
is only the jump from one target to the next, so that eyes stay on their target to rounding while the head turns under
them. Glances (saccades) are small angles, both eyes alike, drawn as a function of seed, character and count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.gaze import (
    Targets,
    angle_between,
    disc,
    eased,
    frame_of,
    from_disc,
    in_parent,
    matrix_of,
    over_rows,
    own_direction,
    own_frame,
    store_turn,
    to_unit,
    turn_at,
    vector_at,
)
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState, indices
from kinema.constants import BLINK_CLOSING, EYES_BEHIND, MOST_EVENTS, VERTICAL_GLANCES
from kinema.errors import InputError
from kinema.math import chance, quat, vec, xform
from kinema.skeleton import matrix_at

# What is drawn for one event: each of these is a number of its own.
_WAIT, _LEFT, _UP, _BLINKS, _BLINK_WAIT, _DRAWS = 0, 1, 2, 3, 4, 8

# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def own_of(table, e):
    """Left, up and forward in the space of an eye's parent, and forward in its own."""
    own = table[e]
    return (
        (own[0, 0], own[0, 1], own[0, 2]),
        (own[1, 0], own[1, 1], own[1, 2]),
        (own[2, 0], own[2, 1], own[2, 2]),
        (own[3, 0], own[3, 1], own[3, 2]),
    )


@kernel
def within(a, most):
    """Two angles, as `disc` has them, moved into a cone of this half-angle."""
    angle = math.sqrt(a[0] * a[0] + a[1] * a[1])
    k = most / angle if angle > most else like(most, 1.0)
    return (a[0] * k, a[1] * k)


@kernel
def as_far_as_eyes_go(way, most):
    """A direction as two angles inside the cone; from some way behind, back to straight ahead."""
    angle = angle_between((like(most, 0.0), like(most, 0.0), like(most, 1.0)), way)
    fade = (like(most, math.pi) - angle) / like(most, EYES_BEHIND)
    return within(disc(way), most * max(min(fade, like(most, 1.0)), like(most, 0.0)))


@kernel
def lid(age, duration):
    """How far the lid is closed, 0 to 1, so long after a blink began."""
    if age >= duration:
        return like(age, 0.0)
    closing = duration * like(age, BLINK_CLOSING)
    x = age / closing if age < closing else (duration - age) / (duration - closing)
    return x * x * (like(age, 3.0) - like(age, 2.0) * x)


@routine
def glance(memory, i, seed, settings, dt):
    """Let time pass for the glances of one character: the next one, or several, if it is time.

    Returns how far both eyes jump, and whether a blink goes with it.
    """
    zero = like(dt, 0.0)
    size = settings.saccade_size
    jump, blinks = (zero, zero), False
    if size <= zero:
        return jump, blinks
    if memory.glances[i] == 0:  # Nobody begins in step with the others.
        memory.glances[i] = 1
        memory.glance_left[i] = chance.between(zero, settings.longest, seed, memory.ids[i], _WAIT)
    memory.glance_left[i] -= dt
    for _ in range(MOST_EVENTS):
        if memory.glance_left[i] > zero:
            break
        memory.glances[i] += 1
        draw, who = memory.glances[i] * _DRAWS, memory.ids[i]
        memory.glance_left[i] += chance.between(settings.shortest, settings.longest, seed, who, draw + _WAIT)
        left = chance.between(-size, size, seed, who, draw + _LEFT)
        up = chance.between(-size, size, seed, who, draw + _UP) * like(dt, VERTICAL_GLANCES)
        jump = (jump[0] + left - memory.glance[i, 0], jump[1] + up - memory.glance[i, 1])
        memory.glance[i, 0], memory.glance[i, 1] = left, up
        blinks |= chance.uniform(dt, seed, who, draw + _BLINKS) < settings.blink_chance
    memory.glance_left[i] = max(memory.glance_left[i], zero)
    return jump, blinks


@routine
def blink(memory, i, seed, settings, called_for, dt):
    """Let time pass for the lids of one character. Returns how far they are closed."""
    zero = like(dt, 0.0)
    duration = settings.blink_time
    memory.blink_age[i] = min(memory.blink_age[i] + dt, duration)
    if settings.blink_longest <= zero:
        return zero
    if memory.blinks[i] == 0:
        memory.blinks[i] = 1
        memory.blink_left[i] = chance.between(zero, settings.blink_longest, seed, memory.ids[i], _BLINK_WAIT)
    memory.blink_left[i] -= dt
    if called_for | (memory.blink_left[i] <= zero):
        memory.blinks[i] += 1
        memory.blink_left[i] = chance.between(
            settings.blink_shortest,
            settings.blink_longest,
            seed,
            memory.ids[i],
            memory.blinks[i] * _DRAWS + _BLINK_WAIT,
        )
        # A blink under way is not begun again: the lid would jump open.
        if memory.blink_age[i] >= duration:
            memory.blink_age[i] = zero
    return lid(memory.blink_age[i], duration)


@routine
def goals(points, i, at, frame, animated, most):
    """Where an eye is to look, as two angles, now and by what held the frame before; and the angle between the two."""
    now = to_unit(xform.into(frame, vec.sub(vector_at(points.at, i), at)))
    before = to_unit(xform.into(frame, vec.sub(vector_at(points.last, i), at)))
    now = vec.select(points.held[i], now, animated)
    before = vec.select(points.was_held[i], before, animated)
    return (
        as_far_as_eyes_go(now, most) if points.held[i] else disc(now),
        as_far_as_eyes_go(before, most) if points.was_held[i] else disc(before),
        angle_between(now, before),
    )


@routine
def swung(memory, i, e, jump, half_life, dt):
    """What is left of an eye's jumps, one of which may be new, after this frame. Returns two angles."""
    zero = like(dt, 0.0)
    for c in range(2):
        offset, velocity = eased(memory.offset[i, e, c] + jump[c], memory.velocity[i, e, c], zero, half_life, dt)
        memory.offset[i, e, c] = offset
        memory.velocity[i, e, c] = velocity
        if (offset != zero) | (velocity != zero):
            memory.moving[i] = True
    return (memory.offset[i, e, 0], memory.offset[i, e, 1])


@batch
def _look(rows, world, place, r, weights, plan, seed, settings, points, memory, report, dt):
    """Turn these characters' eyes. Returns how many eyes changed."""
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    ahead = (zero, zero, one)
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        weight, held = weights[i], points.held[i]
        twitch, blinks = glance(memory, i, seed, settings, dt)
        about = (memory.glance[i, 0], memory.glance[i, 1])
        memory.moving[i] = False
        for e in range(plan.eyes.size):
            eye = plan.eyes[e]
            parent = matrix_of(world, place, i, plan.parents[e])
            m = matrix_at(world, i, eye)
            own = own_of(plan.own, e)
            frame = frame_of(parent, own)
            animated = vec.unit_or(xform.into(frame, xform.linear(m, own[3])), ahead)
            goal, before, shift = goals(points, i, m[3], frame, animated, settings.max_angle)
            blinks |= shift > settings.blink_angle
            jump = (before[0] - goal[0] - twitch[0], before[1] - goal[1] - twitch[1])
            offset = swung(memory, i, e, jump, settings.half_life, dt)
            most = settings.max_angle if held else max(settings.max_angle, vec.length((goal[0], goal[1], zero)))
            gaze = from_disc(within((goal[0] + about[0] + offset[0], goal[1] + about[1] + offset[1]), most))
            turn = quat.part(quat.between(animated, gaze, vec.hinge_of(animated)), weight)
            as_animated = (not held) & (vec.span((about[0], about[1], zero)) == zero)
            as_animated &= vec.span((offset[0], offset[1], zero)) == zero
            if (weight > zero) & (not as_animated):
                store_turn(r, i, eye, quat.unit(quat.mul(in_parent(frame, parent, turn), turn_at(r, i, eye))))
                animated = quat.rotate(turn, animated)
                changed += 1
            shown = disc(animated)
            report.left[i, e], report.up[i, e] = shown[0], shown[1]
            to_target = xform.into(frame, vec.sub(vector_at(points.at, i), m[3]))
            report.error[i, e] = angle_between(animated, to_unit(to_target)) if held else zero
        report.blink[i] = blink(memory, i, seed, settings, blinks, dt) * weight
    return changed


# --- the stage -------------------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """eyes, parents: (E,). own: (E, 4, 3), left, up and forward in the parent's own space, and forward in the eye's."""

    eyes: Any
    parents: Any
    own: Any


class _Settings(NamedTuple):
    """The settings as numbers of one precision."""

    max_angle: Any
    half_life: Any
    saccade_size: Any
    shortest: Any
    longest: Any
    blink_shortest: Any
    blink_longest: Any
    blink_time: Any
    blink_angle: Any
    blink_chance: Any


class _Memory(NamedTuple):
    """Arrays over the characters; offset and velocity (N, E, 2): what is left of each eye's jumps."""

    ids: Any
    offset: Any
    velocity: Any
    glance: Any
    glance_left: Any
    glances: Any
    blink_age: Any
    blink_left: Any
    blinks: Any
    moving: Any


class EyesReport(NamedTuple):
    """What a frame of `Eyes` came to, for every character and eye."""

    blink: Any
    """(N,): how far the lids are closed, 0 to 1."""
    left: Any
    """(N, E): how far each eye is turned to the left of straight ahead, radians."""
    up: Any
    """(N, E): the same, up; the root of both squares is the angle from straight ahead."""
    error: Any
    """(N, E): angle between the eye's forward and the target, radians; 0 without a target."""


@dataclass(frozen=True, kw_only=True)
class Eyes(Stage):
    """Turns the eyes to look at a point: `state.look_at(point)`, until `state.look_ahead()`. Comes after `Head`.

    max_angle: how far an eye turns from the head's forward, radians. half_life: seconds of a jump to a new target.
    saccade_size: how far glances stray from the target, to the side; half as far up and down; radians, 0 for none.
    saccade_interval: seconds from one to the next, at least and at most. seed: of what is drawn.
    blink_interval: seconds between blinks, at least and at most; (0, 0) for none. blink_time: how long one takes.
    blink_angle: a jump to a target further off than this, radians, comes with a blink; so do some of the glances, this
    share of them: blink_chance.
    """

    max_angle: float = 0.6
    half_life: float = 0.01
    saccade_size: float = 0.015
    saccade_interval: tuple[float, float] = (0.1, 0.4)
    blink_interval: tuple[float, float] = (2.0, 6.0)
    blink_time: float = 0.25
    blink_angle: float = 0.5
    blink_chance: float = 0.02
    seed: int = 0

    order: ClassVar[int] = 60

    def __post_init__(self) -> None:
        validation.number("max_angle", self.max_angle, 0.0, math.pi / 2)
        validation.number("half_life", self.half_life, 0.0)
        validation.number("saccade_size", self.saccade_size, 0.0, math.pi / 2)
        validation.number("blink_time", self.blink_time, 0.0)
        validation.number("blink_angle", self.blink_angle, 0.0)
        validation.number("blink_chance", self.blink_chance, 0.0, 1.0)
        validation.whole("seed", self.seed, 0)
        _interval("saccade_interval", self.saccade_interval)
        if tuple(self.blink_interval) != (0, 0):
            _interval("blink_interval", self.blink_interval)

    def start(self, body: Crowd) -> EyesState:
        return EyesState(self, body)


class EyesState(StageState):
    """Whom each character's eyes look at, and what they are about."""

    def __init__(self, settings: Eyes, body: Crowd) -> None:
        self._body = body
        self._targets = Targets(body)
        self._plan = _plan(body)
        self._settings = _numbers(settings, body.precision)
        self._seed = settings.seed & 0xFFFFFFFF
        self._restless = settings.saccade_size > 0 or settings.blink_interval[1] > 0
        eyes = self._plan.eyes.size
        self._memory = _Memory(
            ids=np.arange(body.count),
            offset=body.zeros(eyes, 2),
            velocity=body.zeros(eyes, 2),
            glance=body.zeros(2),
            glance_left=body.zeros(),
            glances=body.zeros(dtype=np.int64),
            blink_age=np.full(body.count, settings.blink_time, body.precision),
            blink_left=body.zeros(),
            blinks=body.zeros(dtype=np.int64),
            moving=body.zeros(dtype=bool),
        )
        self._report = EyesReport(body.zeros(), body.zeros(eyes), body.zeros(eyes), body.zeros(eyes))

    @property
    def ids(self) -> Any:
        """(N,), to be changed in place: who each one is to the random numbers, its index to begin with. Same seed,
        same id: same glances and blinks.
        """
        return self._memory.ids

    def look_at(self, point: Any, rows: Any = None) -> None:
        """Look at a point in the world from now on. point: (3,), or one for each, (N, 3). rows: whose eyes; all."""
        self._targets.set(point, rows)

    def look_ahead(self, rows: Any = None) -> None:
        """Let go: back to the animation, with glances about it."""
        self._targets.clear(rows)

    def awake(self, dt: float) -> Any:
        return self._memory.moving | self._targets.fresh | self._restless

    def update(self, context: FrameContext) -> EyesReport:
        world = context.world(self._plan.eyes)
        with context.edit(self._plan.eyes) as local:
            changed = over_rows(
                context,
                _look,
                world,
                context.transform,
                local.r,
                context.weights,
                self._plan,
                self._seed,
                self._settings,
                self._targets.points,
                self._memory,
                self._report,
                self._body.precision(context.dt),
            )
            if not changed:
                local.unchanged()
        self._targets.seen(context.rows)
        return EyesReport(*(array.copy() for array in self._report))


def _plan(body: Crowd) -> _Plan:
    rig, real = body.rig, body.precision
    if not rig.eyes:
        raise InputError(f"{body.character.name}: the rig has no eyes to turn; give some, Rig(..., eyes=...)")
    eyes = indices(body.skeleton, rig.eyes)
    parents = body.skeleton.parents[eyes]
    own = [
        (*own_frame(rig, int(parent)), own_direction(rig, int(eye), rig.forward))
        for eye, parent in zip(eyes, parents, strict=True)
    ]
    return _Plan(eyes=eyes, parents=parents, own=np.array(own, real))


def _numbers(settings: Eyes, real: Any) -> _Settings:
    return _Settings(
        max_angle=real(settings.max_angle),
        half_life=real(settings.half_life),
        saccade_size=real(settings.saccade_size),
        shortest=real(settings.saccade_interval[0]),
        longest=real(settings.saccade_interval[1]),
        blink_shortest=real(settings.blink_interval[0]),
        blink_longest=real(settings.blink_interval[1]),
        blink_time=real(settings.blink_time),
        blink_angle=real(settings.blink_angle),
        blink_chance=real(settings.blink_chance),
    )


def _interval(name: str, value: Any) -> None:
    """Two numbers of seconds, above 0 and in order."""
    array = validation.vectors(name, value, 2, np.float64)
    if array.ndim != 1 or not 0 < array[0] <= array[1]:
        raise InputError(f"{name} is {value!r:.60}; allowed are two numbers of seconds above 0, the shorter first")
