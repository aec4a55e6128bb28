"""How the floor under a foot of a clip is laid onto the ground: where that puts the foot, and how deep it is in it."""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like
from kinema.math import quat, vec
from kinema.math.rows import load3
from kinema.motion.soles import BALL, HEEL
from kinema.stages.feet.clip_foot import pick
from kinema.stages.legs.ground_contact import (
    BALL_SAMPLE,
    HEEL_SAMPLE,
    SWINGING,
    TIP_SAMPLE,
    SupportPlane,
    height_on,
)

ROLL_HEIGHT = 0.08
"""Height of the ball, in leg lengths, up to which a foot moves along the ground's normal (so that it rolls over the
heel as animated); what is above goes straight up."""

WALL = 0.06
"""Leg lengths above its plane from which a rise beside a planted foot is a wall it leans on, not ground under it."""

STEEP_GROUND = 0.64
"""Cosine of the slope (50 degrees) from which ground is taken as level between a ray and a point of the sole."""

ROUGH = 0.04
"""Leg lengths above its plane up to which ground is what a swinging foot goes by; more is an obstacle."""

SHALLOW = 0.03
"""Leg lengths that a swinging foot is lifted at once off an obstacle that it is in. More is planned for."""


class Underfoot(NamedTuple):
    """What is under a foot: the hits of its rays, (RAYS,), the plane it goes by, and the character's floor."""

    hits: Any
    plane: Any
    floor: Any


class Placement(NamedTuple):
    """How the floor under a foot is laid onto the ground: the clip's ball, the point of the plane that comes to be
    below it, the ball's height split into a part along the normal (rolled) and one along up, and the foot's rotation.
    """

    ball: Any
    on_plane: Any
    normal: Any
    up: Any
    rolled: Any
    raised: Any
    rotation: Any


class Depth(NamedTuple):
    """How deep a foot is in the ground, metres along up.

    missing: how far it must be raised so that no point of its sole is in the ground it goes by, negative if all are
    above it. blocked: the same for what stands in its way above that ground, 0 if nothing does.
    """

    missing: Any
    blocked: Any


# --- placing ---------------------------------------------------------------------------------------------------


@kernel
def foot_rotation(foot, up):
    """The rotation of a foot from how the clip has it: its tilt, and its yaw about up."""
    return quat.mul(quat.between(up, load3(foot.tilt), vec.hinge_of(up)), quat.from_axis_angle(up, foot.yaw))


@kernel
def ball_on_floor(clip, shift, up):
    """Where the ball of the clip's foot is on the character's floor, shifted across up."""
    return vec.sub(vec.add(clip.points.ball, shift), vec.scale(up, clip.ball_height))


@kernel
def place_foot(sole, foot, clip, shift, rotation, under):
    """The placement of a foot with this shift, at its rise; without its lift and its clearance.

    rotation: see `foot_rotation`.
    """
    up = under.floor.up
    flat = ball_on_floor(clip, shift, up)
    height = height_on(under.plane, flat, up) + foot.rise.value
    rolled = min(clip.ball_height, sole.length * like(height, ROLL_HEIGHT))
    on_plane = vec.add(flat, vec.scale(up, height))
    return Placement(clip.points.ball, on_plane, load3(foot.tilt), up, rolled, clip.ball_height - rolled, rotation)


@kernel
def moved(placement, by):
    """A placement that is moved by a vector."""
    return Placement(
        placement.ball,
        vec.add(placement.on_plane, by),
        placement.normal,
        placement.up,
        placement.rolled,
        placement.raised,
        placement.rotation,
    )


@kernel
def lifted(placement, foot, plane):
    """A placement with the foot's lift, which is along the normal of its plane: so it does not slide."""
    return moved(placement, vec.scale(plane.normal, foot.lift.value))


@kernel
def cleared(placement, foot):
    """A placement with the clearance of a swinging foot. It comes last: a plan that knew of it would rise less."""
    return moved(placement, vec.scale(placement.up, foot.clearance)) if foot.contact == SWINGING else placement


@kernel
def placed(placement, p):
    """A point of the clip's foot, where the placement puts it."""
    ball = vec.add(placement.on_plane, vec.scale(placement.normal, placement.rolled))
    ball = vec.add(ball, vec.scale(placement.up, placement.raised))
    return vec.add(ball, quat.rotate(placement.rotation, vec.sub(p, placement.ball)))


# --- depth -----------------------------------------------------------------------------------------------------


@kernel
def sample_of(which):
    """The ray under heel, ball or tip, among the rays of a leg."""
    return HEEL_SAMPLE if which == HEEL else (BALL_SAMPLE if which == BALL else TIP_SAMPLE)


@kernel
def ground_above(hit, point, up):
    """How far the ground is above a point, along up, metres. A ray misses the point by what the foot moved since it was
    aimed; between the two, ground that is not steep goes on along its normal.
    """
    ground = SupportPlane(load3(hit.point), load3(hit.normal))
    if vec.dot(ground.normal, up) < like(up[0], STEEP_GROUND):
        return vec.dot(vec.sub(ground.point, point), up)
    return height_on(ground, point, up)


@kernel
def depth_of(sole, clip, placement, under, held):
    """Measure how deep a foot is in the ground. Beside a planted foot, what rises above its plane is a wall and does
    not count; in the way of a swinging one it is an obstacle.
    """
    size, up = sole.length, placement.up
    missing, blocked = -size, like(size, 0.0)
    ground = size * (like(size, WALL) if held else like(size, ROUGH))
    for which in range(3):
        hit = under.hits[sample_of(which)]
        if not hit.found:
            continue
        depth = ground_above(hit, placed(placement, pick(which, clip.points)), up)
        if (-height_on(under.plane, load3(hit.point), up) > ground) & ((not held) | (depth > ground)):
            blocked = max(blocked, depth)
            depth = min(depth, size * like(size, SHALLOW)) if not held else -size
        missing = max(missing, depth)
    return Depth(missing, like(size, 0.0) if held else blocked)
