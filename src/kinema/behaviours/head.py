"""`Head`: the head turns to look at a point, and spine and neck help.

Yaw and pitch are those of the gaze (the head's forward) in the axes of the chest as animated: nothing that this stage
turns has a part in measuring them, so nothing drifts. Jumps of the goal are eased by a critically damped spring; a goal
that moves no faster than the head may turn is followed at once, so that the gaze stays where it is while the body walks
under it. Spine and neck take their shares of the turn to where the animated head would see the target; then the head is
where it will be, and its own turn to the target is known in closed form.
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
    angles,
    as_tuples,
    direction,
    eased,
    frame_of,
    in_parent,
    matrix_of,
    over_rows,
    own_direction,
    own_frame,
    put,
    quat_at,
    store_turn,
    to_unit,
    turn_at,
    vector_at,
)
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState, indices
from kinema.constants import AIM_TOLERANCE, BEHIND, LARGEST_PITCH, OVERHEAD, UPRIGHT
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.skeleton import matrix_at

# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def side_of(target, side):
    """On which side a target is, 1 left, -1 right; past straight behind it stays on the side it was (0: none yet)."""
    one = like(target[0], 1.0)
    zero = like(target[0], 0.0)
    yaw = math.atan2(target[0], target[2])
    clear = (abs(yaw) < like(yaw, math.pi - BEHIND)) & (yaw != zero)
    now = one if yaw >= zero else -one
    return now if clear | (side == zero) else side


@routine
def seen_at(target, eye, side, overhead):
    """Yaw and pitch of the gaze that goes through a target, from a head that turns about the origin.

    eye: where the gaze starts, in the coordinates of the gaze (left, up, along it). Turning keeps distances, so the
    point of the gaze that comes to be at the target is the one as far from the origin; its height gives the pitch, and
    what is left the yaw. overhead: sine of the angle to the vertical below which the yaw fades.
    """
    zero = like(side, 0.0)
    one = like(side, 1.0)
    size = vec.span(target) + vec.span(eye)
    size = size if size > zero else one
    t, e = vec.scale(target, one / size), vec.scale(eye, one / size)
    ahead = math.sqrt(max(vec.dot(t, t) - e[0] * e[0] - e[1] * e[1], zero))
    flat = math.sqrt(max(ahead * ahead + e[1] * e[1] - t[1] * t[1], zero))
    pitch = math.atan2(t[1], flat) - math.atan2(e[1], ahead)
    yaw = math.atan2(t[0], t[2])
    if (abs(yaw) > like(yaw, math.pi - BEHIND)) & (yaw * side < zero):
        yaw += side * like(yaw, 2.0 * math.pi)
    yaw -= math.atan2(e[0], flat)
    # Straight above and below there is no yaw, nor is there for a target inside the head.
    whole = max(vec.length(t), vec.length(e))
    known = min(math.sqrt(t[0] * t[0] + t[2] * t[2]) / ((whole if whole > zero else one) * overhead), one)
    return yaw * known * known, pitch


@kernel
def held_to(x, low, high):
    return min(max(x, low), high)


@kernel
def size_of(a):
    """Length of a step in yaw and pitch: no turn it makes is larger, as cos(turn / 2) = cos(yaw / 2) cos(pitch / 2)."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1])


@kernel
def at_most(a, size):
    """Two angles, made no longer than a size."""
    whole = size_of(a)
    share = size / whole if whole > size else like(size, 1.0)
    return (a[0] * share, a[1] * share)


@kernel
def inside(gaze, start, goal, limits):
    """A gaze held to the limits; where it starts or has to go outside of them, no further out than that."""
    return (
        held_to(gaze[0], min(-limits[0], start[0], goal[0]), max(limits[0], start[0], goal[0])),
        held_to(gaze[1], min(-limits[1], start[1], goal[1]), max(limits[1], start[1], goal[1])),
    )


@routine
def gaze_of(frame, head, own):
    """Yaw and pitch of a head's forward in a frame, and how far (0 to 1) it makes sense to call it upright.

    own: forward and up in the head's own space. The same direction is had with pitch past the vertical and half a turn
    of yaw, and half a turn of roll: of the two, that with the lesser roll is meant.
    """
    one = like(own[0][0], 1.0)
    zero = like(own[0][0], 0.0)
    ahead = vec.unit_or(xform.into(frame, xform.linear(head, own[0])), (zero, zero, one))
    yaw, pitch = angles(ahead)
    upright = (-math.sin(yaw) * math.sin(pitch), math.cos(pitch), -math.cos(yaw) * math.sin(pitch))
    roll = vec.dot(to_unit(xform.into(frame, xform.linear(head, own[1]))), upright)
    if roll < zero:
        yaw = yaw + like(yaw, math.pi) if yaw <= zero else yaw - like(yaw, math.pi)
        pitch = (like(pitch, math.pi) if pitch >= zero else like(pitch, -math.pi)) - pitch
    fade = like(one, 1.0 / UPRIGHT)
    return (yaw, pitch), min(abs(math.cos(pitch)) * fade, one) * min(abs(roll) * fade, one)


@routine
def turn_to(start, end, upright):
    """The turn, in the frame's coordinates, from one gaze (yaw, pitch) to another: with yaw about the frame's up, so
    that the head stays upright; or where that means little, more or less the smallest one.
    """
    one = like(start[0], 1.0)
    zero = like(start[0], 0.0)
    right = (-math.cos(start[0]), zero, math.sin(start[0]))
    up = (zero, one, zero)
    turn = quat.mul(quat.from_axis_angle(up, end[0] - start[0]), quat.from_axis_angle(right, end[1] - start[1]))
    if upright < one:
        smallest = quat.between(direction(start[0], start[1]), direction(end[0], end[1]), right)
        turn = quat.slerp(smallest, turn, upright)
    return turn


@routine
def carried(world, i, plan, frame, turn, turns):
    """Where the head comes to be, in the frame from where it is, when the joints below it take their shares of a turn.

    turns: (joints, 4), how far each of them turns in the frame, by its own share and all before it; filled in here.
    """
    at = matrix_at(world, i, plan.turned[-1])[3]
    here = xform.into(frame, vec.sub(matrix_at(world, i, plan.turned[0])[3], at))
    moved = here
    for k in range(plan.turned.size - 1):
        after = xform.into(frame, vec.sub(matrix_at(world, i, plan.turned[k + 1])[3], at))
        put(turns, k, quat.part(turn, plan.shares[k]))
        moved = vec.add(moved, quat.rotate(quat_at(turns, k), vec.sub(after, here)))
        here = after
    return moved


@routine
def applied(world, place, r, i, plan, frame, turns):
    """Give each joint its own part of the turns: those of the joint before are not its own."""
    zero = like(frame[0][0], 0.0)
    before = (zero, zero, zero, like(zero, 1.0))
    for k in range(plan.turned.size):
        turn = quat_at(turns, k)
        parent = matrix_of(world, place, i, plan.parents[k])
        local = in_parent(frame, parent, quat.mul(quat.conj(before), turn))
        store_turn(r, i, plan.turned[k], quat.unit(quat.mul(local, turn_at(r, i, plan.turned[k]))))
        before = turn


@kernel
def between_angles(a, b, share):
    """From one gaze to another; exactly the other for a share of 1."""
    whole = share >= like(share, 1.0)
    return (b[0] if whole else a[0] + (b[0] - a[0]) * share, b[1] if whole else a[1] + (b[1] - a[1]) * share)


@kernel
def jump_of(memory, i, goal, animated, news, most):
    """How far the goal has jumped since the frame before: nothing, if it only moved on with the body.

    news: held, was_held and whether there is another target. most: the largest step of a frame.
    """
    zero = like(most, 0.0)
    held, was_held, other = news
    before = (memory.gaze[i, 0] - memory.offset[i, 0], memory.gaze[i, 1] - memory.offset[i, 1])
    if not was_held:
        before = animated
    jump = (before[0] - goal[0], before[1] - goal[1])
    jumped = other | (held & (size_of(jump) > most))
    return (jump[0] if jumped else zero, jump[1] if jumped else zero)


@routine
def one_frame(memory, i, goal, animated, news, limits, pace, dt):
    """A gaze of one character on its way for a frame, kept for the next one. Returns it, and whether it has arrived.

    What it remembers is how far off its goal it is: without a target that is how far off the animation, which is
    followed at once.
    """
    zero = like(dt, 0.0)
    half_life, speed = pace
    held, was_held, _ = news
    jump = jump_of(memory, i, goal, animated, news, speed * dt)
    offset = (memory.offset[i, 0] + jump[0], memory.offset[i, 1] + jump[1])
    if held and not was_held:  # Through the front, whichever way the animation counts.
        whole = like(dt, 2.0 * math.pi)
        yaw = goal[0] + offset[0]
        offset = (offset[0] - whole if yaw > like(dt, math.pi) else offset[0], offset[1])
        offset = (offset[0] + whole if yaw < like(dt, -math.pi) else offset[0], offset[1])
    start = (goal[0] + offset[0], goal[1] + offset[1])
    if held and was_held:
        start = (memory.gaze[i, 0], memory.gaze[i, 1])
    yaw, yaw_velocity = eased(offset[0], memory.velocity[i, 0], zero, half_life, dt)
    pitch, pitch_velocity = eased(offset[1], memory.velocity[i, 1], zero, half_life, dt)
    step = at_most((goal[0] + yaw - start[0], goal[1] + pitch - start[1]), speed * dt)
    gaze = inside((start[0] + step[0], start[1] + step[1]), start, goal, limits)
    if (yaw == zero) & (pitch == zero) & (size_of(step) < speed * dt):
        gaze = goal
    put(memory.gaze, i, gaze)
    put(memory.offset, i, (gaze[0] - goal[0], gaze[1] - goal[1]))
    put(memory.velocity, i, at_most((yaw_velocity, pitch_velocity), speed))
    arrived = (gaze[0] == goal[0]) & (gaze[1] == goal[1])
    return gaze, arrived & (yaw_velocity == zero) & (pitch_velocity == zero)


@routine
def goal_of(held, target, eye, side, animated, limits):
    """Yaw and pitch to go to: the target's, inside the limits; the animation's where there is none."""
    yaw, pitch = seen_at(target, eye, side, limits[2])
    yaw, pitch = held_to(yaw, -limits[0], limits[0]), held_to(pitch, -limits[1], limits[1])
    return (yaw if held else animated[0], pitch if held else animated[1])


@kernel
def differ(a, b, i):
    """Whether two vectors out of (N, 3) are not the same."""
    return (a[i, 0] != b[i, 0]) | (a[i, 1] != b[i, 1]) | (a[i, 2] != b[i, 2])


@batch
def _look(rows, world, place, r, weights, plan, limits, pace, points, memory, report, dt):
    """Turn these characters' heads. Returns how many poses changed."""
    zero = like(dt, 0.0)
    turns = np.empty((plan.turned.size, 4), r.dtype)
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        held, was_held, weight = points.held[i], points.was_held[i], weights[i]
        frame = frame_of(matrix_of(world, place, i, plan.base), plan.own)
        head = matrix_at(world, i, plan.turned[-1])
        animated, upright = gaze_of(frame, head, (plan.own[3], plan.own[4]))
        report.yaw[i], report.pitch[i], report.error[i], report.reached[i] = animated[0], animated[1], zero, False
        if not (held | was_held | memory.moving[i]):
            continue
        eye = xform.into(frame, xform.linear(head, plan.own[5]))
        eye_in_gaze = quat.rotate(turn_to(animated, (zero, zero), upright), eye)
        target = xform.into(frame, vec.sub(vector_at(points.at, i), head[3]))
        if held:
            memory.side[i] = side_of(target, memory.side[i])
        side = memory.side[i]
        news = (held, was_held, (held != was_held) | (held & differ(points.at, points.last, i)))

        goal = goal_of(held, target, eye_in_gaze, side, animated, limits)
        body, body_there = one_frame(memory.body, i, goal, animated, news, limits, pace, dt)
        body_turn = turn_to(animated, between_angles(animated, body, weight), upright)
        target = vec.sub(target, carried(world, i, plan, frame, body_turn, turns))
        goal = goal_of(held, target, eye_in_gaze, side, animated, limits)
        gaze, there = one_frame(memory.head, i, goal, animated, news, limits, pace, dt)
        memory.moving[i] = not (body_there & there)
        gaze = between_angles(animated, gaze, weight)
        head_turn = turn_to(animated, gaze, upright)

        if (weight > zero) & (held | memory.moving[i]):
            put(turns, plan.turned.size - 1, head_turn)
            applied(world, place, r, i, plan, frame, turns)
            changed += 1
        report.yaw[i], report.pitch[i] = gaze[0], gaze[1]
        if held:
            left = angle_between(direction(gaze[0], gaze[1]), vec.sub(target, quat.rotate(head_turn, eye)))
            report.error[i], report.reached[i] = left, left <= like(left, AIM_TOLERANCE)
    return changed


# --- the stage -------------------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """Which joints turn, as arrays.

    turned: joints from spine to head. parents: theirs. shares: of the whole turn, up to and with each of them.
    base: the chest. own: left, up and forward in the chest's own space; forward, up and the gaze's start in the head's.
    """

    turned: Any
    parents: Any
    shares: Any
    base: Any
    own: Any


class _Gaze(NamedTuple):
    """Yaw and pitch, (N, 2): of a gaze, of how far it is off its goal, and how fast that changes."""

    gaze: Any
    offset: Any
    velocity: Any


class _Memory(NamedTuple):
    """body: the gaze that spine and neck go by. head: its own. side: (N,), the shoulder it looks over. moving: (N,)."""

    body: _Gaze
    head: _Gaze
    side: Any
    moving: Any


class HeadReport(NamedTuple):
    """What a frame of `Head` came to, for every character; (N,) each."""

    yaw: Any
    """Of the head's forward in the chest's axes as animated, radians to the left."""
    pitch: Any
    """The same, radians up."""
    error: Any
    """Angle between the head's forward and the target, radians; 0 without a target."""
    reached: Any
    """Whether there is a target and the head points at it."""


@dataclass(frozen=True, kw_only=True)
class Head(Stage):
    """Turns the head to look at a point: `state.look_at(point)`, until `state.look_ahead()`.

    max_yaw, max_pitch: how far the gaze may be from the chest's forward, to each side and up or down, radians.
    speed: how fast the head may turn, radians a second. half_life: seconds after which half of a turn is done.
    neck_share, spine_share: how much of the turn those joints take, together at most 1; the head takes the rest.
    offset: where the gaze starts, in the head's own space; between the eyes if the rig has any, else at the joint.

    A target behind is looked at over the shoulder it was last seen over. Nothing turns the head faster than `speed`.
    """

    max_yaw: float = 1.2
    max_pitch: float = 0.7
    speed: float = 4.0
    half_life: float = 0.12
    neck_share: float = 0.25
    spine_share: float = 0.2
    offset: Any = None

    order: ClassVar[int] = 50

    def __post_init__(self) -> None:
        validation.number("max_yaw", self.max_yaw, 0.0, math.pi)
        validation.number("max_pitch", self.max_pitch, 0.0, LARGEST_PITCH)
        validation.number("speed", self.speed, 0.0)
        validation.number("half_life", self.half_life, 0.0)
        validation.number("neck_share", self.neck_share, 0.0, 1.0)
        validation.number("spine_share", self.spine_share, 0.0, 1.0 - self.neck_share)

    def start(self, body: Crowd) -> HeadState:
        return HeadState(self, body)


class HeadState(StageState):
    """Whom each character looks at, and how far its head has come."""

    def __init__(self, settings: Head, body: Crowd) -> None:
        real = body.precision
        self._body = body
        self._targets = Targets(body)
        self._plan = _plan(settings, body)
        overhead = min(OVERHEAD, math.cos(settings.max_pitch))
        self._limits = (real(settings.max_yaw), real(settings.max_pitch), real(overhead))
        self._pace = (real(settings.half_life), real(settings.speed))
        spine_and_neck, head = (_Gaze(*(body.zeros(2) for _ in range(3))) for _ in range(2))
        self._memory = _Memory(spine_and_neck, head, body.zeros(), body.zeros(dtype=bool))
        self._report = HeadReport(body.zeros(), body.zeros(), body.zeros(), body.zeros(dtype=bool))

    def look_at(self, point: Any, rows: Any = None) -> None:
        """Look at a point in the world from now on. point: (3,), or one for each, (N, 3). rows: whose heads; all."""
        self._targets.set(point, rows)

    def look_ahead(self, rows: Any = None) -> None:
        """Let go: ease back to the animation, and leave it alone from then on."""
        self._targets.clear(rows)

    def awake(self, dt: float) -> Any:
        return self._memory.moving | self._targets.fresh

    def update(self, context: FrameContext) -> HeadReport:
        world = context.world(self._plan.turned)
        with context.edit(self._plan.turned) as local:
            changed = over_rows(
                context,
                _look,
                world,
                context.transform,
                local.r,
                context.weights,
                self._plan,
                self._limits,
                self._pace,
                self._targets.points,
                self._memory,
                self._report,
                self._body.precision(context.dt),
            )
            if not changed:
                local.unchanged()
        self._targets.seen(context.rows)
        return HeadReport(*(array.copy() for array in self._report))


def _plan(settings: Head, body: Crowd) -> _Plan:
    rig, skeleton, real = body.rig, body.skeleton, body.precision
    if rig.head is None:
        raise InputError(f"{body.character.name}: the rig has no head to turn; give one, Rig(..., head=...)")
    holding = set(skeleton.above([rig.head]).tolist()) - {rig.head}
    spine, neck = (sorted(holding.intersection(joints)) for joints in (rig.spine, rig.neck))
    parts = ((settings.spine_share, len(spine)), (settings.neck_share, len(neck)))
    shares = [share / count for share, count in parts for _ in range(count)]
    turned = indices(skeleton, [*spine, *neck, rig.head])
    base = spine[-1] if spine else int(skeleton.parents[turned[0]])
    eye = (
        _between_the_eyes(body)
        if settings.offset is None
        else validation.vectors("offset", settings.offset, 3, np.float64)
    )
    ahead, up = (own_direction(rig, rig.head, way) for way in (rig.forward, rig.up))
    own = [*own_frame(rig, base), ahead, up, eye]
    return _Plan(
        turned=turned,
        parents=skeleton.parents[turned],
        shares=np.array([*np.cumsum(shares), 1.0], real),
        base=base,
        own=as_tuples(own, real),
    )


def _between_the_eyes(body: Crowd) -> Any:
    """(3,): the middle of the eyes at rest in the head's own space; the head itself where it has none."""
    rig, world = body.rig, body.rig.standing_world
    eyes = [eye for eye in rig.eyes if rig.head in body.skeleton.above([eye])]
    if not eyes:
        return np.zeros(3)
    middle = world[eyes, :3, 3].mean(axis=0)
    return np.linalg.pinv(world[rig.head, :3, :3]) @ (middle - world[rig.head, :3, 3])
