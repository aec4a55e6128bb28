"""Moving chains between rows of an array and lanes of a vector register.

A tile is a flat array of rows, `TILE` numbers each: row r of lane k is `tile[r * TILE + k]`. Rows of constant
length in one flat array are what lets the compiler prove that nothing overlaps, and use shuffles, not scalar loads.
"""

from kinema._jit import kernel
from kinema.constants import TILE


@kernel
def load3(source, start, tile, row):
    """TILE vectors of a flat (N, 3) array into three rows."""
    v = source[3 * start : 3 * start + 3 * TILE]
    t = tile[row * TILE : (row + 3) * TILE]
    for k in range(TILE):
        t[k] = v[3 * k]
        t[TILE + k] = v[3 * k + 1]
        t[2 * TILE + k] = v[3 * k + 2]


@kernel
def load2(source, start, tile, row):
    """TILE pairs of a flat (N, 2) array into two rows."""
    v = source[2 * start : 2 * start + 2 * TILE]
    t = tile[row * TILE : (row + 2) * TILE]
    for k in range(TILE):
        t[k] = v[2 * k]
        t[TILE + k] = v[2 * k + 1]


@kernel
def fill(source, width, tile, row):
    """One short vector, the same for every lane."""
    for c in range(width):
        t = tile[(row + c) * TILE : (row + c + 1) * TILE]
        for k in range(TILE):
            t[k] = source[c]


@kernel
def store3(target, start, tile, row):
    v = target[3 * start : 3 * start + 3 * TILE]
    t = tile[row * TILE : (row + 3) * TILE]
    for k in range(TILE):
        v[3 * k] = t[k]
        v[3 * k + 1] = t[TILE + k]
        v[3 * k + 2] = t[2 * TILE + k]


@kernel
def store1(target, start, tile, row):
    v = target[start : start + TILE]
    t = tile[row * TILE : (row + 1) * TILE]
    for k in range(TILE):
        v[k] = t[k]
