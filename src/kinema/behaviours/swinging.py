"""How a foot swings to its foothold: over whatever is on its way, no faster than it may, and put down exactly there."""

from __future__ import annotations

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.footing import BALL, FREE, LOCKED, floor_of, get3, sample_at, set3
from kinema.behaviours.walking import HANGING, ankle_of, quat4, quat_row, set4, turn_of
from kinema.constants import (
    AT_REST,
    HIGHEST_STEP,
    PATH_RAYS,
    STEEP_STEP,
    SWING_ARRIVES,
    SWING_RISES,
    SWING_WAITS,
)
from kinema.math import quat, spring, vec
from kinema.skeleton import matrix_at

# --- planning --------------------------------------------------------------------------------------------------


@routine
def plan_way(plan, memory, found, i, leg, path, up):
    """How a foot swings: over everything on its way, up before what rises ahead, down behind what falls, and no faster
    than it may. path: the first of the rays along its way.
    """
    size = plan.size[leg]
    one = like(size, 1.0)
    foot, hold = get3(memory.contacts[i], leg, BALL), get3(memory.holds, i, leg)
    off, down = memory.takeoff[i, leg], vec.dot(hold, up)
    top = max(off, down)
    for step in range(PATH_RAYS):
        if found.hit[0, path + step]:
            seen = vec.dot(sample_at(found.points, 0, path + step), up)
            # What rises higher than a leg can step is a wall; the foot does not climb it on its way.
            top = max(top, seen) if seen < max(off, down) + size * like(size, HIGHEST_STEP) else top
    memory.apexes[i, leg] = top + plan.lift * size
    steep = size * like(size, STEEP_STEP)
    memory.depart[i, leg] = like(size, SWING_WAITS) * min((top - off) / steep, one)
    memory.arrive[i, leg] = like(size, SWING_ARRIVES) + like(size, SWING_WAITS) * min((top - down) / steep, one)
    take_time(plan, memory, i, leg, vec.length(vec.reject(vec.sub(hold, foot), up)), down)


@routine
def take_time(plan, memory, i, leg, across, down):
    """Give a swing the time it takes: no foot is faster than it may be. At its fastest the cubic of `glided` is one and
    a half times as fast as on the mean.
    """
    size = plan.size[leg]
    one = like(size, 1.0)
    rate = like(size, 1.5) / (plan.foot_speed * size)
    needed = across * rate
    needed /= one - memory.depart[i, leg] - memory.arrive[i, leg]
    needed = max(needed, (memory.apexes[i, leg] - memory.takeoff[i, leg]) * rate / like(size, SWING_RISES))
    needed = max(needed, (memory.apexes[i, leg] - down) * rate / like(size, 1.0 - SWING_RISES))
    memory.whole[i, leg] = memory.left[i, leg] = max(needed, plan.swing_time)


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
