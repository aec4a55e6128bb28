"""Joints with limits, eased without leaving them.

A limit is a simple convex set in the right coordinates: a hinge is an interval of angles; a cone with a twist is a disc
of swing vectors times an interval. Between two poses inside it, the straight line in these coordinates stays inside,
and moving a point to the nearest one inside never lengthens a step. So a joint that is eased, blended and slowed down
there keeps its limit and never jumps, although the shortest rotation may lead through what is forbidden.
"""

from __future__ import annotations

import math
from typing import Any

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.math import quat, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.model import limits
from kinema.model.limits import Cone, Hinge, SwingTwist, hold_limit
from kinema.stages.axes import wrapped
from kinema.stages.jumps import OFFSET, followed, settle3
from kinema.stages.stage import Crowd

JOINT_SPEED = 22.0
"""Radians a second. A joint with limits is never eased faster: 21 degrees in a frame at 60 Hz, which looks fast and not
like a jump. Arms that follow a target at a walking pace stay below half of it."""

JOINT_LIMIT = Record(
    limited=bool,
    hinge=bool,
    bounded=bool,
    limit=limits.LIMIT,
    rest=(REAL, 4),
    bone=(REAL, 3),
    axis=(REAL, 3),
    swing=REAL,
    middle=REAL,
    half=REAL,
)
"""The limit of one joint. limited: whether there is one. hinge: whether it is a hinge, about `axis`. bounded: whether
the angle about the axis is limited. limit, rest, bone: as in `JointLimits`. swing: the largest swing, radians. middle,
half: the middle and half the width of the range of that angle, radians.
"""

JOINT_EASING = Record(goal=(REAL, 3), offset=OFFSET)
"""The goal of the frame before in the coordinates of the limit, and the decaying offset of its jumps."""


def set_joint_limit(record: Any, crowd: Crowd, joint: int) -> None:
    """Fill a `JOINT_LIMIT` record for a joint of a skeleton."""
    held = crowd.skeleton.joint_limits(crowd.precision)
    limit = crowd.skeleton.limits[joint]
    record.limit, record.bone[:], record.rest[:] = held.limits[joint], held.bones[joint], held.rest[joint]
    record.axis[:], record.half, record.swing = held.bones[joint], math.pi, math.pi
    record.limited = limit is not None
    if isinstance(limit, Hinge):
        record.hinge, record.axis[:] = True, limit.axis
        record.middle, record.half = _middle_and_half(limit.low, limit.high)
    elif isinstance(limit, SwingTwist):
        record.swing = min(max(limit.swing, 0.0), math.pi)
        record.middle, record.half = _middle_and_half(limit.twist_low, limit.twist_high)
    elif isinstance(limit, Cone):
        record.swing = min(max(limit.angle, 0.0), math.pi)
    record.bounded = record.half < math.pi


def _middle_and_half(low: float, high: float) -> tuple[float, float]:
    """Return the middle of a range, -pi to pi, and half its width, at most pi."""
    return math.remainder(low / 2 + high / 2, 2 * math.pi), min(high / 2 - low / 2, math.pi)


# --- coordinates -----------------------------------------------------------------------------------------------


@kernel
def angle_of(q, axis):
    """The angle of a rotation about an axis, -pi to pi."""
    angle = like(q[3], 2.0) * math.atan2(vec.dot((q[0], q[1], q[2]), axis), q[3])
    return wrapped(angle)


@kernel
def nearest_revolution(angle, near):
    """An angle plus the number of whole revolutions that brings it nearest to another one."""
    revolution = like(angle, 2.0 * math.pi)
    return angle + revolution * math.floor((near - angle) / revolution + like(angle, 0.5))


@routine
def coordinates(limit, q, near):
    """A local rotation in the coordinates of its limit. near: of equivalent coordinates, the nearest to these is taken.

    For a hinge: its angle from the middle of the range, times the axis. Otherwise: the swing as a rotation vector,
    perpendicular to the bone, plus the twist from the middle of its range, along the bone. Without a limit: the
    rotation vector.
    """
    zero = like(q[0], 0.0)
    away = quat.mul(quat.conj(load4(limit.rest)), q)
    axis = load3(limit.axis)
    if not limit.limited:
        v = quat.to_vector(away)
        angle = vec.length(v)
        if angle <= zero:
            return v
        along = vec.scale(v, like(angle, 1.0) / angle)
        return vec.scale(along, nearest_revolution(angle, vec.dot(near, along)))
    swing, twist = limits.split(away, axis)
    angle = angle_of(twist, axis) - limit.middle
    angle = nearest_revolution(angle, zero if limit.bounded else vec.dot(near, axis))
    along = vec.scale(axis, angle)
    if limit.hinge:
        return along
    return vec.add(vec.reject(quat.to_vector(swing), axis), along)


@routine
def from_coordinates(limit, v):
    """The local rotation with these coordinates."""
    rest = load4(limit.rest)
    if not limit.limited:
        return quat.unit(quat.mul(rest, quat.exp(v)))
    axis = load3(limit.axis)
    angle = vec.dot(v, axis)
    away = quat.from_axis_angle(axis, limit.middle + angle)
    if not limit.hinge:
        away = quat.mul(quat.exp(vec.sub(v, vec.scale(axis, angle))), away)
    return quat.unit(quat.mul(rest, away))


@routine
def nearest_inside(limit, v):
    """The nearest coordinates that the limit allows."""
    if not limit.limited:
        return v
    one = like(v[0], 1.0)
    axis = load3(limit.axis)
    angle = vec.dot(v, axis)
    swing = vec.sub(v, vec.scale(axis, angle))
    size = vec.length(swing)
    swing = vec.scale(swing, limit.swing / size if size > limit.swing else one)
    if limit.bounded:
        angle = min(max(angle, -limit.half), limit.half)
    return vec.add(swing, vec.scale(axis, angle))


@kernel
def step_size(limit, step):
    """An upper bound for the angle of a step in coordinates: that of its swing plus that of its twist."""
    along = vec.dot(step, load3(limit.axis))
    whole = vec.length(step)
    across = math.sqrt(max(whole * whole - along * along, like(whole, 0.0)))
    return across + abs(along) if limit.limited else whole


# --- joints ----------------------------------------------------------------------------------------------------


@routine
def hold_joint(limit, r, rounding):
    """Move a local rotation, a row, into its limit. Returns whether it was outside."""
    return hold_limit(r, limit.rest, limit.bone, limit.limit, rounding)


@routine
def ease_joint(limit, easing, r, begun, half_life, speed, dt):
    """Ease a local rotation, a row, over jumps that its limit causes. Returns whether it is still easing.

    half_life: seconds. speed: radians per second up to which the rotation is followed at once.
    """
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    none = (zero, zero, zero)
    last = load3(easing.goal)
    goal = coordinates(limit, load4(r), last)
    store3(easing.goal, goal)
    if not begun:
        store3(easing.offset.value, none)
        store3(easing.offset.velocity, none)
        return False
    offset = load3(easing.offset.value)
    before = vec.add(last, offset)
    jump = vec.sub(last, goal)
    jump = vec.scale(jump, one - followed(vec.length(jump), speed * dt))
    offset, velocity = settle3(vec.add(offset, jump), load3(easing.offset.velocity), half_life, dt)
    shown = goal if vec.span(offset) <= zero else nearest_inside(limit, vec.add(goal, offset))
    step = vec.sub(shown, before)
    size, most = step_size(limit, step), like(dt, JOINT_SPEED) * dt
    if (size > most) & (half_life > zero):
        shown = vec.add(before, vec.scale(step, most / size))
    fast = vec.length(velocity)
    velocity = vec.scale(velocity, like(dt, JOINT_SPEED) / fast if fast > like(dt, JOINT_SPEED) else one)
    offset = vec.sub(shown, goal)
    store3(easing.offset.value, offset)
    store3(easing.offset.velocity, velocity)
    if vec.span(offset) > zero:
        store4(r, from_coordinates(limit, shown))
    return (vec.span(offset) > zero) | (vec.span(velocity) > zero)


@routine
def blend_joint(limit, r, before, weight, rounding):
    """Blend a local rotation, a row, with the one from before (weight 0), inside its limit.

    Slerps without a limit; with one, blends linearly in its coordinates. Returns whether the limit restricts it.
    """
    if weight >= like(weight, 1.0):
        return hold_joint(limit, r, rounding)
    if weight <= like(weight, 0.0):
        store4(r, before)
        return hold_joint(limit, r, rounding)
    if not limit.limited:
        store4(r, quat.unit(quat.slerp(before, load4(r), weight)))
        return False
    now = load4(r)
    store4(r, before)
    moved = hold_joint(limit, r, rounding)
    end = coordinates(limit, now, load3(limit.bone))
    start = coordinates(limit, load4(r), end)
    store4(r, from_coordinates(limit, vec.add(start, vec.scale(vec.sub(end, start), weight))))
    return hold_joint(limit, r, rounding) | moved
