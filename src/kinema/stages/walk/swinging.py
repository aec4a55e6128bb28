"""Swing a foot to its foothold as planned (see `swing_plan`), within the speed limit of its joints, landing exactly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.constants import AT_REST
from kinema.math import quat, spring, vec, xform
from kinema.math.curves import Motion, smoothstep, step_cubic, step_quintic
from kinema.math.rows import load3, load4, load_matrix, store3, store4
from kinema.stages.legs.ground_contact import PLANTED, SWINGING, floor_of
from kinema.stages.legs.pelvis import HIGHEST_ANKLE
from kinema.stages.walk.leg_shapes import angle_between, leg_rotation
from kinema.stages.walk.swing_plan import share_across
from kinema.stages.walk.walking import ankle_of, rotation_of
from kinema.stages.walk.walking_records import HANGING

FASTEST_JOINT = 21.0
"""Radians per second at which the joints of a swinging leg rotate at most, by its plan: 20 degrees per frame at 60
Hz."""

HIGHEST_LIFT = 0.3
"""Leg lengths by which a foot out of reach is lifted at most, over a high step, before it is drawn to its body."""

SLOWEST_PACE = 0.2
"""Share of its planned speed that a foot keeps at least: it lands some day, whatever its body does."""

LATE_PACE = 0.5
"""Share of its planned speed at which a foot comes down that is still out of reach: its body is on the way."""


# --- swinging ---------------------------------------------------------------------------------------------------------


@kernel
def land(foot):
    """Plant a foot on its foothold."""
    zero = like(foot.swing.left, 0.0)
    foot.target.contact = PLANTED
    foot.swing.left = zero
    store3(foot.target.ball, load3(foot.foothold.ball))
    store3(foot.velocity, (zero, zero, zero))
    foot.pull = zero
    store4(foot.rotation, load4(foot.foothold.rotation))


@routine
def swing_foot(foot, up, dt):
    """Step a swinging foot by dt."""
    swing = foot.swing
    if dt >= swing.left:
        land(foot)
        return
    one, zero = like(dt, 1.0), like(dt, 0.0)
    ball, velocity, foothold = load3(foot.target.ball), load3(foot.velocity), load3(foot.foothold.ball)
    now, goal, rate = vec.reject(ball, up), vec.reject(foothold, up), vec.reject(velocity, up)
    waits = min(max(swing.left - swing.duration * (one - swing.depart), zero), dt)
    across, step = max(swing.left - waits - swing.duration * swing.arrive, zero), dt - waits
    x, vx = step_cubic(now[0], rate[0], goal[0], across, step)
    y, vy = step_cubic(now[1], rate[1], goal[1], across, step)
    z, vz = step_cubic(now[2], rate[2], goal[2], across, step)
    height, climb = swing_height(foot, vec.dot(ball, up), vec.dot(velocity, up), vec.dot(foothold, up), dt)
    store3(foot.target.ball, vec.add((x, y, z), vec.scale(up, height)))
    store3(foot.velocity, vec.add((vx, vy, vz), vec.scale(up, climb)))
    done = share_across(foot, one - swing.left / swing.duration)
    then = share_across(foot, one - (swing.left - dt) / swing.duration)
    share = (then - done) / (one - done) if done < one else one
    store4(foot.rotation, quat.unit(quat.slerp(load4(foot.rotation), load4(foot.foothold.rotation), share)))
    swing.left -= dt


class SwingingBody(NamedTuple):
    """A body while its feet swing: its rotation, and the unit vector to its left."""

    rotation: Any
    side: Any


@kernel
def side_of(settings, m):
    """The unit vector to the left of a character, world space."""
    zero = like(settings.stride, 0.0)
    side = vec.cross(load3(settings.contact.up), load3(settings.forward))
    return vec.unit_or(xform.linear(m, side), (zero, zero, zero))


@routine
def reachable_way(leg, way, side, up):
    """The way from a hip to the ankle of a foot, changed so that the leg can take it there.

    A foot out of reach is lifted until the leg reaches it: drawn to its body, it would be dragged through the step
    before it. Only over that step it is drawn to the body. A foot so near to its hip that the leg would be folded up is
    moved aside, away from the body: pushed away from the hip, it would be pushed into the step.
    """
    height, square, zero = vec.dot(way, up), vec.dot(way, way), like(leg.reach, 0.0)
    if square > leg.reach * leg.reach:
        across = vec.reject(way, up)
        lifted = -math.sqrt(max(leg.reach * leg.reach - vec.dot(across, across), zero))
        lifted = min(max(lifted, height), height + leg.bones.length * like(zero, HIGHEST_LIFT))
        lifted = max(min(lifted, leg.reach * like(zero, HIGHEST_ANKLE)), -leg.reach)
        room, far = math.sqrt(leg.reach * leg.reach - lifted * lifted), vec.length(across)
        share = room / far if far > room else like(zero, 1.0)
        return vec.add(vec.scale(across, share), vec.scale(up, lifted))
    if square < leg.nearest * leg.nearest:
        outward = vec.scale(side, like(zero, 1.0 if leg.outward > zero else -1.0))
        out = vec.dot(way, outward)
        return vec.add(way, vec.scale(outward, math.sqrt(out * out + leg.nearest * leg.nearest - square) - out))
    return way


@routine
def swing_within_speed(leg, foot, hip, body, up, dt):
    """Step a swinging foot by dt, or by less if a joint of its leg would rotate too fast, or if it comes down out of
    reach: it lands later then.

    hip: where the leg starts.
    """
    swing = foot.swing
    ball, velocity, rotation = load3(foot.target.ball), load3(foot.velocity), load4(foot.rotation)
    pull, left = foot.pull, swing.left
    swing_foot(foot, up, dt)
    turned = angle_between(rotation, load4(foot.rotation))
    after = reachable_way(leg, vec.sub(ankle_of(leg, foot), hip), body.side, up)
    rotates = leg_rotation(leg.shapes, load3(foot.hip.to_ankle), quat.rotate(quat.conj(body.rotation), after), turned)
    most, step = like(dt, FASTEST_JOINT) * dt, dt
    if rotates > most:
        step = dt * max(most / rotates, like(dt, SLOWEST_PACE))
    falls = left < swing.duration * (like(dt, 1.0) - swing.rises)
    if falls & (vec.length(vec.sub(ankle_of(leg, foot), hip)) > leg.reach):
        step = min(step, dt * like(dt, LATE_PACE))
    if (step < dt) & (left > like(dt, 0.0)):
        foot.target.contact, foot.pull, swing.left = SWINGING, pull, left
        store3(foot.target.ball, ball)
        store3(foot.velocity, velocity)
        store4(foot.rotation, rotation)
        swing_foot(foot, up, step)


@kernel
def swing_height(foot, height, climb, down, dt):
    """Height and vertical speed of a swinging foot after dt: up to its apex, then down to its foothold."""
    swing = foot.swing
    zero = like(dt, 0.0)
    rising = max(swing.left - swing.duration * (like(dt, 1.0) - swing.rises), zero)
    part, motion = min(rising, dt), Motion(height, climb, foot.pull)
    if part > zero:
        motion = step_quintic(motion, swing.apex, zero, rising, part)
    if dt > part:
        motion = step_quintic(motion, down, zero, swing.left - part, dt - part)
    foot.pull = motion.acceleration
    return motion.value, motion.speed


@routine
def hang_foot(settings, leg, walker, foot, m, dt):
    """Move a foot without ground towards its home."""
    goal = load3(foot.home.point)
    gap = vec.scale(vec.sub(load3(foot.target.ball), goal), spring.decay(settings.pelvis.half_life, dt))
    there = walker.pelvis.fresh | (vec.span(gap) < leg.bones.length * like(dt, AT_REST))
    walker.pelvis.moving |= not there
    store3(foot.target.ball, vec.select(there, goal, vec.add(goal, gap)))
    store4(foot.rotation, rotation_of(m))


@routine
def set_target(leg, foot, floor):
    """Set the target of the ankle, and the height of the body for this foot."""
    swing = foot.swing
    zero = like(swing.left, 0.0)
    one = like(swing.left, 1.0)
    target, base = foot.target, vec.dot(floor.point, floor.up)
    store3(target.ankle, ankle_of(leg, foot))
    store4(target.rotation, quat.unit(quat.mul(load4(foot.rotation), load4(leg.ankle_rotation))))
    target.swing, target.low, target.ground = zero, zero, vec.dot(load3(target.ball), floor.up) - base
    if target.contact == HANGING:
        target.swing, target.ground = one, zero
    if target.contact == SWINGING:
        done = smoothstep(one - swing.left / swing.duration)
        down = vec.dot(load3(foot.foothold.ball), floor.up)
        target.swing, target.low = one - done, leg.low
        target.ground = swing.ground + (down - swing.ground) * done - base


@batch
def swing_feet(rows, records, transforms, dt):
    """Step all feet by dt, and set the targets of their legs."""
    settings, legs = records.settings[0], records.legs
    for k in range(rows.size):
        i = rows[k]
        walker, m = records.walkers[i], load_matrix(transforms[i, 0])
        floor = floor_of(settings.contact, transforms[i, 0])
        body = SwingingBody(quat.mul(load4(walker.lean), rotation_of(m)), side_of(settings, m))
        for n in range(legs.size):
            foot = records.feet[i, n]
            if foot.target.contact == SWINGING:
                hip = xform.apply(m, vec.add(load3(foot.hip.point), vec.scale(load3(foot.hip.velocity), dt)))
                swing_within_speed(legs[n], foot, hip, body, floor.up, dt)
            elif foot.target.contact == HANGING:
                hang_foot(settings, legs[n], walker, foot, m, dt)
            set_target(legs[n], foot, floor)
