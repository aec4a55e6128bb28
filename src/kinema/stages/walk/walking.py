"""What several steps of a walk ask about a walker and its feet: homes, ankles, reach and strain of its legs."""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, like, routine
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING, aim_down

STRAIN_REACH = 0.95
"""Share of the stretch beyond rest at which a leg is fully strained: the rest is for a body that still tilts after it
has stopped."""

LEAST_SPARE = 0.05
"""Leg lengths that every leg reaches beyond its rest. A leg that stands straight would otherwise hold its body back
for ever."""

LIMIT_STRIDES = 1.7
"""Strides from its home beyond which no planted foot is left behind: the body waits."""

DEEPEST_CROUCH = 1.5
"""Multiple of its crouch by which a body raised by a step may lower, so that its feet come within reach."""


@kernel
def rotation_of(m):
    """The rotation of a character's transform."""
    frame = xform.axes(m)
    return quat.from_columns(vec.scale(frame[0], xform.handedness(frame)), frame[1], frame[2])


@kernel
def ankle_of(leg, foot):
    """The position of a foot's ankle."""
    return vec.add(load3(foot.target.ball), quat.rotate(load4(foot.rotation), load3(leg.to_ankle)))


@kernel
def landing_ankle(leg, foot):
    """Where the ankle of a swinging foot comes to be when it lands."""
    return vec.add(load3(foot.foothold.ball), quat.rotate(load4(foot.foothold.rotation), load3(leg.to_ankle)))


@kernel
def aim_at_ground(settings, walker, rays, n, point, floor):
    """Aim ray n down through a point, from above the slope that a walker stands on.

    Ground ahead of a long body on steep stairs is higher above its floor than it looks for ground.
    """
    slope = vec.dot(load3(walker.slope), vec.sub(point, floor.point))
    aim_down(rays, n, point, floor, settings.contact.rise + slope)


@kernel
def home_of(leg, m):
    """The home of a foot in world space. m: the character's transform."""
    return xform.apply(m, load3(leg.home))


@kernel
def reach_for(leg, share):
    """The length of a leg, metres, that uses a share of its stretch beyond rest."""
    return leg.rest_reach + (leg.reach - leg.rest_reach) * share


@routine
def strain(settings, leg, walker, foot, m, up, rise):
    """The strain of a planted leg: 1 at its limit.

    m: the character's transform. rise: metres by which the body is going to be higher than it is now.
    """
    length = leg.bones.length
    zero = like(length, 0.0)
    off = vec.length(vec.reject(vec.sub(load3(foot.target.ball), home_of(leg, m)), up))
    way = vec.sub(xform.apply(m, load3(foot.hip.point)), load3(foot.target.ankle))
    # Horizontal reach with the body lowered by its full crouch, beyond that at rest.
    low = vec.dot(way, up) - walker.pelvis.height + walker.level.height - leg.crouch + rise
    reach = reach_for(leg, like(length, STRAIN_REACH))
    square = reach * reach - low * low
    spare = (math.sqrt(square) if square > zero else zero) - leg.rest_aside
    spare = max(spare, length * like(length, LEAST_SPARE))
    aside = (vec.length(vec.reject(way, up)) - leg.rest_aside) / spare
    return max(off / (length * settings.stride * like(length, LIMIT_STRIDES)), aside)


@kernel
def moved_transform(m, velocity, turn, own_up, dt):
    """A character's transform after dt seconds. velocity: in its own space. turn: about up, radians per second."""
    one = like(dt, 1.0)
    step = (vec.scale(velocity, dt), quat.from_axis_angle(own_up, turn * dt), (one, one, one))
    return xform.mul(m, xform.matrix(step))


@kernel
def lower(leg):
    """How much lower than its crouch a body comes for a foot, metres, before it waits for it."""
    return leg.crouch * like(leg.crouch, DEEPEST_CROUCH - 1.0)


@routine
def landing_share(settings, legs, walker, feet, m, up):
    """The share of its velocity at which the planted legs of a walker still reach once its swinging feet have landed.

    A body that keeps its speed over a long swing, as on stairs, would have to stop dead at the end of it.
    """
    zero, share = like(settings.stride, 0.0), like(settings.stride, 1.0)
    seconds = rise = zero
    for n in range(legs.size):
        if feet[n].target.contact == SWINGING:
            seconds = max(seconds, feet[n].swing.left)
            climbs = vec.dot(load3(feet[n].foothold.ball), up) - feet[n].swing.ground
            rise += climbs * feet[n].target.swing / like(zero, legs.size)
    if seconds <= zero:
        return share
    then = moved_transform(m, load3(walker.velocity), walker.turn, load3(settings.contact.up), seconds)
    for n in range(legs.size):
        # A foot out of reach waits for its step, too.
        if (feet[n].target.contact == PLANTED) | (feet[n].target.contact == RELEASED):
            now = strain(settings, legs[n], walker, feet[n], m, up, rise - lower(legs[n]))
            later = strain(settings, legs[n], walker, feet[n], then, up, rise - lower(legs[n]))
            if (later > like(share, 1.0)) & (later > now):
                share = min(share, max(like(share, 1.0) - now, zero) / (later - now))
    return share
