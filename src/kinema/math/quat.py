"""Unit quaternions as tuples x, y, z, w (Hamilton). `mul(a, b)` rotates by b first, then by a."""

import math

from kinema.compile.jit import kernel, like
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
    """The inverse rotation."""
    return (-q[0], -q[1], -q[2], q[3])


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@kernel
def unit(q):
    """q at length 1; the identity if q is zero."""
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
    """v rotated by q."""
    two = like(q[0], 2.0)
    axis = (q[0], q[1], q[2])
    t = vec.scale(vec.cross(axis, v), two)
    return vec.add(v, vec.add(vec.scale(t, q[3]), vec.cross(axis, t)))


@kernel
def from_cos_sin(axis, cosine, sine):
    """The rotation about a unit axis by the angle with this cosine and sine. Accurate near 0 and near pi."""
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
    """The rotation about a unit axis by an angle in radians."""
    half = angle * like(angle, 0.5)
    s = math.sin(half)
    return (axis[0] * s, axis[1] * s, axis[2] * s, math.cos(half))


@kernel
def between(a, b, axis):
    """The smallest rotation from unit vector a to unit vector b; by pi about `axis` if they are opposite.

    axis: a unit vector perpendicular to a.
    """
    one = like(a[0], 1.0)
    zero = like(a[0], 0.0)
    cosine = vec.dot(a, b)
    # Close to opposite, a x b and 1 + a . b cancel; the part of b perpendicular to a does not.
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
    """q with its angle clamped. cos_half, sin_half: of half the largest angle. q must have w >= 0."""
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
    """A share of a rotation, the shorter way: 0 gives exactly the identity, 1 exactly q (or -q, the same rotation)."""
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
    """Interpolate from a (share 0) to b (share 1) at constant speed, the shorter way."""
    if share <= like(share, 0.0):
        return a
    return mul(a, part(mul(conj(a), b), share))


@kernel
def from_columns(x, y, z):
    """The rotation of a matrix given by its columns. Taking the largest of four candidates avoids cancellation."""
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
def angle_between(a, b):
    """The angle of the rotation from a to b, 0 to pi radians."""
    off = mul(conj(a), b)
    return like(off[3], 2.0) * math.atan2(vec.length((off[0], off[1], off[2])), abs(off[3]))


@kernel
def select(condition, a, b):
    """a where the condition holds, else b, component by component: without a branch."""
    return (
        a[0] if condition else b[0],
        a[1] if condition else b[1],
        a[2] if condition else b[2],
        a[3] if condition else b[3],
    )


@kernel
def same_hemisphere(q, reference):
    """q or -q, the same rotation, whichever is nearer to the reference."""
    sign = like(q[0], 1.0) if dot(q, reference) >= like(q[0], 0.0) else like(q[0], -1.0)
    return (q[0] * sign, q[1] * sign, q[2] * sign, q[3] * sign)


@kernel
def exp(v):
    """The rotation of a rotation vector: about v by its length, radians."""
    half = like(v[0], 0.5)
    angle = vec.length(v)
    k = math.sin(half * angle) / angle if angle > like(v[0], 0.0) else half
    return (v[0] * k, v[1] * k, v[2] * k, math.cos(half * angle))


@kernel
def log(q):
    """The rotation vector of q: its axis times its angle, 0 to 2 pi radians. The inverse of `exp`."""
    sine = vec.length((q[0], q[1], q[2]))
    two = like(q[0], 2.0)
    k = two * math.atan2(sine, q[3]) / sine if sine > like(q[0], 0.0) else two
    return (q[0] * k, q[1] * k, q[2] * k)


@kernel
def from_vector(v, largest):
    """The rotation of a rotation vector, like `exp`, with its angle clamped to the largest."""
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
    """The rotation vector of q or -q, like `log`, whichever is shorter: at most pi."""
    two = like(q[3], 2.0)
    zero = like(q[3], 0.0)
    side = like(q[3], 1.0) if q[3] >= zero else like(q[3], -1.0)
    v = (q[0] * side, q[1] * side, q[2] * side)
    sine = vec.length(v)
    return vec.scale(v, two * math.atan2(sine, q[3] * side) / sine if sine > zero else two)
