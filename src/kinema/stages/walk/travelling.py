"""Travel of a walker over the ground: follow the commanded velocity, eased, as far as the planted legs allow."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.constants import AT_REST, LN2, TELEPORT
from kinema.math import spring, vec, xform
from kinema.math.rows import load3, load_matrix, store3, store_matrix
from kinema.stages.legs.ground_contact import PLANTED, SWINGING, floor_of
from kinema.stages.walk.gait import STOOD_LONG, fastest_speed, forget_pace, longest_stride, set_rhythm, walking_dip
from kinema.stages.walk.walking import home_of, landing_share, lower, moved_transform, strain
from kinema.stages.walk.walking_records import HANGING, TO_A_POINT

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

# --- what is asked for ------------------------------------------------------------------------------------------------


@routine
def velocity_to_goal(settings, length, walker, m, own_up):
    """Velocity and turn rate that bring a walker to its goal: it faces its direction of travel, and slows down in
    time."""
    zero, one = like(length, 0.0), like(length, 1.0)
    way = vec.reject(xform.linear(xform.inverse(m), vec.sub(load3(walker.asked.goal), m[3])), own_up)
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
    speed = min(walker.asked.pace, distance * rate)
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
        most = fastest_speed(settings, legs[n], stride, vec.dot(load3(walker.slope), along))
        share = min(share, most / speed) if speed > most else share
    store3(walker.commanded.velocity, vec.scale(velocity, share))
    walker.commanded.turn = turn * share
    speed = vec.length(velocity) * share
    if vec.dot(velocity, load3(walker.velocity)) < zero:
        forget_pace(walker)
    share = share * walker.learnt.top / speed if speed > walker.learnt.top else share
    walker.allowed = share
    return vec.scale(velocity, share), turn * share


@routine
def ease_velocity(settings, legs, walker, m, own_up, dt):
    """Ease the walker's velocity and turn rate to the commanded ones."""
    length = legs[0].bones.length
    asked, turn = load3(walker.asked.velocity), walker.asked.turn
    if walker.asked.mode == TO_A_POINT:
        asked, turn = velocity_to_goal(settings, length, walker, m, own_up)
    asked, turn = slow_down(settings, legs, walker, m, vec.reject(asked, own_up), turn)
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


@kernel
def departs(foot):
    """Whether a swinging foot only rises: it is still where it left the ground."""
    swing = foot.swing
    return (foot.target.contact == SWINGING) & (swing.left > swing.duration * (like(swing.left, 1.0) - swing.depart))


@routine
def allowed_share(settings, legs, walker, feet, before, after, up, dt):
    """The shares of a motion between two transforms, dt apart, that every planted leg allows.

    Strain is convex along the way, so linear interpolation between the ends never underestimates it. A body that brakes
    comes to rest where a leg is fully strained.
    """
    zero, one = like(settings.stride, 0.0), like(settings.stride, 1.0)
    braking = possible = one
    brake = like(one, HARDEST_BRAKE) / pace_of(legs, walker)
    for n in range(legs.size):
        if not (feet[n].target.contact == PLANTED or departs(feet[n])):
            continue
        now = strain(settings, legs[n], walker, feet[n], before, up, -lower(legs[n]))
        then = strain(settings, legs[n], walker, feet[n], after, up, -lower(legs[n]))
        if then > now:
            seconds = max(one - now, zero) / (then - now) * dt
            braking = min(braking, math.sqrt(like(one, 2.0) * brake * seconds))
        most = like(one, LARGEST_STRAIN)
        if (then > now) & (then > most):
            possible = min(possible, max(most - now, zero) / (then - now))
    return AllowedShare(braking, possible)


@kernel
def eased_progress(settings, legs, walker, share, dt):
    """The share of its velocity that a walker moves with, eased towards what its legs allow."""
    one = like(dt, 1.0)
    released = one - (one - walker.progress) * spring.decay(settings.half_life * like(dt, LET_GO), dt)
    return max(min(share, released), slowed_progress(legs, walker, HARDEST_BRAKE, dt))


@kernel
def slowed_progress(legs, walker, brake, dt):
    """The least share of its velocity to which a walker slows down within dt. brake: leg lengths per second squared."""
    return max(walker.progress - like(dt, brake) * dt / pace_of(legs, walker), like(dt, 0.0))


@kernel
def pace_of(legs, walker):
    """How fast a walker moves that is not held back, leg lengths per second, its turn included; never 0."""
    pace = vec.length(load3(walker.velocity)) / legs[0].bones.length + abs(walker.turn)
    return max(pace, like(pace, AT_REST))


@routine
def step_transform(settings, legs, walker, feet, transform, up, step):
    """Move a walker's transform by `step` seconds. Returns whether it moves."""
    zero = like(step, 0.0)
    m, own_up = load_matrix(transform), load3(settings.contact.up)
    velocity, turn = load3(walker.velocity), walker.turn
    moves = (vec.span(velocity) > zero) | (turn != zero)
    if moves & (step > zero):
        then = moved_transform(m, velocity, turn, own_up, step)
        share = allowed_share(settings, legs, walker, feet, m, then, up, step)
        braking = min(share.braking, landing_share(settings, legs, walker, feet, m, up))
        eased = eased_progress(settings, legs, walker, braking, step)
        walker.progress = max(min(eased, share.possible), slowed_progress(legs, walker, HARDEST_STOP, step))
        walker.learnt.moved += step * walker.progress
        walker.learnt.waited += step * (like(step, 1.0) - walker.progress)
        store_matrix(transform, moved_transform(m, velocity, turn, own_up, step * walker.progress))
    return moves


@batch
def travel(rows, records, transforms, weights, dt):
    """Move every walker over the ground. Store the homes of its feet and their velocities."""
    settings, legs = records.settings[0], records.legs
    own_up = load3(settings.contact.up)
    for k in range(rows.size):
        i = rows[k]
        walker, feet, transform = records.walkers[i], records.feet[i], transforms[i, 0]
        up = floor_of(settings.contact, transform).up
        ease_velocity(settings, legs, walker, load_matrix(transform), own_up, dt)
        moves = step_transform(settings, legs, walker, feet, transform, up, dt * weights[i])
        walker.pelvis.moving |= moves | is_asked_to_move(walker)
        follow_level(settings, legs, walker, feet, transform, up, dt)
        note_homes(legs, walker, feet, load_matrix(transform), own_up)
        set_rhythm(settings, legs, walker, feet, load_matrix(transform))
        walker.dip = walking_dip(settings, legs, walker, feet, load_matrix(transform))


@kernel
def note_homes(legs, walker, feet, m, own_up):
    """Store the homes of the feet, and their velocities: the walker's own motion and that by the caller."""
    for n in range(legs.size):
        spin = vec.scale(vec.cross(own_up, load3(legs[n].home)), walker.turn)
        own = xform.linear(m, vec.add(load3(walker.velocity), spin))
        store3(feet[n].home.drift, vec.add(own, load3(feet[n].home.carried)))
        store3(feet[n].home.point, home_of(legs[n], m))


@kernel
def is_asked_to_move(walker):
    """Whether the walker follows a nonzero velocity."""
    zero = like(walker.asked.turn, 0.0)
    some = (vec.span(load3(walker.asked.velocity)) > zero) | (walker.asked.turn != zero)
    return some & (walker.asked.mode != TO_A_POINT)


@batch
def begin_frames(rows, records, transforms, dt):
    """Begin a frame of dt seconds, which may be walked in several steps."""
    settings = records.settings[0]
    for k in range(rows.size):
        i = rows[k]
        walker, m = records.walkers[i], load_matrix(transforms[i, 0])
        walker.pelvis.moving = False
        up = floor_of(settings.contact, transforms[i, 0]).up
        begin_frame(settings, records.legs, walker, records.feet[i], m, up, dt)


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
        store3(feet[n].home.carried, vec.scale(moved, zero if still else like(dt, 1.0) / dt))
        if walker.pelvis.fresh:
            feet[n].target.contact = HANGING
            feet[n].foothold.failed = False
            store3(feet[n].hip.point, load3(legs[n].hip))
            store3(feet[n].hip.velocity, (zero, zero, zero))
            store3(feet[n].target.ball, home_of(legs[n], m))
    if walker.pelvis.fresh:
        walker.rhythm.since = settings.swing_time * like(dt, STOOD_LONG)
        walker.progress = walker.advance = like(dt, 1.0)
        forget_pace(walker)
        walker.pelvis.height = walker.pelvis.speed = walker.level.height = walker.level.speed = walker.turn = zero
        store3(walker.velocity, (zero, zero, zero))


@routine
def follow_level(settings, legs, walker, feet, transform, up, dt):
    """Move the transform to the height of the ground under the feet. The body keeps its world position."""
    zero = like(dt, 0.0)
    near = legs[0].bones.length * like(dt, AT_REST)
    step, speed = spring.critical(zero, walker.level.speed, walker.level.height, settings.pelvis.half_life, dt)
    if (abs(walker.level.height - step) < near) & (abs(speed) < near):
        step, speed = zero, zero
    walker.pelvis.moving |= step != zero
    walker.level.speed = speed
    walker.pelvis.height -= step
    walker.level.height -= step
    for c in range(3):
        transform[4 * c + 3] += up[c] * step
    for n in range(legs.size):
        # Hips are stored in the character's own space: compensate, so that the body keeps its position.
        store3(feet[n].hip.point, vec.sub(load3(feet[n].hip.point), vec.scale(load3(settings.contact.up), step)))
