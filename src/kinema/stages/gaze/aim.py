"""`Aim`: point a weapon, tool or finger at a target, and keep the other hand on it.

The rotation is distributed over joints from the spine to the arm. From the top down, each joint takes its share of the
remaining rotation and the last joint takes the rest, so one pass is exact. If a joint meets its limit, further passes
distribute the rest among the joints that can still rotate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import AIM_TOLERANCE, ROUNDING
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4, store_matrix
from kinema.model.skeleton import Joint, Skeleton
from kinema.solvers.joints import (
    PATH_JOINT,
    character_pose,
    local_matrix,
    matrix_above,
    out_of_scale,
    path_joints,
    rotate_joint,
    update_matrix,
    update_path,
)
from kinema.solvers.limb import aim, two_bone_rotations
from kinema.solvers.limb.two_bone_rotations import NO_AXIS, LimbMatrices, without_pole
from kinema.stages.axes import (
    ANGLES,
    AXES,
    Angles,
    angle_between,
    angles_of,
    axes_of,
    direction_of,
    set_own_axes,
    settle,
    store_angles,
    to_unit,
    wrapped,
)
from kinema.stages.gaze.look_targets import TargetState, advance_target
from kinema.stages.stage import Crowd, FrameContext, Rows, Stage, copied, indices

AIM_PASSES = 8
"""Passes over the joints that aim. The first is exact unless a joint meets its limit; each further pass distributes the
rest among the joints that can still rotate."""

AIM_SETTINGS = Record(
    half_life=REAL, rounding=REAL, axes=AXES, muzzle=(REAL, 3), forward=(REAL, 3), upper=np.int64, fore=np.int64
)
"""half_life: seconds. rounding: angle that counts as none, radians. axes: of the character. muzzle, forward: where the
muzzle is and points, in the weapon's own space. upper, fore: of the arm that holds on; -1 without one."""

AIM_JOINT = Record(joint=np.int64, parent=np.int64, rotates=bool, share=REAL, limit=REAL)
"""A joint on the path from the first that rotates to the weapon. share, limit: of one that rotates; radians."""

AIM_STATE = Record(
    offset=ANGLES,
    velocity=ANGLES,
    amount=REAL,
    rate=REAL,
    moving=bool,
    grip=(REAL, 12),
    error=REAL,
    reached=bool,
    grip_error=REAL,
)
"""offset, velocity: what is left of jumps from target to target. amount, rate: how much of the aim is in force, 0 to 1,
and how fast that changes. grip: the second hand in the weapon's space, as animated. The last three: as in `AimReport`.
"""

AIM_SCRATCH = Record(animated=(REAL, 4), correction=(REAL, 4), muzzle=(REAL, 3), forward=(REAL, 3))
"""One joint of the path at work: its animated rotation, its correction, and the muzzle in its own space."""


class AimPaths(NamedTuple):
    """The joints to the weapon, of `AIM_JOINT`, and to the second hand, of `PATH_JOINT`; none without a grip."""

    weapon: Any
    hand: Any


@kernel
def room_left(correction, limit):
    """The share of its limit that a joint has left, 1 to 0."""
    zero = like(limit, 0.0)
    angle = like(limit, 2.0) * math.atan2(vec.length((correction[0], correction[1], correction[2])), correction[3])
    return max(like(limit, 1.0) - angle / limit, zero) if limit > zero else zero


@routine
def find_muzzle(settings, path, pose, scratch):
    """Compute the position and direction of the muzzle in the space of every joint on the path, from the weapon up."""
    muzzle, forward = load3(settings.muzzle), load3(settings.forward)
    for m in range(path.size - 1, -1, -1):
        store3(scratch[m].muzzle, muzzle)
        store3(scratch[m].forward, forward)
        local = local_matrix(pose, path[m].joint)
        muzzle, forward = xform.apply(local, muzzle), to_unit(xform.linear(local, forward))


@routine
def aim_joint(joint, scratch, pose, target, share):
    """Rotate one joint by its share of the rotation that would aim, inside its limit."""
    zero = like(share, 0.0)
    r = pose.r[joint.joint]
    now = xform.mul(matrix_above(pose, joint.parent), local_matrix(pose, joint.joint))
    q, _ = aim.solve(now, target, load3(scratch.forward), load3(scratch.muzzle), share)
    q = quat.unit(quat.mul(load4(scratch.correction), out_of_scale(q, pose.s[joint.joint])))
    if q[3] < zero:
        q = (-q[0], -q[1], -q[2], -q[3])
    half = joint.limit * like(share, 0.5)
    q = quat.limited(q, math.cos(half), math.sin(half))
    store4(scratch.correction, q)
    store4(r, quat.unit(quat.mul(load4(scratch.animated), q)))


@routine
def aim_pass(path, pose, target, scratch):
    """Make one pass from the top of the path to the weapon: each joint takes its share of the remaining rotation."""
    one = like(target[0], 1.0)
    zero = like(target[0], 0.0)
    to_share = zero
    for m in range(path.size):
        if path[m].rotates:
            to_share += path[m].share * room_left(load4(scratch[m].correction), path[m].limit)
    for m in range(path.size):
        if path[m].rotates:
            mine = path[m].share * room_left(load4(scratch[m].correction), path[m].limit)
            if mine > zero:
                share = min(mine / to_share, one) if to_share > mine else one
                aim_joint(path[m], scratch[m], pose, target, share)
            to_share -= mine
        update_matrix(pose, path[m].joint, path[m].parent)


@routine
def missed_by(settings, path, pose, target):
    """The angle between the muzzle and a target, by the current matrices."""
    m = load_matrix(pose.world[path[-1].joint])
    to_target = to_unit(vec.sub(target, xform.apply(m, load3(settings.muzzle))))
    return angle_between(to_unit(xform.linear(m, load3(settings.forward))), to_target)


@routine
def rotate_path(settings, path, pose, target, weight, scratch):
    """Rotate the joints so that the muzzle points at a target; for a weight below 1, part of the way."""
    one = like(weight, 1.0)
    zero = like(weight, 0.0)
    for m in range(path.size):
        store4(scratch[m].animated, load4(pose.r[path[m].joint]))
        store4(scratch[m].correction, (zero, zero, zero, one))
    for _ in range(AIM_PASSES):
        find_muzzle(settings, path, pose, scratch)
        aim_pass(path, pose, target, scratch)
        if missed_by(settings, path, pose, target) <= settings.rounding:
            break
    if weight < one:
        for m in range(path.size):
            if path[m].rotates:
                part = quat.part(load4(scratch[m].correction), weight)
                store4(pose.r[path[m].joint], quat.unit(quat.mul(load4(scratch[m].animated), part)))
            update_matrix(pose, path[m].joint, path[m].parent)


@routine
def eased_target(settings, path, target, state, pose, dt):
    """The point to aim at in this frame: the target, plus the decaying offset of jumps between targets.

    A jump is an angle about the topmost joint that rotates, in the character's axes. A spring reduces it to zero.
    """
    zero = like(dt, 0.0)
    point = load3(target.point)
    pivot = load_origin(pose.world[path[0].joint])
    axes = axes_of(load_matrix(pose.transform), settings.axes)
    way = xform.into(axes, vec.sub(point, pivot))
    now = angles_of(to_unit(way))
    before = angles_of(to_unit(xform.into(axes, vec.sub(load3(target.last_point), pivot))))
    offset, velocity = Angles(zero, zero), Angles(zero, zero)
    if state.amount > zero:
        yaw = wrapped(state.offset.yaw + wrapped(before.yaw - now.yaw))
        pitch = wrapped(state.offset.pitch + before.pitch - now.pitch)
        yaw, yaw_velocity = settle(yaw, state.velocity.yaw, zero, settings.half_life, dt)
        pitch, pitch_velocity = settle(pitch, state.velocity.pitch, zero, settings.half_life, dt)
        offset, velocity = Angles(yaw, pitch), Angles(yaw_velocity, pitch_velocity)
    store_angles(state.offset, offset)
    store_angles(state.velocity, velocity)
    state.moving |= (velocity.yaw != zero) | (velocity.pitch != zero)
    if (offset.yaw == zero) & (offset.pitch == zero):
        return point
    state.moving = True
    aside = direction_of(Angles(now.yaw + offset.yaw, now.pitch + offset.pitch))
    return vec.add(pivot, vec.scale(xform.linear(axes, aside), vec.length(way)))


@routine
def step_amount(settings, state, held, dt):
    """The weight of the aim, 0 to 1, eased in and out."""
    goal = like(dt, 1.0) if held else like(dt, 0.0)
    state.amount, state.rate = settle(state.amount, state.rate, goal, settings.half_life, dt)
    state.moving |= (state.amount != goal) | (state.rate != like(dt, 0.0))
    return min(max(state.amount, like(dt, 0.0)), like(dt, 1.0))


@routine
def hold_grip(settings, arm_path, weapon, state, pose):
    """Bend the second arm so that its hand returns to its position and rotation on the weapon."""
    for m in range(arm_path.size):
        update_matrix(pose, arm_path[m].joint, arm_path[m].parent)
    upper, fore, hand = settings.upper, settings.fore, arm_path[-1].joint
    goal = xform.mul(load_matrix(pose.world[weapon]), load_matrix(state.grip))
    one = like(goal[0][0], 1.0)
    zero = like(one, 0.0)
    limb = LimbMatrices(load_matrix(pose.world[upper]), load_matrix(pose.world[fore]), load_matrix(pose.world[hand]))
    as_it_bends = without_pole((zero, zero, zero), NO_AXIS)
    found = two_bone_rotations.solve(limb, goal[3], as_it_bends, one, one)
    state.grip_error = vec.length(vec.sub(found.end, goal[3]))
    rotate_joint(pose, upper, out_of_scale(found.start, pose.s[upper]))
    rotate_joint(pose, fore, out_of_scale(found.mid, pose.s[fore]))
    update_path(arm_path, 0, arm_path.size - 1, pose)
    parent = xform.axes(matrix_above(pose, arm_path[-1].parent))
    axes = xform.axes(xform.unmirrored(goal, pose.s[hand]))  # Remove the sign of a negative scale.
    x, y, z = xform.into(parent, axes[0]), xform.into(parent, axes[1]), xform.into(parent, axes[2])
    store4(pose.r[hand], quat.from_columns(x, y, z))


@routine
def step_aim(settings, path, arm_path, target, state, pose, scratch, dt):
    """Step one character's aim by a frame. Returns whether the pose changed."""
    zero = like(dt, 0.0)
    held, weapon = target.held, path[-1].joint
    state.error, state.reached, state.grip_error = zero, False, zero
    if not (held | state.moving | (state.amount > zero)):
        return False
    state.moving = False
    point = eased_target(settings, path, target, state, pose, dt)
    weight = step_amount(settings, state, held, dt) * pose.weight
    grips = settings.upper >= 0
    if grips:
        hand = load_matrix(pose.world[arm_path[-1].joint])
        store_matrix(state.grip, xform.mul(xform.inverse(load_matrix(pose.world[weapon])), hand))
    if weight > zero:
        rotate_path(settings, path, pose, point, weight, scratch)
    if held:
        state.error = missed_by(settings, path, pose, load3(target.point))
        state.reached = state.error <= like(dt, AIM_TOLERANCE)
    if grips & (weight > zero):
        hold_grip(settings, arm_path, weapon, state, pose)
    return weight > zero


@batch
def step_aims(rows, settings, paths, targets, states, scratch, frame, dt):
    """Step the aims of these characters by a frame. Returns how many poses changed.

    scratch: (N, joints) AIM_SCRATCH.
    """
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        pose = character_pose(frame, i)
        changed += step_aim(settings[0], paths.weapon, paths.hand, targets[i], states[i], pose, scratch[i], dt)
        advance_target(targets[i])
    return changed


class AimReport(NamedTuple):
    """The result of a frame of `Aim`, for every character; (N,) each."""

    error: NDArray[Any]
    """Angle between the muzzle and the target, radians; 0 without a target."""
    reached: NDArray[np.bool_]
    """Whether there is a target and the muzzle points at it."""
    grip_error: NDArray[Any]
    """Distance of the second hand from its position on the weapon, metres; 0 without a grip."""


@dataclass(frozen=True, kw_only=True)
class Aim(Stage):
    """Point what a joint holds at a target.

    Set the target with `animator["aim"].aim_at(point)`, end it with `.release()`.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Aim(joint="hand_r", forward=(0, 1, 0), grip="left")])
    >>> animator["aim"].aim_at((0.0, 1.5, 4.0))
    """

    joint: Joint
    """The joint of the weapon, or of the hand that holds it."""
    forward: ArrayLike = (0.0, 0.0, 1.0)
    """The direction of the muzzle in that joint's own space, (3,)."""
    offset: ArrayLike = (0.0, 0.0, 0.0)
    """The position of the muzzle in that joint's own space, (3,)."""
    spread: Mapping[Joint, float] | None = None
    """Which joints rotate and their shares. Default: the spine, and shoulder and upper arm above the joint, all alike.
    """
    max_angle: float | Mapping[Joint, float] = 0.8
    """Largest rotation of one of them, radians; one number, or one by joint."""
    grip: str | None = None
    """The arm, by the rig's name, whose hand stays where the animation has it on the weapon."""
    half_life: float = 0.06
    """Seconds in which half of a jump to a new target is done."""

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

    def start(self, crowd: Crowd, /) -> AimState:
        return AimState(self, crowd)


class AimState(TargetState):
    """The targets and the state of every character's aim."""

    def __init__(self, settings: Aim, crowd: Crowd) -> None:
        super().__init__(crowd)
        path = _path(settings, crowd)
        record = _settings(settings, crowd)
        arm_path = PATH_JOINT.zeros(0, crowd.precision)
        if settings.grip is not None:
            arm = _grip_arm(settings.grip, crowd, path)
            record.upper, record.fore = arm[:2]
            above, moved = crowd.skeleton.above(arm[-1:]), crowd.skeleton.below([path.joint[0], arm[0]])
            arm_path = path_joints(crowd.skeleton, above[np.isin(above, moved)], crowd.precision)
        states = AIM_STATE.zeros(crowd.count, crowd.precision)
        self._moving = states.moving
        self._report = AimReport(states.error, states.reached, states.grip_error)
        self._records = (
            *kernel_views(record),
            AimPaths(*kernel_views(path, arm_path)),
            *kernel_views(self._targets, states, AIM_SCRATCH.zeros((crowd.count, path.size), crowd.precision)),
        )
        self._read = np.concatenate((path.joint[-1:], arm_path.joint[-1:]))
        self._written = np.concatenate((path.joint[:1], record.upper[record.upper >= 0]))

    def aim_at(self, point: ArrayLike, rows: Rows = None) -> None:
        """Aim at a point from now on.

        point: (3,), or one for each of the rows, (n, 3), world space. rows: indices or a mask of characters; None for
        everyone.
        """
        self._set_target(point, rows)

    def release(self, rows: Rows = None) -> None:
        """Stop aiming: ease back to the animation."""
        self._clear_target(rows)

    def update(self, context: FrameContext) -> AimReport:
        self._step(context, step_aims, self._records, self._written, self._read)
        return copied(self._report)


def _settings(settings: Aim, crowd: Crowd) -> Any:
    """Return the settings as one `AIM_SETTINGS` record, (1,)."""
    record = AIM_SETTINGS.zeros(1, crowd.precision)
    record.half_life = settings.half_life
    record.rounding = np.finfo(crowd.precision).eps * ROUNDING
    set_own_axes(record[0].axes, crowd.rig, -1)
    record.muzzle = validation.vectors("offset", settings.offset, 3, np.float64)
    record.forward = validation.axis("forward", settings.forward)
    record.upper, record.fore = -1, -1
    return record


def _path(settings: Aim, crowd: Crowd) -> Any:
    """Return every joint from the first that rotates to the weapon: an array of `AIM_JOINT`."""
    skeleton = crowd.skeleton
    weapon = skeleton.index(settings.joint)
    shares = _shares(settings, crowd, weapon)
    joints = skeleton.chain(min(shares), weapon)
    path = AIM_JOINT.zeros(len(joints), crowd.precision)
    path.joint = joints
    path.parent = skeleton.parents[path.joint]
    path.rotates = np.isin(path.joint, list(shares))
    path.share = [shares.get(joint, 0.0) for joint in joints]
    path.limit = [_limit(settings.max_angle, skeleton, joint) for joint in joints]
    return path


def _shares(settings: Aim, crowd: Crowd, weapon: int) -> dict[int, float]:
    """Return the share of each joint that rotates, by index."""
    rig, skeleton = crowd.rig, crowd.skeleton
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
    """Return the largest rotation of a joint; half a revolution for one that a table leaves out."""
    if not isinstance(given, Mapping):
        return given
    return {skeleton.index(name): angle for name, angle in given.items()}.get(joint, math.pi)


def _grip_arm(name: str, crowd: Crowd, path: Any) -> Any:
    """Return upper arm, forearm and hand of the arm that holds on, (3,)."""
    arm = crowd.rig.arm(name)
    names, below = crowd.skeleton.names, set(crowd.skeleton.below([arm.joints[0]]).tolist())
    for joint in path.joint.tolist():
        if joint in below:
            raise InputError(f"grip: the arm {name!r} carries {names[joint]!r}, which aims; the other arm is meant")
    return indices(crowd.skeleton, arm.joints[:3])
