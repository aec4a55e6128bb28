"""Root motion: the path of a clip's root over the ground, removed from the pose so that it moves the character instead.

A ground transform is `(offset, yaw)`: a vector perpendicular to up, metres, and a rotation about up, radians. The
rotation is applied first. Arrays hold one per row of four numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch, kernel, like
from kinema.math import arrays, quat, vec, xform
from kinema.math.rows import load3, load4, store3, store4
from kinema.pose import LocalTransforms
from kinema.skeleton import Skeleton


class RootMotion(NamedTuple):
    """The motion of a root between two times, relative to its position and heading at the first. ... is the batch."""

    offset: Any
    """(..., 3): along the ground, metres."""
    yaw: Any
    """(...): rotation about up, -pi to pi radians."""


# --- ground transforms------------------------------------------------------------------------------------------


@kernel
def wrapped(angle):
    """The same angle, from -pi to pi."""
    whole = like(angle, 2.0 * math.pi)
    return angle - whole * math.floor(angle / whole + like(angle, 0.5))


@kernel
def then(a, b, up):
    """Compose two ground transforms: b in the space of a."""
    return (vec.add(a[0], quat.rotate(quat.from_axis_angle(up, a[1]), b[0])), wrapped(a[1] + b[1]))


@kernel
def inverse(a, up):
    """The inverse of a ground transform."""
    return (vec.scale(quat.rotate(quat.from_axis_angle(up, -a[1]), a[0]), like(a[1], -1.0)), -a[1])


@kernel
def repeated(a, count, up):
    """Repeat a ground transform `count` times; the inverse for a negative count.

    The offsets are a geometric sum of rotated vectors: count terms are sin(count yaw/2) / sin(yaw/2) long, and point
    half way between the first and the last.
    """
    zero = like(a[1], 0.0)
    half = a[1] * like(a[1], 0.5)
    sine = math.sin(half)
    size = math.sin(count * half) / sine if sine != zero else count
    middle = quat.from_axis_angle(up, (count - like(a[1], 1.0)) * half)
    return (vec.scale(quat.rotate(middle, a[0]), size), wrapped(count * a[1]))


@kernel
def load_ground(row):
    """Load a ground transform from a row of four numbers."""
    return (load3(row), row[3])


@kernel
def store_ground(row, offset, yaw):
    """Store a ground transform in a row of four numbers."""
    store3(row, offset)
    row[3] = yaw


@batch
def travels(before, after, passes, ends, up, out):
    """Compute the motion between ground transforms, (n, 4) each, with whole passes of a loop in between.

    ends: (2, 4), the root at the start and at the end of a pass.
    """
    axis = load3(up)
    start, end = load_ground(ends[0]), load_ground(ends[1])
    one_pass = then(inverse(start, axis), end, axis)
    for i in range(out.shape[0]):
        way = inverse(load_ground(before[i]), axis)
        if passes[i] != 0:
            loops = repeated(one_pass, like(up[0], passes[i]), axis)
            way = then(then(then(way, start, axis), loops, axis), inverse(start, axis), axis)
        offset, yaw = then(way, load_ground(after[i]), axis)
        store_ground(out[i], offset, yaw)


# --- poses -----------------------------------------------------------------------------------------------------


@kernel
def load_transform(pose, i, j):
    """Load the local transform of joint j in row i."""
    return (load3(pose.t[i, j]), load4(pose.r[i, j]), load3(pose.s[i, j]))


@batch
def root_transforms(rows, joint, parents, rest, up, pose, out):
    """Compute the ground transform of a joint, relative to rest, for these rows of a pose; (rows, 4).

    rest: (7,), the joint's position and rotation at rest, in the character's space.
    """
    axis = load3(up)
    rest_at, rest_rotation = (rest[0], rest[1], rest[2]), (rest[3], rest[4], rest[5], rest[6])
    for n in range(rows.size):
        i, j = rows[n], parents[joint]
        at, rotation = load3(pose.t[i, joint]), load4(pose.r[i, joint])
        while j >= 0:
            step = load_transform(pose, i, j)
            at = xform.point(step, at)
            rotation = quat.mul(step[1], rotation)
            j = parents[j]
        away = quat.mul(rotation, quat.conj(rest_rotation))
        # The twist about an axis has the same ratio of its axis part to w as the whole rotation.
        yaw = wrapped(like(up[0], 2.0) * math.atan2(vec.dot((away[0], away[1], away[2]), axis), away[3]))
        stays = quat.rotate(quat.from_axis_angle(axis, yaw), vec.reject(rest_at, axis))
        store_ground(out[n], vec.sub(vec.reject(at, axis), stays), yaw)


@batch
def remove_transforms(rows, joint, parents, up, transforms, pose):
    """Remove ground transforms, (rows, 4), from a joint's local transform. The rest of the pose does not change."""
    axis = load3(up)
    one, zero = like(up[0], 1.0), like(up[0], 0.0)
    for n in range(rows.size):
        i, j = rows[n], parents[joint]
        offset, yaw = inverse(load_ground(transforms[n]), axis)
        rotation = quat.from_axis_angle(axis, yaw)
        # The transform of the joint's parent in the character's space.
        above_at, above_rotation, above_scale = (zero, zero, zero), (zero, zero, zero, one), (one, one, one)
        at = load3(pose.t[i, joint])
        while j >= 0:
            step = load_transform(pose, i, j)
            above_at = xform.point(step, above_at)
            above_rotation = quat.mul(step[1], above_rotation)
            above_scale = (above_scale[0] * step[2][0], above_scale[1] * step[2][1], above_scale[2] * step[2][2])
            j = parents[j]
        at = xform.point((above_at, above_rotation, above_scale), at)
        at = vec.sub(vec.add(quat.rotate(rotation, at), offset), above_at)
        at = quat.rotate(quat.conj(above_rotation), at)
        new = quat.mul(rotation, quat.mul(above_rotation, load4(pose.r[i, joint])))
        new = quat.unit(quat.mul(quat.conj(above_rotation), new))
        for c in range(3):
            pose.t[i, joint, c] = at[c] / above_scale[c] if above_scale[c] != zero else zero
        store4(pose.r[i, joint], new)


class Root:
    """The joint whose path over the ground is the root motion. up: perpendicular to the ground."""

    def __init__(self, skeleton: Skeleton, joint: int, up: Any) -> None:
        self._skeleton = skeleton
        self._joint = joint
        self._up = np.array(validation.axis("up", up))
        rotation = np.array((0.0, 0.0, 0.0, 1.0))
        for j in skeleton.above([joint]):
            rotation = arrays.mul(rotation, skeleton.rest.rotations[j])
        self._rest = np.concatenate((skeleton.rest_world[joint, :3, 3], arrays.unit(rotation)))

    def transforms(self, rows: Any, t: Any, r: Any, s: Any) -> Any:
        """Compute the root's ground transforms, (rows, 4), in some rows of t, r, s, (N, J, 3|4|3)."""
        dtype = t.dtype
        out = np.empty((rows.size, 4), dtype)
        rest, up = self._rest.astype(dtype), self._up.astype(dtype)
        pose = LocalTransforms(t, r, s)
        root_transforms(rows, self._joint, self._skeleton.parents, rest, up, pose, out)
        return out

    def travels(self, before: Any, after: Any, passes: Any, ends: Any) -> Any:
        """Compute the motion between ground transforms, (n, 4), with whole passes of a loop in between.

        See `travels`.
        """
        out = np.empty_like(before)
        travels(before, after, passes, ends, self._up.astype(before.dtype), out)
        return out

    def remove(self, rows: Any, transforms: Any, t: Any, r: Any, s: Any) -> None:
        """Remove ground transforms, (rows, 4), from the root of some rows of t, r, s."""
        up, pose = self._up.astype(t.dtype), LocalTransforms(t, r, s)
        remove_transforms(rows, self._joint, self._skeleton.parents, up, transforms, pose)
