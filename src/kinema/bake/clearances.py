"""How much swinging feet are raised so that they do not go through the ground: in a bake what they meet is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames

SHALLOWEST = 0.008
"""Leg lengths that a swinging foot may be in the ground; deeper, it is raised."""

MARGIN = 0.01
"""Leg lengths that it is raised more than it is deep."""

BEFORE_AND_AFTER = 0.15
"""Seconds before and after in which it is brought up and down again."""

NEAR_CONTACT = 0.07
"""Seconds from a contact in which a foot gets to be raised at all: it lands and lifts off where it stands."""


def clearances(clip_frames: ClipFrames, frames: BakedFrames, ground: Any) -> Any:
    """(F, L): units that each foot is to be raised by; 0 where it is out of the ground, or stands.

    clip_frames: without a lead-in. frames: what the stages returned for them.
    """
    rig, held, dt = clip_frames.rig, clip_frames.held, clip_frames.dt
    depth = metrics.penetration(metrics.soles_over(rig, frames.world, ground))
    needed = np.where(~held & (depth > SHALLOWEST * rig.leg_length), depth + MARGIN * rig.leg_length, 0.0)
    reach = min(max(1, round(BEFORE_AND_AFTER / dt)), len(needed))
    raised = np.zeros_like(needed)
    for shift in range(-reach + 1, reach):
        moved = np.zeros_like(needed)
        source = slice(max(0, -shift), len(needed) - max(0, shift))
        moved[max(0, shift) : len(needed) - max(0, -shift)] = needed[source]
        raised = np.maximum(raised, moved * _bell(abs(shift) / reach))
    return raised * _bell(1.0 - np.minimum(_frames_to(held) * dt / NEAR_CONTACT, 1.0))


def _bell(share: Any) -> Any:
    """1 at 0 and 0 at 1, level at both: a smooth motion from rest to rest."""
    return 1.0 - share**3 * (10.0 + share * (6.0 * share - 15.0))


def _frames_to(mask: Any) -> Any:
    """(F, L): frames to the nearest one in which the mask, (F, L), is set; many where there is none."""
    count = np.where(mask, 0, len(mask))
    for order in (slice(None), slice(None, None, -1)):
        part = count[order]
        for k in range(1, len(part)):
            part[k] = np.minimum(part[k], part[k - 1] + 1)
    return count
