"""Stretches of frames in which something holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def runs(rows: Any) -> tuple[Any, Any, Any]:
    """Find every stretch of true in rows of true or false, (R, F): its row, first frame, and the frame after its
    last.
    """
    edges = np.diff(np.pad(rows, ((0, 0), (1, 1))).astype(np.int8), axis=-1)
    row, start = np.nonzero(edges == 1)
    return row, start, np.nonzero(edges == -1)[1]


def stretches(mask: Any) -> Iterator[tuple[int, slice]]:
    """Yield every stretch of frames in which a mask of feet, (F, L), is set: the foot, and its frames."""
    for foot, start, stop in zip(*(each.tolist() for each in runs(mask.T)), strict=True):
        yield foot, slice(start, stop)


def around(stretch: slice) -> slice:
    """Return a stretch of frames with the frame before and the frame after it, where there are any."""
    return slice(max(stretch.start - 1, 0), stretch.stop + 1)


def nearest_set(mask: Any) -> tuple[Any, Any]:
    """Find the frames nearest to each in which a mask of feet, (F, L), is set: the last one up to then, -F where there
    is none, and the next one from then on, 2 F where there is none.
    """
    frames, count = np.arange(len(mask))[:, np.newaxis], len(mask)
    last = np.maximum.accumulate(np.where(mask, frames, -count), axis=0)
    return last, np.minimum.accumulate(np.where(mask, frames, 2 * count)[::-1], axis=0)[::-1]


def frames_to(mask: Any) -> Any:
    """(F, L): frames to the nearest one in which a mask of feet, (F, L), is set; F where there is none."""
    frames, (last, following) = np.arange(len(mask))[:, np.newaxis], nearest_set(mask)
    return np.minimum(np.minimum(frames - last, following - frames), len(mask))


def without_short(mask: Any, fewest: float) -> Any:
    """Return the mask (F, ...) without stretches of fewer frames, except those at the first or the last frame."""
    rows = np.moveaxis(mask, 0, -1).reshape(-1, len(mask)).copy()
    row, start, stop = runs(rows)
    short = (stop - start < fewest) & (start > 0) & (stop < len(mask))
    for r, first, last in zip(row[short], start[short], stop[short], strict=True):
        rows[r, first:last] = False
    return np.moveaxis(rows.reshape(*mask.shape[1:], len(mask)), -1, 0)


def without_noise(mask: Any, gap: float, fewest: float) -> Any:
    """Return the mask (F, ...) with gaps of fewer frames than `gap` closed, then without shorter stretches than
    `fewest`; those at the first or the last frame stay.
    """
    return without_short(~without_short(~mask, gap), fewest)


def without_ends(mask: Any, count: int) -> Any:
    """Return the mask (F, ...) without the first and the last frames of each stretch, so many at each end; those at the
    first or the last frame of all stay.
    """
    kept = mask.copy()
    for _ in range(count):
        before, after = np.roll(kept, 1, axis=0), np.roll(kept, -1, axis=0)
        before[0], after[-1] = kept[0], kept[-1]
        kept &= before & after
    return kept
