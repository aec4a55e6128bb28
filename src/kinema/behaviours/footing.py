"""What is under feet: the rays, the plane that a foot stands on, the foothold it is going to land on.

All heights are metres along the character's own up, above the floor of its own space. `Plan` holds what is known
before the first frame, `Memory` what goes on from frame to frame, `Found` what a frame's rays met.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema._jit import batch, kernel, like, routine
from kinema.constants import (
    AHEAD_RAYS,
    FARTHEST_FOOTHOLD,
    FOOT_SAMPLES,
    FOOTHOLD_BEHIND,
    FOOTHOLD_CLEAR,
    FOOTHOLD_COST,
    FOOTHOLD_STEPS,
    HEADING_FLAT,
    HOLD_BALL,
    HOLD_BEHIND,
    HOLD_ENDS,
    HOLD_RISE,
    HOLD_TOES,
    LANDING_KNOWN,
    LARGEST_LOOK_AHEAD,
    LOOK_AHEAD,
    NO_GROUND,
    ONE_SLOPE,
    ROLL_HEIGHT,
    SWING_SPEED,
    TRAVEL_HALF_LIFE,
)
from kinema.math import quat, spring, vec, xform
from kinema.skeleton import matrix_at
from kinema.solvers.branch import origin_at

HEEL, BALL, TIP = 0, 1, 2
FREE, LOCKED, BARRED = 0, 1, 2
UNTOLD = -1
FOOT_STEPS = 2 * (FOOT_SAMPLES - 1)
"""Steps from ray to ray along a foot, where it is going to land."""
AHEAD = FOOT_SAMPLES
"""The first ray ahead of a swinging foot, among the rays of a leg."""
PROFILE = AHEAD + AHEAD_RAYS
"""The first ray along the line on which it is going to land."""
RAYS = PROFILE + FOOTHOLD_BEHIND + FOOT_STEPS + 2 * FOOTHOLD_STEPS + FOOTHOLD_CLEAR + 1


class Plan(NamedTuple):
    """What is known before the first frame. L legs."""

    up: Any
    """(3,): up in the character's own space."""
    floor: Any
    """Height of the floor in the character's own space, metres."""
    joints: Any
    """(L, 3): the joints that carry heel, ball and tip."""
    points: Any
    """(L, 3, 3): heel, ball and tip in the spaces of those joints."""
    size: Any
    """(L,): length of each leg, metres."""
    thighs: Any
    """(L,): the first joint of each leg."""
    knees: Any
    """(L,): the one it bends at."""
    ankles: Any
    """(L,): the last."""
    rise: Any
    """Metres above the floor from which rays start."""
    cos_slope: Any
    sin_slope: Any
    climb: Any
    """Leg lengths a second."""
    tilt_half_life: Any
    pelvis_half_life: Any
    release_half_life: Any
    plant_height: Any
    plant_speed: Any
    lock: Any
    stretch: Any
    lean: Any
    heel: Any
    """(L,): metres from the ball back to the heel."""
    spacing: Any
    """(L,): metres from ray to ray of the profile along a foot."""


class Memory(NamedTuple):
    """What is kept from frame to frame. N characters, L legs."""

    fresh: Any
    """(N,): whether nothing from before counts."""
    moving: Any
    """(N,): whether anything here changed in the last frame."""
    soles: Any
    """(N, L, 3, 3): heel, ball and tip as the clip had them, world space."""
    contacts: Any
    """(N, L, 3, 3): heel, ball and tip as they were put, world space."""
    offsets: Any
    """(N, L, 3): how far a foot is held back from sliding, world space, across up."""
    locked: Any
    """(N, L): FREE, LOCKED or BARRED."""
    told: Any
    """(N, L): whether the foot was told to stand, 1, or not to, 0; UNTOLD where it goes by the clip."""
    foretold: Any
    """(N, L): whether time and place of the landing were told, and are not to be guessed from the last one."""
    chosen: Any
    """(N, L): whether a foothold was found in this swing."""
    planes: Any
    """(N, L, 3): a point of the plane a planted foot stands on, or a swinging one is going to, world space."""
    plane_normals: Any
    """(N, L, 3): and its normal."""
    aloft_for: Any
    """(N, L): seconds since the foot was let go."""
    swing_time: Any
    """(N, L): seconds its last swing took; 0 while it has made none."""
    landed: Any
    """(N, L, 3): where its ball landed then, from the hips, in the character's own space."""
    lands: Any
    """(N, L, 3): where the ball is going to land, world space, if nothing is in the way."""
    steps: Any
    """(N, L): steps of the profile by which it is going to land ahead of (or behind) where the clip puts it."""
    headings: Any
    """(N, L, 3): from heel to tip, across up, of length 1."""
    hips: Any
    """(N, 1, 3): where the hips were."""
    travel: Any
    """(N, 1, 3): velocity of the body across up, metres a second."""
    takeoff: Any
    """(N, L): height of the plane from which the foot took off."""
    ahead: Any
    """(N, L): height of the plane on which the foot stands or is going to land."""
    heights: Any
    """(N, L): height of the plane under the ball."""
    normals: Any
    """(N, L, 3): the normal that the foot goes by."""
    raised: Any
    """(N, L): metres that a foot is raised so that no part of it is in the ground."""
    targets: Any
    """(N, L, 3): where the ankle is to be, world space."""
    rotations: Any
    """(N, L, 4): how it is to be turned, world space."""
    swing: Any
    """(N, L): 0 on the ground to 1 high in the air."""
    pelvis: Any
    """(N,): height of the pelvis' spring."""
    pelvis_speed: Any
    follow_speed: Any
    shift: Any
    """(N,): metres that the pelvis was moved by."""
    lean: Any
    """(N, 1, 3): the normal that the body goes by."""
    moves: Any
    """(N, 3): what place or pelvis were just moved by, world space."""


class Found(NamedTuple):
    """What the rays of a frame met: for each leg FOOT_SAMPLES under its sole, then those ahead; last, the hips'."""

    hit: Any
    points: Any
    normals: Any


# --- small things ----------------------------------------------------------------------------------------------


@kernel
def floor_of(place, i, plan):
    """A point of the character's floor and its up in world space."""
    m = matrix_at(place, i, 0)
    zero = like(plan.floor, 0.0)
    one = like(plan.floor, 1.0)
    own = (plan.up[0], plan.up[1], plan.up[2])
    up = vec.unit_or(xform.linear(m, own), (zero, one, zero))
    return xform.apply(m, vec.scale(own, plan.floor)), up


@kernel
def sole_point(world, i, plan, leg, which):
    """Heel, ball or tip of a foot in world space."""
    p = plan.points[leg, which]
    return xform.apply(matrix_at(world, i, plan.joints[leg, which]), (p[0], p[1], p[2]))


@kernel
def get3(array, i, leg):
    return (array[i, leg, 0], array[i, leg, 1], array[i, leg, 2])


@kernel
def set3(array, i, leg, v):
    array[i, leg, 0], array[i, leg, 1], array[i, leg, 2] = v[0], v[1], v[2]


@kernel
def set_ray(origins, directions, i, n, point, base, up, rise):
    """A ray down the character's own up, through a point, from a height above its floor."""
    at = vec.add(vec.add(base, vec.reject(vec.sub(point, base), up)), vec.scale(up, rise))
    for c in range(3):
        origins[i, n, c] = at[c]
        directions[i, n, c] = -up[c]


@kernel
def shortened(v, largest):
    """A vector, cut to a largest length."""
    length = vec.length(v)
    return vec.scale(v, largest / length if length > largest else like(largest, 1.0))


# --- rays ------------------------------------------------------------------------------------------------------


@routine
def aim_under(plan, memory, i, leg, heel, ball, tip, base, up, origins, directions):
    """Rays under heel, middle, ball and tip, where they are with the tilt the foot has (see `stepping.laid`)."""
    n = leg * RAYS
    half = like(plan.rise, 0.5)
    normal = vec.unit_or(get3(memory.normals, i, leg), up)
    turn = quat.between(up, normal, vec.hinge_of(up))
    rolled = min(vec.dot(vec.sub(ball, base), up), plan.size[leg] * like(half, ROLL_HEIGHT))
    at = vec.add(vec.add(ball, get3(memory.offsets, i, leg)), vec.scale(normal, rolled))
    to_heel, to_tip = quat.rotate(turn, vec.sub(heel, ball)), quat.rotate(turn, vec.sub(tip, ball))
    set_ray(origins, directions, i, n, vec.add(at, to_heel), base, up, plan.rise)
    set_ray(origins, directions, i, n + 1, vec.add(at, vec.scale(to_heel, half)), base, up, plan.rise)
    set_ray(origins, directions, i, n + 2, at, base, up, plan.rise)
    set_ray(origins, directions, i, n + 3, vec.add(at, to_tip), base, up, plan.rise)


@routine
def aim_ahead(plan, memory, i, leg, tip, velocity, travel, base, up, origins, directions, wanted):
    """Rays along the way that a swinging foot is going in the next moment."""
    # At least as fast as feet swing at this speed of the body: one that just left the ground is still slow.
    usual = vec.scale(travel, like(plan.rise, SWING_SPEED))
    slow = vec.dot(velocity, velocity) < vec.dot(usual, usual)
    largest = plan.size[leg] * like(plan.rise, LARGEST_LOOK_AHEAD)
    way = shortened(vec.scale(vec.select(slow, usual, velocity), like(plan.rise, LOOK_AHEAD)), largest)
    start = vec.add(tip, get3(memory.offsets, i, leg))
    swinging = memory.locked[i, leg] == FREE
    for a in range(AHEAD_RAYS):
        n = leg * RAYS + AHEAD + a
        wanted[i, n] = swinging
        if swinging:
            to = vec.add(start, vec.scale(way, like(plan.rise, (a + 1) / AHEAD_RAYS)))
            set_ray(origins, directions, i, n, to, base, up, plan.rise)


@kernel
def foreseen_landing(memory, i, leg):
    """Seconds until a swinging foot lands if it takes as long as the last time, and whether that is soon."""
    swing_time = memory.swing_time[i, leg]
    left = swing_time - memory.aloft_for[i, leg]
    soon = (left > like(left, 0.0)) & (left < swing_time * like(left, LANDING_KNOWN))
    return left, soon & (memory.locked[i, leg] == FREE)


@routine
def aim_at_landing(plan, memory, i, leg, hips, travel, base, up, place, origins, directions, wanted):
    """Rays along the line on which the foot is going to land: where it was told to, or as far from the hips as the last
    time.
    """
    left, soon = foreseen_landing(memory, i, leg)
    if not memory.foretold[i, leg]:
        from_hips = xform.linear(matrix_at(place, i, 0), get3(memory.landed, i, leg))
        set3(memory.lands, i, leg, vec.add(vec.add(hips, from_hips), vec.scale(travel, left)))
    ball = get3(memory.lands, i, leg)
    heading = get3(memory.headings, i, leg)
    first = -plan.heel[leg] - plan.spacing[leg] * like(left, FOOTHOLD_STEPS + FOOTHOLD_BEHIND)
    for p in range(RAYS - PROFILE):
        n = leg * RAYS + PROFILE + p
        wanted[i, n] = soon
        if soon:
            to = vec.add(ball, vec.scale(heading, first + plan.spacing[leg] * like(left, p)))
            set_ray(origins, directions, i, n, to, base, up, plan.rise)


@batch
def aim_rays(rows, plan, memory, place, world, hips, dt, origins, directions, wanted):
    """All rays of a frame. `wanted` says which are worth casting; the last one of each character is under its hips."""
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    legs = plan.size.size
    for k in range(rows.size):
        i = rows[k]
        base, up = floor_of(place, i, plan)
        still = memory.fresh[i] | (dt <= zero)
        rate = zero if still else one / (dt if dt > zero else one)
        at_hips = origin_at(world, i, hips)
        travel = vec.scale(vec.reject(vec.sub(at_hips, get3(memory.hips, i, 0)), up), rate)
        # Hips sway and surge with every step; the speed of the body is what is left of it.
        before = vec.select(still, travel, get3(memory.travel, i, 0))
        travel = vec.add(travel, vec.scale(vec.sub(before, travel), spring.decay(like(dt, TRAVEL_HALF_LIFE), dt)))
        set3(memory.hips, i, 0, at_hips)
        set3(memory.travel, i, 0, travel)
        for leg in range(legs):
            heel = sole_point(world, i, plan, leg, HEEL)
            ball = sole_point(world, i, plan, leg, BALL)
            tip = sole_point(world, i, plan, leg, TIP)
            foot = vec.sub(tip, heel)
            along = vec.reject(foot, up)
            # A foot that points down says nothing of where it will point when it lands.
            if memory.fresh[i] | (vec.length(along) >= vec.length(foot) * like(dt, HEADING_FLAT)):
                set3(memory.headings, i, leg, vec.unit_or(along, vec.unit_or(travel, vec.unit_side(up))))
            moved = vec.sub(ball, get3(memory.soles[i], leg, BALL))
            velocity = vec.scale(vec.reject(moved, up), rate)
            aim_under(plan, memory, i, leg, heel, ball, tip, base, up, origins, directions)
            aim_ahead(plan, memory, i, leg, tip, velocity, travel, base, up, origins, directions, wanted)
            aim_at_landing(plan, memory, i, leg, at_hips, travel, base, up, place, origins, directions, wanted)
        set_ray(origins, directions, i, legs * RAYS, at_hips, base, up, plan.rise)


@batch
def gather_rays(rows, wanted, origins, directions, some_origins, some_directions):
    """The rays that are worth casting, one after the other. Returns how many there are."""
    count = 0
    for k in range(rows.size):
        i = rows[k]
        for n in range(wanted.shape[1]):
            if wanted[i, n]:
                for c in range(3):
                    some_origins[count, c] = origins[i, n, c]
                    some_directions[count, c] = directions[i, n, c]
                count += 1
    return count


@batch
def scatter_hits(rows, wanted, hit, points, normals, distances, found):
    """What the rays met, back to where they belong; what was not cast has met nothing.

    A ray that starts inside something solid has found a wall beside the leg, not ground.
    """
    count = 0
    for k in range(rows.size):
        i = rows[k]
        for n in range(wanted.shape[1]):
            found.hit[i, n] = wanted[i, n] and hit[count] and distances[count] > 0
            if wanted[i, n]:
                for c in range(3):
                    found.points[i, n, c] = points[count, c]
                    found.normals[i, n, c] = normals[count, c]
                count += 1


# --- planes and footholds --------------------------------------------------------------------------------------


@kernel
def tilted(normal, up, cos_slope, sin_slope):
    """A ground normal at most the largest slope away from up."""
    zero = like(cos_slope, 0.0)
    cosine = vec.dot(normal, up)
    aside = vec.unit_or(vec.reject(normal, up), (zero, zero, zero))
    edge_normal = vec.add(vec.scale(up, cos_slope), vec.scale(aside, sin_slope))
    return vec.select(cosine < cos_slope, vec.unit_or(edge_normal, up), normal)


@kernel
def height_on(plane, normal, point, up):
    """How far a point is below a plane, along up. The plane is not steeper than a foot may stand."""
    return vec.dot(vec.sub(plane, point), normal) / vec.dot(up, normal)


@kernel
def sample_at(hits, i, n):
    return (hits[i, n, 0], hits[i, n, 1], hits[i, n, 2])


@kernel
def judge(plane, normal, hit, points, i, n, stride, up):
    """How far a plane has to be lifted to clear every sample, and the largest gap it then leaves."""
    zero = like(normal[0], 0.0)
    lift = zero
    lowest = zero
    for k in range(FOOT_SAMPLES):
        if hit[i, n + k * stride]:
            gap = height_on(plane, normal, sample_at(points, i, n + k * stride), up)
            lift = max(lift, -gap)
            lowest = max(lowest, gap)
    return lift, lowest + lift


@routine
def fit(found, i, n, stride, up, base, plan):
    """The plane that a foot stands on: of those through one sample along its normal, and the one through heel and ball,
    the one that leaves the smallest gap when it clears all samples. The character's floor where there is no ground.
    The samples of heel, middle, ball and tip start at n, `stride` apart.
    Returns a point of it and its normal.
    """
    hit, points, normals = found
    one = like(up[0], 1.0)
    zero = like(up[0], 0.0)
    plane, normal, worst, any_yet = base, up, zero, False
    for order in range(FOOT_SAMPLES + 1):
        # Heel and ball together first, then ball, heel, tip, middle: of equals the first stays.
        k = 2 if order <= 1 else (0 if order == 2 else (3 if order == 3 else 1))
        known = hit[i, n + k * stride] & ((order > 0) | hit[i, n])
        if not known:
            continue
        at = sample_at(points, i, n + k * stride)
        candidate = (normals[i, n + k * stride, 0], normals[i, n + k * stride, 1], normals[i, n + k * stride, 2])
        if order == 0:
            heel = (normals[i, n, 0], normals[i, n, 1], normals[i, n, 2])
            along = vec.unit_or(vec.sub(at, sample_at(points, i, n)), (zero, zero, zero))
            level = vec.unit_or(vec.add(candidate, heel), up)
            candidate = vec.unit_or(vec.reject(level, along), up)
            # From tread to tread is no slope: it must be one by the ground's own normals, too.
            if (vec.dot(candidate, up) < plan.cos_slope) | (vec.dot(candidate, level) < like(one, ONE_SLOPE)):
                continue
        candidate = tilted(candidate, up, plan.cos_slope, plan.sin_slope)
        lift, gap = judge(at, candidate, hit, points, i, n, stride, up)
        if not any_yet or gap < worst:
            plane, normal, worst, any_yet = vec.add(at, vec.scale(up, lift)), candidate, gap, True
    return plane, vec.unit_or(normal, (zero, one, zero))


@kernel
def rise_at(found, i, n, plane, normal, up):
    """How far the ground at a sample is above a plane; 0 where it is not."""
    zero = like(up[0], 0.0)
    above = zero
    if found.hit[i, n]:
        above = -height_on(plane, normal, sample_at(found.points, i, n), up)
    return above if above > zero else zero


@kernel
def gap_at(found, i, n, plane, normal, up, otherwise):
    """How far the ground at a sample is below a plane that clears it; so much where there is no ground."""
    return height_on(plane, normal, sample_at(found.points, i, n), up) if found.hit[i, n] else otherwise


@routine
def hold_cost(found, i, first, plane, normal, up, leg_size):
    """What is wrong with standing on this plane, as metres of gap; the heel's sample is the first."""
    none = like(leg_size, NO_GROUND) * leg_size
    heel = gap_at(found, i, first, plane, normal, up, none) + gap_at(found, i, first + 2, plane, normal, up, none)
    ball = gap_at(found, i, first + FOOT_STEPS - 2, plane, normal, up, none)
    toes = gap_at(found, i, first + FOOT_STEPS - 1, plane, normal, up, none)
    tip = gap_at(found, i, first + FOOT_STEPS, plane, normal, up, none)
    before = rise_at(found, i, first + FOOT_STEPS + 1, plane, normal, up)
    ahead = rise_at(found, i, first + FOOT_STEPS + FOOTHOLD_CLEAR, plane, normal, up)
    behind = rise_at(found, i, first - FOOTHOLD_BEHIND, plane, normal, up)
    return (
        like(leg_size, HOLD_BALL) * ball
        + like(leg_size, HOLD_TOES) * max(toes, like(leg_size, 0.0))
        + like(leg_size, HOLD_ENDS) * (heel + tip + ahead)
        + like(leg_size, HOLD_RISE) * before
        + like(leg_size, HOLD_BEHIND) * behind
    )


@routine
def foothold(found, i, n, up, base, plan, leg, known, chosen):
    """How many steps of the profile ahead (or back) the foot is best put: where the ground carries ball, tip and heel.

    A step costs a little, so that a foot is moved only off an edge, a wall or a hole. What was chosen the frame before
    stays, if anything was, unless something is clearly better. Returns the steps and the plane it is going to stand on.
    """
    leg_size = plan.size[leg]
    farthest = like(leg_size, FARTHEST_FOOTHOLD) * leg_size
    best, cheapest, any_yet = 0, like(leg_size, 0.0), False
    best_plane, best_normal = base, up
    for order in range(2 * FOOTHOLD_STEPS + 1):
        # 0, -1, 1, -2, 2 and so on: of equals the nearest stays.
        steps = (order + 1) // 2 if order % 2 == 0 else -((order + 1) // 2)
        if plan.spacing[leg] * like(leg_size, abs(steps)) > farthest:
            break
        first = n + FOOTHOLD_BEHIND + FOOTHOLD_STEPS + steps
        plane, normal = fit(found, i, first, 2, up, base, plan)
        away = abs(steps) - (FOOTHOLD_STEPS if known & (steps == chosen) else 0)
        cost = like(leg_size, FOOTHOLD_COST) * leg_size * like(leg_size, away)
        cost += hold_cost(found, i, first, plane, normal, up, leg_size)
        if not any_yet or cost < cheapest:
            best, cheapest, any_yet = steps, cost, True
            best_plane, best_normal = plane, normal
    return best, best_plane, best_normal
