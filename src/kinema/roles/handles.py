"""Handles: joints that lie where a limb ends, but hang from elsewhere: the animator's grip on a foot, or a foot that is
its own grip. Code that moves the limb must move them too, or the foot stays behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton
from kinema.roles.evidence import SAME_PLACE

STILL_END = 1e-3
"""Radians that a joint may rotate in its parent and still have no rotation of its own."""


def twins(skeleton: Skeleton, joint: int, near: float) -> tuple[int, ...]:
    """Joints within a distance of another at rest, neither above nor below it: the topmost of each branch."""
    positions = skeleton.rest_world[:, :3, 3]
    close = np.linalg.norm(positions - positions[joint], axis=-1) <= near
    close[skeleton.below([joint])] = False
    close[skeleton.above([joint])] = False
    return tuple(int(j) for j in np.flatnonzero(close) if not close[skeleton.above([int(j)])[:-1]].any())


def handles(rig: Rig) -> dict[int, tuple[int, ...]]:
    """For each ankle and hand, the joints elsewhere that stand for it; those without any are left out."""
    found = {}
    limbs: list[Leg | Arm] = [*rig.legs, *rig.arms]
    for limb in limbs:
        end = int(limb.joints[-1])
        if others := twins(rig.skeleton, end, SAME_PLACE * rig.skeleton.length(limb.joints)):
            found[end] = others
    return found


def take_along(rig: Rig, before: Pose, after: Pose) -> Pose:
    """The poses `after`, (...,), with handles where their limbs' ends have gone since `before`, as many poses."""
    if before.shape != after.shape:
        raise InputError(f"before and after must be as many poses; got {before.shape} and {after.shape}")
    skeleton = rig.skeleton
    was, now = skeleton.world(before.astype(np.float64)), skeleton.world(after.astype(np.float64))
    translations, rotations = (np.array(array, np.float64) for array in (after.translations, after.rotations))
    for end, joint in _parents_first(rig):
        parent = int(skeleton.parents[joint])
        moved = now[..., end, :, :] @ np.linalg.pinv(was[..., end, :, :]) @ was[..., joint, :, :]
        above = now[..., parent, :, :] if parent >= 0 else np.eye(4)
        local = np.linalg.pinv(above) @ moved
        translations[..., joint, :] = local[..., :3, 3]
        rotations[..., joint, :] = _turn(local[..., :3, :3], after.scales[..., joint, :])
        pose = Pose.of(translations, rotations, after.scales.astype(np.float64))
        now = skeleton.world(pose, before=now, changed=[joint])
    return Pose.of(translations, rotations, after.scales.astype(np.float64)).astype(after.precision)


def with_rotated_ends(rig: Rig, poses: Pose) -> Pose:
    """The poses, (F,), with ankles that rotate as the feet do which stand for them.

    Where a foot hangs from elsewhere, the shin ends in a joint without rotation of its own. It would rotate with the
    shin, and what is known of the sole with it.
    """
    skeleton, rotations = rig.skeleton, np.array(poses.rotations, np.float64)
    still = arrays.angle_between(rotations, rotations[:1]).max(axis=0) < STILL_END
    ankles = {int(leg.joints[-1]) for leg in rig.legs}
    feet = {
        end: joints[0]
        for end, joints in handles(rig).items()
        if end in ankles and still[end] and len(skeleton.below([end])) == 1
    }
    if not feet:
        return poses
    rest, world = skeleton.rest_world, skeleton.world(poses.astype(np.float64))
    for end, foot in feet.items():
        own, above = (
            _turn(world[:, joint, :3, :3], poses.scales[:, joint]) for joint in (foot, int(skeleton.parents[end]))
        )
        foot_at_rest, end_at_rest = (_turn(rest[joint, :3, :3], np.ones(3)) for joint in (foot, end))
        rotated = arrays.mul(arrays.mul(own, arrays.conj(foot_at_rest)), end_at_rest)
        rotations[:, end] = arrays.unit(arrays.mul(arrays.conj(above), rotated))
    return Pose.of(poses.translations, rotations.astype(poses.precision), poses.scales)


def _parents_first(rig: Rig) -> Iterator[tuple[int, int]]:
    """Ends and their handles, in the handles' order."""
    yield from sorted(
        ((end, joint) for end, joints in handles(rig).items() for joint in joints), key=lambda each: each[1]
    )


def _turn(linear: Any, scales: Any) -> Any:
    """(..., 4): the rotation of matrices (..., 3, 3) whose columns are scaled by something of these signs."""
    return arrays.from_matrix(
        arrays.unit(linear.swapaxes(-1, -2)).swapaxes(-1, -2) * np.where(scales < 0, -1.0, 1.0)[..., np.newaxis, :]
    )
