"""From the points that were seen to the points of one body: swaps, noise, gaps and the lengths of bones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.fitting.gaps import fill_gaps
from kinema.fitting.layouts import SIDES
from kinema.fitting.person import limb_bones
from kinema.fitting.smoothing import choose_cutoffs, find_noise, smooth_points, stiffness_of
from kinema.fitting.swaps import find_swaps, swap_sides
from kinema.fitting.take import Take
from kinema.model.rig import FINGERS
from kinema.motion.runs import runs

WINDOW, OUTLIER, LEAST_OUTLIER = 5, 4.0, 0.03
"""A point counts as not seen if it is farther from its median over so many frames than so many times the noise, and
than this share of the size of the body: 6 cm, twice of what a hand that turns around is off at 30 frames a second."""

BRIDGED = 0.03
"""Weight of where a missing point is taken to be."""

MOST_UNLIKE = 100.0
"""Variance of the noise of an axis, relative to that of the best one, at most; a file's third axis may be empty."""

UNLIKE = 2.0
"""Ratio of deviations of the noise of two axes from which on one is the depth of a camera."""

BONES = (
    *limb_bones(),
    *(
        (f"{side}_{a}", f"{side}_{b}")
        for side in SIDES
        for a, b in (
            ("ankle", "heel"),
            ("ankle", "toe"),
            ("heel", "toe"),
            ("ankle", "ball"),
            ("ankle", "small_toe"),
            ("wrist", "hand"),
            *(("wrist", f"{finger}_1") for finger in FINGERS),
            *((f"{finger}_{n}", f"{finger}_{n + 1}") for finger in FINGERS for n in (1, 2, 3)),
        )
    ),
    *(("left_hip", "right_hip"), ("left_ear", "right_ear"), ("left_eye", "right_eye")),
    *(("nose", f"{side}_{name}") for side in SIDES for name in ("eye", "ear")),
    *(("pelvis", f"{side}_hip") for side in SIDES),
    *(("pelvis", "spine_low"), ("spine_low", "spine"), ("spine", "chest"), ("neck", "head"), ("head_top", "nose")),
)
"""Points that keep their distance, by role words. Both sides are as long as each other."""


@dataclass(frozen=True, eq=False)
class Cleaned:
    """The points of one body, and what was found on the way."""

    take: Take
    """In the axes and the unit of the file, without gaps."""
    lengths: Mapping[tuple[str, str], float]
    """Of bones, in the file's unit."""
    noise: Any
    """(3,): deviation of each axis, the file's unit."""
    cutoffs: Any
    """(K,): Hz that are left of the motion of each point."""
    swapped: Any
    """(T,): frames in which left and right were swapped."""
    errors: Any
    """(K,): root of the mean square of what each point was moved by, where it was seen."""
    gaps: Mapping[str, tuple[int, float]]
    """Frames in which a point was missing and the seconds of its longest gap, by role word; only points with gaps."""


def clean_points(
    take: Take, depth: float | None, cutoff: float | None, unswap: bool, own: Mapping[Any, float]
) -> Cleaned:
    """Clean the points of a take. own: lengths of bones that are known, in the file's unit."""
    swapped = find_swaps(take.points, take.pairs) if unswap else np.zeros(len(take.points), bool)
    if swapped.any():
        points = swap_sides(take.points, take.pairs, swapped)
        weights = swap_sides(take.weights[..., np.newaxis], take.pairs, swapped)[..., 0]
        take = replace(take, points=points, weights=weights)
    noise = find_noise(take.points, take.weights)
    take = _without_outliers(take, noise)
    best = float(noise[noise > 0].min()) if (noise > 0).any() else 0.0
    give = _give(noise, best, depth)
    seen = take.weights > 0
    filled = fill_gaps(take.points, take.columns, take.fps)
    weights = np.where(seen, take.weights, BRIDGED)
    cutoffs = np.full(len(take.roles), cutoff or 0.0)
    if cutoff is None:
        cutoffs = choose_cutoffs(filled, weights, seen, noise, take.fps, give)
    stiffness = stiffness_of(cutoffs, take.fps)
    bones = [pair for pair in BONES if pair[0] in take.columns and pair[1] in take.columns]
    ends = np.array([[take.columns[role] for role in pair] for pair in bones], np.int64).reshape(-1, 2)
    first = smooth_points(filled, weights, stiffness, ends, np.zeros(len(ends)), give)
    lengths = _lengths(first, seen, bones, ends) | {pair: own[pair] for pair in bones if pair in own}
    known = np.array([lengths.get(pair, 0.0) for pair in bones])
    smoothed = smooth_points(filled, weights, stiffness, ends, known, give)
    off = np.where(seen, np.nan_to_num(np.linalg.norm(smoothed - take.points, axis=-1)), 0.0)
    errors = np.sqrt((off**2).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    return Cleaned(take.moved(smoothed), lengths, noise, cutoffs, swapped, errors, _gaps(take))


def _without_outliers(take: Take, noise: Any) -> Take:
    """Return the take without points that are elsewhere for a moment: errors of detectors have heavy tails."""
    if len(take.points) < WINDOW:
        return take
    filled = fill_gaps(take.points, take.columns)
    padded = np.pad(filled, ((WINDOW // 2, WINDOW // 2), (0, 0), (0, 0)), mode="edge")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, WINDOW, axis=0), axis=-1)
    size = float(np.median(np.linalg.norm(np.ptp(filled, axis=1), axis=-1)))
    far = np.linalg.norm(filled - middle, axis=-1) > max(OUTLIER * float(np.linalg.norm(noise)), LEAST_OUTLIER * size)
    far &= take.weights > 0
    if not far.any():
        return take
    return Take(
        np.where(far[..., np.newaxis], np.nan, take.points), np.where(far, 0.0, take.weights), take.roles, take.fps
    )


def _give(noise: Any, best: float, depth: float | None) -> Any:
    """(3,): variance of each axis relative to the best. depth: deviation of the third one, relative to the others."""
    if depth is not None:
        return np.array((1.0, 1.0, min(depth**2, MOST_UNLIKE)))
    ratio = noise / best if best > 0 else np.ones(3)
    return np.where(ratio > UNLIKE, np.minimum(ratio**2, MOST_UNLIKE), 1.0)


def _lengths(points: Any, seen: Any, bones: list[tuple[str, str]], ends: Any) -> dict[tuple[str, str], float]:
    """Medians of the lengths of bones where both ends are seen; left and right are equal."""
    found = {}
    for pair, (first, second) in zip(bones, ends, strict=True):
        both = seen[:, first] & seen[:, second]
        both = both if both.any() else np.ones(len(points), bool)
        found[pair] = float(np.median(np.linalg.norm(points[both, second] - points[both, first], axis=-1)))
    others = {pair: (_other(pair[0]), _other(pair[1])) for pair in found}
    return {pair: 0.5 * (length + found.get(others[pair], length)) for pair, length in found.items()}


def _other(role: str) -> str:
    side, _, part = role.partition("_")
    return f"{SIDES[1 - SIDES.index(side)]}_{part}" if side in SIDES else role


def _gaps(take: Take) -> dict[str, tuple[int, float]]:
    found = {}
    for role, column in take.columns.items():
        missing = take.weights[:, column] == 0
        if missing.any():
            _, starts, stops = runs(missing[np.newaxis])
            found[role] = int(missing.sum()), float((stops - starts).max() / take.fps)
    return found
