"""Where a foot that leaves comes down: a foothold, looked for where the foot is wanted and around it; solid, not too
steep, within reach, as near as can be. It is looked for once, with one call for the rays of everybody.
"""

from __future__ import annotations

import math

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.footing import (
    BALL,
    FREE,
    LOCKED,
    fit,
    floor_of,
    get3,
    judge,
    sample_at,
    set3,
    set_ray,
    tilted,
)
from kinema.behaviours.gait import leave, lift_feet, wanted_at
from kinema.behaviours.stepping import highest
from kinema.behaviours.swinging import land, plan_way
from kinema.behaviours.walking import HANGING, reach_for, row3, set4, turn_of
from kinema.constants import FOOT_SAMPLES, HOLD_CROUCH, HOLD_EDGE, HOLD_HEIGHT, HOLD_REACH, NO_GROUND, PATH_RAYS
from kinema.math import quat, vec, xform
from kinema.skeleton import matrix_at

CANDIDATES = 13
"""Where it is wanted, four around it half way out, eight all the way out."""

BALL_SAMPLE = 2
"""The ball among the samples of a foot: heel, middle, ball, tip."""


@kernel
def candidate(plan, leg, which, up):
    """How far from where it is wanted a candidate lies, across up."""
    zero = like(plan.search, 0.0)
    e1 = vec.unit_side(up)
    e2 = vec.cross(up, e1)
    inner = which < 5
    step = like(zero, math.pi * (2.0 if inner else 1.0) / 4.0) * like(zero, which - (1 if inner else 5))
    radius = plan.search * plan.size[leg] * (like(zero, 0.5) if inner else like(zero, 1.0))
    radius = zero if which == 0 else radius
    return vec.add(vec.scale(e1, radius * math.cos(step)), vec.scale(e2, radius * math.sin(step)))


@kernel
def rays_of(plan, leg):
    """How many rays a foot needs."""
    return CANDIDATES * (1 if plan.points[leg] else FOOT_SAMPLES) + PATH_RAYS


# --- looking ---------------------------------------------------------------------------------------------------


@kernel
def looks(memory, i, leg):
    """Whether a foot looks for its foothold in this frame: it has just left, or it hangs."""
    leaves = (memory.locked[i, leg] == FREE) & (memory.left[i, leg] >= memory.whole[i, leg])
    return leaves | (memory.locked[i, leg] == HANGING)


@batch
def aim_feet(rows, plan, memory, place, dt):
    """Let feet leave whose turn it is, and number the rays of all that look for a foothold. Returns how many."""
    count = 0
    for k in range(rows.size):
        i = rows[k]
        _, up = floor_of(place, i, plan)
        memory.since[i] += dt
        if not memory.fresh[i]:
            lift_feet(plan, memory, i, matrix_at(place, i, 0), up)
        for leg in range(plan.size.size):
            memory.first[i, leg] = -1
            if looks(memory, i, leg):
                swinging = memory.locked[i, leg] == FREE
                seconds = memory.left[i, leg] if swinging else like(dt, 0.0)
                set3(memory.wanted, i, leg, wanted_at(plan, memory, i, leg, matrix_at(place, i, 0), seconds))
                memory.first[i, leg] = count
                count += rays_of(plan, leg)
    return count


@batch
def cast_down(rows, plan, memory, place, origins, directions):
    """The rays, (1, rays, 3): of each candidate one, or one for each part of the sole; then along the way."""
    for k in range(rows.size):
        i = rows[k]
        base, up = floor_of(place, i, plan)
        turn = turn_of(matrix_at(place, i, 0))
        for leg in range(plan.size.size):
            n = memory.first[i, leg]
            if n < 0:
                continue
            wanted = get3(memory.wanted, i, leg)
            for which in range(CANDIDATES):
                at = vec.add(wanted, candidate(plan, leg, which, up))
                for part in range(1 if plan.points[leg] else FOOT_SAMPLES):
                    to = quat.rotate(turn, sample_at(plan.samples, leg, BALL_SAMPLE if plan.points[leg] else part))
                    set_ray(origins, directions, 0, n, vec.add(at, to), base, up, plan.rise)
                    n += 1
            foot = get3(memory.contacts[i], leg, BALL)
            for step in range(PATH_RAYS):
                share = like(plan.rise, (step + 1) / (PATH_RAYS + 1))
                at = vec.add(foot, vec.scale(vec.sub(wanted, foot), share))
                set_ray(origins, directions, 0, n, at, base, up, plan.rise)
                n += 1


# --- choosing --------------------------------------------------------------------------------------------------


@routine
def hold_at(plan, memory, found, i, leg, which, base, up):
    """A candidate: whether it can be stood on, where the ball comes to be, the normal, and what is wrong with it."""
    size = plan.size[leg]
    zero = like(size, 0.0)
    at = vec.add(get3(memory.wanted, i, leg), candidate(plan, leg, which, up))
    n = memory.first[i, leg]
    flat = vec.reject(vec.sub(at, base), up)
    if plan.points[leg]:
        n += which
        raw = sample_at(found.normals, 0, n)
        good = found.hit[0, n] & (vec.dot(raw, up) >= plan.cos_slope)
        return (
            good,
            sample_at(found.points, 0, n),
            vec.unit_or(tilted(raw, up, plan.cos_slope, plan.sin_slope), up),
            zero,
        )
    n += which * FOOT_SAMPLES
    raw = sample_at(found.normals, 0, n + BALL_SAMPLE)
    good = found.hit[0, n + BALL_SAMPLE] & (vec.dot(raw, up) >= plan.cos_slope)
    plane, normal = fit(found, 0, n, 1, up, base, plan)
    _, gap = judge(plane, normal, found.hit, found.points, 0, n, 1, up)
    for part in range(FOOT_SAMPLES):
        gap += zero if found.hit[0, n + part] else like(size, NO_GROUND) * size
    height = vec.dot(vec.sub(plane, vec.add(base, flat)), normal) / vec.dot(up, normal)
    return good, vec.add(vec.add(base, flat), vec.scale(up, height)), normal, gap * like(size, HOLD_EDGE) / size


@routine
def within_reach(plan, memory, i, leg, place, ball, turn, seconds, up):
    """Whether the leg reaches a foothold when the body has come there, and does not have to crouch too far."""
    hip = xform.apply(matrix_at(place, i, 0), get3(memory.hips, i, leg))
    hip = vec.add(hip, vec.scale(get3(memory.drifts, i, leg), min(seconds, plan.swing_time) * memory.held[i]))
    ankle = vec.add(ball, quat.rotate(turn, row3(plan.to_ankles, leg)))
    reach = reach_for(plan, leg, like(seconds, HOLD_REACH))
    top = memory.pelvis[i] + highest(hip, ankle, up, reach)
    far = vec.length(vec.reject(vec.sub(hip, ankle), up)) > reach
    return (top >= memory.level[i] - plan.crouch[leg] * like(seconds, HOLD_CROUCH)) & (not far)


@routine
def choose_hold(plan, memory, found, i, leg, place, base, up):
    """The best foothold of a foot that looks for one. Returns whether there is any."""
    size = plan.size[leg]
    zero = like(size, 0.0)
    turn = turn_of(matrix_at(place, i, 0))
    slope = vec.unit_or(get3(memory.lean, i, 0), up)
    foot = get3(memory.contacts[i], leg, BALL)
    seconds = memory.left[i, leg] if memory.locked[i, leg] == FREE else zero
    some, cheapest = False, zero
    for which in range(CANDIDATES):
        good, ball, normal, cost = hold_at(plan, memory, found, i, leg, which, base, up)
        if not good:
            continue
        stands = quat.unit(quat.mul(quat.between(up, normal, vec.hinge_of(up)), turn))
        if not (memory.fresh[i] | within_reach(plan, memory, i, leg, place, ball, stands, seconds, up)):
            continue
        aside = candidate(plan, leg, which, up)
        off = vec.dot(vec.sub(ball, foot), slope)
        cost += (vec.length(aside) + abs(off) * like(size, HOLD_HEIGHT)) / size
        if (not some) | (cost < cheapest):
            some, cheapest = True, cost
            set3(memory.holds, i, leg, ball)
            set4(memory.hold_turns, i, leg, stands)
            set3(memory.excuses, i, leg, aside)
    memory.failed[i, leg] = not some
    set3(memory.tried, i, leg, wanted_at(plan, memory, i, leg, matrix_at(place, i, 0), zero))
    return some


@batch
def choose_holds(rows, plan, memory, found, place):
    """Footholds of all feet that look for one. One that is about to leave and finds none stays where it is."""
    for k in range(rows.size):
        i = rows[k]
        base, up = floor_of(place, i, plan)
        for leg in range(plan.size.size):
            if memory.first[i, leg] < 0:
                continue
            some = choose_hold(plan, memory, found, i, leg, place, base, up)
            if memory.fresh[i]:
                if some:
                    land(memory, i, leg)
            elif some:
                if memory.locked[i, leg] == HANGING:
                    leave(plan, memory, i, leg, up)
                path = memory.first[i, leg] + rays_of(plan, leg) - PATH_RAYS
                plan_way(plan, memory, found, i, leg, path, up)
            elif memory.locked[i, leg] == FREE:
                memory.locked[i, leg] = LOCKED
