"""One arm brought to a target: the shoulder helps, the elbow bends, the limits of every joint hold, and nothing jumps.

The elbow is bent in closed form. What is left open then is the swing of the elbow about the line from shoulder to hand:
as the animation has it, or towards a pole, and inside the limit of the upper arm. Where that changes by itself, as it
does with a target straight opposite the animated arm, the elbow is eased over with the hand in its place.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema._jit import kernel, like, routine
from kinema.behaviours.gaze import wrapped as half_turned
from kinema.behaviours.inertia import same_side, vector_of
from kinema.behaviours.jumps import Offsets, Pace, followed, offset_at, put_offset, put_turn
from kinema.behaviours.stage import Crowd, indices
from kinema.constants import (
    ARM_PASSES,
    ELBOW_HALVINGS,
    ELBOW_SAMPLES,
    ELBOW_STRAIGHT,
    POLE_FADE_HINTED,
    ROUNDING_TURN,
    SHOULDER_EASE,
    SHOULDER_START,
)
from kinema.limits import HINGE, NONE, Hinge, hinge_axis
from kinema.math import quat, vec, xform
from kinema.rig import Arm
from kinema.skeleton import matrix_at
from kinema.solvers import branch, two_bone, two_bone_rotations
from kinema.solvers.branch import origin_at, rotation_at, store_rotation

ELBOW, JOINTS, OFFSETS = 0, 1, 7
"""Columns of an arm's offsets: the elbow's, those of upper arm and forearm; the end."""


@kernel
def vector_at(table, i):
    """A vector out of (N, 3)."""
    return (table[i, 0], table[i, 1], table[i, 2])


@kernel
def quat_at(table, i):
    """A quaternion out of (N, 4)."""
    return (table[i, 0], table[i, 1], table[i, 2], table[i, 3])


@kernel
def put(table, i, values):
    """A vector or a quaternion into a row of a table."""
    for c in range(len(values)):
        table[i, c] = values[c]


@kernel
def matrix_of(world, place, i, joint):
    """World matrix of a joint; for -1, what stands above a root, the place of the character."""
    return matrix_at(place, i, 0) if joint < 0 else matrix_at(world, i, joint)


def as_tuples(vectors: Any, real: Any) -> tuple[tuple[Any, ...], ...]:
    """Vectors as kernels take them."""
    return tuple(tuple(real(x) for x in vector) for vector in vectors)


class Limits(NamedTuple):
    """Limits of all joints, as `Skeleton.limit_rows` gives them, and the rounding of a rotation."""

    rest: Any
    bones: Any
    table: Any
    rounding: Any


class ArmPlan(NamedTuple):
    """What is known of an arm before the first frame.

    number: its place in the rig. path: every joint from the shoulder (from the upper arm, if there is none) to the
    hand. first: where the upper arm is on it. shoulder: -1 if there is none. above: the joint it all hangs from, or -1.
    axis: what the elbow bends about, in the axes its local rotation acts in; hinged: whether about nothing else.
    soften: share of its length from which it eases into full stretch. largest: turn of the shoulder, radians.
    """

    number: int
    path: Any
    first: int
    shoulder: int
    upper: int
    fore: int
    hand: int
    above: int
    axis: Any
    hinged: bool
    limits: Limits
    soften: Any
    largest: Any
    pace: Pace


class Scene(NamedTuple):
    """The frame being made: local transforms, world matrices, places and parents, as `FrameContext` has them."""

    t: Any
    r: Any
    s: Any
    world: Any
    place: Any
    parents: Any


class ArmMemory(NamedTuple):
    """What is kept of one arm of every character from frame to frame."""

    offsets: Offsets
    """(N, OFFSETS): elbow (angle about the line from shoulder to hand), upper arm and forearm (axis times angle)."""
    elbow: Any
    """(N, 2, 3): the line from shoulder to hand and, across it, the way to the elbow, in the space the arm hangs in."""
    joints: Any
    """(N, 2, 4): local rotations of upper arm and forearm as solved in the frame before."""
    known: Any
    """(N,): whether the arm was solved in the frame before."""


# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def reach_of(arm, world, i):
    """The length of an arm, metres in the world."""
    elbow = origin_at(world, i, arm.fore)
    upper, fore = vec.sub(elbow, origin_at(world, i, arm.upper)), vec.sub(origin_at(world, i, arm.hand), elbow)
    return vec.length(upper) + vec.length(fore)


@kernel
def turning(scene, i, j):
    """A joint's world matrix without negative scales of its own: its axes are those its local rotation acts in."""
    return xform.unmirrored(matrix_at(scene.world, i, j), scene.s[i, j])


@kernel
def refresh(arm, scene, i, first):
    """World matrices of one character's arm, from a place on its path on."""
    t, r, s, world, place, parents = scene
    branch.refresh(i, arm.path, first, arm.path.size, parents, place, t, r, s, world)


@kernel
def hold(arm, scene, i, j):
    """One joint into its limit. Returns whether it had to be moved."""
    return branch.hold_limit(i, j, arm.limits.rest, arm.limits.bones, arm.limits.table, arm.limits.rounding, scene.r)


@kernel
def turn_about(frame, axis, angle):
    """A turn about a unit axis of the world, in the axes of a frame."""
    return quat.from_axis_angle(vec.scale(xform.into(frame, axis), xform.handedness(frame)), angle)


@kernel
def angle_about(axis, a, b):
    """The angle from a to b about a unit axis, both across it, -pi to pi."""
    return math.atan2(vec.dot(axis, vec.cross(a, b)), vec.dot(a, b))


@routine
def shoulder_turn(pivot, root, target, size, soften, largest):
    """The turn about the pivot that brings the arm's root nearer to a target that is hard to reach: a unit axis of the
    world and an angle.

    With a and t the ways to root and target and phi the angle between them, a turn by theta leaves a distance d with
    d^2 = a^2 + t^2 - 2 a t cos(phi - theta). What d is to be grows more slowly than the distance there is and ends at
    the elbow's soft stretch. The largest turn goes with sin(phi): where turning does not help, there is none.
    """
    zero = like(size, 0.0)
    one = like(size, 1.0)
    two = like(size, 2.0)
    none = ((zero, one, zero), zero)
    if (size <= zero) | (largest <= zero):
        return none
    a = vec.scale(vec.sub(root, pivot), one / size)
    t = vec.scale(vec.sub(target, pivot), one / size)
    distance = vec.length(vec.sub(t, a))
    wanted = two_bone.eased(distance, soften, zero, like(size, SHOULDER_START))
    across = vec.cross(a, t)
    sine, cosine = vec.length(across), vec.dot(a, t)
    product = vec.length(a) * vec.length(t)
    if (distance <= wanted) | (sine <= zero) | (product <= zero):
        return none
    left = (vec.dot(a, a) + vec.dot(t, t) - wanted * wanted) / (two * product)
    needed = math.atan2(sine, cosine) - math.acos(min(max(left, -one), one))
    angle = two_bone.eased(max(needed, zero), largest * min(sine / product, one), zero, like(size, SHOULDER_EASE))
    return vec.scale(across, one / sine), angle


@routine
def elbow_axis(arm, start, mid, end):
    """What the elbow bends about, in the axes of its matrix: its hinge, else the bend it has; where that is nearly
    straight, more and more the bend at rest.
    """
    if arm.hinged:
        return arm.axis
    one = like(start[0], 1.0)
    zero = like(start[0], 0.0)
    frame = xform.axes(mid)
    none = (zero, zero, zero)
    to_start = vec.unit_or(xform.into(frame, vec.sub(start, mid[3])), none)
    to_end = vec.unit_or(xform.into(frame, vec.sub(end, mid[3])), none)
    bend = vec.faded(vec.cross(to_end, to_start), one, like(one, ELBOW_STRAIGHT), arm.axis)
    return vec.unit_or(bend, arm.axis)


@routine
def swing_to_pole(pole, line, shoulder, elbow):
    """The angle about the line from shoulder to hand that brings the elbow to the pole; on that line the pole fades."""
    one = like(line[0], 1.0)
    zero = like(line[0], 0.0)
    to_pole = vec.sub(pole, shoulder)
    aside = vec.reject(to_pole, line)
    fade = vec.length(to_pole) * like(one, POLE_FADE_HINTED)
    return angle_about(line, elbow, aside) * (min(vec.length(aside) / fade, one) if fade > zero else zero)


class Swing(NamedTuple):
    """A joint that can be swung about a line: its frame, the line, the turn it makes first, its rotation before that,
    and its index.
    """

    frame: Any
    line: Any
    first: Any
    own: Any
    joint: Any


@routine
def broken_by(angle, swing, limits_of):
    """By how much, in radians, a joint breaks its limit once it is swung by an angle."""
    j = swing.joint
    turned = quat.mul(swing.own, quat.mul(turn_about(swing.frame, swing.line, angle), swing.first))
    turned = quat.unit(turned)
    rest, bone = quat_at(limits_of.rest, j), vector_at(limits_of.bones, j)
    held, moved = branch.into_limit(turned, rest, bone, limits_of.table[j], limits_of.rounding)
    off = quat.mul(quat.conj(turned), held)
    apart = like(angle, 2.0) * math.atan2(vec.length((off[0], off[1], off[2])), abs(off[3]))
    return max(apart, limits_of.rounding) if moved else like(angle, 0.0)


@routine
def where_allowed(allowed, broken, swing, limits_of):
    """The angle at which a limit begins, between one that is allowed and one that breaks it, on the allowed side."""
    half = like(allowed, 0.5)
    for _ in range(ELBOW_HALVINGS):
        middle = (allowed + broken) * half
        if broken_by(middle, swing, limits_of) <= like(allowed, 0.0):
            allowed = middle
        else:
            broken = middle
    return allowed


@routine
def least_broken(angle, step, swing, limits_of):
    """The angle next to this one at which the limit is broken least."""
    least = broken_by(angle, swing, limits_of)
    for _ in range(ELBOW_HALVINGS):
        step = step * like(angle, 0.5)
        for side in (step, -step):
            broken = broken_by(angle + side, swing, limits_of)
            if broken < least:
                least, angle = broken, angle + side
                break
    return angle


@routine
def allowed_swing(wanted, swing, limits_of):
    """The swing nearest to the wanted one that a joint's limit allows; if none does, the one that breaks it least.

    All arms with the hand in its place differ by their swing alone, so one that is inside the limit is found here.
    """
    zero = like(wanted, 0.0)
    whole = like(wanted, 2.0 * math.pi)
    step = whole / like(wanted, ELBOW_SAMPLES)
    least, best = broken_by(wanted, swing, limits_of), zero
    if least <= zero:
        return wanted
    for k in range(1, ELBOW_SAMPLES // 2 + 1):
        nearest = whole
        for side in (step, -step):
            away = side * like(wanted, k)
            broken = broken_by(wanted + away, swing, limits_of)
            if broken <= zero:
                away = where_allowed(wanted + away, wanted + away - side, swing, limits_of) - wanted
                nearest = away if abs(away) < abs(nearest) else nearest
            elif broken < least:
                least, best = broken, away
        if nearest < whole:
            return wanted + nearest
    found = least_broken(wanted + best, step, swing, limits_of)
    if broken_by(found, swing, limits_of) > zero:
        return found
    # One sample nearer, or the wanted angle itself, is not allowed: between them the limit begins.
    nearer = best - (step if best > zero else -step) if best != zero else zero
    return where_allowed(found, wanted + nearer, swing, limits_of)


@routine
def eased_swing(memory, i, angle, above, line, elbow, pace, dt):
    """A swing of the elbow, but for what is left of jumps from one to the next. elbow: where it is before the swing."""
    one = like(dt, 1.0)
    now = quat.rotate(quat.from_axis_angle(line, angle), elbow)
    frame = xform.axes(above)
    last_line = vec.unit_or(xform.linear(frame, vector_at(memory.elbow[i], 0)), line)
    last = xform.linear(frame, vector_at(memory.elbow[i], 1))
    last = vec.reject(quat.rotate(quat.between(last_line, line, vec.hinge_of(last_line)), last), line)
    jump = angle_about(line, now, last)
    jump = jump * (one - followed(abs(jump), pace.speed * dt))
    offset = half_turned(memory.offsets.values[i, ELBOW] + jump)
    put_offset(memory.offsets, i, ELBOW, (offset,), memory.known[i], pace, dt)
    put(memory.elbow[i], 0, xform.into(frame, line))
    put(memory.elbow[i], 1, xform.into(frame, now))
    memory.known[i] = True
    return angle + memory.offsets.values[i, ELBOW]


@routine
def bend_arm(arm, scene, memory, i, target, has_pole, pole, dt):
    """Turn upper arm and forearm so that the hand comes to the target. World matrices are read, not refreshed.

    Returns whether a limit keeps the elbow from where it should be.
    """
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    none = (zero, zero, zero)
    start, mid, end = turning(scene, i, arm.upper), turning(scene, i, arm.fore), matrix_at(scene.world, i, arm.hand)
    axis = elbow_axis(arm, start[3], mid, end[3])
    first, second, at, _, _ = two_bone_rotations.solve(
        start, mid, end, target, axis, two_bone_rotations.ALWAYS, none, False, arm.soften, one
    )
    limited = False
    frame, fore_frame = xform.axes(start), xform.axes(mid)
    reach = vec.sub(at, start[3])
    span = vec.span(reach)
    line = vec.unit_or(vec.scale(reach, one / (span if span > zero else one)), none)
    if vec.span(line) > zero:
        # A positive turn about the axis bends the elbow, so it points from the line to the side of line x axis.
        hinge = vec.scale(xform.linear(fore_frame, axis), xform.handedness(fore_frame))
        hinge = xform.linear(frame, quat.rotate(first, xform.into(frame, hinge)))
        elbow = vec.unit_or(vec.reject(vec.cross(line, hinge), line), vec.unit_side(line))
        above = matrix_of(scene.world, scene.place, i, arm.above)
        wanted = swing_to_pole(pole, line, start[3], elbow) if has_pole else zero
        wanted = eased_swing(memory, i, wanted, above, line, elbow, arm.pace, dt)
        angle = wanted
        if arm.limits.table[arm.upper, 0] != NONE:
            swing = Swing(frame, line, first, rotation_at(scene.r, i, arm.upper), arm.upper)
            angle = allowed_swing(wanted, swing, arm.limits)
        limited = angle != wanted
        first = quat.mul(turn_about(frame, line, angle), first)
    branch.turn_joint(scene.r, i, arm.upper, first)
    branch.turn_joint(scene.r, i, arm.fore, second)
    return limited


@routine
def descend(arm, scene, i, target):
    """Forearm and upper arm in turn, each as near to the target as its limit lets it (cyclic coordinate descent)."""
    for n in range(2 * ARM_PASSES):
        j = arm.fore if n % 2 == 0 else arm.upper
        frame = xform.axes(turning(scene, i, j))
        here = origin_at(scene.world, i, j)
        now = xform.into(frame, vec.sub(origin_at(scene.world, i, arm.hand), here))
        wanted = xform.into(frame, vec.sub(target, here))
        if arm.limits.table[j, 0] == HINGE:
            axis = hinge_axis(arm.limits.table[j])
            now, wanted = vec.reject(now, axis), vec.reject(wanted, axis)
        branch.turn_joint(scene.r, i, j, branch.smallest_turn(now, wanted))
        hold(arm, scene, i, j)
        refresh(arm, scene, i, arm.first)


@routine
def ease_joint(arm, scene, memory, i, n, begun, dt):
    """Ease one joint of an arm with limits over what they make it jump by: from one end of its range to the other."""
    j, column = (arm.upper, JOINTS) if n == 0 else (arm.fore, JOINTS + 3)
    none = (like(dt, 0.0), like(dt, 0.0), like(dt, 0.0), like(dt, 1.0))
    now = rotation_at(scene.r, i, j)
    jump = vector_of(same_side(quat.mul(quat_at(memory.joints[i], n), quat.conj(now)), none))
    jump = vec.scale(jump, like(dt, 1.0) - followed(vec.length(jump), arm.pace.speed * dt))
    left = put_turn(memory.offsets, i, column, jump, begun, arm.pace, dt)
    put(memory.joints[i], n, now)
    if vec.span(offset_at(memory.offsets, i, column)) > like(dt, 0.0):
        store_rotation(scene.r, i, j, quat.unit(quat.mul(left, now)))


@routine
def help_by_shoulder(arm, scene, i, target):
    """Turn the shoulder towards a target that is hard to reach. Returns whether its limit holds it back."""
    world = scene.world
    pivot, root = origin_at(world, i, arm.shoulder), origin_at(world, i, arm.upper)
    axis, angle = shoulder_turn(pivot, root, target, reach_of(arm, world, i), arm.soften, arm.largest)
    if angle > like(angle, 0.0):
        frame = xform.axes(turning(scene, i, arm.shoulder))
        branch.turn_joint(scene.r, i, arm.shoulder, turn_about(frame, axis, angle))
    limited = hold(arm, scene, i, arm.shoulder)
    refresh(arm, scene, i, 0)
    return limited


@routine
def take_back(arm, scene, i, j, before, weight):
    """A joint's rotation between the one from before (weight 0) and that of now, inside its limit in any case."""
    if weight <= like(weight, 0.0):
        store_rotation(scene.r, i, j, before)
    elif weight < like(weight, 1.0):
        store_rotation(scene.r, i, j, quat.unit(quat.slerp(before, rotation_at(scene.r, i, j), weight)))
    return hold(arm, scene, i, j)


@routine
def turn_arm(arm, scene, memory, i, target, has_pole, pole, weight, dt):
    """Shoulder, upper arm and forearm by one character's weight. Returns whether a limit holds one of them back."""
    helps, begun = arm.shoulder >= 0, memory.known[i]
    shoulder = rotation_at(scene.r, i, max(arm.shoulder, 0))
    upper, fore = rotation_at(scene.r, i, arm.upper), rotation_at(scene.r, i, arm.fore)
    limited = help_by_shoulder(arm, scene, i, target) if helps else False
    limited |= bend_arm(arm, scene, memory, i, target, has_pole, pole, dt)
    refresh(arm, scene, i, arm.first)
    free = origin_at(scene.world, i, arm.hand)
    if hold(arm, scene, i, arm.upper) | hold(arm, scene, i, arm.fore):
        limited = True
        refresh(arm, scene, i, arm.first)
        descend(arm, scene, i, free)
    if (arm.limits.table[arm.upper, 0] != NONE) | (arm.limits.table[arm.fore, 0] != NONE):
        ease_joint(arm, scene, memory, i, 0, begun, dt)
        ease_joint(arm, scene, memory, i, 1, begun, dt)
    if helps:
        limited |= take_back(arm, scene, i, arm.shoulder, shoulder, weight)
    limited |= take_back(arm, scene, i, arm.upper, upper, weight)
    limited |= take_back(arm, scene, i, arm.fore, fore, weight)
    refresh(arm, scene, i, 0)
    return limited


@routine
def turn_hand(arm, scene, i, wanted, weight):
    """The hand by its own weight. Returns whether its limit holds it back."""
    before = rotation_at(scene.r, i, arm.hand)
    if weight > like(weight, 0.0):
        above = matrix_at(scene.world, i, scene.parents[arm.hand])
        store_rotation(scene.r, i, arm.hand, branch.into_parent(above, wanted))
    limited = take_back(arm, scene, i, arm.hand, before, weight)
    refresh(arm, scene, i, arm.path.size - 1)
    return limited


# --- what is known before the first frame ----------------------------------------------------------------------


def arm_plan(body: Crowd, number: int, arm: Arm, soften: float, largest: float, pace: Pace) -> ArmPlan:
    skeleton, real = body.skeleton, body.precision
    upper, fore, hand = (int(arm.joints[n]) for n in (0, 1, -1))
    top = upper if arm.shoulder is None else int(arm.shoulder)
    path = indices(skeleton, skeleton.chain(top, hand))
    axis, hinged = _elbow(body, (upper, fore, hand))
    table, bones, rest = skeleton.limit_rows(real)
    return ArmPlan(
        number=number,
        path=path,
        first=int(np.searchsorted(path, upper)),
        shoulder=-1 if arm.shoulder is None else top,
        upper=upper,
        fore=fore,
        hand=hand,
        above=int(skeleton.parents[top]),
        axis=as_tuples((axis,), real)[0],
        hinged=hinged,
        limits=Limits(rest, bones, table, real(np.finfo(real).eps * ROUNDING_TURN)),
        soften=real(soften),
        largest=real(largest),
        pace=pace,
    )


def _elbow(body: Crowd, joints: tuple[int, int, int]) -> tuple[Any, bool]:
    """What an elbow bends about, in the axes its local rotation acts in, and whether it is a hinge.

    The way it bends is that of the rest pose. If there is hardly any bend at rest it is the way a hinge has more room;
    without a hinge the forearm goes forwards, or up where it points forwards already.
    """
    skeleton, rig = body.skeleton, body.rig
    world = rig.standing_world[list(joints)].astype(np.float64)
    linear = world[1, :3, :3] * np.where(skeleton.rest.scales[joints[1]] < 0, -1.0, 1.0)
    frame = linear / np.linalg.norm(linear, axis=0)
    upper, lower = (_direction(frame.T @ bone) for bone in np.diff(world[:, :3, 3], axis=0))
    bends = [np.cross(lower, way) for way in (-upper, frame.T @ np.array(rig.forward), frame.T @ np.array(rig.up))]
    straight = np.linalg.norm(bends[0]) <= ELBOW_STRAIGHT
    limit = skeleton.limits[joints[1]]
    if isinstance(limit, Hinge):
        onward = limit.low + limit.high if straight else bends[0] @ np.array(limit.axis)
        return np.array(limit.axis) * (1.0 if onward >= 0 else -1.0), True
    axis = next((bend for bend in bends if np.linalg.norm(bend) > ELBOW_STRAIGHT), np.array((1.0, 0.0, 0.0)))
    return _direction(axis), False


def arm_memory(body: Crowd, moving: Any) -> ArmMemory:
    """moving: (N,), to be set where anything is on its way."""
    no_turn = np.array((0.0, 0.0, 0.0, 1.0), body.precision)
    return ArmMemory(
        offsets=Offsets(body.zeros(OFFSETS), body.zeros(OFFSETS), moving),
        elbow=body.zeros(2, 3),
        joints=body.zeros(2, 4) + no_turn,
        known=body.zeros(dtype=bool),
    )


def _direction(v: Any) -> Any:
    size = np.linalg.norm(v)
    return v / size if size > 0 else v
