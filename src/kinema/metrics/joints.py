"""Joints: how far they rotate in a frame, whether knees flip, how steadily ends move, and whether targets are met."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import InputError
from kinema.math import arrays
from kinema.metrics.frames import frame_numbers, positions_of, rotations_of, seconds, world_frames
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.motion.soles import leg_lengths

KNEE_BENT = 0.05
"""Leg lengths off the line from hip to ankle from which a knee is clearly bent: by 11 degrees."""


def rotation_steps(skeleton: Skeleton, motion: Any, stride: int = 1) -> Any:
    """Return how far each joint rotates relative to its parent, from each frame to the one `stride` later, radians.

    motion: a batch of poses, (F, ..., J), or world matrices, (F, ..., J, 4, 4). Returns (F - stride, ..., J).
    """
    if isinstance(motion, Pose):
        skeleton.check(motion)
        if not motion.shape:
            raise InputError("motion is one pose; expected a batch of them, frames first")
        local = motion.rotations.astype(np.float64)
    else:
        rotations = rotations_of(world_frames(skeleton, "motion", motion))
        none = np.broadcast_to((0.0, 0.0, 0.0, 1.0), (*rotations.shape[:-2], 1, 4))
        local = arrays.mul(arrays.conj(np.concatenate((rotations, none), axis=-2)[..., skeleton.parents, :]), rotations)
    return arrays.angle_between(local[:-stride], local[stride:])


def knee_flips(rig: Rig, world: Any) -> Any:
    """Return whether each knee came to bend the other way, seen from the hips, since it was last clearly bent,
    (F, ..., L).
    """
    world = world_frames(rig.skeleton, "world", world)
    rest = rotations_of(rig.standing_world[rig.hips].astype(np.float64))
    body = arrays.mul(rotations_of(world[..., rig.hips, :, :]), arrays.conj(rest))[..., np.newaxis, :]
    hip, knee, ankle = (positions_of(world, [leg.joints[k] for leg in rig.legs]) for k in (0, 1, -1))
    line, thigh = ankle - hip, knee - hip
    along = (line * thigh).sum(axis=-1, keepdims=True)
    squared = (line * line).sum(axis=-1, keepdims=True)
    out = arrays.rotate(arrays.conj(body), thigh - line * (along / np.where(squared > 0, squared, 1.0)))
    bent = np.linalg.norm(out, axis=-1) > KNEE_BENT * leg_lengths(rig)
    last = np.maximum.accumulate(np.where(bent, frame_numbers(bent), -1), axis=0)
    before = np.concatenate((np.full_like(last[:1], -1), last[:-1]))
    was = np.take_along_axis(out, np.maximum(before, 0)[..., np.newaxis], axis=0)
    return bent & (before >= 0) & ((arrays.unit(out) * arrays.unit(was)).sum(axis=-1) < 0)


def jerk(positions: ArrayLike, dt: float) -> Any:
    """Return the root mean square of the jerk of points (F, ..., 3), (...,), m/s^3; 0 for fewer than 4 frames."""
    points = validation.vectors("positions", positions, 3, np.float64)
    third = np.diff(points, n=3, axis=0) / seconds(dt) ** 3
    if len(third) == 0:
        return np.zeros(points.shape[1:-1])
    return np.sqrt((third * third).sum(axis=-1).mean(axis=0))


def reach_error(positions: ArrayLike, targets: ArrayLike) -> Any:
    """Return metres from points, (F, ..., 3), to their targets, as many or what broadcasts, (F, ...)."""
    points = validation.vectors("positions", positions, 3, np.float64)
    goals = validation.vectors("targets", targets, 3, np.float64)
    validation.batch_shape({"positions": points, "targets": goals})
    return np.linalg.norm(points - goals, axis=-1)
