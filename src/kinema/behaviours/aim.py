"""`Aim`: what is held, a muzzle or a finger, points at a target, and the other hand stays on it.

The turn is spread over joints from the spine to the arm. Going down, each one takes its part of what is left of the
turn that would aim by itself, and the last one takes all of it: exact after one pass. Where a joint meets its limit,
what is left is shared out again among those that have room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    matrix_of,
    over_rows,
    own_frame,
    put,
    quat_at,
    store_turn,
    to_unit,
    turn_at,
    under_scale,
    vector_at,
)
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState, indices
from kinema.constants import AIM_PASSES, AIM_TOLERANCE, ROUNDING
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.rig import Arm
from kinema.skeleton import Joint, Skeleton, local_matrix, matrix_at, store_matrix
from kinema.solvers import aim, two_bone_rotations

# --- kernels ---------------------------------------------------------------------------------------------------


class _Scratch(NamedTuple):
    """One character at work, (joints that turn, n): their animated rotations, their corrections, and the muzzle's start
    and way in their own spaces.
    """

    animated: Any
    correction: Any
    start: Any
    way: Any


@kernel
def half_turned(angle):
    """An angle from -2 pi to 2 pi as the same one from -pi to pi."""
    whole = like(angle, 2.0 * math.pi)
    angle = angle - whole if angle > like(angle, math.pi) else angle
    return angle + whole if angle < like(angle, -math.pi) else angle


@kernel
def room(correction, limit):
    """How much of its limit a joint has left, 1 to 0."""
    zero = like(limit, 0.0)
    angle = like(limit, 2.0) * math.atan2(vec.length((correction[0], correction[1], correction[2])), correction[3])
    return max(like(limit, 1.0) - angle / limit, zero) if limit > zero else zero


@routine
def muzzle_up(pose, i, plan, scratch):
    """Where the muzzle is and points, in the own space of every joint that turns, from the weapon up the path."""
    t, r, s = pose
    start, way = plan.own[3], plan.own[4]
    k = plan.turned.size - 1
    for m in range(plan.path.size - 1, -1, -1):
        joint = plan.path[m]
        if plan.turns[m]:
            put(scratch.start, k, start)
            put(scratch.way, k, way)
            k -= 1
        local = local_matrix(t, r, s, i, joint)
        start, way = xform.apply(local, start), to_unit(xform.linear(local, way))


@routine
def aimed_down(pose, world, place, i, plan, target, scratch):
    """One pass from the top of the path to the weapon: each joint takes its part of what is left of the turn."""
    t, r, s = pose
    one = like(target[0], 1.0)
    zero = like(target[0], 0.0)
    to_share = zero
    for k in range(plan.turned.size):
        to_share += plan.shares[k] * room(quat_at(scratch.correction, k), plan.limits[k])
    k = 0
    for m in range(plan.path.size):
        joint = plan.path[m]
        above = matrix_of(world, place, i, plan.parents[m])
        if plan.turns[m]:
            before = quat_at(scratch.correction, k)
            mine = plan.shares[k] * room(before, plan.limits[k])
            if mine > zero:
                share = min(mine / to_share, one) if to_share > mine else one
                m_now = xform.mul(above, local_matrix(t, r, s, i, joint))
                turn, _ = aim.solve(m_now, target, vector_at(scratch.way, k), vector_at(scratch.start, k), share)
                turn = quat.unit(quat.mul(before, under_scale(turn, s, i, joint)))
                if turn[3] < zero:
                    turn = (-turn[0], -turn[1], -turn[2], -turn[3])
                half = plan.limits[k] * like(one, 0.5)
                turn = quat.limited(turn, math.cos(half), math.sin(half))
                put(scratch.correction, k, turn)
                store_turn(r, i, joint, quat.unit(quat.mul(quat_at(scratch.animated, k), turn)))
            to_share -= mine
            k += 1
        store_matrix(world, i, joint, xform.mul(above, local_matrix(t, r, s, i, joint)))


@routine
def missed_by(world, i, plan, target):
    """The angle between the muzzle and the target, as the matrices stand."""
    m = matrix_at(world, i, plan.path[-1])
    to_target = to_unit(vec.sub(target, xform.apply(m, plan.own[3])))
    return angle_between(to_unit(xform.linear(m, plan.own[4])), to_target)


@routine
def point_to_aim_at(world, place, i, plan, points, memory, half_life, dt):
    """Where the muzzle is to point this frame: at the target, but for what is left of jumps from one to the next.

    A jump is an angle about the topmost joint that turns, in the character's axes; the spring takes it away.
    """
    zero = like(dt, 0.0)
    target = vector_at(points.at, i)
    pivot = matrix_at(world, i, plan.path[0])[3]
    frame = frame_of(matrix_at(place, i, 0), plan.own)
    way = xform.into(frame, vec.sub(target, pivot))
    now = angles(to_unit(way))
    before = angles(to_unit(xform.into(frame, vec.sub(vector_at(points.last, i), pivot))))
    begun = memory.amount[i] > zero
    jump = (half_turned(before[0] - now[0]), before[1] - now[1])
    for c in range(2):
        was = half_turned(memory.offset[i, c] + jump[c]) if begun else zero
        velocity = memory.velocity[i, c] if begun else zero
        memory.offset[i, c], memory.velocity[i, c] = eased(was, velocity, zero, half_life, dt)
        if (memory.offset[i, c] != zero) | (memory.velocity[i, c] != zero):
            memory.moving[i] = True
    if (memory.offset[i, 0] == zero) & (memory.offset[i, 1] == zero):
        return target
    aside = direction(now[0] + memory.offset[i, 0], now[1] + memory.offset[i, 1])
    return vec.add(pivot, vec.scale(xform.linear(frame, aside), vec.length(way)))


@routine
def amount_of(memory, i, held, half_life, dt):
    """How much of the aim is in force, 0 to 1, eased in and out."""
    goal = like(dt, 1.0) if held else like(dt, 0.0)
    amount, rate = eased(memory.amount[i], memory.rate[i], goal, half_life, dt)
    memory.amount[i], memory.rate[i] = amount, rate
    if (amount != goal) | (rate != like(dt, 0.0)):
        memory.moving[i] = True
    return min(max(amount, like(dt, 0.0)), like(dt, 1.0))


@routine
def aimed(pose, world, place, i, plan, target, weight, rounding, scratch):
    """Turn the joints of one character so that the muzzle points at a target; for a weight below 1, part of the way."""
    t, r, s = pose
    one = like(weight, 1.0)
    zero = like(weight, 0.0)
    for k in range(plan.turned.size):
        put(scratch.animated, k, turn_at(r, i, plan.turned[k]))
        put(scratch.correction, k, (zero, zero, zero, one))
    for _ in range(AIM_PASSES):
        muzzle_up(pose, i, plan, scratch)
        aimed_down(pose, world, place, i, plan, target, scratch)
        if missed_by(world, i, plan, target) <= rounding:
            break
    if weight < one:
        for k in range(plan.turned.size):
            part = quat.part(quat_at(scratch.correction, k), weight)
            store_turn(r, i, plan.turned[k], quat.unit(quat.mul(quat_at(scratch.animated, k), part)))
        for m in range(plan.path.size):
            above = matrix_of(world, place, i, plan.parents[m])
            store_matrix(world, i, plan.path[m], xform.mul(above, local_matrix(t, r, s, i, plan.path[m])))


@batch
def _aim(rows, pose, world, place, weights, plan, points, memory, report, numbers, dt):
    """Aim these characters' weapons. Returns how many poses changed."""
    half_life, rounding = numbers
    zero = like(dt, 0.0)
    four, three = np.empty((2, plan.turned.size, 4), world.dtype), np.empty((2, plan.turned.size, 3), world.dtype)
    scratch = _Scratch(four[0], four[1], three[0], three[1])
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        held = points.held[i]
        memory.turned[i] = False
        report.error[i], report.reached[i] = zero, False
        if not (held | memory.moving[i] | (memory.amount[i] > zero)):
            continue
        memory.moving[i] = False
        target = point_to_aim_at(world, place, i, plan, points, memory, half_life, dt)
        weight = amount_of(memory, i, held, half_life, dt) * weights[i]
        memory.turned[i] = weight > zero
        if weight > zero:
            changed += 1
            aimed(pose, world, place, i, plan, target, weight, rounding, scratch)
        if held:
            error = missed_by(world, i, plan, vector_at(points.at, i))
            report.error[i], report.reached[i] = error, error <= like(dt, AIM_TOLERANCE)
    return changed


@batch
def _remember_grip(rows, world, weapon, hand, grip):
    """Where the second hand is, as animated, in the weapon's own space; (N, 1, 12)."""
    for n in range(rows.size):
        i = rows[n]
        store_matrix(grip, i, 0, xform.mul(xform.inverse(matrix_at(world, i, weapon)), matrix_at(world, i, hand)))


@batch
def _reach_grip(rows, world, r, s, arm, weapon, grip, memory, error):
    """Bend the second arm so that its hand is back in its place on the weapon."""
    for n in range(rows.size):
        i = rows[n]
        if not memory.turned[i]:
            continue
        start, mid, end = matrix_at(world, i, arm[0]), matrix_at(world, i, arm[1]), matrix_at(world, i, arm[2])
        goal = xform.mul(matrix_at(world, i, weapon), matrix_at(grip, i, 0))
        one = like(start[0][0], 1.0)
        nothing = (like(one, 0.0), like(one, 0.0), like(one, 0.0))
        first, second, at, _, _ = two_bone_rotations.solve(
            start, mid, end, goal[3], nothing, False, nothing, False, one, one
        )
        error[i] = vec.length(vec.sub(at, goal[3]))
        for k in range(2):
            turn = under_scale(first if k == 0 else second, s, i, arm[k])
            store_turn(r, i, arm[k], quat.unit(quat.mul(turn_at(r, i, arm[k]), turn)))


@batch
def _turn_hand(rows, world, place, r, s, arm, above, weapon, grip, memory):
    """Turn the second hand as it was on the weapon."""
    for n in range(rows.size):
        i = rows[n]
        if not memory.turned[i]:
            continue
        hand = arm[2]
        goal = xform.axes(xform.mul(matrix_at(world, i, weapon), matrix_at(grip, i, 0)))
        parent = xform.axes(matrix_of(world, place, i, above))
        one = like(goal[0][0], 1.0)
        # A negative scale is not part of the rotation.
        x = vec.scale(xform.into(parent, goal[0]), -one if s[i, hand, 0] < 0 else one)
        y = vec.scale(xform.into(parent, goal[1]), -one if s[i, hand, 1] < 0 else one)
        z = vec.scale(xform.into(parent, goal[2]), -one if s[i, hand, 2] < 0 else one)
        store_turn(r, i, hand, quat.from_columns(x, y, z))


# --- the stage -------------------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """path, parents: every joint from the first that turns to the weapon. turns: which of them turn; turned: those.

    shares, limits: one for each that turns. own: the character's left, up and forward; where the muzzle starts and
    which way it points, in the weapon's own space.
    """

    path: Any
    parents: Any
    turns: Any
    turned: Any
    shares: Any
    limits: Any
    own: Any


class _Memory(NamedTuple):
    """offset, velocity: (N, 2), what is left of jumps, yaw and pitch. amount, rate: (N,). turned: who aims."""

    offset: Any
    velocity: Any
    amount: Any
    rate: Any
    moving: Any
    turned: Any


class AimReport(NamedTuple):
    """What a frame of `Aim` came to, for every character; (N,) each."""

    error: Any
    """Angle between the muzzle and the target, radians; 0 without a target."""
    reached: Any
    """Whether there is a target and the muzzle points at it."""
    grip_error: Any
    """Distance of the second hand from its place on the weapon, metres; 0 without one."""


@dataclass(frozen=True, kw_only=True)
class Aim(Stage):
    """Points what a joint holds at a target: `state.aim_at(point)`, until `state.release()`.

    joint: the weapon's, or the hand that holds it. forward, offset: which way the muzzle points and where it is, in
    that joint's own space.
    spread: which joints turn and their shares, by joint; spine, and shoulder and upper arm of the arm above the joint,
    all alike if not given. max_angle: the largest turn of one of them, radians, one number or one by joint.
    grip: the arm, by the rig's name, whose hand stays where the animation has it on the weapon.
    half_life: seconds after which half of a jump to a new target is done.
    """

    joint: Joint
    forward: Any = (0.0, 0.0, 1.0)
    offset: Any = (0.0, 0.0, 0.0)
    spread: Mapping[Joint, float] | None = None
    max_angle: float | Mapping[Joint, float] = 0.8
    grip: str | None = None
    half_life: float = 0.06

    order: ClassVar[int] = 40

    def __post_init__(self) -> None:
        validation.axis("forward", self.forward)
        validation.number("half_life", self.half_life, 0.0)
        for name in ("spread", "max_angle"):
            value = getattr(self, name)
            each = value if isinstance(value, Mapping) else {} if value is None else {None: value}
            for joint, amount in each.items():
                where = name if joint is None else f"{name}[{joint!r}]"
                validation.number(where, amount, 0.0, math.inf if name == "spread" else math.pi)

    def start(self, body: Crowd) -> AimState:
        return AimState(self, body)


class AimState(StageState):
    """What each character aims at, and how far it has come."""

    def __init__(self, settings: Aim, body: Crowd) -> None:
        real = body.precision
        self._body = body
        self._targets = Targets(body)
        self._plan = _plan(settings, body)
        self._weapon = int(self._plan.path[-1])
        self._numbers = (real(settings.half_life), real(np.finfo(real).eps * ROUNDING))
        flags = body.zeros(dtype=bool), body.zeros(dtype=bool)
        self._memory = _Memory(body.zeros(2), body.zeros(2), body.zeros(), body.zeros(), *flags)
        self._report = AimReport(body.zeros(), body.zeros(dtype=bool), body.zeros())
        self._needed: tuple[int, ...] = (self._weapon,)
        self._arm: Any = None if settings.grip is None else _grip_arm(settings.grip, body, self._plan)
        self._grip = body.zeros(1, 12)
        if self._arm is not None:
            self._needed = (self._weapon, int(self._arm[-1]))

    def aim_at(self, point: Any, rows: Any = None) -> None:
        """Aim at a point in the world from now on. point: (3,), or one for each, (N, 3). rows: who; all."""
        self._targets.set(point, rows)

    def release(self, rows: Any = None) -> None:
        """Let go: ease back to the animation, and leave it alone from then on."""
        self._targets.clear(rows)

    def awake(self, dt: float) -> Any:
        return self._memory.moving | self._targets.fresh

    def update(self, context: FrameContext) -> AimReport:
        self._report.grip_error[context.rows] = 0
        if self._arm is not None:
            over_rows(context, _remember_grip, context.world(self._needed), self._weapon, self._arm[-1], self._grip)
        if self._point(context) and self._arm is not None:
            self._hold_on(context)
        self._targets.seen(context.rows)
        return AimReport(*(array.copy() for array in self._report))

    def _point(self, context: FrameContext) -> int:
        """Turn the joints that aim. Returns how many poses changed."""
        world = context.world(self._needed)
        with context.edit(self._plan.turned) as local:
            changed = over_rows(
                context,
                _aim,
                (local.t, local.r, local.s),
                world,
                context.transform,
                context.weights,
                self._plan,
                self._targets.points,
                self._memory,
                self._report,
                self._numbers,
                self._body.precision(context.dt),
            )
            if not changed:
                local.unchanged()
        return changed

    def _hold_on(self, context: FrameContext) -> None:
        """Put the second hand back where it was on the weapon."""
        arm, shared = self._arm, (self._weapon, self._grip, self._memory)
        world = context.world(self._needed)
        with context.edit(arm) as local:
            over_rows(context, _reach_grip, world, local.r, local.s, arm, *shared, self._report.grip_error)
        world = context.world(self._needed)
        above = int(self._body.skeleton.parents[arm[-1]])
        with context.edit(arm) as local:
            over_rows(context, _turn_hand, world, context.transform, local.r, local.s, arm, above, *shared)


def _plan(settings: Aim, body: Crowd) -> _Plan:
    rig, skeleton, real = body.rig, body.skeleton, body.precision
    weapon = skeleton.index(settings.joint)
    shares = _shares(settings, body, weapon)
    turned = indices(skeleton, sorted(shares))
    path = np.array(skeleton.chain(int(turned[0]), weapon))
    muzzle = validation.vectors("offset", settings.offset, 3, np.float64), validation.axis("forward", settings.forward)
    return _Plan(
        path=path,
        parents=skeleton.parents[path],
        turns=np.isin(path, turned),
        turned=turned,
        shares=np.array([shares[int(joint)] for joint in turned], real),
        limits=np.array([_limit(settings.max_angle, skeleton, int(joint)) for joint in turned], real),
        own=as_tuples((*own_frame(rig, -1), *muzzle), real),
    )


def _shares(settings: Aim, body: Crowd, weapon: int) -> dict[int, float]:
    """What each joint that turns takes, by index."""
    rig, skeleton = body.rig, body.skeleton
    holding = set(skeleton.above([weapon]).tolist())
    if settings.spread is None:
        carrying = [arm for arm in rig.arms if holding.issuperset(arm.joints)]
        usual = [*rig.spine, *(joint for arm in carrying for joint in (arm.shoulder, arm.joints[0]))]
        return dict.fromkeys(holding.intersection(usual) or {weapon}, 1.0)
    shares = {skeleton.index(joint): float(share) for joint, share in settings.spread.items()}
    for joint in shares:
        if joint not in holding:
            raise InputError(f"spread: {skeleton.names[joint]!r} does not carry {skeleton.names[weapon]!r}")
    if not any(shares.values()):
        raise InputError("spread has no joint with a share above 0")
    return shares


def _limit(given: float | Mapping[Joint, float], skeleton: Skeleton, joint: int) -> float:
    """The largest turn of a joint; those that a table leaves out have none but half a turn."""
    if not isinstance(given, Mapping):
        return given
    return {skeleton.index(name): angle for name, angle in given.items()}.get(joint, math.pi)


def _grip_arm(name: str, body: Crowd, plan: _Plan) -> Any:
    """(3,): upper arm, forearm and hand of the arm that holds on."""
    arm: Arm = body.rig.arm(name)
    names, below = body.skeleton.names, set(body.skeleton.below([arm.joints[0]]).tolist())
    for joint in plan.path.tolist():
        if joint in below:
            raise InputError(f"grip: the arm {name!r} carries {names[joint]!r}, which aims; the other arm is meant")
    return indices(body.skeleton, arm.joints[:3])
