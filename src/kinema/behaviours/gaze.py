"""What looking and aiming share: points to look at, and directions in the character's axes as a joint carries them.

A frame is three unit vectors in world space: the character's left, up and forward as some joint carries them. In its
coordinates x is left, y is up and z is ahead; yaw turns to the left, pitch turns up, both radians from straight ahead.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import kernel, like, routine
from kinema.behaviours.stage import Crowd, FrameContext
from kinema.constants import SETTLED, THREADS_FROM_POSES, TINY
from kinema.errors import InputError
from kinema.math import spring, vec, xform
from kinema.rig import Rig
from kinema.skeleton import Joint, matrix_at

# --- frames ----------------------------------------------------------------------------------------------------


@kernel
def vector_at(table, i):
    """A vector out of (N, 3)."""
    return (table[i, 0], table[i, 1], table[i, 2])


@kernel
def quat_at(table, i):
    """A quaternion out of (N, 4)."""
    return (table[i, 0], table[i, 1], table[i, 2], table[i, 3])


@kernel
def put(table, i, values):
    """A vector or a quaternion into a row of a table."""
    for c in range(len(values)):
        table[i, c] = values[c]


@kernel
def turn_at(table, i, j):
    """A quaternion out of (characters, joints, 4)."""
    return (table[i, j, 0], table[i, j, 1], table[i, j, 2], table[i, j, 3])


@kernel
def store_turn(table, i, j, turn):
    for c in range(4):
        table[i, j, c] = turn[c]


@kernel
def matrix_of(world, place, i, joint):
    """World matrix of a joint; for -1, what stands above a root, the place of the character."""
    return matrix_at(place, i, 0) if joint < 0 else matrix_at(world, i, joint)


@routine
def frame_of(m, own):
    """The character's axes as a joint with this matrix carries them; own: what they are in its own space."""
    one = like(m[0][0], 1.0)
    zero = like(m[0][0], 0.0)
    ahead = vec.unit_or(xform.linear(m, own[2]), (zero, zero, one))
    up = vec.unit_or(vec.reject(xform.linear(m, own[1]), ahead), vec.unit_side(ahead))
    left = vec.cross(up, ahead)
    mirrored = vec.dot(left, xform.linear(m, own[0])) < zero
    return vec.scale(left, -one if mirrored else one), up, ahead


@routine
def in_parent(frame, parent, turn):
    """A turn given in a frame's coordinates, in those of a joint's parent: new local rotation = this * old."""
    axes = xform.axes(parent)
    side = xform.handedness(frame) * xform.handedness(axes)
    axis = xform.into(axes, xform.linear(frame, (turn[0], turn[1], turn[2])))
    return (axis[0] * side, axis[1] * side, axis[2] * side, turn[3])


@kernel
def under_scale(turn, s, i, joint):
    """A turn in a joint's own space, brought out of its scale: what a mirrored one makes of it."""
    one = like(turn[0], 1.0)
    x = one if s[i, joint, 0] >= 0 else -one
    y = one if s[i, joint, 1] >= 0 else -one
    z = one if s[i, joint, 2] >= 0 else -one
    return (turn[0] * y * z, turn[1] * z * x, turn[2] * x * y, turn[3])


# --- angles ----------------------------------------------------------------------------------------------------


@kernel
def to_unit(v):
    """v at length 1 whatever its size, zero where it has none."""
    zero = like(v[0], 0.0)
    size = vec.span(v)
    known = size > zero
    return vec.unit_or(vec.scale(v, like(v[0], 1.0) / (size if known else like(v[0], 1.0))), (zero, zero, zero))


@kernel
def angles(direction):
    """Yaw and pitch of a direction; 0, 0 for none at all."""
    flat = math.sqrt(direction[0] * direction[0] + direction[2] * direction[2])
    return math.atan2(direction[0], direction[2]), math.atan2(direction[1], flat)


@kernel
def direction(yaw, pitch):
    """The unit vector with this yaw and pitch."""
    flat = math.cos(pitch)
    return (math.sin(yaw) * flat, math.sin(pitch), math.cos(yaw) * flat)


@kernel
def disc(v):
    """A direction as two angles, to the left and up, whose length is the angle from straight ahead.

    Straight behind has no side: it counts as straight ahead.
    """
    zero = like(v[0], 0.0)
    aside = math.sqrt(v[0] * v[0] + v[1] * v[1])
    per = math.atan2(aside, v[2]) / aside if aside > like(aside, TINY) else zero
    return (v[0] * per, v[1] * per)


@kernel
def from_disc(a):
    """The unit vector of two such angles."""
    one = like(a[0], 1.0)
    angle = math.sqrt(a[0] * a[0] + a[1] * a[1])
    per = math.sin(angle) / angle if angle > like(angle, TINY) else one
    return (a[0] * per, a[1] * per, math.cos(angle))


@kernel
def angle_between(a, b):
    """The angle between two vectors; 0 where one of them has no direction."""
    return math.atan2(vec.length(vec.cross(a, b)), vec.dot(a, b))


# --- springs ---------------------------------------------------------------------------------------------------


@kernel
def eased(x, velocity, goal, half_life, dt):
    """A critically damped spring that ends: within rounding of its goal it is there, and still."""
    x, velocity = spring.critical(x, velocity, goal, half_life, dt)
    near = like(x, SETTLED)
    there = (abs(x - goal) <= near) & (abs(velocity) * half_life <= near)
    return (goal if there else x), (like(x, 0.0) if there else velocity)


# --- where to look ---------------------------------------------------------------------------------------------


class Points(NamedTuple):
    """Points of interest as arrays over the characters, and those of the frame before.

    at: (N, 3), world space. held: (N,), whether there is one. last, was_held: the same as the stage last saw them.
    """

    at: Any
    held: Any
    last: Any
    was_held: Any


class Targets:
    """A point of interest for every character, or none."""

    def __init__(self, body: Crowd) -> None:
        self._body = body
        self.fresh = body.zeros(dtype=bool)
        self.points = Points(body.zeros(3), body.zeros(dtype=bool), body.zeros(3), body.zeros(dtype=bool))

    def set(self, point: Any, rows: Any = None) -> None:
        """point: (3,) for all of these rows, or one for each, (rows, 3); world space. rows: indices or a mask."""
        chosen = self._chosen(rows)
        array = validation.vectors("point", point, 3, self._body.precision)
        if array.shape not in ((3,), (chosen.size, 3)):
            raise InputError(f"point must have shape (3,) or ({chosen.size}, 3), got {array.shape}")
        new = ~self.points.held[chosen] | (self.points.at[chosen] != array).any(axis=-1)
        self.fresh[chosen] |= new
        self.points.at[chosen] = array
        self.points.held[chosen] = True

    def clear(self, rows: Any = None) -> None:
        chosen = self._chosen(rows)
        self.fresh[chosen] |= self.points.held[chosen]
        self.points.held[chosen] = False

    def seen(self, rows: Any) -> None:
        """These rows have taken notice: what is set is no longer news."""
        self.points.last[rows] = self.points.at[rows]
        self.points.was_held[rows] = self.points.held[rows]
        self.fresh[rows] = False

    def _chosen(self, rows: Any) -> Any:
        """Indices of characters, from indices, a mask or None for all."""
        count = self._body.count
        if rows is None:
            return np.arange(count)
        array = np.atleast_1d(np.asarray(rows))
        if array.dtype == bool and array.shape == (count,):
            return np.flatnonzero(array)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise InputError(f"rows must be indices of characters or a mask of {count}, got {rows!r:.60}")
        wrong = (array < 0) | (array >= count)
        if wrong.any():
            place, at = validation.first("rows", wrong)
            raise InputError(f"{place} is {array[at]}; characters go from 0 to {count - 1}")
        return array.astype(np.int64)


def over_rows(context: FrameContext, loop: Any, *arguments: Any) -> int:
    """Run a batch loop over the rows of a frame, in threads where they are many. Returns the sum of what it returns."""

    def part(first: int, last: int) -> int:
        return loop(context.rows[first:last], *arguments) or 0

    return sum(validation.in_chunks(part, context.rows.size, THREADS_FROM_POSES, 1))


# --- what a rig says, once -------------------------------------------------------------------------------------


def own_direction(rig: Rig, joint: Joint, way: Any) -> Any:
    """(3,): a direction of the character at rest, in a joint's own space; -1 is the character itself."""
    if joint == -1:
        return np.array(way, np.float64)
    frame = rig.standing_world[rig.skeleton.index(joint), :3, :3].astype(np.float64)
    own = np.linalg.pinv(frame) @ np.asarray(way)
    size = np.linalg.norm(own)
    return own / size if size > 0 else np.array(way, np.float64)


def own_frame(rig: Rig, joint: Joint) -> list[Any]:
    """The character's left, up and forward at rest, (3,) each, in a joint's own space."""
    up, ahead = np.array(rig.up), np.array(rig.forward)
    return [own_direction(rig, joint, way) for way in (np.cross(up, ahead), up, ahead)]


def as_tuples(vectors: Any, real: Any) -> tuple[tuple[Any, ...], ...]:
    """Vectors as kernels take them."""
    return tuple(tuple(real(x) for x in vector) for vector in vectors)
