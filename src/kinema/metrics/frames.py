"""What every figure starts from: checked frames, leg lengths, runs of true values."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema import validation
from kinema.constants import LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Rig
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


def leg_lengths(rig: Rig) -> list[float]:
    """Length of each leg from hip to ankle, metres."""
    return [rig.skeleton.length(leg.joints) for leg in rig.legs]


def rotations_of(matrices: Any) -> Any:
    """(..., 4): the rotation in matrices (..., 4, 4), whatever they scale or mirror."""
    axes = matrices[..., :3, :3]
    size = np.linalg.norm(axes, axis=-2, keepdims=True)
    handed = np.where(np.linalg.det(axes / np.where(size > 0, size, 1.0)) < 0, -1.0, 1.0)
    return arrays.from_matrix(axes / np.where(size > 0, size, 1.0) * handed[..., np.newaxis, np.newaxis])


def frame_numbers(frames: Any) -> Any:
    """The number of each frame, (F, 1, ...), to go with an array of frames."""
    return np.arange(len(frames)).reshape(-1, *(1,) * (frames.ndim - 1))


def runs(rows: Any) -> tuple[Any, Any, Any]:
    """Every stretch of true in rows of true or false, (R, F): its row, first frame, and the frame after its last."""
    edges = np.diff(np.pad(rows, ((0, 0), (1, 1))).astype(np.int8), axis=-1)
    row, start = np.nonzero(edges == 1)
    return row, start, np.nonzero(edges == -1)[1]


def without_short(mask: Any, fewest: float) -> Any:
    """The mask (F, ...) without stretches of fewer frames, except those at the first or the last frame."""
    rows = np.moveaxis(mask, 0, -1).reshape(-1, len(mask)).copy()
    row, start, stop = runs(rows)
    short = (stop - start < fewest) & (start > 0) & (stop < len(mask))
    for r, first, last in zip(row[short], start[short], stop[short], strict=True):
        rows[r, first:last] = False
    return np.moveaxis(rows.reshape(*mask.shape[1:], len(mask)), -1, 0)
