"""Travel of a walker over the ground: follow the commanded velocity, eased, as far as the planted legs allow."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.gait import BRAKE_FROM, STEP_URGENT, STOOD_LONG, lead_of
from kinema.behaviours.ground_contact import PLANTED, RELEASED, floor_of
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
from kinema.behaviours.walking import HANGING, TO_A_POINT, ankle_of, home_of, strain
from kinema.constants import AT_REST, LN2, TELEPORT
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load_matrix, load_origin, store3, store_matrix

FASTEST_WALK = 0.85
"""Largest walking speed, as a share of the speed at which feet would swing without pause: the rest is for detours."""

LET_GO = 0.5
"""Half-life of the return to full speed after the legs held a walker back, in half-lives of the velocity."""

ARRIVED = 0.02
"""Leg lengths from its goal at which a walker has arrived."""

TURN_NEAR = 0.5
"""Leg lengths from its goal within which a walker turns less and less, since the direction becomes noise."""

FASTEST_FALL = 1.2
"""Largest speed at which a body lowers to keep a foot within reach, leg lengths per second: faster looks like a
jolt."""

DEEPEST_CROUCH = 2.0
"""Multiple of its crouch by which a body raised by a step may lower, so that planted feet stay within reach."""

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
def slow_down(settings, legs, velocity, turn, own_up):
    """Velocity and turn rate, slowed to what the feet can follow."""
    fastest = like(turn, 0.0)
    for n in range(legs.size):
        around = vec.scale(vec.cross(own_up, load3(legs[n].home)), turn)
        fastest = max(fastest, vec.length(vec.add(velocity, around)) / legs[n].bones.length)
    most = like(turn, 2.0 * FASTEST_WALK) * settings.stride / settings.swing_time
    share = most / fastest if fastest > most else like(turn, 1.0)
    return vec.scale(velocity, share), turn * share


@routine
def ease_velocity(settings, legs, walker, m, own_up, dt):
    """Ease the walker's velocity and turn rate to the commanded ones."""
    length = legs[0].bones.length
    asked, turn = load3(walker.asked_velocity), walker.asked_turn
    if walker.mode == TO_A_POINT:
        asked, turn = velocity_to_goal(settings, length, walker, m, own_up)
    asked, turn = slow_down(settings, legs, vec.reject(asked, own_up), turn, own_up)
    left = spring.decay(settings.half_life, dt)
    velocity = vec.add(asked, vec.scale(vec.sub(load3(walker.velocity), asked), left))
    there = vec.span(vec.sub(velocity, asked)) < length * like(dt, AT_REST)
    store3(walker.velocity, vec.select(there, asked, velocity))
    turning = turn + (walker.turn - turn) * left
    walker.turn = turn if abs(turning - turn) < like(dt, AT_REST) else turning


# --- what the legs allow ----------------------------------------------------------------------------------------------


@routine
def allowed_share(settings, legs, walker, feet, before, after, up):
    """The share of a motion between two transforms that every planted leg allows.

    Strain is convex along the way, so linear interpolation between the ends never underestimates it.
    """
    zero, one = like(settings.stride, 0.0), like(settings.stride, 1.0)
    share = one
    for n in range(legs.size):
        if feet[n].target.contact != PLANTED:
            continue
        now = strain(settings, legs[n], walker, feet[n], before, up)
        then = strain(settings, legs[n], walker, feet[n], after, up)
        if then > now:
            share = min(share, max((one - now) / like(one, 1.0 - BRAKE_FROM), zero))
            if then > one:
                share = min(share, max((one - now) / (then - now), zero))
    return share


@routine
def step_transform(settings, legs, walker, feet, transform, up, step):
    """Move a walker's transform by `step` seconds. Returns whether it moves."""
    zero = like(step, 0.0)
    m, own_up = load_matrix(transform), load3(settings.contact.up)
    velocity, turn = load3(walker.velocity), walker.turn
    moves = (vec.span(velocity) > zero) | (turn != zero)
    if moves & (step > zero):
        then = moved_transform(m, velocity, turn, own_up, step)
        walker.progress = min(walker.progress, allowed_share(settings, legs, walker, feet, m, then, up))
        store_matrix(transform, moved_transform(m, velocity, turn, own_up, step * walker.progress))
    return moves


@batch
def travel(rows, settings, legs, walkers, feet, transforms, weights, dt):
    """Move every walker over the ground. Store the homes of its feet and their velocities."""
    one = like(dt, 1.0)
    own_up = load3(settings.contact.up)
    for k in range(rows.size):
        i = rows[k]
        walker, transform = walkers[i], transforms[i, 0]
        up = floor_of(settings.contact, transform).up
        begin_frame(settings, legs, walker, feet[i], load_matrix(transform), up, dt)
        ease_velocity(settings, legs, walker, load_matrix(transform), own_up, dt)
        # A walker is held back at once, and released gradually.
        walker.progress = one - (one - walker.progress) * spring.decay(settings.half_life * like(dt, LET_GO), dt)
        moves = step_transform(settings, legs, walker, feet[i], transform, up, dt * weights[i])
        walker.pelvis.moving |= moves | is_asked_to_move(walker)
        follow_level(settings, legs, walker, feet[i], transform, up, dt)
        note_homes(legs, walker, feet[i], load_matrix(transform), own_up)


@kernel
def note_homes(legs, walker, feet, m, own_up):
    """Store the homes of the feet, and add the walker's own motion to their velocities."""
    for n in range(legs.size):
        spin = vec.scale(vec.cross(own_up, load3(legs[n].home)), walker.turn)
        own = xform.linear(m, vec.add(load3(walker.velocity), spin))
        store3(feet[n].drift, vec.add(own, load3(feet[n].drift)))
        store3(feet[n].home, home_of(legs[n], m))


@kernel
def is_asked_to_move(walker):
    """Whether the walker follows a nonzero velocity."""
    zero = like(walker.asked_turn, 0.0)
    some = (vec.span(load3(walker.asked_velocity)) > zero) | (walker.asked_turn != zero)
    return some & (walker.mode != TO_A_POINT)


@routine
def begin_frame(settings, legs, walker, feet, m, up, dt):
    """Detect changes of the transform by the caller since the last frame.

    After a teleport the walker restarts. After a small move its feet follow: the velocity of the move becomes the drift
    of their homes.
    """
    zero = like(dt, 0.0)
    last = load_matrix(walker.transform)
    if vec.length(vec.sub(m[3], last[3])) > legs[0].bones.length * like(dt, TELEPORT):
        walker.pelvis.fresh = True
    still = walker.pelvis.fresh | (dt <= zero)
    for n in range(legs.size):
        moved = vec.reject(vec.sub(home_of(legs[n], m), home_of(legs[n], last)), up)
        store3(feet[n].drift, vec.scale(moved, zero if still else like(dt, 1.0) / dt))
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
def walking_dip(settings, legs, feet):
    """How much lower a body walks than it stands, metres, so that its legs reach without a dip at every step."""
    zero = like(settings.stride, 0.0)
    dip = zero
    for n in range(legs.size):
        leg = legs[n]
        aside = leg.rest_aside
        lead = lead_of(settings, leg, feet[n]) * like(zero, STEP_URGENT)
        high = math.sqrt(max(leg.rest_reach * leg.rest_reach - aside * aside, zero))
        low = math.sqrt(max(leg.reach * leg.reach - aside * aside - lead * lead, zero))
        dip = max(dip, min(high - low, leg.crouch))
    return dip


@routine
def step_body(settings, legs, walker, feet, world, hips, dt):
    """Move one body on its springs to the height and slope of its feet, low enough that every planted leg reaches.

    It never moves lower than its crouch: a foot that is out of reach then has to step.
    """
    zero, up = like(dt, 0.0), hips.up
    slope = slope_under(settings.pelvis, legs.bones, feet.target, up)
    level, rotation = slope.height, (zero, zero, zero, like(dt, 1.0))
    if settings.pelvis.lean > zero:
        level += vec.dot(slope.rise, vec.sub(hips.position, slope.middle))
        rotation = quat.part(step_lean(settings.pelvis, walker.pelvis, slope.rise, up, dt), hips.weight)
    walker.level = level
    goal, length = level - walking_dip(settings, legs, feet), legs[0].bones.length
    height, speed = spring_height(settings.pelvis, walker.pelvis, goal, length, dt)
    lowest = walker.pelvis.height - length * like(dt, FASTEST_FALL) * dt
    for n in range(legs.size):
        leg, ankle = leg_reach(settings.pelvis, legs[n].bones, world, hips, rotation), load3(feet[n].target.ankle)
        if vec.length(vec.reject(vec.sub(leg.start, ankle), up)) > leg.reach:
            continue  # Out of reach at any height.
        top = highest_hip(leg.start, ankle, up, leg.reach)
        top += feet[n].target.swing * legs[n].bones.length * like(dt, SWING_SLACK)
        top = max(top, level - legs[n].crouch * like(dt, DEEPEST_CROUCH))
        if height > top:
            height, speed = (top if walker.pelvis.fresh else max(top, lowest)), min(speed, zero)
    motion = PelvisMotion(height, speed, rotation)
    carry_hips(settings.pelvis, legs.bones, walker.pelvis, feet.target, world, hips, motion)


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
        step_body(settings, legs, walkers[i], feet[i], world, hips, dt)
        note_lost_contacts(legs, feet[i])


@batch
def end_frame(rows, legs, walkers, feet, transforms, world):
    """Store the state that the next frame starts from."""
    for k in range(rows.size):
        i = rows[k]
        m = load_matrix(transforms[i, 0])
        store_matrix(walkers[i].transform, m)
        back = xform.inverse(m)
        for n in range(legs.size):
            store3(feet[i, n].hip, xform.apply(back, load_origin(world[i, legs[n].bones.thigh])))
        walkers[i].pelvis.fresh = False
