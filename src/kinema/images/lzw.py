"""LZW as GIF has it: strings seen before are replaced by their number in a table that both sides build as they go."""

from __future__ import annotations

from typing import Any

import numpy as np

CLEAR, END, FIRST_FREE = 256, 257, 258
MOST_CODES = 4096
"""Codes have at most 12 bits; when all are taken, the table starts anew."""


def packed(data: bytes) -> bytes:
    """Bytes, one or more, as codes of 9 to 12 bits."""
    codes = np.array(_codes(data))
    return _as_bits(codes, _widths(codes))


def _codes(data: bytes) -> list[int]:
    """Every code in turn. The longest string that is known goes out, and is known from then on with one byte more."""
    codes, free = [CLEAR], FIRST_FREE
    known: dict[int, int] = {}
    string = data[0]
    for byte in data[1:]:
        longer = string << 8 | byte
        if longer in known:
            string = known[longer]
            continue
        codes.append(string)
        known[longer] = free
        free += 1
        if free == MOST_CODES:
            codes.append(CLEAR)
            known, free = {}, FIRST_FREE
        string = byte
    return [*codes, string, END]


def _widths(codes: Any) -> Any:
    """(n,): bits of each code: as many as the table of who reads has entries for by then, one for each code so far."""
    at = np.arange(len(codes))
    since = at - np.maximum.accumulate(np.where(codes == CLEAR, at, 0))
    # Codes right after a clear are 1 since it; the clear itself is still written with the table before it.
    entries = np.where(codes == CLEAR, MOST_CODES - 1, FIRST_FREE - 2 + since)
    entries[0] = CLEAR
    return np.floor(np.log2(entries)).astype(np.int64) + 1


def _as_bits(codes: Any, widths: Any) -> bytes:
    """Codes one after another, lowest bits first; each touches three bytes at most."""
    ends = np.cumsum(widths)
    starts = ends - widths
    shifted = codes << (starts & 7)
    size = (int(ends[-1]) + 7) // 8
    total = np.zeros(size + 2)
    for byte in range(3):
        total += np.bincount((starts >> 3) + byte, (shifted >> 8 * byte) & 0xFF, size + 2)
    return total[:size].astype(np.uint8).tobytes()
