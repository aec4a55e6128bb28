"""Level clips that were captured on stairs, boxes or rough ground, before they are baked onto another ground.

Such a clip has no single floor: each foothold has its own height. A foot that stands still and carries the body is a
foothold, however high. Feet are moved down (or up) onto the clip's floor where they stand, and the hips with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames, with_contacts
from kinema.bake.moving_feet import with_moved_feet
from kinema.bake.steadying import bridged
from kinema.model.character import Character
from kinema.motion.contacts import STILL
from kinema.motion.runs import runs, without_noise
from kinema.motion.soles import BALL, sole_motion, sole_points

SHORTEST_STAND = 0.1
"""Seconds in which a foot hardly moves, at least, to be a foothold."""

UNEVEN, STEPPED = 0.08, 0.15
"""Leg lengths that a foothold is above or below the floor, at least, for a clip to be levelled, and that its foot steps
to get there or from there. Captured feet that stand on one floor differ by 0.03, rarely by 0.07. Feet that do not step
but are still high up belong to a body that falls or jumps.
"""

LOWER = 0.1
"""Leg lengths that another foot stands below one that does not carry the body."""

UPRIGHT, BESIDE = 0.6, 0.6
"""Leg lengths that the hips are above a foot that carries them, at least, and beside it, at most."""


def levelled(character: Character, clip_frames: ClipFrames) -> ClipFrames:
    """Return the frames of a character on two legs with all its footholds on the clip's floor."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    if len(rig.legs) != 2:
        return clip_frames
    stands, levels = _footholds(clip_frames)
    if not _is_uneven(clip_frames, stands, levels):
        return clip_frames
    drops = bridged(-levels[..., np.newaxis] * up * rig.leg_length, stands, clip_frames.one_pass)
    standing = replace(clip_frames, held=stands)
    return with_contacts(with_moved_feet(character, standing, drops, drops.mean(axis=1) @ up))


def _is_uneven(clip_frames: ClipFrames, stands: Any, levels: Any) -> bool:
    """Whether a foot steps onto something, or down from it."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    balls = sole_points(rig, clip_frames.world)[:, :, BALL]
    balls -= (balls @ up)[..., np.newaxis] * up
    foot, start, stop = runs(stands.T)
    for n in np.flatnonzero(np.abs(levels[start, foot]) > UNEVEN):
        at = np.median(balls[start[n] : stop[n], foot[n]], axis=0)
        for other in (n - 1, n + 1):
            if 0 <= other < len(foot) and foot[other] == foot[n]:
                there = np.median(balls[start[other] : stop[other], foot[n]], axis=0)
                if np.linalg.norm(at - there) > STEPPED * rig.leg_length:
                    return True
    return False


def _footholds(clip_frames: ClipFrames) -> tuple[Any, Any]:
    """(F, 2): which feet stand and carry the body, and how many leg lengths that is above the floor."""
    rig, up, dt = clip_frames.rig, np.array(clip_frames.rig.up), clip_frames.dt
    world = clip_frames.world
    points = sole_points(rig, world)
    # However high: a foothold is on something that is not there.
    still = sole_motion(rig, points, dt).speeds.min(axis=-1) <= STILL.speed
    still = without_noise(still, SHORTEST_STAND / dt, SHORTEST_STAND / dt)
    heights = (points @ up).min(axis=-1)
    way = (world[:, rig.hips, np.newaxis, :3, 3] - points.mean(axis=2)) / rig.leg_length
    above = way @ up
    beside = np.linalg.norm(way - above[..., np.newaxis] * up, axis=-1)
    under = (above > UPRIGHT) & (beside < BESIDE)
    stands, levels = np.zeros_like(still), np.zeros(still.shape)
    for foot, start, stop in zip(*runs(still.T), strict=True):
        part = slice(start, stop)
        level = float(np.median(heights[part, foot]))
        other = still[part, 1 - foot] & (heights[part, 1 - foot] < level - LOWER * rig.leg_length)
        stands[part, foot] = (under[part, foot] & ~other).any()
        levels[part, foot] = (level - rig.floor) / rig.leg_length
    return stands, levels
