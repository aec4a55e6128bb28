"""One character of a frame, as kernels read and write it.

A stage passes `FrameArrays` to its batch loop, and the loop passes one `CharacterPose` after the other to a step. Read
world matrices with `matrix_above` and `load_matrix`, update them with `update_matrix`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.compile.jit import kernel, like
from kinema.compile.records import Record
from kinema.math import xform
from kinema.math.rows import load3, load4, load_matrix, store_matrix
from kinema.stages.stage import Crowd, FrameContext, Joints, LocalEdit


class FrameArrays(NamedTuple):
    """The arrays of a frame. N characters, J joints."""

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
    """(N,): weight of the stage for each character, 0 to 1."""


class CharacterPose(NamedTuple):
    """The rows of one character in `FrameArrays`: `CharacterPose(*[array[i] for array in frame])`.

    A batch loop builds it itself, field by field: kernels do not count references, so none can return an array.
    """

    t: Any
    r: Any
    s: Any
    world: Any
    transform: Any
    weight: Any


PATH_JOINT = Record(joint=np.int64, parent=np.int64)
"""A joint and its parent, -1 for none."""


def path_joints(crowd: Crowd, joints: Any) -> Any:
    """Return joints and their parents as an array of `PATH_JOINT`."""
    path = PATH_JOINT.zeros(len(joints), crowd.precision)
    path.joint = joints
    path.parent = crowd.skeleton.parents[path.joint]
    return path


def frame_arrays(context: FrameContext, local: LocalEdit, joints: Joints) -> FrameArrays:
    """Return the arrays of a frame, with local transforms open for writing and these joints' matrices up to date."""
    return FrameArrays(local.t, local.r, local.s, context.world(joints), context.transform, context.weights)


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
def out_of_scale(q, scale):
    """Transform a correction from a joint's own space to the axes its local rotation acts in: negative scales flip
    it."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    x = one if scale[0] >= zero else -one
    y = one if scale[1] >= zero else -one
    z = one if scale[2] >= zero else -one
    return (q[0] * y * z, q[1] * z * x, q[2] * x * y, q[3])
