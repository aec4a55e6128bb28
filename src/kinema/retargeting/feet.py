"""Where the feet of a retargeted motion belong: planted ones stay where they are and on their floor.

A foot is corrected by a shift. In a contact the shift takes back what the sole slides, so that a foot which rolls from
heel to toes stands on each part of its sole in turn; between contacts the foot is eased out of its shift and into the
next one. Heights are smoothed: captured feet shake by a percent of a leg, and a leg that copies that shakes, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.motion.runs import runs

EASE = 0.12
"""Seconds in which a foot is eased out of its shift after a contact, and into the next one before it."""

DRAGGED = 0.15
"""Leg lengths that a foot slides in one contact in the source, from which on it is dragged on purpose, not locked."""

ON_FLOOR = 0.05
"""Leg lengths above or below the floor up to which a standing foot stands on it. A higher one stands on something that
is not there, and keeps its height."""

MOST_LOWERED = 0.12
"""Leg lengths that a foot is lowered to the floor, at most: what is farther off stands on something else, such as its
knees, or is held up by limits of its joints."""

SMOOTHING = 0.02
"""Seconds, standard deviation, over which heights of feet are smoothed: 0.03 lets soles sink by 2% of a leg."""


@dataclass(frozen=True, eq=False)
class FootMotion:
    """How the soles of a motion move over its floor. F frames, L legs."""

    heights: Any
    """(F, L): of what stands of each sole, metres above the floor."""
    slides: Any
    """(F, L, 3): how far each sole has slid over the ground since the first frame, canonical axes, metres."""
    lowest: Any = None
    """(F, L): of the lowest point of each sole, metres above the floor. Default: `heights`."""
    pivots: Any = None
    """(F, L, 2): of heel or ball, the lower of the two, and of the tip of each sole, metres above the floor."""
    on_toes: Any = 0.0
    """(F, L): how surely each sole stands on the tip of its toes alone, 0 to 1: it is about to leave the floor, or has
    just come to it."""


def shift_feet(contacts: Any, source: FootMotion, target: FootMotion, leg: float, dt: float, lock: bool) -> Any:
    """Compute by how much each foot of the target moves, (F, L, 3), canonical axes; none is left in the floor.

    The parameters are those of `hold_soles`.
    """
    shifts = hold_soles(contacts, source, target, leg, dt, lock)
    lowest = target.heights if target.lowest is None else target.lowest
    shifts[..., 1] = _smooth_heights(shifts[..., 1], lowest, SMOOTHING / dt)
    return shifts


def hold_soles(contacts: Any, source: FootMotion, target: FootMotion, leg: float, dt: float, lock: bool) -> Any:
    """Compute by how much each foot of the target moves so that it stands, (F, L, 3), canonical axes.

    contacts: (F, L), which feet stand. source: at the size of the target. leg: of the target, metres. dt: seconds from
    frame to frame. lock: keep feet from sliding that slide a little in the source.
    """
    shifts = np.zeros_like(target.slides)
    up = _wanted_lifts(standing_heights(contacts, source.heights, leg), source, target)
    up = np.maximum(up, -MOST_LOWERED * leg)
    for foot in range(contacts.shape[1]):
        _, starts, stops = runs(contacts[:, foot][np.newaxis])
        for start, stop in zip(starts, stops, strict=True):
            part = slice(start, stop), foot
            off = _wanted_slide(source.slides[part], leg, lock) - target.slides[part]
            shifts[part] = off - off.mean(axis=0)
            shifts[(*part, 1)] = up[part]
        ease_between(shifts[:, foot], starts, stops, max(EASE / dt, 1.0))
    return shifts


def _wanted_lifts(stand: Any, source: FootMotion, target: FootMotion) -> Any:
    """By how much soles are raised so that they stand at these heights, (F, L).

    On the tip of its toes a foot moves no farther than it must: its tip is as high as that of the source or, where its
    toes are longer and bend, its ball.
    """
    flat = stand - target.heights
    if target.pivots is None:
        return flat
    rises = stand[..., np.newaxis] + np.maximum(source.pivots, 0.0) - target.pivots
    return flat + source.on_toes * (np.clip(0.0, rises.min(axis=-1), rises.max(axis=-1)) - flat)


def _wanted_slide(slides: Any, leg: float, lock: bool) -> Any:
    """How a foot slides in one contact, (F, 3): not at all, or as it does in the source."""
    way = slides - slides[0]
    return way if not lock or np.linalg.norm(way, axis=-1).max() > DRAGGED * leg else np.zeros_like(way)


def standing_heights(contacts: Any, heights: Any, leg: float) -> Any:
    """Return at which height above the floor feet stand in each contact, (F, L), by the heights of their soles."""
    stand = np.zeros_like(heights)
    for foot, start, stop in zip(*runs(contacts.T), strict=True):
        middle = float(np.median(heights[start:stop, foot]))
        stand[start:stop, foot] = 0.0 if abs(middle) < ON_FLOOR * leg else middle
    return stand


def ease_between(shifts: Any, starts: Any, stops: Any, ease: float) -> None:
    """Ease the shifts of one foot, (F, 3), out of each contact and into the next one, in so many frames."""
    before = [None, *(int(stop) - 1 for stop in stops)]
    after = [*(int(start) for start in starts), None]
    for first, last in zip(before, after, strict=True):
        at = np.arange(0 if first is None else first + 1, len(shifts) if last is None else last)
        gap = ease if first is None or last is None else min(ease, last - first)
        for end in (first, last):
            if end is not None:
                share = arrays.minimum_jerk(np.clip(np.abs(at - end) / gap, 0.0, 1.0))
                shifts[at] += (1.0 - share)[:, np.newaxis] * shifts[end]


def _smooth_heights(up: Any, heights: Any, deviation: float) -> Any:
    """Smooth how far feet are raised, (F, L), then raise them further where a sole would be below the floor."""
    up = smooth_gaussian(up, deviation, "edge")
    reach = round(2 * deviation)
    below = np.pad(np.maximum(0.0, -(heights + up)), ((reach, reach), (0, 0)))
    deepest = np.lib.stride_tricks.sliding_window_view(below, 2 * reach + 1, axis=0).max(axis=-1)
    return up + smooth_gaussian(deepest, deviation, "edge")
