"""The pelvis over its feet: its height, its lean, and how far its legs reach.

`Feet` and `Locomotion` share this module. A pelvis follows the ground under its feet on a critically damped spring. It
is never higher than a planted leg reaches; that height is solved for exactly. With four legs or more the body also
leans with the slope under its feet.

The kernels take one character: its `PELVIS` record, one `FOOT_TARGET` record per leg, and the rows of its world
matrices, (J, 12).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.constants import AT_REST
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING, limit_slope

CLOSEST_FOLD = 0.55
"""Share of the distance from hip to ankle in the clip, or at rest, that a swinging leg is folded to at most."""

FOLDED = 0.25
"""Share of its length below which a leg counts as folded: it is not folded any more than the clip does."""

OVERSTRETCH = 0.02
"""Leg lengths beyond its reach at which a planted foot is released."""

HIGHEST_ANKLE = 0.8
"""Share of its reach above the hip up to which an ankle out of reach keeps its height."""

LEAN_DAMPING = 0.1
"""Keeps a body level across a row of feet, which says nothing of the slope across it. A share of the leg length
squared, beside the spread of the feet."""

SWING_SLACK = 0.3
"""Leg lengths by which the pelvis may leave a swinging foot out of reach: it need not be down yet."""

FASTEST_PELVIS = 6.0
"""Leg lengths a second that a pelvis moves at most."""

HARDEST_PELVIS = 120.0
"""Leg lengths per second squared that a pelvis is accelerated with at most, but where a planted leg would be torn
off."""

LEG = Record(
    thigh=np.int64,  # the joint it starts with
    knee=np.int64,  # the joint it bends at
    ankle=np.int64,  # its last joint
    length=REAL,  # metres
)

PELVIS_SETTINGS = Record(
    half_life=REAL,  # of the spring, seconds
    lean=REAL,  # share of the slope that the body takes on
    stretch=REAL,  # share of its length that a leg may be stretched to
    cos_slope=REAL,  # cosine of the steepest lean
)

PELVIS = Record(
    fresh=bool,  # nothing from the last frame counts
    moving=bool,  # anything changed in this frame
    height=REAL,  # metres of the spring above where the pose has the hips
    speed=REAL,  # metres a second of the spring
    normal=(REAL, 3),  # of the ground that the body leans with
    shift=REAL,  # metres that the hips were moved along up, after the stage's weight
    move=(REAL, 3),  # the same as a world-space vector
    translation=(REAL, 3),  # to be added to the hips' local transform, in their parent's space
    rotation=(REAL, 4),  # to be applied to it, in their parent's space
)
"""The state of one pelvis."""

FOOT_TARGET = Record(
    contact=np.int8,  # SWINGING, PLANTED, RELEASED, or a state of the stage's own
    ball=(REAL, 3),  # where the ball of the foot is, world space
    ground=REAL,  # metres above the character's floor of the ground that it stands on, or is going to land on
    swing=REAL,  # 0 on the ground to 1 in the air
    low=REAL,  # 1 near the ground, to which the leg may fold up, 0 high in the air
    ankle=(REAL, 3),  # where the ankle is to be, world space
    rotation=(REAL, 4),  # of the ankle, world space
    short=REAL,  # metres that this is short of where it was asked to be, because the leg does not reach
)
"""What a foot asks of its leg and of the pelvis in a frame."""


class Hips(NamedTuple):
    """The hips of one character in this frame: position and up in world space, the matrix of what they hang from (four
    columns), and how much of the stage is applied.
    """

    position: Any
    up: Any
    above: Any
    weight: Any


class PelvisMotion(NamedTuple):
    """Where a pelvis goes: metres above where the pose has it, metres a second, and its rotation in world space."""

    height: Any
    speed: Any
    rotation: Any


class GroundSlope(NamedTuple):
    """The plane through the ground under all feet: the mean position of the feet across up, the mean height, and how
    the ground rises, as a vector across up.
    """

    middle: Any
    height: Any
    rise: Any


class LegReach(NamedTuple):
    """Where a leg starts, world space, and how far from there, and how near, its ankle may be, metres."""

    start: Any
    reach: Any
    nearest: Any


@kernel
def hips_of(world, transform, hips, parent, up, weight):
    """The hips of one character. parent: the joint above them, -1 for none. world: (J, 12). transform: (12,)."""
    above = load_matrix(world[parent]) if parent >= 0 else load_matrix(transform)
    return Hips(load_origin(world[hips]), up, above, weight)


# --- lean ------------------------------------------------------------------------------------------------------


@kernel
def slope_under(settings, legs, feet, up):
    """Fit a plane to the ground under all feet, or where they are going to land, by least squares."""
    zero, one = like(settings.lean, 0.0), like(settings.lean, 1.0)
    middle, height = (zero, zero, zero), zero
    for leg in range(legs.size):
        middle = vec.add(middle, load3(feet[leg].ball))
        height += feet[leg].ground
    middle, height = vec.scale(middle, one / like(zero, legs.size)), height / like(zero, legs.size)
    if settings.lean <= zero:
        return GroundSlope(middle, height, (zero, zero, zero))
    e1 = vec.unit_side(up)
    e2 = vec.cross(up, e1)
    xx = yy = legs[0].length * legs[0].length * like(zero, LEAN_DAMPING)
    xy = xh = yh = zero
    for leg in range(legs.size):
        way = vec.sub(load3(feet[leg].ball), middle)
        x, y, h = vec.dot(way, e1), vec.dot(way, e2), feet[leg].ground - height
        xx, yy, xy = xx + x * x, yy + y * y, xy + x * y
        xh, yh = xh + x * h, yh + y * h
    determinant = xx * yy - xy * xy
    rise = vec.add(vec.scale(e1, yy * xh - xy * yh), vec.scale(e2, xx * yh - xy * xh))
    return GroundSlope(middle, height, vec.scale(rise, settings.lean / determinant))


@kernel
def step_lean(settings, pelvis, rise, up, dt):
    """Ease the body's lean to the slope under its feet. Returns its rotation in world space."""
    goal = limit_slope(vec.unit_or(vec.sub(up, rise), up), up, settings.cos_slope)
    before = vec.unit_or(load3(pelvis.normal), goal)
    normal = vec.add(goal, vec.scale(vec.sub(before, goal), spring.decay(settings.half_life, dt)))
    arrived = pelvis.fresh | (vec.span(vec.sub(normal, goal)) < like(dt, AT_REST))
    normal = vec.select(arrived, goal, vec.unit_or(normal, up))
    pelvis.moving |= vec.span(vec.sub(normal, load3(pelvis.normal))) > like(dt, 0.0)
    store3(pelvis.normal, normal)
    return quat.between(up, normal, vec.hinge_of(up))


# --- height ----------------------------------------------------------------------------------------------------


@kernel
def highest_hip(hip, ankle, up, reach):
    """How far a hip can be moved along up until the leg to the ankle is stretched to its reach. Where no height would
    do, level with the ankle is as near as it gets.
    """
    zero = like(reach, 0.0)
    way = vec.sub(hip, ankle)
    along = vec.dot(way, up)
    square = along * along - vec.dot(way, way) + reach * reach
    return -along + (math.sqrt(square) if square > zero else zero)


@kernel
def spring_height(settings, pelvis, goal, length, dt):
    """The pelvis dt on, drawn to its height: metres and metres a second. length: of a leg, metres."""
    zero = like(dt, 0.0)
    if pelvis.fresh:
        return goal, zero
    x, v = spring.critical(pelvis.height, pelvis.speed, goal, settings.half_life, dt)
    near = length * like(dt, AT_REST)
    return (goal, zero) if (abs(x - goal) < near) & (abs(v) < near) else (x, v)


@kernel
def leg_reach(settings, leg, world, hips, rotation):
    """Where a leg starts once the body has leaned, and how far it reaches: to its largest stretch, or as far as the
    clip stretches it, if that is more. It bends at the knee alone: a hock stays as bent as it is.
    """
    start, knee, ankle = load_origin(world[leg.thigh]), load_origin(world[leg.knee]), load_origin(world[leg.ankle])
    straight = vec.length(vec.sub(knee, start)) + vec.length(vec.sub(ankle, knee))
    posed = vec.length(vec.sub(ankle, start))
    reach = max(posed, settings.stretch * straight)
    nearest = max(posed * like(posed, CLOSEST_FOLD), min(posed, leg.length * like(posed, FOLDED)))
    return LegReach(vec.add(hips.position, quat.rotate(rotation, vec.sub(start, hips.position))), reach, nearest)


@kernel
def shorten_targets(settings, legs, feet, world, hips, motion):
    """Let a foot out of reach hang short of its target, and release a planted one that is too far away. Keep a swinging
    foot away from where its leg starts: a leg that folds up completely bends anywhere.
    """
    shift = vec.scale(hips.up, motion.height)
    for n in range(legs.size):
        foot, leg = feet[n], leg_reach(settings, legs[n], world, hips, motion.rotation)
        start = vec.add(leg.start, shift)
        way = vec.sub(load3(foot.ankle), start)
        distance = vec.length(way)
        too_far = distance > leg.reach + legs[n].length * like(distance, OVERSTRETCH)
        if too_far & (foot.contact == PLANTED):
            foot.contact = RELEASED
        foot.short = max(distance - leg.reach, like(distance, 0.0))
        # Less of that near the ground: it would be pushed into it, and out again when it lands.
        nearest = leg.nearest * (like(distance, 1.0) - foot.low) if foot.contact == SWINGING else like(distance, 0.0)
        out = vec.unit_or(way, vec.scale(hips.up, like(distance, -1.0)))
        high = min(vec.dot(way, hips.up), leg.reach * like(distance, HIGHEST_ANKLE))
        if (distance > leg.reach) & (foot.contact != PLANTED) & (high > like(distance, 0.0)):
            # Above its hip, on the way up a high step: it stays at its height, over the step's edge.
            across = vec.unit_or(vec.reject(way, hips.up), out)
            aside = vec.scale(across, math.sqrt(leg.reach * leg.reach - high * high))
            store3(foot.ankle, vec.add(start, vec.add(aside, vec.scale(hips.up, high))))
        elif (distance > leg.reach) | (distance < nearest):
            store3(foot.ankle, vec.add(start, vec.scale(out, min(max(distance, nearest), leg.reach))))


@kernel
def carry_hips(settings, legs, pelvis, feet, world, hips, motion):
    """Move the pelvis: store its new state, and what is to be done to the hips' local transform. Feet that are then out
    of reach hang short of their targets.
    """
    pelvis.moving |= (motion.height != pelvis.height) | (motion.speed != pelvis.speed)
    pelvis.height, pelvis.speed = motion.height, motion.speed
    shorten_targets(settings, legs, feet, world, hips, motion)
    pelvis.shift = motion.height * hips.weight
    move = vec.scale(hips.up, pelvis.shift)
    store3(pelvis.move, move)
    store3(pelvis.translation, xform.linear(xform.inverse(hips.above), move))
    frame = xform.axes(hips.above)
    turn = motion.rotation
    axis = vec.scale(xform.into(frame, (turn[0], turn[1], turn[2])), xform.handedness(frame))
    store4(pelvis.rotation, (axis[0], axis[1], axis[2], turn[3]))


@routine
def step_pelvis(settings, legs, pelvis, feet, world, hips, dt):
    """Step the pelvis of a character that follows a clip: on its spring to the height of the ground under its feet, but
    no higher than its planted legs reach, and no faster than a pelvis moves.
    """
    zero, one = like(dt, 0.0), like(dt, 1.0)
    length = legs[0].length
    slope = slope_under(settings, legs, feet, hips.up)
    goal, rotation = slope.height, (zero, zero, zero, one)
    if settings.lean > zero:
        goal += vec.dot(slope.rise, vec.sub(hips.position, slope.middle))
        rotation = quat.part(step_lean(settings, pelvis, slope.rise, hips.up, dt), hips.weight)
    top = goal + length
    for n in range(legs.size):
        leg = leg_reach(settings, legs[n], world, hips, rotation)
        slack = feet[n].swing * legs[n].length * like(dt, SWING_SLACK)
        top = min(top, highest_hip(leg.start, load3(feet[n].ankle), hips.up, leg.reach) + slack)
    x, v = spring_height(settings, pelvis, min(goal, top), length, dt)
    if not pelvis.fresh:
        most, change = length * like(dt, FASTEST_PELVIS), length * like(dt, HARDEST_PELVIS) * dt
        bounded = min(max(v, max(-most, pelvis.speed - change)), min(most, pelvis.speed + change))
        if bounded != v:
            x, v = pelvis.height + (pelvis.speed + bounded) * like(dt, 0.5) * dt, bounded
        if x > top:
            # Held down by this leg: once it lets go the pelvis rises on its spring, from where it is.
            x, v = max(top, pelvis.height - most * dt), min(v, zero)
    carry_hips(settings, legs, pelvis, feet, world, hips, PelvisMotion(x, v, rotation))


@kernel
def transform_hips(hips, pelvis, leans, t, r):
    """Apply the translation and, where bodies lean, the rotation of a pelvis to the hips' local transform.

    t, r: (J, 3), (J, 4), of one character.
    """
    store3(t[hips], vec.add(load3(t[hips]), load3(pelvis.translation)))
    if leans:
        store4(r[hips], quat.unit(quat.mul(load4(pelvis.rotation), load4(r[hips]))))


@batch
def apply_to_hips(rows, hips, pelvises, leans, t, r):
    """Apply these characters' pelvises to their hips."""
    for k in range(rows.size):
        i = rows[k]
        transform_hips(hips, pelvises[i], leans, t[i], r[i])
