"""Plan the swing of a foot to its foothold: over everything on its path, and onto ground that carries its whole sole.

The plan is made once the foothold is known, with rays of its own: along the path that heel and tip take, and under the
sole as it is going to stand.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.constants import AT_REST
from kinema.math import quat, vec
from kinema.math.curves import minimum_jerk, smoothstep
from kinema.math.rows import load3, load4, store3
from kinema.stages.legs.ground_contact import (
    BALL_SAMPLE,
    FOOT_SAMPLES,
    HEEL_SAMPLE,
    TIP_SAMPLE,
    floor_of,
)
from kinema.stages.walk.walking import aim_at_ground

LEAST_RISE, MOST_RISE = 0.4, 0.65
"""Shares of a swing in which a foot rises: half of it on level ground, less where it descends, more where it climbs a
step. `gait` plans the rhythm of stairs with the remainder."""

USUAL_RISE = 0.6
"""Share of a swing for which a leg's `climb_time` holds."""

SWING_ARRIVES = 0.1
"""Share of a swing, at its end, in which a foot only lowers, so that it does not scrape the ground."""

SWING_WAITS = 0.1
"""Share of a swing by which its waits differ between the plans that are compared."""

WAITS = 5
"""Waits at each end of a swing that are compared: a foot only rises before a step up, or lowers behind a step down."""

LONGEST_WAIT = 0.75
"""Share of a swing that both waits take at most together."""

WAIT_COST = 0.05
"""Leg lengths of penetration, summed over the moments of a plan, that a whole swing of waiting is worth."""

DELAY_COST = 0.1
"""Leg lengths of the same that a swing which takes twice as long is worth: the body has to wait for it."""

PLAN_MOMENTS = 20
"""Moments of a swing at which a plan is compared with the ground."""

PLAN_CLEARANCE = 0.03
"""Leg lengths above the ground that a planned swing keeps where it can."""

WALL_HEIGHT = 0.5
"""Leg lengths above both ends of the path from which an obstacle is a wall, not a step."""

PATH_RAYS = 16
"""Rays in each line along the path of a swinging foot, from where its heel leaves to where its tip lands: about a
sixteenth of a leg apart."""

LANDING_RAYS = 6
"""Rays under a sole as it is going to stand, from heel to tip. A sole that tilts is not where it was sampled, and the
point of a rock may lie between two samples."""

LEAST_LIFT, LARGEST_LIFT = 0.001, 0.06
"""Leg lengths by which a foothold is raised, at least and at most, where the sole would be in the ground: less is
rounding, more is a step, not a bump."""


class SwingPath(NamedTuple):
    """The path of a swinging foot over the ground: a unit vector along it, the distance of its ball along that, where
    the first ray of the path is, and how far they are apart. Metres.
    """

    along: Any
    distance: Any
    first: Any
    spacing: Any


# --- rays -------------------------------------------------------------------------------------------------------------


@routine
def swing_path(leg, foot, up):
    """The path of a foot from its current position to its foothold."""
    zero = like(foot.swing.left, 0.0)
    way = vec.reject(vec.sub(load3(foot.foothold.ball), load3(foot.target.ball)), up)
    along = vec.unit_or(way, (zero, zero, zero))
    behind = ahead = zero
    for k in range(FOOT_SAMPLES):
        leaves = vec.dot(quat.rotate(load4(foot.rotation), load3(leg.samples[k])), along)
        lands = vec.dot(quat.rotate(load4(foot.foothold.rotation), load3(leg.samples[k])), along)
        behind, ahead = min(behind, min(leaves, lands)), max(ahead, max(leaves, lands))
    distance = vec.length(way)
    # A point that rises or sinks in place has no length; its rays are all at one place.
    length = max(distance + ahead - behind, leg.bones.length * like(zero, AT_REST))
    return SwingPath(along, distance, behind, length / like(zero, PATH_RAYS - 1))


@kernel
def lines_of(leg):
    """How many lines of rays go along the path of a foot: one through its heel and one through its tip, which differ
    for a foot that does not point the way it goes.
    """
    return 1 if leg.point else 2


@kernel
def plan_rays(leg):
    """How many rays the plan of a swing needs."""
    return PATH_RAYS * lines_of(leg) + (0 if leg.point else LANDING_RAYS)


@routine
def path_point(leg, foot, path, line, step):
    """Where a ray along the path of a foot goes down."""
    zero, one = like(foot.swing.left, 0.0), like(foot.swing.left, 1.0)
    part = load3(leg.samples[TIP_SAMPLE if line else HEEL_SAMPLE])
    before, after = quat.rotate(load4(foot.rotation), part), quat.rotate(load4(foot.foothold.rotation), part)
    at = path.first + path.spacing * like(zero, step)
    share = (at - vec.dot(before, path.along)) / path.distance if path.distance > zero else zero
    share = min(max(share, zero), one)
    aside = vec.reject(vec.add(before, vec.scale(vec.sub(after, before), share)), path.along)
    return vec.add(load3(foot.target.ball), vec.add(aside, vec.scale(path.along, at)))


@routine
def landing_point_of(leg, foot, which):
    """A point of the sole, from heel to tip, where the foot is going to stand."""
    heel, tip = load3(leg.samples[HEEL_SAMPLE]), load3(leg.samples[TIP_SAMPLE])
    share = like(foot.swing.left, which / (LANDING_RAYS - 1))
    part = vec.add(heel, vec.scale(vec.sub(tip, heel), share))
    return vec.add(load3(foot.foothold.ball), quat.rotate(load4(foot.foothold.rotation), part))


@batch
def number_plan_rays(rows, records):
    """Number the rays of all feet whose swing is to be planned. Returns their count."""
    count = 0
    for k in range(rows.size):
        for n in range(records.legs.size):
            foot = records.feet[rows[k], n]
            foot.first_ray = -1
            if foot.swing.plans:
                foot.first_ray = count
                count += plan_rays(records.legs[n])
    return count


@routine
def aim_along_path(settings, leg, walker, foot, floor, rays):
    """Aim the rays of one foot: along its path, then under its sole as it lands."""
    n = foot.first_ray
    path = swing_path(leg, foot, floor.up)
    for line in range(lines_of(leg)):
        for step in range(PATH_RAYS):
            aim_at_ground(settings, walker, rays, n, path_point(leg, foot, path, line, step), floor)
            n += 1
    if not leg.point:
        for which in range(LANDING_RAYS):
            aim_at_ground(settings, walker, rays, n, landing_point_of(leg, foot, which), floor)
            n += 1


@batch
def aim_plan_rays(rows, records, transforms, rays):
    """Aim the rays of all feet whose swing is to be planned."""
    settings, legs = records.settings[0], records.legs
    for k in range(rows.size):
        i = rows[k]
        floor = floor_of(settings.contact, transforms[i, 0])
        for n in range(legs.size):
            if records.feet[i, n].swing.plans:
                aim_along_path(settings, legs[n], records.walkers[i], records.feet[i, n], floor, rays)


# --- planning ---------------------------------------------------------------------------------------------------------


@batch
def plan_swings(rows, records, hits, transforms):
    """Plan the swings of all feet that have found a foothold in this step."""
    settings, legs = records.settings[0], records.legs
    for k in range(rows.size):
        i = rows[k]
        up = floor_of(settings.contact, transforms[i, 0]).up
        for n in range(legs.size):
            foot = records.feet[i, n]
            if foot.swing.plans:
                foot.swing.plans = False
                raise_foothold(legs[n], foot, hits, up)
                plan_swing(settings, legs[n], records.walkers[i], foot, hits, up)


@routine
def raise_foothold(leg, foot, hits, up):
    """Raise a foothold until no part of the sole that lands there is in the ground."""
    if leg.point:
        return
    lift = like(foot.swing.left, 0.0)
    for which in range(LANDING_RAYS):
        hit = hits[foot.first_ray + PATH_RAYS * lines_of(leg) + which]
        if hit.found:
            lift = max(lift, vec.dot(vec.sub(load3(hit.point), landing_point_of(leg, foot, which)), up))
    share = lift / leg.bones.length
    if (share > like(lift, LEAST_LIFT)) & (share <= like(lift, LARGEST_LIFT)):
        store3(foot.foothold.ball, vec.add(load3(foot.foothold.ball), vec.scale(up, lift)))


@routine
def plan_swing(settings, leg, walker, foot, hits, up):
    """Plan a swing: over everything on its path, up before what rises, down behind what falls, within the speed
    limit. hits: of all rays.
    """
    swing = foot.swing
    length = leg.bones.length
    down = vec.dot(load3(foot.foothold.ball), up)
    ends = max(swing.lift_off, down)
    top = ends
    for ray in range(PATH_RAYS * lines_of(leg)):
        hit = hits[foot.first_ray + ray]
        if hit.found:
            height = vec.dot(load3(hit.point), up)
            top = max(top, height) if height < ends + length * like(length, WALL_HEIGHT) else top
    swing.apex = top + settings.lift * length
    climbs, falls = swing.apex - swing.lift_off, swing.apex - down
    both = climbs + falls
    share = climbs / both if both > like(length, 0.0) else like(length, LEAST_RISE)
    swing.rises = min(max(share, like(length, LEAST_RISE)), like(length, MOST_RISE))
    set_waits(settings, leg, walker, foot, hits, up)
    swing.duration = swing.left = max(swing_duration(settings, leg, foot, up), walker.rhythm.swing_time)


@routine
def set_waits(settings, leg, walker, foot, hits, up):
    """Set how long a foot only rises before it moves ahead, and only lowers at its end: the plan that clears most, and
    does not take much longer.
    """
    swing = foot.swing
    best, one = like(swing.left, -1.0), like(swing.left, 1.0)
    depart = arrive = like(swing.left, 0.0)
    for first in range(WAITS):
        for last in range(WAITS):
            swing.depart = like(best, SWING_WAITS) * like(best, first)
            swing.arrive = like(best, SWING_ARRIVES) + like(best, SWING_WAITS) * like(best, last)
            if swing.depart + swing.arrive > like(best, LONGEST_WAIT):
                continue
            delay = max(swing_duration(settings, leg, foot, up) / walker.rhythm.swing_time, one) - one
            cost = delay * like(best, DELAY_COST) + (swing.depart + swing.arrive) * like(best, WAIT_COST)
            cost = cost * leg.bones.length + plan_penetration(leg, foot, hits, up)
            if (best < like(best, 0.0)) | (cost < best):
                best, depart, arrive = cost, swing.depart, swing.arrive
    swing.depart, swing.arrive = depart, arrive


@routine
def plan_penetration(leg, foot, hits, up):
    """How deep the sole is in the ground on its path, metres, summed over some moments of the planned swing."""
    swing = foot.swing
    zero, one = like(swing.left, 0.0), like(swing.left, 1.0)
    path = swing_path(leg, foot, up)
    down = vec.dot(load3(foot.foothold.ball), up)
    margin = leg.bones.length * like(zero, PLAN_CLEARANCE)
    depth = zero
    for moment in range(1, PLAN_MOMENTS):
        time = like(zero, moment / PLAN_MOMENTS)
        moved = share_across(foot, time)
        if time < swing.rises:
            height = swing.lift_off + (swing.apex - swing.lift_off) * minimum_jerk(time / swing.rises)
        else:
            height = down + (swing.apex - down) * minimum_jerk((one - time) / (one - swing.rises))
        rotation = quat.slerp(load4(foot.rotation), load4(foot.foothold.rotation), moved)
        moves = (moved > zero) & (moved < one)
        for k in range(FOOT_SAMPLES):
            part = quat.rotate(rotation, load3(leg.samples[k]))
            place = (path.distance * moved + vec.dot(part, path.along) - path.first) / path.spacing
            line = foot.first_ray + (PATH_RAYS if (k >= BALL_SAMPLE) & (not leg.point) else 0)
            ground = height_along(hits, line, place, moves, up)
            depth += max(ground + margin - height - vec.dot(part, up), zero)
    return depth


@kernel
def height_along(hits, line, at, moves, up):
    """The height of the ground at a place along a line of rays, counted in rays; minus infinity without any.

    Between two rays the higher one counts for a foot that moves, since the edge of a step may be anywhere between them;
    the lower one for a foot that stands there, or will.
    """
    place = min(max(at, like(at, 0.0)), like(at, PATH_RAYS - 1))
    k = min(int(place), PATH_RAYS - 2)
    first, last, none = hits[line + k], hits[line + k + 1], like(at, -math.inf)
    before = vec.dot(load3(first.point), up) if first.found else none
    after = vec.dot(load3(last.point), up) if last.found else none
    return max(before, after) if moves else min(before, after)


@routine
def swing_duration(settings, leg, foot, up):
    """The duration of a swing, seconds: on average a foot moves at two thirds of its top speed, and rises more
    slowly."""
    swing = foot.swing
    way = vec.sub(load3(foot.foothold.ball), load3(foot.target.ball))
    across, down = vec.length(vec.reject(way, up)), vec.dot(load3(foot.foothold.ball), up)
    one = like(across, 1.0)
    rate = like(across, 1.5) / (settings.foot_speed * leg.bones.length)
    sideways = across * rate / (one - swing.depart - swing.arrive)
    vertical = leg.climb_time * like(across, USUAL_RISE)
    rising = (swing.apex - swing.lift_off) * vertical / swing.rises
    falling = (swing.apex - down) * vertical / (one - swing.rises)
    return max(sideways, max(rising, falling))


# --- the shape of a swing ---------------------------------------------------------------------------------------------


@kernel
def share_across(foot, time):
    """How far a swinging foot has come across the ground, and has rotated, after a share of its time."""
    swing = foot.swing
    return smoothstep((time - swing.depart) / (like(time, 1.0) - swing.depart - swing.arrive))
