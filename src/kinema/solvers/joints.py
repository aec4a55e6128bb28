"""The joints of a posed character: rotate one, and bring the world matrices below it up to date.

A batch loop takes the arrays of all characters, `FrameArrays`, and passes one `CharacterPose` after the other to a
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.compile.jit import kernel, like
from kinema.compile.records import Record
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, store4, store_matrix
from kinema.model.skeleton import Skeleton


class FrameArrays(NamedTuple):
    """The arrays of N posed characters of J joints."""

    t: NDArray[Any]
    """(N, J, 3): local translations, metres."""
    r: NDArray[Any]
    """(N, J, 4): local rotations."""
    s: NDArray[Any]
    """(N, J, 3): local scales."""
    world: NDArray[Any]
    """(N, J, 12): world matrices, 3x4 row by row."""
    transform: NDArray[Any]
    """(N, 1, 12): from each character's space to the world."""
    weights: NDArray[Any]
    """(N,): weight of what is done to each character, 0 to 1."""


class CharacterPose(NamedTuple):
    """The rows of one character in `FrameArrays`."""

    t: Any
    r: Any
    s: Any
    world: Any
    transform: Any
    weight: Any


PATH_JOINT = Record(joint=np.int64, parent=np.int64)
"""A joint and its parent, -1 for none."""


def path_joints(skeleton: Skeleton, joints: Any, dtype: Any) -> Any:
    """Return joints and their parents as an array of `PATH_JOINT`."""
    path = PATH_JOINT.zeros(len(joints), dtype)
    path.joint = joints
    path.parent = skeleton.parents[path.joint]
    return path


def paths_to(skeleton: Skeleton, rotated: Sequence[int], read: Sequence[Sequence[int]], dtype: Any) -> tuple[Any, Any]:
    """Return which matrices a loop must update before each step, if a step reads joints, then rotates one.

    rotated, read: the joint that step n rotates, and those whose matrices it reads. All are up to date at first.
    Returns the joints to update as an array of `PATH_JOINT`, and (steps + 1,): where the part of each step begins.
    """
    stale = np.zeros(len(skeleton), bool)
    parts: list[Any] = []
    for joint, needed in zip(rotated, read, strict=True):
        above = skeleton.above(needed)
        parts.append(above[stale[above]])
        stale[above] = False
        stale[skeleton.below([joint])] = True
    ends = np.cumsum([0, *map(len, parts)])
    return path_joints(skeleton, np.concatenate([np.zeros(0, np.int64), *parts]), dtype), ends


@kernel
def character_pose(frame, i):
    """The rows of character i. For loops of a `batch` only: an `allocating_batch` would free the arrays afterwards."""
    return CharacterPose(frame.t[i], frame.r[i], frame.s[i], frame.world[i], frame.transform[i, 0], frame.weights[i])


@kernel
def matrix_above(pose, parent):
    """World matrix of a parent joint; for -1 (a root has no parent) the transform of the character."""
    return load_matrix(pose.transform) if parent < 0 else load_matrix(pose.world[parent])


@kernel
def local_matrix(pose, joint):
    """Matrix of a joint relative to its parent."""
    return xform.matrix((load3(pose.t[joint]), load4(pose.r[joint]), load3(pose.s[joint])))


@kernel
def update_matrix(pose, joint, parent):
    """Update a joint's world matrix. Its parent's must be up to date."""
    store_matrix(pose.world[joint], xform.mul(matrix_above(pose, parent), local_matrix(pose, joint)))


@kernel
def update_path(path, first, last, pose):
    """Update the world matrices of a part of a path, an array of records with `joint` and `parent`."""
    for k in range(first, last):
        update_matrix(pose, path[k].joint, path[k].parent)


@kernel
def rotation_axes(pose, joint):
    """The unit axes in world space that a joint's local rotation acts in."""
    return xform.axes(xform.unmirrored(load_matrix(pose.world[joint]), pose.s[joint]))


@kernel
def rotate_joint(pose, joint, correction):
    """Apply a correction, in `rotation_axes`, to a joint's local rotation. World matrices are then out of date."""
    store4(pose.r[joint], quat.unit(quat.mul(load4(pose.r[joint]), correction)))


@kernel
def rotate_in_world(pose, joint, rotation):
    """Rotate a joint in world space. Its own matrix, and those below it, are then out of date."""
    frame = rotation_axes(pose, joint)
    axis = xform.into(frame, (rotation[0], rotation[1], rotation[2]))
    axis = vec.scale(axis, xform.handedness(frame))
    rotate_joint(pose, joint, (axis[0], axis[1], axis[2], rotation[3]))


@kernel
def out_of_scale(q, scale):
    """Transform a correction from a joint's own space to its `rotation_axes`: negative scales flip it."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    x = one if scale[0] >= zero else -one
    y = one if scale[1] >= zero else -one
    z = one if scale[2] >= zero else -one
    return (q[0] * y * z, q[1] * z * x, q[2] * x * y, q[3])
