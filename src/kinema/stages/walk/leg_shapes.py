"""How far the joints of a leg rotate as its ankle moves, whatever the number of its bones.

A table has the shapes of a leg by the distance from its hip to its ankle, as `leg_solver` and `leg_fold` bend it: one
knee, or all joints in one proportion. The thigh then aims the ankle at its target, by the smallest rotation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.math import arrays, quat, vec
from kinema.math.rows import load3, load4

SHAPES = 24
"""Rows of the table."""

FOLDS = 400
"""Shapes of a leg, from straight to folded up, that the table is made from."""

LARGEST_BEND = 3.0
"""Radians of the joint that bends most, in a leg that is folded up."""

STRAIGHT = 1e-3
"""Share of its length that a leg is shorter than straight, below which it says nothing of the way it bends."""

LEG_SHAPE = Record(
    way=(REAL, 3),  # from hip to ankle, unit
    last=(REAL, 4),  # rotation of the last bone from how it stands
    bent=REAL,  # radians that the joints between rotate from a straight leg on; of the fastest one, summed over the way
)
"""A leg at some distance from hip to ankle, with its thigh as it stands, in the character's own space."""

LEG_SHAPES = Record(
    longest=REAL,  # metres from hip to ankle that the table covers
    shortest=REAL,  # metres
    shapes=(
        LEG_SHAPE,
        SHAPES,
    ),  # between them, at the distances of a cosine: a straight leg rotates fastest
)


# --- the table --------------------------------------------------------------------------------------------------------


def fill_shapes(record: Any, joints: Any) -> None:
    """Fill the table of a leg. joints: (n, 3), the positions of its joints as the character stands."""
    distances, way, last, bent = _folds(np.diff(_bent(np.asarray(joints, np.float64)), axis=0))
    count = int(distances.argmin()) + 1
    record.longest, record.shortest = distances[0], distances[count - 1]
    cosine = np.cos(np.linspace(0.0, math.pi, SHAPES))
    wanted = record.shortest + (record.longest - record.shortest) * (cosine + 1.0) / 2.0
    rows = np.column_stack((way, last, bent))[:count]
    table = np.column_stack([np.interp(-wanted, -distances[:count], column) for column in rows.T])
    shapes = record.shapes
    shapes["way"], shapes["last"], shapes["bent"] = arrays.unit(table[:, :3]), arrays.unit(table[:, 3:7]), table[:, 7]


def _bent(joints: Any) -> Any:
    """The joints of a leg, bent a little in its middle if it stands straight."""
    way, along = joints[-1] - joints[0], np.linalg.norm(np.diff(joints, axis=0), axis=-1).cumsum()
    if np.linalg.norm(way) < (1.0 - STRAIGHT) * along[-1] or len(joints) < 3:
        return joints
    bent = joints.copy()
    aside = np.cross(way, np.eye(3)[np.abs(way).argmin()])
    bent[1 + np.abs(along[:-1] - along[-1] / 2.0).argmin()] += aside * STRAIGHT
    return bent


def _folds(bones: Any) -> tuple[Any, Any, Any, Any]:
    """Fold a leg in FOLDS steps, from straight to folded up. bones: (n, 3).

    Returns the distances from hip to ankle, (F,), and what LEG_SHAPE has: (F, 3), (F, 4), (F,).
    """
    lengths = np.linalg.norm(bones, axis=-1)
    ways = arrays.unit(bones)
    axes = np.cross(ways[:-1], ways[1:])
    rest = np.arctan2(np.linalg.norm(axes, axis=-1), (ways[:-1] * ways[1:]).sum(axis=-1))
    axes = arrays.unit(axes)
    # Tangents of half of all bends change in one proportion: see `leg_fold`.
    half = np.tan(np.minimum(rest, LARGEST_BEND) / 2.0)
    largest = half.max(initial=0.0)
    shares = np.tan(np.linspace(0.0, LARGEST_BEND, FOLDS) / 2.0) / (largest if largest > 0.0 else 1.0)
    bends = 2.0 * np.arctan(half * shares[:, np.newaxis])
    last, line = np.tile((0.0, 0.0, 0.0, 1.0), (FOLDS, 1)), np.tile(bones[0], (FOLDS, 1))
    for k in range(len(rest)):
        last = arrays.mul(last, arrays.from_axis_angle(axes[k], bends[:, k] - rest[k]))
        line = line + arrays.rotate(last, ways[k + 1]) * lengths[k + 1]
    steps = np.abs(np.diff(bends, axis=0)).max(axis=-1, initial=0.0)
    return np.linalg.norm(line, axis=-1), arrays.unit(line), last, np.concatenate(([0.0], np.cumsum(steps)))


@kernel
def part(a, b, share):
    """A number between two."""
    return a + (b - a) * share


@routine
def posed_leg(leg, way):
    """The rotations of the first and of the last bone of a leg from how it stands, and how far it is bent.

    leg: LEG_SHAPES. way: from hip to ankle, in the character's own space.
    """
    zero, one, distance = like(way[0], 0.0), like(way[0], 1.0), vec.length(way)
    room = leg.longest - leg.shortest
    cosine = (distance - leg.shortest) * like(zero, 2.0) / room - one if room > zero else one
    place = math.acos(min(max(cosine, -one), one)) * like(zero, (SHAPES - 1) / math.pi)
    k = min(int(place), SHAPES - 2)
    low, high, share = leg.shapes[k], leg.shapes[k + 1], place - like(zero, k)
    a, b, p, q = load3(low.way), load3(high.way), load4(low.last), load4(high.last)
    stands = vec.unit_or(vec.add(a, vec.scale(vec.sub(b, a), share)), a)
    last = (part(p[0], q[0], share), part(p[1], q[1], share), part(p[2], q[2], share), part(p[3], q[3], share))
    first = quat.between(stands, vec.unit_or(way, stands), vec.hinge_of(stands))
    return first, quat.mul(first, quat.unit(last)), part(low.bent, high.bent, share)


@kernel
def angle_between(a, b):
    """The angle between two rotations."""
    return vec.length(quat.to_vector(quat.mul(quat.conj(a), b)))


@routine
def leg_rotation(leg, before, after, turned):
    """The largest angle by which a joint of a leg rotates as its ankle moves.

    leg: LEG_SHAPES. before, after: from hip to ankle, in the character's own space. turned: angle by which the foot
    rotates.
    """
    was_first, was_last, was_bent = posed_leg(leg, before)
    first, last, bent = posed_leg(leg, after)
    return max(abs(bent - was_bent), max(angle_between(was_first, first), angle_between(was_last, last) + turned))
