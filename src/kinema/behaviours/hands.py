"""`Hands`: each hand at a point in the world, or on what the other hand holds.

The elbow bends in closed form, in the plane the animation bends it in unless there is a pole; where the arm runs out
the shoulder turns to help. Reaching comes in and goes out by a weight on a spring. A target that moves is followed at
once; from one that jumps the hand eases over: the jump becomes an offset, which a spring takes away. The same holds
for the hand's rotation and for the direction of the elbow, whatever makes it turn over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.arm import (
    ArmMemory,
    ArmPlan,
    Scene,
    arm_memory,
    arm_plan,
    matrix_of,
    put,
    quat_at,
    reach_of,
    turn_arm,
    turn_hand,
    vector_at,
)
from kinema.behaviours.blending import chosen
from kinema.behaviours.gaze import settle as eased
from kinema.behaviours.inertia import same_side, vector_of
from kinema.behaviours.jumps import Offsets, Pace, followed, offset_at, put_offset, put_turn
from kinema.behaviours.stage import Crowd, FrameContext, LocalEdit, Stage, StageState, indices
from kinema.constants import FARTHEST_TARGET, THREADS_FROM_POSES, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.pose import unit_rotations
from kinema.skeleton import matrix_at
from kinema.solvers import branch
from kinema.solvers.branch import origin_at, rotation_at

REACH, TURN = 0, 1
"""Columns of weights: of the hand's place, of its rotation."""
PLACE, ROTATION, OFFSETS = 0, 3, 6
"""Columns of a hand's offsets: those of its place, those of its rotation; the end."""


class _Goals(NamedTuple):
    """What one hand of every character is asked for. World space; the grip in the space of the hand held on to."""

    held: Any
    """(N,): whether there is a goal; without one the last goes on fading out."""
    position: Any
    """(N, 3)"""
    rotation: Any
    """(N, 4)"""
    pole: Any
    """(N, 3)"""
    has_pole: Any
    """(N,)"""
    weights: Any
    """(N, 2): how much of the place and of the rotation is asked for."""
    source: Any
    """(N,): the arm whose hand it holds on to, -1 if none."""
    given: Any
    """(N, 2): whether place and rotation on that hand are given; else they are as animated."""
    grip_position: Any
    """(N, 3)"""
    grip_rotation: Any
    """(N, 4)"""
    switched: Any
    """(N,): whether it is another goal than before altogether, however near."""


class _Memory(NamedTuple):
    """What is kept of one arm of every character from frame to frame."""

    amount: Any
    """(N, 2): how much of the place and of the rotation is in force, on its way to the weights."""
    rate: Any
    """(N, 2): how fast that changes."""
    offsets: Offsets
    """(N, OFFSETS): what is left of jumps: place (arm lengths), rotation (axis times angle)."""
    place: Any
    """(N, 2, 3): the goal of the frame before, in the world and in the character's own space."""
    turn: Any
    """(N, 2, 4): the same for its rotation."""
    arm: ArmMemory
    moving: Any
    """(N,): whether anything here is still on its way."""


class HandsReport(NamedTuple):
    """What the hands do. N characters, A arms in the rig's order."""

    reached: Any
    """(N, A): whether there is a target and the hand is there, within 1e-4 of the arm's length."""
    error: Any
    """(N, A): metres from the hand to its target; 0 without one."""
    angle: Any
    """(N, A): radians from the hand's rotation to the one asked for; 0 without one."""
    weight: Any
    """(N, A): how much of the reach is in force, 0 to 1."""
    limited: Any
    """(N, A): whether a joint of the arm is held back by its limit."""


# --- what is asked for this frame ------------------------------------------------------------------------------


@kernel
def drawn_in(origin, point, farthest):
    """A point, no farther from the origin than this."""
    gap = vec.sub(point, origin)
    length = vec.length(gap)
    return vec.add(origin, vec.scale(gap, farthest / length)) if length > farthest else point


@kernel
def shared(goals, i, step, speed, dt):
    """The share of a step to a new goal that is made at once. A grip is followed however fast, a switch never."""
    if goals.switched[i]:
        return like(dt, 0.0)
    return like(dt, 1.0) if goals.source[i] >= 0 else followed(step, speed * dt)


@routine
def eased_place(goals, memory, i, place, shoulder, size, pace, dt):
    """Where the hand is to be this frame: at its goal, but for what is left of jumps.

    A goal that stands still in the world, or with the character, does not jump when the character does.
    """
    unit = size if size > like(size, 0.0) else like(size, 1.0)
    goal = drawn_in(shoulder, vector_at(goals.position, i), size * like(size, FARTHEST_TARGET))
    step = vec.sub(vector_at(memory.place[i], 0), goal)
    carried = vec.sub(xform.apply(place, vector_at(memory.place[i], 1)), goal)
    step = vec.select(vec.dot(carried, carried) < vec.dot(step, step), carried, step)
    step = vec.scale(step, like(size, 1.0) / unit)
    eased_part = like(size, 1.0) - shared(goals, i, vec.length(step), pace.speed, dt)
    begun = memory.amount[i, REACH] > like(size, 0.0)
    jump = vec.scale(step, eased_part)
    put_offset(memory.offsets, i, PLACE, vec.add(offset_at(memory.offsets, i, PLACE), jump), begun, pace, dt)
    put(memory.place[i], 0, goal)
    put(memory.place[i], 1, xform.apply(xform.inverse(place), goal))
    return vec.add(goal, vec.scale(offset_at(memory.offsets, i, PLACE), size))


@routine
def eased_turn(goals, memory, i, place, pace, dt):
    """The hand's rotation this frame, in the same way."""
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    none = (zero, zero, zero, one)
    goal = quat_at(goals.rotation, i)
    standing = branch.out_of_parent(place, none)
    back = quat.conj(goal)
    step = same_side(quat.mul(quat_at(memory.turn[i], 0), back), none)
    carried = same_side(quat.mul(quat.mul(standing, quat_at(memory.turn[i], 1)), back), none)
    if carried[3] > step[3]:
        step = carried
    jump = vector_of(step)
    jump = vec.scale(jump, one - shared(goals, i, vec.length(jump), pace.speed, dt))
    left = put_turn(memory.offsets, i, ROTATION, jump, memory.amount[i, TURN] > zero, pace, dt)
    put(memory.turn[i], 0, goal)
    put(memory.turn[i], 1, quat.mul(quat.conj(standing), goal))
    return quat.unit(quat.mul(left, goal))


@routine
def amount_of(goals, memory, i, which, pace, dt):
    """How much of the reach, or of the turn, is in force this frame."""
    zero = like(dt, 0.0)
    goal = goals.weights[i, which]
    amount, rate = eased(memory.amount[i, which], memory.rate[i, which], goal, pace.half_life, dt)
    amount = min(max(amount, zero), like(dt, 1.0))
    memory.amount[i, which], memory.rate[i, which] = amount, rate
    memory.moving[i] |= (amount != goal) | (rate != zero)
    return amount


# --- the other hand --------------------------------------------------------------------------------------------


@kernel
def mirrored_with(scene, i, j, q):
    """A turn in a joint's own space as its world rotation has it: mirrored in x under a mirrored parent."""
    side = xform.handedness(xform.axes(matrix_of(scene.world, scene.place, i, scene.parents[j])))
    return (q[0], q[1] * side, q[2] * side, q[3])


@kernel
def world_turn(scene, i, j):
    """The rotation of a joint in world space."""
    above = matrix_of(scene.world, scene.place, i, scene.parents[j])
    return branch.out_of_parent(above, rotation_at(scene.r, i, j))


@batch
def _grip_as_animated(rows, scene, hands, number, goals):
    """Where these characters' hands are on the hands they hold on to, as animated, unless it is given."""
    for n in range(rows.size):
        i = rows[n]
        if goals.source[i] < 0:
            continue
        first, second = hands[goals.source[i]], hands[number]
        if not goals.given[i, 0]:
            holding = xform.inverse(matrix_at(scene.world, i, first))
            put(goals.grip_position, i, xform.apply(holding, origin_at(scene.world, i, second)))
        if not goals.given[i, 1]:
            apart = quat.unit(quat.mul(quat.conj(world_turn(scene, i, first)), world_turn(scene, i, second)))
            put(goals.grip_rotation, i, mirrored_with(scene, i, first, apart))


@routine
def follow_grip(goals, i, scene, first):
    """The goal of a hand on another one, from where that one is by now."""
    put(goals.position, i, xform.apply(matrix_at(scene.world, i, first), vector_at(goals.grip_position, i)))
    apart = mirrored_with(scene, i, first, quat_at(goals.grip_rotation, i))
    put(goals.rotation, i, quat.unit(quat.mul(world_turn(scene, i, first), apart)))


# --- the frame -------------------------------------------------------------------------------------------------


@routine
def judge(arm, scene, goals, i, size, report):
    """How near the hand came to what is asked of it, by the pose as it is."""
    k = arm.number
    missed = vec.length(vec.sub(origin_at(scene.world, i, arm.hand), vector_at(goals.position, i)))
    report.error[i, k], report.reached[i, k] = missed, missed <= size * like(size, TOLERANCE)
    if goals.weights[i, TURN] > like(size, 0.0):
        off = quat.mul(quat.conj(quat_at(goals.rotation, i)), world_turn(scene, i, arm.hand))
        report.angle[i, k] = like(size, 2.0) * math.atan2(vec.length((off[0], off[1], off[2])), abs(off[3]))


@batch
def _reach(rows, scene, weights, hands, arm, goals, memory, report, dt):
    """One frame of one arm of these characters. Returns how many poses changed."""
    zero = like(dt, 0.0)
    k = arm.number
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        report.error[i, k], report.angle[i, k], report.weight[i, k] = zero, zero, zero
        report.reached[i, k], report.limited[i, k] = False, False
        if not (goals.held[i] | memory.moving[i] | (memory.amount[i, REACH] > zero)):
            continue
        if goals.source[i] >= 0:
            follow_grip(goals, i, scene, hands[goals.source[i]])
        memory.moving[i] = False
        size, standing = reach_of(arm, scene.world, i), matrix_at(scene.place, i, 0)
        target = eased_place(goals, memory, i, standing, origin_at(scene.world, i, arm.upper), size, arm.pace, dt)
        wanted = eased_turn(goals, memory, i, standing, arm.pace, dt)
        goals.switched[i] = False
        weight = amount_of(goals, memory, i, REACH, arm.pace, dt) * weights[i]
        hand_weight = amount_of(goals, memory, i, TURN, arm.pace, dt) * weights[i]
        memory.arm.known[i] &= weight > zero
        if weight > zero:
            pole = vector_at(goals.pole, i)
            report.limited[i, k] = turn_arm(arm, scene, memory.arm, i, target, goals.has_pole[i], pole, weight, dt)
        if (weight > zero) | (hand_weight > zero):
            changed += 1
            report.limited[i, k] |= turn_hand(arm, scene, i, wanted, hand_weight)
        report.weight[i, k] = weight
        if goals.held[i]:
            judge(arm, scene, goals, i, size, report)
    return changed


# --- the stage -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Hands(Stage):
    """Hands that reach: `state.reach("left", point)` until `state.release("left")`, and hands that hold on to what the
    other one holds: `state.grip("right", "left")` until `state.let_go("left")`.

    soften: share of its length from which an arm eases into full stretch. ease: seconds in which a reach is half in
    force, or half gone, and in which half of a jump to another target is done.
    shoulder: the largest turn of the shoulder towards a target that the arm alone does not reach, radians.
    speed: how fast a target may move and be followed at once, in arm lengths a second (its rotation, and the elbow's
    way round, in radians a second).
    """

    soften: float = 0.97
    ease: float = 0.15
    shoulder: float = 0.35
    speed: float = 12.0

    order: ClassVar[int] = 30

    def __post_init__(self) -> None:
        validation.number("soften", self.soften, 0.0, 1.0)
        validation.number("ease", self.ease, 0.0)
        validation.number("shoulder", self.shoulder, 0.0, 1.0)
        validation.number("speed", self.speed, 0.0)

    def start(self, body: Crowd) -> HandsState:
        return HandsState(self, body)


class HandsState(StageState):
    """What each hand is asked for, and how far it has come."""

    def __init__(self, settings: Hands, body: Crowd) -> None:
        rig, skeleton, real = body.rig, body.skeleton, body.precision
        if not rig.arms:
            raise InputError("Hands needs arms; this rig has none")
        self._body = body
        pace = Pace(real(settings.ease), real(settings.speed))
        self._arms = [
            arm_plan(body, n, arm, settings.soften, settings.shoulder, pace) for n, arm in enumerate(rig.arms)
        ]
        self._goals = [_goals(body) for _ in self._arms]
        self._memories = [_memory(body) for _ in self._arms]
        self._hands = indices(skeleton, [arm.hand for arm in self._arms])
        shape = (body.count, len(self._arms))
        flags, figures = np.zeros((2, *shape), bool), np.zeros((3, *shape), real)
        self._report = HandsReport(flags[0], figures[0], figures[1], figures[2], flags[1])
        self._fresh = body.zeros(dtype=bool)
        self._after = np.zeros(shape, np.int64)

    # --- what users set ----------------------------------------------------------------------------------------

    def reach(
        self, arm: str, position: Any, rotation: Any = None, pole: Any = None, weight: Any = 1.0, rows: Any = None
    ) -> None:
        """Bring a hand to a point from now on, instead of what it did.

        arm: by the rig's name. position: (3,), or one for each of the rows, (n, 3), world space. rotation: (4,) or
        (n, 4), the hand's in world space; as the arm carries it if None. pole: (3,) or (n, 3), a point in the world for
        the elbow to go towards; as animated if None. weight: one number or (n,), 0 to 1. rows: who; all if None.
        """
        n, rows = self._index(arm), chosen(rows, self._body.count)
        at = self._each("position", position, 3, rows)
        turn, towards = self._each("rotation", rotation, 4, rows), self._each("pole", pole, 3, rows)
        share = self._shares(weight, rows)
        new = _rows_of(self._goals[n], rows)
        new.held[:], new.source[:], new.has_pole[:] = True, -1, pole is not None
        new.position[:] = at
        new.weights[:, REACH], new.weights[:, TURN] = share, share if rotation is not None else 0.0
        if rotation is not None:
            new.rotation[:] = turn
        if pole is not None:
            new.pole[:] = towards
        self._take(n, rows, new)

    def grip(
        self,
        first: str,
        second: str,
        offset_position: Any = None,
        offset_rotation: Any = None,
        weight: Any = 1.0,
        rows: Any = None,
    ) -> None:
        """Keep the second arm's hand on what the first one's holds from now on, instead of what it did.

        first, second: arms by the rig's names. offset_position: (3,) or one for each of the rows, (n, 3);
        offset_rotation: (4,) or (n, 4): where the second hand is and how it is turned in the first one's own space;
        each as the animation has it in every frame if None. weight: one number or (n,), 0 to 1. rows: who; all if None.
        """
        n, source, rows = self._index(second), self._index(first), chosen(rows, self._body.count)
        at = self._each("offset_position", offset_position, 3, rows)
        turn = self._each("offset_rotation", offset_rotation, 4, rows)
        share = self._shares(weight, rows)
        self._check_no_ring(source, n, rows)
        new = _rows_of(self._goals[n], rows)
        new.held[:], new.source[:], new.has_pole[:] = True, source, False
        new.weights[:] = share[:, np.newaxis]
        new.given[:] = offset_position is not None, offset_rotation is not None
        if offset_position is not None:
            new.grip_position[:] = at
        if offset_rotation is not None:
            new.grip_rotation[:] = turn
        self._take(n, rows, new)

    def release(self, arm: str, rows: Any = None) -> None:
        """Whatever this hand does, ease back to the animation, and leave it alone from then on."""
        self._end(self._index(arm), chosen(rows, self._body.count))

    def let_go(self, arm: str, rows: Any = None) -> None:
        """End the grip of this hand. A hand that reaches on its own goes on doing so."""
        n, rows = self._index(arm), chosen(rows, self._body.count)
        self._end(n, rows[self._goals[n].source[rows] >= 0])

    def _end(self, n: int, rows: Any) -> None:
        new = _rows_of(self._goals[n], rows)
        new.held[:], new.source[:], new.weights[:] = False, -1, 0.0
        self._take(n, rows, new)

    def _take(self, n: int, rows: Any, new: _Goals) -> None:
        """Put these rows' goals in force, and note whether anything is new about them."""
        if not rows.size:
            return
        old = self._goals[n]
        differs = {f: (getattr(old, f)[rows] != getattr(new, f)).reshape(rows.size, -1).any(-1) for f in old._fields}
        new.switched[:] |= differs["source"] | differs["given"]
        new.switched[:] |= (new.source >= 0) & new.given.any(-1) & (differs["grip_position"] | differs["grip_rotation"])
        for mine, theirs in zip(old, new, strict=True):
            mine[rows] = theirs
        self._fresh[rows] |= np.any(list(differs.values()), axis=0)
        if differs["source"].any():
            self._order()

    def _order(self) -> None:
        """(N, A): how many other hands have to be in place before each one."""
        sources = np.stack([goals.source for goals in self._goals], axis=-1)
        self._after[:] = 0
        for _ in self._arms:
            before = np.take_along_axis(self._after, np.maximum(sources, 0), axis=-1)
            self._after = np.where(sources >= 0, before + 1, 0)

    def _check_no_ring(self, source: int, n: int, rows: Any) -> None:
        names = [arm.name for arm in self._body.rig.arms]
        at = np.full(rows.size, source)
        for _ in self._arms:
            ring = at == n
            if ring.any():
                who = int(rows[int(np.argmax(ring))])
                raise InputError(
                    f"second: {names[n]!r} cannot hold on to {names[source]!r}, which holds on to it (character {who})"
                )
            sources = np.stack([goals.source[rows] for goals in self._goals], axis=-1)
            at = np.where(at >= 0, np.take_along_axis(sources, np.maximum(at, 0)[:, np.newaxis], -1)[:, 0], -1)

    def _index(self, arm: str) -> int:
        return self._body.rig.arms.index(self._body.rig.arm(arm))

    def _each(self, name: str, value: Any, width: int, rows: Any) -> Any:
        """A vector, or a rotation, for each of these rows; None for None."""
        if value is None:
            return None
        real = self._body.precision
        array = unit_rotations(name, value, real) if width == 4 else validation.vectors(name, value, width, real)
        if array.shape not in ((width,), (rows.size, width)):
            raise InputError(f"{name} must have shape ({width},) or ({rows.size}, {width}), got {array.shape}")
        return array

    def _shares(self, weight: Any, rows: Any) -> Any:
        array = validation.weights("weight", weight, self._body.precision)[..., 0]
        if array.shape not in ((), (rows.size,)):
            raise InputError(f"weight must be one number or have shape ({rows.size},), got {array.shape}")
        return np.broadcast_to(array, (rows.size,))

    # --- the frame ---------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Any:
        return np.logical_or.reduce([memory.moving for memory in self._memories]) | self._fresh

    def reset(self, rows: Any) -> None:
        for goals, memory in zip(self._goals, self._memories, strict=True):
            for array in (memory.amount, memory.rate, memory.arm.known):
                array[rows] = 0
            memory.moving[rows] = goals.weights[rows].any(axis=-1)

    def update(self, context: FrameContext) -> HandsReport:
        """One frame: grips as animated, then hand by hand, each after the one it holds on to."""
        after = self._after[context.rows]
        with context.edit(self._hands) as local:
            scene = self._scene(context, local)
            for arm in self._arms:
                rows = context.rows[after[:, arm.number] > 0]
                if rows.size:
                    _in_threads(rows, _grip_as_animated, scene, self._hands, arm.number, self._goals[arm.number])
            local.unchanged()
        for turn in range(int(after.max(initial=0)) + 1):
            for arm in self._arms:
                self._solve(context, arm, context.rows[after[:, arm.number] == turn])
        self._fresh[context.rows] = False
        return HandsReport(*(array.copy() for array in self._report))

    def _scene(self, context: FrameContext, local: LocalEdit) -> Scene:
        world, parents = context.world(self._hands), self._body.skeleton.parents
        return Scene(local.t, local.r, local.s, world, context.transform, parents)

    def _solve(self, context: FrameContext, arm: ArmPlan, rows: Any) -> None:
        """One arm of these characters."""
        if not rows.size:
            return
        n, dt = arm.number, self._body.precision(context.dt)
        kept = self._goals[n], self._memories[n], self._report
        with context.edit(arm.path[:1]) as local:
            scene = self._scene(context, local)
            if not _in_threads(rows, _reach, scene, context.weights, self._hands, arm, *kept, dt):
                local.unchanged()


def _in_threads(rows: Any, loop: Any, *arguments: Any) -> int:
    """Run a batch loop over some characters. Returns the sum of what it returns."""

    def part(first: int, last: int) -> int:
        return loop(rows[first:last], *arguments) or 0

    return sum(validation.in_chunks(part, rows.size, THREADS_FROM_POSES, 1))


def _rows_of(goals: _Goals, rows: Any) -> _Goals:
    """A copy of some rows."""
    return _Goals(*(array[rows] for array in goals))


def _goals(body: Crowd) -> _Goals:
    flag, zeros = bool, body.zeros
    no_turn = np.array((0.0, 0.0, 0.0, 1.0), body.precision)
    return _Goals(
        held=zeros(dtype=flag),
        position=zeros(3),
        rotation=zeros(4) + no_turn,
        pole=zeros(3),
        has_pole=zeros(dtype=flag),
        weights=zeros(2),
        source=zeros(dtype=np.int64) - 1,
        given=zeros(2, dtype=flag),
        grip_position=zeros(3),
        grip_rotation=zeros(4) + no_turn,
        switched=zeros(dtype=flag),
    )


def _memory(body: Crowd) -> _Memory:
    zeros = body.zeros
    no_turn = np.array((0.0, 0.0, 0.0, 1.0), body.precision)
    moving = zeros(dtype=bool)
    return _Memory(
        amount=zeros(2),
        rate=zeros(2),
        offsets=Offsets(zeros(OFFSETS), zeros(OFFSETS), moving),
        place=zeros(2, 3),
        turn=zeros(2, 4) + no_turn,
        arm=arm_memory(body, moving),
        moving=moving,
    )
