"""Hold feet that stand flat: neither they nor their toes rotate.

Captured feet rock by several degrees and their toes wriggle by tens of degrees while heel and ball stand. The ball is
carried by the toes and slides as they bend, so no transform of the foot holds heel and ball at once. On tilted ground
what a foot rocks up and down becomes a slide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinema.bake.clip_frames import ClipFrames, still_points
from kinema.bake.placing import rotation_of
from kinema.bake.smoothing import minimum_jerk
from kinema.math import arrays
from kinema.metrics.frames import runs
from kinema.pose import Pose

REST_FADE = 0.12
"""Seconds before and after a foot stands flat in which it comes to rest and goes on."""


class Unrest(NamedTuple):
    """Radians that a joint deviates from its mean while its foot stands flat."""

    held: float
    """Up to this it is held: it is noise."""
    left: float
    """From this on it is left alone: a foot that taps means it."""


FOOT, TOES = Unrest(0.12, 0.25), Unrest(0.35, 0.7)


def rested(clip_frames: ClipFrames) -> ClipFrames:
    """Return the frames with feet and toes that do not rotate while heel and ball of the foot stand."""
    translations, rotations, scales = clip_frames.poses.arrays()
    rotations, world, fade = rotations.copy(), clip_frames.world, REST_FADE / clip_frames.dt
    flat = still_points(clip_frames.rig, world, clip_frames.dt)[:, :, :2].all(axis=-1)
    for number, leg in enumerate(clip_frames.rig.legs):
        ankle, toe = int(leg.joints[-1]), leg.toe
        if toe is not None:
            rotations[:, int(toe)] = _held(rotations[:, int(toe)], flat[:, number], TOES, fade)
        own, above = rotation_of(world[:, ankle]), rotation_of(clip_frames.above(world, ankle))
        change = arrays.mul(_held(own, flat[:, number], FOOT, fade), arrays.conj(own))
        change = arrays.mul(arrays.conj(above), arrays.mul(change, above))
        rotations[:, ankle] = arrays.unit(arrays.mul(change, rotations[:, ankle]))
    poses = Pose.of(translations, rotations, scales)
    return replace(clip_frames, poses=poses, own_poses=clip_frames.unchanged_poses)


def _held(rotations: Any, flat: Any, unrest: Unrest, fade: float) -> Any:
    """Rotations of a joint, (F, 4), held at their mean while `flat`, (F,). fade: frames before and after."""
    frames, own = np.arange(len(flat)), arrays.continuous(rotations)
    none = np.broadcast_to(np.array((0.0, 0.0, 0.0, 1.0), own.dtype), own.shape)
    _, starts, stops = runs(flat[np.newaxis])
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        mean = arrays.unit(own[start:stop].sum(axis=0))
        away = np.maximum(np.maximum(start - frames, frames - (stop - 1)), 0)
        # Before and after, what is added in the first and in the last frame fades.
        near = own[np.clip(frames, start, stop - 1)]
        added = arrays.mul(arrays.conj(near), np.broadcast_to(mean, own.shape))
        off = arrays.angle_between(near, mean)
        share = np.clip((unrest.left - off) / (unrest.left - unrest.held), 0.0, 1.0)
        share = share * minimum_jerk(np.clip(1.0 - away / fade, 0.0, 1.0))
        rotations = arrays.unit(arrays.mul(rotations, arrays.slerp(none, added, share)))
    return rotations
