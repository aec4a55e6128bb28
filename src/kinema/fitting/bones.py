"""Rotations of parts by two directions, and of limbs by their two bones, for all frames at once.

A limb's upper bone points where its points are. How it is twisted about itself, the bend of its elbow or knee shows:
`show_twists` finds that for every frame, `twist_limbs` takes the smoothed twists and rotates both bones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import quat, vec
from kinema.math.rows import load3, load4, store3, store4

LEFT_UP, LEFT_AHEAD, AHEAD_LEFT = range(3)
"""What two directions of a part are: its left axis exactly and one near its up axis; its left axis and one near the
axis ahead; its axis ahead and one near its left axis."""

LIMB = Record(straight=(REAL, 3), axis=(REAL, 3), rest=(REAL, 4), foot=np.int64)
"""A limb: where it points in the T-pose, the axis about which it bends there, the rotation of its upper bone in the
stance, and whether a foot shows its twist, too."""


@kernel
def _frame(kind, first, second):
    """The rotation from the canonical axes to these directions."""
    one, zero = like(first[0], 1.0), like(first[0], 0.0)
    main = vec.unit_or(first, (zero, zero, one) if kind == AHEAD_LEFT else (one, zero, zero))
    side = vec.unit_side(main)
    if kind == AHEAD_LEFT:
        x, z = vec.unit_or(vec.reject(second, main), side), main
    else:
        ahead = vec.cross(main, second) if kind == LEFT_UP else vec.reject(second, main)
        x, z = main, vec.unit_or(ahead, side)
    return quat.from_columns(x, vec.cross(z, x), z)


@batch
def frame_parts(first, second, kinds, own, out):
    """Rotate parts from how they are in the stance, out (N, T, 4), to two directions, (N, T, 3) each.

    kinds: (N,). own: (N, 4), inverse rotations from the canonical axes to these directions of the stance.
    """
    for n in range(first.shape[0]):
        after, kind = load4(own[n]), kinds[n]
        for t in range(first.shape[1]):
            store4(out[n, t], quat.mul(_frame(kind, load3(first[n, t]), load3(second[n, t])), after))


@kernel
def _pointed(rotation, straight, way):
    """The rotation on top of one that brings a direction where a bone points."""
    start = quat.rotate(rotation, straight)
    turn = quat.between(start, vec.unit_or(way, start), vec.unit_side(start))
    return quat.mul(turn, rotation)


@batch
def point_parts(above, straight, ways, out):
    """Rotate parts on top of others, (N, T, 4), so that a direction, unit, (N, 3), points along ways, (N, T, 3)."""
    for n in range(ways.shape[0]):
        along = load3(straight[n])
        for t in range(ways.shape[1]):
            store4(out[n, t], _pointed(load4(above[n, t]), along, load3(ways[n, t])))


@batch
def slerp_parts(start, end, shares, out):
    """Interpolate rotations, (N, T, 4), by shares, (N,)."""
    for n in range(start.shape[0]):
        for t in range(start.shape[1]):
            store4(out[n, t], quat.slerp(load4(start[n, t]), load4(end[n, t]), shares[n]))


@kernel
def _cosine_sine(start, end, about):
    """Cosine and sine of the angle from one direction to another about a unit axis; 1 and 0 where it is not known."""
    zero, one = like(start[0], 0.0), like(start[0], 1.0)
    x = vec.dot(start, end) - vec.dot(start, about) * vec.dot(end, about)
    y = vec.dot(vec.cross(start, end), about)
    size = math.sqrt(x * x + y * y)
    known = size > like(size, 1e-12)
    size = size if known else one
    return (x / size if known else one), (y / size if known else zero)


@batch
def show_twists(limbs, bones, feet, weights, base, shown):
    """Find the least rotations that point upper bones, base (L, T, 4), and how they then are twisted, shown (L, T, 3):
    weighted sine and cosine, and the weight.

    bones: (L, T, 2, 3), upper and lower. feet: (L, T, 3), where feet point. weights: (2,), of the least twist and of
    feet. base: what limbs hang on, replaced.
    """
    for n in range(limbs.size):
        limb = limbs[n]
        straight, axis = load3(limb.straight), load3(limb.axis)
        for t in range(bones.shape[1]):
            upper, lower = load3(bones[n, t, 0]), load3(bones[n, t, 1])
            rotation = _pointed(load4(base[n, t]), straight, upper)
            store4(base[n, t], rotation)
            start, along = quat.rotate(rotation, axis), vec.unit_or(upper, straight)
            bend = vec.cross(along, vec.unit_or(lower, along))
            weight = vec.dot(bend, bend)
            cosine, sine = _cosine_sine(start, bend, along)
            sine, cosine = sine * weight, cosine * weight + weights[0]
            if limb.foot != 0:
                c, s = _cosine_sine(start, vec.cross(load3(feet[n, t]), lower), along)
                sine, cosine, weight = sine + s * weights[1], cosine + c * weights[1], weight + weights[1]
            store3(shown[n, t], (sine, cosine, weight + weights[0]))


@batch
def twist_limbs(limbs, bones, base, twists, upper, lower):
    """Rotate upper bones from the stance and lower ones from the T-pose, (L, T, 4) each.

    twists: (L, T, 2), sine and cosine, of any size.
    """
    for n in range(limbs.size):
        limb = limbs[n]
        straight, rest = load3(limb.straight), quat.conj(load4(limb.rest))
        for t in range(bones.shape[1]):
            along = vec.unit_or(load3(bones[n, t, 0]), straight)
            angle = math.atan2(twists[n, t, 0], twists[n, t, 1])
            rotation = quat.mul(quat.from_axis_angle(along, angle), load4(base[n, t]))
            store4(upper[n, t], quat.mul(rotation, rest))
            store4(lower[n, t], _pointed(rotation, straight, load3(bones[n, t, 1])))


@batch
def make_local(world, known, parents, out):
    """Make rotations of joints, (T, J, 4), relative to their parents, out (T, J, 4). Those not known, (J,), are 0: they
    follow their parents. world is completed.
    """
    for t in range(world.shape[0]):
        for j in range(world.shape[1]):
            parent = parents[j]
            if known[j] == 0:
                store4(world[t, j], load4(world[t, parent]))
            q = load4(world[t, j])
            store4(out[t, j], q if parent < 0 else quat.mul(quat.conj(load4(world[t, parent])), q))


def limb_records(straight: Any, axes: Any, rests: Any, feet: Any) -> Any:
    """Make records of limbs. All (L, n)."""
    limbs = LIMB.zeros(len(straight), np.float64)
    limbs.straight, limbs.axis, limbs.rest, limbs.foot = straight, axes, rests, feet
    return kernel_views(limbs)[0]
