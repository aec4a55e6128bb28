"""Swing a foot to its foothold: over everything on its path, within its speed limit, landing exactly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.ground_contact import (
    BALL_SAMPLE,
    FOOT_SAMPLES,
    HEEL_SAMPLE,
    PLANTED,
    SWINGING,
    TIP_SAMPLE,
    floor_of,
)
from kinema.behaviours.leg_shapes import angle_between, leg_rotation
from kinema.behaviours.walking import HANGING, ankle_of, rotation_of
from kinema.constants import AT_REST
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load4, load_matrix, store3, store4

LEAST_RISE, MOST_RISE = 0.4, 0.65
"""Shares of a swing in which a foot rises: half of it on level ground, less where it descends, more where it climbs a
step. `gait` plans the rhythm of stairs with the remainder."""

FASTEST_JOINT = 21.0
"""Radians per second at which the joints of a swinging leg rotate at most, by its plan: 20 degrees per frame at 60
Hz."""

SLOWEST_PACE = 0.2
"""Share of its planned speed that a foot keeps at least: it lands some day, whatever its body does."""

LATE_PACE = 0.5
"""Share of its planned speed at which a foot comes down that is still out of reach: its body is on the way."""

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

PLAN_MOMENTS = 20
"""Moments of a swing at which a plan is compared with the ground."""

ON_ITS_WAY = 0.005
"""Share of its path from either end within which a foot is still, or already, where it stands."""

PLAN_CLEARANCE = 0.03
"""Leg lengths above the ground that a planned swing keeps where it can."""

HIGHEST_STEP = 0.5
"""Leg lengths above both ends of the path from which an obstacle is a wall, not a step."""

PATH_RAYS = 12
"""Rays in each line along the path of a swinging foot, from its heel to beyond its landing: a twelfth of a leg
apart."""

OFF_THE_RAYS = 0.25
"""Distance of a foothold from the rays of its path, in the distances between them, from which these miss edges."""

USUAL_RISE = 0.6
"""Share of a swing for which a leg's `climb_time` holds."""

BEYOND = 0.1
"""Leg lengths beyond the wanted landing that the path is probed: the foothold may lie there."""


class SwingPath(NamedTuple):
    """The path of a swinging foot over the ground: a unit vector along it, the distance of its ball along that, how far
    its sole reaches before the ball, where the first ray of the path is, and how far they are apart. Metres.
    """

    along: Any
    distance: Any
    tip: Any
    first: Any
    spacing: Any


# --- planning ---------------------------------------------------------------------------------------------------------


@routine
def swing_path(leg, foot, goal, up):
    """The path of a foot from its current position to a goal."""
    zero = like(foot.left, 0.0)
    way = vec.reject(vec.sub(goal, load3(foot.target.ball)), up)
    along = vec.unit_or(way, (zero, zero, zero))
    behind = ahead = zero
    for k in range(FOOT_SAMPLES):
        reach = vec.dot(quat.rotate(load4(foot.rotation), load3(leg.samples[k])), along)
        behind, ahead = min(behind, reach), max(ahead, reach)
    distance = vec.length(way)
    beyond = leg.bones.length * like(zero, BEYOND)
    return SwingPath(along, distance, ahead, behind, (distance + ahead - behind + beyond) / like(zero, PATH_RAYS - 1))


@kernel
def lines_of(leg):
    """How many lines of rays go along the path of a foot: one through its heel and one through its tip, which differ
    for a foot that does not point the way it goes.
    """
    return 1 if leg.point else 2


@routine
def path_point(leg, foot, path, rotation, line, step):
    """Where a ray along the path of a foot goes down. rotation: how the foot is going to stand."""
    zero, one = like(foot.left, 0.0), like(foot.left, 1.0)
    part = load3(leg.samples[TIP_SAMPLE if line else HEEL_SAMPLE])
    before, after = quat.rotate(load4(foot.rotation), part), quat.rotate(rotation, part)
    at = path.first + path.spacing * like(zero, step)
    share = (at - vec.dot(before, path.along)) / path.distance if path.distance > zero else zero
    share = min(max(share, zero), one)
    aside = vec.reject(vec.add(before, vec.scale(vec.sub(after, before), share)), path.along)
    return vec.add(load3(foot.target.ball), vec.add(aside, vec.scale(path.along, at)))


@routine
def plan_swing(settings, leg, walker, foot, hits, path, up):
    """Plan a swing: over everything on its path, up before what rises, down behind what falls, within the speed limit.

    hits: of all rays. path: the first of those along the path.
    """
    length = leg.bones.length
    down = vec.dot(load3(foot.foothold), up)
    ends = max(foot.lift_off, down)
    top = ends
    probed = swing_path(leg, foot, load3(foot.wanted), up)
    swept = swing_path(leg, foot, load3(foot.foothold), up)
    end = swept.distance + swept.tip
    for ray in range(PATH_RAYS * lines_of(leg)):
        hit = hits[path + ray]
        if hit.found & (probed.first + probed.spacing * like(length, ray % PATH_RAYS) < end):
            height = vec.dot(load3(hit.point), up)
            top = max(top, height) if height < ends + length * like(length, HIGHEST_STEP) else top
    foot.apex = top + settings.lift * length
    climbs, falls = foot.apex - foot.lift_off, foot.apex - down
    both = climbs + falls
    share = climbs / both if both > like(length, 0.0) else like(length, LEAST_RISE)
    foot.rises = min(max(share, like(length, LEAST_RISE)), like(length, MOST_RISE))
    set_waits(leg, foot, hits, path, unseen_edge(settings, leg, foot, up), up)
    across = vec.length(vec.reject(vec.sub(load3(foot.foothold), load3(foot.target.ball)), up))
    foot.duration = foot.left = max(swing_duration(settings, leg, foot, across, down), walker.swing_time)


@routine
def unseen_edge(settings, leg, foot, up):
    """The height of an edge that may be anywhere on the path of a foot; minus infinity without any.

    A foot whose foothold lies beside the rays of its path has none between its ends. If these differ in height by more
    than the slope of the ground at its foothold, there is a step between them.
    """
    swing = swing_path(leg, foot, load3(foot.foothold), up)
    probed = swing_path(leg, foot, load3(foot.wanted), up)
    down, none = vec.dot(load3(foot.foothold), up), like(foot.left, -math.inf)
    off = swing.distance * vec.length(vec.cross(swing.along, probed.along))
    normal = quat.rotate(load4(foot.foothold_rotation), load3(settings.contact.up))
    slope = -vec.dot(normal, swing.along) / max(vec.dot(normal, up), settings.contact.cos_slope)
    step = abs(down - foot.ground - slope * swing.distance)
    hidden = (off > probed.spacing * like(off, OFF_THE_RAYS)) & (step > leg.bones.length * like(down, PLAN_CLEARANCE))
    return max(foot.ground, down) if hidden else none


@routine
def set_waits(leg, foot, hits, path, edge, up):
    """Set how long a foot only rises before it moves ahead, and only lowers at its end: the plan that clears most."""
    best = like(foot.left, -1.0)
    depart = arrive = like(foot.left, 0.0)
    for first in range(WAITS):
        for last in range(WAITS):
            foot.depart = like(best, SWING_WAITS) * like(best, first)
            foot.arrive = like(best, SWING_ARRIVES) + like(best, SWING_WAITS) * like(best, last)
            if foot.depart + foot.arrive > like(best, LONGEST_WAIT):
                continue
            cost = plan_penetration(leg, foot, hits, path, edge, up)
            cost += (foot.depart + foot.arrive) * leg.bones.length * like(best, WAIT_COST)
            if (best < like(best, 0.0)) | (cost < best):
                best, depart, arrive = cost, foot.depart, foot.arrive
    foot.depart, foot.arrive = depart, arrive


@routine
def plan_penetration(leg, foot, hits, path, edge, up):
    """How deep the sole is in the ground on its path, metres, summed over some moments of the planned swing.

    edge: see `unseen_edge`.
    """
    zero, one = like(foot.left, 0.0), like(foot.left, 1.0)
    swing = swing_path(leg, foot, load3(foot.foothold), up)
    probed = swing_path(leg, foot, load3(foot.wanted), up)
    down = vec.dot(load3(foot.foothold), up)
    margin = leg.bones.length * like(zero, PLAN_CLEARANCE)
    depth, on_its_way = zero, like(zero, ON_ITS_WAY)
    for moment in range(1, PLAN_MOMENTS):
        time = like(zero, moment / PLAN_MOMENTS)
        moved = share_across(foot, time)
        if time < foot.rises:
            height = foot.lift_off + (foot.apex - foot.lift_off) * minimum_jerk(time / foot.rises)
        else:
            height = down + (foot.apex - down) * minimum_jerk((one - time) / (one - foot.rises))
        rotation = quat.slerp(load4(foot.rotation), load4(foot.foothold_rotation), moved)
        for k in range(FOOT_SAMPLES):
            part = quat.rotate(rotation, load3(leg.samples[k]))
            at = swing.distance * moved + vec.dot(part, swing.along)
            place = (at - probed.first) / probed.spacing
            line = path + (PATH_RAYS if (k >= BALL_SAMPLE) & (not leg.point) else 0)
            moves = (moved > on_its_way) & (moved < one - on_its_way)
            ground = height_along(hits, line, place, moves, up)
            if edge > like(zero, -math.inf):
                ground = max(ground, edge) if moves else min(ground, down)
            depth += max(ground + margin - height - vec.dot(part, up), zero)
    return depth


@kernel
def share_across(foot, time):
    """How far a swinging foot has come across the ground, and has rotated, after a share of its time."""
    zero, one = like(time, 0.0), like(time, 1.0)
    return smooth(min(max((time - foot.depart) / (one - foot.depart - foot.arrive), zero), one))


@kernel
def height_along(hits, path, at, moves, up):
    """The height of the ground at a place along a path, counted in rays; minus infinity without any.

    Between two rays the higher one counts for a foot that moves, since the edge of a step may be anywhere between them;
    the lower one for a foot that stands there, or will.
    """
    place = min(max(at, like(at, 0.0)), like(at, PATH_RAYS - 1))
    k = min(int(place), PATH_RAYS - 2)
    first, last, none = hits[path + k], hits[path + k + 1], like(at, -math.inf)
    before = vec.dot(load3(first.point), up) if first.found else none
    after = vec.dot(load3(last.point), up) if last.found else none
    return max(before, after) if moves else min(before, after)


@kernel
def minimum_jerk(u):
    """Ease in and out with minimum jerk: 0 to 1 without slope and curvature at the ends."""
    return u * u * u * (like(u, 10.0) + u * (u * like(u, 6.0) - like(u, 15.0)))


@kernel
def swing_duration(settings, leg, foot, across, down):
    """The duration of a swing, seconds: on average a foot moves at two thirds of its top speed, and rises more
    slowly."""
    one = like(across, 1.0)
    rate = like(across, 1.5) / (settings.foot_speed * leg.bones.length)
    sideways = across * rate / (one - foot.depart - foot.arrive)
    vertical = leg.climb_time * like(across, USUAL_RISE)
    rising = (foot.apex - foot.lift_off) * vertical / foot.rises
    falling = (foot.apex - down) * vertical / (one - foot.rises)
    return max(sideways, max(rising, falling))


# --- swinging ---------------------------------------------------------------------------------------------------------


@kernel
def land(foot):
    """Plant a foot on its foothold."""
    zero = like(foot.left, 0.0)
    foot.target.contact = PLANTED
    foot.left = zero
    store3(foot.target.ball, load3(foot.foothold))
    store3(foot.velocity, (zero, zero, zero))
    foot.pull = zero
    store4(foot.rotation, load4(foot.foothold_rotation))


@kernel
def glide(x, speed, goal, left, dt):
    """Position and speed after dt of a point that comes to rest at its goal in a number of seconds.

    The path is a cubic Hermite curve, the same for steps of any size.
    """
    one, two, three = like(dt, 1.0), like(dt, 2.0), like(dt, 3.0)
    if dt >= left:
        return (goal, like(dt, 0.0)) if dt > like(dt, 0.0) else (x, speed)
    u = dt / left
    way = goal - x
    at = x + way * u * u * (three - two * u) + speed * left * u * (one - u) * (one - u)
    rate = way * (u - u * u) * like(dt, 6.0) / left + speed * (one - u) * (one - three * u)
    return at, rate


@kernel
def glide_smoothly(x, speed, pull, goal, left, dt):
    """The same with minimum jerk (the quintic Hermite curve): position, speed and acceleration."""
    zero = like(dt, 0.0)
    if dt >= left:
        return (goal, zero, zero) if dt > zero else (x, speed, pull)
    u = dt / left
    way, v, a = goal - x, speed * left, pull * left * left * like(dt, 0.5)
    # x(u) = x + v u + a u^2 + c u^3 + d u^4 + e u^5, with x(1) = goal, at rest and without acceleration.
    c = like(dt, 10.0) * way - like(dt, 6.0) * v - like(dt, 3.0) * a
    d = like(dt, -15.0) * way + like(dt, 8.0) * v + like(dt, 3.0) * a
    e = like(dt, 6.0) * way - like(dt, 3.0) * v - a
    at = x + u * (v + u * (a + u * (c + u * (d + u * e))))
    two, three, four, five = like(dt, 2.0), like(dt, 3.0), like(dt, 4.0), like(dt, 5.0)
    rate = v + u * (two * a + u * (three * c + u * (four * d + u * five * e)))
    bend = two * a + u * (like(dt, 6.0) * c + u * (like(dt, 12.0) * d + u * like(dt, 20.0) * e))
    return at, rate / left, bend / (left * left)


@kernel
def smooth(u):
    """Ease in and out: 0 to 1 with no slope at the ends."""
    return u * u * (like(u, 3.0) - u - u)


@routine
def swing_foot(foot, up, dt):
    """Step a swinging foot by dt."""
    if dt >= foot.left:
        land(foot)
        return
    one, zero = like(dt, 1.0), like(dt, 0.0)
    ball, velocity, foothold = load3(foot.target.ball), load3(foot.velocity), load3(foot.foothold)
    now, goal, rate = vec.reject(ball, up), vec.reject(foothold, up), vec.reject(velocity, up)
    waits = min(max(foot.left - foot.duration * (one - foot.depart), zero), dt)
    across, step = max(foot.left - waits - foot.duration * foot.arrive, zero), dt - waits
    x, vx = glide(now[0], rate[0], goal[0], across, step)
    y, vy = glide(now[1], rate[1], goal[1], across, step)
    z, vz = glide(now[2], rate[2], goal[2], across, step)
    height, climb = swing_height(foot, vec.dot(ball, up), vec.dot(velocity, up), vec.dot(foothold, up), dt)
    store3(foot.target.ball, vec.add((x, y, z), vec.scale(up, height)))
    store3(foot.velocity, vec.add((vx, vy, vz), vec.scale(up, climb)))
    done = share_across(foot, one - foot.left / foot.duration)
    then = share_across(foot, one - (foot.left - dt) / foot.duration)
    share = (then - done) / (one - done) if done < one else one
    store4(foot.rotation, quat.unit(quat.slerp(load4(foot.rotation), load4(foot.foothold_rotation), share)))
    foot.left -= dt


class Body(NamedTuple):
    """A body while its feet swing: its rotation, and the unit vector to its left."""

    rotation: Any
    side: Any


@kernel
def side_of(settings, m):
    """The unit vector to the left of a character, world space."""
    zero = like(settings.stride, 0.0)
    side = vec.cross(load3(settings.contact.up), load3(settings.forward))
    return vec.unit_or(xform.linear(m, side), (zero, zero, zero))


@routine
def reachable_way(leg, way, side, up):
    """The way from a hip to the ankle of a swinging foot, changed so that the leg can take it there.

    A foot out of reach is lifted until the leg reaches it: drawn to its body, it would be dragged through the step
    before it. A foot so near to its hip that the leg would be folded up is moved aside, away from the body: pushed away
    from the hip, it would be pushed into the step.
    """
    height, square, zero = vec.dot(way, up), vec.dot(way, way), like(leg.reach, 0.0)
    below = leg.reach * leg.reach - square + height * height
    if square > leg.reach * leg.reach:
        if (height < zero) & (below > zero):
            return vec.sub(way, vec.scale(up, height + math.sqrt(below)))
        return vec.scale(way, leg.reach / math.sqrt(square))
    if square < leg.nearest * leg.nearest:
        outward = vec.scale(side, like(zero, 1.0 if leg.outward > zero else -1.0))
        out = vec.dot(way, outward)
        return vec.add(way, vec.scale(outward, math.sqrt(out * out + leg.nearest * leg.nearest - square) - out))
    return way


@routine
def swing_within_speed(leg, foot, hip, body, up, dt):
    """Step a swinging foot by dt, or by less if a joint of its leg would rotate too fast, or if it comes down out of
    reach: it lands later then.

    hip: where the leg starts.
    """
    ball, velocity, rotation = load3(foot.target.ball), load3(foot.velocity), load4(foot.rotation)
    pull, left = foot.pull, foot.left
    swing_foot(foot, up, dt)
    turned = angle_between(rotation, load4(foot.rotation))
    after = reachable_way(leg, vec.sub(ankle_of(leg, foot), hip), body.side, up)
    rotates = leg_rotation(leg.shapes, load3(foot.way), quat.rotate(quat.conj(body.rotation), after), turned)
    most, step = like(dt, FASTEST_JOINT) * dt, dt
    if rotates > most:
        step = dt * max(most / rotates, like(dt, SLOWEST_PACE))
    falls = left < foot.duration * (like(dt, 1.0) - foot.rises)
    if falls & (vec.length(vec.sub(ankle_of(leg, foot), hip)) > leg.reach):
        step = min(step, dt * like(dt, LATE_PACE))
    if (step < dt) & (left > like(dt, 0.0)):
        foot.target.contact, foot.pull, foot.left = SWINGING, pull, left
        store3(foot.target.ball, ball)
        store3(foot.velocity, velocity)
        store4(foot.rotation, rotation)
        swing_foot(foot, up, step)


@kernel
def swing_height(foot, height, climb, down, dt):
    """Height and vertical speed of a swinging foot after dt: up to its apex, then down to its foothold."""
    zero = like(dt, 0.0)
    rising = max(foot.left - foot.duration * (like(dt, 1.0) - foot.rises), zero)
    part = min(rising, dt)
    if part > zero:
        height, climb, foot.pull = glide_smoothly(height, climb, foot.pull, foot.apex, rising, part)
    if dt > part:
        height, climb, foot.pull = glide_smoothly(height, climb, foot.pull, down, foot.left - part, dt - part)
    return height, climb


@routine
def hang_foot(settings, leg, walker, foot, m, dt):
    """Move a foot without ground towards its home."""
    goal = load3(foot.home)
    gap = vec.scale(vec.sub(load3(foot.target.ball), goal), spring.decay(settings.pelvis.half_life, dt))
    there = walker.pelvis.fresh | (vec.span(gap) < leg.bones.length * like(dt, AT_REST))
    walker.pelvis.moving |= not there
    store3(foot.target.ball, vec.select(there, goal, vec.add(goal, gap)))
    store4(foot.rotation, rotation_of(m))


@routine
def set_target(leg, foot, floor):
    """Set the target of the ankle, and the height of the body for this foot."""
    zero = like(foot.left, 0.0)
    one = like(foot.left, 1.0)
    target, base = foot.target, vec.dot(floor.point, floor.up)
    store3(target.ankle, ankle_of(leg, foot))
    store4(target.rotation, quat.unit(quat.mul(load4(foot.rotation), load4(leg.ankle_rotation))))
    target.swing, target.low, target.ground = zero, zero, vec.dot(load3(target.ball), floor.up) - base
    if target.contact == HANGING:
        target.swing, target.ground = one, zero
    if target.contact == SWINGING:
        done = smooth(one - foot.left / foot.duration)
        down = vec.dot(load3(foot.foothold), floor.up)
        target.swing, target.low = one - done, leg.low
        target.ground = foot.ground + (down - foot.ground) * done - base


@batch
def swing_feet(rows, settings, legs, walkers, feet, transforms, dt):
    """Step all feet by dt, and set the targets of their legs."""
    for k in range(rows.size):
        i = rows[k]
        floor, m = floor_of(settings.contact, transforms[i, 0]), load_matrix(transforms[i, 0])
        body = Body(quat.mul(load4(walkers[i].lean), rotation_of(m)), side_of(settings, m))
        for n in range(legs.size):
            foot = feet[i, n]
            if foot.target.contact == SWINGING:
                hip = xform.apply(m, vec.add(load3(foot.hip), vec.scale(load3(foot.hip_speed), dt)))
                swing_within_speed(legs[n], foot, hip, body, floor.up, dt)
            elif foot.target.contact == HANGING:
                hang_foot(settings, legs[n], walkers[i], foot, m, dt)
            set_target(legs[n], foot, floor)
