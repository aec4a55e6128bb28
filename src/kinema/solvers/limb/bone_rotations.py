"""World rotations of the bones of a chain, from its joint positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, like
from kinema.math import quat, vec
from kinema.math.rows import load3, store4


@batch
def _bone_rotations(joints, axis, rotations):
    """The smallest rotation from a unit axis to every bone of every chain; none for a bone without length."""
    along = load3(axis)
    for i in range(joints.shape[0]):
        for j in range(joints.shape[1] - 1):
            bone = vec.sub(load3(joints[i, j + 1]), load3(joints[i, j]))
            # Scaled first: the square of a very small or very large bone would leave the range of float32.
            size = vec.span(bone)
            bone = vec.scale(bone, like(size, 1.0) / size) if size > like(size, 0.0) else along
            store4(rotations[i, j], quat.between(along, vec.unit_or(bone, along), vec.hinge_of(along)))


def bone_rotations(joints: NDArray[Any], axis: ArrayLike) -> NDArray[Any]:
    """World rotation of each bone from an axis: (..., N-1, 4), or angles (..., N-1) for planar joints (..., N, 2)."""
    if joints.shape[-1] == 2:
        x, y, _ = validation.axis("axis", [*np.asarray(axis, np.float64).reshape(-1)[:2], 0.0])
        bones = np.diff(joints, axis=-2)
        ahead, aside = bones @ np.array([x, y], joints.dtype), bones @ np.array([-y, x], joints.dtype)
        return np.arctan2(aside, ahead)
    unit = np.asarray(validation.axis("axis", axis), joints.dtype)
    rotations = np.empty((*joints.shape[:-2], joints.shape[-2] - 1, 4), joints.dtype)
    chains = np.ascontiguousarray(joints).reshape(-1, *joints.shape[-2:])
    _bone_rotations(chains, unit, rotations.reshape(-1, *rotations.shape[-2:]))
    return rotations
