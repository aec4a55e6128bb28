"""`Head`: rotate the head to look at a point, with help from spine and neck.

Yaw and pitch of the gaze (the head's forward) are measured in the axes of the animated chest. This stage does not
rotate them, so nothing drifts. A critically damped spring eases jumps of the goal. A goal that moves no faster than the
head may rotate is followed at once, so the gaze stays on a target while the body walks. Spine and neck take their
shares of the rotation that would bring the animated head to the target. This fixes the head's position, and the head's
own rotation to the target follows in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import AIM_TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store4
from kinema.solvers.joints import character_pose, matrix_above
from kinema.stages.axes import (
    AXES,
    GAZE_SETTINGS,
    GAZE_STATE,
    UPRIGHT,
    Angles,
    angle_between,
    angles_of,
    axes_of,
    between_angles,
    direction_of,
    gaze_goal,
    own_direction,
    rotation_between,
    rotation_in_parent,
    set_gaze_settings,
    set_own_axes,
    shoulder_of,
    step_gaze,
    target_change,
    to_unit,
)
from kinema.stages.gaze.look_targets import GazeState, advance_target
from kinema.stages.stage import Crowd, FrameContext, Stage, copied, indices

LARGEST_PITCH = 1.5
"""Radians (86 degrees) that `max_pitch` may be: the last four degrees are where the yaw fades out."""

HEAD_SETTINGS = Record(
    gaze=GAZE_SETTINGS, chest=np.int64, chest_axes=AXES, forward=(REAL, 3), up=(REAL, 3), eye=(REAL, 3)
)
"""chest: the joint whose axes the angles are measured in, -1 for the character. chest_axes: in the chest's own space.
forward, up, eye: the gaze's direction, its up, and where it starts, in the head's own space."""

HEAD_JOINT = Record(joint=np.int64, parent=np.int64, share=REAL)
"""A joint that rotates, spine to head. share: of the whole rotation, up to and including this joint; 1 for the head."""

HEAD_STATE = Record(
    body=GAZE_STATE, head=GAZE_STATE, side=REAL, moving=bool, yaw=REAL, pitch=REAL, error=REAL, reached=bool
)
"""body: the gaze that spine and neck go by. head: the head's own. side: the shoulder it looks over. moving: whether it
is on its way. The last four are as in `HeadReport`."""


@kernel
def animated_gaze(axes, head, settings):
    """Yaw and pitch of a head's forward in axes, and how far (0 to 1) it makes sense to call it upright.

    Pitch past the vertical with half a revolution of yaw and of roll gives the same direction. The one of the two with
    the lesser roll is meant.
    """
    one = like(head[0][0], 1.0)
    zero = like(head[0][0], 0.0)
    ahead = vec.unit_or(xform.into(axes, xform.linear(head, load3(settings.forward))), (zero, zero, one))
    yaw, pitch = angles_of(ahead)
    upright = (-math.sin(yaw) * math.sin(pitch), math.cos(pitch), -math.cos(yaw) * math.sin(pitch))
    roll = vec.dot(to_unit(xform.into(axes, xform.linear(head, load3(settings.up)))), upright)
    if roll < zero:
        yaw = yaw + like(yaw, math.pi) if yaw <= zero else yaw - like(yaw, math.pi)
        pitch = (like(pitch, math.pi) if pitch >= zero else like(pitch, -math.pi)) - pitch
    fade = like(one, 1.0 / UPRIGHT)
    return Angles(yaw, pitch), min(abs(math.cos(pitch)) * fade, one) * min(abs(roll) * fade, one)


@kernel
def part_of(q, half, sine, share):
    """A share of a rotation with w >= 0, as `quat.part` has it: one arc tangent serves all joints.

    half, sine: half the angle of the rotation, and its sine.
    """
    zero, one = like(sine, 0.0), like(sine, 1.0)
    if share >= one:
        return q
    if share <= zero or sine <= zero:
        return (zero, zero, zero, one)
    k = math.sin(half * share) / sine
    return (q[0] * k, q[1] * k, q[2] * k, math.cos(half * share))


@kernel
def share_rotation(joints, pose, axes, q, rotations):
    """Compute the shares of a rotation for the joints below the head. Returns how far that moves the head, in axes.

    rotations: (joints, 4), how far each joint is rotated in the axes by all shares up to its own; filled in here.
    """
    head = load_origin(pose.world[joints[-1].joint])
    here = xform.into(axes, vec.sub(load_origin(pose.world[joints[0].joint]), head))
    moved = here
    q = quat.same_hemisphere(q, (like(q[3], 0.0), like(q[3], 0.0), like(q[3], 0.0), like(q[3], 1.0)))
    sine = vec.length((q[0], q[1], q[2]))
    half = math.atan2(sine, q[3])
    for k in range(joints.size - 1):
        after = xform.into(axes, vec.sub(load_origin(pose.world[joints[k + 1].joint]), head))
        store4(rotations[k], part_of(q, half, sine, joints[k].share))
        moved = vec.add(moved, quat.rotate(load4(rotations[k]), vec.sub(after, here)))
        here = after
    return moved


@kernel
def rotate_joints(joints, pose, axes, rotations):
    """Apply rotations in axes to the joints, each relative to that of the joint before."""
    zero = like(axes[0][0], 0.0)
    before = (zero, zero, zero, like(zero, 1.0))
    for k in range(joints.size):
        j, now = joints[k].joint, load4(rotations[k])
        own = rotation_in_parent(axes, matrix_above(pose, joints[k].parent), quat.mul(quat.conj(before), now))
        store4(pose.r[j], quat.unit(quat.mul(own, load4(pose.r[j]))))
        before = now


@kernel
def step_head(settings, joints, target, state, pose, rotations, dt):
    """Step one head by a frame. Returns whether the pose changed."""
    zero = like(dt, 0.0)
    change = target_change(target)
    head = load_matrix(pose.world[joints[-1].joint])
    axes = axes_of(matrix_above(pose, settings.chest), settings.chest_axes)
    animated, upright = animated_gaze(axes, head, settings)
    state.yaw, state.pitch, state.error, state.reached = animated.yaw, animated.pitch, zero, False
    if not (change.held | change.was_held | state.moving):
        return False
    eye = xform.into(axes, xform.linear(head, load3(settings.eye)))
    eye_in_gaze = quat.rotate(rotation_between(animated, Angles(zero, zero), upright), eye)
    point = xform.into(axes, vec.sub(load3(target.point), head[3]))
    if change.held:
        state.side = shoulder_of(point, state.side)

    goal = gaze_goal(settings.gaze, change.held, point, eye_in_gaze, state.side, animated)
    body, body_there = step_gaze(settings.gaze, state.body, goal, animated, change, dt)
    q = rotation_between(animated, between_angles(animated, body, pose.weight), upright)
    point = vec.sub(point, share_rotation(joints, pose, axes, q, rotations))
    goal = gaze_goal(settings.gaze, change.held, point, eye_in_gaze, state.side, animated)
    gaze, there = step_gaze(settings.gaze, state.head, goal, animated, change, dt)
    state.moving = not (body_there & there)
    gaze = between_angles(animated, gaze, pose.weight)
    q = rotation_between(animated, gaze, upright)

    changed = (pose.weight > zero) & (change.held | state.moving)
    if changed:
        store4(rotations[joints.size - 1], q)
        rotate_joints(joints, pose, axes, rotations)
    state.yaw, state.pitch = gaze.yaw, gaze.pitch
    if change.held:
        state.error = angle_between(direction_of(gaze), vec.sub(point, quat.rotate(q, eye)))
        state.reached = state.error <= like(dt, AIM_TOLERANCE)
    return changed


@batch
def step_heads(rows, settings, joints, targets, states, rotations, frame, dt):
    """Step the heads of these characters by a frame. Returns how many poses changed.

    rotations: (N, joints, 4), room for what `share_rotation` fills in.
    """
    changed = 0
    for n in range(rows.size):
        i = rows[n]
        pose = character_pose(frame, i)
        changed += step_head(settings[0], joints, targets[i], states[i], pose, rotations[i], dt)
        advance_target(targets[i])
    return changed


class HeadReport(NamedTuple):
    """The result of a frame of `Head`, for every character; (N,) each."""

    yaw: NDArray[Any]
    """Yaw of the head's forward in the axes of the chest as animated, radians to the left."""
    pitch: NDArray[Any]
    """Pitch of the same, radians up."""
    error: NDArray[Any]
    """Angle between the head's forward and the target, radians; 0 without a target."""
    reached: NDArray[np.bool_]
    """Whether there is a target and the head points at it."""


@dataclass(frozen=True, kw_only=True)
class Head(Stage):
    """Rotate the head to look at a point.

    Set the target with `animator["head"].look_at(point)`, end it with `.look_ahead()`. A target behind is looked at
    over the shoulder it was last seen over. The head never rotates faster than `speed`.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Head(max_yaw=1.0, speed=3.0)])
    >>> animator["head"].look_at((1.0, 1.6, 2.0))
    """

    max_yaw: float = 1.2
    """Largest angle of the gaze to each side of the chest's forward, radians, up to pi."""
    max_pitch: float = 0.7
    """Largest angle up or down, radians, up to 1.5."""
    speed: float = 4.0
    """Largest speed of the head, radians a second."""
    half_life: float = 0.12
    """Seconds in which half of a rotation is done; 0 for as fast as `speed` allows."""
    neck_share: float = 0.25
    """Share of the rotation that the neck takes."""
    spine_share: float = 0.2
    """Share of the rotation that the spine takes. Both together at most 1; the head takes the rest."""
    offset: ArrayLike | None = None
    """Where the gaze starts in the head's own space, (3,). Default: between the eyes if the rig has any, else at the
    joint."""

    order: ClassVar[int] = 50

    def __post_init__(self) -> None:
        validation.number("max_yaw", self.max_yaw, 0.0, math.pi)
        validation.number("max_pitch", self.max_pitch, 0.0, LARGEST_PITCH)
        validation.number("speed", self.speed, 0.0)
        validation.number("half_life", self.half_life, 0.0)
        validation.number("neck_share", self.neck_share, 0.0, 1.0)
        validation.number("spine_share", self.spine_share, 0.0, 1.0 - self.neck_share)

    def start(self, crowd: Crowd, /) -> HeadState:
        return HeadState(self, crowd)


class HeadState(GazeState):
    """What each character looks at, and how far its head has come."""

    def __init__(self, settings: Head, crowd: Crowd) -> None:
        super().__init__(crowd)
        joints = _joints(settings, crowd)
        states = HEAD_STATE.zeros(crowd.count, crowd.precision)
        records = kernel_views(_settings(settings, crowd, joints), joints, self._targets, states)
        self._records = *records, crowd.zeros(len(joints), 4)
        self._moving = states.moving
        self._report = HeadReport(states.yaw, states.pitch, states.error, states.reached)
        self._rotated = joints.joint.copy()

    def update(self, context: FrameContext) -> HeadReport:
        self._step(context, step_heads, self._records, self._rotated, self._rotated)
        return copied(self._report)


def _joints(settings: Head, crowd: Crowd) -> Any:
    """Return the joints that rotate, from spine to head: an array of `HEAD_JOINT`."""
    rig, skeleton = crowd.rig, crowd.skeleton
    if rig.head is None:
        raise InputError(f"{crowd.character.name}: the rig has no head to rotate; give one, Rig(..., head=...)")
    holding = set(skeleton.above([rig.head]).tolist()) - {rig.head}
    spine, neck = (sorted(holding.intersection(joints)) for joints in (rig.spine, rig.neck))
    parts = ((settings.spine_share, len(spine)), (settings.neck_share, len(neck)))
    shares = [share / count for share, count in parts for _ in range(count)]
    joints = HEAD_JOINT.zeros(len(spine) + len(neck) + 1, crowd.precision)
    joints.joint[:] = indices(skeleton, [*spine, *neck, rig.head])
    joints.parent[:] = skeleton.parents[joints.joint]
    joints.share[:] = [*np.cumsum(shares), 1.0]
    return joints


def _settings(settings: Head, crowd: Crowd, joints: Any) -> Any:
    """Return the settings as one `HEAD_SETTINGS` record, (1,)."""
    rig, head = crowd.rig, int(joints.joint[-1])
    record = HEAD_SETTINGS.zeros(1, crowd.precision)
    spine = [joint for joint in joints.joint.tolist() if joint in rig.spine]
    chest = spine[-1] if spine else int(joints.parent[0])
    set_gaze_settings(record[0].gaze, settings)
    set_own_axes(record[0].chest_axes, rig, chest)
    record.chest[0] = chest
    record.forward[0] = own_direction(rig, head, rig.forward)
    record.up[0] = own_direction(rig, head, rig.up)
    if settings.offset is None:
        record.eye[0] = _between_the_eyes(crowd)
    else:
        record.eye[0] = validation.vectors("offset", settings.offset, 3, np.float64)
    return record


def _between_the_eyes(crowd: Crowd) -> Any:
    """Return the middle of the eyes at rest in the head's own space, (3,); the head itself where it has none."""
    rig, world = crowd.rig, crowd.rig.standing_world
    eyes = [eye for eye in rig.eyes if rig.head in crowd.skeleton.above([eye])]
    if not eyes:
        return np.zeros(3)
    middle = world[eyes, :3, 3].mean(axis=0)
    return np.linalg.pinv(world[rig.head, :3, :3]) @ (middle - world[rig.head, :3, 3])
