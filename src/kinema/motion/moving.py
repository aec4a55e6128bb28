"""World matrices of a character that moves: poses by frame, and a transform of the character in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinema.compile.threads import in_chunks
from kinema.constants import THREADS_FROM_POSES
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton, as_4x4, world_matrices
from kinema.motion.soles import points_of_soles


def moving_world(skeleton: Skeleton, poses: Pose, transforms: Any, joints: Sequence[int] | None = None) -> Any:
    """Compute world matrices in double precision: (F, J, 4, 4), or (F, n, 4, 4) of these joints only.

    poses: (F,). transforms: (F, 4, 4).
    """
    order = np.arange(len(skeleton)) if joints is None else skeleton.above(joints)
    parents = skeleton.parents[order]
    parents = np.where(parents < 0, -1, np.searchsorted(order, parents))
    own = poses.arrays() if joints is None else (part[:, order] for part in poses.arrays())
    t, r, s = (np.ascontiguousarray(part, np.float64) for part in own)
    above = np.ascontiguousarray(transforms[:, :3], np.float64).reshape(-1, 1, 12)
    world, every = np.empty((len(t), len(order), 12)), np.arange(len(order))
    in_chunks(
        lambda first, last: world_matrices(np.arange(first, last), every, parents, above, t, r, s, world),
        len(t),
        THREADS_FROM_POSES,
    )
    wanted = world if joints is None else world[:, np.searchsorted(order, joints)]
    return as_4x4(wanted.reshape(len(t), -1, 3, 4))


def moving_soles(rig: Rig, poses: Pose, transforms: Any) -> Any:
    """Compute heel, ball and tip of each sole, (F, L, 3, 3), as `sole_points` does."""
    joints = rig.sole_table[0]
    if not joints.size:
        return np.zeros((*poses.shape, 0, 3, 3))
    matrices = moving_world(rig.skeleton, poses, transforms, joints.reshape(-1).tolist())
    return points_of_soles(rig, matrices.reshape(len(matrices), *joints.shape, 4, 4))
