"""Root motion: the path of a clip's root over the ground, taken out of the pose to move the character instead.

A place on the ground is `(offset, yaw)`: a vector at right angles to up, metres, and a turn about up, radians. As a
motion it turns first, then moves; places compose like transforms.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch, kernel, like
from kinema.math import arrays, quat, vec, xform
from kinema.math.rows import load3, load4, store4
from kinema.skeleton import Skeleton


class RootMotion(NamedTuple):
    """How far a root gets between two moments, seen from where it was and the way it faced. ... is the batch."""

    offset: Any
    """(..., 3): along the ground, metres."""
    yaw: Any
    """(...): turn about up, -pi to pi."""


# --- places ----------------------------------------------------------------------------------------------------


@kernel
def wrapped(angle):
    """The same angle within half a turn of 0."""
    whole = like(angle, 2.0 * math.pi)
    return angle - whole * math.floor(angle / whole + like(angle, 0.5))


@kernel
def then(a, b, up):
    """Place b, seen from place a."""
    return (vec.add(a[0], quat.rotate(quat.from_axis_angle(up, a[1]), b[0])), wrapped(a[1] + b[1]))


@kernel
def back(a, up):
    """The way back: what it is followed by stands where a started."""
    return (vec.scale(quat.rotate(quat.from_axis_angle(up, -a[1]), a[0]), like(a[1], -1.0)), -a[1])


@kernel
def repeated(a, count, up):
    """A place reached by going the same way again and again, backwards for a negative count.

    The offsets are a geometric sum of turns: count terms of it are sin(count yaw/2) / sin(yaw/2) long, and point half
    way between the first and the last.
    """
    zero = like(a[1], 0.0)
    half = a[1] * like(a[1], 0.5)
    sine = math.sin(half)
    size = math.sin(count * half) / sine if sine != zero else count
    turn = quat.from_axis_angle(up, (count - like(a[1], 1.0)) * half)
    return (vec.scale(quat.rotate(turn, a[0]), size), wrapped(count * a[1]))


@kernel
def place_at(places, i):
    return ((places[i, 0], places[i, 1], places[i, 2]), places[i, 3])


@batch
def travels(before, after, passes, ends, up, out):
    """From place to place, (n, 4) each, with whole passes of a loop in between. ends: where a pass starts and ends."""
    axis = load3(up)
    start, end = place_at(ends, 0), place_at(ends, 1)
    one_pass = then(back(start, axis), end, axis)
    for i in range(out.shape[0]):
        way = back(place_at(before, i), axis)
        if passes[i] != 0:
            loops = repeated(one_pass, like(up[0], passes[i]), axis)
            way = then(then(then(way, start, axis), loops, axis), back(start, axis), axis)
        offset, yaw = then(way, place_at(after, i), axis)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = offset[0], offset[1], offset[2], yaw


# --- poses -----------------------------------------------------------------------------------------------------


@batch
def root_places(rows, joint, parents, rest, up, t, r, s, out):
    """Where a joint stands on the ground, relative to rest, for these rows of t, r, s; (rows, 4).

    rest: (7,), its translation and rotation in the character's space at rest.
    """
    axis = load3(up)
    rest_at, rest_turn = (rest[0], rest[1], rest[2]), (rest[3], rest[4], rest[5], rest[6])
    for n in range(rows.size):
        i, j = rows[n], parents[joint]
        at, turn = load3(t[i, joint]), load4(r[i, joint])
        while j >= 0:
            at = xform.point((load3(t[i, j]), load4(r[i, j]), load3(s[i, j])), at)
            turn = quat.mul(load4(r[i, j]), turn)
            j = parents[j]
        away = quat.mul(turn, quat.conj(rest_turn))
        # The part of a turn about an axis has the same ratio of axis to w as the turn itself.
        yaw = wrapped(like(up[0], 2.0) * math.atan2(vec.dot((away[0], away[1], away[2]), axis), away[3]))
        stays = quat.rotate(quat.from_axis_angle(axis, yaw), vec.reject(rest_at, axis))
        offset = vec.sub(vec.reject(at, axis), stays)
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = offset[0], offset[1], offset[2], yaw


@batch
def take_out(rows, joint, parents, up, places, t, r, s):
    """Put a joint of these rows back by its place: nothing else of its pose changes. places: (rows, 4)."""
    axis = load3(up)
    one, zero = like(up[0], 1.0), like(up[0], 0.0)
    for n in range(rows.size):
        i, j = rows[n], parents[joint]
        offset, yaw = back(place_at(places, n), axis)
        # What happens in the character's space, seen from below each ancestor in turn, the highest first.
        turn = quat.from_axis_angle(axis, yaw)
        above_at, above_turn, above_scale = (zero, zero, zero), (zero, zero, zero, one), (one, one, one)
        at = load3(t[i, joint])
        while j >= 0:
            step = (load3(t[i, j]), load4(r[i, j]), load3(s[i, j]))
            above_at = xform.point(step, above_at)
            above_turn = quat.mul(step[1], above_turn)
            above_scale = (above_scale[0] * step[2][0], above_scale[1] * step[2][1], above_scale[2] * step[2][2])
            j = parents[j]
        at = xform.point((above_at, above_turn, above_scale), at)
        at = vec.sub(vec.add(quat.rotate(turn, at), offset), above_at)
        at = quat.rotate(quat.conj(above_turn), at)
        new = quat.mul(quat.conj(above_turn), quat.mul(turn, quat.mul(above_turn, load4(r[i, joint]))))
        new = quat.unit(new)
        for c in range(3):
            t[i, joint, c] = at[c] / above_scale[c] if above_scale[c] != zero else zero
        store4(r[i, joint], new)


class Root:
    """The joint whose way over the ground counts. up: at right angles to the ground."""

    def __init__(self, skeleton: Skeleton, joint: int, up: Any) -> None:
        self._skeleton = skeleton
        self._joint = joint
        self._up = np.array(validation.axis("up", up))
        turn = np.array((0.0, 0.0, 0.0, 1.0))
        for j in skeleton.above([joint]):
            turn = arrays.mul(turn, skeleton.rest.rotations[j])
        self._rest = np.concatenate((skeleton.rest_world[joint, :3, 3], arrays.unit(turn)))

    def places_of(self, rows: Any, t: Any, r: Any, s: Any) -> Any:
        """(rows, 4): where the root stands in some rows of t, r, s, (N, J, 3|4|3)."""
        dtype = t.dtype
        out = np.empty((rows.size, 4), dtype)
        rest, up = self._rest.astype(dtype), self._up.astype(dtype)
        root_places(rows, self._joint, self._skeleton.parents, rest, up, t, r, s, out)
        return out

    def travels(self, before: Any, after: Any, passes: Any, ends: Any) -> Any:
        """(n, 4): from place to place, with whole passes of a loop from one end to the other in between."""
        out = np.empty_like(before)
        travels(before, after, passes, ends, self._up.astype(before.dtype), out)
        return out

    def take_out(self, rows: Any, places: Any, t: Any, r: Any, s: Any) -> None:
        """Put the root of some rows back by its places, (rows, 4)."""
        take_out(rows, self._joint, self._skeleton.parents, self._up.astype(t.dtype), places, t, r, s)
