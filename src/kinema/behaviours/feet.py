"""`Feet`: the clip's feet on the ground that is there.

A clip was made on a flat floor. Each frame the floor under every foot is laid onto the ground: a plane is fitted to
what rays find under the sole, and the foot moves over that plane as it moved over the floor, so heel strike, roll and
toe-off stay as animated and a lifted foot stays lifted. Then the pelvis is moved, and the legs are solved.

What keeps it steady, foot by foot:
- a planted foot keeps the plane it landed on, and the point that touches the ground does not slide: whatever the
  clip slides is taken into an offset, which is given back while the foot is in the air;
- a swinging foot is raised ahead of a step, at a bounded rate, and lowered behind one at the same;
- the pelvis goes by the mean of the feet, on a spring, and never higher than a planted leg can reach.

All heights are metres along the character's own up, above the floor of its own space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import edge
from kinema._jit import batch, kernel, like
from kinema.behaviours.stage import Body, Stage, State, Work
from kinema.constants import (
    AHEAD_RAYS,
    AT_REST,
    CONTACT_SWITCH,
    FOOT_SAMPLES,
    FOOTHOLD_BEHIND,
    FOOTHOLD_CLEAR,
    FOOTHOLD_COST,
    FOOTHOLD_STEPS,
    HIGH_SWING,
    LANDING_KNOWN,
    LANDING_SETTLED,
    LARGEST_LOOK_AHEAD,
    LARGEST_SINK,
    LOOK_AHEAD,
    NO_GROUND,
    ONE_SLOPE,
    OVERHANG,
    POINT_FOOT,
    RELEASE_SHARE,
    ROLL_HEIGHT,
    ROUNDING_TURN,
    SWING_SLACK,
    SWING_SPEED,
    TELEPORT,
    TOLERANCE,
    TRAVEL_HALF_LIFE,
    WALL,
)
from kinema.errors import InputError
from kinema.limits import Hinge
from kinema.math import quat, spring, vec, xform
from kinema.skeleton import matrix_at
from kinema.solvers import branch
from kinema.solvers.branch import handedness, origin_at
from kinema.solvers.goal import rest_bend
from kinema.solvers.two_bone_rotations import ALWAYS, NO_AXIS

HEEL, BALL, TIP = 0, 1, 2
FREE, LOCKED, BARRED = 0, 1, 2
FOOT_STEPS = 2 * (FOOT_SAMPLES - 1)
"""Steps from ray to ray along a foot, where it is going to land."""
AHEAD = FOOT_SAMPLES
"""The first ray ahead of a swinging foot, among the rays of a leg."""
PROFILE = AHEAD + AHEAD_RAYS
"""The first ray along the line on which it is going to land."""
RAYS = PROFILE + FOOTHOLD_BEHIND + FOOT_STEPS + 2 * FOOTHOLD_STEPS + FOOTHOLD_CLEAR + 1


@dataclass(frozen=True, kw_only=True)
class Feet(Stage):
    """Feet on the ground, for any number of legs.

    max_slope: largest tilt of a foot, radians. max_rise, max_drop: how far above and below the character's floor
    ground is looked for, in leg lengths. climb: how fast a foot is raised or lowered to meet the ground, leg lengths a
    second. tilt_half_life, pelvis_half_life, release_half_life: seconds in which a foot's tilt, the pelvis and the
    offset of a foot that was let go are half way where they belong.
    lock: whether planted feet are kept from sliding. plant_height, plant_speed: a foot is planted when the clip holds
    its sole lower (leg lengths) and moves it slower (leg lengths a second) than this. stretch: share of its length a
    planted leg may be stretched to before the pelvis comes down.
    follow: whether the character's place is kept on the ground below it. Without it, move the place yourself.
    """

    max_slope: float = 0.75
    max_rise: float = 0.7
    max_drop: float = 0.7
    climb: float = 4.0
    tilt_half_life: float = 0.03
    pelvis_half_life: float = 0.06
    release_half_life: float = 0.06
    lock: bool = True
    plant_height: float = 0.018
    plant_speed: float = 0.5
    stretch: float = 0.985
    follow: bool = True

    def __post_init__(self) -> None:
        edge.number("max_slope", self.max_slope, 0.0, math.pi / 2)
        edge.number("stretch", self.stretch, 0.0, 1.0)
        for name in ("max_rise", "max_drop", "climb", "plant_height", "plant_speed"):
            edge.number(name, getattr(self, name), 0.0)
        for name in ("tilt_half_life", "pelvis_half_life", "release_half_life"):
            edge.number(name, getattr(self, name), 0.0)

    def start(self, body: Body) -> FeetState:
        return FeetState(self, body)


class FeetReport(NamedTuple):
    """What the feet do. N characters, L legs in the rig's order."""

    planted: Any
    """(N, L): whether the foot stands on the ground and is kept from sliding."""
    normal: Any
    """(N, L, 3): the normal of the ground the foot goes by."""
    height: Any
    """(N, L): metres that the ground under the foot is above the character's floor."""
    pelvis: Any
    """(N,): metres that the pelvis was moved along the character's up."""
    error: Any
    """(N, L): metres from the ankle to where it should be."""


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
    planes: Any
    """(N, L, 3): a point of the plane a planted foot stands on, world space."""
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


class Found(NamedTuple):
    """What the rays of a frame met: for each leg FOOT_SAMPLES under its sole, then those ahead; last, the place's."""

    hit: Any
    points: Any
    normals: Any


# --- kernels ---------------------------------------------------------------------------------------------------


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


@batch
def _aim_rays(rows, plan, memory, place, world, hips, dt, origins, directions, wanted):
    """Rays of every foot: under heel, middle, ball and tip; ahead of the tip while it swings; along the line where it
    is going to land once that is known: as far from the hips as it landed the last time. The last is under the place.
    """
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
        left = spring.decay(like(dt, TRAVEL_HALF_LIFE), dt)
        before = vec.select(still, travel, get3(memory.travel, i, 0))
        travel = vec.add(travel, vec.scale(vec.sub(before, travel), left))
        set3(memory.hips, i, 0, at_hips)
        set3(memory.travel, i, 0, travel)
        for leg in range(legs):
            offset = get3(memory.offsets, i, leg)
            heel = sole_point(world, i, plan, leg, HEEL)
            ball = sole_point(world, i, plan, leg, BALL)
            tip = sole_point(world, i, plan, leg, TIP)
            n = leg * RAYS
            # Where the points are with the tilt the foot has (see `laid`).
            normal = vec.unit_or(get3(memory.normals, i, leg), up)
            turn = quat.between(up, normal, vec.hinge_of(up))
            rolled = min(vec.dot(vec.sub(ball, base), up), plan.size[leg] * like(dt, ROLL_HEIGHT))
            at = vec.add(vec.add(ball, offset), vec.scale(normal, rolled))
            to_heel, to_tip = quat.rotate(turn, vec.sub(heel, ball)), quat.rotate(turn, vec.sub(tip, ball))
            set_ray(origins, directions, i, n, vec.add(at, to_heel), base, up, plan.rise)
            set_ray(origins, directions, i, n + 1, vec.add(at, vec.scale(to_heel, like(dt, 0.5))), base, up, plan.rise)
            set_ray(origins, directions, i, n + 2, at, base, up, plan.rise)
            set_ray(origins, directions, i, n + 3, vec.add(at, to_tip), base, up, plan.rise)

            moved = vec.sub(ball, get3(memory.soles[i], leg, BALL))
            velocity = vec.scale(vec.reject(moved, up), rate)
            # At least as fast as feet swing at this speed of the body: one that just left the ground is still slow.
            usual = vec.scale(travel, like(dt, SWING_SPEED))
            slow = vec.dot(velocity, velocity) < vec.dot(usual, usual)
            largest = plan.size[leg] * like(dt, LARGEST_LOOK_AHEAD)
            way = shortened(vec.scale(vec.select(slow, usual, velocity), like(dt, LOOK_AHEAD)), largest)
            swinging = memory.locked[i, leg] == FREE
            for a in range(AHEAD_RAYS):
                to = vec.add(vec.add(tip, offset), vec.scale(way, like(dt, (a + 1) / AHEAD_RAYS)))
                set_ray(origins, directions, i, n + AHEAD + a, to, base, up, plan.rise)
                wanted[i, n + AHEAD + a] = swinging

            ahead = vec.unit_or(vec.reject(vec.sub(tip, heel), up), vec.unit_or(travel, vec.unit_side(up)))
            set3(memory.headings, i, leg, ahead)
            left = memory.swing_time[i, leg] - memory.aloft_for[i, leg]
            foreseen = swinging & (left > zero) & (left < memory.swing_time[i, leg] * like(dt, LANDING_KNOWN))
            own = xform.linear(matrix_at(place, i, 0), get3(memory.landed, i, leg))
            start = vec.add(vec.add(at_hips, own), vec.scale(travel, left))
            set3(memory.lands, i, leg, start)
            first = -plan.heel[leg] - plan.spacing[leg] * like(dt, FOOTHOLD_STEPS + FOOTHOLD_BEHIND)
            for p in range(RAYS - PROFILE):
                to = vec.add(start, vec.scale(ahead, first + plan.spacing[leg] * like(dt, p)))
                set_ray(origins, directions, i, n + PROFILE + p, to, base, up, plan.rise)
                wanted[i, n + PROFILE + p] = foreseen
        set_ray(origins, directions, i, legs * RAYS, base, base, up, plan.rise)


@kernel
def shortened(v, largest):
    """A vector, cut to a largest length."""
    length = vec.length(v)
    return vec.scale(v, largest / length if length > largest else like(largest, 1.0))


@kernel
def tilted(normal, up, cos_slope, sin_slope):
    """A ground normal at most the largest slope away from up."""
    cosine = vec.dot(normal, up)
    aside = vec.reject(normal, up)
    edge_normal = vec.add(
        vec.scale(up, cos_slope), vec.scale(vec.unit_or(aside, (cosine * 0, cosine * 0, cosine * 0)), sin_slope)
    )
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


@kernel
def fit(hit, points, normals, i, n, stride, up, base, cos_slope, sin_slope):
    """The plane that a foot stands on: of those through one sample along its normal, and the one through heel and ball,
    the one that leaves the smallest gap when it clears all samples. The character's floor where there is no ground.
    The samples of heel, middle, ball and tip start at n, `stride` apart.
    Returns a point of it and its normal.
    """
    one = like(up[0], 1.0)
    zero = like(up[0], 0.0)
    plane, normal, worst, found = base, up, zero, False
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
            if (vec.dot(candidate, up) < cos_slope) | (vec.dot(candidate, level) < like(one, ONE_SLOPE)):
                continue
        candidate = tilted(candidate, up, cos_slope, sin_slope)
        lift, gap = judge(at, candidate, hit, points, i, n, stride, up)
        if not found or gap < worst:
            plane, normal, worst, found = vec.add(at, vec.scale(up, lift)), candidate, gap, True
    return plane, vec.unit_or(normal, (zero, one, zero))


@kernel
def rise_at(hit, points, i, n, plane, normal, up):
    """How far the ground at a sample is above a plane; 0 where it is not."""
    zero = like(up[0], 0.0)
    above = zero
    if hit[i, n]:
        above = -height_on(plane, normal, sample_at(points, i, n), up)
    return above if above > zero else zero


@kernel
def overhangs(hit, points, i, n, plane, normal, up, far):
    """Whether there is no ground under a sample, or it is farther below the plane than this."""
    return (not hit[i, n]) | (height_on(plane, normal, sample_at(points, i, n), up) > far)


@kernel
def foothold(hit, points, normals, i, n, up, base, cos_slope, sin_slope, leg_size, chosen, settled):
    """How many steps of the profile ahead (or back) the foot is best put: where the ground carries ball, tip and heel.

    A step costs a little, so that a foot is moved only off an edge, a wall or a hole. Once settled it is the one that
    was chosen in the frame before. Returns the steps and the plane it is going to stand on.
    """
    zero = like(leg_size, 0.0)
    best, cheapest, found = 0, zero, False
    best_plane, best_normal = base, up
    for order in range(2 * FOOTHOLD_STEPS + 1):
        # 0, -1, 1, -2, 2 and so on: of equals the nearest stays.
        steps = (order + 1) // 2 if order % 2 == 0 else -((order + 1) // 2)
        if settled & (steps != chosen):
            continue
        first = n + FOOTHOLD_BEHIND + FOOTHOLD_STEPS + steps
        plane, normal = fit(hit, points, normals, i, first, 2, up, base, cos_slope, sin_slope)
        # What was chosen in the frame before stays unless something is clearly better.
        away = abs(steps) - (FOOTHOLD_STEPS if steps == chosen else 0)
        cost = like(leg_size, FOOTHOLD_COST) * leg_size * like(leg_size, away)
        for k in range(FOOT_SAMPLES):
            gap = like(leg_size, NO_GROUND) * leg_size
            if hit[i, first + 2 * k]:
                gap = height_on(plane, normal, sample_at(points, i, first + 2 * k), up)
            # The ball carries all of the weight in the end; tip and heel may hang over an edge.
            cost += gap * like(leg_size, 1.5 if k == 2 else 0.3)
        # A ball right at an edge is no good hold either.
        if hit[i, first + FOOT_STEPS - 1]:
            gap = height_on(plane, normal, sample_at(points, i, first + FOOT_STEPS - 1), up)
            cost += like(leg_size, 0.5) * max(gap, zero)
        # A step right before the toes leaves no room to lift them over it; one right behind the heel is scraped.
        cost += like(leg_size, 1.0) * rise_at(hit, points, i, first + FOOT_STEPS + 1, plane, normal, up)
        cost += like(leg_size, 0.3) * rise_at(hit, points, i, first + FOOT_STEPS + FOOTHOLD_CLEAR, plane, normal, up)
        cost += like(leg_size, 0.15) * rise_at(hit, points, i, first - FOOTHOLD_BEHIND, plane, normal, up)
        if not found or cost < cheapest:
            best, cheapest, found = steps, cost, True
            best_plane, best_normal = plane, normal
    return best, best_plane, best_normal


@kernel
def laid(p, ball, ball_height, on_plane, normal, turn, up, roll):
    """A point of the foot, moved as the floor under the foot is laid onto the ground: the ball comes to be above the
    point of the plane that is below it, everything else turns about it.
    """
    rolled = ball_height if ball_height < roll else roll
    lifted = vec.add(on_plane, vec.add(vec.scale(normal, rolled), vec.scale(up, ball_height - rolled)))
    return vec.add(lifted, quat.rotate(turn, vec.sub(p, ball)))


@kernel
def towards(value, goal, fall, rise):
    """A value moved to its goal by at most so much down or up."""
    low, high = value - fall, value + rise
    goal = goal if goal > low else low
    return goal if goal < high else high


@batch
def _place_feet(rows, plan, memory, found, place, world, hips, dt):
    """Where every ankle is to be and how it is to be turned. See the module's text for what is remembered and why."""
    hit, hit_points, hit_normals = found
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    for k in range(rows.size):
        i = rows[k]
        base, up = floor_of(place, i, plan)
        for leg in range(plan.size.size):
            n = leg * RAYS
            leg_size = plan.size[leg]
            offset = get3(memory.offsets, i, leg)
            heel = sole_point(world, i, plan, leg, HEEL)
            ball = sole_point(world, i, plan, leg, BALL)
            tip = sole_point(world, i, plan, leg, TIP)
            heel_height = vec.dot(vec.sub(heel, base), up)
            ball_height = vec.dot(vec.sub(ball, base), up)
            tip_height = vec.dot(vec.sub(tip, base), up)
            low = min(heel_height, min(ball_height, tip_height))

            # Which point touches, and how fast the clip moves it.
            contact = BALL
            switch = like(dt, CONTACT_SWITCH) * leg_size
            if heel_height < ball_height - switch:
                contact = HEEL
            if tip_height < min(heel_height, ball_height) - switch:
                contact = TIP
            now = vec.select(contact == HEEL, heel, vec.select(contact == TIP, tip, ball))
            before = (
                memory.soles[i, leg, contact, 0],
                memory.soles[i, leg, contact, 1],
                memory.soles[i, leg, contact, 2],
            )
            moved = vec.length(vec.reject(vec.sub(now, before), up))
            new = memory.fresh[i] | (moved > leg_size * like(dt, TELEPORT))
            speed = moved / dt if dt > zero else zero
            speed = zero if new else speed

            plane, ground_normal = fit(hit, hit_points, hit_normals, i, n, 1, up, base, plan.cos_slope, plan.sin_slope)
            state = memory.locked[i, leg]
            share = like(dt, RELEASE_SHARE) if state != FREE else one
            down = (low < plan.plant_height * leg_size * share) & (speed < plan.plant_speed * leg_size * share)
            if not down:
                state = FREE
            elif state == FREE:
                state = LOCKED
                set3(memory.planes, i, leg, plane)
                set3(memory.plane_normals, i, leg, ground_normal)
            was_locked = (memory.locked[i, leg] == LOCKED) & (not new)
            held = (state == LOCKED) & plan.lock
            remaining = memory.swing_time[i, leg] - memory.aloft_for[i, leg]
            foreseen = (remaining > zero) & (remaining < memory.swing_time[i, leg] * like(dt, LANDING_KNOWN))
            foreseen &= memory.locked[i, leg] == FREE
            if state == FREE:
                memory.aloft_for[i, leg] += dt
            elif (memory.locked[i, leg] == FREE) & (not new):
                memory.swing_time[i, leg] = memory.aloft_for[i, leg]
                # From the heel, which is down first; the ball comes down where the foot's length puts it.
                lands = vec.add(heel, vec.scale(get3(memory.headings, i, leg), plan.heel[leg]))
                from_hips = vec.sub(lands, origin_at(world, i, hips))
                set3(memory.landed, i, leg, xform.linear(xform.inverse(matrix_at(place, i, 0)), from_hips))
            if state != FREE:
                memory.aloft_for[i, leg] = zero
                memory.steps[i, leg] = 0
            if held & was_locked:
                plane, ground_normal = get3(memory.planes, i, leg), get3(memory.plane_normals, i, leg)
            elif held:
                set3(memory.planes, i, leg, plane)
                set3(memory.plane_normals, i, leg, ground_normal)

            # On its way to a foothold, a foot goes by the ground there, not by what it passes over.
            goal = (zero, zero, zero)
            height_ahead = memory.heights[i, leg]
            foreseen &= plan.lock & (not held) & (not new)
            if foreseen:
                steps, plane, ground_normal = foothold(
                    hit,
                    hit_points,
                    hit_normals,
                    i,
                    n + PROFILE,
                    up,
                    base,
                    plan.cos_slope,
                    plan.sin_slope,
                    leg_size,
                    memory.steps[i, leg],
                    remaining < memory.swing_time[i, leg] * like(dt, LANDING_SETTLED),
                )
                memory.steps[i, leg] = steps
                goal = vec.scale(get3(memory.headings, i, leg), plan.spacing[leg] * like(dt, steps))
                lands = vec.add(get3(memory.lands, i, leg), goal)
                height_ahead = vec.dot(vec.sub(lands, base), up) + height_on(plane, ground_normal, lands, up)

            # The tilt follows the ground, less so high in the air.
            aloft = low / (leg_size * like(dt, HIGH_SWING))
            aloft = min(max(aloft, zero), one)
            goal_normal = vec.unit_or(vec.add(vec.scale(ground_normal, one - aloft), vec.scale(up, aloft)), up)
            normal = get3(memory.normals, i, leg)
            left = spring.decay(plan.tilt_half_life, dt)
            normal = vec.unit_or(vec.add(goal_normal, vec.scale(vec.sub(normal, goal_normal), left)), up)
            if vec.span(vec.sub(normal, goal_normal)) < like(dt, AT_REST) or new:
                normal = goal_normal
            turn = quat.between(up, normal, vec.hinge_of(up))

            # The offset keeps the contact where it landed. In the air it becomes that of the next landing.
            if new:
                offset = (zero, zero, zero)
            roll = leg_size * like(dt, ROLL_HEIGHT)
            ahead_of = vec.add(ball, offset)
            flat = vec.sub(ahead_of, vec.scale(up, vec.dot(vec.sub(ahead_of, base), up)))
            on_plane = vec.add(flat, vec.scale(up, height_on(plane, ground_normal, flat, up)))
            if held & was_locked:
                # What hangs over an edge touches nothing, however low the clip has it.
                far = leg_size * like(dt, OVERHANG)
                heel_hangs = overhangs(hit, hit_points, i, n, plane, ground_normal, up, far)
                ball_hangs = overhangs(hit, hit_points, i, n + 2, plane, ground_normal, up, far)
                tip_hangs = overhangs(hit, hit_points, i, n + 3, plane, ground_normal, up, far)
                if ((contact == HEEL) & heel_hangs) | ((contact == TIP) & tip_hangs):
                    contact = BALL
                if (contact == BALL) & ball_hangs & (heel_height < far) & (not heel_hangs):
                    contact = HEEL
                now = vec.select(contact == HEEL, heel, vec.select(contact == TIP, tip, ball))
                there = laid(now, ball, ball_height, on_plane, normal, turn, up, roll)
                stood = get3(memory.contacts[i], leg, contact)
                drift = vec.reject(vec.sub(there, stood), up)
                offset = vec.sub(offset, drift)
                flat = vec.sub(flat, drift)

            # How high the plane is at the ball: raised ahead of a step, lowered behind one, each at a bounded rate.
            height = height_on(plane, ground_normal, flat, up)
            if not held:
                if foreseen:
                    # From where it took off to where it will land, over whatever is under it.
                    done = one - remaining / memory.swing_time[i, leg]
                    done = done * done * (like(dt, 3.0) - done - done)
                    height = memory.takeoff[i, leg] + (height_ahead - memory.takeoff[i, leg]) * done
                    for p in range(FOOT_SAMPLES):
                        if hit[i, n + p]:
                            height = max(height, height_on(sample_at(hit_points, i, n + p), ground_normal, flat, up))
                for a in range(AHEAD_RAYS):
                    if hit[i, n + AHEAD + a]:
                        seen = vec.dot(vec.sub(sample_at(hit_points, i, n + AHEAD + a), base), up)
                        height = max(height, seen - plan.climb * leg_size * like(dt, LOOK_AHEAD * (a + 1) / AHEAD_RAYS))
            last = memory.heights[i, leg]
            step = plan.climb * leg_size * dt
            if not new:
                height = towards(last, height, step, step)
            on_plane = vec.add(flat, vec.scale(up, height))

            # No point of the sole inside the ground, whatever the tilt has not caught up with. Of a planted foot the
            # lowest is as far above it as in the clip: over an edge it rolls on the ball, not on toes in the air.
            lift = -leg_size
            deepest = BALL
            for which in range(3):
                sample = n + (0 if which == HEEL else (2 if which == BALL else 3))
                if hit[i, sample]:
                    p = vec.select(which == HEEL, heel, vec.select(which == TIP, tip, ball))
                    at = vec.dot(vec.sub(laid(p, ball, ball_height, on_plane, normal, turn, up, roll), base), up)
                    missing = vec.dot(vec.sub(sample_at(hit_points, i, sample), base), up) - at
                    # What rises beside a foot that stands already is a wall.
                    if not (held & was_locked & (missing > leg_size * like(dt, WALL))) and missing > lift:
                        lift = missing
                        deepest = which
            if held & (lift > -leg_size):
                lift = max(lift + max(low, zero), -leg_size * like(dt, LARGEST_SINK))
            else:
                lift = max(lift, zero)
            if not new:
                room = max(memory.raised[i, leg], zero) + step
                if (lift > room) & (not held) & (deepest != HEEL):
                    # Too steep to be climbed in time: wait in front of it while rising.
                    p = vec.select(deepest == TIP, tip, ball)
                    forth = vec.reject(vec.sub(p, get3(memory.soles[i], leg, deepest)), up)
                    offset = vec.sub(get3(memory.offsets, i, leg), forth)
                    flat = vec.add(ball, offset)
                    flat = vec.sub(flat, vec.scale(up, vec.dot(vec.sub(flat, base), up)))
                    height = max(height, last + step)
                    lift = towards(memory.raised[i, leg], zero, step, step)
                    on_plane = vec.add(flat, vec.scale(up, height))
                else:
                    lift = towards(memory.raised[i, leg], lift, step, step)
            memory.heights[i, leg] = height
            memory.ahead[i, leg] = height_ahead if foreseen else height + lift
            if state != FREE or new:
                memory.takeoff[i, leg] = height
            on_plane = vec.add(on_plane, vec.scale(up, lift))

            # What comes out, and what is kept for the next frame.
            ankle = matrix_at(world, i, plan.joints[leg, HEEL])
            frame = xform.axes(ankle)
            side = handedness(frame)
            own = quat.from_columns(vec.scale(frame[0], side), frame[1], frame[2])
            wanted = quat.unit(quat.mul(turn, own))
            set3(memory.targets, i, leg, laid(ankle[3], ball, ball_height, on_plane, normal, turn, up, roll))
            for c in range(4):
                memory.rotations[i, leg, c] = wanted[c]
            memory.swing[i, leg] = aloft
            changed = new | (state != memory.locked[i, leg]) | (lift != memory.raised[i, leg]) | (height != last)
            changed |= vec.span(vec.sub(normal, get3(memory.normals, i, leg))) > zero
            memory.raised[i, leg] = lift
            memory.locked[i, leg] = state
            if not held:
                half_life = plan.release_half_life
                if foreseen:  # In time for the landing.
                    half_life = min(half_life, remaining * like(dt, 0.25))
                offset = vec.add(goal, vec.scale(vec.sub(offset, goal), spring.decay(half_life, dt)))
                if vec.span(vec.sub(offset, goal)) < leg_size * like(dt, AT_REST):
                    offset = goal
            changed |= vec.span(vec.sub(offset, get3(memory.offsets, i, leg))) > zero
            set3(memory.offsets, i, leg, offset)
            memory.moving[i] |= changed
            set3(memory.normals, i, leg, normal)
            for which in range(3):
                p = vec.select(which == HEEL, heel, vec.select(which == TIP, tip, ball))
                at = laid(p, ball, ball_height, on_plane, normal, turn, up, roll)
                for c in range(3):
                    memory.soles[i, leg, which, c] = p[c]
                    memory.contacts[i, leg, which, c] = at[c]


@kernel
def highest(hip, ankle, up, reach):
    """How far a hip can be moved along up until the leg to the ankle is stretched to its reach."""
    zero = like(reach, 0.0)
    way = vec.sub(hip, ankle)
    along = vec.dot(way, up)
    square = along * along - vec.dot(way, way) + reach * reach
    # Out of reach at any height: level with the ankle is as near as it gets.
    return -along + (math.sqrt(square) if square > zero else zero)


@batch
def _move_pelvis(rows, plan, memory, place, world, hips, parent, dt, weights, t):
    """The pelvis to the mean of the feet, on a spring, but never above what a planted leg reaches."""
    zero = like(dt, 0.0)
    legs = plan.size.size
    for k in range(rows.size):
        i = rows[k]
        _, up = floor_of(place, i, plan)
        goal = zero
        for leg in range(legs):
            goal += memory.ahead[i, leg]
        goal = goal / legs
        x, v = goal, zero
        if not memory.fresh[i]:
            x, v = spring.critical(memory.pelvis[i], memory.pelvis_speed[i], goal, plan.pelvis_half_life, dt)
            if abs(x - goal) < plan.size[0] * like(dt, AT_REST) and abs(v) < plan.size[0] * like(dt, AT_REST):
                x, v = goal, zero
        for leg in range(legs):
            hip, ankle = origin_at(world, i, plan.thighs[leg]), origin_at(world, i, plan.ankles[leg])
            animated = vec.length(vec.sub(ankle, hip))
            reach = max(animated, plan.stretch * plan.size[leg])
            top = highest(hip, get3(memory.targets, i, leg), up, reach)
            top += memory.swing[i, leg] * plan.size[leg] * like(dt, SWING_SLACK)
            if x > top:
                # Held down by this leg: once it lets go the pelvis rises on its spring, from where it is.
                x, v = top, min(v, zero)
        memory.moving[i] |= (x != memory.pelvis[i]) | (v != memory.pelvis_speed[i])
        memory.pelvis[i], memory.pelvis_speed[i] = x, v
        for leg in range(legs):
            # A swinging foot out of reach hangs short of its target, on a leg that is not snapped straight.
            hip, ankle = origin_at(world, i, plan.thighs[leg]), origin_at(world, i, plan.ankles[leg])
            reach = max(vec.length(vec.sub(ankle, hip)), plan.stretch * plan.size[leg])
            hip = vec.add(hip, vec.scale(up, x))
            set3(memory.targets, i, leg, vec.add(hip, shortened(vec.sub(get3(memory.targets, i, leg), hip), reach)))
        memory.shift[i] = x * weights[i]
        above = matrix_at(world, i, parent) if parent >= 0 else matrix_at(place, i, 0)
        way = xform.linear(xform.inverse(above), vec.scale(up, memory.shift[i]))
        t[i, hips, 0] += way[0]
        t[i, hips, 1] += way[1]
        t[i, hips, 2] += way[2]


@batch
def _follow_ground(rows, plan, memory, found, place, dt):
    """Move each character's place along its up to the ground below it; what is kept as heights above it moves back."""
    zero = like(dt, 0.0)
    ray = plan.size.size * RAYS
    for k in range(rows.size):
        i = rows[k]
        if not found.hit[i, ray]:
            memory.follow_speed[i] = zero
            continue
        base, up = floor_of(place, i, plan)
        goal = vec.dot(vec.sub(sample_at(found.points, i, ray), base), up)
        step, v = goal, zero
        if not memory.fresh[i]:
            step, v = spring.critical(zero, memory.follow_speed[i], goal, plan.pelvis_half_life, dt)
            if abs(goal - step) < like(dt, AT_REST) and abs(v) < like(dt, AT_REST):
                step, v = goal, zero
        memory.moving[i] |= (step != zero) | (v != memory.follow_speed[i])
        memory.follow_speed[i] = v
        for c in range(3):
            place[i, 0, 4 * c + 3] += up[c] * step
        memory.pelvis[i] -= step
        for leg in range(memory.heights.shape[1]):
            memory.heights[i, leg] -= step
            memory.takeoff[i, leg] -= step


# --- the state -------------------------------------------------------------------------------------------------


class FeetState(State):
    """What the feet of every character remember."""

    def __init__(self, settings: Feet, body: Body) -> None:
        if not body.rig.legs:
            raise InputError("Feet needs legs; this rig has none")
        self.settings, self.body = settings, body
        self.legs = [_LegPlan(body, leg) for leg in body.rig.legs]
        self.plan = _plan(settings, body, self.legs)
        self.memory = _memory(body, len(self.legs))
        self._hips = int(body.rig.hips)
        skeleton, plan = body.skeleton, self.plan
        self._needed = skeleton.above([*plan.joints.reshape(-1).tolist(), *plan.thighs.tolist(), self._hips])
        self._below = skeleton.below([self._hips, *plan.thighs.tolist()])
        rays = len(self.legs) * RAYS + 1
        self._origins, self._directions = body.zeros(rays, 3), body.zeros(rays, 3)

    def awake(self, dt: float) -> Any:
        return self.memory.moving if dt > 0 else np.zeros_like(self.memory.moving)

    def reset(self, rows: Any) -> None:
        self.memory.fresh[rows] = True
        self.memory.moving[rows] = True

    def update(self, work: Work) -> FeetReport:
        """One frame: rays, planes, pelvis, legs."""
        if work.ground is None:
            raise InputError("Feet needs a ground: give Animator(..., ground=...)")
        dt = self.body.precision(work.dt)
        self.memory.moving[work.rows] = False
        work.refresh(self._needed)
        found = self._cast(work, dt)
        if self.settings.follow:
            _follow_ground(work.rows, self.plan, self.memory, found, work.place, dt)
            work.all_changed()
            work.refresh(self._needed)
        _place_feet(work.rows, self.plan, self.memory, found, work.place, work.world, self._hips, dt)
        self._lower(work, dt)
        for n, leg in enumerate(self.legs):
            leg.solve(work, self.memory.targets[:, n], self.memory.rotations[:, n])
        self.memory.fresh[work.rows] = False
        return self._report(work)

    def _cast(self, work: Work, dt: Any) -> Found:
        """One call for the rays of all characters."""
        rows, origins, directions = work.rows, self._origins, self._directions
        wanted = np.ones(origins.shape[:-1], bool)
        _aim_rays(rows, self.plan, self.memory, work.place, work.world, self._hips, dt, origins, directions, wanted)
        if rows.size < len(wanted):
            served = np.zeros(len(wanted), bool)
            served[rows] = True
            wanted &= served[:, np.newaxis]
        down = float(self.plan.rise) + self.settings.max_drop * float(self.plan.size.max())
        hits = work.ground.cast(origins[wanted], directions[wanted], down)
        found = Found(np.zeros_like(wanted), np.zeros_like(origins), np.zeros_like(origins))
        # A ray that starts inside something solid has found a wall beside the leg, not ground.
        found.hit[wanted] = hits.hit & (hits.distance > 0)
        found.points[wanted] = hits.point
        found.normals[wanted] = hits.normal
        return found

    def _lower(self, work: Work, dt: Any) -> None:
        """Move the pelvis."""
        parent = int(self.body.skeleton.parents[self._hips])
        _move_pelvis(
            work.rows, self.plan, self.memory, work.place, work.world, self._hips, parent, dt, work.weights, work.t
        )
        work.changed(self._below)
        work.refresh(self._needed)

    def _report(self, work: Work) -> FeetReport:
        work.refresh(self._needed)
        at = work.world[:, self.plan.ankles][..., 3::4]
        memory = self.memory
        return FeetReport(
            memory.locked == LOCKED,
            memory.normals.copy(),
            memory.heights.copy(),
            memory.shift.copy(),
            np.linalg.norm(at - memory.targets, axis=-1),
        )


def _plan(settings: Feet, body: Body, legs: list[_LegPlan]) -> Plan:
    rig, dtype, s = body.rig, body.precision, settings
    size = np.array([leg.length for leg in legs], dtype)
    return Plan(
        up=np.array(rig.up, dtype),
        floor=dtype(rig.floor),
        joints=np.array([leg.contact_joints for leg in legs], np.int64),
        points=np.array([rig.sole_points(leg) for leg in rig.legs], dtype),
        size=size,
        thighs=np.array([leg.joints[0] for leg in legs], np.int64),
        ankles=np.array([leg.joints[-1] for leg in legs], np.int64),
        rise=dtype(s.max_rise * size.max()),
        cos_slope=dtype(math.cos(s.max_slope)),
        sin_slope=dtype(math.sin(s.max_slope)),
        climb=dtype(s.climb),
        tilt_half_life=dtype(s.tilt_half_life),
        pelvis_half_life=dtype(s.pelvis_half_life),
        release_half_life=dtype(s.release_half_life),
        plant_height=dtype(s.plant_height),
        plant_speed=dtype(s.plant_speed),
        lock=s.lock,
        stretch=dtype(s.stretch),
        heel=np.array([_heel_to_ball(rig, leg) for leg in rig.legs], dtype),
        spacing=np.array([_spacing(rig, leg) for leg in rig.legs], dtype),
    )


def _heel_to_ball(rig: Any, leg: Any) -> float:
    """Metres along the foot at rest."""
    if leg.toe is None:
        return float(leg.heel)
    ankle, toe = rig.skeleton.rest_world[[leg.joints[-1], leg.toe], :3, 3]
    way = (toe - ankle) - np.array(rig.up) * ((toe - ankle) @ np.array(rig.up))
    return float(leg.heel + np.linalg.norm(way))


def _spacing(rig: Any, leg: Any) -> float:
    """Metres from ray to ray of the profile: the ball falls on the third of four samples, the tip on the last or short
    of it. A foot that is a mere point is given some length.
    """
    to_ball = _heel_to_ball(rig, leg)
    to_tip = max(float(leg.heel + leg.tip), POINT_FOOT * rig.skeleton.length(leg.joints))
    return max(to_ball / (FOOT_STEPS - 2), to_tip / FOOT_STEPS)


def _memory(body: Body, legs: int) -> Memory:
    zeros = body.zeros
    return Memory(
        fresh=np.ones(body.count, bool),
        moving=np.ones(body.count, bool),
        soles=zeros(legs, 3, 3),
        contacts=zeros(legs, 3, 3),
        offsets=zeros(legs, 3),
        locked=zeros(legs, dtype=np.int8),
        planes=zeros(legs, 3),
        plane_normals=zeros(legs, 3),
        aloft_for=zeros(legs),
        swing_time=zeros(legs),
        landed=zeros(legs, 3),
        lands=zeros(legs, 3),
        steps=zeros(legs, dtype=np.int8),
        headings=zeros(legs, 3),
        hips=zeros(1, 3),
        travel=zeros(1, 3),
        takeoff=zeros(legs),
        ahead=zeros(legs),
        heights=zeros(legs),
        normals=zeros(legs, 3),
        raised=zeros(legs),
        targets=zeros(legs, 3),
        rotations=zeros(legs, 4),
        swing=zeros(legs),
        pelvis=zeros(),
        pelvis_speed=zeros(),
        follow_speed=zeros(),
        shift=zeros(),
    )


class _LegPlan:
    """What is known of a leg before the first frame, and how it is solved."""

    def __init__(self, body: Body, leg: Any) -> None:
        skeleton, dtype = body.skeleton, body.precision
        self.joints = tuple(int(j) for j in leg.joints)
        toe = self.joints[-1] if leg.toe is None else int(leg.toe)
        self.contact_joints = (self.joints[-1], toe, toe)
        self.length = skeleton.length(self.joints)
        self.path = np.array(skeleton.chain(self.joints[0], self.joints[-1]), np.int64)
        self.marks = np.searchsorted(self.path, self.joints)
        self.turning = np.array(self.joints, np.int64)
        self.below = skeleton.below([self.joints[0]])
        self.needed = skeleton.above([self.joints[-1]])
        self.parent = int(skeleton.parents[self.joints[-1]])
        self.table, self.bones, self.rest = skeleton.limit_rows(dtype)
        self.rounding = dtype(np.finfo(dtype).eps * ROUNDING_TURN)
        self.best = np.empty((self.path.size, 4), dtype)
        self.nothing = np.zeros((body.count, 3), dtype)
        self.scratch = np.zeros(body.count, dtype), np.zeros(body.count, dtype)
        self.passes = np.zeros(body.count, np.int64)
        self.axis, self.use_axis = _knee_axis(body, self.joints)

    def solve(self, work: Work, targets: Any, rotations: Any) -> None:
        """Turn the leg's joints to bring the ankle to its target and turn it as wanted, by each character's weight."""
        targets, rotations = np.ascontiguousarray(targets), np.ascontiguousarray(rotations)
        before = work.r.copy() if (work.weights[work.rows] < 1).any() else None
        dtype = work.t.dtype.type
        if len(self.joints) == 3:
            branch.bend_limbs(
                work.rows,
                self.turning,
                targets,
                self.axis,
                self.use_axis,
                self.nothing,
                False,
                dtype(1.0),
                work.world,
                work.r,
                *self.scratch,
            )
        else:
            branch.reach_inside_limits(
                work.rows,
                self.path,
                self.marks,
                targets,
                dtype(TOLERANCE),
                self.rest,
                self.bones,
                self.table,
                self.rounding,
                work.body.skeleton.parents,
                work.place,
                work.t,
                work.r,
                work.s,
                work.world,
                self.best,
                self.passes,
            )
        work.changed(self.below)
        work.refresh(self.needed)
        branch.turn_tips(work.rows, self.joints[-1], self.parent, rotations, work.place, work.world, work.r)
        if before is not None:
            weights = np.ascontiguousarray(
                np.broadcast_to(work.weights[:, np.newaxis], (len(targets), len(self.joints)))
            )
            branch.blend_back(work.rows, self.turning, weights, before, work.r)
        work.changed(self.below)


def _knee_axis(body: Body, joints: Any) -> tuple[Any, int]:
    """What a knee bends about, in its own space: its hinge, else the bend it has at rest, else forwards."""
    skeleton, rig = body.skeleton, body.rig
    limit = skeleton.limits[joints[1]]
    if isinstance(limit, Hinge):
        side = 1.0 if limit.low + limit.high >= 0 else -1.0
        return (np.array(limit.axis) * side).astype(body.precision), ALWAYS
    axis, use = rest_bend(skeleton, joints[:3], body.precision)
    if use != NO_AXIS:
        return axis, ALWAYS
    world = skeleton.rest_world[joints[1], :3, :3]
    frame = world / np.linalg.norm(world, axis=0)
    own = frame.T @ np.cross(rig.up, rig.forward) * np.sign(np.linalg.det(frame))
    return own.astype(body.precision), ALWAYS
