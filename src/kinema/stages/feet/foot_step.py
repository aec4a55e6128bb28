"""One foot of a clip over the ground, frame by frame: from what the clip does and what the rays hit to a target for its
ankle.

A foot moves over its support plane as it moves over the floor in the clip. `step_foot` goes through these phases:

1. `read_clip_foot`: what the clip does with the foot;
2. `step_contact`: planted, swinging or released; when and where it lands;
3. `step_plane`: the plane it stands on or is going to land on, and its tilt;
4. `step_across`: where it is across up: held where it landed, or on its way to its foothold;
5. `step_rise` and `step_lift`: how high it is above its plane: over what is on its way, and touching where it stands;
6. `store_target`: where that puts the ankle.

A swinging foot goes from plane to plane on minimum-jerk curves, planned anew in every frame from where it is, how fast
and with what acceleration. The result is the same at any frame rate.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like, routine
from kinema.constants import AT_REST
from kinema.math import quat, spring, vec, xform
from kinema.math.curves import Motion, falloff, minimum_jerk, rest_at, step_quintic
from kinema.math.rows import load3, load_matrix, store3, store4
from kinema.motion.contacts import RELEASE_SHARE, stands_now
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.clip_foot import CONTACT_SWITCH, over_floor, pick, read_clip_foot
from kinema.stages.feet.foot_rays import (
    AHEAD,
    AHEAD_RAYS,
    LOOK_AHEAD,
    ROLL_HEIGHT,
    choose_foothold,
    extent_of,
    foothold_is_settled,
    foothold_seen,
    foothold_shift,
    predicted_landing,
)
from kinema.stages.feet.foot_records import LEAVES, NO_OVERRIDE
from kinema.stages.legs.ground_contact import (
    BALL_SAMPLE,
    HEEL_SAMPLE,
    PLANTED,
    RELEASED,
    SWINGING,
    TIP_SAMPLE,
    SupportPlane,
    fit_plane,
    floor_of,
    height_on,
)

# --- tuning ----------------------------------------------------------------------------------------------------

NEAR_GROUND = 0.015
"""Leg lengths above the lower of the two up to which heel and ball hold a planted foot in place. At three times that it
pivots on the other."""

SLOW_POINT = 0.2
"""Leg lengths a second up to which heel or ball stands in the clip; at twice that it is on its way."""

STEADY_TIP = 0.05
"""Leg lengths a second that the tip of a foot is slower than heel and ball where the foot rolls onto it. Toes that bend
into the floor move faster than the ball."""

TOES_BEND = 0.03
"""Leg lengths that the tip of a foot may be below its heel and ball while they still hold it in place: captured toes
bend into the floor. From twice that on the foot stands on its toes."""

SAME_HEIGHT = 0.05
"""Leg lengths by which a foot may be higher or lower than in the clip that plays for the contacts of that to count."""

SHORTEST_SWING = 0.08
"""Seconds in the air below which a foot has made no step: nothing is learnt of its next swing."""

HIGH_SWING = 0.15
"""Height of the sole, in leg lengths, from which a swinging foot no longer tilts with the ground below it."""

HELD_SPEED_HALF_LIFE = 0.03
"""Seconds over which the speed is averaged with which a foot is held back from the clip's motion: it lifts off with
that, and a foot that rolls over its toes shakes."""

LARGEST_OFFSET = 0.4
"""Leg lengths that a planted foot is held back at most: beyond that the clip is walking on the spot, or away."""

LARGEST_YAW = 0.6
"""Radians (34 degrees) that a planted foot is held back from swivelling. Beyond that it pivots on the point that
touches."""

SHORTEST_PLAN = 0.12
"""Seconds that a swinging foot is given at least to rise or come down by a step of STEEP_STEP. Less height takes less
time, by its root: that bounds the acceleration."""

LONGEST_PLAN = 0.35
"""Seconds in which a swinging foot is back on its plane at the latest. A plan for all of a long swing would let the
foot go on rising as fast as it happens to."""

SOONEST = 0.3
"""Share of that time that even a small height takes."""

LANDED_PLAN = 0.12
"""Seconds in which what a foot is still above or below its plane when it lands is gone."""

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

WALL = 0.06
"""Leg lengths above its plane from which a rise beside a planted foot is a wall it leans on, not ground under it."""

HIGHEST_HOVER = 0.07
"""Leg lengths. A foot that `set_contacts` or its clip plants is lowered to the ground if the clip has it hover by less
than this: all the way if it hovers little, not at all from here on. Captured feet stand up to 5% above their floor."""

LARGEST_SINK = 0.08
"""Leg lengths that a planted foot is lowered at most to touch the ground where its toes hang over an edge."""

LIFT_HALF_LIFE = 0.01
"""Seconds in which a planted foot is half way to touching the ground."""

LIFT_OFF_HALF_LIFE = 0.04
"""Seconds in which a foot that has lifted off is half way back to how high the clip has it hover."""

STEEP_GROUND = 0.64
"""Cosine of the slope (50 degrees) from which ground is taken as level between a ray and a point of the sole."""

PLANE_SLACK = 0.04
"""Leg lengths by which the slope that a foot lands on, extended, may miss where the foot took off. From twice that on
it is no slope."""

ROUGH = 0.04
"""Leg lengths above its plane up to which ground is what a swinging foot goes by; more is an obstacle."""

SHALLOW = 0.03
"""Leg lengths that a swinging foot is lifted at once off an obstacle that it is in. More is planned for."""

TOUCH_DOWN = 0.12
"""Seconds before a known landing from which a foot comes down to touch the ground."""


class FootStance(NamedTuple):
    """Whether a foot is held where it is (held), was so before too (standing), or is on its way to a known landing
    (lands), in so many seconds (left).
    """

    held: Any
    standing: Any
    lands: Any
    left: Any


class Placement(NamedTuple):
    """How the floor under a foot is laid onto the ground: the clip's ball, the point of the plane that comes to be
    below it, the ball's height split into a part along the normal (rolled) and one along up, and the foot's rotation.
    """

    ball: Any
    on_plane: Any
    normal: Any
    up: Any
    rolled: Any
    raised: Any
    rotation: Any


class Underfoot(NamedTuple):
    """What is under a foot: the hits of its rays, (RAYS,), the plane it goes by, and the character's floor."""

    hits: Any
    plane: Any
    floor: Any


# --- small kernels ---------------------------------------------------------------------------------------------


@kernel
def placed(placement, p):
    """A point of the clip's foot, where the placement puts it."""
    ball = vec.add(placement.on_plane, vec.scale(placement.normal, placement.rolled))
    ball = vec.add(ball, vec.scale(placement.up, placement.raised))
    return vec.add(ball, quat.rotate(placement.rotation, vec.sub(p, placement.ball)))


@kernel
def sample_of(which):
    """The ray under heel, ball or tip, among the rays of a leg."""
    return HEEL_SAMPLE if which == HEEL else (BALL_SAMPLE if which == BALL else TIP_SAMPLE)


@kernel
def ground_above(hit, point, up):
    """How far the ground is above a point, along up, metres. A ray misses the point by what the foot moved since it was
    aimed; between the two, ground that is not steep goes on along its normal.
    """
    ground = SupportPlane(load3(hit.point), load3(hit.normal))
    if vec.dot(ground.normal, up) < like(up[0], STEEP_GROUND):
        return vec.dot(vec.sub(ground.point, point), up)
    return height_on(ground, point, up)


# --- 2: contact ------------------------------------------------------------------------------------------------


@kernel
def contact_override(sole, foot):
    """The contact that was set for a foot, or that its clip has: 1 planted, 0 not, LEAVES; NO_OVERRIDE if neither is
    known.
    """
    if foot.override != NO_OVERRIDE:
        return foot.override
    # Another stage may have moved the foot since.
    as_played = abs(foot.in_clip.low - foot.in_clip.table_low) < sole.length * like(foot.in_clip.low, SAME_HEIGHT)
    return foot.in_clip.contact if as_played else NO_OVERRIDE


@kernel
def tip_hangs(sole, foot, hits, up):
    """Whether the tip of a planted foot hangs over an edge. hits: of the leg, (RAYS,)."""
    hit, plane = hits[TIP_SAMPLE], SupportPlane(load3(foot.plane.point), load3(foot.plane.normal))
    return (not hit.found) | (height_on(plane, load3(hit.point), up) > sole.length * like(up[0], WALL))


@kernel
def contact_state(settings, sole, foot, clip, hits, up):
    """Whether the clip has this foot on the ground, and whether it is held there."""
    stands = stands_now(settings, sole.length, clip.low, clip.speed, foot.contact != SWINGING)
    override = contact_override(sole, foot)
    if (override == 0) | ((override == NO_OVERRIDE) & (not stands)):
        return SWINGING
    if (override == LEAVES) and not foot.fresh and (foot.contact == SWINGING or tip_hangs(sole, foot, hits, up)):
        return SWINGING
    # A foot that was released is held again once it is back where its clip has it, if it stands there.
    back = vec.length(load3(foot.offset.value)) < sole.length * like(clip.low, NEAR_GROUND)
    again = back & (foot.override == NO_OVERRIDE) & (clip.speed < settings.plant_speed * sole.length)
    return PLANTED if (foot.contact == SWINGING) | again else foot.contact


@kernel
def is_step(foot, before):
    """Whether a foot that now stands has made a step since its last contact. before: its contact in the last frame.

    At the limit of height and speed a contact may be lost for a frame, all the more at high frame rates.
    """
    return (before == SWINGING) & (not foot.fresh) & (foot.swing.since >= like(foot.swing.since, SHORTEST_SWING))


@kernel
def step_contact(settings, sole, foot, clip, hits, up, dt):
    """Decide whether a foot is planted, and learn how long its swings take. hits: of the leg, (RAYS,)."""
    landing = predicted_landing(foot)
    before, state = foot.contact, contact_state(settings, sole, foot, clip, hits, up)
    foot.contact = state
    if state != before:
        foot.rays.frames_left = 0
    held = (state == PLANTED) & settings.lock
    standing = held & (before == PLANTED) & (not foot.fresh)
    lands = landing.known & settings.lock & (not held) & (not foot.fresh)
    if state == SWINGING:
        foot.swing.since += dt
    else:
        if is_step(foot, before):
            foot.swing.seconds = foot.swing.since
        foot.swing.since = like(dt, 0.0)
        foot.foothold.steps, foot.foothold.chosen = 0, False
    return FootStance(held, standing, lands, landing.left)


@kernel
def learn_landing(sole, foot, clip, hips, transform):
    """Remember where a foot has landed, from the hips, in the character's own space."""
    # From the heel, which is down first; the ball comes down where the foot's length puts it.
    ball = vec.add(clip.points.heel, vec.scale(load3(foot.heading), sole.heel))
    store3(foot.landing.learnt, xform.linear(xform.inverse(load_matrix(transform)), vec.sub(ball, hips)))


# --- 3: the plane ----------------------------------------------------------------------------------------------


@kernel
def passable(plane, lands, takeoff, up, slack):
    """The plane that a foot goes by on its way to one that it lands on: that one if it is a slope, else level.

    Across the edge of a step a foot lands tilted. Extended back to where the foot took off, such a plane would be far
    above or below the ground there. lands: where the ball comes down. slack: metres that a slope may miss it by.
    """
    one = like(up[0], 1.0)
    slope = vec.sub(up, vec.scale(plane.normal, one / vec.dot(plane.normal, up)))
    lands = vec.add(lands, vec.scale(up, height_on(plane, lands, up)))
    way = vec.sub(takeoff, lands)
    share = falloff(abs(vec.dot(slope, way) - vec.dot(way, up)), slack, slack)
    return SupportPlane(lands, vec.unit_or(vec.sub(up, vec.scale(slope, share)), up))


@kernel
def lift_along(foot, before, normal, up):
    """Let the lift of a foot act along another normal, and keep its height: the difference goes into its rise. Where
    both normals lean the same way, the foot stays where it is across up too.
    """
    across, one = vec.reject(normal, up), like(up[0], 1.0)
    flat = vec.dot(across, across)
    share = vec.dot(vec.reject(before, up), across) / flat if flat > like(one, AT_REST) else one
    share = min(max(share, like(one, 0.0)), one)
    along = vec.dot(before, up) - share * vec.dot(normal, up)
    foot.rise.value += foot.lift.value * along
    foot.rise.speed += foot.lift.speed * along
    foot.lift.value *= share
    foot.lift.speed *= share


@kernel
def step_plane(settings, sole, foot, hits, floor, stance):
    """Choose the plane a foot goes by: the one it stands on, that of its foothold, or what is under it. Where it
    changes the foot stays where it is: the difference goes into its rise.
    """
    up = floor.up
    before = SupportPlane(load3(foot.plane.point), load3(foot.plane.normal))
    plane = before
    if not (stance.standing | (stance.lands & foothold_is_settled(foot, stance.left))):
        if stance.lands & foothold_seen(foot, hits):
            plane = choose_foothold(sole, foot, hits, floor, settings.contact.cos_slope)
            store3(foot.plane.ground_normal, plane.normal)
            lands = vec.add(load3(foot.landing.point), foothold_shift(sole, foot))
            plane = passable(plane, lands, load3(foot.swing.takeoff), up, sole.length * like(stance.left, PLANE_SLACK))
        else:
            plane = fit_plane(hits, 0, 1, floor, settings.contact.cos_slope)
            store3(foot.plane.ground_normal, plane.normal)
        store3(foot.plane.point, plane.point)
        store3(foot.plane.normal, plane.normal)
        if foot.fresh:
            foot.rise.value = foot.rise.speed = foot.rise.acceleration = like(foot.rise.value, 0.0)
        else:
            flat, velocity = load3(foot.on_floor.point), load3(foot.on_floor.velocity)
            foot.rise.value += height_on(before, flat, up) - height_on(plane, flat, up)
            slope = vec.dot(velocity, plane.normal) / vec.dot(up, plane.normal)
            foot.rise.speed += slope - vec.dot(velocity, before.normal) / vec.dot(up, before.normal)
            lift_along(foot, before.normal, plane.normal, up)
    return plane


@kernel
def step_tilt(settings, sole, foot, under, low, dt):
    """Ease a foot's tilt to that of its plane; less of it high in the air. Returns 0 on the ground to 1 in the air."""
    zero, one, up = like(dt, 0.0), like(dt, 1.0), under.floor.up
    high = min(max(low / (sole.length * like(dt, HIGH_SWING)), zero), one)
    goal = vec.unit_or(vec.add(vec.scale(load3(foot.plane.ground_normal), one - high), vec.scale(up, high)), up)
    before = load3(foot.tilt)
    left = spring.decay(settings.tilt_half_life, dt)
    normal = vec.unit_or(vec.add(goal, vec.scale(vec.sub(before, goal), left)), up)
    there = foot.fresh | (vec.span(vec.sub(normal, goal)) < like(dt, AT_REST))
    store3(foot.tilt, vec.select(there, goal, normal))
    return high


# --- 4: across up ----------------------------------------------------------------------------------------------


@kernel
def swing_across(settings, sole, foot, clip, under, stance, dt):
    """Bring a swinging foot's offset to that of its foothold, in time for its landing. Returns the shift from the clip:
    the offset, and how far the foot waits before a step up or hurries over the edge of a step down.
    """
    zero, one, up = like(dt, 0.0), like(dt, 1.0), under.floor.up
    none = (zero, zero, zero)
    goal = vec.select(stance.lands, foothold_shift(sole, foot), none)
    if (not stance.lands) & (foot.swing.delay != zero):
        # It is late: it goes on from where it was shifted to.
        store3(foot.offset.value, vec.reject(vec.sub(load3(foot.on_floor.point), load3(foot.in_clip.sole[BALL])), up))
        foot.swing.delay = zero
    seconds = min(stance.left, like(dt, LONGEST_SHIFT)) if stance.lands else like(dt, 4.0) * settings.release_half_life
    near = sole.length * like(dt, AT_REST)
    for c in range(3):
        motion = Motion(foot.offset.value[c], foot.offset.speed[c], foot.offset.acceleration[c])
        motion = rest_at(step_quintic(motion, goal[c], zero, max(seconds, like(dt, SHORTEST_PLAN)), dt), goal[c], near)
        foot.offset.value[c], foot.offset.speed[c], foot.offset.acceleration[c] = motion
    yaw_half_life = min(settings.release_half_life, seconds * like(dt, 0.25))
    foot.yaw = spring.damp(foot.yaw, zero, yaw_half_life, dt) if abs(foot.yaw) > like(dt, AT_REST) else zero
    delay = zero
    if stance.lands:
        # Up or down a step: from where it left to the plane that it lands on, and from point to point. On a slope the
        # first is nothing; where a slope begins the two disagree.
        takeoff, lands = load3(foot.swing.takeoff), vec.add(load3(foot.landing.point), goal)
        step = height_on(under.plane, takeoff, up) / sole.length
        whole = (vec.dot(vec.sub(lands, takeoff), up) + height_on(under.plane, lands, up)) / sole.length
        height = min(abs(step), abs(whole)) if step * whole > zero else zero
        steep = min(max((height - like(dt, ROUGH)) / like(dt, STEEP_STEP - ROUGH), zero), one)
        steep *= falloff(foot.swing.seconds, like(dt, LONGEST_SWING), like(dt, LONGEST_SWING))
        delay = like(dt, LONGEST_DELAY) * (steep if step > zero else -steep)
    foot.swing.delay = spring.damp(foot.swing.delay, delay, like(dt, DELAY_HALF_LIFE), dt)
    offset = load3(foot.offset.value)
    if not stance.lands:
        return offset
    ball = vec.add(clip.points.ball, offset)
    share, hurries = one - stance.left / foot.swing.seconds, foot.swing.delay < zero
    # Measured on its own way, not on that of the clip: so it stands still as long as it waits, and is there as early
    # as it hurries, however the clip swings it.
    goes, usual = minimum_jerk(delayed(share, foot.swing.delay)), minimum_jerk(share)
    part = share_of(goes - usual, one - usual) if hurries else share_of(usual - goes, usual)
    end = vec.select(hurries, vec.add(load3(foot.landing.point), goal), load3(foot.swing.takeoff))
    return vec.add(offset, vec.scale(vec.reject(vec.sub(end, ball), up), part))


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
def stillness(sole, speed):
    """1 for a point that stands in the clip, nearly 0 for one that moves: a ball that is on its way down."""
    slow = sole.length * like(speed, SLOW_POINT)
    return max(falloff(speed, slow, slow), like(speed, 1.0 / 256.0))


@kernel
def gap_under(sole, under, which, point):
    """Height of a point of a foot above the ground below it, metres; above its plane, where there is none. A wall
    beside it, which rises above that plane, is no ground.
    """
    hit, up = under.hits[sample_of(which)], under.floor.up
    if not hit.found:
        return -height_on(under.plane, point, up)
    gap, wall = -ground_above(hit, point, up), sole.length * like(point[0], WALL)
    return sole.length if (gap <= -wall) & (-height_on(under.plane, load3(hit.point), up) > wall) else gap


@kernel
def drift_of(sole, foot, clip, placement, under):
    """How far a placement moves the part of the sole that is on the ground since the last frame.

    Heel and ball count as they are near the ground and still in the clip, both alike where the foot is flat: toes that
    bend then move neither of them far. The tip counts where the others lift off, or are far above it.
    """
    size, points = sole.length, clip.points
    near, slack = size * like(size, NEAR_GROUND), size * like(size, TOES_BEND)
    switch, steady = size * like(size, CONTACT_SWITCH), size * like(size, STEADY_TIP)
    heel, ball, tip = placed(placement, points.heel), placed(placement, points.ball), placed(placement, points.tip)
    heel_gap, ball_gap = gap_under(sole, under, HEEL, heel), gap_under(sole, under, BALL, ball)
    low = min(heel_gap, ball_gap)
    lower = low - gap_under(sole, under, TIP, tip)
    heel_still, ball_still = stillness(sole, clip.speeds.heel), stillness(sole, clip.speeds.ball)
    slower = min(clip.speeds.heel, clip.speeds.ball) - clip.speeds.tip
    still = max(heel_still, ball_still) * falloff(lower, slack, slack) * falloff(slower, steady, steady)
    flat = max(falloff(lower, switch, switch), still)
    heel_weight = falloff(heel_gap - low, near, near + near) * heel_still
    ball_weight = falloff(ball_gap - low, near, near + near) * ball_still
    share = flat / (heel_weight + ball_weight)
    drift = vec.scale(vec.sub(heel, load3(foot.sole[HEEL])), share * heel_weight)
    drift = vec.add(drift, vec.scale(vec.sub(ball, load3(foot.sole[BALL])), share * ball_weight))
    return vec.add(drift, vec.scale(vec.sub(tip, load3(foot.sole[TIP])), like(size, 1.0) - flat))


@kernel
def hold_across(sole, foot, clip, under, dt):
    """Hold a planted foot where it landed: what the clip slides or swivels goes into its offset and its yaw. Returns
    the shift from the clip.
    """
    most = like(dt, LARGEST_YAW)
    foot.yaw = min(max(foot.yaw - clip.yaw, -most), most)
    shift = load3(foot.offset.value)
    placement = place(sole, foot, clip, shift, foot_rotation(foot, under.floor.up), under)
    # Along the ground: what it moves off the ground and back is no slide.
    drift = vec.reject(drift_of(sole, foot, clip, placement, under), under.plane.normal)
    drift = vec.reject(drift, under.floor.up)
    held = vec.sub(shift, drift)
    store3(foot.offset.acceleration, vec.scale(drift, like(dt, 0.0)))
    store3(foot.offset.value, held)
    if dt > like(dt, 0.0):
        # It lifts off as it is held, so that it does not jump to the clip's speed.
        speed, left = vec.scale(drift, like(dt, -1.0) / dt), spring.decay(like(dt, HELD_SPEED_HALF_LIFE), dt)
        store3(foot.offset.speed, vec.add(speed, vec.scale(vec.sub(load3(foot.offset.speed), speed), left)))
    return held


@kernel
def step_across(settings, sole, foot, clip, under, stance, dt):
    """Where a foot is across up: the shift of its ball from the clip."""
    zero = like(dt, 0.0)
    none = (zero, zero, zero)
    if foot.fresh:
        store3(foot.offset.value, none)
        store3(foot.offset.speed, none)
        store3(foot.offset.acceleration, none)
        foot.yaw = foot.swing.delay = zero
        return none
    if stance.standing:
        shift = hold_across(sole, foot, clip, under, dt)
    elif stance.held:
        # It has just landed: it stays where it is shifted to.
        shift = vec.reject(vec.sub(load3(foot.on_floor.point), load3(foot.in_clip.sole[BALL])), under.floor.up)
        store3(foot.offset.value, shift)
        store3(foot.offset.speed, none)
        foot.swing.delay = zero
    else:
        return swing_across(settings, sole, foot, clip, under, stance, like(dt, 0.0) if foot.in_clip.paused else dt)
    if vec.length(load3(foot.offset.value)) > sole.length * like(dt, LARGEST_OFFSET):
        foot.contact = RELEASED
    return shift


# --- 5: along up -----------------------------------------------------------------------------------------------


@kernel
def move_flat(foot, clip, shift, up, dt):
    """Keep where the ball is on the character's floor, and how fast it moves over it."""
    flat = vec.sub(vec.add(clip.points.ball, shift), vec.scale(up, clip.ball_height))
    rate = like(dt, 1.0) / dt if (dt > like(dt, 0.0)) & (not foot.fresh) else like(dt, 0.0)
    store3(foot.on_floor.velocity, vec.scale(vec.reject(vec.sub(flat, load3(foot.on_floor.point)), up), rate))
    store3(foot.on_floor.point, flat)


@kernel
def foot_rotation(foot, up):
    """The rotation of a foot from how the clip has it: its tilt, and its yaw about up."""
    return quat.mul(quat.between(up, load3(foot.tilt), vec.hinge_of(up)), quat.from_axis_angle(up, foot.yaw))


@kernel
def place(sole, foot, clip, shift, rotation, under):
    """The placement of a foot with this shift, at its rise. Its lift and its clearance come on top of that: see
    `lifted` and `cleared`. rotation: see `foot_rotation`.
    """
    up = under.floor.up
    flat = vec.sub(vec.add(clip.points.ball, shift), vec.scale(up, clip.ball_height))
    height = height_on(under.plane, flat, up) + foot.rise.value
    rolled = min(clip.ball_height, sole.length * like(height, ROLL_HEIGHT))
    on_plane = vec.add(flat, vec.scale(up, height))
    return Placement(clip.points.ball, on_plane, load3(foot.tilt), up, rolled, clip.ball_height - rolled, rotation)


@kernel
def lifted(placement, foot, under):
    """A placement with the foot's lift, which is along the normal of its plane: so it does not slide."""
    on_plane = vec.add(placement.on_plane, vec.scale(under.plane.normal, foot.lift.value))
    return Placement(
        placement.ball,
        on_plane,
        placement.normal,
        placement.up,
        placement.rolled,
        placement.raised,
        placement.rotation,
    )


@kernel
def cleared(placement, foot):
    """A placement with the clearance of a swinging foot. It comes last: a plan that knew of it would rise less."""
    if foot.contact != SWINGING:
        return placement
    return Placement(
        placement.ball,
        vec.add(placement.on_plane, vec.scale(placement.up, foot.clearance)),
        placement.normal,
        placement.up,
        placement.rolled,
        placement.raised,
        placement.rotation,
    )


class Depth(NamedTuple):
    """How deep a foot is in the ground, metres along up.

    missing: how far it must be raised so that no point of its sole is in the ground it goes by, negative if all are
    above it. blocked: the same for what stands in its way above that ground, 0 if nothing does.
    """

    missing: Any
    blocked: Any


@kernel
def depth_of(sole, clip, placement, under, held):
    """Measure how deep a foot is in the ground. Beside a planted foot, what rises above its plane is a wall and does
    not count; in the way of a swinging one it is an obstacle.
    """
    size, up = sole.length, placement.up
    missing, blocked = -size, like(size, 0.0)
    ground = size * (like(size, WALL) if held else like(size, ROUGH))
    for which in range(3):
        hit = under.hits[sample_of(which)]
        if not hit.found:
            continue
        depth = ground_above(hit, placed(placement, pick(which, clip.points)), up)
        if (-height_on(under.plane, load3(hit.point), up) > ground) & ((not held) | (depth > ground)):
            blocked = max(blocked, depth)
            depth = min(depth, size * like(size, SHALLOW)) if not held else -size
        missing = max(missing, depth)
    return Depth(missing, like(size, 0.0) if held else blocked)


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
    if (length <= sole.length * like(one, 0.02)) | (not foot.rays.ahead):
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
def step_rise(sole, foot, under, stance, blocked, dt):
    """Bring a foot onto its plane: a swinging one in time for its landing and over what is on its way, on the smoothest
    curve; one that has landed, soon. blocked: see `Depth`.
    """
    zero = like(dt, 0.0)
    shortest = shortest_plan(sole, foot.rise.value)
    motion = Motion(foot.rise.value, foot.rise.speed, foot.rise.acceleration)
    seconds, goal, speed = like(dt, LANDED_PLAN), zero, zero
    if not stance.held:
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
    motion = rest_at(step_quintic(motion, goal, speed, seconds, dt), zero, sole.length * like(dt, AT_REST))
    if foot.fresh:
        motion = Motion(blocked, zero, zero)
    foot.rise.value, foot.rise.speed, foot.rise.acceleration = motion


@kernel
def hovering(settings, sole, foot, low):
    """How far a planted foot stays above the ground of what the clip has it hover: none at first, all of it where it
    lifts off, so that nothing jumps there.
    """
    zero, one = like(low, 0.0), like(low, 1.0)
    top = settings.plant_height * sole.length * like(low, RELEASE_SHARE)
    if contact_override(sole, foot) != NO_OVERRIDE:
        top = max(top, sole.length * like(low, HIGHEST_HOVER))
    share = min(max(low, zero) / top, one) if top > zero else one
    share *= share
    return max(low, zero) * share * share


@kernel
def step_lift(settings, sole, foot, clip, under, stance, missing, dt):
    """Keep a foot out of the ground it goes by; and lower a planted one until it touches, even where the clip has it
    hover a little: over an edge it rolls on the ball, not on toes in the air. One that is about to land comes down to
    that. missing: see `Depth`.
    """
    zero, one, size = like(dt, 0.0), like(dt, 1.0), sole.length
    needed = foot.lift.value + missing * vec.dot(under.plane.normal, under.floor.up)
    goal, touch = max(needed, zero), one if stance.held else zero
    if stance.lands:
        touch = one - min(stance.left / like(dt, TOUCH_DOWN), one)
    if (touch > zero) & (missing > -size):
        down = max(needed + hovering(settings, sole, foot, clip.low), -size * like(dt, LARGEST_SINK))
        goal += (max(down, needed) - goal) * touch * touch
    leaves = (not stance.held) & (goal > foot.lift.value)
    half_life = like(dt, LIFT_OFF_HALF_LIFE) if leaves else like(dt, LIFT_HALF_LIFE)
    x, v = spring.critical(foot.lift.value, foot.lift.speed, goal, half_life, dt)
    if x < needed:
        x, v = needed, max(v, zero)
    near = size * like(dt, AT_REST)
    there = foot.fresh | ((abs(x - goal) < near) & (abs(v) < near))
    foot.lift.value, foot.lift.speed = (goal, zero) if there else (x, v)


# --- 6: the target ---------------------------------------------------------------------------------------------


@kernel
def store_target(sole, foot, target, clip, placement, under, stance, high):
    """Store where the ankle is to be, and what the next frame starts from. Returns whether anything moved."""
    zero, one, floor = like(high, 0.0), like(high, 1.0), under.floor
    for which in range(3):
        store3(foot.in_clip.sole[which], over_floor(pick(which, clip.points), floor))
        store3(foot.sole[which], placed(placement, pick(which, clip.points)))
    placement = lifted(placement, foot, under)
    ankle, rotation = placed(placement, clip.ankle[3]), quat.unit(quat.mul(placement.rotation, clip.rotation))
    before, height = target.ground, vec.dot(vec.sub(placement.on_plane, floor.point), floor.up)
    near = sole.length * like(high, AT_REST)  # Rounding alone is no motion: a character at rest is skipped.
    moved = vec.span(vec.sub(ankle, load3(foot.ankle))) > near
    moved |= (
        ((foot.rise.speed != zero) & (not foot.in_clip.paused))
        | (foot.lift.speed != zero)
        | (target.contact != foot.contact)
        | foot.fresh
    )
    store3(foot.ankle, ankle)
    store3(target.ankle, ankle)
    store4(target.rotation, rotation)
    store4(foot.in_clip.rotation, clip.rotation)
    store3(target.ball, placed(placement, clip.points.ball))
    target.contact, target.swing, target.low = foot.contact, zero if stance.held else high, one - high
    foot.height = target.ground = height
    if foot.fresh | (foot.contact != SWINGING):
        # On the ground, however the foot hovers over it.
        flat = load3(foot.on_floor.point)
        store3(foot.swing.takeoff, vec.add(flat, vec.scale(floor.up, height_on(under.plane, flat, floor.up))))
    if stance.lands:
        # The body is on its way to the next step as the foot is, not there at once.
        lands = vec.add(load3(foot.landing.point), foothold_shift(sole, foot))
        ahead = vec.dot(vec.sub(lands, floor.point), floor.up) + height_on(under.plane, lands, floor.up)
        share = minimum_jerk(one - stance.left / foot.swing.seconds)
        target.ground += (ahead - height) * share
    return moved | (abs(target.ground - before) > near)


@routine
def step_foot(settings, sole, foot, target, hits, body, own, dt):
    """Step one foot of one character: from its clip and its hits to a target for its ankle.

    hits: of its rays, (RAYS,).
    """
    floor = own.floor
    clip = read_clip_foot(sole, foot, own.world, floor, dt)
    stepped, swing_dt = is_step(foot, foot.contact), like(dt, 0.0) if foot.in_clip.paused else dt
    stance = step_contact(settings, sole, foot, clip, hits, floor.up, swing_dt)
    if stepped & (foot.contact != SWINGING):
        learn_landing(sole, foot, clip, load3(body.hips), own.transform)
    plane = step_plane(settings, sole, foot, hits, floor, stance)
    under = Underfoot(hits, plane, floor)
    high = step_tilt(settings, sole, foot, under, clip.low, dt)
    if stance.held:
        # Before it is held in place: on a slope, coming down along up is a slide.
        step_rise(sole, foot, under, stance, like(dt, 0.0), dt)
    shift = step_across(settings, sole, foot, clip, under, stance, dt)
    rotation, before = foot_rotation(foot, floor.up), foot.rise.value
    placement = lifted(place(sole, foot, clip, shift, rotation, under), foot, under)
    depth = depth_of(sole, clip, placement, under, stance.held)
    missing, blocked = depth.missing, depth.blocked
    if not stance.held:
        if before < like(dt, 0.0):
            # Below the plane that it is going to: what is under it there is in its way.
            deep, shallow = missing + max(foot.lift.value, like(dt, 0.0)), sole.length * like(dt, SHALLOW)
            missing, blocked = min(missing, shallow), max(deep, blocked)
        step_rise(sole, foot, under, stance, blocked, swing_dt)
        missing -= foot.rise.value - before
    step_lift(settings, sole, foot, clip, under, stance, missing, dt)
    move_flat(foot, clip, shift, floor.up, dt)
    placement = cleared(place(sole, foot, clip, shift, rotation, under), foot)
    body.pelvis.moving |= store_target(sole, foot, target, clip, placement, under, stance, high)


class OwnArrays(NamedTuple):
    """One character's transform, (12,), world matrices, (J, 12), and floor."""

    transform: Any
    world: Any
    floor: Any


@kernel
def follow(settings, body, hit, transform, length, dt):
    """Move a character's transform, (12,), along its up to the ground below its hips. length: of a leg, metres."""
    zero = like(dt, 0.0)
    floor, near = floor_of(settings.contact, transform), length * like(dt, AT_REST)
    store3(body.pelvis.move, (zero, zero, zero))
    if not hit.found:
        body.follow_speed = zero
        return
    goal = vec.dot(vec.sub(load3(hit.point), floor.point), floor.up)
    goal = zero if abs(goal) < near else goal
    step, speed = goal, zero
    if not body.pelvis.fresh:
        step, speed = spring.critical(zero, body.follow_speed, goal, settings.pelvis.half_life, dt)
        if (abs(goal - step) < near) & (abs(speed) < near):
            step, speed = goal, zero
    body.pelvis.moving |= (step != zero) | (speed != body.follow_speed)
    body.follow_speed = speed
    body.pelvis.height -= step
    move = vec.scale(floor.up, step)
    store3(body.pelvis.move, move)
    transform[3] += move[0]
    transform[7] += move[1]
    transform[11] += move[2]
