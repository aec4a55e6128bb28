"""What every figure starts from: checked frames, positions and rotations."""

from typing import Any

import numpy as np

from kinema import validation
from kinema.constants import LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton


def world_frames(skeleton: Skeleton, name: str, motion: Any) -> Any:
    """Return world matrices (F, ..., J, 4, 4) in float64, from matrices or poses."""
    if isinstance(motion, Pose):
        motion = skeleton.world(motion)
    array = validation.contiguous(validation.real(name, motion), np.float64)
    if array.ndim < 4 or array.shape[-3:] != (len(skeleton), 4, 4) or len(array) == 0:
        raise InputError(f"{name} must have shape (frames, ..., {len(skeleton)}, 4, 4), got {array.shape}")
    validation.check_finite(name, array)
    return array


def seconds(dt: float) -> float:
    """Return dt, checked."""
    return validation.number("dt", dt, SHORTEST_FRAME, LONGEST_FRAME)


def positions_of(world: Any, joints: Any) -> Any:
    """(F, ..., n, 3): the positions of some joints."""
    return world[..., :3, 3][..., np.array(joints, np.int64), :]


def rotations_of(matrices: Any) -> Any:
    """(..., 4): the rotation in matrices (..., 4, 4), whatever they scale or mirror."""
    axes = matrices[..., :3, :3]
    size = np.linalg.norm(axes, axis=-2, keepdims=True)
    handed = np.where(np.linalg.det(axes / np.where(size > 0, size, 1.0)) < 0, -1.0, 1.0)
    return arrays.from_matrix(axes / np.where(size > 0, size, 1.0) * handed[..., np.newaxis, np.newaxis])


def frame_numbers(frames: Any) -> Any:
    """The number of each frame, (F, 1, ...), to go with an array of frames."""
    return np.arange(len(frames)).reshape(-1, *(1,) * (frames.ndim - 1))
