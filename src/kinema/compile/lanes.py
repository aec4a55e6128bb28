"""Load and store vectors and quaternions in lanes, and copy rows of an array to lanes and back.

Solvers that work on many items side by side keep one coordinate of all items in a row, so that the loop over lanes
vectorizes: in a field of shape (3, lanes), `field[c, k]` is coordinate c of the vector in lane k.
"""

from kinema.compile.jit import kernel


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
def load_rows(source, start, field):
    """Copy rows of a flat (N, width) array to lanes, from row `start` on: as many as a field (width, lanes) holds."""
    width, lanes = field.shape
    rows = source[width * start : width * (start + lanes)]
    for k in range(lanes):
        for c in range(width):
            field[c, k] = rows[width * k + c]


@kernel
def store_rows(target, start, field):
    """Copy lanes of a field (width, lanes) to rows of a flat (N, width) array, from row `start` on."""
    width, lanes = field.shape
    rows = target[width * start : width * (start + lanes)]
    for k in range(lanes):
        for c in range(width):
            rows[width * k + c] = field[c, k]
