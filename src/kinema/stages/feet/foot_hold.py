"""Hold a planted foot of a clip where it landed: what the clip slides or swivels goes into an offset and a yaw."""

from __future__ import annotations

from kinema.compile.jit import kernel, like
from kinema.constants import AT_REST
from kinema.math import spring, vec
from kinema.math.curves import Motion, falloff, rest_at, step_quintic
from kinema.math.rows import load3, store3
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.clip_foot import CONTACT_SWITCH
from kinema.stages.feet.foot_placement import WALL, foot_rotation, ground_above, place_foot, placed, sample_of
from kinema.stages.legs.ground_contact import RELEASED, height_on

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

HELD_SPEED_HALF_LIFE = 0.03
"""Seconds over which the speed is averaged with which a foot is held back from the clip's motion: it lifts off with
that, and a foot that rolls over its toes shakes."""

LARGEST_OFFSET = 0.4
"""Leg lengths that a planted foot is held back at most: beyond that the clip is walking on the spot, or away."""

LARGEST_YAW = 0.6
"""Radians (34 degrees) that a planted foot is held back from swivelling. Beyond that it pivots on the point that
touches."""

LANDED_PLAN = 0.12
"""Seconds in which what a foot is still above or below its plane when it lands is gone."""


@kernel
def keep_rise(sole, foot, motion):
    """Store the rise of a foot, at rest where it is as good as there."""
    zero = like(motion.value, 0.0)
    foot.rise.value, foot.rise.speed, foot.rise.acceleration = rest_at(motion, zero, sole.length * like(zero, AT_REST))


@kernel
def settle_onto_plane(sole, foot, dt):
    """Bring a foot that has landed onto its plane."""
    zero, motion = like(dt, 0.0), Motion(foot.rise.value, foot.rise.speed, foot.rise.acceleration)
    motion = step_quintic(motion, zero, zero, like(dt, LANDED_PLAN), dt)
    keep_rise(sole, foot, Motion(zero, zero, zero) if foot.fresh else motion)


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
    bend then move neither of them far. The tip counts where the others lift off, are far above it, or swivel about it.
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
    stands = max(max(heel_still, ball_still), falloff(slower, steady, steady))
    flat = max(falloff(lower, switch, switch) * stands, still)
    heel_weight = falloff(heel_gap - low, near, near + near) * heel_still
    ball_weight = falloff(ball_gap - low, near, near + near) * ball_still
    share = flat / (heel_weight + ball_weight)
    drift = vec.scale(vec.sub(heel, load3(foot.sole[HEEL])), share * heel_weight)
    drift = vec.add(drift, vec.scale(vec.sub(ball, load3(foot.sole[BALL])), share * ball_weight))
    return vec.add(drift, vec.scale(vec.sub(tip, load3(foot.sole[TIP])), like(size, 1.0) - flat))


@kernel
def hold_in_place(sole, foot, clip, under, dt):
    """Hold a foot that stood a frame ago. Returns the shift from the clip."""
    most = like(dt, LARGEST_YAW)
    foot.yaw = min(max(foot.yaw - clip.yaw, -most), most)
    shift = load3(foot.offset.value)
    placement = place_foot(sole, foot, clip, shift, foot_rotation(foot, under.floor.up), under)
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
def hold_foot(sole, foot, clip, under, stance, dt):
    """Hold a planted foot, or release it where it is held back too far. Returns the shift from the clip."""
    # Onto its plane first: on a slope, coming down along up is a slide.
    settle_onto_plane(sole, foot, dt)
    if foot.fresh:
        return load3(foot.offset.value)
    if stance.standing:
        shift = hold_in_place(sole, foot, clip, under, dt)
    else:
        # It has just landed: it stays where it is shifted to.
        zero = like(dt, 0.0)
        shift = vec.reject(vec.sub(load3(foot.on_floor.point), load3(foot.in_clip.sole[BALL])), under.floor.up)
        store3(foot.offset.value, shift)
        store3(foot.offset.speed, (zero, zero, zero))
        foot.swing.delay = zero
    if vec.length(load3(foot.offset.value)) > sole.length * like(dt, LARGEST_OFFSET):
        foot.contact = RELEASED
    return shift
