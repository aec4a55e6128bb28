"""Vectors, quaternions and matrices in and out of array rows.

Kernels compute on tuples; arrays and record fields hold their numbers. Each accessor takes one row, so the same
function serves every array whatever its leading axes: `load3(points[i, j])`, `store4(foot.rotation, q)`.
"""

from __future__ import annotations

from kinema._jit import kernel


@kernel
def load3(row):
    """The vector in a row of three numbers."""
    return (row[0], row[1], row[2])


@kernel
def store3(row, v):
    """Write a vector into a row of three numbers."""
    row[0], row[1], row[2] = v[0], v[1], v[2]


@kernel
def load4(row):
    """The quaternion in a row of four numbers, x, y, z, w."""
    return (row[0], row[1], row[2], row[3])


@kernel
def store4(row, q):
    """Write a quaternion into a row of four numbers."""
    row[0], row[1], row[2], row[3] = q[0], q[1], q[2], q[3]


@kernel
def load_matrix(row):
    """The 3x4 matrix in a row of twelve numbers, stored row by row, as four columns: three axes and the origin."""
    return ((row[0], row[4], row[8]), (row[1], row[5], row[9]), (row[2], row[6], row[10]), (row[3], row[7], row[11]))


@kernel
def store_matrix(row, m):
    """Write four columns, three axes and the origin, into a row of twelve numbers."""
    for c in range(4):
        row[c], row[4 + c], row[8 + c] = m[c][0], m[c][1], m[c][2]


@kernel
def load_origin(row):
    """The origin of the 3x4 matrix in a row of twelve numbers."""
    return (row[3], row[7], row[11])
