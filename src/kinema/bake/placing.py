"""Where a character is put: its start, its heading, and the height of the ground below it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.bake.constants import FARTHEST_GROUND
from kinema.bake.settings import Settings
from kinema.math import arrays
from kinema.pose import Pose
from kinema.rig import Rig


def leg_length(rig: Rig) -> float:
    """Mean length of a leg; without any, the height of the whole figure at rest."""
    if rig.legs:
        return float(np.mean([rig.skeleton.length(leg.joints) for leg in rig.legs]))
    return float(np.ptp(rig.skeleton.rest_world[:, :3, 3] @ np.array(rig.up))) or 1.0


def start_of(rig: Rig, settings: Settings) -> Any:
    """(4, 4): where the character's space is at first, not yet at the ground's height."""
    up, forward = np.array(rig.up), np.array(rig.forward)
    across = np.delete(np.eye(3), int(np.argmax(np.abs(up))), axis=0)
    start = np.eye(4)
    if settings.heading is not None:
        wanted = np.array((np.sin(settings.heading), np.cos(settings.heading))) @ across
        angle = np.arctan2(np.cross(forward, wanted) @ up, forward @ wanted)
        start[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(up, angle))
    start[:3, 3] = np.array(settings.at) @ across
    return start


def on_ground(rig: Rig, poses: Pose, places: Any, ground: Any) -> tuple[Any, Any]:
    """The places (F, 4, 4), each moved along up until the character's floor is at the height of the ground below its
    hips, and whether there is any, (F,). Where there is none the height of the frame before is kept.
    """
    up, leg = np.array(rig.up), leg_length(rig)
    hips = (places @ rig.skeleton.world(poses)[:, rig.hips])[:, :3, 3]
    origins = hips - up * (hips @ up)[:, np.newaxis] + up * FARTHEST_GROUND * leg
    hits = ground.cast(origins, np.broadcast_to(-up, origins.shape), 2 * FARTHEST_GROUND * leg)
    found = np.asarray(hits.hit, bool)
    last = np.maximum.accumulate(np.where(found, np.arange(len(places)), 0))
    heights = (np.asarray(hits.point) @ up - places[:, :3, 3] @ up - rig.floor)[last]
    moved = places.copy()
    moved[:, :3, 3] += np.where(found.any(), heights, 0.0)[:, np.newaxis] * up
    return moved, found
