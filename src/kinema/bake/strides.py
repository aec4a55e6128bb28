"""Strides that suit the ground: shorter up and down slopes and stairs, as people walk there.

The clip is compressed along the direction in which the ground rises. Its space is mapped as a whole, hips and feet
alike, so a foot that stands still in the clip stands still afterwards, and contacts keep their times. Feet are mapped
relative to where they stand below the body: its stance stays as wide and as long as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.legs import solve_legs, with_raised_hips
from kinema.bake.placing import Site, rotation_of
from kinema.bake.smoothing import smoothed
from kinema.bake.steadying import steadied
from kinema.bake.stride_map import stride_map
from kinema.math import arrays
from kinema.model.character import Character
from kinema.motion.runs import without_short

SLOW, SHORTEST_STEP = 0.4, 0.15
"""Leg lengths a second below which a foot does not step, and seconds of the shortest step."""

UPRIGHT = (0.6, 0.85)
"""Share of a leg's length that its hip is above its ankle: from where, and up to where, it raises the hips."""

RAISE_SMOOTHING = 0.04
"""Seconds, standard deviation, over which the height of the hips is smoothed."""


def shortened(character: Character, clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Return the frames of a character on two legs with strides that suit the ground; the same on level ground."""
    rig = clip_frames.rig
    if len(rig.legs) != 2:
        return clip_frames
    world = clip_frames.world
    hips = world[:, rig.hips, :3, 3]
    soles = metrics.sole_points(rig, world)
    balls = soles[:, :, 1]
    found = stride_map(clip_frames, hips, (soles[:, :, 0] + soles[:, :, 2]) / 2, site)
    if found is None:
        return clip_frames
    moved = found.moves(hips)
    slow = np.linalg.norm(np.gradient(balls, clip_frames.dt, axis=0), axis=-1) < SLOW * rig.leg_length
    still = ~without_short(~(slow | clip_frames.held), SHORTEST_STEP / clip_frames.dt)
    stance = _neutral(clip_frames, world)
    stance = stance + steadied(stance, still)
    steps = found.moves(balls - stance)
    steps = steps + steadied(steps, clip_frames.held) - moved[:, np.newaxis]
    raised = _raised(clip_frames, world, steps)
    ankles = world[:, [leg.joints[-1] for leg in rig.legs]]
    targets = ankles[..., :3, 3] + moved[:, np.newaxis] + steps
    transforms = clip_frames.transforms.copy()
    transforms[:, :3, 3] += moved
    poses = with_raised_hips(clip_frames, clip_frames.poses, clip_frames.above(world, rig.hips), raised)
    poses = solve_legs(character, clip_frames, poses, transforms, targets, rotation_of(ankles)).pose
    return replace(clip_frames, poses=poses, transforms=transforms, own_poses=clip_frames.unchanged_poses)


def way_length(clip_frames: ClipFrames) -> float:
    """How far the hips go over the ground, up and down left out."""
    up = np.array(clip_frames.rig.up)
    steps = np.diff(clip_frames.world[:, clip_frames.rig.hips, :3, 3], axis=0)
    return float(np.linalg.norm(steps - (steps @ up)[:, np.newaxis] * up, axis=-1).sum())


def _raised(clip_frames: ClipFrames, world: Any, steps: Any) -> Any:
    """(F,): how far the hips are raised so that upright legs that stand, moved by `steps`, keep their length."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    hip, ankle = (world[:, [leg.joints[k] for leg in rig.legs]][..., :3, 3] for k in (0, -1))
    way = ankle - hip
    below, length = -(way @ up), np.linalg.norm(way, axis=-1)
    level = np.linalg.norm(way + below[..., np.newaxis] * up + steps, axis=-1)
    more = np.maximum(np.sqrt(np.maximum(length**2 - level**2, 0.0)) - below, 0.0)
    upright = np.clip((below / np.maximum(length, 1e-9) - UPRIGHT[0]) / (UPRIGHT[1] - UPRIGHT[0]), 0.0, 1.0)
    stands = np.where(clip_frames.held, more * upright, np.inf).min(axis=1)
    frames, known = np.arange(len(stands)), np.isfinite(stands)
    if not known.any():
        return np.zeros(len(stands))
    each = np.interp(frames, frames[known], stands[known])
    reach = max(1, round(2 * RAISE_SMOOTHING / clip_frames.dt))
    least = np.lib.stride_tricks.sliding_window_view(np.pad(each, reach, mode="edge"), 2 * reach + 1).min(axis=-1)
    return smoothed(least[:, np.newaxis], RAISE_SMOOTHING / clip_frames.dt, "edge")[:, 0]


def _neutral(clip_frames: ClipFrames, world: Any) -> Any:
    """(F, L, 3): where each foot stands from the hips in the rig's stance, rotated as the hips are, across up."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    standing = rig.standing_world
    offsets = metrics.sole_points(rig, standing[np.newaxis])[0, :, 1] - standing[rig.hips, :3, 3]
    rotations = arrays.mul(rotation_of(world[:, rig.hips]), arrays.conj(rotation_of(standing[rig.hips])))
    rotated = arrays.rotate(rotations[:, np.newaxis], offsets)
    return rotated - (rotated @ up)[..., np.newaxis] * up
