"""Swing a foot of a clip from the plane it left to the plane it lands on, over what is on its way.

It moves on minimum-jerk curves, planned anew in every frame from where it is, how fast and with what acceleration. The
result is the same at any frame rate.
"""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, like, routine
from kinema.constants import AT_REST
from kinema.math import spring, vec
from kinema.math.curves import Motion, falloff, minimum_jerk, rest_at, step_quintic
from kinema.math.rows import load3, store3
from kinema.motion.soles import BALL
from kinema.stages.feet.foot_hold import keep_rise
from kinema.stages.feet.foot_landing import foothold_shift
from kinema.stages.feet.foot_placement import ROUGH, SHALLOW
from kinema.stages.feet.foot_rays import AHEAD, AHEAD_RAYS, LOOK_AHEAD, extent_of
from kinema.stages.legs.ground_contact import height_on

SHORTEST_PLAN = 0.12
"""Seconds that a swinging foot is given at least to rise or come down by a step of STEEP_STEP. Less height takes less
time, by its root: that bounds the acceleration."""

LONGEST_PLAN = 0.35
"""Seconds in which a swinging foot is back on its plane at the latest. A plan for all of a long swing would let the
foot go on rising as fast as it happens to."""

SOONEST = 0.3
"""Share of that time that even a small height takes."""

CLIMBS_BY = 0.15
"""Share of its swing before its landing at which a foot that steps up is at the height of its landing."""

LONGEST_SHIFT = 0.8
"""Seconds in which a swinging foot comes to the offset of its foothold, at most: a longer plan that starts with some
speed goes far astray."""

LONGEST_SWING = 1.0
"""Seconds of a swing up to which a foot waits or hurries; the less, the longer it is: what takes twice as long is not
one step."""

LONGEST_DELAY = 0.15
"""Share of its swing that a foot waits before a step up, and hurries before a step down."""

STEEP_STEP = 0.2
"""Leg lengths up or down from one plane to the next from which a foot waits, or hurries, all of that."""

DELAY_HALF_LIFE = 0.03
"""Seconds in which the delay is half way where it belongs, when the foothold changes."""

OBSTACLE_CLEARANCE = 0.015
"""Leg lengths that a swinging foot keeps from what it passes over."""

SHORTEST_PATH = 0.02
"""Leg lengths of the way of a foot below which it meets nothing on it."""

# --- across up -------------------------------------------------------------------------------------------------


@kernel
def move_offset(settings, sole, foot, goal, stance, dt):
    """Bring the offset of a swinging foot to that of its foothold, in time for its landing, and untwist the foot."""
    zero, near = like(dt, 0.0), sole.length * like(dt, AT_REST)
    seconds = min(stance.left, like(dt, LONGEST_SHIFT)) if stance.lands else like(dt, 4.0) * settings.release_half_life
    for c in range(3):
        motion = Motion(foot.offset.value[c], foot.offset.speed[c], foot.offset.acceleration[c])
        motion = rest_at(step_quintic(motion, goal[c], zero, max(seconds, like(dt, SHORTEST_PLAN)), dt), goal[c], near)
        foot.offset.value[c], foot.offset.speed[c], foot.offset.acceleration[c] = motion
    yaw_half_life = min(settings.release_half_life, seconds * like(dt, 0.25))
    foot.yaw = spring.damp(foot.yaw, zero, yaw_half_life, dt) if abs(foot.yaw) > like(dt, AT_REST) else zero


@kernel
def delay_at_step(sole, foot, plane, lands, up):
    """Share of its swing that a foot waits before a step up; negative: hurries, before a step down.

    lands: where the ball comes down.
    """
    # From where it left to the plane that it lands on, and from point to point. On a slope the first is nothing; where
    # a slope begins the two disagree.
    takeoff, zero, one = load3(foot.swing.takeoff), like(up[0], 0.0), like(up[0], 1.0)
    step = height_on(plane, takeoff, up) / sole.length
    whole = (vec.dot(vec.sub(lands, takeoff), up) + height_on(plane, lands, up)) / sole.length
    height = min(abs(step), abs(whole)) if step * whole > zero else zero
    steep = min(max((height - like(one, ROUGH)) / like(one, STEEP_STEP - ROUGH), zero), one)
    steep *= falloff(foot.swing.seconds, like(one, LONGEST_SWING), like(one, LONGEST_SWING))
    return like(one, LONGEST_DELAY) * (steep if step > zero else -steep)


@kernel
def delayed(share, delay):
    """The share of its way that a foot has gone which waits for a share of its swing (hurries, if negative)."""
    one = like(share, 1.0)
    return (share - max(delay, like(share, 0.0))) / (one - abs(delay))


@kernel
def share_of(part, whole):
    """One length as a share of another; 0 if that is nothing."""
    zero = like(part, 0.0)
    return part / whole if whole > zero else zero


@kernel
def swing_across(settings, sole, foot, clip, under, stance, dt):
    """Bring a swinging foot across up to its foothold. Returns the shift from the clip: the offset, and how far the
    foot waits before a step up or hurries over the edge of a step down.
    """
    zero, one, up = like(dt, 0.0), like(dt, 1.0), under.floor.up
    goal = vec.select(stance.lands, foothold_shift(sole, foot), (zero, zero, zero))
    if (not stance.lands) & (foot.swing.delay != zero):
        # It is late: it goes on from where it was shifted to.
        store3(foot.offset.value, vec.reject(vec.sub(load3(foot.on_floor.point), load3(foot.in_clip.sole[BALL])), up))
        foot.swing.delay = zero
    move_offset(settings, sole, foot, goal, stance, dt)
    lands, offset, delay = vec.add(load3(foot.landing.point), goal), load3(foot.offset.value), zero
    if stance.lands:
        delay = delay_at_step(sole, foot, under.plane, lands, up)
    foot.swing.delay = spring.damp(foot.swing.delay, delay, like(dt, DELAY_HALF_LIFE), dt)
    if not stance.lands:
        return offset
    ball = vec.add(clip.points.ball, offset)
    share, hurries = one - stance.left / foot.swing.seconds, foot.swing.delay < zero
    # Measured on its own way, not on that of the clip: so it stands still as long as it waits, and is there as early
    # as it hurries, however the clip swings it.
    goes, usual = minimum_jerk(delayed(share, foot.swing.delay)), minimum_jerk(share)
    part = share_of(goes - usual, one - usual) if hurries else share_of(usual - goes, usual)
    end = vec.select(hurries, lands, load3(foot.swing.takeoff))
    return vec.add(offset, vec.scale(vec.reject(vec.sub(end, ball), up), part))


# --- along up --------------------------------------------------------------------------------------------------


@kernel
def obstacle(sole, foot, under, motion, seconds, decelerates):
    """The worst obstacle on a swinging foot's way, if it goes on as planned: how long until the foot meets it, how high
    it has to be then above its plane, and by how much the plan falls short.

    The end of the foot that goes first meets an obstacle, the other one leaves it. decelerates: whether the path ends
    with the foot at rest.
    """
    zero, one = like(seconds, 0.0), like(seconds, 1.0)
    path, ball = load3(foot.rays.path), load3(foot.on_floor.point)
    length = vec.length(path)
    when, needed, worst = zero, zero, zero
    if (length <= sole.length * like(one, SHORTEST_PATH)) | (not foot.rays.ahead):
        return when, needed, worst
    along = vec.scale(path, one / length)
    extent = extent_of(sole, foot, along)
    for n in range(AHEAD_RAYS):
        hit = under.hits[AHEAD + n]
        if not hit.found:
            continue
        point = load3(hit.point)
        height = -height_on(under.plane, point, under.floor.up)
        height += min(max(height, zero), sole.length * like(one, OBSTACLE_CLEARANCE))
        away = vec.dot(vec.sub(point, ball), along)
        for end in range(2):
            share = min(max((away - extent.ahead if end == 0 else away + extent.behind) / length, zero), one)
            share = one - math.sqrt(one - share) if decelerates else share
            if share >= one:
                continue
            t = seconds * share
            short = height - step_quintic(motion, zero, zero, seconds, t).value
            if short > worst:
                when, needed, worst = t, height, short
    return when, needed, worst


@kernel
def shortest_plan(sole, height):
    """Seconds that a foot is given at least to rise or come down by so much."""
    one = like(height, 1.0)
    share = math.sqrt(abs(height) / (sole.length * like(one, STEEP_STEP)))
    return like(one, SHORTEST_PLAN) * min(max(share, like(one, SOONEST)), one)


@routine
def fly_over(sole, foot, under, stance, blocked, dt):
    """Bring a swinging foot onto its plane in time for its landing, and over what is on its way, on the smoothest
    curve. blocked: see `Depth`.
    """
    zero = like(dt, 0.0)
    if foot.fresh:
        foot.rise.value, foot.rise.speed, foot.rise.acceleration = blocked, zero, zero
        return
    shortest = shortest_plan(sole, foot.rise.value)
    motion = Motion(foot.rise.value, foot.rise.speed, foot.rise.acceleration)
    goal = speed = zero
    seconds = max(min(stance.left, like(dt, LONGEST_PLAN)), shortest) if stance.lands else like(dt, LOOK_AHEAD)
    when, needed, worst = obstacle(sole, foot, under, motion, seconds, stance.lands)
    if blocked > worst:
        when, needed, worst = zero, foot.rise.value + blocked, blocked
    if worst > zero:
        rest = max(seconds - when, shortest)
        # Over the top of what it passes it is level; on its way up or down it goes on.
        speed = zero if needed > max(zero, foot.rise.value) else -needed / rest
        seconds, goal = max(when, shortest_plan(sole, needed - foot.rise.value)), needed
    elif stance.lands & (foot.rise.value < zero):
        seconds = max(min(stance.left - like(dt, CLIMBS_BY) * foot.swing.seconds, seconds), shortest)
    keep_rise(sole, foot, step_quintic(motion, goal, speed, seconds, dt))


@kernel
def raise_over(sole, foot, under, stance, depth, dt):
    """Step the rise of a swinging foot. Returns how far it must be raised beyond that: see `Depth`."""
    before, missing, blocked = foot.rise.value, depth.missing, depth.blocked
    if before < like(dt, 0.0):
        # Below the plane that it is going to: what is under it there is in its way.
        deep, shallow = missing + max(foot.lift.value, like(dt, 0.0)), sole.length * like(dt, SHALLOW)
        missing, blocked = min(missing, shallow), max(deep, blocked)
    fly_over(sole, foot, under, stance, blocked, dt)
    return missing - (foot.rise.value - before)
