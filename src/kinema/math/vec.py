"""Vectors as tuples of three floats. Planar vectors have z = 0, and every function here keeps them planar."""

import math

from kinema.compile.jit import kernel, like
from kinema.constants import TINY

SIDE_SWITCH = 0.01
"""Squared share of x and y in a unit vector below which it counts as running along z (about 6 degrees)."""


@kernel
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(a, s):
    return (a[0] * s, a[1] * s, a[2] * s)


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def length(a):
    return math.sqrt(dot(a, a))


@kernel
def span(a):
    """The sum of magnitudes: within a factor of 1.8 of the length, without a square root."""
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@kernel
def select(condition, a, b):
    """a if the condition holds, else b, without a branch."""
    return (
        a[0] if condition else b[0],
        a[1] if condition else b[1],
        a[2] if condition else b[2],
    )


@kernel
def unit_or(a, fallback):
    """a at length 1; the fallback if a has no direction."""
    one = like(a[0], 1.0)
    square = dot(a, a)
    known = square > like(a[0], TINY)
    return select(known, scale(a, one / math.sqrt(square if known else one)), fallback)


@kernel
def reject(a, unit):
    """The part of a perpendicular to a unit vector."""
    return sub(a, scale(unit, dot(a, unit)))


@kernel
def reject_exactly(a, unit):
    """The part of a perpendicular to a unit vector, also if a is almost parallel to it.

    One rejection leaves a rounding error, relative to the size of a, along the unit vector; a second one removes it.
    """
    return reject(reject(a, unit), unit)


@kernel
def side(v):
    """A vector perpendicular to v, 0.1 to 1 times as long. Deterministic, and planar for a planar vector."""
    zero = like(v[0], 0.0)
    in_plane = v[0] * v[0] + v[1] * v[1]
    flat = in_plane > like(zero, SIDE_SWITCH) * (in_plane + v[2] * v[2])
    return (
        -v[1] if flat else zero,
        v[0] if flat else -v[2],
        zero if flat else v[1],
    )


@kernel
def unit_side(unit):
    """`side` at length 1."""
    aside = side(unit)
    return scale(aside, like(unit[0], 1.0) / math.sqrt(dot(aside, aside)))


@kernel
def hinge_of(unit):
    """An arbitrary axis perpendicular to a unit vector, to rotate it about: +z for a planar vector."""
    return cross(unit, unit_side(unit))


@kernel
def faded(a, size, zone, fallback):
    """a if it is longer than size * zone; blended to the fallback as its length drops from there to 0."""
    zero = like(size, 0.0)
    one = like(size, 1.0)
    edge = size * zone
    known = edge > zero
    share = (edge * edge - dot(a, a)) / (edge if known else one)
    share = share if share > zero else zero
    return add(a, scale(fallback, share if known else one))


@kernel
def reach(start, towards, distance):
    """The point at a distance from start in the direction of another point; along +y if the two coincide."""
    one = like(distance, 1.0)
    gap = sub(towards, start)
    square = dot(gap, gap)
    known = square > like(distance, TINY)
    step = distance / math.sqrt(square if known else one)
    zero = like(distance, 0.0)
    return add(start, scale(select(known, gap, (zero, one, zero)), step))
