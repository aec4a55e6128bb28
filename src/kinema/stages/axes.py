"""Shared by head, eyes and aim: axes, angles, and a gaze with limits and a largest speed.

Axes are three unit vectors in world space: the character's left, up and forward as some joint carries them. In these
coordinates x is left, y is up and z is ahead. Yaw rotates to the left and pitch up, both radians from straight ahead.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import kernel, like
from kinema.compile.records import REAL, Record
from kinema.constants import TINY
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint

SETTLED = 1e-6
"""Radians from its goal at which a spring counts as arrived: below float32's precision for a rotated head. Without it
springs would never come to rest, and neither would stages."""

BEHIND = 0.35
"""Radians past straight behind (20 degrees) that a target must move before the gaze switches to the other shoulder."""

OVERHEAD = 0.35
"""Sine of the angle to the vertical (20 degrees) below which the yaw of a target fades out: straight above and below,
the yaw is undefined and would jump. Narrower if the pitch may come that close to the vertical."""

UPRIGHT = 0.35
"""Cosine of the animated pitch, and of the roll, below which an upright rotation fades to the smallest one (70
degrees): the yaw of a head that is thrown back to the vertical, as when crawling, is noise."""

# --- axes ------------------------------------------------------------------------------------------------------

AXES = Record(left=(REAL, 3), up=(REAL, 3), forward=(REAL, 3))
"""The character's axes at rest, in a joint's own space."""


@kernel
def axes_of(m, own):
    """The character's axes as a joint with this matrix carries them. own: `AXES` in the joint's own space."""
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    ahead = vec.unit_or(xform.linear(m, load3(own.forward)), (zero, zero, one))
    up = vec.unit_or(vec.reject(xform.linear(m, load3(own.up)), ahead), vec.unit_side(ahead))
    left = vec.cross(up, ahead)
    mirrored = vec.dot(left, xform.linear(m, load3(own.left))) < zero
    return vec.scale(left, -one if mirrored else one), up, ahead


@kernel
def rotation_in_parent(axes, parent, q):
    """Transform a rotation from the coordinates of axes to those of a joint's parent: new local rotation = result *
    old."""
    parent_axes = xform.axes(parent)
    side = xform.handedness(axes) * xform.handedness(parent_axes)
    axis = xform.into(parent_axes, xform.linear(axes, (q[0], q[1], q[2])))
    return (axis[0] * side, axis[1] * side, axis[2] * side, q[3])


def own_direction(rig: Rig, joint: Joint, way: Any) -> Any:
    """Return a direction of the character at rest in a joint's own space, (3,). Joint -1 is the character itself."""
    if joint == -1:
        return np.array(way, np.float64)
    frame = rig.standing_world[rig.skeleton.index(joint), :3, :3].astype(np.float64)
    own = np.linalg.pinv(frame) @ np.asarray(way)
    size = np.linalg.norm(own)
    return own / size if size > 0 else np.array(way, np.float64)


def set_own_axes(record: Any, rig: Rig, joint: Joint) -> None:
    """Fill an `AXES` record with the character's axes at rest in a joint's own space."""
    up, ahead = np.array(rig.up), np.array(rig.forward)
    record.left[:] = own_direction(rig, joint, np.cross(up, ahead))
    record.up[:] = own_direction(rig, joint, up)
    record.forward[:] = own_direction(rig, joint, ahead)


# --- angles ----------------------------------------------------------------------------------------------------


class Angles(NamedTuple):
    """Yaw and pitch of a direction, radians."""

    yaw: Any
    pitch: Any


ANGLES = Record(yaw=REAL, pitch=REAL)
"""`Angles` in an array."""


@kernel
def load_angles(record):
    return Angles(record.yaw, record.pitch)


@kernel
def store_angles(record, a):
    record.yaw, record.pitch = a.yaw, a.pitch


@kernel
def to_unit(v):
    """v at length 1, for any size; zero if v is zero."""
    zero = like(v[0], 0.0)
    size = vec.span(v)
    known = size > zero
    return vec.unit_or(vec.scale(v, like(v[0], 1.0) / (size if known else like(v[0], 1.0))), (zero, zero, zero))


@kernel
def angles_of(direction):
    """Yaw and pitch of a direction; 0, 0 for the zero vector."""
    flat = math.sqrt(direction[0] * direction[0] + direction[2] * direction[2])
    return Angles(math.atan2(direction[0], direction[2]), math.atan2(direction[1], flat))


@kernel
def direction_of(a):
    """The unit vector with this yaw and pitch."""
    flat = math.cos(a.pitch)
    return (math.sin(a.yaw) * flat, math.sin(a.pitch), math.cos(a.yaw) * flat)


@kernel
def angle_between(a, b):
    """The angle between two vectors; 0 if one of them is zero."""
    return math.atan2(vec.length(vec.cross(a, b)), vec.dot(a, b))


@kernel
def wrapped(angle):
    """Wrap an angle from -2 pi to 2 pi to -pi to pi."""
    revolution = like(angle, 2.0 * math.pi)
    angle = angle - revolution if angle > like(angle, math.pi) else angle
    return angle + revolution if angle < like(angle, -math.pi) else angle


class Aside(NamedTuple):
    """A direction as two angles, to the left and up, radians: the root of both squares is its angle from ahead."""

    left: Any
    up: Any


ASIDE = Record(left=REAL, up=REAL)
"""`Aside` in an array."""


@kernel
def aside_of(v):
    """A direction as `Aside`. Straight behind has no side and counts as straight ahead."""
    zero = like(v[0], 0.0)
    across = math.sqrt(v[0] * v[0] + v[1] * v[1])
    per = math.atan2(across, v[2]) / across if across > like(across, TINY) else zero
    return Aside(v[0] * per, v[1] * per)


@kernel
def direction_aside(a):
    """The unit vector of an `Aside`."""
    one = like(a.left, 1.0)
    angle = math.sqrt(a.left * a.left + a.up * a.up)
    per = math.sin(angle) / angle if angle > like(angle, TINY) else one
    return (a.left * per, a.up * per, math.cos(angle))


# --- springs ---------------------------------------------------------------------------------------------------


@kernel
def settle(x, velocity, goal, half_life, dt):
    """Step a critically damped spring that comes to rest within `SETTLED` of its goal."""
    x, velocity = spring.critical(x, velocity, goal, half_life, dt)
    near = like(x, SETTLED)
    there = (abs(x - goal) <= near) & (abs(velocity) * half_life <= near)
    return (goal if there else x), (like(x, 0.0) if there else velocity)


# --- a gaze ----------------------------------------------------------------------------------------------------

GAZE_SETTINGS = Record(max_yaw=REAL, max_pitch=REAL, overhead=REAL, half_life=REAL, speed=REAL)
"""Limits and speed of a gaze, radians and seconds. overhead: as `OVERHEAD`, for this largest pitch."""

GAZE_STATE = Record(gaze=ANGLES, offset=ANGLES, velocity=ANGLES)
"""A gaze, how far it is off its goal, and how fast that changes."""


class TargetChange(NamedTuple):
    """The change of a target: whether there is one, whether there was one, whether it is a different one."""

    held: Any
    was_held: Any
    switched: Any


def set_gaze_settings(record: Any, settings: Any) -> None:
    """Fill a `GAZE_SETTINGS` record from a stage's settings."""
    record.max_yaw, record.max_pitch = settings.max_yaw, settings.max_pitch
    record.overhead = min(OVERHEAD, math.cos(settings.max_pitch))
    record.half_life, record.speed = settings.half_life, settings.speed


@kernel
def target_change(target):
    """The change of a `LOOK_TARGET` since the frame before."""
    moved = target.point[0] != target.last_point[0]
    moved |= target.point[1] != target.last_point[1]
    moved |= target.point[2] != target.last_point[2]
    return TargetChange(target.held, target.was_held, (target.held != target.was_held) | (target.held & moved))


@kernel
def shoulder_of(target, side):
    """The side of a target: 1 left, -1 right. Behind the head it keeps the side it was on (0: none yet)."""
    one = like(target[0], 1.0)
    zero = like(target[0], 0.0)
    yaw = math.atan2(target[0], target[2])
    clear = (abs(yaw) < like(yaw, math.pi - BEHIND)) & (yaw != zero)
    now = one if yaw >= zero else -one
    return now if clear | (side == zero) else side


@kernel
def angles_through(target, eye, side, overhead):
    """Yaw and pitch of the gaze through a target, for a head that rotates about the origin.

    eye: the start of the gaze, in the coordinates of the gaze (left, up, along it). Rotations keep distances, so the
    point of the gaze that meets the target is as far from the origin as the target. Its height gives the pitch, the
    rest the yaw.
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
    # The yaw is undefined straight above and below, and for a target inside the head.
    whole = max(vec.length(t), vec.length(e))
    known = min(math.sqrt(t[0] * t[0] + t[2] * t[2]) / ((whole if whole > zero else one) * overhead), one)
    return Angles(yaw * known * known, pitch)


@kernel
def clamp(x, low, high):
    return min(max(x, low), high)


@kernel
def gaze_goal(settings, held, target, eye, side, animated):
    """The goal of the gaze: the angles of the target, inside the limits; without a target, those of the animation."""
    a = angles_through(target, eye, side, settings.overhead)
    yaw = clamp(a.yaw, -settings.max_yaw, settings.max_yaw)
    pitch = clamp(a.pitch, -settings.max_pitch, settings.max_pitch)
    return Angles(yaw if held else animated.yaw, pitch if held else animated.pitch)


@kernel
def size_of(a):
    """Length of a step in yaw and pitch. Its rotation is no larger, as cos(angle / 2) = cos(yaw / 2) cos(pitch / 2)."""
    return math.sqrt(a.yaw * a.yaw + a.pitch * a.pitch)


@kernel
def at_most(a, size):
    """Angles scaled down to a length of at most `size`."""
    whole = size_of(a)
    share = size / whole if whole > size else like(size, 1.0)
    return Angles(a.yaw * share, a.pitch * share)


@kernel
def between_angles(a, b, share):
    """Interpolate from one gaze to another; exact for a share of 1."""
    whole = share >= like(share, 1.0)
    return Angles(
        b.yaw if whole else a.yaw + (b.yaw - a.yaw) * share,
        b.pitch if whole else a.pitch + (b.pitch - a.pitch) * share,
    )


@kernel
def inside_limits(settings, gaze, start, goal):
    """Clamp a gaze to the limits. If its start or goal is outside of them, it may be as far out, but no further."""
    yaw, pitch = settings.max_yaw, settings.max_pitch
    return Angles(
        clamp(gaze.yaw, min(-yaw, start.yaw, goal.yaw), max(yaw, start.yaw, goal.yaw)),
        clamp(gaze.pitch, min(-pitch, start.pitch, goal.pitch), max(pitch, start.pitch, goal.pitch)),
    )


@kernel
def jumped_by(state, goal, animated, change, most):
    """How far the goal jumped since the frame before; zero if it only moved along with the body.

    most: the largest step of a frame, radians.
    """
    zero = like(most, 0.0)
    before = Angles(state.gaze.yaw - state.offset.yaw, state.gaze.pitch - state.offset.pitch)
    if not change.was_held:
        before = animated
    jump = Angles(before.yaw - goal.yaw, before.pitch - goal.pitch)
    jumped = change.switched | (change.held & (size_of(jump) > most))
    return Angles(jump.yaw if jumped else zero, jump.pitch if jumped else zero)


@kernel
def step_gaze(settings, state, goal, animated, change, dt):
    """Step a gaze towards its goal by a frame. Returns it, and whether it has arrived.

    The state holds the offset of the gaze from its goal: without a target, from the animation. No step is longer than
    speed * dt, for any half-life.
    """
    zero = like(dt, 0.0)
    most = settings.speed * dt
    jump = jumped_by(state, goal, animated, change, most)
    offset = Angles(state.offset.yaw + jump.yaw, state.offset.pitch + jump.pitch)
    if change.held and not change.was_held:  # Rotate through the front.
        yaw = goal.yaw + offset.yaw
        revolution = like(dt, 2.0 * math.pi)
        back = revolution if yaw > like(dt, math.pi) else (-revolution if yaw < like(dt, -math.pi) else zero)
        offset = Angles(offset.yaw - back, offset.pitch)
    start = Angles(goal.yaw + offset.yaw, goal.pitch + offset.pitch)
    if change.held and change.was_held:
        start = load_angles(state.gaze)
    yaw, yaw_velocity = settle(offset.yaw, state.velocity.yaw, zero, settings.half_life, dt)
    pitch, pitch_velocity = settle(offset.pitch, state.velocity.pitch, zero, settings.half_life, dt)
    wanted = Angles(goal.yaw + yaw - start.yaw, goal.pitch + pitch - start.pitch)
    step = at_most(wanted, most)
    gaze = inside_limits(settings, Angles(start.yaw + step.yaw, start.pitch + step.pitch), start, goal)
    if (yaw == zero) & (pitch == zero) & (size_of(wanted) <= most):
        gaze = goal
    store_angles(state.gaze, gaze)
    store_angles(state.offset, Angles(gaze.yaw - goal.yaw, gaze.pitch - goal.pitch))
    store_angles(state.velocity, at_most(Angles(yaw_velocity, pitch_velocity), settings.speed))
    arrived = (gaze.yaw == goal.yaw) & (gaze.pitch == goal.pitch)
    return gaze, arrived & (yaw_velocity == zero) & (pitch_velocity == zero)


@kernel
def rotation_between(start, end, upright):
    """The rotation from one gaze to another: yaw about the up axis, so that the head stays upright.

    upright: 0 to 1; below 1 the rotation blends to the smallest one.
    """
    one = like(start.yaw, 1.0)
    zero = like(start.yaw, 0.0)
    right = (-math.cos(start.yaw), zero, math.sin(start.yaw))
    up = (zero, one, zero)
    yaw = quat.from_axis_angle(up, end.yaw - start.yaw)
    q = quat.mul(yaw, quat.from_axis_angle(right, end.pitch - start.pitch))
    if upright < one:
        smallest = quat.between(direction_of(start), direction_of(end), right)
        q = quat.slerp(smallest, q, upright)
    return q
