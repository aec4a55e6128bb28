"""Load vectors, quaternions and matrices from array rows, and store them.

Kernels compute on tuples; arrays and record fields hold the numbers. Each accessor takes one row, so one function
serves arrays with any leading axes: `load3(points[i, j])`, `store4(foot.rotation, q)`.
"""

from __future__ import annotations

from kinema.compile.jit import kernel


@kernel
def load3(row):
    """Load a vector from a row of three numbers."""
    return (row[0], row[1], row[2])


@kernel
def store3(row, v):
    """Store a vector in a row of three numbers."""
    row[0], row[1], row[2] = v[0], v[1], v[2]


@kernel
def load4(row):
    """Load a quaternion from a row of four numbers, x, y, z, w."""
    return (row[0], row[1], row[2], row[3])


@kernel
def store4(row, q):
    """Store a quaternion in a row of four numbers."""
    row[0], row[1], row[2], row[3] = q[0], q[1], q[2], q[3]


@kernel
def load_matrix(row):
    """Load a 3x4 matrix from a row of twelve numbers (row-major), as four columns: three axes and the origin."""
    return ((row[0], row[4], row[8]), (row[1], row[5], row[9]), (row[2], row[6], row[10]), (row[3], row[7], row[11]))


@kernel
def store_matrix(row, m):
    """Store four columns, three axes and the origin, in a row of twelve numbers (row-major)."""
    for c in range(4):
        row[c], row[4 + c], row[8 + c] = m[c][0], m[c][1], m[c][2]


@kernel
def load_origin(row):
    """Load the origin of the 3x4 matrix in a row of twelve numbers."""
    return (row[3], row[7], row[11])
