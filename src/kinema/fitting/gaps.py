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


def fill_gaps(points: Any, columns: dict[str, int]) -> Any:
    """Return points, (T, K, 3), without gaps: what is missing keeps its place beside what it hangs on, in the axes of
    the trunk, on the way from where it was last seen to where it is seen next.

    columns: of each role word; others hang on the trunk, too. Hips or shoulders are seen at least once.
    """
    filled = points.copy()
    trunk = [columns[role] for role in TRUNK if role in columns]
    middle = _middle_of(filled, [column for column in trunk if not np.isnan(filled[:, column, 0]).all()])
    for column in trunk:
        filled[:, column] = middle + eased(filled[:, column] - middle)
    axes = _axes(filled, columns)
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
            filled[:, column] = start + np.einsum("trc,tc->tr", axes, eased(own))
    return filled


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
    typical = np.nanmedian(trunk - _mean_seen(trunk)[:, np.newaxis], axis=0)
    return eased(_mean_seen(trunk - np.nan_to_num(typical)))


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
