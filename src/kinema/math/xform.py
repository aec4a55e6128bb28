"""Transforms: translation (3), rotation (4), scale (3) in this order of effect from right to left, as glTF has it.

A transform is the tuple `(t, r, s)`; a matrix is a tuple of four columns of three: x axis, y axis, z axis, origin.
"""

import math

from kinema._jit import kernel, like
from kinema.constants import TINY
from kinema.math import quat, vec


@kernel
def point(transform, p):
    """A point in the transform's own space, taken out of it."""
    t, r, s = transform
    return vec.add(t, quat.rotate(r, (p[0] * s[0], p[1] * s[1], p[2] * s[2])))


@kernel
def matrix(transform):
    """The four columns of the matrix of a transform."""
    t, r, s = transform
    zero = like(t[0], 0.0)
    return (
        quat.rotate(r, (s[0], zero, zero)),
        quat.rotate(r, (zero, s[1], zero)),
        quat.rotate(r, (zero, zero, s[2])),
        t,
    )


@kernel
def mul(a, b):
    """Matrix product: b first, then a."""
    return (linear(a, b[0]), linear(a, b[1]), linear(a, b[2]), vec.add(linear(a, b[3]), a[3]))


@kernel
def linear(m, v):
    """A direction through a matrix: the origin does not count."""
    return vec.add(vec.add(vec.scale(m[0], v[0]), vec.scale(m[1], v[1])), vec.scale(m[2], v[2]))


@kernel
def apply(m, p):
    """A point through a matrix."""
    return vec.add(linear(m, p), m[3])


@kernel
def axes(m):
    """The three axes of a matrix at length 1; x, y or z itself where one has collapsed."""
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    return (
        vec.unit_or(m[0], (one, zero, zero)),
        vec.unit_or(m[1], (zero, one, zero)),
        vec.unit_or(m[2], (zero, zero, one)),
    )


@kernel
def into(frame, v):
    """A world direction in the coordinates of three unit axes at right angles (a mirrored frame counts too)."""
    return (vec.dot(frame[0], v), vec.dot(frame[1], v), vec.dot(frame[2], v))


@kernel
def inverse(m):
    """Inverse of a matrix by cofactors; a collapsed matrix (determinant near 0) gives zero axes, never infinity."""
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    a = vec.cross(m[1], m[2])
    b = vec.cross(m[2], m[0])
    c = vec.cross(m[0], m[1])
    determinant = vec.dot(m[0], a)
    size = math.sqrt(vec.dot(m[0], m[0]) * vec.dot(m[1], m[1]) * vec.dot(m[2], m[2]))
    known = abs(determinant) > size * like(size, TINY)
    k = one / determinant if known else zero
    columns = (
        (a[0] * k, b[0] * k, c[0] * k),
        (a[1] * k, b[1] * k, c[1] * k),
        (a[2] * k, b[2] * k, c[2] * k),
    )
    origin = vec.scale(linear(columns, m[3]), -one)
    return (columns[0], columns[1], columns[2], origin)
