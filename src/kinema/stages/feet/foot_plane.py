"""The plane that a foot of a clip goes by, and the tilt that it takes on."""

from __future__ import annotations

from kinema.compile.jit import kernel, like
from kinema.constants import AT_REST
from kinema.math import spring, vec
from kinema.math.curves import falloff
from kinema.math.rows import load3, store3
from kinema.stages.feet.foot_landing import foothold_is_settled, foothold_point
from kinema.stages.feet.foothold_choice import foothold_seen, shift_foothold
from kinema.stages.legs.ground_contact import SupportPlane, fit_plane, height_on

HIGH_SWING = 0.15
"""Height of the sole, in leg lengths, from which a swinging foot no longer tilts with the ground below it."""

PLANE_SLACK = 0.04
"""Leg lengths by which the slope that a foot lands on, extended, may miss where the foot took off. From twice that on
it is no slope."""


@kernel
def passable(plane, lands, takeoff, up, slack):
    """The plane that a foot goes by on its way to one that it lands on: that one if it is a slope, else level.

    Across the edge of a step a foot lands tilted. Extended back to where the foot took off, such a plane would be far
    above or below the ground there. lands: where the ball comes down. slack: metres that a slope may miss it by.
    """
    one = like(up[0], 1.0)
    slope = vec.sub(up, vec.scale(plane.normal, one / vec.dot(plane.normal, up)))
    lands = vec.add(lands, vec.scale(up, height_on(plane, lands, up)))
    way = vec.sub(takeoff, lands)
    share = falloff(abs(vec.dot(slope, way) - vec.dot(way, up)), slack, slack)
    return SupportPlane(lands, vec.unit_or(vec.sub(up, vec.scale(slope, share)), up))


@kernel
def lift_along(foot, before, normal, up):
    """Let the lift of a foot act along another normal, and keep its height: the difference goes into its rise. Where
    both normals lean the same way, the foot stays where it is across up too.
    """
    across, one = vec.reject(normal, up), like(up[0], 1.0)
    flat = vec.dot(across, across)
    share = vec.dot(vec.reject(before, up), across) / flat if flat > like(one, AT_REST) else one
    share = min(max(share, like(one, 0.0)), one)
    along = vec.dot(before, up) - share * vec.dot(normal, up)
    foot.rise.value += foot.lift.value * along
    foot.rise.speed += foot.lift.speed * along
    foot.lift.value *= share
    foot.lift.speed *= share


@kernel
def go_by(foot, plane, up):
    """Let a foot go by another plane. It stays where it is: the difference goes into its rise."""
    before = SupportPlane(load3(foot.plane.point), load3(foot.plane.normal))
    store3(foot.plane.point, plane.point)
    store3(foot.plane.normal, plane.normal)
    if foot.fresh:
        foot.rise.value = foot.rise.speed = foot.rise.acceleration = like(foot.rise.value, 0.0)
        return
    flat, velocity = load3(foot.on_floor.point), load3(foot.on_floor.velocity)
    foot.rise.value += height_on(before, flat, up) - height_on(plane, flat, up)
    slope = vec.dot(velocity, plane.normal) / vec.dot(up, plane.normal)
    foot.rise.speed += slope - vec.dot(velocity, before.normal) / vec.dot(up, before.normal)
    lift_along(foot, before.normal, plane.normal, up)


@kernel
def choose_plane(settings, sole, foot, hits, floor, stance):
    """Choose the plane that a foot goes by: the one it stands on, that of its foothold, or what is under it."""
    if stance.standing | (stance.lands & foothold_is_settled(foot, stance.left)):
        return SupportPlane(load3(foot.plane.point), load3(foot.plane.normal))
    if stance.lands & foothold_seen(foot, hits):
        plane = shift_foothold(sole, foot, hits, floor, settings.contact.cos_slope)
        store3(foot.plane.ground_normal, plane.normal)
        slack = sole.length * like(stance.left, PLANE_SLACK)
        plane = passable(plane, foothold_point(sole, foot), load3(foot.swing.takeoff), floor.up, slack)
    else:
        plane = fit_plane(hits, 0, 1, floor, settings.contact.cos_slope)
        store3(foot.plane.ground_normal, plane.normal)
    go_by(foot, plane, floor.up)
    return plane


@kernel
def tilt_foot(settings, sole, foot, up, low, dt):
    """Ease a foot's tilt to that of its plane; less of it high in the air. Returns 0 on the ground to 1 in the air."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    high = min(max(low / (sole.length * like(dt, HIGH_SWING)), zero), one)
    goal = vec.unit_or(vec.add(vec.scale(load3(foot.plane.ground_normal), one - high), vec.scale(up, high)), up)
    before = load3(foot.tilt)
    left = spring.decay(settings.tilt_half_life, dt)
    normal = vec.unit_or(vec.add(goal, vec.scale(vec.sub(before, goal), left)), up)
    there = foot.fresh | (vec.span(vec.sub(normal, goal)) < like(dt, AT_REST))
    store3(foot.tilt, vec.select(there, goal, normal))
    return high
