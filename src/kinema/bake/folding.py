"""Fold the transform of a character into its pose, so that its clip alone moves it through the world.

A clip has tracks for joints, but none for the character as a whole. So the transform of each frame goes into the
highest joints that belong to the character; other nodes of the file stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.roles import handles

UNEVEN = 1e-4
"""Relative difference of the scales above the body from which a rotation cannot be folded in without shear."""


def carriers(character: Character, rig: Rig, clip: Clip) -> tuple[int, ...]:
    """Return the joints that carry a character.

    These are the lowest joint above all its roles, or a higher one if the clip moves that, and joints beside it that
    carry parts of its skin.
    """
    skeleton = rig.skeleton
    top = _common_ancestor(skeleton, _roles(rig))
    moved = {int(track.joint) for track in clip.tracks}
    above = [int(joint) for joint in skeleton.above([top])]
    top = min((joint for joint in above if joint in moved), default=top)
    found, inside, outside = [top], set(skeleton.below([top]).tolist()), set(skeleton.above([top]).tolist())
    for joint in sorted(_skinned_with(character, inside) - inside - outside):
        highest = min(set(skeleton.above([joint]).tolist()) - outside)
        if highest not in found:
            found.append(highest)
    return tuple(found)


def fold(skeleton: Skeleton, poses: Pose, transforms: Any, joints: Iterable[int]) -> tuple[Pose, bool]:
    """Fold the character's transforms (F, 4, 4) into its poses (F,), at these joints.

    Returns the new poses, and whether they are exact: a rotation below a parent with uneven scale is not.
    """
    world = skeleton.world(poses).astype(np.float64)
    translations, rotations = poses.translations.astype(np.float64), poses.rotations.astype(np.float64)
    exact = True
    for joint in joints:
        parent = int(skeleton.parents[joint])
        above = world[:, parent] if parent >= 0 else np.broadcast_to(np.eye(4), (len(world), 4, 4))
        # The transform, expressed in the parent's space.
        move = np.linalg.inv(above) @ transforms @ above
        translations[:, joint] = np.einsum("frc,fc->fr", move[:, :3, :3], translations[:, joint]) + move[:, :3, 3]
        rotations[:, joint] = arrays.mul(arrays.from_matrix(move[:, :3, :3]), rotations[:, joint])
        off = move[:, :3, :3] @ np.swapaxes(move[:, :3, :3], -1, -2) - np.eye(3)
        exact &= bool(np.abs(off).max() < UNEVEN)
    folded = Pose(translations, arrays.continuous(rotations), poses.scales)
    return folded.astype(poses.precision), exact


def _roles(rig: Rig) -> list[int]:
    """Every joint with a role, and control joints elsewhere that stand for a foot or a hand."""
    limbs = [*(joint for leg in rig.legs for joint in leg.joints), *(joint for arm in rig.arms for joint in arm.joints)]
    single = [rig.hips, *rig.spine, *rig.neck, *rig.eyes, *([] if rig.head is None else [rig.head])]
    controls = [joint for joints in handles(rig).values() for joint in joints]
    return [int(joint) for joint in (*single, *limbs, *controls, *(joint for tail in rig.tails for joint in tail))]


def _common_ancestor(skeleton: Skeleton, joints: Iterable[int]) -> int:
    """The lowest common ancestor of joints; the root of the first if there is none."""
    paths = [set(skeleton.above([joint]).tolist()) for joint in joints]
    shared = set.intersection(*paths)
    return max(shared) if shared else min(paths[0])


def _skinned_with(character: Character, inside: set[int]) -> set[int]:
    """Joints that share a skin with some of these joints."""
    found: set[int] = set()
    for skin in character.skins:
        used = set(np.unique(skin.joints[skin.weights > 0]).tolist())
        if used & inside:
            found |= used
    return found
