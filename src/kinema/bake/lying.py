"""Tilt bodies that lie or crawl with the ground under them.

A character that stands is upright on a slope. One that lies there is not: its transform is rotated about the point
below its hips, so that the floor of the clip lies in the slope.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.grade import slopes_under
from kinema.bake.placing import Site
from kinema.bake.smoothing import smoothed
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk

LOW_HIPS, LOW_HIPS_OF_MANY_LEGS = (0.7, 0.55), (0.45, 0.3)
"""Height of the hips above the floor, as a share of their height in the stance: a body that is higher than the first
stands, one that is lower than the second lies. Those with more than two legs sneak with low hips and a level trunk."""

LOW_HEAD = (0.4, 0.3)
"""The same for the head. Where legs are short, hips are hardly lower when they lie."""

LEVEL_TRUNK = (0.8, 0.5)
"""The same for the cosine of the angle between the way from hips to head and up: those who sit or crouch do not lie."""

LYING_SMOOTHING = 0.15
"""Seconds, standard deviation, over which lying down is smoothed."""

STEEPEST = 1.0
"""Rise over run beyond which a body tilts no farther."""


def laid(clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Return the frames with transforms that are tilted with the ground where the body lies.

    clip_frames: with its floor at the height of the ground under the hips.
    """
    rig, up, dt = clip_frames.rig, np.array(clip_frames.rig.up), clip_frames.dt
    world = clip_frames.world
    hips, floor = world[:, rig.hips, :3, 3], rig.floor + clip_frames.transforms[:, :3, 3] @ up
    share = smoothed(_lies(clip_frames, world, hips @ up - floor)[:, np.newaxis], LYING_SMOOTHING / dt, "edge")[:, 0]
    slopes = slopes_under(site, hips, clip_frames.lead, LYING_SMOOTHING / dt)
    if slopes is None or not share.any():
        return clip_frames
    rise = np.linalg.norm(slopes, axis=-1)
    axes = np.cross(slopes, up) / np.maximum(rise, 1e-9)[:, np.newaxis]
    tilts = arrays.to_matrix(arrays.from_axis_angle(axes, np.arctan(np.minimum(rise, STEEPEST)) * share))
    below = hips + (floor - hips @ up)[:, np.newaxis] * up
    transforms = clip_frames.transforms.copy()
    transforms[:, :3, :3] = tilts @ transforms[:, :3, :3]
    transforms[:, :3, 3] = below + np.einsum("frc,fc->fr", tilts, transforms[:, :3, 3] - below)
    return replace(clip_frames, transforms=transforms)


def _lies(clip_frames: ClipFrames, world: Any, height: Any) -> Any:
    """(F,): 1 where a body lies, 0 where it stands. height: (F,), of the hips above the floor."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    stance = rig.standing_world
    standing = float(stance[rig.hips, :3, 3] @ up - (metrics.sole_points(rig, stance[np.newaxis]) @ up).min())
    if standing <= 0.0:
        return np.zeros(len(height))
    lies = _share(height / standing, LOW_HIPS if len(rig.legs) == 2 else LOW_HIPS_OF_MANY_LEGS)
    top = rig.head if rig.head is not None else (rig.spine[-1] if rig.spine else None)
    if rig.head is not None and len(rig.legs) == 2:
        above = height + (world[:, int(rig.head), :3, 3] - world[:, rig.hips, :3, 3]) @ up
        upright = standing + float((stance[int(rig.head), :3, 3] - stance[rig.hips, :3, 3]) @ up)
        lies = np.maximum(lies, _share(above / max(upright, standing), LOW_HEAD))
    if top is not None:
        trunk = arrays.unit(world[:, int(top), :3, 3] - world[:, rig.hips, :3, 3])
        lies = lies * _share(np.abs(trunk @ up), LEVEL_TRUNK)
    return lies


def _share(values: Any, limits: tuple[float, float]) -> Any:
    """0 from the first limit on, 1 up to the second, and smooth between them."""
    return minimum_jerk(np.clip((limits[0] - values) / (limits[0] - limits[1]), 0.0, 1.0))
