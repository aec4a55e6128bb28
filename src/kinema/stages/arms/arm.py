"""Move the hand of one arm to a target: the shoulder helps, the elbow bends, joint limits hold, and nothing jumps.

The elbow is bent in closed form. The swing of the elbow about the line from shoulder to hand remains free: it follows
the animation, or a pole, inside the limit of the upper arm. If the swing jumps, as it does for a target opposite the
animated arm, the elbow is eased to its new direction while the hand keeps its position.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.constants import POLE_FADE_HINTED, ROUNDING_ROTATION
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4
from kinema.model import limits
from kinema.model.limits import Hinge
from kinema.model.rig import Arm
from kinema.solvers import branch
from kinema.solvers.joints import matrix_above, path_joints, rotate_joint, rotation_axes, update_path
from kinema.solvers.limb import two_bone, two_bone_rotations
from kinema.stages.axes import settle, wrapped
from kinema.stages.joint_easing import (
    JOINT_EASING,
    JOINT_LIMIT,
    blend_joint,
    ease_joint,
    hold_joint,
    set_joint_limit,
)
from kinema.stages.jumps import followed
from kinema.stages.stage import Crowd, indices

SHOULDER_START = 0.85
"""Share of the arm's full length from which the shoulder helps: early, so that it starts as smoothly as it ends."""

SHOULDER_EASE = 0.5
"""Share of its largest rotation from which the shoulder slows down, so that it does not stop abruptly."""

ELBOW_STRAIGHT = 0.1
"""Sine of an elbow's bend (6 degrees) below which its direction fades to the one at rest: in an arm that a clip holds
straight the bend is noise, and an elbow that followed it would flip."""

ARM_PASSES = 8
"""Passes over an arm that meets its limits, to bring the hand nearer. The number is fixed: stopping early would let the
arm jitter."""

ELBOW_SAMPLES = 24
"""Directions tried around the circle for an elbow that its arm's limits keep from the wanted direction: 15 degrees
apart, less than the narrowest range of an upper arm in practice."""

ELBOW_HALVINGS = 16
"""Bisections of that step to find the edge of the limit: to 4e-6 radians."""

ARM_SETTINGS = Record(
    number=np.int64,
    first=np.int64,
    shoulder=np.int64,
    upper=np.int64,
    fore=np.int64,
    hand=np.int64,
    above=np.int64,
    axis=(REAL, 3),
    hinged=bool,
    soften=REAL,
    shoulder_angle=REAL,
    ease=REAL,
    speed=REAL,
    rounding=REAL,
    shoulder_limit=JOINT_LIMIT,
    upper_limit=JOINT_LIMIT,
    fore_limit=JOINT_LIMIT,
    hand_limit=JOINT_LIMIT,
)
"""One arm. number: index in the rig. first: the index of the upper arm on the path, which runs from the shoulder (from
the upper arm, if there is none) to the hand. shoulder: -1 if there is none. above: the parent of the whole arm, or -1.
axis: the bend axis of the elbow, in the axes its local rotation acts in; hinged: whether it is a hinge. soften,
shoulder_angle, ease, speed: as `Hands` has them. rounding: of a rotation's numbers."""

ARM_STATE = Record(
    line=(REAL, 3),
    elbow=(REAL, 3),
    offset=REAL,
    velocity=REAL,
    upper=JOINT_EASING,
    fore=JOINT_EASING,
    hand=JOINT_EASING,
    known=bool,
    hand_known=bool,
    moving=bool,
)
"""One arm. line, elbow: the unit line from shoulder to hand and, across it, the way to the elbow, in the space the arm
hangs in. offset, velocity: what is left of jumps of the elbow about that line, radians. upper, fore, hand: easing of
joints with limits. known, hand_known: whether arm and hand were solved in the frame before. moving: whether anything
is still easing."""


class ArmGoal(NamedTuple):
    """The target of a hand, and the point that its elbow points to, world space."""

    position: Any
    has_pole: Any
    pole: Any


class ElbowSwing(NamedTuple):
    """An upper arm that can be swung about a line: its axes, the line, its first correction, its rotation before."""

    axes: Any
    line: Any
    first: Any
    own: Any


@kernel
def arm_length(arm, pose):
    """The length of an arm, metres in the world."""
    elbow = load_origin(pose.world[arm.fore])
    upper = vec.sub(elbow, load_origin(pose.world[arm.upper]))
    return vec.length(upper) + vec.length(vec.sub(load_origin(pose.world[arm.hand]), elbow))


@kernel
def rotation_about(axes, axis, angle):
    """A rotation about a unit axis of the world, in the coordinates of axes."""
    return quat.from_axis_angle(vec.scale(xform.into(axes, axis), xform.handedness(axes)), angle)


@kernel
def angle_about(axis, a, b):
    """The angle from a to b about a unit axis, -pi to pi. Both are perpendicular to it."""
    return math.atan2(vec.dot(axis, vec.cross(a, b)), vec.dot(a, b))


@routine
def shoulder_rotation(arm, pivot, root, target, size):
    """The rotation about the pivot that brings the arm's root nearer to a target that is hard to reach: a unit axis of
    the world and an angle.

    With a and t the ways to root and target and phi the angle between them, a rotation by theta leaves a distance d
    with d^2 = a^2 + t^2 - 2 a t cos(phi - theta). What d is to be grows more slowly than the distance there is and ends
    at the elbow's soft stretch. The largest angle goes with sin(phi): where rotating does not help, there is none.
    """
    zero = like(size, 0.0)
    one = like(size, 1.0)
    two = like(size, 2.0)
    none = ((zero, one, zero), zero)
    if (size <= zero) | (arm.shoulder_angle <= zero):
        return none
    a = vec.scale(vec.sub(root, pivot), one / size)
    t = vec.scale(vec.sub(target, pivot), one / size)
    distance = vec.length(vec.sub(t, a))
    wanted = two_bone.eased(distance, arm.soften, zero, like(size, SHOULDER_START))
    across = vec.cross(a, t)
    sine, cosine = vec.length(across), vec.dot(a, t)
    product = vec.length(a) * vec.length(t)
    if (distance <= wanted) | (sine <= zero) | (product <= zero):
        return none
    left = (vec.dot(a, a) + vec.dot(t, t) - wanted * wanted) / (two * product)
    needed = math.atan2(sine, cosine) - math.acos(min(max(left, -one), one))
    largest = arm.shoulder_angle * min(sine / product, one)
    angle = two_bone.eased(max(needed, zero), largest, zero, like(size, SHOULDER_EASE))
    return vec.scale(across, one / sine), angle


@routine
def help_by_shoulder(arm, path, pose, target):
    """Rotate the shoulder towards a target that is hard to reach. Returns whether its limit holds it back."""
    pivot, root = load_origin(pose.world[arm.shoulder]), load_origin(pose.world[arm.upper])
    axis, angle = shoulder_rotation(arm, pivot, root, target, arm_length(arm, pose))
    if angle > like(angle, 0.0):
        rotate_joint(pose, arm.shoulder, rotation_about(rotation_axes(pose, arm.shoulder), axis, angle))
    limited = hold_joint(arm.shoulder_limit, pose.r[arm.shoulder], arm.rounding)
    update_path(path, 0, path.size, pose)
    return limited


# --- the elbow -------------------------------------------------------------------------------------------------


@routine
def elbow_axis(arm, start, mid, end):
    """The bend axis of the elbow, in the axes of its matrix: its hinge, else its current bend.

    Near the straight arm it blends to the bend at rest.
    """
    axis = load3(arm.axis)
    if arm.hinged:
        return axis
    one = like(start[0], 1.0)
    zero = like(start[0], 0.0)
    axes = xform.axes(mid)
    none = (zero, zero, zero)
    to_start = vec.unit_or(xform.into(axes, vec.sub(start, mid[3])), none)
    to_end = vec.unit_or(xform.into(axes, vec.sub(end, mid[3])), none)
    bend = vec.faded(vec.cross(to_end, to_start), one, like(one, ELBOW_STRAIGHT), axis)
    return vec.unit_or(bend, axis)


@routine
def swing_to_pole(pole, line, shoulder, elbow):
    """The angle about the line from shoulder to hand that brings the elbow to the pole.

    A pole on that line fades out.
    """
    one = like(line[0], 1.0)
    zero = like(line[0], 0.0)
    to_pole = vec.sub(pole, shoulder)
    aside = vec.reject(to_pole, line)
    fade = vec.length(to_pole) * like(one, POLE_FADE_HINTED)
    return angle_about(line, elbow, aside) * (min(vec.length(aside) / fade, one) if fade > zero else zero)


@routine
def broken_by(angle, swing, limit, rounding):
    """How far, in radians, an upper arm swung by an angle exceeds its limit."""
    q = quat.mul(rotation_about(swing.axes, swing.line, angle), swing.first)
    q = quat.unit(quat.mul(swing.own, q))
    held, moved = limits.into_limit(q, load4(limit.rest), load3(limit.bone), limit.limit, rounding)
    return max(quat.angle_between(q, held), rounding) if moved else like(angle, 0.0)


@routine
def edge_of_limit(allowed, broken, swing, limit, rounding):
    """The edge of a limit between an allowed angle and one that exceeds it, on the allowed side."""
    half = like(allowed, 0.5)
    for _ in range(ELBOW_HALVINGS):
        middle = (allowed + broken) * half
        if broken_by(middle, swing, limit, rounding) <= like(allowed, 0.0):
            allowed = middle
        else:
            broken = middle
    return allowed


@routine
def least_broken(angle, step, swing, limit, rounding):
    """The angle near this one that exceeds the limit least."""
    least = broken_by(angle, swing, limit, rounding)
    for _ in range(ELBOW_HALVINGS):
        step = step * like(angle, 0.5)
        for side in (step, -step):
            broken = broken_by(angle + side, swing, limit, rounding)
            if broken < least:
                least, angle = broken, angle + side
                break
    return angle


@routine
def allowed_swing(wanted, swing, limit, rounding):
    """The allowed swing nearest to the wanted one; if none is allowed, the one that exceeds the limit least.

    All arms with the hand at the target differ only by their swing, so if any is allowed, it is found here.
    """
    zero = like(wanted, 0.0)
    revolution = like(wanted, 2.0 * math.pi)
    step = revolution / like(wanted, ELBOW_SAMPLES)
    least, best = broken_by(wanted, swing, limit, rounding), zero
    if least <= zero:
        return wanted
    for k in range(1, ELBOW_SAMPLES // 2 + 1):
        nearest = revolution
        for side in (step, -step):
            away = side * like(wanted, k)
            broken = broken_by(wanted + away, swing, limit, rounding)
            if broken <= zero:
                away = edge_of_limit(wanted + away, wanted + away - side, swing, limit, rounding) - wanted
                nearest = away if abs(away) < abs(nearest) else nearest
            elif broken < least:
                least, best = broken, away
        if nearest < revolution:
            return wanted + nearest
    found = least_broken(wanted + best, step, swing, limit, rounding)
    if broken_by(found, swing, limit, rounding) > zero:
        return found
    # The edge of the limit is between this sample and the next nearer one, or the wanted angle, which is not allowed.
    nearer = best - (step if best > zero else -step) if best != zero else zero
    return edge_of_limit(found, wanted + nearer, swing, limit, rounding)


@routine
def step_elbow(arm, state, angle, line, elbow, above, dt):
    """The swing of the elbow, plus the decaying offset of its jumps.

    elbow: the direction to the elbow before the swing. above: the matrix of the arm's parent.
    """
    zero = like(dt, 0.0)
    now = quat.rotate(quat.from_axis_angle(line, angle), elbow)
    axes = xform.axes(above)
    last_line = vec.unit_or(xform.linear(axes, load3(state.line)), line)
    last = xform.linear(axes, load3(state.elbow))
    last = vec.reject(quat.rotate(quat.between(last_line, line, vec.hinge_of(last_line)), last), line)
    jump = angle_about(line, now, last)
    jump = jump * (like(dt, 1.0) - followed(abs(jump), arm.speed * dt))
    offset = wrapped(state.offset + jump) if state.known else zero
    state.offset, state.velocity = settle(offset, state.velocity if state.known else zero, zero, arm.ease, dt)
    state.moving |= (state.offset != zero) | (state.velocity != zero)
    store3(state.line, xform.into(axes, line))
    store3(state.elbow, xform.into(axes, now))
    state.known = True
    return angle + state.offset


# --- the arm ---------------------------------------------------------------------------------------------------


@routine
def bend_arm(arm, state, goal, pose, dt):
    """Rotate upper arm and forearm so that the hand reaches the goal. Reads world matrices, does not update them.

    Returns whether a limit keeps the elbow from its wanted direction.
    """
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    none = (zero, zero, zero)
    start = xform.unmirrored(load_matrix(pose.world[arm.upper]), pose.s[arm.upper])
    mid = xform.unmirrored(load_matrix(pose.world[arm.fore]), pose.s[arm.fore])
    end = load_matrix(pose.world[arm.hand])
    axis = elbow_axis(arm, start[3], mid, end[3])
    bend = two_bone_rotations.without_pole(axis, two_bone_rotations.ALWAYS)
    limb = two_bone_rotations.LimbMatrices(start, mid, end)
    first, second, at, _, _ = two_bone_rotations.solve(limb, goal.position, bend, arm.soften, one)
    limited = False
    axes, fore_axes = xform.axes(start), xform.axes(mid)
    reach = vec.sub(at, start[3])
    span = vec.span(reach)
    line = vec.unit_or(vec.scale(reach, one / (span if span > zero else one)), none)
    if vec.span(line) > zero:
        # A positive rotation about the axis bends the elbow, so it points from the line to the side of line x axis.
        hinge = vec.scale(xform.linear(fore_axes, axis), xform.handedness(fore_axes))
        hinge = xform.linear(axes, quat.rotate(first, xform.into(axes, hinge)))
        elbow = vec.unit_or(vec.reject(vec.cross(line, hinge), line), vec.unit_side(line))
        wanted = swing_to_pole(goal.pole, line, start[3], elbow) if goal.has_pole else zero
        wanted = step_elbow(arm, state, wanted, line, elbow, matrix_above(pose, arm.above), dt)
        angle = wanted
        if arm.upper_limit.limited:
            swing = ElbowSwing(axes, line, first, load4(pose.r[arm.upper]))
            angle = allowed_swing(wanted, swing, arm.upper_limit, arm.rounding)
        limited = angle != wanted
        first = quat.mul(rotation_about(axes, line, angle), first)
    rotate_joint(pose, arm.upper, first)
    rotate_joint(pose, arm.fore, second)
    return limited


@routine
def approach_joint(arm, path, limit, joint, pose, target):
    """Rotate one joint so that the hand comes as near to the target as the joint's limit allows."""
    axes = rotation_axes(pose, joint)
    here = load_origin(pose.world[joint])
    now = xform.into(axes, vec.sub(load_origin(pose.world[arm.hand]), here))
    wanted = xform.into(axes, vec.sub(target, here))
    if limit.hinge:
        axis = load3(limit.axis)
        now, wanted = vec.reject(now, axis), vec.reject(wanted, axis)
    rotate_joint(pose, joint, branch.smallest_rotation(now, wanted))
    hold_joint(limit, pose.r[joint], arm.rounding)
    update_path(path, arm.first, path.size, pose)


@routine
def hold_arm(arm, path, pose):
    """Move the arm into its limits, and keep the hand as near as possible (cyclic coordinate descent).

    Returns whether any joint was outside its limit.
    """
    target = load_origin(pose.world[arm.hand])
    moved = hold_joint(arm.upper_limit, pose.r[arm.upper], arm.rounding)
    moved |= hold_joint(arm.fore_limit, pose.r[arm.fore], arm.rounding)
    if moved:
        update_path(path, arm.first, path.size, pose)
        for _ in range(ARM_PASSES):
            approach_joint(arm, path, arm.fore_limit, arm.fore, pose, target)
            approach_joint(arm, path, arm.upper_limit, arm.upper, pose, target)
    return moved


@routine
def solve_arm(arm, path, state, goal, pose, weight, dt):
    """Rotate shoulder, upper arm and forearm for one frame, by a weight.

    Returns whether a limit restricts one of them.
    """
    helps, begun = arm.shoulder >= 0, state.known
    shoulder = load4(pose.r[max(arm.shoulder, 0)])
    upper, fore = load4(pose.r[arm.upper]), load4(pose.r[arm.fore])
    limited = help_by_shoulder(arm, path, pose, goal.position) if helps else False
    limited |= bend_arm(arm, state, goal, pose, dt)
    update_path(path, arm.first, path.size, pose)
    limited |= hold_arm(arm, path, pose)
    if arm.upper_limit.limited | arm.fore_limit.limited:
        upper_r, fore_r = pose.r[arm.upper], pose.r[arm.fore]
        state.moving |= ease_joint(arm.upper_limit, state.upper, upper_r, begun, arm.ease, arm.speed, dt)
        state.moving |= ease_joint(arm.fore_limit, state.fore, fore_r, begun, arm.ease, arm.speed, dt)
    if helps:
        limited |= blend_joint(arm.shoulder_limit, pose.r[arm.shoulder], shoulder, weight, arm.rounding)
    limited |= blend_joint(arm.upper_limit, pose.r[arm.upper], upper, weight, arm.rounding)
    limited |= blend_joint(arm.fore_limit, pose.r[arm.fore], fore, weight, arm.rounding)
    update_path(path, 0, path.size, pose)
    return limited


@routine
def solve_hand(arm, path, state, rotation, pose, weight, dt):
    """Rotate the hand for one frame, by its own weight. Returns whether its limit restricts it."""
    before, r = load4(pose.r[arm.hand]), pose.r[arm.hand]
    limited = False
    if weight > like(weight, 0.0):
        store4(r, branch.into_parent(matrix_above(pose, path[-1].parent), rotation))
        limited = hold_joint(arm.hand_limit, r, arm.rounding)
        if arm.hand_limit.limited:
            state.moving |= ease_joint(arm.hand_limit, state.hand, r, state.hand_known, arm.ease, arm.speed, dt)
    state.hand_known = weight > like(weight, 0.0)
    limited |= blend_joint(arm.hand_limit, r, before, weight, arm.rounding)
    update_path(path, path.size - 1, path.size, pose)
    return limited


# --- what is known before the first frame ----------------------------------------------------------------------


def arm_settings(crowd: Crowd, number: int, arm: Arm, settings: Any) -> tuple[Any, Any]:
    """Return one arm as an `ARM_SETTINGS` record, (1,), and its path of `PATH_JOINT`. settings: of `Hands`."""
    skeleton = crowd.skeleton
    upper, fore, hand = (int(arm.joints[n]) for n in (0, 1, -1))
    top = upper if arm.shoulder is None else int(arm.shoulder)
    path = path_joints(skeleton, indices(skeleton, skeleton.chain(top, hand)), crowd.precision)
    record = ARM_SETTINGS.zeros(1, crowd.precision)
    record.number, record.first = number, np.searchsorted(path.joint, upper)
    record.shoulder, record.upper, record.fore, record.hand = -1 if arm.shoulder is None else top, upper, fore, hand
    record.above = skeleton.parents[top]
    record.axis[0], record.hinged = _elbow(crowd, (upper, fore, hand))
    record.soften, record.shoulder_angle = settings.soften, settings.shoulder
    record.ease, record.speed = settings.ease, settings.speed
    record.rounding = np.finfo(crowd.precision).eps * ROUNDING_ROTATION
    for name, joint in (("shoulder", top), ("upper", upper), ("fore", fore), ("hand", hand)):
        set_joint_limit(getattr(record[0], f"{name}_limit"), crowd, joint)
    return record, path


def _elbow(crowd: Crowd, joints: tuple[int, int, int]) -> tuple[Any, bool]:
    """Return the bend axis of an elbow, in the axes its local rotation acts in, and whether it is a hinge.

    It bends as in the rest pose. An elbow that is straight at rest bends to the side where its hinge has the larger
    range; without a hinge the forearm moves forward, or up if it points forward already.
    """
    skeleton, rig = crowd.skeleton, crowd.rig
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


def _direction(v: Any) -> Any:
    size = np.linalg.norm(v)
    return v / size if size > 0 else v
