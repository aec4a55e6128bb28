"""Place a character: its start position, its heading, and the height of the ground below it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.bake.settings import BakeSettings
from kinema.bake.smoothing import smoothed
from kinema.errors import InputError
from kinema.math import arrays
from kinema.rig import Rig

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
    stance = _rotation(rig.standing_world[rig.hips])
    facing = np.zeros(3)
    for frame in world:
        rotation = arrays.mul(_rotation(frame[rig.hips]), arrays.conj(stance))
        front, left = (arrays.rotate(rotation, way) for way in (forward, np.cross(up, forward)))
        flat = front - up * (front @ up)
        facing += arrays.unit(flat if np.linalg.norm(flat) > SIDEWAYS else np.cross(left, up))
    facing = arrays.unit(facing)
    return forward if facing @ forward > SWAY else facing


def _rotation(matrix: Any) -> Any:
    """(4,): the rotation in a matrix (4, 4), whatever it scales or mirrors."""
    axes = np.asarray(matrix[:3, :3], np.float64)
    axes = axes / np.maximum(np.linalg.norm(axes, axis=0), np.finfo(float).tiny)
    return arrays.from_matrix(-axes if np.linalg.det(axes) < 0 else axes)


def on_ground(clip_frames: ClipFrames, ground: Any, below: float | None = None) -> ClipFrames:
    """Move each transform along up, so that the character's floor is at the height of the ground under its hips.

    The height is smoothed: the body glides up stairs. Where there is no ground, the height of the frame before is kept.
    The lead-in is dropped if there is no ground for it. below: look for the first ground below this height.
    """
    rig, leg = clip_frames.rig, clip_frames.rig.leg_length
    up, hips = np.array(rig.up), clip_frames.world[:, rig.hips, :3, 3]
    top = hips[clip_frames.lead] @ up + FARTHEST_GROUND * leg if below is None else below
    under = _height_under(ground, hips[clip_frames.lead], up, top, FARTHEST_GROUND * leg)
    if under is None:
        where = tuple(float(x) for x in clip_frames.transforms[clip_frames.lead, :3, 3].round(4))
        raise InputError(f"there is no ground where the character starts, at {where}")
    lead = _heights_along(ground, hips[: clip_frames.lead][::-1], up, under, leg)[::-1]
    if np.isnan(lead).any():
        clip_frames, lead, hips = clip_frames.without_lead, lead[:0], hips[clip_frames.lead :]
    ahead = _heights_along(ground, hips[clip_frames.lead :], up, under, leg)
    last = np.maximum.accumulate(np.where(np.isnan(ahead), 0, np.arange(ahead.size)))
    heights = smoothed(np.append(lead, ahead[last])[:, np.newaxis], HEIGHT_SMOOTHING / clip_frames.dt, "slope")[:, 0]
    moves = heights - clip_frames.transforms[:, :3, 3] @ up - rig.floor
    return replace(clip_frames, transforms=clip_frames.transforms + moves[:, np.newaxis, np.newaxis] * _lift(up))


def _heights_along(ground: Any, points: Any, up: Any, first: float, leg: float) -> Any:
    """(F,): height of the ground under points (F, 3); nan where there is none.

    Each is looked for from a leg length above the last one, so that a floor below a roof stays the floor.
    """
    heights, last = np.full(len(points), np.nan), first
    for k, point in enumerate(points):
        found = _height_under(ground, point, up, last + leg, FARTHEST_GROUND * leg)
        if found is not None:
            heights[k] = last = found
    return heights


def _height_under(ground: Any, point: Any, up: Any, top: float, depth: float) -> float | None:
    """Height along up of the first ground below `top` at a point; None if there is none."""
    origin = point + up * (top - point @ up)
    hits = ground.cast(origin[np.newaxis], -up[np.newaxis], 2 * depth)
    return float(hits.point[0] @ up) if hits.hit[0] else None


def _lift(up: Any) -> Any:
    """(4, 4): what a transform gains when it is moved by 1 along up."""
    lift = np.zeros((4, 4))
    lift[:3, 3] = up
    return lift
