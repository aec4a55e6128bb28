"""Unit quaternions as tuples x, y, z, w (Hamilton). `mul(a, b)` turns by b first, then by a."""

import math

from kinema._jit import kernel, like
from kinema.constants import TINY
from kinema.math import vec


@kernel
def mul(a, b):
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@kernel
def conj(q):
    """The opposite turn."""
    return (-q[0], -q[1], -q[2], q[3])


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@kernel
def unit(q):
    """q at length 1; no turn where q is zero."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    square = dot(q, q)
    known = square > like(q[0], TINY)
    s = one / math.sqrt(square if known else one)
    return (
        q[0] * s if known else zero,
        q[1] * s if known else zero,
        q[2] * s if known else zero,
        q[3] * s if known else one,
    )


@kernel
def rotate(q, v):
    """v turned by q."""
    two = like(q[0], 2.0)
    axis = (q[0], q[1], q[2])
    t = vec.scale(vec.cross(axis, v), two)
    return vec.add(v, vec.add(vec.scale(t, q[3]), vec.cross(axis, t)))


@kernel
def from_cos_sin(axis, cosine, sine):
    """Turn about a unit axis by the angle with this cosine and sine (half-angle formulas, stable at both ends)."""
    one = like(cosine, 1.0)
    half = like(cosine, 0.5)
    zero = like(cosine, 0.0)
    forward = cosine >= zero
    # The larger of |cos(a/2)| and |sin(a/2)| comes from a root, the other from sin(a) = 2 sin(a/2) cos(a/2).
    larger = math.sqrt(half * (one + (cosine if forward else -cosine)))
    smaller = half * sine / larger
    back_w = smaller if smaller >= zero else -smaller
    w = larger if forward else back_w
    s = smaller if forward else (larger if sine >= zero else -larger)
    return (axis[0] * s, axis[1] * s, axis[2] * s, w)


@kernel
def from_axis_angle(axis, angle):
    """Turn about a unit axis, radians."""
    half = angle * like(angle, 0.5)
    s = math.sin(half)
    return (axis[0] * s, axis[1] * s, axis[2] * s, math.cos(half))


@kernel
def between(a, b, axis):
    """The smallest turn from unit vector a to unit vector b; half a turn about `axis` where they are opposite.

    The axis must be at right angles to a and of length 1.
    """
    one = like(a[0], 1.0)
    zero = like(a[0], 0.0)
    cosine = vec.dot(a, b)
    # Close to opposite, both a x b and 1 + a . b have lost their digits; the part of b across a has not.
    opposite = cosine < like(a[0], -0.5)
    across = vec.reject(vec.add(a, b), a)
    c = vec.cross(a, vec.select(opposite, across, b))
    w = vec.dot(across, across) / (one - cosine) if opposite else one + cosine
    square = vec.dot(c, c) + w * w
    known = square > like(a[0], TINY)
    k = one / math.sqrt(square if known else one)
    return (
        c[0] * k if known else axis[0],
        c[1] * k if known else axis[1],
        c[2] * k if known else axis[2],
        w * k if known else zero,
    )


@kernel
def limited(q, cos_half, sin_half):
    """q with its angle cut to the one whose half has this cosine and sine. q must have w >= 0."""
    one = like(q[0], 1.0)
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2]
    over = (q[3] < cos_half) & (square > like(q[0], TINY))
    k = sin_half / math.sqrt(square if over else one)
    return (
        q[0] * k if over else q[0],
        q[1] * k if over else q[1],
        q[2] * k if over else q[2],
        cos_half if over else q[3],
    )


@kernel
def part(q, share):
    """Part of a turn along its shortest way: 0 gives exactly no turn, 1 gives exactly q (or -q, the same turn)."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    if q[3] < zero:
        q = (-q[0], -q[1], -q[2], -q[3])
    sine = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    if share >= one:
        return q
    if share <= zero or sine <= zero:
        return (zero, zero, zero, one)
    half = math.atan2(sine, q[3]) * share
    k = math.sin(half) / sine
    return (q[0] * k, q[1] * k, q[2] * k, math.cos(half))


@kernel
def slerp(a, b, share):
    """From a (share 0) to b (share 1) at constant speed along the shorter way."""
    if share <= like(share, 0.0):
        return a
    return mul(a, part(mul(conj(a), b), share))


@kernel
def from_columns(x, y, z):
    """The turn of a rotation matrix given by its columns (the largest of four candidates is taken: no cancellation)."""
    one = like(x[0], 1.0)
    quarter = like(x[0], 0.25)
    zero = like(x[0], 0.0)
    trace = x[0] + y[1] + z[2]
    if trace > zero:
        s = math.sqrt(trace + one) * like(x[0], 2.0)
        q = ((y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s, quarter * s)
    elif x[0] > y[1] and x[0] > z[2]:
        s = math.sqrt(one + x[0] - y[1] - z[2]) * like(x[0], 2.0)
        q = (quarter * s, (y[0] + x[1]) / s, (z[0] + x[2]) / s, (y[2] - z[1]) / s)
    elif y[1] > z[2]:
        s = math.sqrt(one + y[1] - x[0] - z[2]) * like(x[0], 2.0)
        q = ((y[0] + x[1]) / s, quarter * s, (z[1] + y[2]) / s, (z[0] - x[2]) / s)
    else:
        s = math.sqrt(one + z[2] - x[0] - y[1]) * like(x[0], 2.0)
        q = ((z[0] + x[2]) / s, (z[1] + y[2]) / s, quarter * s, (x[1] - y[0]) / s)
    return unit(q)


@kernel
def from_vector(v, largest):
    """The rotation about v by its length, radians; cut to the largest angle."""
    zero = like(largest, 0.0)
    one = like(largest, 1.0)
    angle = vec.length(v)
    if angle <= zero:
        return (zero, zero, zero, one)
    half = min(angle, largest) * like(largest, 0.5)
    k = math.sin(half) / angle
    return (v[0] * k, v[1] * k, v[2] * k, math.cos(half))


@kernel
def to_vector(q):
    """The axis of a rotation times its angle, radians, the shorter way round."""
    two = like(q[3], 2.0)
    zero = like(q[3], 0.0)
    side = like(q[3], 1.0) if q[3] >= zero else like(q[3], -1.0)
    v = (q[0] * side, q[1] * side, q[2] * side)
    sine = vec.length(v)
    return vec.scale(v, two * math.atan2(sine, q[3] * side) / sine if sine > zero else two)
