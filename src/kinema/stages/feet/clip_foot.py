"""What a clip does with a foot in a frame: where heel, ball and tip are, which one touches, and how fast they move."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like
from kinema.constants import TELEPORT
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.legs.sole import SolePoints, sole_points

FASTEST_FOOT = 20.0
"""Leg lengths a second: in a long frame a foot that is no faster was not put elsewhere."""

HEADING_FLAT = 0.7
"""Cosine of the pitch of a foot up to which it tells its heading: at toe-off it may point straight down, or back."""

CONTACT_SWITCH = 0.003
"""How much lower, in leg lengths, another point of the sole must be to take over as the one that does not slide."""


class ClipFoot(NamedTuple):
    """What the clip does with a foot in this frame.

    points: heel, ball and tip. ankle: its matrix, four columns. rotation: its rotation. ball_height, low: metres of the
    ball and of the lowest point above the floor. contact: the lowest point. speed: of that, metres a second across up.
    yaw: radians that the foot rotated about up since the last frame.
    speeds: of heel, ball and tip, metres a second.
    """

    points: Any
    ankle: Any
    rotation: Any
    ball_height: Any
    low: Any
    contact: Any
    speed: Any
    yaw: Any
    speeds: Any


@kernel
def pick(which, points):
    """One of the three points of a sole."""
    return vec.select(which == HEEL, points.heel, vec.select(which == TIP, points.tip, points.ball))


@kernel
def lowest_point(heel, ball, tip, switch):
    """Which point of the sole touches the floor, by their heights; the ball unless another one is clearly lower."""
    contact = BALL
    if heel < ball - switch:
        contact = HEEL
    if tip < min(heel, ball) - switch:
        contact = TIP
    return contact


@kernel
def steep_foot(points, up):
    """Whether a foot is pitched so far that the line from heel to ball says little of the way it points."""
    along = vec.sub(points.ball, points.heel)
    return vec.length(vec.reject(along, up)) <= vec.length(along) * like(up[0], HEADING_FLAT)


@kernel
def yaw_since(ball, heel, points, up):
    """Radians that the line from heel to ball has rotated about up. Holding it, neither of them slides."""
    before, now = vec.reject(vec.sub(ball, heel), up), vec.reject(vec.sub(points.ball, points.heel), up)
    return math.atan2(vec.dot(vec.cross(before, now), up), vec.dot(before, now))


@kernel
def twist_since(before, rotation, up):
    """Radians that an ankle has rotated about up."""
    since = quat.mul(rotation, quat.conj(before))
    sine = vec.dot((since[0], since[1], since[2]), up)
    return like(sine, 2.0) * math.atan2(sine if since[3] >= like(sine, 0.0) else -sine, abs(since[3]))


@kernel
def over_floor(point, floor):
    """A point with its height above the floor instead of its own: a floor that rises with the ground is no motion."""
    return vec.sub(point, vec.scale(floor.up, vec.dot(floor.point, floor.up)))


@kernel
def point_speeds(foot, points, floor, dt):
    """Speeds of heel, ball and tip over the floor in the clip, metres a second."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    rate = one / dt if (dt > zero) & (not foot.fresh) else zero
    return SolePoints(
        vec.length(vec.sub(over_floor(points.heel, floor), load3(foot.in_clip.sole[HEEL]))) * rate,
        vec.length(vec.sub(over_floor(points.ball, floor), load3(foot.in_clip.sole[BALL]))) * rate,
        vec.length(vec.sub(over_floor(points.tip, floor), load3(foot.in_clip.sole[TIP]))) * rate,
    )


@kernel
def read_clip_foot(sole, foot, world, floor, dt):
    """Read what the clip does with a foot. Marks it as fresh where the character was put elsewhere."""
    zero = like(dt, 0.0)
    points, up = sole_points(sole, world), floor.up
    heel = vec.dot(vec.sub(points.heel, floor.point), up)
    ball = vec.dot(vec.sub(points.ball, floor.point), up)
    tip = vec.dot(vec.sub(points.tip, floor.point), up)
    contact = lowest_point(heel, ball, tip, sole.length * like(dt, CONTACT_SWITCH))
    moved = vec.length(vec.reject(vec.sub(pick(contact, points), load3(foot.in_clip.sole[contact])), up))
    foot.fresh |= moved > sole.length * max(like(dt, TELEPORT), like(dt, FASTEST_FOOT) * dt)
    ankle = load_matrix(world[sole.joints[HEEL]])
    frame = xform.axes(ankle)
    rotation = quat.from_columns(vec.scale(frame[0], xform.handedness(frame)), frame[1], frame[2])
    yaw = yaw_since(load3(foot.in_clip.sole[BALL]), load3(foot.in_clip.sole[HEEL]), points, up)
    if steep_foot(points, up):
        yaw = twist_since(load4(foot.in_clip.rotation), rotation, up)
    speed = moved / dt if (dt > zero) & (not foot.fresh) else zero
    return ClipFoot(
        points,
        ankle,
        rotation,
        ball,
        foot.in_clip.low,
        contact,
        speed,
        zero if foot.fresh else yaw,
        point_speeds(foot, points, floor, dt),
    )
