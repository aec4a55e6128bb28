"""How bodies follow a slope: those that climb lean into it, those that lie or crawl tilt with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.site import Site, slopes_under
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.math.smoothing import smooth_gaussian

UP, DOWN = 0.3, 0.15
"""Share of the slope's angle that a body leans uphill, going up and going down."""

CLIMBING_SPEED = 0.6
"""Speed along the slope, leg lengths a second, at which the lean reaches its largest angle."""

LEAN_SMOOTHING = 0.3
"""Seconds, standard deviation, over which slope and speed are smoothed: about half a step."""

LOW_HIPS, LOW_HIPS_OF_MANY_LEGS = (0.7, 0.55), (0.45, 0.3)
"""Height of the hips above the floor, as a share of their height in the stance: a body that is higher than the first
stands, one that is lower than the second lies. Those with more than two legs sneak with low hips and a level trunk."""

LOW_HEAD = (0.4, 0.3)
"""Height of the head, from where on and up to where it lies, as for the hips. Where legs are short, hips are hardly
lower when they lie."""

LEVEL_TRUNK = (0.8, 0.5)
"""Cosine of the angle between the way from hips to head and up, likewise: those who sit or crouch do not lie."""

LYING_SMOOTHING = 0.15
"""Seconds, standard deviation, over which lying down is smoothed."""

STEEPEST = 1.0
"""Rise over run beyond which a body leans and tilts no farther."""


# --- leaning ----------------------------------------------------------------------------------------------------


def lean_body(clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Lean the spine of a character on two legs into the slope it climbs, and back a little from the one it descends.
    Its head stays as it was.
    """
    rig, up = clip_frames.rig, clip_frames.up
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
    lean = arrays.from_axis_angle(arrays.unit(vectors), np.linalg.norm(vectors, axis=-1))
    rotations = clip_frames.poses.arrays()[1].copy()
    for joint, change in {base: lean, **({} if rig.head is None else {top: arrays.conj(lean)})}.items():
        rotations[:, joint] = clip_frames.rotated(world, joint, change, rotations[:, joint])
    return clip_frames.with_rotations(rotations)


def _leans(clip_frames: ClipFrames, hips: Any, site: Site) -> Any:
    """(F, 3): how far the body leans in each frame, radians, uphill along the ground."""
    deviation = LEAN_SMOOTHING / clip_frames.dt
    slopes = slopes_under(site, hips, clip_frames.lead, deviation)
    if slopes is None:
        return np.zeros((len(hips), 3))
    speeds = smooth_gaussian(np.gradient(hips, clip_frames.dt, axis=0), deviation, "edge")
    rise = np.linalg.norm(slopes, axis=-1)
    uphill = slopes / np.maximum(rise, 1e-9)[:, np.newaxis]
    climbing = np.clip((speeds * uphill).sum(axis=-1) / (CLIMBING_SPEED * site.leg), -1.0, 1.0)
    share = np.where(climbing > 0.0, UP * climbing, -DOWN * climbing)
    return uphill * (share * np.arctan(np.minimum(rise, STEEPEST)))[:, np.newaxis]


# --- lying ------------------------------------------------------------------------------------------------------


def tilt_lying(clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Tilt a character with the ground where its body lies, about the point below its hips: the floor of the clip lies
    in the slope. One that stands is upright there.

    clip_frames: with its floor at the height of the ground under the hips.
    """
    rig, up, deviation = clip_frames.rig, clip_frames.up, LYING_SMOOTHING / clip_frames.dt
    world = clip_frames.world
    hips, floor = world[:, rig.hips, :3, 3], rig.floor + clip_frames.transforms[:, :3, 3] @ up
    share = smooth_gaussian(_lies(clip_frames, world, hips @ up - floor)[:, np.newaxis], deviation, "edge")[:, 0]
    slopes = slopes_under(site, hips, clip_frames.lead, deviation)
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
    rig, up = clip_frames.rig, clip_frames.up
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
