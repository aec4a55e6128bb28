"""Solve the legs of every character: bend the knee, aim the thigh, rotate the ankle. `Feet` and `Locomotion` share it.

A knee bends about the axis it bends about in the clip. Where the clip holds the leg nearly straight that axis is noise,
so it fades to the one it last bent about, at first that of the rest pose. A leg whose ankle is where it should be
already is left as it is. Legs of more than two bones fold in all their joints: see `leg_fold`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import ROUNDING_ROTATION
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4
from kinema.model import limits
from kinema.model.rig import Leg
from kinema.solvers.branch import into_parent
from kinema.solvers.joints import CharacterPose, FrameArrays, character_pose, matrix_above, rotate_joint, update_path
from kinema.solvers.limb import two_bone_rotations
from kinema.solvers.limb.bends import bend_axis
from kinema.solvers.limb.two_bone_rotations import ALWAYS, LimbMatrices, without_pole
from kinema.stages.legs.ground_contact import SWINGING
from kinema.stages.legs.leg_fold import LEG_JOINT, aim_leg, fold_leg
from kinema.stages.stage import Crowd, FrameContext

KNEE_STRAIGHT = 0.17
"""Sine of a knee's bend (10 degrees) below which its direction fades to that of the rest pose."""

KNEE_BENT = 0.35
"""Sine of a knee's bend (20 degrees) from which the axis it bends about is remembered."""

REST_STRAIGHT = 0.14
"""Sine of a knee's bend at rest (8 degrees) below which it says nothing of the way the knee bends: it bends
forwards."""

LIMIT_PASSES = 3
"""Times that a leg is solved again whose ankle meets its limit, so that the ball of its foot stays where it is."""

LARGEST_PIVOT = 0.15
"""Leg lengths that an ankle is moved at most for that."""

FOLDED = (0.15, 0.22)
"""Leg lengths from hip to ankle up to which a swinging leg is folded up, as in lying, and stays as the clip has it; and
from which its foot is placed. So near to the hip, raising a foot out of the ground would turn the whole leg over."""

LEG_UNMOVED = 1e-3
"""Leg lengths that an ankle must be moved before a nearly straight knee is bent about the axis of the rest pose alone.
Below that the axis fades to the clip's own, and a leg that is not moved keeps its pose."""


LEG_CHAIN = Record(
    thigh=np.int64,  # joint
    knee=np.int64,  # joint
    ankle=np.int64,  # joint
    toe=np.int64,  # the joint that carries the ball of the foot
    hinged=bool,  # whether the knee bends about its hinge alone
    folds=bool,  # whether it has more bones than two, and all of its joints bend
    toe_hangs_on_ankle=bool,
    length=REAL,  # metres
    ball=(REAL, 3),  # in the space of the toe
    first=np.int64,  # where the path from thigh to toe begins, among the joints of all paths
    at_ankle=np.int64,  # where the ankle is on it
    last=np.int64,  # where it ends
)
"""The joints of one leg."""

LEG_STATE = Record(
    axis=(REAL, 3),  # what the knee bends about while it is nearly straight, in its own space
    error=REAL,  # metres from the ankle to its target
    limited=bool,  # whether a joint is held back by its limit, or beyond it
)
"""One leg from frame to frame."""


class LegRecords(NamedTuple):
    """What the kernels know of the legs: N characters, L legs, J joints."""

    chains: Any
    """(L,) LEG_CHAIN."""
    path: Any
    """LEG_JOINT: the joints from thigh to toe of each leg, one leg after the other."""
    states: Any
    """(N, L) LEG_STATE."""
    limits: Any
    """(J,) `limits.LIMIT`. limits, bones, rest: as in `limits.JointLimits`."""
    bones: Any
    """(J, 3): the bone that each limit speaks of."""
    rest: Any
    """(J, 4): rest rotations."""
    rounding: Any
    """Radians that a joint may be beyond its limit by rounding."""
    inside: bool
    """Whether legs are solved inside their limits."""
    folds: bool
    """Whether any leg folds in more joints than its knee."""


@kernel
def knee_axis(rest, to_hip, to_ankle, moved):
    """The axis a knee bends about, in its own space: the clip's own bend, faded to the rest pose's where it is nearly
    straight. A positive rotation about it bends the knee.

    rest: unit. to_hip, to_ankle: from the knee, in its own space. moved: how far the ankle is to be moved, as a share
    of LEG_UNMOVED, at most 1.
    """
    zero, one = like(moved, 0.0), like(moved, 1.0)
    shin = vec.unit_or(to_ankle, (zero, -one, zero))
    thigh = vec.unit_or(to_hip, vec.scale(shin, -one))
    usual = vec.unit_or(vec.reject(rest, shin), vec.hinge_of(shin))
    bend = vec.cross(shin, thigh)
    # A knee that the clip bends backwards a little is overstretched: bent more, it bends as it does otherwise.
    width = like(one, 2.0 * KNEE_BENT) if vec.dot(bend, usual) < zero else like(one, KNEE_STRAIGHT)
    return vec.unit_or(vec.faded(bend, one, width * moved, usual), usual)


@kernel
def bend_leg(thigh, knee, ankle, target, axis, hinged):
    """Corrections of thigh and knee that bring an ankle to its target. Matrices are four columns, world space.

    axis: (3,), what the knee bends about while it is nearly straight, in its own space; the clip's own bend is kept
    there. hinged: whether it bends about nothing else.
    """
    zero, one = like(target[0], 0.0), like(target[0], 1.0)
    upper, lower = vec.sub(thigh[3], knee[3]), vec.sub(ankle[3], knee[3])
    length = vec.length(upper) + vec.length(lower)
    about = load3(axis)
    if not hinged:
        frame = xform.axes(knee)
        to_hip, to_ankle = xform.into(frame, upper), xform.into(frame, lower)
        away = vec.length(vec.sub(target, ankle[3]))
        moved = away / (length * like(length, LEG_UNMOVED)) if length > zero else one
        about = knee_axis(about, to_hip, to_ankle, min(moved, one))
        bend = vec.cross(vec.unit_or(to_ankle, (zero, zero, zero)), vec.unit_or(to_hip, (zero, zero, zero)))
        if vec.length(bend) > like(one, KNEE_BENT):
            store3(axis, vec.unit_or(bend, about))
    limb, bends = LimbMatrices(thigh, knee, ankle), without_pole(about, ALWAYS)
    found = two_bone_rotations.solve(limb, target, bends, one, one)
    return found.start, found.mid


@kernel
def part_of_the_way(start, end, weight):
    """A point between two: the first, bit for bit, at weight 0, and the second at weight 1."""
    return end if weight >= like(weight, 1.0) else vec.add(start, vec.scale(vec.sub(end, start), weight))


@kernel
def weighted(before, now, weight):
    """A rotation between the one from before (weight 0, bit for bit) and that of now (weight 1)."""
    if weight <= like(weight, 0.0):
        return before
    return now if weight >= like(weight, 1.0) else quat.unit(quat.slerp(before, now, weight))


@kernel
def placed_share(leg, contact, pose):
    """How much of the way to its target an ankle is moved, 0 to 1: all of it, unless it swings folded up."""
    one = like(leg.length, 1.0)
    away = vec.length(vec.sub(load_origin(pose.world[leg.ankle]), load_origin(pose.world[leg.thigh])))
    low, high = leg.length * like(one, FOLDED[0]), leg.length * like(one, FOLDED[1])
    return one if (contact != SWINGING) | (away >= high) else max((away - low) / (high - low), like(one, 0.0))


@routine
def bend_to(leg, path, axis, position, pose):
    """Bring the ankle of a leg to a position by its thigh and its knee. The matrix of the ankle is out of date then."""
    thigh = xform.unmirrored(load_matrix(pose.world[leg.thigh]), pose.s[leg.thigh])
    knee = xform.unmirrored(load_matrix(pose.world[leg.knee]), pose.s[leg.knee])
    ankle = load_matrix(pose.world[leg.ankle])
    at_thigh, at_knee = bend_leg(thigh, knee, ankle, position, axis, leg.hinged)
    if vec.span(vec.sub(position, ankle[3])) > like(position[0], 0.0):
        rotate_joint(pose, leg.thigh, at_thigh)
        rotate_joint(pose, leg.knee, at_knee)
    update_path(path, leg.first, leg.at_ankle, pose)


@routine
def fold_to(leg, path, axis, position, pose):
    """Bring the ankle of a leg with more than two bones to a position by all of its joints."""
    if vec.span(vec.sub(position, load_origin(pose.world[leg.ankle]))) > like(position[0], 0.0):
        if fold_leg(leg, path, vec.length(vec.sub(position, load_origin(pose.world[leg.thigh]))), pose):
            aim_leg(leg, path, position, pose)
        else:
            bend_to(leg, path, axis, position, pose)


@routine
def rotate_leg(records, leg, axis, position, rotation, pose):
    """Bring an ankle to a position, and give it its rotation, world space; by the pose's weight.

    The world matrices from thigh to ankle are read, and are up to date afterwards.
    """
    path, position = records.path, part_of_the_way(load_origin(pose.world[leg.ankle]), position, pose.weight)
    if records.folds and leg.folds:
        fold_to(leg, path, axis, position, pose)
    else:
        bend_to(leg, path, axis, position, pose)
    asked = into_parent(matrix_above(pose, path[leg.at_ankle].parent), rotation)
    store4(pose.r[leg.ankle], weighted(load4(pose.r[leg.ankle]), asked, pose.weight))
    update_path(path, leg.at_ankle, leg.at_ankle + 1, pose)


@routine
def beyond_limit(records, joint, pose):
    """Whether a joint is beyond its limit."""
    rest, bone = load4(records.rest[joint]), load3(records.bones[joint])
    _, moved = limits.into_limit(load4(pose.r[joint]), rest, bone, records.limits[joint], records.rounding)
    return moved


@routine
def hold_joint(records, joint, pose):
    """Move a joint into its limit. Returns whether it had to be moved."""
    limit = records.limits[joint]
    return limits.hold_limit(pose.r[joint], records.rest[joint], records.bones[joint], limit, records.rounding)


@routine
def rotate_inside(records, leg, axis, position, rotation, pose):
    """Bring an ankle to its place as `rotate_leg` does, inside joint limits. Returns whether the ankle, and whether
    thigh or knee, are held back by them.
    """
    rotate_leg(records, leg, axis, position, rotation, pose)
    bent = hold_joint(records, leg.thigh, pose)
    bent |= hold_joint(records, leg.knee, pose)
    held = hold_joint(records, leg.ankle, pose)
    update_path(records.path, leg.first, leg.at_ankle + 1, pose)
    return held, bent


@routine
def solve_inside(records, leg, state, target, pose):
    """Solve a leg inside its joint limits.

    Where the ankle cannot have its rotation, the toes stay flat and the ball of the foot stays where it is.
    """
    asked, rotation = load3(target.ankle), load4(target.rotation)
    position, toe = asked, load4(pose.r[leg.toe])
    held, bent = rotate_inside(records, leg, state.axis, position, rotation, pose)
    state.limited = held | bent
    held &= pose.weight >= like(pose.weight, 1.0)
    for _ in range(LIMIT_PASSES):
        held &= not bent
        if not held:
            break
        if leg.toe_hangs_on_ankle:
            flat = quat.mul(rotation, toe)
            store4(pose.r[leg.toe], into_parent(load_matrix(pose.world[leg.ankle]), flat))
            hold_joint(records, leg.toe, pose)
        update_path(records.path, leg.at_ankle + 1, leg.last, pose)
        ball = xform.apply(load_matrix(pose.world[leg.toe]), load3(leg.ball))
        position = vec.add(position, vec.sub(load3(target.ball), ball))
        if vec.length(vec.sub(position, asked)) >= leg.length * like(leg.length, LARGEST_PIVOT):
            break
        _, bent = rotate_inside(records, leg, state.axis, position, rotation, pose)


@routine
def solve_legs(records, states, targets, pose):
    """Bring the ankles of one character to their targets. states, targets: (L,) LEG_STATE, FOOT_TARGET.

    The world matrices from each thigh to its ankle are read. From thigh to toe they are up to date afterwards.
    """
    for n in range(records.chains.size):
        leg, state, target = records.chains[n], states[n], targets[n]
        share = pose.weight * placed_share(leg, target.contact, pose)
        placed = CharacterPose(pose.t, pose.r, pose.s, pose.world, pose.transform, share)
        if records.inside:
            solve_inside(records, leg, state, target, placed)
        else:
            rotate_leg(records, leg, state.axis, load3(target.ankle), load4(target.rotation), placed)
            state.limited = beyond_limit(records, leg.thigh, pose)
            state.limited |= beyond_limit(records, leg.knee, pose)
            state.limited |= beyond_limit(records, leg.ankle, pose)
        update_path(records.path, leg.at_ankle + 1, leg.last, pose)
        state.error = vec.length(vec.sub(load_origin(pose.world[leg.ankle]), load3(target.ankle)))


@batch
def solve_all_legs(rows, records, targets, frame):
    """Solve all legs of these characters. targets: (N, L) FOOT_TARGET."""
    for k in range(rows.size):
        i = rows[k]
        pose = character_pose(frame, i)
        solve_legs(records, records.states[i], targets[i], pose)


# --- the solver ------------------------------------------------------------------------------------------------


class SolvedLeg(NamedTuple):
    """One leg as the solver takes it."""

    joints: tuple[int, int, int]
    """Thigh, the joint nearest to the leg's middle, ankle."""
    length: float
    """Metres from joint to joint at rest."""
    hinged: bool
    """Whether the knee bends about its hinge alone."""
    folds: bool
    """Whether it has more bones than two, and all of its joints bend."""


class LegSolver:
    """The legs of every character, solved in one call.

    inside: whether to keep inside joint limits.
    """

    def __init__(self, crowd: Crowd, inside: bool = False) -> None:
        rig, real = crowd.rig, crowd.precision
        self.legs = [_solved_leg(crowd, leg) for leg in rig.legs]
        self.states = LEG_STATE.zeros((crowd.count, len(self.legs)), real)
        """(N, L) LEG_STATE: the report of each leg."""
        for n, leg in enumerate(self.legs):
            self.states.axis[:, n] = _rest_axis(crowd, leg.joints, leg.hinged)
        chains, path = _chains(crowd, self.legs)
        chains, path, states = kernel_views(chains, path, self.states)
        held = crowd.skeleton.joint_limits(real)
        rounding = real(np.finfo(real).eps * ROUNDING_ROTATION)
        self.records = LegRecords(
            chains, path, states, *held, rounding, bool(inside), any(leg.folds for leg in self.legs)
        )
        """What `solve_legs` takes."""
        self._thighs = np.array([leg.joints[0] for leg in self.legs], np.int64)
        self._path = np.unique(path["joint"])

    def solve(self, context: FrameContext, targets: Any) -> None:
        """Bring the ankles to their targets, and give them their rotations, by each character's weight.

        targets: (N, L) FOOT_TARGET.
        """
        (targets,) = kernel_views(targets.copy())
        world = context.world(self._path)
        with context.edit(self._thighs) as local:
            frame = FrameArrays(local.t, local.r, local.s, world, context.transform, context.weights)
            context.run(solve_all_legs, self.records, targets, frame)
            local.updated(self._path)


def _solved_leg(crowd: Crowd, leg: Leg) -> SolvedLeg:
    skeleton = crowd.skeleton
    joints = tuple(int(joint) for joint in leg.joints)
    length = skeleton.length(joints)
    halves = [abs(skeleton.length(joints[: k + 1]) / length - 0.5) for k in range(1, len(joints) - 1)]
    knee = joints[1 + int(np.argmin(halves))]
    hinged = isinstance(skeleton.limits[knee], limits.Hinge)
    return SolvedLeg((joints[0], knee, joints[-1]), length, hinged, len(joints) > 3 and not hinged)


def _chains(crowd: Crowd, legs: list[SolvedLeg]) -> tuple[Any, Any]:
    """(L,) LEG_CHAIN, and the joints of all paths as LEG_JOINT."""
    skeleton, rig = crowd.skeleton, crowd.rig
    chains = LEG_CHAIN.zeros(len(legs), crowd.precision)
    path: list[int] = []
    neighbours: dict[int, tuple[int, int]] = {}
    for chain, leg, of_rig in zip(chains, legs, rig.legs, strict=True):
        carriers, points = rig.sole_points(of_rig)
        toe, (thigh, knee, ankle) = int(carriers[1]), leg.joints
        chain.thigh, chain.knee, chain.ankle, chain.toe = thigh, knee, ankle, toe
        chain.hinged, chain.length, chain.ball[:] = leg.hinged, leg.length, points[1]
        chain.folds = leg.folds
        on_leg = [int(joint) for joint in of_rig.joints]
        neighbours |= {joint: (on_leg[k], on_leg[k + 2]) for k, joint in enumerate(on_leg[1:-1])}
        chain.toe_hangs_on_ankle = skeleton.parents[toe] == ankle
        chain.first = len(path)
        path += skeleton.chain(thigh, ankle)
        chain.at_ankle = len(path) - 1
        path += skeleton.chain(ankle, toe)[1:]
        chain.last = len(path)
    joints = LEG_JOINT.zeros(len(path), crowd.precision)
    joints.joint, joints.parent, joints.bends = path, skeleton.parents[path], np.isin(path, list(neighbours))
    joints.above, joints.below = np.transpose([neighbours.get(joint, (joint, joint)) for joint in path])
    return chains, joints


def _rest_axis(crowd: Crowd, joints: tuple[int, int, int], hinged: bool) -> Any:
    """(3,): what a knee bends about, in its own space: its hinge, else its bend as the character stands, else the axis
    that takes it forwards.
    """
    skeleton, rig = crowd.skeleton, crowd.rig
    if hinged:
        return bend_axis(skeleton, joints, crowd.precision)[0]
    standing = rig.standing_world[list(joints)].astype(np.float64)
    scales = (skeleton.rest if rig.stance is None else rig.stance).scales[joints[1]]
    frame = standing[1, :3, :3] * np.where(scales < 0, -1, 1)
    frame = frame / np.maximum(np.linalg.norm(frame, axis=0), np.finfo(np.float64).tiny)
    upper, lower = np.diff(standing[:, :3, 3], axis=0)
    across = np.cross(lower, -upper)
    if np.linalg.norm(across) <= REST_STRAIGHT * np.linalg.norm(upper) * np.linalg.norm(lower):
        across = np.cross(rig.up, rig.forward)
    own = frame.T @ across * math.copysign(1.0, np.linalg.det(frame))
    return (own / (np.linalg.norm(own) or 1.0)).astype(crowd.precision)
