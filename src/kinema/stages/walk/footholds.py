"""Where a foot that leaves comes down: its foothold.

Candidates lie where the foot is wanted and around it. A foothold is solid, not too steep and within reach; of those,
the nearest and most level one wins. It is looked for once per swing, with one cast for the rays of all feet.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load_matrix, store3, store4
from kinema.stages.legs.ground_contact import (
    BALL_SAMPLE,
    FOOT_SAMPLES,
    HEEL_SAMPLE,
    NO_GROUND,
    PLANTED,
    SWINGING,
    TIP_SAMPLE,
    fit_plane,
    floor_of,
    height_on,
    lift_and_gap,
    limit_slope,
)
from kinema.stages.legs.pelvis import highest_hip
from kinema.stages.walk.gait import (
    bound_landing,
    landing_point,
    learn_pace,
    lift_feet,
    lift_off,
    on_own_side,
)
from kinema.stages.walk.swinging import land
from kinema.stages.walk.walking import aim_at_ground, landing_ankle, landing_share, reach_for, rotation_of
from kinema.stages.walk.walking_records import HANGING

RING, SHORTER = 13, 8
"""Candidates where the foot is wanted, four around it half way out and eight all the way out; and on the way from there
back to its home, for shorter steps."""

CANDIDATES = RING + SHORTER
"""Candidates for a foothold."""

BALL_GAP, BALL_HANGS = 0.06, 1.0
"""Leg lengths above its ground up to which the ball of a foot stands there; and what it costs, in leg lengths, if it
hangs in the air. Only a foot that is longer than a tread, and fits nowhere else, stands on its toes or its heel
alone."""

POINT_SAMPLES = 5
"""Rays under a foot that is a point: in its middle, before and behind it, and on either side."""

SOLE_MARGIN = 0.03
"""Leg lengths before its toes and behind its heel that a foot keeps from the edges of steps; one that is a point, all
around it."""

NEAR_EDGE = 0.05
"""Leg lengths above the sole from which ground right before its toes, or behind its heel, is the edge of a step: the
foot would scrape along it."""

HOLD_REACH = 0.75
"""Share of its stretch beyond rest that a leg may use up where its foot comes down: the remainder is for the body's
moves until it leaves again."""

HOLD_CROUCH = 0.8
"""Share of the body's crouch that a foothold may take, for the same reason."""

HELD_BACK, HELD_CROUCH = 0.1, 1.4
"""Progress below which a walker takes footholds at the end of its reach, and the share of its crouch that they may take
then."""

HIGHEST_LANDING = 0.55
"""Leg lengths by which a foot lands higher or lower than it stood, at most: two steps of steep stairs."""

HIGHEST_BESIDE = 0.47
"""Leg lengths by which a foot lands higher or lower than the foot beside it stands, at most."""

EASY_BESIDE, HOLD_BESIDE = 0.3, 2.0
"""Leg lengths from which that has a cost, one step of a staircase, and its weight."""

SHORTEST_STEP = 0.02
"""Leg lengths below which a step is not worth it: others may need theirs."""

HOLD_EDGE = 3.0
"""Weight of a gap under the sole in judging a foothold, beside its distance from where it is wanted."""

HOLD_CROSSING = 5.0
"""Weight of how far a foothold lies beyond the side of its foot, where it would cross the foot beside it."""

HOLD_HEIGHT = 0.6
"""Weight of how far a foothold lies off the plane of the other feet: level ones are better."""


class Foothold(NamedTuple):
    """A candidate: whether it can be stood on, where the ball comes to be, the normal, and its cost in leg lengths."""

    solid: Any
    ball: Any
    normal: Any
    cost: Any


@routine
def candidate_offset(settings, leg, foot, which, up):
    """How far from where the foot is wanted a candidate lies, across up."""
    zero = like(settings.search, 0.0)
    if which >= RING:
        back = vec.reject(vec.sub(load3(foot.home.point), load3(foot.wanted.point)), up)
        return vec.scale(back, like(zero, (which - RING + 1) / SHORTER))
    e1 = vec.unit_side(up)
    e2 = vec.cross(up, e1)
    inner = which < 5
    step = like(zero, math.pi * (2.0 if inner else 1.0) / 4.0) * like(zero, which - (1 if inner else 5))
    radius = settings.search * leg.bones.length * (like(zero, 0.5) if inner else like(zero, 1.0))
    radius = zero if which == 0 else radius
    return vec.add(vec.scale(e1, radius * math.cos(step)), vec.scale(e2, radius * math.sin(step)))


@kernel
def samples_of(leg):
    """How many rays a candidate needs: under its sole, before its toes and behind its heel; or all around a point."""
    return POINT_SAMPLES if leg.point else FOOT_SAMPLES + 2


@routine
def sample_part(settings, leg, sample):
    """Where a ray of a candidate goes down, from the ball of the foot, in the character's own space."""
    if leg.point:
        margin = load3(leg.margin)
        aside = vec.select(sample < 3, margin, vec.cross(load3(settings.contact.up), margin))
        share = like(margin[0], 0.0 if sample == 0 else (1.0 if sample % 2 else -1.0))
        return vec.scale(aside, share)
    if sample < FOOT_SAMPLES:
        return load3(leg.samples[sample])
    if sample == FOOT_SAMPLES:
        return vec.sub(load3(leg.samples[HEEL_SAMPLE]), load3(leg.margin))
    return vec.add(load3(leg.samples[TIP_SAMPLE]), load3(leg.margin))


# --- rays -------------------------------------------------------------------------------------------------------------


@kernel
def is_looking(foot):
    """Whether a foot looks for its foothold in this frame: it has just left, it hangs, or it needs another one."""
    swing = foot.swing
    leaves = (foot.target.contact == SWINGING) & ((swing.left >= swing.duration) | swing.again)
    return leaves | (foot.target.contact == HANGING)


@routine
def misses(settings, leg, walker, foot, m, up):
    """Whether a foot that rises no longer reaches its foothold, because its body does not get there in time."""
    swing = foot.swing
    on_its_way = (foot.target.contact == SWINGING) & (swing.left < swing.duration) & (not swing.replanned)
    rises = vec.dot(load3(foot.velocity), up) >= like(swing.left, 0.0)
    if not (on_its_way & rises):
        return False
    return not is_within_reach(settings, leg, walker, foot, m, landing_ankle(leg, foot), up)


@kernel
def begin_beat(walker, dt):
    """Count the time since the last lift-off. Once per beat, feet that found no foothold try again."""
    rhythm = walker.rhythm
    beats = math.floor(rhythm.since / rhythm.beat)
    rhythm.since += dt
    rhythm.retries = math.floor(rhythm.since / rhythm.beat) > beats


@batch
def begin_steps(rows, records, transforms, dt):
    """Lift the feet whose turn it is and number the rays of all that look for a foothold. Returns their count."""
    settings, legs, count = records.settings[0], records.legs, 0
    for k in range(rows.size):
        i = rows[k]
        walker, feet, m = records.walkers[i], records.feet[i], load_matrix(transforms[i, 0])
        begin_beat(walker, dt)
        up = floor_of(settings.contact, transforms[i, 0]).up
        if not walker.pelvis.fresh:
            lift_feet(settings, legs, walker, feet, m, up)
        walker.advance = landing_share(settings, legs, walker, feet, m, up)
        for n in range(legs.size):
            foot = feet[n]
            foot.first_ray = -1
            foot.swing.again = misses(settings, legs[n], walker, foot, m, up)
            if is_looking(foot):
                seconds = foot.swing.left if foot.target.contact == SWINGING else like(dt, 0.0)
                bound_landing(settings, legs, walker, feet, n, m, seconds)
                store3(foot.wanted.point, on_own_side(foot, landing_point(settings, legs[n], walker, foot, m, seconds)))
                foot.first_ray = count
                count += CANDIDATES * samples_of(legs[n])
    return count


@routine
def aim_at_candidates(settings, leg, walker, foot, floor, rotation, rays):
    """Aim the rays of one foot, under every candidate."""
    n, wanted = foot.first_ray, load3(foot.wanted.point)
    for which in range(CANDIDATES):
        at = vec.add(wanted, candidate_offset(settings, leg, foot, which, floor.up))
        for sample in range(samples_of(leg)):
            below = vec.add(at, quat.rotate(rotation, sample_part(settings, leg, sample)))
            aim_at_ground(settings, walker, rays, n, below, floor)
            n += 1


@batch
def aim_foothold_rays(rows, records, transforms, rays):
    """Aim the rays of all feet that look for a foothold."""
    settings, legs = records.settings[0], records.legs
    for k in range(rows.size):
        i = rows[k]
        floor, rotation = floor_of(settings.contact, transforms[i, 0]), rotation_of(load_matrix(transforms[i, 0]))
        for n in range(legs.size):
            foot = records.feet[i, n]
            if foot.first_ray >= 0:
                aim_at_candidates(settings, legs[n], records.walkers[i], foot, floor, rotation, rays)


# --- choosing ---------------------------------------------------------------------------------------------------------


@routine
def foothold_at(settings, leg, walker, foot, which, hits, floor):
    """Judge one candidate: its cost is that of the gaps under the sole."""
    length, cos_slope = leg.bones.length, settings.contact.cos_slope
    zero = like(length, 0.0)
    n = foot.first_ray + which * samples_of(leg)
    hit = hits[n + (0 if leg.point else BALL_SAMPLE)]
    normal = load3(hit.normal)
    solid = hit.found & (vec.dot(normal, floor.up) >= cos_slope)
    if leg.point:
        at, cost = beside_edge(leg, hits, n, floor.up)
        normal = vec.unit_or(limit_slope(load3(hits[at].normal), floor.up, cos_slope), floor.up)
        return Foothold(solid, load3(hits[at].point), normal, cost)
    plane = fit_plane(hits, n, 1, floor, cos_slope)
    gap_below = height_on(plane, load3(hit.point), floor.up)
    hangs = (gap_below > length * like(length, BALL_GAP)) & (not is_held_back(walker))
    _, gap = lift_and_gap(plane, hits, n, 1, floor.up)
    for sample in range(FOOT_SAMPLES):
        gap += zero if hits[n + sample].found else like(length, NO_GROUND) * length
    for sample in range(FOOT_SAMPLES, FOOT_SAMPLES + 2):
        beside = hits[n + sample]
        if beside.found and height_on(plane, load3(beside.point), floor.up) < -length * like(length, NEAR_EDGE):
            gap += length * like(length, NO_GROUND)
    at = vec.add(load3(foot.wanted.point), candidate_offset(settings, leg, foot, which, floor.up))
    flat = vec.add(floor.point, vec.reject(vec.sub(at, floor.point), floor.up))
    ball = vec.add(flat, vec.scale(floor.up, height_on(plane, flat, floor.up)))
    cost = gap * like(length, HOLD_EDGE) / length + like(length, BALL_HANGS if hangs else 0.0)
    return Foothold(solid, ball, plane.normal, cost)


@routine
def beside_edge(leg, hits, first, up):
    """Which of its rays a foot that is a point stands on, and what that costs.

    On a side where the ground is much higher, a riser is too close: the foot stands on the ray opposite, if that is on
    the same tread.
    """
    length, at, cost = leg.bones.length, first, like(leg.bones.length, 0.0)
    for sample in range(1, POINT_SAMPLES):
        beside = hits[first + sample]
        if beside.found and rise_to(hits[first], beside, up) > length * like(length, NEAR_EDGE):
            across = first + (sample + 1 if sample % 2 else sample - 1)
            level = abs(rise_to(hits[first], hits[across], up)) <= length * like(length, NEAR_EDGE)
            free = hits[across].found & level
            at = across if free else at
            cost += like(length, NO_GROUND * HOLD_EDGE)
    return at, cost


@kernel
def rise_to(first, last, up):
    """How much higher one hit is than another."""
    return vec.dot(vec.sub(load3(last.point), load3(first.point)), up)


@kernel
def is_held_back(walker):
    """Whether a walker waits for its legs. It takes worse footholds then: higher ones, at the end of its reach, or
    under its toes alone. It would never get on otherwise.
    """
    return walker.progress < like(walker.progress, HELD_BACK)


@routine
def is_within_reach(settings, leg, walker, foot, m, ankle, up):
    """Whether the leg reaches a foothold once the body has come there, without crouching too far."""
    seconds = foot.swing.left if foot.target.contact == SWINGING else like(walker.level.height, 0.0)
    moves = vec.scale(load3(foot.home.drift), seconds * walker.advance)
    hip = vec.add(xform.apply(m, load3(foot.hip.point)), moves)
    held = is_held_back(walker)
    reach = leg.reach if held else reach_for(leg, like(seconds, HOLD_REACH))
    crouch = leg.crouch * (like(seconds, HELD_CROUCH) if held else like(seconds, HOLD_CROUCH))
    top = walker.pelvis.height + highest_hip(hip, ankle, up, reach)
    far = vec.length(vec.reject(vec.sub(hip, ankle), up)) > reach
    climbs = vec.dot(vec.sub(ankle, load3(foot.target.ankle)), up) * leg.level_share
    return (top >= walker.level.height + climbs - crouch) & (not far)


@routine
def find_foothold(settings, leg, walker, foot, hits, m, floor):
    """Find the best foothold of a foot. Returns whether there is any."""
    length, up = leg.bones.length, floor.up
    zero = like(length, 0.0)
    slope = vec.unit_or(load3(walker.pelvis.normal), up)
    found, cheapest = False, zero
    for which in range(CANDIDATES):
        hold = foothold_at(settings, leg, walker, foot, which, hits, floor)
        if not hold.solid:
            continue
        rotation = quat.unit(quat.mul(quat.between(up, hold.normal, vec.hinge_of(up)), rotation_of(m)))
        ankle = vec.add(hold.ball, quat.rotate(rotation, load3(leg.to_ankle)))
        way = vec.sub(hold.ball, load3(foot.target.ball))
        high = abs(vec.dot(way, up)) > length * like(length, HIGHEST_LANDING)
        beside = abs(vec.dot(hold.ball, up) - foot.wanted.beside) / length
        high |= beside > like(length, HIGHEST_BESIDE)
        fits = is_within_reach(settings, leg, walker, foot, m, ankle, up) & (is_held_back(walker) | (not high))
        if not (walker.pelvis.fresh | fits):
            continue
        aside = candidate_offset(settings, leg, foot, which, up)
        off = vec.dot(way, slope)
        crosses = max(foot.wanted.bound - vec.dot(hold.ball, load3(foot.wanted.side)), zero)
        crossing = crosses * like(length, HOLD_CROSSING)
        cost = hold.cost + (vec.length(aside) + abs(off) * like(length, HOLD_HEIGHT) + crossing) / length
        cost += max(beside - like(length, EASY_BESIDE), zero) * like(length, HOLD_BESIDE)
        if (not found) | (cost < cheapest):
            found, cheapest = True, cost
            store3(foot.foothold.ball, hold.ball)
            store4(foot.foothold.rotation, rotation)
            store3(foot.foothold.shift, aside)
    foot.foothold.failed = not found
    store3(foot.foothold.tried, landing_point(settings, leg, walker, foot, m, zero))
    return found


@routine
def begin_swing(settings, leg, walker, foot, hits, m, floor):
    """Find the foothold of a foot, and let it swing there.

    A foot that was about to leave and finds none stays, and so does one that would come down where it is. One that is
    on its way keeps the foothold that it has.
    """
    swing = foot.swing
    found = find_foothold(settings, leg, walker, foot, hits, m, floor)
    if swing.again:
        swing.replanned = True
        if found:
            swing.lift_off, swing.ground = vec.dot(load3(foot.target.ball), floor.up), ground_below(foot, floor)
            swing.plans = True
        return
    if found & (foot.target.contact == SWINGING) & (not walker.pelvis.fresh):
        moves = vec.sub(load3(foot.foothold.ball), load3(foot.target.ball))
        found = vec.length(moves) > leg.bones.length * like(swing.left, SHORTEST_STEP)
        foot.foothold.failed = not found
    if walker.pelvis.fresh:
        if found:
            land(foot)
    elif found:
        if foot.target.contact == HANGING:
            lift_off(walker, foot, floor.up)
        swing.plans = True
    elif foot.target.contact == SWINGING:
        foot.target.contact = PLANTED


@kernel
def ground_below(foot, floor):
    """The height of the ground that a foot is over, as its body follows it."""
    return foot.target.ground + vec.dot(floor.point, floor.up)


@kernel
def learns_again(walker):
    """Whether a walker whose legs are out of step learns its pace, although no group lifts off: every other beat."""
    rhythm = walker.rhythm
    return rhythm.retries & (int(rhythm.since / rhythm.beat) % 2 == 0)


@batch
def find_footholds(rows, records, hits, transforms):
    """Find the footholds of all feet that look for one, and let them swing there."""
    settings, legs = records.settings[0], records.legs
    for k in range(rows.size):
        i = rows[k]
        walker, feet = records.walkers[i], records.feet[i]
        floor, m = floor_of(settings.contact, transforms[i, 0]), load_matrix(transforms[i, 0])
        in_air = lifts = False
        for n in range(legs.size):
            in_air |= (feet[n].target.contact == SWINGING) & ((feet[n].first_ray < 0) | feet[n].swing.again)
        for n in range(legs.size):
            if feet[n].first_ray >= 0:
                begin_swing(settings, legs[n], walker, feet[n], hits, m, floor)
                lifts |= feet[n].target.contact == SWINGING
        if lifts & (not in_air):
            walker.rhythm.since = like(walker.rhythm.since, 0.0)
        if (lifts & (not in_air)) | learns_again(walker):
            learn_pace(walker)
