"""The sole of a clip's foot: heel, ball and tip, and toes that lie on the floor.

Captured toes are noisy, and bend into the floor by several percent of a leg. A foot that is lifted out of the ground by
its toes hovers, and slides as they move. So toes near the floor are straightened first: they rotate about their own
joint, and the foot stays where it is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import kernel, like
from kinema.compile.records import REAL, Record
from kinema.math import quat, vec, xform
from kinema.math.curves import falloff
from kinema.math.rows import load3, load4, load_matrix, store4
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.solvers.joints import update_matrix

NO_TOES = -2
"""The parent of the toes of a foot that has none: its tip belongs to the ankle."""

LARGEST_TOE_BEND = 0.7
"""Radians (40 degrees) that toes are bent up at most to be out of the floor."""

TOES_HANG, TOES_VERTICAL = 1.0, 1.5
"""Radians below level up to which toes are bent all the way, and from which on not at all: they point straight down,
and the foot is about to leave the floor, or dragged."""

TOES_NOISE, TOES_CURLED = 0.15, 0.5
"""Radians that toes deviate from how they lie on the floor: less is noise and removed; more is meant and stays."""

TOES_DOWN, TOES_FREE = 0.03, 0.08
"""Leg lengths of the foot above the floor up to which noise is removed, and from which on it is not."""

TOES_SPEED = 16.0
"""Radians a second (15 degrees in 1/60 s) by which that changes at most."""

SOLE = Record(
    joints=(np.int64, 3),  # that carry heel, ball and tip; the heel's is the ankle
    points=(REAL, (3, 3)),  # heel, ball and tip in their spaces
    toes_parent=np.int64,  # parent of the joint that carries the tip, or NO_TOES
    toes_axis=(REAL, 3),  # what that joint bends the tip up about, in its own space, unit
    length=REAL,  # of the leg, metres
    heel=REAL,  # metres from the ball back to it
    tip=REAL,  # metres from the ball ahead to it
    spacing=REAL,  # metres from ray to ray of the profile along a foot
)
"""A foot as it is built."""


class SolePoints(NamedTuple):
    """Heel, ball and tip of a foot, world space."""

    heel: Any
    ball: Any
    tip: Any


@kernel
def sole_point(sole, which, world):
    """Heel, ball or tip of a foot as the clip has it. world: (J, 12)."""
    return xform.apply(load_matrix(world[sole.joints[which]]), load3(sole.points[which]))


@kernel
def sole_points(sole, world):
    """Heel, ball and tip of a foot as the clip has them."""
    return SolePoints(sole_point(sole, HEEL, world), sole_point(sole, BALL, world), sole_point(sole, TIP, world))


@kernel
def straightened(toes, foot, low):
    """The pitch of toes without noise: on the floor they are level, or in line with a foot that is pitched up.

    toes, foot: pitch of both in the clip, radians above level. low: leg lengths of the foot above the floor.
    """
    off = toes - max(foot, like(toes, 0.0))
    noise = falloff(abs(off), like(off, TOES_NOISE), like(off, TOES_CURLED - TOES_NOISE))
    return toes - off * noise * falloff(low, like(low, TOES_DOWN), like(low, TOES_FREE - TOES_DOWN))


@kernel
def bend_out(toes, gap, length):
    """Radians that toes are bent up so that their tip is not in the floor.

    toes: their pitch, radians above level. gap: metres of the ball above the lowest point of the foot, or above the
    floor. length: of the toes, metres.
    """
    zero, one = like(toes, 0.0), like(toes, 1.0)
    if toes >= zero:
        return zero
    lowest = -math.asin(min(gap / length, one)) if length > zero else toes
    hangs = falloff(-toes, like(toes, TOES_HANG), like(toes, TOES_VERTICAL - TOES_HANG))
    return min(max(lowest - toes, zero), like(toes, LARGEST_TOE_BEND)) * hangs


@kernel
def straighten_toes(sole, foot, floor, pose, dt):
    """Straighten toes near the floor, in a pose that is up to date. Returns how high the lowest point of the foot was
    above the floor, metres. foot: its `toes` keep by how much, so that toes do not snap.
    """
    points, toe, up = sole_points(sole, pose.world), sole.joints[TIP], floor.up
    heel, ball = vec.dot(vec.sub(points.heel, floor.point), up), vec.dot(vec.sub(points.ball, floor.point), up)
    low = min(min(heel, ball), vec.dot(vec.sub(points.tip, floor.point), up))
    if sole.toes_parent == NO_TOES:
        return low
    matrix = xform.unmirrored(load_matrix(pose.world[toe]), pose.s[toe])
    frame, local = xform.axes(matrix), load3(sole.toes_axis)
    axis = xform.linear((frame[0], frame[1], frame[2], matrix[3]), local)
    ahead, along, back = vec.cross(up, axis), vec.sub(points.tip, points.ball), vec.sub(points.ball, points.heel)
    pitch, foot_pitch = math.atan2(vec.dot(along, up), vec.dot(along, ahead)), like(low, 0.0)
    if vec.dot(back, up) > foot_pitch:  # A foot that is pitched down counts as level.
        foot_pitch = math.atan2(vec.dot(back, up), vec.dot(back, ahead))
    straight = straightened(pitch, foot_pitch, low / sole.length)
    gap = ball - min(min(heel, ball), like(ball, 0.0))
    angle = straight + bend_out(straight, gap, vec.length(along)) - pitch
    if not foot.fresh:
        most = like(dt, TOES_SPEED) * dt
        goal = angle
        angle = min(max(angle, foot.toes.bend - most), foot.toes.bend + most)
        foot.toes.moving = angle != goal
    foot.toes.bend = angle
    angle *= pose.weight
    if angle != like(angle, 0.0):
        bend = quat.from_axis_angle(vec.scale(local, xform.handedness(frame)), angle)
        store4(pose.r[toe], quat.unit(quat.mul(load4(pose.r[toe]), bend)))
        update_matrix(pose, toe, sole.toes_parent)
    return low
