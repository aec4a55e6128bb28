"""The rays of a clip's feet: under each sole, along the way of a swinging foot, and where it is going to land.

This module aims the rays of a frame, takes what they hit, and chooses the foothold of a foot that is about to land.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load_matrix, load_origin, store3
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.solvers.joints import character_pose
from kinema.stages.legs.ground_contact import (
    FOOT_SAMPLES,
    NOT_CAST,
    PLANTED,
    SWINGING,
    SupportPlane,
    above_point,
    clear_hit,
    fit_plane,
    floor_of,
    height_on,
    take_answer,
)
from kinema.stages.legs.sole import SolePoints, sole_points, straighten_toes
from kinema.world.rays import unit_direction

# --- tuning ----------------------------------------------------------------------------------------------------

AHEAD_RAYS = 8
"""Rays along the way of a swinging foot: at a walk nine centimetres apart, less than a foot's length."""

LOOK_AHEAD = 0.2
"""Seconds that a foot looks ahead while its landing is not known."""

LARGEST_LOOK_AHEAD = 0.8
"""The farthest of those rays, in leg lengths: beyond a stride the foot is sure to have landed."""

SWING_SPEED = 2.0
"""How much faster than the body a foot swings: it stands half of the time, and must catch up in the other."""

TRAVEL_HALF_LIFE = 0.25
"""Seconds over which the speed of the hips is averaged to that of the body."""

HEADING_FLAT = 0.7
"""Cosine of the pitch of a foot up to which it tells its heading: at toe-off it may point straight down, or back."""

ROLL_HEIGHT = 0.08
"""Height of the ball, in leg lengths, up to which a foot moves along the ground's normal (so that it rolls over the
heel as animated); what is above goes straight up."""

SETTLED_FROM = 0.6
"""Share of a swing that is left when its foothold is settled: a foot that changes its mind later comes late."""

FOOT_STEPS = 2 * (FOOT_SAMPLES - 1)
"""Steps from ray to ray along a foot, where it is going to land."""

FOOTHOLD_STEPS = 5
"""Steps of a sixth of the foot that a landing foot may be moved ahead or back to find a better hold."""

FARTHEST_FOOTHOLD = 0.28
"""Leg lengths that it may be moved at most, however long the foot: a planted foot is held back by so much at most, and
the clip's own sliding needs some of that."""

FOOTHOLD_SPEED = 0.8
"""Leg lengths a second of its swing that it may be moved at most: a foot that is lifted for a moment comes down where
it was."""

FOOTHOLD_CLEAR = 2
"""Steps ahead of the tip that are better free of a rise."""

FOOTHOLD_BEHIND = 1
"""Steps behind the heel that are better free of a rise."""

FOOTHOLD_COST = 0.012
"""What a step costs, as a gap under the foot in leg lengths: a bump is no reason to change the stride."""

HOLD_BALL = 1.5
"""Weight of a gap under the ball in judging a foothold: in the end the ball carries everything."""

HOLD_TOES = 0.5
"""The same between ball and tip: a ball right at an edge is no good hold either."""

HOLD_ENDS = 0.3
"""The same under heel, middle and tip, which may hang over an edge, and for a rise a hand's width before the tip."""

HOLD_RISE = 1.0
"""Weight of a rise right before the tip: it leaves no room to lift the toes over it."""

HOLD_BEHIND = 0.3
"""Weight of a rise right behind the heel, which would be scraped on the way down."""

EDGE_MARGIN = 0.015
"""Leg lengths before and behind a swinging foot that count as part of it: it keeps so far from edges."""

NO_GROUND = 0.3
"""What a hole under a part of the foot costs, as a gap in leg lengths."""

# --- the rays of a leg -----------------------------------------------------------------------------------------

AHEAD = FOOT_SAMPLES
"""The first ray along the way of a swinging foot, among the rays of a leg; before it are those under the sole."""
PROFILE = AHEAD + AHEAD_RAYS
"""The first ray along the line on which the foot is going to land."""
RAYS = PROFILE + FOOTHOLD_BEHIND + FOOT_STEPS + 2 * FOOTHOLD_STEPS + FOOTHOLD_CLEAR + 1


class Landing(NamedTuple):
    """Seconds until a swinging foot lands, and whether that is known."""

    left: Any
    known: Any


@kernel
def predicted_landing(foot):
    """When a swinging foot lands, if it takes as long as was set, or as long as the last time."""
    left = foot.swing.seconds - foot.swing.since
    return Landing(left, (left > like(left, 0.0)) & (foot.contact == SWINGING))


@kernel
def foothold_is_settled(foot, left):
    """Whether the foothold of a swinging foot no longer changes. left: seconds until it lands."""
    return foot.foothold.chosen & (left < foot.swing.seconds * like(left, SETTLED_FROM))


@kernel
def foothold_shift(sole, foot):
    """How far the chosen foothold is from where the clip lands, across up."""
    steps = sole.spacing * like(sole.spacing, foot.foothold.steps)
    return vec.scale(load3(foot.landing.heading), steps)


# --- aiming ----------------------------------------------------------------------------------------------------


@kernel
def aim_under(sole, foot, points, rays, floor, rise):
    """Aim rays under heel, middle, ball and tip, where they are with the tilt the foot has."""
    half = like(rise, 0.5)
    normal = vec.unit_or(load3(foot.tilt), floor.up)
    rotation = quat.between(floor.up, normal, vec.hinge_of(floor.up))
    height = vec.dot(vec.sub(points.ball, floor.point), floor.up)
    ball = vec.add(points.ball, vec.scale(normal, min(height, sole.length * like(half, ROLL_HEIGHT))))
    to_heel = quat.rotate(rotation, vec.sub(points.heel, points.ball))
    to_tip = quat.rotate(rotation, vec.sub(points.tip, points.ball))
    store3(rays[0], above_point(vec.add(ball, to_heel), floor, rise))
    store3(rays[1], above_point(vec.add(ball, vec.scale(to_heel, half)), floor, rise))
    store3(rays[2], above_point(ball, floor, rise))
    store3(rays[3], above_point(vec.add(ball, to_tip), floor, rise))


@kernel
def aim_under_held(foot, rays, floor, rise):
    """Aim the same rays under a planted foot, where it is held: the clip may slide it over an edge in this frame."""
    heel, ball, tip = load3(foot.sole[HEEL]), load3(foot.sole[BALL]), load3(foot.sole[TIP])
    store3(rays[0], above_point(heel, floor, rise))
    store3(rays[1], above_point(vec.scale(vec.add(heel, ball), like(rise, 0.5)), floor, rise))
    store3(rays[2], above_point(ball, floor, rise))
    store3(rays[3], above_point(tip, floor, rise))


@kernel
def path_of(sole, foot, ball, velocity, travel, landing, up):
    """The way that the ball of a swinging foot is going: to its landing, or as far as it gets in the next moment."""
    one = like(sole.length, 1.0)
    if landing.known:
        end = vec.add(load3(foot.landing.point), foothold_shift(sole, foot))
        way = vec.sub(end, ball)
        # A foot that has passed its landing by a little does not go back over what is behind it.
        passed = vec.dot(vec.reject(way, up), vec.reject(vec.sub(end, load3(foot.swing.takeoff)), up)) <= like(one, 0.0)
        return vec.scale(way, like(one, 0.0) if passed else one)
    # At least as fast as feet swing at this speed of the body: one that just left the ground is still slow.
    usual = vec.scale(travel, like(one, SWING_SPEED))
    slow = vec.dot(velocity, velocity) < vec.dot(usual, usual)
    way = vec.scale(vec.select(slow, usual, velocity), like(one, LOOK_AHEAD))
    length, largest = vec.length(way), sole.length * like(one, LARGEST_LOOK_AHEAD)
    return vec.scale(way, largest / length if length > largest else one)


class FootExtent(NamedTuple):
    """Metres that a foot extends from its ball along a direction, ahead and behind."""

    ahead: Any
    behind: Any


@kernel
def extent_of(sole, foot, along):
    """How far a foot extends along a unit direction across up: walking backwards its heel goes first."""
    cosine, zero = vec.dot(load3(foot.heading), along), like(sole.tip, 0.0)
    tip, heel = sole.tip * cosine, -sole.heel * cosine
    margin = sole.length * like(zero, EDGE_MARGIN)
    return FootExtent(max(max(tip, heel), zero) + margin, max(max(-tip, -heel), zero) + margin)


@kernel
def aim_ahead(sole, foot, ball, rays, floor, rise):
    """Aim rays along the path of a foot, from its ball to where the part of it that goes first comes to be."""
    path, none = load3(foot.rays.path), like(rise, 0.0)
    length = vec.length(path)
    ahead = extent_of(sole, foot, vec.unit_or(path, load3(foot.heading))).ahead
    far = (length + ahead) / length if length > none else none
    for n in range(AHEAD_RAYS):
        along = vec.scale(path, far * like(rise, (n + 1) / AHEAD_RAYS))
        store3(rays[n], above_point(vec.add(ball, along), floor, rise))


@kernel
def aim_at_landing(sole, foot, rays, floor, rise):
    """Aim rays along the line on which the foot is going to land."""
    start = -sole.heel - sole.spacing * like(rise, FOOTHOLD_STEPS + FOOTHOLD_BEHIND)
    for n in range(RAYS - PROFILE):
        along = vec.scale(load3(foot.landing.heading), start + sole.spacing * like(rise, n))
        store3(rays[n], above_point(vec.add(load3(foot.landing.point), along), floor, rise))


@kernel
def is_due(foot, body):
    """Count down the frames to the next cast of a foot's rays. Returns whether it is due. See `FeetLevel`."""
    due = body.pelvis.fresh | (foot.rays.frames_left <= 0) | (body.every <= 1)
    foot.rays.frames_left = (body.every if due else foot.rays.frames_left) - 1
    body.pelvis.moving |= not due
    return due


@kernel
def aim_foot(settings, sole, foot, body, rays, pose, floor, dt):
    """Aim the rays of one foot and look where it is going. Returns how many there are.

    rays: room for their origins, (RAYS, 3) or more, filled without gaps: under the sole, ahead, at the landing.
    """
    zero, one = like(dt, 0.0), like(dt, 1.0)
    none = (zero, zero, zero)
    points, travel = sole_points(sole, pose.world), load3(body.travel)
    clip_ball = load3(foot.in_clip.sole[BALL])
    velocity = vec.scale(vec.reject(vec.sub(points.ball, clip_ball), floor.up), one / dt if dt > zero else zero)
    along = vec.reject(vec.sub(points.tip, points.heel), floor.up)
    # A foot that points down says nothing of where it will point when it lands.
    flat = vec.length(along) >= vec.length(vec.sub(points.tip, points.heel)) * like(dt, HEADING_FLAT)
    if foot.fresh | flat:
        store3(foot.heading, vec.unit_or(along, vec.unit_or(travel, vec.unit_side(floor.up))))
    if not (foot.landing.heading_given | foot.landing.predicted):
        store3(foot.landing.heading, load3(foot.heading))
    landing = predicted_landing(foot)
    if not (foot.landing.given | foot.landing.predicted):
        from_hips = xform.linear(load_matrix(pose.transform), load3(foot.landing.learnt))
        store3(foot.landing.point, vec.add(vec.add(load3(body.hips), from_hips), vec.scale(travel, landing.left)))
    # Where the foot is, shifted from the clip as it was in the last frame.
    shift = vec.select(foot.fresh, none, vec.reject(vec.sub(load3(foot.on_floor.point), clip_ball), floor.up))
    here = SolePoints(vec.add(points.heel, shift), vec.add(points.ball, shift), vec.add(points.tip, shift))
    way = path_of(sole, foot, here.ball, vec.select(foot.fresh, none, velocity), travel, landing, floor.up)
    store3(foot.rays.path, vec.reject(way, floor.up))
    foot.rays.due, count = is_due(foot, body), 0
    if foot.rays.due:
        if (foot.contact == PLANTED) & settings.lock & (not foot.fresh):
            aim_under_held(foot, rays, floor, settings.contact.rise)
        else:
            aim_under(sole, foot, here, rays, floor, settings.contact.rise)
        count = FOOT_SAMPLES
        foot.rays.ahead = body.look_ahead & (foot.contact == SWINGING)
        if foot.rays.ahead:
            aim_ahead(sole, foot, here.ball, rays[count:], floor, settings.contact.rise)
            count += AHEAD_RAYS
        foot.rays.at_landing = body.footholds & landing.known & (not foothold_is_settled(foot, landing.left))
        if foot.rays.at_landing:
            aim_at_landing(sole, foot, rays[count:], floor, settings.contact.rise)
            count += RAYS - PROFILE
    return count


@kernel
def step_travel(body, hips, up, dt):
    """Average the velocity of the hips to that of the body: they sway and surge with every step."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    still = body.pelvis.fresh | (dt <= zero)
    rate = zero if still else one / (dt if dt > zero else one)
    velocity = vec.scale(vec.reject(vec.sub(hips, load3(body.hips)), up), rate)
    before = vec.select(still, velocity, load3(body.travel))
    left = spring.decay(like(dt, TRAVEL_HALF_LIFE), dt)
    store3(body.travel, vec.add(velocity, vec.scale(vec.sub(before, velocity), left)))
    store3(body.hips, hips)


@kernel
def aim_body(records, i, rays, pose, hips, dt):
    """Straighten the toes of one character and aim its rays. Its matrices must be up to date.

    rays: room for their origins, (R, 3): under the hips, then those of each foot. hips: the joint.
    """
    settings, body, legs = records.settings[0], records.bodies[i], records.soles.size
    floor, at = floor_of(settings.contact, pose.transform), load_origin(pose.world[hips])
    body.pelvis.moving = False
    step_travel(body, at, floor.up, dt)
    store3(rays[0], above_point(at, floor, settings.contact.rise))
    store3(body.down, vec.scale(floor.up, like(dt, -1.0)))
    body.rays = 1
    for leg in range(legs):
        sole, foot = records.soles[leg], records.feet[i, leg]
        foot.fresh, foot.toes.moving = body.pelvis.fresh, False
        foot.in_clip.low = straighten_toes(sole, foot, floor, pose, dt)
        body.pelvis.moving |= foot.toes.moving
        body.rays += aim_foot(settings, sole, foot, body, rays[body.rays :], pose, floor, dt)


@batch
def aim_rays(rows, records, frame, hips, dt):
    """Straighten toes and aim all rays of a frame, its `FrameArrays`. hips: the joint."""
    for k in range(rows.size):
        i = rows[k]
        pose = character_pose(frame, i)
        aim_body(records, i, records.rays[i], pose, hips, dt)


@batch
def gather_foot_rays(rows, records, gathered):
    """Copy the rays of these characters as `world.rays` has them, one after the other. Returns how many there are.

    gathered: `Rays` with room for all. A character with a ray that is not finite casts none.
    """
    count = 0
    for k in range(rows.size):
        i = rows[k]
        body = records.bodies[i]
        down, body.first_ray = load3(body.down), count
        unit, size = unit_direction(down), vec.span(down)
        for n in range(body.rays):
            origin = load3(records.rays[i, n])
            size += vec.span(origin)
            store3(gathered.origins[count + n], origin)
            store3(gathered.units[count + n], unit)
        if math.isfinite(size):
            count += body.rays
        else:
            body.first_ray = NOT_CAST
    return count


@kernel
def take_run(hits, first, count, answers, number, largest):
    """Take the answers to so many rays, from `number` on, to the hits from `first` on. Returns the number after them.

    number: NOT_CAST if they were not cast.
    """
    for n in range(count):
        if number == NOT_CAST:
            clear_hit(hits[first + n])
        else:
            take_answer(hits[first + n], answers, number + n, largest)
    return number if number == NOT_CAST else number + count


@kernel
def take_foot_hits(records, i, hits, answers, largest):
    """Take what the rays of one character hit, (R,) HIT, from the answers of a cast. See `take_answer`."""
    legs = records.soles.size
    number = take_run(hits, legs * RAYS, 1, answers, records.bodies[i].first_ray, largest)
    for leg in range(legs):
        foot = records.feet[i, leg]
        if foot.rays.due:
            first = leg * RAYS
            number = take_run(hits, first, FOOT_SAMPLES, answers, number, largest)
            if foot.rays.ahead:
                number = take_run(hits, first + AHEAD, AHEAD_RAYS, answers, number, largest)
            if foot.rays.at_landing:
                number = take_run(hits, first + PROFILE, RAYS - PROFILE, answers, number, largest)


# --- footholds -------------------------------------------------------------------------------------------------


@kernel
def rise_at(hit, plane, up):
    """How far the ground at a sample is above a plane; 0 where it is not."""
    zero = like(up[0], 0.0)
    return max(-height_on(plane, load3(hit.point), up), zero) if hit.found else zero


@kernel
def gap_at(hit, plane, up, otherwise):
    """How far the ground at a sample is below a plane that clears it; so much where there is no ground."""
    return height_on(plane, load3(hit.point), up) if hit.found else otherwise


@kernel
def hold_cost(hits, first, plane, up, length):
    """What is wrong with standing on this plane, as metres of gap. The heel's sample is the first."""
    none = like(length, NO_GROUND) * length
    heel = gap_at(hits[first], plane, up, none) + gap_at(hits[first + 2], plane, up, none)
    ball = gap_at(hits[first + FOOT_STEPS - 2], plane, up, none)
    toes = gap_at(hits[first + FOOT_STEPS - 1], plane, up, none)
    tip = gap_at(hits[first + FOOT_STEPS], plane, up, none)
    before = rise_at(hits[first + FOOT_STEPS + 1], plane, up)
    ahead = rise_at(hits[first + FOOT_STEPS + FOOTHOLD_CLEAR], plane, up)
    behind = rise_at(hits[first - FOOTHOLD_BEHIND], plane, up)
    return (
        like(length, HOLD_BALL) * ball
        + like(length, HOLD_TOES) * max(toes, like(length, 0.0))
        + like(length, HOLD_ENDS) * (heel + tip + ahead)
        + like(length, HOLD_RISE) * before
        + like(length, HOLD_BEHIND) * behind
    )


@kernel
def foothold_seen(foot, hits):
    """Whether there is any ground where a foot is going to land. hits: of the leg, (RAYS,)."""
    seen = False
    for n in range(FOOT_STEPS + 1):
        seen |= hits[PROFILE + FOOTHOLD_BEHIND + FOOTHOLD_STEPS + n].found
    return seen & foot.rays.at_landing


@routine
def choose_foothold(sole, foot, hits, floor, cos_slope):
    """Choose how many steps of the profile ahead (or back) the foot is best put: where the ground carries ball, tip and
    heel. Returns the plane it is going to stand on.

    A step costs a little, so that a foot is moved only off an edge, a wall or a hole. What was chosen the frame before
    stays, unless something is clearly better. hits: of the leg, (RAYS,).
    """
    zero = like(cos_slope, 0.0)
    farthest = min(like(zero, FARTHEST_FOOTHOLD), foot.swing.seconds * like(zero, FOOTHOLD_SPEED)) * sole.length
    farthest = zero if foot.landing.fixed else farthest
    best, cheapest, any_yet = 0, zero, False
    best_plane = SupportPlane(floor.point, floor.up)
    for order in range(2 * FOOTHOLD_STEPS + 1):
        # 0, -1, 1, -2, 2 and so on: of equals the nearest stays.
        steps = (order + 1) // 2 if order % 2 == 0 else -((order + 1) // 2)
        if sole.spacing * like(zero, abs(steps)) > farthest:
            break
        kept = foot.foothold.chosen & (steps == foot.foothold.steps)
        away = abs(steps) - (FOOTHOLD_STEPS if kept else 0)
        cost = like(zero, FOOTHOLD_COST) * sole.length * like(zero, away)
        if any_yet & (cost >= cheapest):
            continue  # The ground there can only add to it.
        first = PROFILE + FOOTHOLD_BEHIND + FOOTHOLD_STEPS + steps
        plane = fit_plane(hits, first, 2, floor, cos_slope)
        cost += hold_cost(hits, first, plane, floor.up, sole.length)
        if (not any_yet) | (cost < cheapest):
            best, cheapest, any_yet, best_plane = steps, cost, True, plane
    foot.foothold.steps, foot.foothold.chosen = best, True
    return best_plane
