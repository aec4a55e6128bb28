"""Load and store vectors and quaternions in lanes, and copy rows of an array to lanes and back.

Solvers that work on many items side by side keep one coordinate of all items in a row, so that the loop over lanes
vectorizes: in a field of shape (3, lanes), `field[c, k]` is coordinate c of the vector in lane k.
"""

from kinema._jit import kernel
from kinema.constants import TILE


@kernel
def load3(field, k):
    """Load the vector in lane k."""
    return (field[0, k], field[1, k], field[2, k])


@kernel
def store3(field, k, v):
    """Store a vector in lane k."""
    field[0, k] = v[0]
    field[1, k] = v[1]
    field[2, k] = v[2]


@kernel
def load4(field, k):
    """Load the quaternion in lane k."""
    return (field[0, k], field[1, k], field[2, k], field[3, k])


@kernel
def store4(field, k, q):
    """Store a quaternion in lane k."""
    field[0, k] = q[0]
    field[1, k] = q[1]
    field[2, k] = q[2]
    field[3, k] = q[3]


@kernel
def load_tile3(source, start, tile, row):
    """Copy TILE vectors of a flat (N, 3) array to three rows of a tile."""
    v = source[3 * start : 3 * start + 3 * TILE]
    t = tile[row * TILE : (row + 3) * TILE]
    for k in range(TILE):
        t[k] = v[3 * k]
        t[TILE + k] = v[3 * k + 1]
        t[2 * TILE + k] = v[3 * k + 2]


@kernel
def load_tile2(source, start, tile, row):
    """Copy TILE pairs of a flat (N, 2) array to two rows of a tile."""
    v = source[2 * start : 2 * start + 2 * TILE]
    t = tile[row * TILE : (row + 2) * TILE]
    for k in range(TILE):
        t[k] = v[2 * k]
        t[TILE + k] = v[2 * k + 1]


@kernel
def fill_tile(source, width, tile, row):
    """Fill rows of a tile with one vector, the same for every lane."""
    for c in range(width):
        t = tile[(row + c) * TILE : (row + c + 1) * TILE]
        for k in range(TILE):
            t[k] = source[c]


@kernel
def store_tile3(target, start, tile, row):
    """Copy three rows of a tile to TILE vectors of a flat (N, 3) array."""
    v = target[3 * start : 3 * start + 3 * TILE]
    t = tile[row * TILE : (row + 3) * TILE]
    for k in range(TILE):
        v[3 * k] = t[k]
        v[3 * k + 1] = t[TILE + k]
        v[3 * k + 2] = t[2 * TILE + k]


@kernel
def store_tile1(target, start, tile, row):
    """Copy one row of a tile to TILE numbers."""
    v = target[start : start + TILE]
    t = tile[row * TILE : (row + 1) * TILE]
    for k in range(TILE):
        v[k] = t[k]
