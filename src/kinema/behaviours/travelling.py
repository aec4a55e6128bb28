"""Travel of a walker over the ground: follow the commanded velocity, eased, as far as the planted legs allow."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.gait import BRAKE_FROM, STOOD_LONG, fastest_speed, longest_stride, set_rhythm, walking_dip
from kinema.behaviours.ground_contact import PLANTED, RELEASED, SWINGING, floor_of
from kinema.behaviours.pelvis import (
    PelvisMotion,
    carry_hips,
    highest_hip,
    hips_of,
    leg_reach,
    slope_under,
    spring_height,
    step_lean,
)
from kinema.behaviours.walking import HANGING, TO_A_POINT, ankle_of, home_of, landing_ankle, strain
from kinema.constants import AT_REST, LN2, TELEPORT
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load_matrix, load_origin, store3, store_matrix

LARGEST_STRAIN = 1.1
"""Strain at which the body stops at once: a little beyond that at which it has braked in time."""

LET_GO = 0.5
"""Half-life of the return to full speed after the legs held a walker back, in half-lives of the velocity."""

COS_TELEPORT = 0.5
"""Cosine of the angle (60 degrees) from which a rotation of the character by the caller is a teleport."""

HARDEST_BRAKE, HARDEST_STOP = 11.0, 40.0
"""Leg lengths per second squared at which a walker is slowed down at most: while its planted legs still reach, and so
that they do."""

ARRIVED = 0.02
"""Leg lengths from its goal at which a walker has arrived."""

TURN_NEAR = 0.5
"""Leg lengths from its goal within which a walker turns less and less, since the direction becomes noise."""

FASTEST_FALL = 1.2
"""Largest speed at which a body lowers to keep a foot within reach, leg lengths per second: faster looks like a
jolt."""

HARDEST_FALL = 30.0
"""Largest acceleration of that, leg lengths per second squared: three times that of a free fall of human legs."""

HARDEST_RISE = 10.0
"""Leg lengths per second squared at which a body is accelerated at most otherwise: about that of a free fall."""

LOOK_AHEAD = 2.5
"""Half-lives of the pelvis after which planted feet should still be within reach: as long as its spring takes."""

RISE_DAMPING = 0.02
"""Spread of the feet, as a share of the leg length squared, at which half of a change of the slope under them counts:
what feet close together say of it is noise."""

RISE_HALF_LIFE = 2.0
"""Half-life of the slope under the feet that strides are adapted to, in half-lives of the pelvis."""

DEEPEST_CROUCH, DEEPEST_SQUAT = 1.5, 2.5
"""Multiples of its crouch by which a body raised by a step may lower, so that its feet come within reach, and so that
planted feet stay there: they would be dragged over the ground otherwise."""

CLOSEST_STAND = 0.5
"""Share of its distance at rest to which a body comes to one of its feet at most, however far another one is: a leg
that folds up completely bends anywhere."""

FOLD_ROOM = 1.05
"""Multiple of the closest distance from hip to ankle that a body keeps from where a foot is going to land, with room
for the delay of its spring. The leg would be folded up otherwise, and its foot pushed into the step."""

SWING_SLACK = 0.3
"""Leg lengths by which the pelvis may leave a swinging foot out of reach: it need not be down yet."""


class BodyFrame(NamedTuple):
    """The arrays that `move_bodies` reads: world matrices (N, J, 12), transforms (N, 1, 12), weights (N,), and the
    hips with the joint above them, -1 for none.
    """

    world: Any
    transforms: Any
    weights: Any
    hips: Any
    parent: Any


@kernel
def moved_transform(m, velocity, turn, own_up, dt):
    """A character's transform after dt seconds. velocity: in its own space. turn: about up, radians per second."""
    one = like(dt, 1.0)
    step = (vec.scale(velocity, dt), quat.from_axis_angle(own_up, turn * dt), (one, one, one))
    return xform.mul(m, xform.matrix(step))


# --- what is asked for ------------------------------------------------------------------------------------------------


@routine
def velocity_to_goal(settings, length, walker, m, own_up):
    """Velocity and turn rate that bring a walker to its goal: it faces its direction of travel, and slows down in
    time."""
    zero, one = like(length, 0.0), like(length, 1.0)
    way = vec.reject(xform.linear(xform.inverse(m), vec.sub(load3(walker.goal), m[3])), own_up)
    distance = vec.length(way)
    if distance <= length * like(length, ARRIVED):
        return (zero, zero, zero), zero
    ahead = load3(settings.forward)
    cosine = vec.dot(way, ahead) / distance
    sine = vec.dot(own_up, vec.cross(ahead, way)) / distance
    # Approach at a quarter of the easing rate, so that the two together do not overshoot.
    rate = like(length, LN2 / 4.0) / settings.half_life if settings.half_life > zero else one
    near = min(distance / (length * like(length, TURN_NEAR)), one)
    turn = math.atan2(sine, cosine) * rate * like(length, 2.0)
    turn = min(max(turn, -settings.turn_speed), settings.turn_speed) * near
    speed = min(walker.pace, distance * rate)
    facing = max(cosine, one - near)
    return vec.scale(way, speed * max(facing, zero) / distance), turn


@routine
def slow_down(settings, legs, walker, m, velocity, turn):
    """Velocity and turn rate, slowed to what the feet can follow. m: the character's transform."""
    zero, share = like(turn, 0.0), like(turn, 1.0)
    own_up = load3(settings.contact.up)
    for n in range(legs.size):
        around = vec.scale(vec.cross(own_up, load3(legs[n].home)), turn)
        way = xform.linear(m, vec.add(velocity, around))
        along = vec.unit_or(way, (zero, zero, zero))
        stride = longest_stride(settings, legs[n], walker, m, along)
        speed = vec.length(way)
        most = fastest_speed(settings, legs[n], stride, vec.dot(load3(walker.rise), along))
        share = min(share, most / speed) if speed > most else share
    walker.allowed = share
    return vec.scale(velocity, share), turn * share


@routine
def ease_velocity(settings, legs, walker, m, own_up, dt):
    """Ease the walker's velocity and turn rate to the commanded ones."""
    length = legs[0].bones.length
    asked, turn = load3(walker.asked_velocity), walker.asked_turn
    if walker.mode == TO_A_POINT:
        asked, turn = velocity_to_goal(settings, length, walker, m, own_up)
    asked, turn = slow_down(settings, legs, walker, m, vec.reject(asked, own_up), turn)
    store3(walker.commanded, asked)
    walker.commanded_turn = turn
    left = spring.decay(settings.half_life, dt)
    velocity = vec.add(asked, vec.scale(vec.sub(load3(walker.velocity), asked), left))
    there = vec.span(vec.sub(velocity, asked)) < length * like(dt, AT_REST)
    store3(walker.velocity, vec.select(there, asked, velocity))
    turning = turn + (walker.turn - turn) * left
    walker.turn = turn if abs(turning - turn) < like(dt, AT_REST) else turning


# --- what the legs allow ----------------------------------------------------------------------------------------------


class AllowedShare(NamedTuple):
    """Shares of a motion: the one that stops the body in time at an even deceleration, and the largest possible one."""

    braking: Any
    possible: Any


@routine
def allowed_share(settings, legs, walker, feet, before, after, up):
    """The shares of a motion between two transforms that every planted leg allows.

    Strain is convex along the way, so linear interpolation between the ends never underestimates it.
    """
    zero, one = like(settings.stride, 0.0), like(settings.stride, 1.0)
    braking = possible = one
    for n in range(legs.size):
        if feet[n].target.contact != PLANTED:
            continue
        now = strain(settings, legs[n], walker, feet[n], before, up, -lower(legs[n]))
        then = strain(settings, legs[n], walker, feet[n], after, up, -lower(legs[n]))
        if then > now:
            left = max(one - now, zero)
            braking = min(braking, math.sqrt(left / like(one, 1.0 - BRAKE_FROM)))
        most = like(one, LARGEST_STRAIN)
        if (then > now) & (then > most):
            possible = min(possible, max(most - now, zero) / (then - now))
    return AllowedShare(braking, possible)


@kernel
def lower(leg):
    """How much lower than its crouch a body comes for a foot, metres, before it waits for it."""
    return leg.crouch * like(leg.crouch, DEEPEST_CROUCH - 1.0)


@routine
def landing_share(settings, legs, walker, feet, m, up):
    """The share of its velocity at which the planted legs of a walker still reach once its swinging feet have landed.

    A body that keeps its speed over a long swing, as on stairs, would have to stop dead at the end of it.
    """
    zero, share = like(settings.stride, 0.0), like(settings.stride, 1.0)
    seconds = rise = zero
    for n in range(legs.size):
        if feet[n].target.contact == SWINGING:
            seconds = max(seconds, feet[n].left)
            climbs = vec.dot(load3(feet[n].foothold), up) - feet[n].ground
            rise += climbs * feet[n].target.swing / like(zero, legs.size)
    if seconds <= zero:
        return share
    then = moved_transform(m, load3(walker.velocity), walker.turn, load3(settings.contact.up), seconds)
    for n in range(legs.size):
        # A foot out of reach waits for its step, too.
        if (feet[n].target.contact == PLANTED) | (feet[n].target.contact == RELEASED):
            now = strain(settings, legs[n], walker, feet[n], m, up, rise - lower(legs[n]))
            later = strain(settings, legs[n], walker, feet[n], then, up, rise - lower(legs[n]))
            if (later > like(share, 1.0)) & (later > now):
                share = min(share, max(like(share, 1.0) - now, zero) / (later - now))
    return share


@kernel
def eased_progress(settings, legs, walker, share, dt):
    """The share of its velocity that a walker moves with, eased towards what its legs allow."""
    one = like(dt, 1.0)
    released = one - (one - walker.progress) * spring.decay(settings.half_life * like(dt, LET_GO), dt)
    return max(min(share, released), slowed_progress(legs, walker, HARDEST_BRAKE, dt))


@kernel
def slowed_progress(legs, walker, brake, dt):
    """The least share of its velocity to which a walker slows down within dt. brake: leg lengths per second squared."""
    length = legs[0].bones.length
    speed = vec.length(load3(walker.velocity)) + abs(walker.turn) * length
    return max(walker.progress - length * like(dt, brake) * dt / speed, like(dt, 0.0))


@routine
def step_transform(settings, legs, walker, feet, transform, up, step):
    """Move a walker's transform by `step` seconds. Returns whether it moves."""
    zero = like(step, 0.0)
    m, own_up = load_matrix(transform), load3(settings.contact.up)
    velocity, turn = load3(walker.velocity), walker.turn
    moves = (vec.span(velocity) > zero) | (turn != zero)
    if moves & (step > zero):
        then = moved_transform(m, velocity, turn, own_up, step)
        share = allowed_share(settings, legs, walker, feet, m, then, up)
        braking = min(share.braking, landing_share(settings, legs, walker, feet, m, up))
        eased = eased_progress(settings, legs, walker, braking, step)
        walker.progress = max(min(eased, share.possible), slowed_progress(legs, walker, HARDEST_STOP, step))
        store_matrix(transform, moved_transform(m, velocity, turn, own_up, step * walker.progress))
    return moves


@batch
def travel(rows, settings, legs, walkers, feet, transforms, weights, dt):
    """Move every walker over the ground. Store the homes of its feet and their velocities."""
    own_up = load3(settings.contact.up)
    for k in range(rows.size):
        i = rows[k]
        walker, transform = walkers[i], transforms[i, 0]
        up = floor_of(settings.contact, transform).up
        ease_velocity(settings, legs, walker, load_matrix(transform), own_up, dt)
        moves = step_transform(settings, legs, walker, feet[i], transform, up, dt * weights[i])
        walker.pelvis.moving |= moves | is_asked_to_move(walker)
        follow_level(settings, legs, walker, feet[i], transform, up, dt)
        note_homes(legs, walker, feet[i], load_matrix(transform), own_up)
        set_rhythm(settings, legs, walker, feet[i], load_matrix(transform))
        walker.dip = walking_dip(settings, legs, walker, feet[i], load_matrix(transform))


@kernel
def note_homes(legs, walker, feet, m, own_up):
    """Store the homes of the feet, and their velocities: the walker's own motion and that by the caller."""
    for n in range(legs.size):
        spin = vec.scale(vec.cross(own_up, load3(legs[n].home)), walker.turn)
        own = xform.linear(m, vec.add(load3(walker.velocity), spin))
        store3(feet[n].drift, vec.add(own, load3(feet[n].carried)))
        store3(feet[n].home, home_of(legs[n], m))


@kernel
def is_asked_to_move(walker):
    """Whether the walker follows a nonzero velocity."""
    zero = like(walker.asked_turn, 0.0)
    some = (vec.span(load3(walker.asked_velocity)) > zero) | (walker.asked_turn != zero)
    return some & (walker.mode != TO_A_POINT)


@batch
def begin_frames(rows, settings, legs, walkers, feet, transforms, dt):
    """Begin a frame of dt seconds, which may be walked in several steps."""
    for k in range(rows.size):
        i = rows[k]
        walkers[i].pelvis.moving = False
        up = floor_of(settings.contact, transforms[i, 0]).up
        begin_frame(settings, legs, walkers[i], feet[i], load_matrix(transforms[i, 0]), up, dt)


@routine
def begin_frame(settings, legs, walker, feet, m, up, dt):
    """Detect changes of the transform by the caller since the last frame.

    After a teleport the walker restarts. After a small move its feet follow: the velocity of the move is added to the
    drift of their homes.
    """
    zero = like(dt, 0.0)
    last = load_matrix(walker.transform)
    if vec.length(vec.sub(m[3], last[3])) > legs[0].bones.length * like(dt, TELEPORT):
        walker.pelvis.fresh = True
    ahead, before = xform.linear(m, load3(settings.forward)), xform.linear(last, load3(settings.forward))
    if vec.dot(ahead, before) < like(dt, COS_TELEPORT) * vec.length(ahead) * vec.length(before):
        walker.pelvis.fresh = True
    still = walker.pelvis.fresh | (dt <= zero)
    for n in range(legs.size):
        moved = vec.reject(vec.sub(home_of(legs[n], m), home_of(legs[n], last)), up)
        store3(feet[n].carried, vec.scale(moved, zero if still else like(dt, 1.0) / dt))
        if walker.pelvis.fresh:
            feet[n].target.contact = HANGING
            feet[n].failed = False
            store3(feet[n].hip, load3(legs[n].hip))
            store3(feet[n].target.ball, home_of(legs[n], m))
    if walker.pelvis.fresh:
        walker.since = settings.swing_time * like(dt, STOOD_LONG)
        walker.progress = like(dt, 1.0)
        walker.pelvis.height = walker.pelvis.speed = walker.level = walker.level_speed = walker.turn = zero
        store3(walker.velocity, (zero, zero, zero))


@routine
def follow_level(settings, legs, walker, feet, transform, up, dt):
    """Move the transform to the height of the ground under the feet. The body keeps its world position."""
    zero = like(dt, 0.0)
    near = legs[0].bones.length * like(dt, AT_REST)
    step, speed = spring.critical(zero, walker.level_speed, walker.level, settings.pelvis.half_life, dt)
    if (abs(walker.level - step) < near) & (abs(speed) < near):
        step, speed = zero, zero
    walker.pelvis.moving |= step != zero
    walker.level_speed = speed
    walker.pelvis.height -= step
    walker.level -= step
    for c in range(3):
        transform[4 * c + 3] += up[c] * step
    for n in range(legs.size):
        # Hips are stored in the character's own space: compensate, so that the body keeps its position.
        store3(feet[n].hip, vec.sub(load3(feet[n].hip), vec.scale(load3(settings.contact.up), step)))


# --- the body ---------------------------------------------------------------------------------------------------------


@routine
def step_body(settings, legs, walker, feet, world, hips, dt):
    """Move one body on its springs to the height and slope of its feet, low enough that every planted leg reaches.

    It never moves lower than its crouch: a foot that is out of reach then has to step. Returns its rotation in world
    space.
    """
    zero, up = like(dt, 0.0), hips.up
    slope = slope_under(settings.pelvis, legs.bones, feet.target, up)
    level, rotation = slope.height, (zero, zero, zero, like(dt, 1.0))
    if settings.pelvis.lean > zero:
        level += vec.dot(slope.rise, vec.sub(hips.position, slope.middle))
        rotation = quat.part(step_lean(settings.pelvis, walker.pelvis, slope.rise, up, dt), hips.weight)
    walker.level = level
    step_rise(settings, legs, walker, feet, up, dt)
    goal, length = level - walker.dip, legs[0].bones.length
    ahead = settings.pelvis.half_life * like(dt, LOOK_AHEAD) * walker.progress
    now, soon = body_tops(settings, legs, walker, feet, world, hips, rotation, ahead)
    height, speed = spring_height(settings.pelvis, walker.pelvis, min(goal, soon), length, dt)
    before, change = walker.pelvis.speed, length * like(dt, HARDEST_RISE) * dt
    bounded = min(max(speed, before - change), before + change)
    if (bounded != speed) & (not walker.pelvis.fresh):
        height, speed = walker.pelvis.height + (before + bounded) * like(dt, 0.5) * dt, bounded
    if height > now:
        fall = max(before - length * like(dt, HARDEST_FALL) * dt, -length * like(dt, FASTEST_FALL))
        lowest = now if walker.pelvis.fresh else walker.pelvis.height + min(fall, speed) * dt
        height = max(now, lowest)
        speed = zero if walker.pelvis.fresh else (height - walker.pelvis.height) / dt
    motion = PelvisMotion(height, speed, rotation)
    carry_hips(settings.pelvis, legs.bones, walker.pelvis, feet.target, world, hips, motion)
    return rotation


@routine
def body_tops(settings, legs, walker, feet, world, hips, rotation, ahead):
    """The largest heights of a body at which its legs reach their feet: now, and once it has moved on for a while.

    ahead: that while, seconds; for a foot that lifts off before, until then.
    """
    up, zero = hips.up, like(ahead, 0.0)
    level, full = walker.level, settings.pelvis.half_life * like(ahead, LOOK_AHEAD)
    now = soon = walker.level + legs[0].bones.length
    lowest = now - legs[0].bones.length * like(ahead, 4.0)
    for n in range(legs.size):
        foot, length = feet[n], legs[n].bones.length
        leg, ankle = leg_reach(settings.pelvis, legs[n].bones, world, hips, rotation), load3(foot.target.ankle)
        swings = foot.target.contact == SWINGING
        planted = foot.target.contact == PLANTED
        slack = foot.target.swing * length * like(ahead, SWING_SLACK)
        stays = walker.beat - walker.since + (walker.beat if legs[n].group == walker.group else zero)
        stays = foot.left * walker.progress if swings else min(max(stays, zero), ahead)
        across = vec.length(vec.reject(vec.sub(leg.start, ankle), up))
        fold = legs[n].rest_reach * like(ahead, CLOSEST_STAND)
        if planted & (across < fold):
            lowest = max(lowest, highest_hip(leg.start, ankle, up, fold))
        for later in range(2):
            start = vec.add(leg.start, vec.scale(load3(foot.drift), stays if later else zero))
            if later and swings:
                # Where it lands counts; the later that is, the less.
                ankle = landing_ankle(legs[n], foot)
                slack = max(foot.left - full, zero) * length * like(ahead, FASTEST_FALL)
                fold = legs[n].closest * like(ahead, FOLD_ROOM)
                if vec.length(vec.reject(vec.sub(start, ankle), up)) < fold:
                    lowest = max(lowest, highest_hip(start, ankle, up, fold) - slack)
            if vec.length(vec.reject(vec.sub(start, ankle), up)) > leg.reach:
                continue  # Out of reach at any height.
            deepest = DEEPEST_SQUAT if planted & (later == 0) else DEEPEST_CROUCH
            top = max(highest_hip(start, ankle, up, leg.reach) + slack, level - legs[n].crouch * like(ahead, deepest))
            now, soon = (now, min(soon, top)) if later else (min(now, top), soon)
    return max(now, lowest), max(soon, lowest)


@kernel
def stands_at(foot):
    """Where a foot stands, or is going to stand."""
    return vec.select(foot.target.contact == SWINGING, load3(foot.foothold), load3(foot.target.ball))


@routine
def step_rise(settings, legs, walker, feet, up, dt):
    """Ease the slope under the feet of a walker: the plane through the ground under them, by least squares.

    Where the feet say nothing of the slope, as two feet side by side do of that ahead, it stays as it was.
    """
    zero, one = like(dt, 0.0), like(dt, 1.0)
    before = (zero, zero, zero) if walker.pelvis.fresh else vec.reject(load3(walker.rise), up)
    middle = (zero, zero, zero)
    for n in range(legs.size):
        middle = vec.add(middle, stands_at(feet[n]))
    middle = vec.scale(middle, one / like(zero, legs.size))
    e1 = vec.unit_side(up)
    e2 = vec.cross(up, e1)
    xx = yy = legs[0].bones.length * legs[0].bones.length * like(zero, RISE_DAMPING)
    xy = xh = yh = zero
    for n in range(legs.size):
        way = vec.sub(stands_at(feet[n]), middle)
        x, y, h = vec.dot(way, e1), vec.dot(way, e2), vec.dot(way, vec.sub(up, before))
        xx, yy, xy = xx + x * x, yy + y * y, xy + x * y
        xh, yh = xh + x * h, yh + y * h
    rise = vec.add(vec.scale(e1, yy * xh - xy * yh), vec.scale(e2, xx * yh - xy * xh))
    change = vec.scale(rise, one / (xx * yy - xy * xy))
    left = zero if walker.pelvis.fresh else spring.decay(settings.pelvis.half_life * like(dt, RISE_HALF_LIFE), dt)
    store3(walker.rise, vec.add(before, vec.scale(change, one - left)))


@kernel
def note_lost_contacts(legs, feet):
    """Release planted feet that are out of reach, and plant released feet that are within reach again."""
    for n in range(legs.size):
        target = feet[n].target
        if (target.contact == PLANTED) | (target.contact == RELEASED):
            missed = vec.span(vec.sub(ankle_of(legs[n], feet[n]), load3(target.ankle)))
            lost = missed > legs[n].bones.length * like(missed, AT_REST)
            target.contact = RELEASED if lost else PLANTED


@batch
def step_bodies(rows, settings, legs, walkers, feet, frame, dt):
    """Move the bodies of these walkers. frame: see `BodyFrame`."""
    for k in range(rows.size):
        i = rows[k]
        world, transform = frame.world[i], frame.transforms[i, 0]
        up = floor_of(settings.contact, transform).up
        hips = hips_of(world, transform, frame.hips, frame.parent, up, frame.weights[i])
        rotation = step_body(settings, legs, walkers[i], feet[i], world, hips, dt)
        note_lost_contacts(legs, feet[i])
        end_step(legs, walkers[i], feet[i], world, hips, rotation, load_matrix(transform))


@routine
def end_step(legs, walker, feet, world, hips, rotation, m):
    """Store the state that the next step starts from. rotation: of the body. m: the character's transform."""
    store_matrix(walker.transform, m)
    back, moved = xform.inverse(m), vec.add(hips.position, load3(walker.pelvis.move))
    for n in range(legs.size):
        posed = vec.sub(load_origin(world[legs[n].bones.thigh]), hips.position)
        hip = vec.add(moved, quat.rotate(rotation, posed))
        store3(feet[n].hip, xform.apply(back, hip))
        store3(feet[n].way, vec.sub(ankle_of(legs[n], feet[n]), hip))
    walker.pelvis.fresh = False
