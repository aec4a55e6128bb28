"""Where a foot that leaves comes down: its foothold.

Candidates lie where the foot is wanted and around it. A foothold is solid, not too steep and within reach; of those,
the nearest and most level one wins. It is looked for once per swing, with one cast for the rays of all feet.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.gait import clear_other, landing_point, lift_feet, lift_off
from kinema.behaviours.ground_contact import (
    BALL_SAMPLE,
    FOOT_SAMPLES,
    PLANTED,
    SWINGING,
    aim_down,
    fit_plane,
    floor_of,
    height_on,
    lift_and_gap,
    limit_slope,
)
from kinema.behaviours.pelvis import highest_hip
from kinema.behaviours.swinging import PATH_RAYS, land, plan_swing
from kinema.behaviours.walking import HANGING, reach_for, rotation_of
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load_matrix, store3, store4

CANDIDATES = 13
"""Where the foot is wanted, four around it half way out, eight all the way out."""

NO_GROUND = 0.3
"""What a hole under a part of the foot costs, as a gap in leg lengths."""

HOLD_REACH = 0.75
"""Share of its stretch beyond rest that a leg may use up where its foot comes down: the remainder is for the body's
moves until it leaves again."""

HOLD_CROUCH = 0.8
"""Share of the body's crouch that a foothold may take, for the same reason."""

HOLD_EDGE = 3.0
"""Weight of a gap under the sole in judging a foothold, beside its distance from where it is wanted."""

HOLD_HEIGHT = 0.6
"""Weight of how far a foothold lies off the plane of the other feet: level ones are better."""


class Foothold(NamedTuple):
    """A candidate: whether it can be stood on, where the ball comes to be, the normal, and its cost in leg lengths."""

    solid: Any
    ball: Any
    normal: Any
    cost: Any


@kernel
def candidate_offset(settings, leg, which, up):
    """How far from where the foot is wanted a candidate lies, across up."""
    zero = like(settings.search, 0.0)
    e1 = vec.unit_side(up)
    e2 = vec.cross(up, e1)
    inner = which < 5
    step = like(zero, math.pi * (2.0 if inner else 1.0) / 4.0) * like(zero, which - (1 if inner else 5))
    radius = settings.search * leg.bones.length * (like(zero, 0.5) if inner else like(zero, 1.0))
    radius = zero if which == 0 else radius
    return vec.add(vec.scale(e1, radius * math.cos(step)), vec.scale(e2, radius * math.sin(step)))


@kernel
def samples_of(leg):
    """How many rays a candidate needs."""
    return 1 if leg.point else FOOT_SAMPLES


@kernel
def path_ray(leg, foot):
    """The first of the rays along the path of a foot."""
    return foot.first_ray + CANDIDATES * samples_of(leg)


# --- rays -------------------------------------------------------------------------------------------------------------


@kernel
def is_looking(foot):
    """Whether a foot looks for its foothold in this frame: it has just left, or it hangs."""
    leaves = (foot.target.contact == SWINGING) & (foot.left >= foot.duration)
    return leaves | (foot.target.contact == HANGING)


@batch
def begin_steps(rows, settings, legs, walkers, feet, transforms, dt):
    """Lift the feet whose turn it is and number the rays of all that look for a foothold. Returns their count."""
    count = 0
    for k in range(rows.size):
        i = rows[k]
        walker, m = walkers[i], load_matrix(transforms[i, 0])
        walker.since += dt
        if not walker.pelvis.fresh:
            lift_feet(settings, legs, walker, feet[i], m, floor_of(settings.contact, transforms[i, 0]).up)
        for n in range(legs.size):
            foot = feet[i, n]
            foot.first_ray = -1
            if is_looking(foot):
                seconds = foot.left if foot.target.contact == SWINGING else like(dt, 0.0)
                wanted = landing_point(settings, legs[n], walker, foot, m, seconds)
                store3(foot.wanted, clear_other(settings, legs, feet[i], n, m, wanted))
                foot.first_ray = count
                count += CANDIDATES * samples_of(legs[n]) + PATH_RAYS
    return count


@routine
def aim_foot(settings, leg, foot, floor, rotation, rays):
    """Aim the rays of one foot: under every candidate, then along its path."""
    n, rise = foot.first_ray, settings.contact.rise
    wanted = load3(foot.wanted)
    for which in range(CANDIDATES):
        at = vec.add(wanted, candidate_offset(settings, leg, which, floor.up))
        for sample in range(samples_of(leg)):
            part = load3(leg.samples[BALL_SAMPLE if leg.point else sample])
            aim_down(rays[n], vec.add(at, quat.rotate(rotation, part)), floor, rise)
            n += 1
    ball = load3(foot.target.ball)
    for step in range(PATH_RAYS):
        share = like(rise, (step + 1) / (PATH_RAYS + 1))
        aim_down(rays[n], vec.add(ball, vec.scale(vec.sub(wanted, ball), share)), floor, rise)
        n += 1


@batch
def aim_rays(rows, settings, legs, feet, transforms, rays):
    """Aim the rays, (R,), of all feet that look for a foothold."""
    for k in range(rows.size):
        i = rows[k]
        floor, rotation = floor_of(settings.contact, transforms[i, 0]), rotation_of(load_matrix(transforms[i, 0]))
        for n in range(legs.size):
            if feet[i, n].first_ray >= 0:
                aim_foot(settings, legs[n], feet[i, n], floor, rotation, rays)


# --- choosing ---------------------------------------------------------------------------------------------------------


@routine
def foothold_at(settings, leg, foot, which, hits, floor):
    """Judge one candidate."""
    length, cos_slope = leg.bones.length, settings.contact.cos_slope
    zero = like(length, 0.0)
    n = foot.first_ray + which * samples_of(leg)
    hit = hits[n + (0 if leg.point else BALL_SAMPLE)]
    normal = load3(hit.normal)
    solid = hit.found & (vec.dot(normal, floor.up) >= cos_slope)
    if leg.point:
        return Foothold(solid, load3(hit.point), vec.unit_or(limit_slope(normal, floor.up, cos_slope), floor.up), zero)
    plane = fit_plane(hits, n, 1, floor, cos_slope)
    _, gap = lift_and_gap(plane, hits, n, 1, floor.up)
    for sample in range(FOOT_SAMPLES):
        gap += zero if hits[n + sample].found else like(length, NO_GROUND) * length
    at = vec.add(load3(foot.wanted), candidate_offset(settings, leg, which, floor.up))
    flat = vec.add(floor.point, vec.reject(vec.sub(at, floor.point), floor.up))
    ball = vec.add(flat, vec.scale(floor.up, height_on(plane, flat, floor.up)))
    return Foothold(solid, ball, plane.normal, gap * like(length, HOLD_EDGE) / length)


@routine
def is_within_reach(settings, leg, walker, foot, m, ankle, up):
    """Whether the leg reaches a foothold once the body has come there, without crouching too far."""
    seconds = foot.left if foot.target.contact == SWINGING else like(walker.level, 0.0)
    moves = vec.scale(load3(foot.drift), min(seconds, settings.swing_time) * walker.progress)
    hip = vec.add(xform.apply(m, load3(foot.hip)), moves)
    reach = reach_for(leg, like(seconds, HOLD_REACH))
    top = walker.pelvis.height + highest_hip(hip, ankle, up, reach)
    far = vec.length(vec.reject(vec.sub(hip, ankle), up)) > reach
    return (top >= walker.level - leg.crouch * like(seconds, HOLD_CROUCH)) & (not far)


@routine
def choose_foothold(settings, leg, walker, foot, hits, m, floor):
    """Choose the best foothold of a foot. Returns whether there is any."""
    length, up = leg.bones.length, floor.up
    zero = like(length, 0.0)
    slope = vec.unit_or(load3(walker.pelvis.normal), up)
    found, cheapest = False, zero
    for which in range(CANDIDATES):
        hold = foothold_at(settings, leg, foot, which, hits, floor)
        if not hold.solid:
            continue
        rotation = quat.unit(quat.mul(quat.between(up, hold.normal, vec.hinge_of(up)), rotation_of(m)))
        ankle = vec.add(hold.ball, quat.rotate(rotation, load3(leg.to_ankle)))
        if not (walker.pelvis.fresh | is_within_reach(settings, leg, walker, foot, m, ankle, up)):
            continue
        aside = candidate_offset(settings, leg, which, up)
        off = vec.dot(vec.sub(hold.ball, load3(foot.target.ball)), slope)
        cost = hold.cost + (vec.length(aside) + abs(off) * like(length, HOLD_HEIGHT)) / length
        if (not found) | (cost < cheapest):
            found, cheapest = True, cost
            store3(foot.foothold, hold.ball)
            store4(foot.foothold_rotation, rotation)
            store3(foot.shift, aside)
    foot.failed = not found
    store3(foot.tried, landing_point(settings, leg, walker, foot, m, zero))
    return found


@routine
def begin_swing(settings, leg, walker, foot, hits, m, floor):
    """Find the foothold of a foot and plan its swing. A foot that was about to leave and finds none stays."""
    found = choose_foothold(settings, leg, walker, foot, hits, m, floor)
    if walker.pelvis.fresh:
        if found:
            land(foot)
    elif found:
        if foot.target.contact == HANGING:
            lift_off(settings, foot, floor.up)
        plan_swing(settings, leg, foot, hits, path_ray(leg, foot), floor.up)
    elif foot.target.contact == SWINGING:
        foot.target.contact = PLANTED


@batch
def choose_footholds(rows, settings, legs, walkers, feet, hits, transforms):
    """Find the footholds of all feet that look for one."""
    for k in range(rows.size):
        i = rows[k]
        floor, m = floor_of(settings.contact, transforms[i, 0]), load_matrix(transforms[i, 0])
        for n in range(legs.size):
            if feet[i, n].first_ray >= 0:
                begin_swing(settings, legs[n], walkers[i], feet[i, n], hits, m, floor)
