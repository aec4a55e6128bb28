"""Where feet and pelvis go: each frame's step from what is under the feet to targets for ankles and hips.

A foot moves over the plane it is given as it moves over the floor in its clip (`laid`). Which plane that is, how fast
it may change, and where the foot is held or waits is decided here, foot by foot, in the order of `place_feet`.
"""

from __future__ import annotations

import math

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.footing import (
    AHEAD,
    BALL,
    BARRED,
    FOOT_STEPS,
    FREE,
    HEEL,
    LOCKED,
    PROFILE,
    RAYS,
    TIP,
    UNTOLD,
    fit,
    floor_of,
    foothold,
    foreseen_landing,
    get3,
    height_on,
    sample_at,
    set3,
    shortened,
    sole_point,
    tilted,
)
from kinema.constants import (
    AHEAD_RAYS,
    AT_REST,
    CONTACT_SWITCH,
    FOOT_SAMPLES,
    HIGH_SWING,
    LANDING_KNOWN,
    LANDING_SETTLED,
    LARGEST_OFFSET,
    LARGEST_SINK,
    LEAN_DAMPING,
    LOOK_AHEAD,
    OVERSTRETCH,
    RELEASE_SHARE,
    ROLL_HEIGHT,
    SWING_SLACK,
    TELEPORT,
    WALL,
)
from kinema.math import quat, spring, vec, xform
from kinema.skeleton import matrix_at
from kinema.solvers.branch import origin_at, rotation_at, store_rotation

# --- one foot, step by step ------------------------------------------------------------------------------------


@kernel
def laid(p, ball, ball_height, on_plane, normal, turn, up, roll):
    """A point of the foot, moved as the floor under the foot is laid onto the ground: the ball comes to be above the
    point of the plane that is below it, everything else turns about it.
    """
    rolled = ball_height if ball_height < roll else roll
    lifted = vec.add(on_plane, vec.add(vec.scale(normal, rolled), vec.scale(up, ball_height - rolled)))
    return vec.add(lifted, quat.rotate(turn, vec.sub(p, ball)))


@kernel
def pick(which, heel, ball, tip):
    """One of the three points of a sole."""
    return vec.select(which == HEEL, heel, vec.select(which == TIP, tip, ball))


@kernel
def sample_of(which):
    """The ray under heel, ball or tip, among the rays of a leg."""
    return 0 if which == HEEL else (2 if which == BALL else 3)


@kernel
def lowest_point(heel_height, ball_height, tip_height, switch):
    """Which point of the sole touches the floor in the clip; the ball unless another one is clearly lower."""
    contact = BALL
    if heel_height < ball_height - switch:
        contact = HEEL
    if tip_height < min(heel_height, ball_height) - switch:
        contact = TIP
    return contact


@routine
def planted_state(plan, memory, i, leg, low, speed):
    """FREE, LOCKED or BARRED: whether the clip has this foot on the ground, and whether it is held there."""
    before = memory.locked[i, leg]
    share = like(low, RELEASE_SHARE) if before != FREE else like(low, 1.0)
    size = plan.size[leg]
    told = memory.told[i, leg]
    free = (low >= plan.plant_height * size * share) | (speed >= plan.plant_speed * size * share)
    if (told == 0) | ((told == UNTOLD) & free):
        return FREE
    return LOCKED if before == FREE else before


@routine
def learn_landing(plan, memory, i, leg, state, heel, hips, place, dt, new):
    """Remember how long a swing took and how far from the hips the foot landed."""
    if state == FREE:
        memory.aloft_for[i, leg] += dt
        return
    if (memory.locked[i, leg] == FREE) & (not new):
        memory.swing_time[i, leg] = memory.aloft_for[i, leg]
        # From the heel, which is down first; the ball comes down where the foot's length puts it.
        ball = vec.add(heel, vec.scale(get3(memory.headings, i, leg), plan.heel[leg]))
        own = xform.linear(xform.inverse(matrix_at(place, i, 0)), vec.sub(ball, hips))
        set3(memory.landed, i, leg, own)
    memory.aloft_for[i, leg] = like(dt, 0.0)
    memory.steps[i, leg] = 0
    memory.chosen[i, leg] = False


@routine
def tilt(plan, memory, i, leg, ground_normal, up, aloft, dt, new):
    """The normal a foot goes by: eased to the ground's, less of it high in the air."""
    one = like(dt, 1.0)
    goal = vec.unit_or(vec.add(vec.scale(ground_normal, one - aloft), vec.scale(up, aloft)), up)
    before = get3(memory.normals, i, leg)
    left = spring.decay(plan.tilt_half_life, dt)
    normal = vec.unit_or(vec.add(goal, vec.scale(vec.sub(before, goal), left)), up)
    return vec.select(new | (vec.span(vec.sub(normal, goal)) < like(dt, AT_REST)), goal, normal)


@routine
def swing_height(plan, memory, found, i, leg, height, height_ahead, soon, left, lands, normal, flat, base, up):
    """How high the plane under a swinging foot must be: on its way to the foothold, over what it passes, in time for
    what is ahead; where it is known to land, what is beyond its toes does not count.
    """
    n = leg * RAYS
    heading = get3(memory.headings, i, leg)
    to_tip = plan.spacing[leg] * like(height, FOOT_STEPS) - plan.heel[leg]
    if soon:
        # From where it took off to where it will land, over whatever is under it.
        one = like(height, 1.0)
        done = one - left / memory.swing_time[i, leg]
        done = done * done * (like(height, 3.0) - done - done)
        height = memory.takeoff[i, leg] + (height_ahead - memory.takeoff[i, leg]) * done
        for k in range(FOOT_SAMPLES):
            if found.hit[i, n + k]:
                height = max(height, height_on(sample_at(found.points, i, n + k), normal, flat, up))
    rate = plan.climb * plan.size[leg]
    for a in range(AHEAD_RAYS):
        beyond = vec.dot(vec.sub(sample_at(found.points, i, n + AHEAD + a), lands), heading) > to_tip
        if found.hit[i, n + AHEAD + a] & (not (soon & beyond)):
            seen = vec.dot(vec.sub(sample_at(found.points, i, n + AHEAD + a), base), up)
            height = max(height, seen - rate * like(height, LOOK_AHEAD * (a + 1) / AHEAD_RAYS))
    return height


@routine
def missing_height(plan, found, i, leg, heel, ball, tip, ball_height, on_plane, normal, turn, up, standing, favoured):
    """How far a foot must be raised so that no point of its sole is in the ground, negative if all are above it; and
    the deepest one, which is the one that touches: the favoured one unless another is clearly deeper. Beside a foot
    that stands already, what rises is a wall and does not count.
    """
    size = plan.size[leg]
    switch = size * like(size, CONTACT_SWITCH)
    missing, deepest, most = -size, BALL, -size - switch
    for which in range(3):
        n = leg * RAYS + sample_of(which)
        if found.hit[i, n]:
            p = pick(which, heel, ball, tip)
            roll = size * like(size, ROLL_HEIGHT)
            at = laid(p, ball, ball_height, on_plane, normal, turn, up, roll)
            depth = vec.dot(vec.sub(sample_at(found.points, i, n), at), up)
            if not (standing & (depth > size * like(size, WALL))):
                missing = max(missing, depth)
                if depth + (switch if which == favoured else like(size, 0.0)) > most:
                    most, deepest = depth + (switch if which == favoured else like(size, 0.0)), which
    return missing, deepest


@kernel
def hovering(plan, leg, low):
    """How far a planted foot stays above the ground of what the clip has it hover: none at first, all of it where it is
    let go, so that nothing jumps there.
    """
    zero = like(low, 0.0)
    edge = plan.plant_height * plan.size[leg] * like(low, RELEASE_SHARE)
    share = min(max(low, zero) / edge, like(low, 1.0)) if edge > zero else like(low, 1.0)
    return max(low, zero) * share * share


@kernel
def towards(value, goal, most):
    """A value moved to its goal by at most so much."""
    goal = goal if goal > value - most else value - most
    return goal if goal < value + most else value + most


@routine
def ease_offset(plan, memory, i, leg, offset, goal, soon, left, dt):
    """The offset of a foot in the air, on its way to that of the foothold (or to none), in time for the landing."""
    half_life = min(plan.release_half_life, left * like(dt, 0.25)) if soon else plan.release_half_life
    eased = vec.add(goal, vec.scale(vec.sub(offset, goal), spring.decay(half_life, dt)))
    there = vec.span(vec.sub(eased, goal)) < plan.size[leg] * like(dt, AT_REST)
    return vec.select(there, goal, eased)


@routine
def remember(memory, i, leg, state, height, lift, normal, offset, new):
    """Keep a foot's state for the next frame, and note whether anything of it changed."""
    was_state, was_lift, was_height = memory.locked[i, leg], memory.raised[i, leg], memory.heights[i, leg]
    was_normal, was_offset = get3(memory.normals, i, leg), get3(memory.offsets, i, leg)
    memory.locked[i, leg] = state
    memory.raised[i, leg] = lift
    memory.heights[i, leg] = height
    set3(memory.normals, i, leg, normal)
    set3(memory.offsets, i, leg, offset)
    changed = new | (was_state != memory.locked[i, leg])
    changed |= (was_lift != memory.raised[i, leg]) | (was_height != memory.heights[i, leg])
    changed |= vec.span(vec.sub(was_normal, get3(memory.normals, i, leg))) > like(height, 0.0)
    changed |= vec.span(vec.sub(was_offset, get3(memory.offsets, i, leg))) > like(height, 0.0)
    memory.moving[i] |= changed


@routine
def place_foot(plan, memory, found, i, leg, base, up, hips, place, world, dt):
    """One foot of one character: from what the clip does and what the rays found to a target for its ankle."""
    zero = like(dt, 0.0)
    size = plan.size[leg]
    heel = sole_point(world, i, plan, leg, HEEL)
    ball = sole_point(world, i, plan, leg, BALL)
    tip = sole_point(world, i, plan, leg, TIP)
    heel_height = vec.dot(vec.sub(heel, base), up)
    ball_height = vec.dot(vec.sub(ball, base), up)
    tip_height = vec.dot(vec.sub(tip, base), up)
    low = min(heel_height, min(ball_height, tip_height))

    # What the clip does with the foot: the point that touches the floor, how fast it moves, planted or not.
    contact = lowest_point(heel_height, ball_height, tip_height, size * like(dt, CONTACT_SWITCH))
    moved = vec.reject(vec.sub(pick(contact, heel, ball, tip), get3(memory.soles[i], leg, contact)), up)
    distance = vec.length(moved)
    new = memory.fresh[i] | (distance > size * like(dt, TELEPORT))
    speed = distance / dt if (dt > zero) & (not new) else zero
    left, soon = foreseen_landing(memory, i, leg)
    state = planted_state(plan, memory, i, leg, low, speed)
    standing = (memory.locked[i, leg] == LOCKED) & (state == LOCKED) & plan.lock & (not new)
    held = (state == LOCKED) & plan.lock
    learn_landing(plan, memory, i, leg, state, heel, hips, place, dt, new)

    # The plane it goes by: the one it stands on, the foothold it is on its way to, or what is under it.
    offset = vec.select(new, (zero, zero, zero), get3(memory.offsets, i, leg))
    goal = (zero, zero, zero)
    lands = goal
    height_ahead = memory.heights[i, leg]
    soon &= plan.lock & (not held) & (not new)
    settled = soon & memory.chosen[i, leg] & (left < memory.swing_time[i, leg] * like(dt, LANDING_SETTLED))
    if standing | settled:
        plane, ground_normal = get3(memory.planes, i, leg), get3(memory.plane_normals, i, leg)
    elif soon:
        first, before, known = leg * RAYS + PROFILE, memory.steps[i, leg], memory.chosen[i, leg]
        memory.steps[i, leg], plane, ground_normal = foothold(found, i, first, up, base, plan, leg, known, before)
        memory.chosen[i, leg] = True
    else:
        plane, ground_normal = fit(found, i, leg * RAYS, 1, up, base, plan)
    if (held & (not standing)) | soon:
        set3(memory.planes, i, leg, plane)
        set3(memory.plane_normals, i, leg, ground_normal)
    if soon:
        goal = vec.scale(get3(memory.headings, i, leg), plan.spacing[leg] * like(dt, memory.steps[i, leg]))
        lands = vec.add(get3(memory.lands, i, leg), goal)
        height_ahead = vec.dot(vec.sub(lands, base), up) + height_on(plane, ground_normal, lands, up)
    aloft = min(max(low / (size * like(dt, HIGH_SWING)), zero), like(dt, 1.0))
    normal = tilt(plan, memory, i, leg, ground_normal, up, aloft, dt, new)
    turn = quat.between(up, normal, vec.hinge_of(up))

    # Where the ball is above that plane. The offset keeps a standing foot's contact where it landed.
    roll = size * like(dt, ROLL_HEIGHT)
    flat = vec.sub(vec.add(ball, offset), vec.scale(up, ball_height))
    on_plane = vec.add(flat, vec.scale(up, height_on(plane, ground_normal, flat, up)))
    if standing:
        # What hangs over an edge touches nothing, however low the clip has it.
        _, contact = missing_height(
            plan, found, i, leg, heel, ball, tip, ball_height, on_plane, normal, turn, up, standing, contact
        )
        there = laid(pick(contact, heel, ball, tip), ball, ball_height, on_plane, normal, turn, up, roll)
        drift = vec.reject(vec.sub(there, get3(memory.contacts[i], leg, contact)), up)
        offset, flat = vec.sub(offset, drift), vec.sub(flat, drift)

    # How high the plane is there: raised ahead of a step, lowered behind one, each at a bounded rate.
    height = height_on(plane, ground_normal, flat, up)
    if not held:
        height = swing_height(
            plan, memory, found, i, leg, height, height_ahead, soon, left, lands, normal, flat, base, up
        )
    most = plan.climb * size * dt
    height = height if new else towards(memory.heights[i, leg], height, most)
    on_plane = vec.add(flat, vec.scale(up, height))

    # No part of the sole in the ground. Of a planted foot the lowest touches it, even where the clip has it hover a
    # little: over an edge it rolls on the ball, not on toes in the air.
    lift, deepest = missing_height(
        plan, found, i, leg, heel, ball, tip, ball_height, on_plane, normal, turn, up, standing, contact
    )
    if held & (lift > -size):
        lift = max(lift + hovering(plan, leg, low), -size * like(dt, LARGEST_SINK))
    else:
        lift = max(lift, zero)
    if not new:
        if (lift > max(memory.raised[i, leg], zero) + most) & (not held) & (deepest != HEEL):
            # Too steep to be climbed in time: wait in front of it while rising.
            forth = vec.reject(vec.sub(pick(deepest, heel, ball, tip), get3(memory.soles[i], leg, deepest)), up)
            offset = vec.sub(offset, forth)
            flat = vec.sub(flat, forth)
            height = max(height, memory.heights[i, leg] + most)
            on_plane = vec.add(flat, vec.scale(up, height))
            lift = zero
        lift = towards(memory.raised[i, leg], lift, most)
    on_plane = vec.add(on_plane, vec.scale(up, lift))

    # What comes out, and what is kept for the next frame.
    ankle = matrix_at(world, i, plan.ankles[leg])
    frame = xform.axes(ankle)
    own = quat.from_columns(vec.scale(frame[0], xform.handedness(frame)), frame[1], frame[2])
    wanted = quat.unit(quat.mul(turn, own))
    set3(memory.targets, i, leg, laid(ankle[3], ball, ball_height, on_plane, normal, turn, up, roll))
    for c in range(4):
        memory.rotations[i, leg, c] = wanted[c]
    for which in range(3):
        p = pick(which, heel, ball, tip)
        set3(memory.soles[i], leg, which, p)
        set3(memory.contacts[i], leg, which, laid(p, ball, ball_height, on_plane, normal, turn, up, roll))
    memory.swing[i, leg] = zero if held else aloft
    memory.ahead[i, leg] = height + lift
    if soon:
        # The body is on its way to the next step as the foot is, not there at once.
        share = like(dt, 1.0) - left / (memory.swing_time[i, leg] * like(dt, LANDING_KNOWN))
        memory.ahead[i, leg] += (height_ahead - height - lift) * share
    if (state != FREE) | new:
        memory.takeoff[i, leg] = height
    if not held:
        offset = ease_offset(plan, memory, i, leg, offset, goal, soon, left, dt)
    elif vec.length(offset) > size * like(dt, LARGEST_OFFSET):
        state = BARRED
    remember(memory, i, leg, state, height, lift, normal, offset, new)


@batch
def place_feet(rows, plan, memory, found, place, world, hips, dt):
    """Where every ankle is to be and how it is to be turned."""
    for k in range(rows.size):
        i = rows[k]
        base, up = floor_of(place, i, plan)
        at_hips = origin_at(world, i, hips)
        for leg in range(plan.size.size):
            place_foot(plan, memory, found, i, leg, base, up, at_hips, place, world, dt)


# --- the pelvis ------------------------------------------------------------------------------------------------


@kernel
def highest(hip, ankle, up, reach):
    """How far a hip can be moved along up until the leg to the ankle is stretched to its reach."""
    zero = like(reach, 0.0)
    way = vec.sub(hip, ankle)
    along = vec.dot(way, up)
    square = along * along - vec.dot(way, way) + reach * reach
    # Out of reach at any height: level with the ankle is as near as it gets.
    return -along + (math.sqrt(square) if square > zero else zero)


@routine
def slope_under(plan, memory, i, up):
    """The plane through the ground under all feet (or where they are going to land), by least squares: the mean place
    of the feet across up, the mean height, and how it rises, as a vector across up.
    """
    zero = like(plan.lean, 0.0)
    legs = plan.size.size
    middle, height = (zero, zero, zero), zero
    for leg in range(legs):
        middle = vec.add(middle, get3(memory.contacts[i], leg, BALL))
        height += memory.ahead[i, leg]
    middle, height = vec.scale(middle, like(zero, 1.0) / legs), height / legs
    if plan.lean <= zero:
        return middle, height, (zero, zero, zero)
    e1 = vec.unit_side(up)
    e2 = vec.cross(up, e1)
    # Feet in a row say nothing of the slope across it: a little of the leg's length keeps that part level.
    xx = yy = plan.size[0] * plan.size[0] * like(zero, LEAN_DAMPING)
    xy = xh = yh = zero
    for leg in range(legs):
        way = vec.sub(get3(memory.contacts[i], leg, BALL), middle)
        x, y, h = vec.dot(way, e1), vec.dot(way, e2), memory.ahead[i, leg] - height
        xx, yy, xy = xx + x * x, yy + y * y, xy + x * y
        xh, yh = xh + x * h, yh + y * h
    determinant = xx * yy - xy * xy
    rise = vec.add(vec.scale(e1, yy * xh - xy * yh), vec.scale(e2, xx * yh - xy * xh))
    return middle, height, vec.scale(rise, plan.lean / determinant)


@routine
def lean_body(plan, memory, i, rise, up, dt):
    """The turn of the body with the slope under its feet, eased."""
    goal = tilted(vec.unit_or(vec.sub(up, rise), up), up, plan.cos_slope, plan.sin_slope)
    before = vec.unit_or(get3(memory.lean, i, 0), goal)
    normal = vec.add(goal, vec.scale(vec.sub(before, goal), spring.decay(plan.pelvis_half_life, dt)))
    there = memory.fresh[i] | (vec.span(vec.sub(normal, goal)) < like(dt, AT_REST))
    normal = vec.select(there, goal, vec.unit_or(normal, up))
    memory.moving[i] |= vec.span(vec.sub(normal, get3(memory.lean, i, 0))) > like(dt, 0.0)
    set3(memory.lean, i, 0, normal)
    return quat.between(up, normal, vec.hinge_of(up))


@routine
def spring_pelvis(plan, memory, i, goal, dt):
    """The pelvis drawn to its height: where it is and how fast it moves."""
    zero = like(dt, 0.0)
    if memory.fresh[i]:
        return goal, zero
    x, v = spring.critical(memory.pelvis[i], memory.pelvis_speed[i], goal, plan.pelvis_half_life, dt)
    near = plan.size[0] * like(dt, AT_REST)
    return (goal, zero) if (abs(x - goal) < near) & (abs(v) < near) else (x, v)


@kernel
def leg_reach(plan, world, i, leg, at_hips, turn):
    """Where a leg starts once the body has leaned, and how far it reaches: to its largest stretch, or as far as the
    clip stretches it, if that is more. It bends at the knee alone: a hock stays as bent as it is.
    """
    hip, ankle = origin_at(world, i, plan.thighs[leg]), origin_at(world, i, plan.ankles[leg])
    knee = origin_at(world, i, plan.knees[leg])
    straight = vec.length(vec.sub(knee, hip)) + vec.length(vec.sub(ankle, knee))
    reach = max(vec.length(vec.sub(ankle, hip)), plan.stretch * straight)
    return vec.add(at_hips, quat.rotate(turn, vec.sub(hip, at_hips))), reach


@routine
def reachable_targets(plan, memory, world, i, at_hips, turn, shift):
    """A foot out of reach hangs short of its target, on a leg that is not snapped straight; one that is held so far
    away is let go.
    """
    for leg in range(plan.size.size):
        hip, reach = leg_reach(plan, world, i, leg, at_hips, turn)
        hip = vec.add(hip, shift)
        way = vec.sub(get3(memory.targets, i, leg), hip)
        if (vec.length(way) > reach + plan.size[leg] * like(reach, OVERSTRETCH)) & (memory.locked[i, leg] == LOCKED):
            memory.locked[i, leg] = BARRED
        set3(memory.targets, i, leg, vec.add(hip, shortened(way, reach)))


@routine
def carry_hips(plan, memory, i, up, turn, x, v, weight, place, world, hips, parent, t, r):
    """Move the hips to a height x above where the pose has them, with speed v, and turn them; feet that are then out of
    reach hang short of their targets.
    """
    memory.moving[i] |= (x != memory.pelvis[i]) | (v != memory.pelvis_speed[i])
    memory.pelvis[i], memory.pelvis_speed[i] = x, v
    reachable_targets(plan, memory, world, i, origin_at(world, i, hips), turn, vec.scale(up, x))
    memory.shift[i] = x * weight
    above = matrix_at(world, i, parent) if parent >= 0 else matrix_at(place, i, 0)
    own = xform.linear(xform.inverse(above), vec.scale(up, memory.shift[i]))
    for c in range(3):
        memory.moves[i, c] = up[c] * memory.shift[i]
        t[i, hips, c] += own[c]
    if plan.lean > like(x, 0.0):
        frame = xform.axes(above)
        axis = vec.scale(xform.into(frame, (turn[0], turn[1], turn[2])), xform.handedness(frame))
        store_rotation(r, i, hips, quat.unit(quat.mul((axis[0], axis[1], axis[2], turn[3]), rotation_at(r, i, hips))))


@batch
def move_pelvis(rows, plan, memory, place, world, hips, parent, dt, weights, t, r):
    """The pelvis on its spring, but never above what a planted leg reaches; leaning with the slope, if it does that."""
    zero = like(dt, 0.0)
    for k in range(rows.size):
        i = rows[k]
        _, up = floor_of(place, i, plan)
        at_hips = origin_at(world, i, hips)
        middle, goal, rise = slope_under(plan, memory, i, up)
        turn = (zero, zero, zero, like(dt, 1.0))
        if plan.lean > zero:
            goal += vec.dot(rise, vec.sub(at_hips, middle))
            turn = quat.part(lean_body(plan, memory, i, rise, up, dt), weights[i])
        x, v = spring_pelvis(plan, memory, i, goal, dt)
        for leg in range(plan.size.size):
            hip, reach = leg_reach(plan, world, i, leg, at_hips, turn)
            top = highest(hip, get3(memory.targets, i, leg), up, reach)
            top += memory.swing[i, leg] * plan.size[leg] * like(dt, SWING_SLACK)
            if x > top:
                # Held down by this leg: once it lets go the pelvis rises on its spring, from where it is.
                x, v = top, min(v, zero)
        carry_hips(plan, memory, i, up, turn, x, v, weights[i], place, world, hips, parent, t, r)


@batch
def follow_ground(rows, plan, memory, found, place, dt):
    """Move each character's place along its up to the ground below it; what is kept as heights above it moves back."""
    zero = like(dt, 0.0)
    ray = plan.size.size * RAYS
    for k in range(rows.size):
        i = rows[k]
        for c in range(3):
            memory.moves[i, c] = zero
        if not found.hit[i, ray]:
            memory.follow_speed[i] = zero
            continue
        base, up = floor_of(place, i, plan)
        goal = vec.dot(vec.sub(sample_at(found.points, i, ray), base), up)
        goal = zero if abs(goal) < plan.size[0] * like(dt, AT_REST) else goal
        step, v = goal, zero
        if not memory.fresh[i]:
            step, v = spring.critical(zero, memory.follow_speed[i], goal, plan.pelvis_half_life, dt)
            if abs(goal - step) < like(dt, AT_REST) and abs(v) < like(dt, AT_REST):
                step, v = goal, zero
        memory.moving[i] |= (step != zero) | (v != memory.follow_speed[i])
        memory.follow_speed[i] = v
        for c in range(3):
            memory.moves[i, c] = up[c] * step
            place[i, 0, 4 * c + 3] += up[c] * step
        memory.pelvis[i] -= step
        for leg in range(plan.size.size):
            memory.heights[i, leg] -= step
            memory.takeoff[i, leg] -= step
