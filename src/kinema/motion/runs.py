"""Stretches of frames in which something holds."""

from __future__ import annotations

from typing import Any

import numpy as np


def runs(rows: Any) -> tuple[Any, Any, Any]:
    """Find every stretch of true in rows of true or false, (R, F): its row, first frame, and the frame after its
    last.
    """
    edges = np.diff(np.pad(rows, ((0, 0), (1, 1))).astype(np.int8), axis=-1)
    row, start = np.nonzero(edges == 1)
    return row, start, np.nonzero(edges == -1)[1]


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
