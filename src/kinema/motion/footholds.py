"""Footholds: where feet of a body on two legs stand, at whatever height, and what the floor of a capture drifts.

The floor of a capture rises or falls by some percent of a leg on its way. A foot that stands on it is the floor there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.motion.contacts import STILL
from kinema.motion.runs import stretches, without_noise
from kinema.motion.soles import SoleMotion, body_speeds

FLEETING = 0.045
"""Seconds in which a foot hardly moves, at least, to tell where the floor is."""

LOWER = 0.1
"""Leg lengths that another foot stands below one that does not carry the body."""

UPRIGHT, BESIDE = 0.6, 0.6
"""Leg lengths that the hips are above a foot that carries them, at least, and beside it, at most."""

MOST_DRIFT, LEAST_DRIFT = 0.08, 0.008
"""Leg lengths that a floor is off somewhere, at most and at least, to be taken for one that drifts. Captured feet that
stand on one floor differ by 0.03, rarely by 0.07; what is farther off is a box or a step."""

DRIFT_OVER = 0.12
"""Seconds, standard deviation, over which a body follows a floor that drifts."""


class Footholds(NamedTuple):
    """Where feet stand. F frames."""

    stands: Any
    """(F, 2): which feet stand and carry the body."""
    levels: Any
    """(F, 2): how many leg lengths that is above the floor."""


def find_footholds(soles: SoleMotion, hips: Any, dt: float, shortest: float = FLEETING) -> Footholds:
    """Find where a body on two legs stands for some seconds at least. hips: (F, 3).

    However high: a foothold is on something that may not be there.
    """
    up, leg = soles.up, float(soles.legs.mean())
    most = np.maximum(STILL.speed, STILL.of_body * body_speeds(hips, up, leg, dt))[:, np.newaxis]
    still = without_noise(soles.speeds.min(axis=-1) <= most, shortest / dt, shortest / dt)
    heights = soles.heights.min(axis=-1)
    way = (hips[:, np.newaxis] - soles.points.mean(axis=2)) / leg
    under = (way @ up > UPRIGHT) & (np.linalg.norm(arrays.across(way, up), axis=-1) < BESIDE)
    stands, levels = np.zeros_like(still), np.zeros(still.shape)
    for foot, part in stretches(still):
        level = float(np.median(heights[part, foot]))
        other = still[part, 1 - foot] & (heights[part, 1 - foot] < level - LOWER)
        stands[part, foot] = (under[part, foot] & ~other).any()
        levels[part, foot] = level
    return Footholds(stands, levels)


def floor_drift(soles: SoleMotion, hips: Any, dt: float) -> Any:
    """Measure how high the floor of a capture is, (F,), leg lengths above its usual height: zero where it does not
    drift, or where that is not known.
    """
    none = np.zeros(len(hips))
    if soles.points.shape[1] != 2 or len(hips) < 2:
        return none
    stands, levels = find_footholds(soles, hips, dt)
    near = stands & (np.abs(levels) <= MOST_DRIFT)
    known = np.flatnonzero(near.any(axis=1))
    if not known.size or np.abs(levels[near]).max() < LEAST_DRIFT:
        return none
    drift = (levels * near).sum(axis=1)[known] / near[known].sum(axis=1)
    drift = np.interp(np.arange(len(none)), known, drift)
    return smooth_gaussian(drift[:, np.newaxis], DRIFT_OVER / dt, "edge")[:, 0]
