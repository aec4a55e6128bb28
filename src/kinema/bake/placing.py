"""Place a character: its start position, its heading, and the height of the ground below it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.bake.settings import BakeSettings
from kinema.bake.smoothing import smoothed
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.rig import Rig

FARTHEST_GROUND = 1000.0
"""Leg lengths above and below the character within which its first ground is looked for."""

HEIGHT_SMOOTHING = 0.12
"""Seconds, standard deviation: the height of the ground below the body is smoothed over about one step."""


FIRST_FACING = 1.0
"""Seconds from the start whose mean facing is the first one: about a stride, over which the sway of hips cancels."""

SWAY = np.cos(np.radians(15))
"""Cosine of the angle off a rig's own forward within which a clip faces that way: the rest is sway."""

SIDEWAYS = 0.5
"""Of a facing, how much of its unit length must lie along the ground to be read from the body's front, not its side."""


def start_of(clip_frames: ClipFrames, settings: BakeSettings) -> Any:
    """(4, 4): the initial transform of the character, not yet at the height of the ground.

    A heading is what the clip faces at first, whatever way the character faces at rest.
    """
    up = np.array(clip_frames.rig.up)
    across = np.delete(np.eye(3), int(np.argmax(np.abs(up))), axis=0)
    start = np.eye(4)
    if settings.heading is not None:
        wanted = np.array((np.sin(settings.heading), np.cos(settings.heading))) @ across
        forward = facing_of(
            clip_frames.rig,
            clip_frames.world[clip_frames.lead : clip_frames.lead + 1 + round(FIRST_FACING / clip_frames.dt)],
        )
        angle = np.arctan2(np.cross(forward, wanted) @ up, forward @ wanted)
        start[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(up, angle))
    start[:3, 3] = np.array((settings.at[0], settings.at[-1])) @ across
    return start


def facing_of(rig: Rig, world: Any) -> Any:
    """(3,): which way a body faces along the ground in some frames, (F, J, 4, 4), on average: where its hips have
    rotated its front to. The rig's own forward, if it sways about that.
    """
    up, forward = np.array(rig.up), np.array(rig.forward)
    stance = rotation_of(rig.standing_world[rig.hips])
    facing = np.zeros(3)
    for frame in world:
        rotation = arrays.mul(rotation_of(frame[rig.hips]), arrays.conj(stance))
        front, left = (arrays.rotate(rotation, way) for way in (forward, np.cross(up, forward)))
        flat = front - up * (front @ up)
        facing += arrays.unit(flat if np.linalg.norm(flat) > SIDEWAYS else np.cross(left, up))
    facing = arrays.unit(facing)
    return forward if facing @ forward > SWAY else facing


def rotation_of(matrices: Any) -> Any:
    """(..., 4): the rotation in matrices (..., 4, 4), whatever they scale or mirror."""
    axes = np.asarray(matrices, np.float64)[..., :3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), np.finfo(float).tiny)
    return arrays.from_matrix(axes * np.where(np.linalg.det(axes) < 0, -1.0, 1.0)[..., np.newaxis, np.newaxis])


def on_ground(clip_frames: ClipFrames, ground: Any, below: float | None = None) -> ClipFrames:
    """Move each transform along up, so that the character's floor is at the height of the ground under its hips.

    The height is smoothed: the body glides up stairs. Where there is no ground, the height of the frame before is kept.
    The lead-in is dropped if there is no ground for it. below: look for the first ground below this height.
    """
    rig, leg, lead = clip_frames.rig, clip_frames.rig.leg_length, clip_frames.lead
    up, hips = np.array(rig.up), clip_frames.world[:, rig.hips, :3, 3]
    heights = heights_along(Site(ground, up, leg, below), hips, lead)
    if heights is None:
        where = tuple(float(x) for x in clip_frames.transforms[clip_frames.lead, :3, 3].round(4))
        raise InputError(f"there is no ground where the character starts, at {where}")
    if np.isnan(heights[:lead]).any():
        clip_frames, heights = clip_frames.without_lead, heights[lead:]
    last = np.maximum.accumulate(np.where(np.isnan(heights), 0, np.arange(heights.size)))
    heights = smoothed(heights[last][:, np.newaxis], HEIGHT_SMOOTHING / clip_frames.dt, "slope")[:, 0]
    moves = heights - clip_frames.transforms[:, :3, 3] @ up - rig.floor
    return replace(clip_frames, transforms=clip_frames.transforms + moves[:, np.newaxis, np.newaxis] * _lift(up))


class Site(NamedTuple):
    """Where a character is."""

    ground: Any
    up: Any
    """(3,): unit."""
    leg: float
    """Length of a leg."""
    below: float | None
    """Height below which the first ground is looked for; None: from far above."""


def heights_along(site: Site, points: Any, start: int) -> Any:
    """(F,): height of the ground under points (F, 3); nan where there is none. None, if there is none at the start.

    From the start on, and back from there, each is looked for from a leg length above the last one, so that a floor
    below a roof stays the floor.
    """
    top = points[start] @ site.up + FARTHEST_GROUND * site.leg if site.below is None else site.below
    first = _height_under(site, points[start], top)
    if first is None:
        return None
    heights = np.full(len(points), np.nan)
    for order in (range(start, len(points)), range(start - 1, -1, -1)):
        last = first
        for k in order:
            found = _height_under(site, points[k], last + site.leg)
            if found is not None:
                heights[k] = last = found
    return heights


def _height_under(site: Site, point: Any, top: float) -> float | None:
    """Height along up of the first ground below `top` at a point; None if there is none."""
    origin = point + site.up * (top - point @ site.up)
    hits = site.ground.cast(origin[np.newaxis], -site.up[np.newaxis], 2 * FARTHEST_GROUND * site.leg)
    return float(hits.point[0] @ site.up) if hits.hit[0] and np.isfinite(hits.point[0]).all() else None


def _lift(up: Any) -> Any:
    """(4, 4): what a transform gains when it is moved by 1 along up."""
    lift = np.zeros((4, 4))
    lift[:3, 3] = up
    return lift
