"""Where a swinging foot comes down, and how it gets there.

A foothold is looked for once, as the foot leaves: where it is wanted and around it; solid, not too steep, within reach,
as near as can be. Then it swings there, over whatever is on its way, no faster than it may, and is put down exactly.
"""

from __future__ import annotations

import math

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.footing import (
    BALL,
    FREE,
    LOCKED,
    Found,
    fit,
    floor_of,
    get3,
    judge,
    sample_at,
    set3,
    set_ray,
    tilted,
)
from kinema.behaviours.gait import HANGING, ankle_of, leave, lift_feet, quat4, reach_for, row3, wanted_at
from kinema.behaviours.stepping import highest
from kinema.constants import (
    AT_REST,
    FOOT_SAMPLES,
    HIGHEST_STEP,
    HOLD_CROUCH,
    HOLD_EDGE,
    HOLD_HEIGHT,
    HOLD_REACH,
    NO_GROUND,
    PATH_RAYS,
    STEEP_STEP,
    SWING_ARRIVES,
    SWING_RISES,
    SWING_WAITS,
)
from kinema.math import quat, spring, vec, xform
from kinema.skeleton import matrix_at
from kinema.solvers.branch import handedness

CANDIDATES = 13
"""Where it is wanted, four around it half way out, eight all the way out."""

BALL_SAMPLE = 2
"""The ball among the samples of a foot: heel, middle, ball, tip."""

__all__ = ["CANDIDATES", "Found", "aim_feet", "choose_holds", "swing_feet"]


@kernel
def set4(array, i, leg, q):
    array[i, leg, 0], array[i, leg, 1], array[i, leg, 2], array[i, leg, 3] = q[0], q[1], q[2], q[3]


@kernel
def turn_of(m):
    """The rotation in a place."""
    frame = xform.axes(m)
    return quat.from_columns(vec.scale(frame[0], handedness(frame)), frame[1], frame[2])


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
    """The rays themselves, (1, rays, 3): of each candidate one, or one for each part of the sole; then along the way."""
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


@routine
def plan_way(plan, memory, found, i, leg, up):
    """How a foot swings: over everything on its way, up before what rises ahead, down behind what falls, and no faster
    than it may.
    """
    size = plan.size[leg]
    one = like(size, 1.0)
    foot, hold = get3(memory.contacts[i], leg, BALL), get3(memory.holds, i, leg)
    off, down = memory.takeoff[i, leg], vec.dot(hold, up)
    top = max(off, down)
    first = memory.first[i, leg] + rays_of(plan, leg) - PATH_RAYS
    for step in range(PATH_RAYS):
        if found.hit[0, first + step]:
            seen = vec.dot(sample_at(found.points, 0, first + step), up)
            # What rises higher than a leg can step is a wall; the foot does not climb it on its way.
            top = max(top, seen) if seen < max(off, down) + size * like(size, HIGHEST_STEP) else top
    memory.apexes[i, leg] = top + plan.lift * size
    steep = size * like(size, STEEP_STEP)
    memory.depart[i, leg] = like(size, SWING_WAITS) * min((top - off) / steep, one)
    memory.arrive[i, leg] = like(size, SWING_ARRIVES) + like(size, SWING_WAITS) * min((top - down) / steep, one)
    take_time(plan, memory, i, leg, vec.length(vec.reject(vec.sub(hold, foot), up)), down)


@routine
def take_time(plan, memory, i, leg, across, down):
    """Give a swing the time it takes: no foot is faster than it may be. The cubic of `glided` is one and a half times as
    fast at its fastest as on the mean.
    """
    size = plan.size[leg]
    one = like(size, 1.0)
    rate = like(size, 1.5) / (plan.foot_speed * size)
    needed = across * rate
    needed /= one - memory.depart[i, leg] - memory.arrive[i, leg]
    needed = max(needed, (memory.apexes[i, leg] - memory.takeoff[i, leg]) * rate / like(size, SWING_RISES))
    needed = max(needed, (memory.apexes[i, leg] - down) * rate / like(size, 1.0 - SWING_RISES))
    memory.whole[i, leg] = memory.left[i, leg] = max(needed, plan.swing_time)


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
                plan_way(plan, memory, found, i, leg, up)
            elif memory.locked[i, leg] == FREE:
                memory.locked[i, leg] = LOCKED


# --- swinging --------------------------------------------------------------------------------------------------


@kernel
def land(memory, i, leg):
    """A foot stands on its foothold."""
    zero = like(memory.left[i, leg], 0.0)
    memory.locked[i, leg] = LOCKED
    memory.left[i, leg] = zero
    set3(memory.contacts[i], leg, BALL, get3(memory.holds, i, leg))
    set3(memory.speeds, i, leg, (zero, zero, zero))
    set4(memory.turns, i, leg, quat4(memory.hold_turns, i, leg))


@kernel
def glided(x, speed, goal, left, dt):
    """A point on its way to a goal, where it comes to rest in so many seconds, dt on (the cubic of Hermite; followed in
    steps it is the same curve).
    """
    one = like(dt, 1.0)
    two = like(dt, 2.0)
    three = like(dt, 3.0)
    if dt >= left:
        return (goal, like(dt, 0.0)) if dt > like(dt, 0.0) else (x, speed)
    u = dt / left
    way = goal - x
    at = x + way * u * u * (three - two * u) + speed * left * u * (one - u) * (one - u)
    rate = way * (u - u * u) * like(dt, 6.0) / left + speed * (one - u) * (one - three * u)
    return at, rate


@kernel
def smooth(u):
    return u * u * (like(u, 3.0) - u - u)


@routine
def swing_foot(plan, memory, i, leg, up, dt):
    """A swinging foot, dt on."""
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    foot, speed = get3(memory.contacts[i], leg, BALL), get3(memory.speeds, i, leg)
    hold = get3(memory.holds, i, leg)
    left, whole = memory.left[i, leg], memory.whole[i, leg]
    if dt >= left:
        land(memory, i, leg)
        return
    now, goal = vec.reject(foot, up), vec.reject(hold, up)
    rate = vec.reject(speed, up)
    waits = min(max(left - whole * (one - memory.depart[i, leg]), zero), dt)
    across = max(left - waits - whole * memory.arrive[i, leg], zero)
    x, vx = glided(now[0], rate[0], goal[0], across, dt - waits)
    y, vy = glided(now[1], rate[1], goal[1], across, dt - waits)
    z, vz = glided(now[2], rate[2], goal[2], across, dt - waits)
    rising = max(left - whole * like(dt, 1.0 - SWING_RISES), zero)
    part = min(rising, dt)
    height, climb = vec.dot(foot, up), vec.dot(speed, up)
    if part > zero:
        height, climb = glided(height, climb, memory.apexes[i, leg], rising, part)
    if dt > part:
        height, climb = glided(height, climb, vec.dot(hold, up), left - part, dt - part)
    set3(memory.contacts[i], leg, BALL, vec.add((x, y, z), vec.scale(up, height)))
    set3(memory.speeds, i, leg, vec.add((vx, vy, vz), vec.scale(up, climb)))
    done, then = smooth(one - left / whole), smooth(one - (left - dt) / whole)
    share = (then - done) / (one - done) if done < one else one
    turned = quat.slerp(quat4(memory.turns, i, leg), quat4(memory.hold_turns, i, leg), share)
    set4(memory.turns, i, leg, quat.unit(turned))
    memory.left[i, leg] = left - dt


@routine
def hang_foot(plan, memory, i, leg, place, dt):
    """A foot without ground, on its way to where it is at rest."""
    goal = get3(memory.homes, i, leg)
    foot = get3(memory.contacts[i], leg, BALL)
    gap = vec.scale(vec.sub(foot, goal), spring.decay(plan.pelvis_half_life, dt))
    there = memory.fresh[i] | (vec.span(gap) < plan.size[leg] * like(dt, AT_REST))
    memory.moving[i] |= not there
    set3(memory.contacts[i], leg, BALL, vec.select(there, goal, vec.add(goal, gap)))
    set4(memory.turns, i, leg, turn_of(matrix_at(place, i, 0)))


@batch
def swing_feet(rows, plan, memory, place, dt):
    """All feet, dt on: where they are, and with them ankles; how high the body goes by each of them."""
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    for k in range(rows.size):
        i = rows[k]
        base, up = floor_of(place, i, plan)
        for leg in range(plan.size.size):
            if memory.locked[i, leg] == FREE:
                swing_foot(plan, memory, i, leg, up, dt)
            elif memory.locked[i, leg] == HANGING:
                hang_foot(plan, memory, i, leg, place, dt)
            foot = get3(memory.contacts[i], leg, BALL)
            turn = quat4(memory.turns, i, leg)
            set3(memory.targets, i, leg, ankle_of(plan, memory, i, leg))
            set4(memory.rotations, i, leg, quat.unit(quat.mul(turn, quat_row(plan.ankle_turns, leg))))
            floor = vec.dot(base, up)
            memory.swing[i, leg] = zero
            memory.ahead[i, leg] = vec.dot(foot, up) - floor
            if memory.locked[i, leg] == HANGING:
                memory.swing[i, leg], memory.ahead[i, leg] = one, zero
            if memory.locked[i, leg] == FREE:
                done = smooth(one - memory.left[i, leg] / memory.whole[i, leg])
                to = vec.dot(get3(memory.holds, i, leg), up)
                memory.swing[i, leg] = one - done
                memory.ahead[i, leg] = memory.takeoff[i, leg] + (to - memory.takeoff[i, leg]) * done - floor


@kernel
def quat_row(table, leg):
    return (table[leg, 0], table[leg, 1], table[leg, 2], table[leg, 3])
