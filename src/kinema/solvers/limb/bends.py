"""The axis that a limb's middle joint bends about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinema.constants import STRAIGHT
from kinema.model import limits
from kinema.model.skeleton import Skeleton
from kinema.solvers.limb.two_bone_rotations import ALWAYS, IF_STRAIGHT, NO_AXIS


def bend_axis(skeleton: Skeleton, joints: Sequence[int], dtype: Any) -> tuple[Any, int]:
    """The axis that a limb's middle joint bends about, in its own space, and when to use it.

    A hinge always bends about its own axis, signed so that a positive angle bends the limb as at rest or, if it is
    straight there, the way the hinge allows more. Other limbs use their bend at rest when they are animated straight.
    """
    bend, use = rest_bend(skeleton, joints, dtype)
    limit = skeleton.limits[joints[1]]
    if not isinstance(limit, limits.Hinge):
        return bend, use
    axis = np.array(limit.axis, dtype)
    agrees = limit.low + limit.high >= 0 if use == NO_AXIS else axis @ bend >= 0
    return (axis if agrees else -axis), ALWAYS


def rest_bend(skeleton: Skeleton, joints: Sequence[int], dtype: Any) -> tuple[Any, int]:
    """The bend of a limb at rest, as an axis in the middle joint's own space; NO_AXIS if it is straight there."""
    world = skeleton.rest_world[list(joints)]
    upper, lower = np.diff(world[:, :3, 3], axis=0)
    size = np.linalg.norm(world[1, :3, :3], axis=0) * np.where(skeleton.rest.scales[joints[1]] < 0, -1, 1)
    frame = world[1, :3, :3] / np.where(size == 0, 1, size)
    across = np.cross(frame.T @ lower, frame.T @ -upper)
    size = np.linalg.norm(across)
    if size <= STRAIGHT * np.linalg.norm(upper) * np.linalg.norm(lower):
        return np.array((1.0, 0.0, 0.0), dtype), NO_AXIS
    return (across / size).astype(dtype), IF_STRAIGHT
