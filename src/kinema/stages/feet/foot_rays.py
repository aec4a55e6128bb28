"""The rays of a clip's feet: under each sole, along the way of a swinging foot, and where it is going to land."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load_matrix, store3
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.clip_foot import HEADING_FLAT
from kinema.stages.feet.foot_landing import foothold_is_settled, foothold_point, predicted_landing
from kinema.stages.feet.foot_placement import ROLL_HEIGHT
from kinema.stages.legs.ground_contact import (
    FOOT_SAMPLES,
    NOT_CAST,
    PLANTED,
    SWINGING,
    above_point,
    clear_hit,
    take_answer,
)
from kinema.stages.legs.sole import SolePoints, sole_points
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

EDGE_MARGIN = 0.015
"""Leg lengths before and behind a swinging foot that count as part of it: it keeps so far from edges."""

# --- the rays of a leg -----------------------------------------------------------------------------------------

AHEAD = FOOT_SAMPLES
"""The first ray along the way of a swinging foot, among the rays of a leg; before it are those under the sole."""

PROFILE = AHEAD + AHEAD_RAYS
"""The first ray of the profile: the line of rays on which a foot is going to land, steps of a sixth of it apart."""

MIDDLE_STEP, BALL_STEP, TOES_STEP, TIP_STEP = 2, 4, 5, 6
"""Steps of the profile from the heel of a foot to its middle, its ball, between ball and tip, and its tip."""

MOST_STEPS = 5
"""Steps of the profile that a landing foot may be moved ahead or back to find a better hold."""

CLEAR_BEHIND_HEEL, CLEAR_BEFORE_TIP = 1, 2
"""Steps behind the heel and before the tip that are better free of a rise."""

HEEL_AT_LANDING = PROFILE + CLEAR_BEHIND_HEEL + MOST_STEPS
"""The ray under the heel of a foot that lands where its clip puts it."""

RAYS = HEEL_AT_LANDING + TIP_STEP + MOST_STEPS + CLEAR_BEFORE_TIP + 1
"""Rays of a leg."""

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
    """Aim rays under a planted foot, where it is held: the clip may slide it over an edge in this frame."""
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
        end = foothold_point(sole, foot)
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
    start = -sole.heel - sole.spacing * like(rise, HEEL_AT_LANDING - PROFILE)
    for n in range(RAYS - PROFILE):
        along = vec.scale(load3(foot.landing.heading), start + sole.spacing * like(rise, n))
        store3(rays[n], above_point(vec.add(load3(foot.landing.point), along), floor, rise))


@kernel
def first_leg(records, i):
    """The first leg of a character that swings, 0 if none does: loops over its legs begin there.

    Nothing depends on the order. Threads of a GPU that step different characters are then in swinging legs together.
    """
    for leg in range(records.soles.size):
        if records.feet[i, leg].contact == SWINGING:
            return leg
    return 0


@kernel
def is_due(foot, body):
    """Count down the frames to the next cast of a foot's rays. Returns whether it is due. See `FeetLevel`."""
    due = body.pelvis.fresh | (foot.rays.frames_left <= 0) | (body.every <= 1)
    foot.rays.frames_left = (body.every if due else foot.rays.frames_left) - 1
    body.pelvis.moving |= not due
    return due


@kernel
def note_way(sole, foot, body, points, transform, up, dt):
    """Note where a foot points and where it is going. Returns where it is: shifted from the clip as in the last frame.

    points: heel, ball and tip in the clip.
    """
    zero, one = like(dt, 0.0), like(dt, 1.0)
    none = (zero, zero, zero)
    clip_ball, travel = load3(foot.in_clip.sole[BALL]), load3(body.travel)
    velocity = vec.scale(vec.reject(vec.sub(points.ball, clip_ball), up), one / dt if dt > zero else zero)
    along = vec.reject(vec.sub(points.tip, points.heel), up)
    # A foot that points down says nothing of where it will point when it lands.
    flat = vec.length(along) >= vec.length(vec.sub(points.tip, points.heel)) * like(dt, HEADING_FLAT)
    if foot.fresh | flat:
        store3(foot.heading, vec.unit_or(along, vec.unit_or(travel, vec.unit_side(up))))
    if not (foot.landing.heading_given | foot.landing.predicted):
        store3(foot.landing.heading, load3(foot.heading))
    landing = predicted_landing(foot)
    if not (foot.landing.given | foot.landing.predicted):
        from_hips = xform.linear(load_matrix(transform), load3(foot.landing.learnt))
        store3(foot.landing.point, vec.add(vec.add(load3(body.hips), from_hips), vec.scale(travel, landing.left)))
    shift = vec.select(foot.fresh, none, vec.reject(vec.sub(load3(foot.on_floor.point), clip_ball), up))
    here = SolePoints(vec.add(points.heel, shift), vec.add(points.ball, shift), vec.add(points.tip, shift))
    way = path_of(sole, foot, here.ball, vec.select(foot.fresh, none, velocity), travel, landing, up)
    store3(foot.rays.path, vec.reject(way, up))
    return here


@kernel
def aim_foot(settings, sole, foot, body, rays, pose, floor, dt):
    """Aim the rays of one foot. Returns how many there are.

    rays: room for their origins, (RAYS, 3) or more, filled without gaps: under the sole, ahead, at the landing.
    """
    here = note_way(sole, foot, body, sole_points(sole, pose.world), pose.transform, floor.up, dt)
    foot.rays.due, count, rise = is_due(foot, body), 0, settings.contact.rise
    if foot.rays.due:
        if (foot.contact == PLANTED) & settings.lock & (not foot.fresh):
            aim_under_held(foot, rays, floor, rise)
        else:
            aim_under(sole, foot, here, rays, floor, rise)
        count = FOOT_SAMPLES
        foot.rays.ahead = body.look_ahead & (foot.contact == SWINGING)
        if foot.rays.ahead:
            aim_ahead(sole, foot, here.ball, rays[count:], floor, rise)
            count += AHEAD_RAYS
        landing = predicted_landing(foot)
        foot.rays.at_landing = body.footholds & landing.known & (not foothold_is_settled(foot, landing.left))
        if foot.rays.at_landing:
            aim_at_landing(sole, foot, rays[count:], floor, rise)
            count += RAYS - PROFILE
    return count


@batch
def gather_rays(rows, records, gathered):
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
def take_hits(records, i, hits, answers, largest):
    """Take what the rays of one character hit, (R,) HIT, from the answers of a cast. See `take_answer`."""
    legs = records.soles.size
    number = take_run(hits, legs * RAYS, 1, answers, records.bodies[i].first_ray, largest)
    start = first_leg(records, i)
    for k in range(legs):
        leg = (start + k) % legs
        foot = records.feet[i, leg]
        if foot.rays.due:
            first = leg * RAYS
            number = take_run(hits, first, FOOT_SAMPLES, answers, number, largest)
            if foot.rays.ahead:
                number = take_run(hits, first + AHEAD, AHEAD_RAYS, answers, number, largest)
            if foot.rays.at_landing:
                number = take_run(hits, first + PROFILE, RAYS - PROFILE, answers, number, largest)
