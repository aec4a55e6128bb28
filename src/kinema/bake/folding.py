"""Putting the place of a character into its pose: what stood somewhere in the world then moves there by its own clip.

A clip has tracks for joints, none for the character as a whole. So each frame's place goes into the highest joints
that belong to the character; nodes of the file beside it stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kinema.bake.constants import UNEVEN
from kinema.character import Character
from kinema.clip import Clip
from kinema.math import arrays
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.roles import handles
from kinema.skeleton import Skeleton


def carriers(character: Character, rig: Rig, clip: Clip) -> tuple[int, ...]:
    """The joints that carry a character: one below which all its roles are, and as high as the clip moves it; and
    those beside it that carry parts of its skin.
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


def fold(skeleton: Skeleton, poses: Pose, places: Any, joints: Iterable[int]) -> tuple[Pose, bool]:
    """Poses (F,) that stand where places (F, 4, 4) put them, and whether that is exact: a turn below a parent of
    uneven scale is not.
    """
    world = skeleton.world(poses).astype(np.float64)
    translations, rotations = poses.translations.astype(np.float64), poses.rotations.astype(np.float64)
    exact = True
    for joint in joints:
        parent = int(skeleton.parents[joint])
        above = world[:, parent] if parent >= 0 else np.broadcast_to(np.eye(4), (len(world), 4, 4))
        # What happens in the world, seen from below the parent.
        move = np.linalg.inv(above) @ places @ above
        translations[:, joint] = np.einsum("frc,fc->fr", move[:, :3, :3], translations[:, joint]) + move[:, :3, 3]
        rotations[:, joint] = arrays.mul(arrays.from_matrix(move[:, :3, :3]), rotations[:, joint])
        off = move[:, :3, :3] @ np.swapaxes(move[:, :3, :3], -1, -2) - np.eye(3)
        exact &= bool(np.abs(off).max() < UNEVEN)
    folded = Pose(translations, arrays.continuous(rotations), poses.scales)
    return folded.astype(poses.precision), exact


def _roles(rig: Rig) -> list[int]:
    """Every joint that has a role, and those elsewhere that stand for a foot or a hand."""
    limbs = [*(joint for leg in rig.legs for joint in leg.joints), *(joint for arm in rig.arms for joint in arm.joints)]
    single = [rig.hips, *rig.spine, *rig.neck, *rig.eyes, *([] if rig.head is None else [rig.head])]
    grips = [joint for joints in handles(rig).values() for joint in joints]
    return [int(joint) for joint in (*single, *limbs, *grips, *(joint for tail in rig.tails for joint in tail))]


def _common_ancestor(skeleton: Skeleton, joints: Iterable[int]) -> int:
    """The lowest joint that all of these are, or are below; the hips' own root if there is none."""
    paths = [set(skeleton.above([joint]).tolist()) for joint in joints]
    shared = set.intersection(*paths)
    return max(shared) if shared else min(paths[0])


def _skinned_with(character: Character, inside: set[int]) -> set[int]:
    """Joints that carry skins which hang on some of these joints, too."""
    found: set[int] = set()
    for skin in character.skins:
        used = set(np.unique(skin.joints[skin.weights > 0]).tolist())
        if used & inside:
            found |= used
    return found
