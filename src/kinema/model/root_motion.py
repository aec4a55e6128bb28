"""Root motion: the path of a clip's root over the ground, removed from the pose so that it moves the character instead.

A ground transform is `(offset, yaw)`: a vector perpendicular to up, metres, and a rotation about up, radians. The
rotation is applied first. Arrays hold one per row of four numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import arrays, quat, vec, xform
from kinema.math.rows import load3, load4, store3, store4
from kinema.model.pose import LocalTransforms, flat_rows
from kinema.model.skeleton import Skeleton


class RootMotion(NamedTuple):
    """The motion of a root between two times, relative to its position and heading at the first. ... is the batch."""

    offset: Any
    """(..., 3): along the ground, metres."""
    yaw: Any
    """(...): rotation about up, -pi to pi radians."""


# --- ground transforms------------------------------------------------------------------------------------------


@kernel
def wrapped(angle):
    """Wrap an angle to -pi to pi."""
    whole = like(angle, 2.0 * math.pi)
    return angle - whole * like(angle, math.floor(angle / whole + like(angle, 0.5)))


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
def store_ground(row, transform):
    """Store a ground transform in a row of four numbers."""
    store3(row, transform[0])
    row[3] = transform[1]


@kernel
def travel(before, after, passes, ends, up):
    """The motion between two ground transforms, with whole passes of a loop in between.

    ends: the root at the start and at the end of a pass.
    """
    way = inverse(before, up)
    if passes != 0:
        start, end = ends
        one_pass = then(inverse(start, up), end, up)
        loops = repeated(one_pass, like(up[0], passes), up)
        way = then(then(then(way, start, up), loops, up), inverse(start, up), up)
    return then(way, after, up)


@batch
def travels(before, after, passes, ends, up, out):
    """Compute the motion between ground transforms, (n, 4) each. ends: (2, 4). See `travel`."""
    both_ends = load_ground(ends[0]), load_ground(ends[1])
    for i in range(out.shape[0]):
        store_ground(out[i], travel(load_ground(before[i]), load_ground(after[i]), passes[i], both_ends, load3(up)))


# --- poses -----------------------------------------------------------------------------------------------------


ROOT = Record(
    joint=np.int64,
    rest_position=(REAL, 3),
    rest_rotation=(REAL, 4),
    up=(REAL, 3),
)
"""A root: its joint, the position and rotation of that at rest, in the character's space, and what is up."""


@kernel
def load_transform(pose, j):
    """Load the local transform of joint j of one character, whose `LocalTransforms` are flat rows."""
    at = 3 * j
    return (load3(pose.t[at : at + 3]), load4(pose.r[4 * j : 4 * j + 4]), load3(pose.s[at : at + 3]))


@kernel
def root_transform(root, parents, pose):
    """The ground transform of a root, relative to rest, in the pose of one character."""
    up = load3(root.up)
    at, rotation, _ = load_transform(pose, root.joint)
    j = parents[root.joint]
    while j >= 0:
        step = load_transform(pose, j)
        at = xform.point(step, at)
        rotation = quat.mul(step[1], rotation)
        j = parents[j]
    away = quat.mul(rotation, quat.conj(load4(root.rest_rotation)))
    # The twist about an axis has the same ratio of its axis part to w as the whole rotation.
    yaw = wrapped(like(up[0], 2.0) * math.atan2(vec.dot((away[0], away[1], away[2]), up), away[3]))
    stays = quat.rotate(quat.from_axis_angle(up, yaw), vec.reject(load3(root.rest_position), up))
    return (vec.sub(vec.reject(at, up), stays), yaw)


@kernel
def remove_transform(root, parents, transform, pose):
    """Remove a ground transform from the root's local transform. The rest of the pose does not change."""
    up, joint = load3(root.up), root.joint
    one, zero = like(up[0], 1.0), like(up[0], 0.0)
    offset, yaw = inverse(transform, up)
    rotation = quat.from_axis_angle(up, yaw)
    # The transform of the joint's parent in the character's space.
    above_at, above_rotation, above_scale = (zero, zero, zero), (zero, zero, zero, one), (one, one, one)
    at, own_rotation, _ = load_transform(pose, joint)
    j = parents[joint]
    while j >= 0:
        step = load_transform(pose, j)
        above_at = xform.point(step, above_at)
        above_rotation = quat.mul(step[1], above_rotation)
        above_scale = (above_scale[0] * step[2][0], above_scale[1] * step[2][1], above_scale[2] * step[2][2])
        j = parents[j]
    at = xform.point((above_at, above_rotation, above_scale), at)
    at = vec.sub(vec.add(quat.rotate(rotation, at), offset), above_at)
    at = quat.rotate(quat.conj(above_rotation), at)
    new = quat.mul(rotation, quat.mul(above_rotation, own_rotation))
    new = quat.unit(quat.mul(quat.conj(above_rotation), new))
    for c in range(3):
        pose.t[3 * joint + c] = at[c] / above_scale[c] if above_scale[c] != zero else zero
    store4(pose.r[4 * joint : 4 * joint + 4], new)


@batch
def root_transforms(rows, root, parents, pose, out):
    """Compute the ground transforms, (rows, 4), of a root, (1,) `ROOT`, in these rows of flat `LocalTransforms`."""
    for n in range(rows.size):
        i = rows[n]
        own = LocalTransforms(pose.t[i], pose.r[i], pose.s[i])
        store_ground(out[n], root_transform(root[0], parents, own))


@batch
def remove_transforms(rows, root, parents, transforms, pose):
    """Remove ground transforms, (rows, 4), from a root, (1,) `ROOT`, in these rows of flat `LocalTransforms`."""
    for n in range(rows.size):
        i = rows[n]
        own = LocalTransforms(pose.t[i], pose.r[i], pose.s[i])
        remove_transform(root[0], parents, load_ground(transforms[n]), own)


class Root:
    """The joint whose path over the ground is the root motion. up: perpendicular to the ground."""

    def __init__(self, skeleton: Skeleton, joint: int, up: Any) -> None:
        self._skeleton = skeleton
        self._joint = joint
        self._up = np.array(validation.axis("up", up))
        rotation = np.array((0.0, 0.0, 0.0, 1.0))
        for j in skeleton.above([joint]):
            rotation = arrays.mul(rotation, skeleton.rest.rotations[j])
        self._position, self._rotation = skeleton.rest_world[joint, :3, 3], arrays.unit(rotation)
        self._records: dict[Any, Any] = {}

    def record(self, dtype: Any) -> Any:
        """(1,) `ROOT`, in this precision."""
        real = np.dtype(dtype)
        if real not in self._records:
            record = ROOT.of(
                real, joint=self._joint, rest_position=self._position, rest_rotation=self._rotation, up=self._up
            )
            (self._records[real],) = kernel_views(np.atleast_1d(record))
        return self._records[real]

    def transforms(self, rows: Any, t: Any, r: Any, s: Any) -> Any:
        """Compute the root's ground transforms, (rows, 4), in some rows of t, r, s, (N, J, 3|4|3)."""
        out = np.empty((rows.size, 4), t.dtype)
        root_transforms(rows, self.record(t.dtype), self._skeleton.parents, flat_rows(t, r, s), out)
        return out

    def travels(self, before: Any, after: Any, passes: Any, ends: Any) -> Any:
        """Compute the motion between ground transforms, (n, 4), with whole passes of a loop in between.

        See `travel`.
        """
        out = np.empty_like(before)
        travels(before, after, passes, ends, self._up.astype(before.dtype), out)
        return out

    def remove(self, rows: Any, transforms: Any, t: Any, r: Any, s: Any) -> None:
        """Remove ground transforms, (rows, 4), from the root of some rows of t, r, s."""
        remove_transforms(rows, self.record(t.dtype), self._skeleton.parents, transforms, flat_rows(t, r, s))
