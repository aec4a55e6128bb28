"""The filters of PNG: each row of bytes as its difference to a guess from the bytes around, one of five kinds a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.images.constants import PNG_BAND

NONE, SUB, UP, AVERAGE, PAETH = range(5)


def unfiltered(kinds: Any, rows: Any, step: int) -> Any:
    """Rows of bytes without their filters. kinds: (rows,). step: bytes from a number to the same one of the next pixel.

    A byte needs the ones to its left, above, and above left. Rows that each start one pixel after the row above have
    those ready at the same moment, so all rows of a band are worked off side by side, diagonal by diagonal.
    """
    height, width = rows.shape
    pixels = -(-width // step)
    out = np.zeros((height, pixels * step), np.uint8)
    out[:, :width] = rows
    above = np.zeros((pixels, step), np.int16)
    for first in range(0, height, PNG_BAND):
        band = out[first : first + PNG_BAND].reshape(-1, pixels, step)
        band[:] = _unfiltered_band(kinds[first : first + PNG_BAND], band, above)
        above = band[-1].astype(np.int16)
    return out[:, :width]


def _unfiltered_band(kinds: Any, band: Any, above: Any) -> Any:
    """A band of rows (rows, pixels, step) without their filters. above: (pixels, step), the row before the band."""
    rows, pixels, step = band.shape
    # Diagonal d holds pixel d - 2 - n of row n. Row 0 is the one above the band; where a row has not begun, all is 0.
    slant = np.zeros((pixels + rows + 2, rows + 1, step), np.int16)
    row = np.arange(rows)[:, np.newaxis]
    at = np.arange(pixels) + row + 3
    slant[at, row + 1] = band
    slant[np.arange(pixels) + 2, 0] = above
    sub, up, average, paeth = ((kinds == kind).astype(np.int16)[:, np.newaxis] for kind in (SUB, UP, AVERAGE, PAETH))
    for d in range(3, len(slant)):
        left, over, corner = slant[d - 1, 1:], slant[d - 1, :-1], slant[d - 2, :-1]
        guess = sub * left + up * over + average * ((left + over) >> 1) + paeth * _paeth(left, over, corner)
        slant[d, 1:] = (slant[d, 1:] + guess) & 0xFF
    return slant[at, row + 1]


def _paeth(left: Any, over: Any, corner: Any) -> Any:
    """Whichever of the three is nearest to left + over - corner; of equals the first."""
    to_left, to_over, to_corner = np.abs(over - corner), np.abs(left - corner), np.abs(left + over - 2 * corner)
    nearest = np.where(to_over <= to_corner, over, corner)
    return np.where((to_left <= to_over) & (to_left <= to_corner), left, nearest)


def filtered(rows: Any, step: int) -> bytes:
    """Rows of bytes as differences to a guess, each with whichever guess leaves the smallest differences."""
    plain = rows.astype(np.int16)
    over = np.vstack((np.zeros_like(plain[:1]), plain[:-1]))
    left, corner = (np.hstack((np.zeros_like(a[:, :step]), a[:, :-step])) for a in (plain, over))
    least = np.full(len(rows), np.iinfo(np.int64).max)
    best = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    for kind, guess in enumerate((np.zeros_like(plain), left, over, (left + over) >> 1, _paeth(left, over, corner))):
        rest = (plain - guess).astype(np.uint8)
        cost = np.abs(rest.view(np.int8).astype(np.int16)).sum(axis=1, dtype=np.int64)
        better = cost < least
        least[better] = cost[better]
        best[better, 0], best[better, 1:] = kind, rest[better]
    return best.tobytes()
