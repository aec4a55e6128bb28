"""Floors: where a character starts, one level for the footholds of its clip, and its floor on the ground.

A clip that was captured on stairs, boxes or rough ground has no single floor: each foothold has its own height. A foot
that stands still and carries the body is a foothold, however high. Feet are moved down (or up) onto the clip's floor
where they stand, and the hips with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames, find_contacts
from kinema.bake.feet.hold import bridge_contacts, move_feet
from kinema.bake.feet.legs import raise_hips
from kinema.bake.settings import BakeSettings
from kinema.bake.site import Site, heights_along
from kinema.errors import InputError
from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.motion.footholds import MOST_DRIFT, Footholds, find_footholds, floor_drift
from kinema.motion.runs import runs
from kinema.motion.soles import BALL, SoleMotion, sole_motion, sole_points

FIRST_FACING = 1.0
"""Seconds from the start whose mean facing is the first one: about a stride, over which the sway of hips cancels."""

SWAY = np.cos(np.radians(15))
"""Cosine of the angle off a rig's own forward within which a clip faces that way: the rest is sway."""

SIDEWAYS = 0.5
"""Of a facing, how much of its unit length must lie along the ground to be read from the body's front, not its side."""

SHORTEST_STAND = 0.1
"""Seconds in which a foot hardly moves, at least, to stand on something."""

STEPPED = 0.15
"""Leg lengths that a foot steps, at least, to get to a foothold that is off the floor or from there. Feet that do not
step but are still high up belong to a body that falls or jumps."""

HEIGHT_SMOOTHING = 0.12
"""Seconds, standard deviation: the height of the ground below the body is smoothed over about one step."""

UNEVEN = 0.04
"""Leg lengths that standing soles are off the floor over which contacts were found, at most, to be on it."""


# --- the start --------------------------------------------------------------------------------------------------


def start_transform(clip_frames: ClipFrames, settings: BakeSettings) -> Any:
    """(4, 4): the initial transform of the character, not yet at the height of the ground.

    A heading is what the clip faces at first, whatever way the character faces at rest.
    """
    up, lead = clip_frames.up, clip_frames.lead
    sides = np.delete(np.eye(3), int(np.argmax(np.abs(up))), axis=0)
    start = np.eye(4)
    if settings.heading is not None:
        wanted = np.array((np.sin(settings.heading), np.cos(settings.heading))) @ sides
        first = clip_frames.world[lead : lead + 1 + round(FIRST_FACING / clip_frames.dt)]
        forward = facing_of(clip_frames.rig, first)
        angle = np.arctan2(np.cross(forward, wanted) @ up, forward @ wanted)
        start[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(up, angle))
    start[:3, 3] = np.array((settings.at[0], settings.at[-1])) @ sides
    return start


def facing_of(rig: Rig, world: Any) -> Any:
    """(3,): which way a body faces along the ground in some frames, (F, J, 4, 4), on average: where its hips have
    rotated its front to. The rig's own forward, if it sways about that.
    """
    up, forward = np.array(rig.up), np.array(rig.forward)
    stance = arrays.rotation_of(rig.standing_world[rig.hips])
    facing = np.zeros(3)
    for frame in world:
        rotation = arrays.mul(arrays.rotation_of(frame[rig.hips]), arrays.conj(stance))
        front, left = (arrays.rotate(rotation, way) for way in (forward, np.cross(up, forward)))
        flat = front - up * (front @ up)
        facing += arrays.unit(flat if np.linalg.norm(flat) > SIDEWAYS else np.cross(left, up))
    facing = arrays.unit(facing)
    return forward if facing @ forward > SWAY else facing


# --- the floor of a clip ----------------------------------------------------------------------------------------


def settle_floor(clip_frames: ClipFrames) -> ClipFrames:
    """Take out what the floor of a capture drifts: the body goes down, or up, by what the feet that stand are off the
    floor of the clip. What is farther off is no drift but a step: `level_floor` brings it down.
    """
    if clip_frames.moved:
        return clip_frames
    drift = floor_drift(*_soles_and_hips(clip_frames), clip_frames.dt)
    if not drift.any():
        return clip_frames
    above = clip_frames.above(clip_frames.world, clip_frames.rig.hips)
    raised = -drift * clip_frames.rig.leg_length
    return find_contacts(clip_frames.with_poses(raise_hips(clip_frames, clip_frames.poses, above, raised)))


def level_floor(character: Character, clip_frames: ClipFrames) -> ClipFrames:
    """Bring all footholds of a character on two legs to the floor of its clip."""
    if len(clip_frames.rig.legs) != 2:
        return clip_frames
    stands, levels = _footholds(clip_frames)
    if not _is_uneven(clip_frames, stands, levels):
        return clip_frames
    drops = -levels[..., np.newaxis] * clip_frames.up * clip_frames.rig.leg_length
    drops = bridge_contacts(drops, stands, clip_frames.one_pass)
    standing = replace(clip_frames, held=stands)
    return find_contacts(move_feet(character, standing, drops, drops.mean(axis=1) @ clip_frames.up))


def _is_uneven(clip_frames: ClipFrames, stands: Any, levels: Any) -> bool:
    """Whether a foot steps onto something, or down from it."""
    balls = arrays.across(sole_points(clip_frames.rig, clip_frames.world)[:, :, BALL], clip_frames.up)
    foot, start, stop = runs(stands.T)
    for n in np.flatnonzero(np.abs(levels[start, foot]) > MOST_DRIFT):
        at = np.median(balls[start[n] : stop[n], foot[n]], axis=0)
        for other in (n - 1, n + 1):
            if 0 <= other < len(foot) and foot[other] == foot[n]:
                there = np.median(balls[start[other] : stop[other], foot[n]], axis=0)
                if np.linalg.norm(at - there) > STEPPED * clip_frames.rig.leg_length:
                    return True
    return False


def _footholds(clip_frames: ClipFrames) -> Footholds:
    """Where the feet of a clip stand long enough to be on something."""
    return find_footholds(*_soles_and_hips(clip_frames), clip_frames.dt, SHORTEST_STAND)


def _soles_and_hips(clip_frames: ClipFrames) -> tuple[SoleMotion, Any]:
    rig, world = clip_frames.rig, clip_frames.world
    return sole_motion(rig, sole_points(rig, world), clip_frames.dt), world[:, rig.hips, :3, 3]


# --- the ground -------------------------------------------------------------------------------------------------


def stand_on_ground(clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Move each transform along up, so that the character's floor is at the height of the ground under its hips.

    The height is smoothed: the body glides up stairs. Where there is no ground, the height of the frame before is kept.
    The lead-in is dropped if there is no ground for it. The floor is where the lowest points of standing soles are:
    contacts are found over one that suits heels and balls of tilted feet too, 1 to 3% of a leg higher.
    """
    lead = clip_frames.lead
    clip_frames = replace(clip_frames, rig=replace(clip_frames.rig, floor=_floor_of_soles(clip_frames)))
    heights = heights_along(site, clip_frames.world[:, clip_frames.rig.hips, :3, 3], lead)
    if heights is None:
        where = tuple(float(x) for x in clip_frames.transforms[lead, :3, 3].round(4))
        raise InputError(f"there is no ground where the character starts, at {where}")
    if np.isnan(heights[:lead]).any():
        clip_frames, heights = clip_frames.without_lead, heights[lead:]
    last = np.maximum.accumulate(np.where(np.isnan(heights), 0, np.arange(heights.size)))
    heights = smooth_gaussian(heights[last][:, np.newaxis], HEIGHT_SMOOTHING / clip_frames.dt, "slope")[:, 0]
    transforms = clip_frames.transforms.copy()
    moves = heights - transforms[:, :3, 3] @ site.up - clip_frames.rig.floor
    transforms[:, :3, 3] += moves[:, np.newaxis] * site.up
    return replace(clip_frames, transforms=transforms)


def _floor_of_soles(clip_frames: ClipFrames) -> float:
    """The height of the lowest points of standing soles, in the median; the rig's floor where that is far off, and of
    walks in place, whose feet skate.
    """
    rig, up = clip_frames.rig, clip_frames.up
    if clip_frames.moved:
        return rig.floor
    lowest = (sole_points(rig, clip_frames.world) @ up).min(axis=-1)
    standing = (lowest - (clip_frames.transforms[:, :3, 3] @ up)[:, np.newaxis])[clip_frames.held]
    floor = float(np.median(standing)) if standing.size else rig.floor
    return floor if abs(floor - rig.floor) < UNEVEN * rig.leg_length else rig.floor
