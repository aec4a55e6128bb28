"""How a walker's place moves over the ground: as asked, eased, and no farther than its planted legs let it."""

from __future__ import annotations

import math

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.footing import BALL, BARRED, LOCKED, floor_of, get3, set3
from kinema.behaviours.gait import lead_of
from kinema.behaviours.stepping import carry_hips, highest, lean_body, leg_reach, slope_under, spring_pelvis
from kinema.behaviours.walking import HANGING, TO_A_POINT, ankle_of, row3, strain
from kinema.constants import (
    ARRIVED,
    AT_REST,
    BRAKE_FROM,
    DEEPEST_CROUCH,
    FASTEST_FALL,
    FASTEST_WALK,
    LET_GO,
    LN2,
    STEP_URGENT,
    STOOD_LONG,
    SWING_SLACK,
    TELEPORT,
    TURN_NEAR,
)
from kinema.math import quat, spring, vec, xform
from kinema.skeleton import matrix_at, store_matrix
from kinema.solvers.branch import origin_at, point_at


@routine
def home_of(plan, m, leg):
    """Where a foot rests, with the character's space here."""
    return xform.apply(m, row3(plan.homes, leg))


@routine
def moved_place(m, velocity, turn, own_up, dt):
    """A place, dt on."""
    one = like(dt, 1.0)
    way = (vec.scale(velocity, dt), quat.from_axis_angle(own_up, turn * dt), (one, one, one))
    return xform.mul(m, xform.matrix(way))


# --- what is asked for -----------------------------------------------------------------------------------------


@routine
def towards_goal(plan, memory, i, m, own_up):
    """Velocity and turn that bring a walker to its goal: it faces where it goes, and slows down in time."""
    zero = like(plan.stride, 0.0)
    one = like(plan.stride, 1.0)
    size = plan.size[0]
    way = vec.reject(xform.linear(xform.inverse(m), vec.sub(point_at(memory.goal, i), m[3])), own_up)
    distance = vec.length(way)
    if distance <= size * like(size, ARRIVED):
        return (zero, zero, zero), zero
    ahead = (plan.forward[0], plan.forward[1], plan.forward[2])
    cosine = vec.dot(way, ahead) / distance
    sine = vec.dot(own_up, vec.cross(ahead, way)) / distance
    # The rate at which what is left closes, a quarter of that of the easing: together they do not overshoot.
    rate = like(size, LN2 / 4.0) / plan.half_life if plan.half_life > zero else like(size, 1.0)
    near = min(distance / (size * like(size, TURN_NEAR)), one)
    turn = min(max(math.atan2(sine, cosine) * rate * like(size, 2.0), -plan.turn_speed), plan.turn_speed) * near
    speed = min(memory.pace[i], distance * rate)
    facing = max(cosine, one - near)
    return vec.scale(way, speed * max(facing, zero) / distance), turn


@routine
def ease_velocity(plan, memory, i, m, own_up, dt):
    """The velocity now: on its way to what is asked for, and never faster than the feet can follow."""
    zero = like(dt, 0.0)
    asked, turn = row3(memory.asked, i), memory.asked[i, 3]
    if memory.mode[i] == TO_A_POINT:
        asked, turn = towards_goal(plan, memory, i, m, own_up)
    asked = vec.reject(asked, own_up)
    fastest = zero
    for leg in range(plan.size.size):
        round_about = vec.scale(vec.cross(own_up, row3(plan.homes, leg)), turn)
        fastest = max(fastest, vec.length(vec.add(asked, round_about)) / plan.size[leg])
    most = like(dt, 2.0 * FASTEST_WALK) * plan.stride / plan.swing_time
    share = most / fastest if fastest > most else like(dt, 1.0)
    asked, turn = vec.scale(asked, share), turn * share
    left = spring.decay(plan.half_life, dt)
    velocity = vec.add(asked, vec.scale(vec.sub(row3(memory.velocity, i), asked), left))
    turning = turn + (memory.velocity[i, 3] - turn) * left
    near = plan.size[0] * like(dt, AT_REST)
    if vec.span(vec.sub(velocity, asked)) < near:
        velocity = asked
    if abs(turning - turn) < like(dt, AT_REST):
        turning = turn
    memory.velocity[i, 0], memory.velocity[i, 1], memory.velocity[i, 2] = velocity
    memory.velocity[i, 3] = turning
    return velocity, turning


# --- what the legs bear ----------------------------------------------------------------------------------------


@routine
def allowed(plan, memory, i, m, then, up):
    """Share of the way from one place to another that every planted leg bears. Strain along it is convex, so that a
    line from end to end is never below it.
    """
    one = like(plan.stride, 1.0)
    zero = like(plan.stride, 0.0)
    share = one
    for leg in range(plan.size.size):
        if memory.locked[i, leg] != LOCKED:
            continue
        before, after = strain(plan, memory, i, leg, m, up), strain(plan, memory, i, leg, then, up)
        if after <= before:
            continue
        room = max((one - before) / like(one, 1.0 - BRAKE_FROM), zero)
        share = min(share, room)
        if after > one:
            share = min(share, max((one - before) / (after - before), zero))
    return share


@batch
def travel(rows, plan, memory, place, weights, dt):
    """Move every walker's place over the ground, and note where its feet belong and how fast that moves."""
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    own_up = (plan.up[0], plan.up[1], plan.up[2])
    for k in range(rows.size):
        i = rows[k]
        _, up = floor_of(place, i, plan)
        m = matrix_at(place, i, 0)
        begin(plan, memory, i, m, up, dt)
        velocity, turn = ease_velocity(plan, memory, i, m, own_up, dt)
        step = dt * weights[i]
        then = moved_place(m, velocity, turn, own_up, step)
        moves = (vec.span(velocity) > zero) | (turn != zero)
        # Held back at once, let go on by and by.
        memory.held[i] = one - (one - memory.held[i]) * spring.decay(plan.half_life * like(dt, LET_GO), dt)
        if moves & (step > zero):
            memory.held[i] = min(memory.held[i], allowed(plan, memory, i, m, then, up))
            then = moved_place(m, velocity, turn, own_up, step * memory.held[i])
            store_matrix(place, i, 0, then)
        memory.moving[i] |= moves | asks(memory, i)
        follow_level(plan, memory, i, place, up, dt)
        now = matrix_at(place, i, 0)
        for leg in range(plan.size.size):
            home = home_of(plan, now, leg)
            spin = vec.scale(vec.cross(own_up, row3(plan.homes, leg)), turn)
            own = xform.linear(now, vec.add(velocity, spin))
            set3(memory.drifts, i, leg, vec.add(own, get3(memory.drifts, i, leg)))
            set3(memory.homes, i, leg, home)


@kernel
def asks(memory, i):
    """Whether somebody wants this walker to move."""
    zero = like(memory.asked[i, 0], 0.0)
    some = (vec.span(row3(memory.asked, i)) > zero) | (memory.asked[i, 3] != zero)
    return some & (memory.mode[i] != TO_A_POINT)


@routine
def begin(plan, memory, i, m, up, dt):
    """What was done to the place since the last frame: put elsewhere, a walker starts anew; moved a little, its feet
    follow. Notes the velocity that this gives to where its feet belong.
    """
    zero = like(dt, 0.0)
    last = matrix_at(memory.places, i, 0)
    if vec.length(vec.sub(m[3], last[3])) > plan.size[0] * like(dt, TELEPORT):
        memory.fresh[i] = True
    for leg in range(plan.size.size):
        moved = vec.reject(vec.sub(home_of(plan, m, leg), home_of(plan, last, leg)), up)
        still = memory.fresh[i] | (dt <= zero)
        set3(memory.drifts, i, leg, vec.scale(moved, zero if still else like(dt, 1.0) / dt))
        if memory.fresh[i]:
            memory.locked[i, leg] = HANGING
            memory.failed[i, leg] = False
            set3(memory.hips, i, leg, row3(plan.hips, leg))
            set3(memory.contacts[i], leg, BALL, home_of(plan, m, leg))
    if memory.fresh[i]:
        memory.since[i] = plan.swing_time * like(dt, STOOD_LONG)
        memory.held[i] = like(dt, 1.0)
        memory.pelvis[i] = memory.pelvis_speed[i] = memory.level[i] = memory.follow_speed[i] = zero
        for c in range(4):
            memory.velocity[i, c] = zero


@routine
def follow_level(plan, memory, i, place, up, dt):
    """Bring the place to the height of the ground under the feet. The body is not moved by that."""
    zero = like(dt, 0.0)
    near = plan.size[0] * like(dt, AT_REST)
    step, v = spring.critical(zero, memory.follow_speed[i], memory.level[i], plan.pelvis_half_life, dt)
    if (abs(memory.level[i] - step) < near) & (abs(v) < near):
        step, v = zero, zero
    memory.moving[i] |= step != zero
    memory.follow_speed[i] = v
    memory.pelvis[i] -= step
    memory.level[i] -= step
    for c in range(3):
        place[i, 0, 4 * c + 3] += up[c] * step
        for leg in range(plan.size.size):
            # Where a leg starts is kept in the character's own space: the body stays where it is.
            memory.hips[i, leg, c] -= plan.up[c] * step


@routine
def walking_dip(plan, memory, i):
    """How much lower than it stands a body walks, metres, so that its legs reach ahead and behind as far as they are
    going to: then it need not dip at every step.
    """
    zero = like(plan.stride, 0.0)
    dip = zero
    for leg in range(plan.size.size):
        aside, rest, reach = plan.asides[leg], plan.eases[leg], plan.reaches[leg]
        lead = lead_of(plan, memory, i, leg) * like(zero, STEP_URGENT)
        high = math.sqrt(max(rest * rest - aside * aside, zero))
        low = math.sqrt(max(reach * reach - aside * aside - lead * lead, zero))
        dip = max(dip, min(high - low, plan.crouch[leg]))
    return dip


@batch
def move_body(rows, plan, memory, place, world, hips, parent, dt, weights, t, r):
    """The body on its springs: at the height of the plane of the feet and leaning with it, but low enough that every
    planted leg reaches. Never lower than it crouches: a foot that is then out of reach is one to lift.
    """
    zero = like(dt, 0.0)
    for k in range(rows.size):
        i = rows[k]
        _, up = floor_of(place, i, plan)
        at_hips = origin_at(world, i, hips)
        middle, level, rise = slope_under(plan, memory, i, up)
        turn = (zero, zero, zero, like(dt, 1.0))
        if plan.lean > zero:
            level += vec.dot(rise, vec.sub(at_hips, middle))
            turn = quat.part(lean_body(plan, memory, i, rise, up, dt), weights[i])
        memory.level[i] = level
        x, v = spring_pelvis(plan, memory, i, level - walking_dip(plan, memory, i), dt)
        lowest = memory.pelvis[i] - plan.size[0] * like(dt, FASTEST_FALL) * dt
        for leg in range(plan.size.size):
            hip, reach = leg_reach(plan, world, i, leg, at_hips, turn)
            ankle = get3(memory.targets, i, leg)
            if vec.length(vec.reject(vec.sub(hip, ankle), up)) > reach:
                continue  # No height would bring it there.
            top = highest(hip, ankle, up, reach)
            top += memory.swing[i, leg] * plan.size[leg] * like(dt, SWING_SLACK)
            top = max(top, level - plan.crouch[leg] * like(dt, DEEPEST_CROUCH))
            if x > top:
                x, v = (top if memory.fresh[i] else max(top, lowest)), min(v, zero)
        carry_hips(plan, memory, i, up, turn, x, v, weights[i], place, world, hips, parent, t, r)
        for leg in range(plan.size.size):
            if (memory.locked[i, leg] == LOCKED) | (memory.locked[i, leg] == BARRED):
                missed = vec.span(vec.sub(ankle_of(plan, memory, i, leg), get3(memory.targets, i, leg)))
                memory.locked[i, leg] = BARRED if missed > plan.size[leg] * like(dt, AT_REST) else LOCKED


@batch
def remember(rows, plan, memory, place, world):
    """Keep what the next frame starts from."""
    for k in range(rows.size):
        i = rows[k]
        m = matrix_at(place, i, 0)
        store_matrix(memory.places, i, 0, m)
        back = xform.inverse(m)
        for leg in range(plan.size.size):
            set3(memory.hips, i, leg, xform.apply(back, origin_at(world, i, plan.thighs[leg])))
        memory.fresh[i] = False
