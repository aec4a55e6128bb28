"""Fold a leg of more than two bones: an animal's, with knee, hock and fetlock.

All joints between hip and ankle bend more, or less, in one proportion: where one of them is bent by half as much again,
so are all others. Nothing depends on which joint happens to be nearly straight, no joint comes to bend the other way,
and the shape of the leg changes as smoothly as the clip and the target do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import Record
from kinema.math import quat, vec
from kinema.math.rows import load_origin
from kinema.solvers.joints import rotate_in_world, update_path

FOLD_PASSES = 16
"""Most passes. Each takes a step of Newton's method; four are usual."""

LARGEST_FOLD = 0.3
"""Share by which the tangents of half of all bends grow or shrink at most in a pass: farther away the distance is not
linear in it."""

FOLD_EXACT = 2e-6
"""Leg lengths that the ankle may be off its distance."""

FOLD_STRAIGHT = 0.001
"""Leg lengths that the ankle comes nearer if all bends are doubled, below which a leg is straight: there is no bend to
fold by. In a leg that is folded up, as when an animal lies, the ankle goes away instead."""

LEG_JOINT = Record(
    joint=np.int64,
    parent=np.int64,  # -1 for none
    bends=bool,  # whether it is a joint of the leg between hip and ankle, not a helper between two of them
    above=np.int64,  # the joint of the leg before it
    below=np.int64,  # the joint of the leg after it
)
"""A joint on the way from thigh to toe."""


class Bend(NamedTuple):
    """How a joint is bent: the axis, as long as the sine of the bend, and the cosine."""

    axis: Any
    cosine: Any


@kernel
def bend_of(on_path, pose):
    """How a joint of a leg is bent."""
    zero = like(pose.weight, 0.0)
    joint, none = load_origin(pose.world[on_path.joint]), (zero, zero, zero)
    upper = vec.unit_or(vec.sub(joint, load_origin(pose.world[on_path.above])), none)
    lower = vec.unit_or(vec.sub(load_origin(pose.world[on_path.below]), joint), none)
    return Bend(vec.cross(upper, lower), vec.dot(upper, lower))


@kernel
def bend_more(bend, share):
    """The rotation that makes the tangent of half of a bend larger by a share.

    No joint ever folds up completely, or comes to bend the other way. The shape of a leg depends on its distance alone,
    not on the passes that lead to it.
    """
    one = like(share, 1.0)
    axis = vec.scale(bend.axis, share)
    w = one + bend.cosine + (one + share) * (one - bend.cosine)
    return quat.unit((axis[0], axis[1], axis[2], w))


@routine
def fold_leg(leg, path, distance, pose):
    """Bend a leg until its ankle is at a distance from its thigh, metres. Returns whether that was found.

    The world matrices from thigh to ankle are read, and are up to date afterwards.
    """
    zero, largest = like(distance, 0.0), like(distance, LARGEST_FOLD)
    for _ in range(FOLD_PASSES):
        end = load_origin(pose.world[leg.ankle])
        way = vec.sub(end, load_origin(pose.world[leg.thigh]))
        missing = distance - vec.length(way)
        if abs(missing) <= leg.length * like(distance, FOLD_EXACT):
            return True
        along, nearer = vec.unit_or(way, (zero, zero, zero)), zero
        for k in range(leg.first + 1, leg.at_ankle):
            if path[k].bends:
                below = vec.sub(end, load_origin(pose.world[path[k].joint]))
                nearer -= vec.dot(vec.cross(bend_of(path[k], pose).axis, below), along)
        if abs(nearer) <= leg.length * like(distance, FOLD_STRAIGHT):
            return False
        share = min(max(-missing / nearer, -largest), largest)
        for k in range(leg.first + 1, leg.at_ankle):
            if path[k].bends:
                rotate_in_world(pose, path[k].joint, bend_more(bend_of(path[k], pose), share))
        update_path(path, leg.first + 1, leg.at_ankle + 1, pose)
    return False


@routine
def aim_leg(leg, path, position, pose):
    """Rotate a thigh so that its ankle points to a position, by the smallest rotation."""
    start = load_origin(pose.world[leg.thigh])
    now = vec.sub(load_origin(pose.world[leg.ankle]), start)
    now = vec.unit_or(now, vec.sub(position, start))
    wanted = vec.unit_or(vec.sub(position, start), now)
    rotate_in_world(pose, leg.thigh, quat.between(now, wanted, vec.hinge_of(now)))
    update_path(path, leg.first, leg.at_ankle + 1, pose)
