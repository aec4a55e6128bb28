"""Lean the upper body into the slope it climbs, and back a little from the one it descends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.bake.grade import slopes_under
from kinema.bake.placing import Site, rotation_of
from kinema.bake.smoothing import smoothed
from kinema.math import arrays
from kinema.model.pose import Pose

UP, DOWN = 0.3, 0.15
"""Share of the slope's angle that a body leans uphill, going up and going down."""

CLIMBING_SPEED = 0.6
"""Speed along the slope, leg lengths a second, at which the lean reaches its largest angle."""

LEAN_SMOOTHING = 0.3
"""Seconds, standard deviation, over which slope and speed are smoothed: about half a step."""

STEEPEST = 1.0
"""Rise over run beyond which a body leans no farther."""


def leaned(clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Return the frames of a character on two legs with its spine leaned uphill. Its head stays as it was."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    if len(rig.legs) != 2 or not rig.spine:
        return clip_frames
    world = clip_frames.world
    leans = _leans(clip_frames, world[:, rig.hips, :3, 3], site)
    if not leans.any():
        return clip_frames
    base, top = int(rig.spine[0]), int(rig.spine[-1] if rig.head is None else rig.head)
    trunk = world[:, top, :3, 3] - world[:, rig.hips, :3, 3]
    upright = np.clip(arrays.unit(trunk) @ up, 0.0, 1.0)
    vectors = np.cross(up, leans) * upright[:, np.newaxis]
    angles = np.linalg.norm(vectors, axis=-1)
    lean = arrays.from_axis_angle(arrays.unit(vectors), angles)
    translations, rotations, scales = clip_frames.poses.arrays()
    rotations = rotations.copy()
    rotated = {base: lean} if rig.head is None else {base: lean, top: arrays.conj(lean)}
    for joint, rotation in rotated.items():
        above = rotation_of(clip_frames.above(world, joint))
        own = arrays.mul(arrays.conj(above), arrays.mul(rotation, above))
        rotations[:, joint] = arrays.unit(arrays.mul(own, rotations[:, joint]))
    poses = Pose.of(translations, rotations, scales)
    return replace(clip_frames, poses=poses, own_poses=clip_frames.unchanged_poses)


def _leans(clip_frames: ClipFrames, hips: Any, site: Site) -> Any:
    """(F, 3): how far the body leans in each frame, radians, uphill along the ground."""
    leg, dt = site.leg, clip_frames.dt
    slopes = slopes_under(site, hips, clip_frames.lead, LEAN_SMOOTHING / dt)
    if slopes is None:
        return np.zeros((len(hips), 3))
    speeds = smoothed(np.gradient(hips, dt, axis=0), LEAN_SMOOTHING / dt, "edge")
    rise = np.linalg.norm(slopes, axis=-1)
    uphill = slopes / np.maximum(rise, 1e-9)[:, np.newaxis]
    climbing = np.clip((speeds * uphill).sum(axis=-1) / (CLIMBING_SPEED * leg), -1.0, 1.0)
    share = np.where(climbing > 0.0, UP * climbing, -DOWN * climbing)
    return uphill * (share * np.arctan(np.minimum(rise, STEEPEST)))[:, np.newaxis]
