"""Where a character is put: its start, its heading, and the height of the ground below it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.constants import FARTHEST_GROUND
from kinema.bake.settings import Settings
from kinema.bake.shot import Shot, leg_length
from kinema.errors import InputError
from kinema.math import arrays
from kinema.rig import Rig


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


def on_ground(shot: Shot, ground: Any) -> Shot:
    """The shot with each place moved along up until the character's floor is at the height of the ground below its
    hips. Where there is no ground below them, the height of the frame before is kept; what comes before the first
    frame is left out if there is none for it.
    """
    rig, places = shot.rig, shot.places
    up, leg = np.array(rig.up), leg_length(rig)
    hips = shot.world[:, rig.hips, :3, 3]
    origins = hips - up * (hips @ up)[:, np.newaxis] + up * FARTHEST_GROUND * leg
    hits = ground.cast(origins, np.broadcast_to(-up, origins.shape), 2 * FARTHEST_GROUND * leg)
    found = np.asarray(hits.hit, bool)
    if not found[shot.lead]:
        raise InputError(f"there is no ground where the character starts, at {places[shot.lead, :3, 3].round(4)}")
    last = np.maximum.accumulate(np.where(found, np.arange(len(places)), 0))
    heights = (np.asarray(hits.point) @ up)[last] - places[:, :3, 3] @ up - rig.floor
    moved = replace(shot, places=places + heights[:, np.newaxis, np.newaxis] * _lift(up))
    return moved if found[: shot.lead].all() else moved.without_lead


def _lift(up: Any) -> Any:
    """(4, 4): what a matrix gains when it is moved by 1 along up."""
    lift = np.zeros((4, 4))
    lift[:3, 3] = up
    return lift
