"""From computed frames to the keys of a clip: which moments become keys, and the character's transform in its joints.

Keys are every n-th computed frame, and more where the motion needs them, or at a fixed rate. The computed frames divide
a clip's length evenly, so that a loop closes; games and films need keys on their own frames.

A clip has tracks for joints, but none for the character as a whole. So the transform of each frame goes into the
highest joints that belong to the character; other nodes of the file stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.roles import handles

ON_FRAME = 1e-3
"""Frames: what is nearer to one is on it. A clip's length, in seconds of 32 bits, is off by less."""

KEY_ERROR = 0.004
"""Leg lengths that a sole may be off between two keys; where it is off by more, a key is added."""

KEY_ROUNDS = 6
"""Rounds of adding keys, at most; each halves the gaps that need it."""


UNEVEN = 1e-4
"""Relative difference of the scales above the body from which a rotation cannot be folded in without shear."""


class Keys(NamedTuple):
    """The moments that become keys. K keys."""

    times: Any
    """(K,): seconds from the start, increasing."""
    before: Pose
    """(K,): the clip's poses, whatever was done to its strides and feet."""
    after: Pose
    """(K,): the baked poses."""
    transforms: Any
    """(K, 4, 4): where the character is."""


def choose_keys(clip_frames: ClipFrames, baked: BakedFrames, fps: float | None) -> Keys:
    """Choose the keys of a bake.

    clip_frames: without a lead-in. baked: what the stages returned for them. fps: keys at k / fps exactly, and one at
    the end; None: every `stride` of the frames, and others where soles would be off between them.
    """
    if fps is None:
        at = _needed(clip_frames, baked)
        return Keys(clip_frames.times[at], clip_frames.unchanged_poses[at], baked.poses[at], baked.transforms[at])
    times = _grid(float(clip_frames.times[-1]), fps)
    before, after = (
        _poses_at(clip_frames.rig, clip_frames.times, poses, times)
        for poses in (clip_frames.unchanged_poses, baked.poses)
    )
    return Keys(times, before, after, _transforms_at(clip_frames.times, baked.transforms, times))


def _needed(clip_frames: ClipFrames, baked: BakedFrames) -> Any:
    """(K,): the frames that become keys: every `stride` of them, and in each gap the worst, until soles are right."""
    count = len(clip_frames.times)
    chosen = np.zeros(count, bool)
    chosen[:: clip_frames.stride] = chosen[-1] = True
    if clip_frames.stride == 1 or not clip_frames.rig.legs:
        return np.flatnonzero(chosen)
    wanted, allowed = metrics.sole_points(clip_frames.rig, baked.world), KEY_ERROR * clip_frames.rig.leg_length
    for _ in range(KEY_ROUNDS):
        keys = np.flatnonzero(chosen)
        poses = _poses_at(clip_frames.rig, clip_frames.times[keys], baked.poses[keys], clip_frames.times)
        transforms = _transforms_at(clip_frames.times[keys], baked.transforms[keys], clip_frames.times)
        world = transforms[:, np.newaxis] @ clip_frames.rig.skeleton.world(poses)
        error = np.linalg.norm(metrics.sole_points(clip_frames.rig, world) - wanted, axis=-1).max(axis=(1, 2))
        error[chosen] = 0.0
        gap = np.searchsorted(keys, np.arange(count), side="right")
        worst = np.zeros(gap.max() + 1)
        np.maximum.at(worst, gap, error)
        added = (error > allowed) & (error == worst[gap])
        if not added.any():
            break
        chosen |= added
    return np.flatnonzero(chosen)


def _grid(end: float, fps: float) -> Any:
    """(K,): moments k / fps from 0 to the end, which is the last of them wherever it lies."""
    times = np.arange(int(end * fps + ON_FRAME) + 1) / fps
    return times if end - times[-1] < ON_FRAME / fps else np.append(times, end)


def _poses_at(rig: Rig, own: Any, poses: Pose, times: Any) -> Pose:
    """Poses at some times, from poses at their own."""
    if len(own) < 2:
        return poses[np.zeros(len(times), int)]
    return Clip.from_poses("frames", rig.skeleton, poses, times=own).sample(times)


def _transforms_at(own: Any, transforms: Any, times: Any) -> Any:
    """(K, 4, 4): transforms at some times, from transforms (F, 4, 4) at their own."""
    if len(own) < 2:
        return np.repeat(transforms, len(times), axis=0)
    left = np.clip(np.searchsorted(own, times, side="right") - 1, 0, len(own) - 2)
    share = np.clip((times - own[left]) / (own[left + 1] - own[left]), 0.0, 1.0)
    rotations = arrays.from_matrix(transforms[:, :3, :3])
    result = np.tile(np.eye(4), (len(times), 1, 1))
    result[:, :3, :3] = arrays.to_matrix(arrays.slerp(rotations[left], rotations[left + 1], share))
    ways = transforms[left + 1, :3, 3] - transforms[left, :3, 3]
    result[:, :3, 3] = transforms[left, :3, 3] + share[:, np.newaxis] * ways
    return result


# --- the transform in the joints --------------------------------------------------------------------------------


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
