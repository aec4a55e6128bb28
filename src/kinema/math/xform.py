"""Transforms: translation (3), rotation (4), scale (3). As in glTF, the scale is applied first, the translation last.

A transform is the tuple `(t, r, s)`; a matrix is a tuple of four columns of three: x axis, y axis, z axis, origin.
"""

from kinema.compile.jit import kernel, like
from kinema.constants import TINY
from kinema.math import quat, vec


@kernel
def point(transform, p):
    """Transform a point from the transform's local space to its parent space."""
    t, r, s = transform
    return vec.add(t, quat.rotate(r, (p[0] * s[0], p[1] * s[1], p[2] * s[2])))


@kernel
def matrix(transform):
    """The four columns of the matrix of a transform."""
    t, (x, y, z, w), s = transform
    one = like(x, 1.0)
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    a, b, c = (
        (one - (yy + zz), xy + wz, xz - wy),
        (xy - wz, one - (xx + zz), yz + wx),
        (xz + wy, yz - wx, one - (xx + yy)),
    )
    if (s[0] == one) & (s[1] == one) & (s[2] == one):  # As usual. The world matrices of a pose take a fifth less time.
        return (a, b, c, t)
    return (vec.scale(a, s[0]), vec.scale(b, s[1]), vec.scale(c, s[2]), t)


@kernel
def mul(a, b):
    """The matrix product: b is applied first, then a."""
    return (linear(a, b[0]), linear(a, b[1]), linear(a, b[2]), vec.add(linear(a, b[3]), a[3]))


@kernel
def linear(m, v):
    """Transform a direction by a matrix, without its origin."""
    return vec.add(vec.add(vec.scale(m[0], v[0]), vec.scale(m[1], v[1])), vec.scale(m[2], v[2]))


@kernel
def apply(m, p):
    """Transform a point by a matrix."""
    return vec.add(linear(m, p), m[3])


@kernel
def axes(m):
    """The three axes of a matrix at length 1; the unit x, y or z axis for one of length zero."""
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    return (
        vec.unit_or(m[0], (one, zero, zero)),
        vec.unit_or(m[1], (zero, one, zero)),
        vec.unit_or(m[2], (zero, zero, one)),
    )


@kernel
def handedness(frame):
    """1 for a right-handed frame of three axes, -1 for a mirrored one."""
    one = like(frame[0][0], 1.0)
    return one if vec.dot(frame[0], vec.cross(frame[1], frame[2])) >= like(one, 0.0) else -one


@kernel
def unmirrored(m, scale):
    """A joint's matrix without the signs of the joint's own scale: the axes its local rotation acts in.

    A joint is scaled before it is rotated, so corrections of its local rotation are made in these axes.
    """
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    return (
        vec.scale(m[0], -one if scale[0] < zero else one),
        vec.scale(m[1], -one if scale[1] < zero else one),
        vec.scale(m[2], -one if scale[2] < zero else one),
        m[3],
    )


@kernel
def into(frame, v):
    """A world direction in the coordinates of three orthonormal axes, right-handed or mirrored."""
    return (vec.dot(frame[0], v), vec.dot(frame[1], v), vec.dot(frame[2], v))


@kernel
def inverse(m):
    """The inverse of a matrix, by cofactors. A singular matrix gives zero axes, never infinity."""
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    # Normalize the axes first: the product of three scales can overflow float32.
    sizes = (vec.length(m[0]), vec.length(m[1]), vec.length(m[2]))
    x = vec.scale(m[0], one / sizes[0] if sizes[0] > zero else zero)
    y = vec.scale(m[1], one / sizes[1] if sizes[1] > zero else zero)
    z = vec.scale(m[2], one / sizes[2] if sizes[2] > zero else zero)
    a = vec.cross(y, z)
    determinant = vec.dot(x, a)
    known = abs(determinant) > like(determinant, TINY)
    a = vec.scale(a, one / determinant / sizes[0] if known else zero)
    b = vec.scale(vec.cross(z, x), one / determinant / sizes[1] if known else zero)
    c = vec.scale(vec.cross(x, y), one / determinant / sizes[2] if known else zero)
    columns = ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]))
    origin = vec.scale(linear(columns, m[3]), -one)
    return (columns[0], columns[1], columns[2], origin)
