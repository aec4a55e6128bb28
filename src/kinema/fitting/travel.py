"""Where a body is that a detector shows around its own hips: it goes as the foot that stands lets it go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinema.fitting.layouts import SIDES
from kinema.math.smoothing import smooth_gaussian

STAYS = 0.03
"""Leg lengths within which the middle of the hips stays in points around it, while feet move."""

CARRIES = 0.04
"""Leg lengths above the lowest foot within which other feet carry the body, too: the lower, the more."""

SMOOTH = 0.05
"""Seconds, deviation, over which the way of the body is smoothed."""


def is_centred(at: Mapping[str, Any], leg: float) -> bool:
    """Whether points are given around the hips, which never move. at: (T, 3) by role word."""
    ankles = [at[role] for role in ("left_ankle", "right_ankle") if role in at]
    hips = 0.5 * (at["left_hip"] + at["right_hip"])
    if not ankles or len(hips) < 8:
        return False
    moved = max(float(np.ptp(ankle, axis=0).max()) for ankle in ankles)
    return float(np.ptp(hips, axis=0).max()) < STAYS * leg < moved


def find_travel(at: Mapping[str, Any], leg: float, fps: float) -> Any:
    """Return how far a body has gone, (T, 3), left, up and ahead, if its lowest foot stands still on the floor at 0."""
    names = [name for name in ("heel", "toe", "ball", "ankle") if any(f"{side}_{name}" in at for side in SIDES)]
    feet = np.stack([at[role] for name in names[:3] for side in SIDES if (role := f"{side}_{name}") in at], axis=1)
    own = np.quantile(feet[..., 1], 0.05, axis=0)
    above = feet[..., 1] - own
    lowest = above.min(axis=1, keepdims=True)
    weights = np.maximum(1.0 - (above - lowest) / (CARRIES * leg), 0.0) ** 2
    steps = 0.5 * (weights[1:] + weights[:-1])
    steps = steps / np.maximum(steps.sum(axis=1, keepdims=True), 1e-9)
    way = -(steps[..., np.newaxis] * np.diff(feet, axis=0)).sum(axis=1)
    travel = np.concatenate((np.zeros((1, 3)), np.cumsum(way, axis=0)))
    travel[:, 1] = -(lowest[:, 0] + own.mean())
    return smooth_gaussian(travel, SMOOTH * fps, "slope") if len(travel) > 3 else travel
