"""Prepare a clip for a game: what a bake does to it before it knows the ground."""

from __future__ import annotations

import numpy as np

from kinema.bake.baking import rig_for
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.floor import level_floor, settle_floor
from kinema.bake.feet.hold import hold_feet, rest_feet
from kinema.bake.feet.legs import raise_hips
from kinema.bake.settings import BakeSettings
from kinema.model.character import Character, chosen_clip
from kinema.model.clip import Clip
from kinema.roles import take_along

ANALYSED = BakeSettings(lock_feet=True)
"""How a clip is read: with its contacts and, where it walks in place, its travel."""


def prepare_clip(character: Character, clip: Clip | str) -> Clip:
    """Prepare a clip for `Feet` in a game: its feet stand on the character's floor, and neither rock nor slide there.

    Poses of calibration are replaced, the drift of a captured floor is taken out, footholds on boxes and stairs come
    down to the floor. Call it once, when a clip is loaded, and play the result: it takes some tenths of a second. A
    walk in place stays in place. The inputs are not modified.

    Parameters
    ----------
    character
        A character with legs.
    clip
        One of its clips, or the name of one.

    Returns
    -------
    Clip
        A clip of the same name and length, keyed in every frame.

    Examples
    --------
    >>> person = km.load("take.bvh")
    >>> walk = km.bake.prepare_clip(person, "walk")
    """
    clip = chosen_clip(character, clip)
    rig = rig_for(character, ANALYSED, clip)
    frames = frames_of(rig, clip, ANALYSED)
    ready = hold_feet(character, rest_feet(level_floor(character, settle_floor(frames)))).without_lead
    own = frames.without_lead
    raised = np.full(len(ready.times), rig.floor - ready.rig.floor)
    poses = raise_hips(ready, ready.poses, ready.above(ready.world, rig.hips), raised)
    return Clip.from_poses(clip.name, clip.skeleton, take_along(rig, own.poses, poses), times=ready.times)
