"""The body of a walker over its feet: its height, its lean, and what its legs can take.

The body follows the plane of its feet on springs with bounded acceleration, low enough that planted legs reach, and
high enough that no leg is folded up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.constants import AT_REST
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load_matrix, load_origin, store3, store4, store_matrix
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING, floor_of
from kinema.stages.legs.pelvis import (
    SWING_SLACK,
    PelvisMotion,
    carry_hips,
    highest_hip,
    hips_of,
    leg_reach,
    slope_under,
    spring_height,
    step_lean,
)
from kinema.stages.walk.leg_shapes import leg_rotation
from kinema.stages.walk.swing_plan import share_across
from kinema.stages.walk.swinging import reachable_way, side_of
from kinema.stages.walk.walking import DEEPEST_CROUCH, ankle_of, landing_ankle, rotation_of
from kinema.stages.walk.walking_records import HANGING

FASTEST_FALL = 1.2
"""Largest speed at which a body lowers to keep a foot within reach, leg lengths per second: faster looks like a
jolt."""

HARDEST_FALL = 30.0
"""Largest acceleration of that, leg lengths per second squared: three times that of a free fall of human legs."""

HARDEST_RISE = 10.0
"""Leg lengths per second squared at which a body is accelerated at most otherwise: about that of a free fall."""

DEEPEST_SQUAT = 2.5
"""Multiple of its crouch by which a body lowers for feet that are planted: beyond `DEEPEST_CROUCH`, they would be
dragged over the ground otherwise."""

REACH_AHEAD = 2.5
"""Half-lives of the pelvis after which planted feet should still be within reach: as long as its spring takes."""

RISE_DAMPING = 0.02
"""Spread of the feet, as a share of the leg length squared, at which half of a change of the slope under them counts:
what feet close together say of it is noise."""

RISE_HALF_LIFE = 2.0
"""Half-life of the slope under the feet that strides are adapted to, in half-lives of the pelvis."""

CLOSEST_STAND = 0.5
"""Share of its distance at rest to which a body comes to one of its feet at most, however far another one is: a leg
that folds up completely bends anywhere."""

FOLD_ROOM = 1.05
"""Multiple of the closest distance from hip to ankle that a body keeps from where a foot is going to land, with room
for the delay of its spring. The leg would be folded up otherwise, and its foot pushed into the step."""

HARDEST_JOINT, HOLD_PASSES = 24.0, 6
"""Radians per second at which a joint of a swinging leg rotates at most, 23 degrees per frame at 60 Hz, however its
body moves; and the passes that find how far its foot may go, each halving the range."""


class BodyFrame(NamedTuple):
    """The arrays that `move_bodies` reads: world matrices (N, J, 12), transforms (N, 1, 12), weights (N,), and the
    hips with the joint above them, -1 for none.
    """

    world: Any
    transforms: Any
    weights: Any
    hips: Any
    parent: Any


@routine
def move_body(settings, legs, walker, feet, world, hips, m, dt):
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
    walker.level.height = level
    ease_slope(settings, legs, walker, feet, up, dt)
    goal, length = level - walker.dip, legs[0].bones.length
    ahead = settings.pelvis.half_life * like(dt, REACH_AHEAD) * walker.progress
    now, soon, lowest = body_tops(settings, legs, walker, feet, world, hips, rotation, ahead)
    goal = max(min(goal, soon), lowest)
    height, speed = spring_height(settings.pelvis, walker.pelvis, goal, length, dt)
    before, change = walker.pelvis.speed, length * like(dt, HARDEST_RISE) * dt
    bounded = min(max(speed, before - change), before + change)
    if (bounded != speed) & (not walker.pelvis.fresh):
        height, speed = walker.pelvis.height + (before + bounded) * like(dt, 0.5) * dt, bounded
    if height > now:
        fall = max(before - length * like(dt, HARDEST_FALL) * dt, -length * like(dt, FASTEST_FALL))
        fallen = now if walker.pelvis.fresh else walker.pelvis.height + min(fall, speed) * dt
        height = max(now, fallen)
        speed = zero if walker.pelvis.fresh else (height - walker.pelvis.height) / dt
    motion = PelvisMotion(height, speed, rotation)
    clear_feet(settings, legs, feet, world, hips, motion, m)
    carry_hips(settings.pelvis, legs.bones, walker.pelvis, feet.target, world, hips, motion)
    return rotation


@routine
def body_tops(settings, legs, walker, feet, world, hips, rotation, ahead):
    """The largest heights of a body at which its legs reach their feet, now and once it has moved on for a while; and
    the lowest at which none is folded up.

    ahead: that while, seconds; for a foot that lifts off before, until then.
    """
    rhythm = walker.rhythm
    up, zero = hips.up, like(ahead, 0.0)
    level, full = walker.level.height, settings.pelvis.half_life * like(ahead, REACH_AHEAD)
    now = soon = walker.level.height + legs[0].bones.length
    lowest = now - legs[0].bones.length * like(ahead, 4.0)
    last = rhythm.beat - rhythm.since
    for n in range(legs.size):
        if feet[n].target.contact == SWINGING:
            last = max(last, feet[n].swing.left)
    for n in range(legs.size):
        foot, length = feet[n], legs[n].bones.length
        leg, ankle = leg_reach(settings.pelvis, legs[n].bones, world, hips, rotation), load3(foot.target.ankle)
        swings = foot.target.contact == SWINGING
        planted = foot.target.contact == PLANTED
        slack = foot.target.swing * length * like(ahead, SWING_SLACK)
        stays = last + (rhythm.beat if legs[n].group == rhythm.group else zero)
        stays = foot.swing.left * walker.progress if swings else min(max(stays, zero), ahead)
        across = vec.length(vec.reject(vec.sub(leg.start, ankle), up))
        fold = legs[n].rest_reach * like(ahead, CLOSEST_STAND)
        if planted & (across < fold):
            lowest = max(lowest, highest_hip(leg.start, ankle, up, fold))
        if swings:
            lowest = max(lowest, lowest_over(legs[n], walker, foot, leg.start, up))
        for later in range(2):
            start = vec.add(leg.start, vec.scale(load3(foot.home.drift), stays if later else zero))
            if later and swings:
                # Where it lands counts; the later that is, the less.
                ankle = landing_ankle(legs[n], foot)
                slack = max(foot.swing.left - full, zero) * length * like(ahead, FASTEST_FALL)
                fold = legs[n].closest * like(ahead, FOLD_ROOM)
                if vec.length(vec.reject(vec.sub(start, ankle), up)) < fold:
                    lowest = max(lowest, highest_hip(start, ankle, up, fold) - slack)
            if vec.length(vec.reject(vec.sub(start, ankle), up)) > leg.reach:
                continue  # Out of reach at any height.
            deepest = DEEPEST_SQUAT if planted & (later == 0) else DEEPEST_CROUCH
            top = max(highest_hip(start, ankle, up, leg.reach) + slack, level - legs[n].crouch * like(ahead, deepest))
            now, soon = (now, min(soon, top)) if later else (min(now, top), soon)
    return max(now, lowest), max(soon, lowest), lowest


@routine
def lowest_over(leg, walker, foot, hip, up):
    """The lowest height of a body at which a swinging leg is not folded up: now, and at the apex of its swing.

    hip: where the leg starts, with the body at height 0.
    """
    swing = foot.swing
    zero, one = like(swing.left, 0.0), like(swing.left, 1.0)
    fold, ankle = leg.nearest * like(zero, FOLD_ROOM), load3(foot.target.ankle)
    lowest = -leg.bones.length * like(zero, 4.0)
    if vec.length(vec.reject(vec.sub(hip, ankle), up)) < fold:
        lowest = highest_hip(hip, ankle, up, fold)
    rising = swing.left - swing.duration * (one - swing.rises)
    if rising > zero:
        done, then = (
            share_across(foot, one - swing.left / swing.duration),
            share_across(foot, swing.rises),
        )
        share = (then - done) / (one - done) if done < one else one
        across = vec.scale(vec.reject(vec.sub(load3(foot.foothold.ball), load3(foot.target.ball)), up), share)
        climbs = max(swing.apex - vec.dot(load3(foot.target.ball), up), zero)
        ankle = vec.add(ankle, vec.add(across, vec.scale(up, climbs)))
        start = vec.add(hip, vec.scale(load3(foot.home.drift), rising * walker.progress))
        if vec.length(vec.reject(vec.sub(start, ankle), up)) < fold:
            slack = rising * leg.bones.length * like(zero, FASTEST_FALL)
            lowest = max(lowest, highest_hip(start, ankle, up, fold) - slack)
    return lowest


@routine
def clear_feet(settings, legs, feet, world, hips, motion, m):
    """Move feet to where their legs can take them: see `reachable_way`. Planted feet are only moved if out of reach."""
    side = side_of(settings, m)
    for n in range(legs.size):
        target = feet[n].target
        if target.contact == HANGING:
            continue
        leg = leg_reach(settings.pelvis, legs[n].bones, world, hips, motion.rotation)
        start = vec.add(leg.start, vec.scale(hips.up, motion.height))
        way = vec.sub(load3(target.ankle), start)
        if (target.contact == SWINGING) | (vec.length(way) > leg.reach):
            store3(target.ankle, vec.add(start, reachable_way(legs[n], way, side, hips.up)))


@kernel
def stands_at(foot):
    """Where a foot stands, or is going to stand."""
    return vec.select(foot.target.contact == SWINGING, load3(foot.foothold.ball), load3(foot.target.ball))


@routine
def ease_slope(settings, legs, walker, feet, up, dt):
    """Ease the slope under the feet of a walker: the plane through the ground under them, by least squares.

    Where the feet say nothing of the slope, as two feet side by side do of that ahead, it stays as it was.
    """
    zero, one = like(dt, 0.0), like(dt, 1.0)
    before = (zero, zero, zero) if walker.pelvis.fresh else vec.reject(load3(walker.slope), up)
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
    store3(walker.slope, vec.add(before, vec.scale(change, one - left)))


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
def move_bodies(rows, records, frame, dt):
    """Move the bodies of these walkers. frame: see `BodyFrame`."""
    settings, legs = records.settings[0], records.legs
    for k in range(rows.size):
        i = rows[k]
        walker, feet = records.walkers[i], records.feet[i]
        world, transform = frame.world[i], frame.transforms[i, 0]
        up, m = floor_of(settings.contact, transform).up, load_matrix(transform)
        hips = hips_of(world, transform, frame.hips, frame.parent, up, frame.weights[i])
        rotation = move_body(settings, legs, walker, feet, world, hips, m, dt)
        note_lost_contacts(legs, feet)
        end_step(legs, walker, feet, world, hips, rotation, m, dt)


@routine
def end_step(legs, walker, feet, world, hips, rotation, m, dt):
    """Store the state that the next step starts from. rotation: of the body. m: the character's transform."""
    store_matrix(walker.transform, m)
    store4(walker.lean, rotation)
    body = quat.mul(rotation, rotation_of(m))
    back, moved = xform.inverse(m), vec.add(hips.position, load3(walker.pelvis.move))
    rate = like(dt, 0.0) if walker.pelvis.fresh | (dt <= like(dt, 0.0)) else like(dt, 1.0) / dt
    for n in range(legs.size):
        posed = vec.sub(load_origin(world[legs[n].bones.thigh]), hips.position)
        hip = vec.add(moved, quat.rotate(rotation, posed))
        if (feet[n].target.contact == SWINGING) & (not walker.pelvis.fresh):
            hold_back(legs[n], feet[n], hip, body, dt)
        own = xform.apply(back, hip)
        store3(feet[n].hip.velocity, vec.scale(vec.sub(own, load3(feet[n].hip.point)), rate))
        store3(feet[n].hip.point, own)
        store3(feet[n].hip.to_ankle, quat.rotate(quat.conj(body), vec.sub(load3(feet[n].target.ankle), hip)))
    walker.pelvis.fresh = False


@routine
def hold_back(leg, foot, hip, body, dt):
    """Hold a swinging foot back whose leg would rotate too fast, since its body moved in another way than expected."""
    most = like(dt, HARDEST_JOINT) * dt
    before = load3(foot.hip.to_ankle)
    after = quat.rotate(quat.conj(body), vec.sub(load3(foot.target.ankle), hip))
    none = like(dt, 0.0)
    if leg_rotation(leg.shapes, before, after, none) <= most:
        return
    low, high = none, like(dt, 1.0)
    for _ in range(HOLD_PASSES):
        share = (low + high) * like(dt, 0.5)
        way = vec.add(before, vec.scale(vec.sub(after, before), share))
        fits = leg_rotation(leg.shapes, before, way, none) <= most
        low, high = (share, high) if fits else (low, share)
    way = vec.add(before, vec.scale(vec.sub(after, before), low))
    store3(foot.target.ankle, vec.add(hip, quat.rotate(body, way)))
