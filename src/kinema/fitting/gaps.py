"""Where points are taken to be while they are not seen: carried along by the rest of the body."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.fitting.layouts import HAND, SIDES
from kinema.math import arrays
from kinema.motion.runs import runs

CARRIERS = {
    **{f"{side}_elbow": f"{side}_shoulder" for side in SIDES},
    **{f"{side}_wrist": f"{side}_elbow" for side in SIDES},
    **{f"{side}_{name}": f"{side}_wrist" for side in SIDES for name in ("hand", *HAND)},
    **{f"{side}_knee": f"{side}_hip" for side in SIDES},
    **{f"{side}_ankle": f"{side}_knee" for side in SIDES},
    **{f"{side}_{name}": f"{side}_ankle" for side in SIDES for name in ("heel", "toe", "ball", "small_toe")},
}
"""What each point hangs on; all others hang on the middle of the trunk."""

TRUNK = ("left_shoulder", "right_shoulder", "left_hip", "right_hip", "pelvis", "neck")

LIMBS = {
    f"{side}_{joint}": f"{side}_{start}"
    for side in SIDES
    for start, joints in (("shoulder", ("elbow", "wrist")), ("hip", ("knee", "ankle")))
    for joint in joints
}
"""The points that show what pose a body is in, and where their limb begins."""

LONG = 0.25
"""Seconds of a gap from which on the pose of the rest of the body says more than both of its ends."""

AROUND, MOST = 10.0, 300
"""Seconds around a gap from which a body is learnt, and frames of them at most."""

STEADY, ALIKE, SLOW = (0.2, 0.3), (0.6, 2.4), (0.4, 6.0)
"""What is known of where a point is beside what it hangs on: deviations, trunk lengths, of what lasts for so many
seconds; of what comes again in poses that differ by so many trunk lengths; and of what lasts for so many seconds."""

ROUGH = 0.03
"""Trunk lengths of noise."""

FEWEST = 3
"""Points of limbs that are seen, at least, for a pose to be known."""


def fill_gaps(points: Any, columns: dict[str, int], fps: float | None = None) -> Any:
    """Return points, (T, K, 3), without gaps: what is missing keeps its place beside what it hangs on, in the axes of
    the trunk, on the way from where it was last seen to where it is seen next. In long gaps a limb does what it did
    when the rest of the body was in such a pose.

    columns: of each role word; others hang on the trunk, too. Hips or shoulders are seen at least once. fps: frames a
    second; without it, long gaps are filled as short ones are.
    """
    filled = points.copy()
    if not np.isnan(points).any():
        return filled
    trunk = [columns[role] for role in TRUNK if role in columns]
    middle = _middle_of(filled, [column for column in trunk if not np.isnan(filled[:, column, 0]).all()])
    for column in trunk:
        filled[:, column] = middle + eased(filled[:, column] - middle)
    axes = _axes(filled, columns)
    ways = {} if fps is None else _limb_ways(points, filled, axes, columns)
    order = [role for role in columns if role not in TRUNK and role not in CARRIERS]
    carriers = {
        columns[role]: columns.get(CARRIERS.get(role, ""))
        for role in (*order, *(role for role in CARRIERS if role in columns))
    }
    for column in range(points.shape[1]):
        if column not in columns.values():
            carriers[column] = None
    for column, carrier in carriers.items():
        start = middle if carrier is None else filled[:, carrier]
        if np.isnan(filled[:, column, 0]).any():
            own = np.einsum("trc,tr->tc", axes, filled[:, column] - start)
            bridged = eased(own)
            if fps is not None:
                for gap in _long_gaps(own, fps):
                    _follow_body(bridged, own, gap, _pose(ways, column, gap), fps)
            filled[:, column] = start + np.einsum("trc,tc->tr", axes, bridged)
    return filled


def _long_gaps(values: Any, fps: float) -> list[tuple[int, int]]:
    """First frame and end of each long gap of values, (T, 3)."""
    _, starts, stops = runs(np.isnan(values[:, 0])[np.newaxis])
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True) if LONG * fps < b - a < len(values)]


def _limb_ways(points: Any, filled: Any, axes: Any, columns: dict[str, int]) -> dict[int, Any]:
    """Where the points of limbs are beside shoulders and hips, trunk lengths, (T, 3), NaN where they are missing."""
    trunk = np.linalg.norm(filled[:, columns["left_shoulder"]] - filled[:, columns["left_hip"]], axis=-1)
    size = max(float(np.median(trunk)), 1e-12)
    return {
        columns[role]: np.einsum("trc,tr->tc", axes, points[:, columns[role]] - filled[:, columns[start]]) / size
        for role, start in LIMBS.items()
        if role in columns
    }


def _pose(ways: dict[int, Any], column: int, gap: tuple[int, int]) -> Any:
    """The pose of the rest of the body, (T, n), trunk lengths; None if a gap shows too little of it."""
    shown = [eased(way) for own, way in ways.items() if own != column and not np.isnan(way[slice(*gap), 0]).all()]
    return np.concatenate(shown, axis=1) * np.sqrt(len(LIMBS) / len(shown)) if len(shown) >= FEWEST else None


def _follow_body(bridged: Any, own: Any, gap: tuple[int, int], pose: Any, fps: float) -> None:
    """Fill a long gap of a point, (T, 3), by what it did before and after, in time and in poses of the body: the mean
    of a Gaussian process.
    """
    (first, stop), near = gap, round(AROUND * fps)
    seen = np.arange(max(first - near, 0), min(stop + near, len(own)))
    seen = seen[~np.isnan(own[seen, 0])]
    if pose is None or not len(seen):
        return
    seen = seen[:: -(-len(seen) // MOST)]
    gone = np.arange(first, stop)

    def alike(a: Any, b: Any) -> Any:
        """How much the places in two series of frames vary together, (A, B)."""
        seconds = np.abs(a[:, np.newaxis] - b) / fps
        apart = np.linalg.norm(pose[a][:, np.newaxis] - pose[b], axis=-1)
        return (
            _fading(seconds, *STEADY) + _fading(apart, *ALIKE) * _fading(seconds, 1.0, AROUND) + _fading(seconds, *SLOW)
        )

    middle = own[seen].mean(axis=0)
    shares = np.linalg.solve(alike(seen, seen) + ROUGH**2 * np.eye(len(seen)), own[seen] - middle)
    bridged[gone] = middle + alike(gone, seen) @ shares


def _fading(way: Any, deviation: float, length: float) -> Any:
    """The covariance of what varies smoothly over such a length (Matérn, 5/2)."""
    share = np.sqrt(5.0) * way / length
    return deviation**2 * (1.0 + share + share**2 / 3.0) * np.exp(-share)


def eased(values: Any) -> Any:
    """Return values, (T, 3), with gaps bridged from end to end; before the first and after the last one they stay."""
    missing = np.isnan(values[:, 0])
    if not missing.any():
        return values
    result, last = values.copy(), len(values)
    if missing.all():
        return np.zeros_like(values)
    for _, start, stop in zip(*runs(missing[np.newaxis]), strict=True):
        if start == 0:
            result[:stop] = values[stop]
        elif stop == last:
            result[start:] = values[start - 1]
        else:
            share = (np.arange(1, stop - start + 1) / (stop - start + 1))[:, np.newaxis]
            result[start:stop] = values[start - 1] * (1 - share) + values[stop] * share
    return result


def _middle_of(points: Any, columns: list[int]) -> Any:
    """(T, 3): the middle of the trunk, also where some of its points are missing."""
    trunk = points[:, columns]
    return eased(_mean_seen(trunk - _median_seen(trunk - _mean_seen(trunk)[:, np.newaxis])))


def _median_seen(points: Any) -> Any:
    """(K, 3): the median of each point over the frames in which it is seen, 0 if it never is."""
    ordered, count = np.sort(points, axis=0), (~np.isnan(points[..., 0])).sum(axis=0)
    each = np.arange(len(count))
    middle = [ordered[np.maximum(count - 1 + more, 0) // 2, each] for more in (0, 1)]
    return np.where(count[:, np.newaxis] > 0, 0.5 * (middle[0] + middle[1]), 0.0)


def _mean_seen(points: Any) -> Any:
    """(T, 3): the mean of the points that are seen in each frame; NaN where there is none."""
    seen = ~np.isnan(points[..., :1])
    count = seen.sum(axis=1)
    return np.where(count > 0, np.where(seen, points, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def _axes(points: Any, columns: dict[str, int]) -> Any:
    """(T, 3, 3): left, up and ahead of the trunk as columns."""
    at = {role: points[:, columns[role]] for role in ("left_shoulder", "right_shoulder", "left_hip", "right_hip")}
    up = arrays.unit(at["left_shoulder"] + at["right_shoulder"] - at["left_hip"] - at["right_hip"])
    across = at["left_shoulder"] + at["left_hip"] - at["right_shoulder"] - at["right_hip"]
    ahead = arrays.unit(np.cross(across, up))
    return np.stack((np.cross(up, ahead), up, ahead), axis=-1)
