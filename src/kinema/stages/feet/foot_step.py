"""One foot of a clip over the ground in one frame: from what the clip does and what the rays hit to a target for its
ankle.

A foot moves over its support plane as it moves over the floor in the clip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like, routine
from kinema.constants import AT_REST
from kinema.math import quat, vec
from kinema.math.curves import minimum_jerk
from kinema.math.rows import load3, store3, store4
from kinema.stages.feet.clip_foot import over_floor, pick, read_clip_foot
from kinema.stages.feet.foot_contact import is_step, update_contact
from kinema.stages.feet.foot_hold import hold_foot
from kinema.stages.feet.foot_landing import foothold_point, learn_landing
from kinema.stages.feet.foot_lift import lift_foot
from kinema.stages.feet.foot_placement import (
    Underfoot,
    ball_on_floor,
    cleared,
    depth_of,
    foot_rotation,
    lifted,
    place_foot,
    placed,
)
from kinema.stages.feet.foot_plane import choose_plane, tilt_foot
from kinema.stages.feet.foot_swing import raise_over, swing_across
from kinema.stages.legs.ground_contact import SWINGING, height_on


class OwnArrays(NamedTuple):
    """One character's transform, (12,), world matrices, (J, 12), and floor."""

    transform: Any
    world: Any
    floor: Any


@routine
def step_foot(settings, sole, foot, target, hits, body, own, dt):
    """Step one foot of one character. hits: of its rays, (RAYS,)."""
    floor = own.floor
    # 1. Read what the clip does with the foot.
    clip = read_clip_foot(sole, foot, own.world, floor, dt)
    # 2. Decide whether it is planted or swings, and learn from its landing.
    stepped, swing_dt = is_step(foot, foot.contact), like(dt, 0.0) if foot.in_clip.paused else dt
    stance = update_contact(settings, sole, foot, clip, hits, floor.up, swing_dt)
    if stepped & (foot.contact != SWINGING):
        learn_landing(sole, foot, clip, load3(body.hips), own.transform)
    # 3. Choose the plane that it goes by, and tilt it.
    under = Underfoot(hits, choose_plane(settings, sole, foot, hits, floor, stance), floor)
    high = tilt_foot(settings, sole, foot, floor.up, clip.low, dt)
    # 4. Hold it where it landed, or move it across up to its landing.
    if foot.fresh:
        clear_shift(foot)
    if stance.held:
        shift = hold_foot(sole, foot, clip, under, stance, dt)
    else:
        shift = swing_across(settings, sole, foot, clip, under, stance, swing_dt)
    # 5. Raise it over what is on its way, and lift it out of the ground or lower it until it touches.
    rotation = foot_rotation(foot, floor.up)
    placement = lifted(place_foot(sole, foot, clip, shift, rotation, under), foot, under.plane)
    depth = depth_of(sole, clip, placement, under, stance.held)
    missing = depth.missing if stance.held else raise_over(sole, foot, under, stance, depth, swing_dt)
    lift_foot(settings, sole, foot, clip, under, stance, missing, dt)
    # 6. Store where that puts its ankle, and what the next frame starts from.
    keep_on_floor(foot, ball_on_floor(clip, shift, floor.up), floor.up, dt)
    placement = cleared(place_foot(sole, foot, clip, shift, rotation, under), foot)
    body.pelvis.moving |= store_target(sole, foot, target, clip, placement, under, stance, high)


@kernel
def clear_shift(foot):
    """Put a foot where its clip has it."""
    zero = like(foot.yaw, 0.0)
    none = (zero, zero, zero)
    store3(foot.offset.value, none)
    store3(foot.offset.speed, none)
    store3(foot.offset.acceleration, none)
    foot.yaw = foot.swing.delay = zero


@kernel
def keep_on_floor(foot, flat, up, dt):
    """Store where the ball is on the character's floor, and how fast it moves over it."""
    rate = like(dt, 1.0) / dt if (dt > like(dt, 0.0)) & (not foot.fresh) else like(dt, 0.0)
    store3(foot.on_floor.velocity, vec.scale(vec.reject(vec.sub(flat, load3(foot.on_floor.point)), up), rate))
    store3(foot.on_floor.point, flat)


@kernel
def store_target(sole, foot, target, clip, placement, under, stance, high):
    """Store where the ankle is to be, and what the next frame starts from. Returns whether anything moved."""
    zero, one, floor = like(high, 0.0), like(high, 1.0), under.floor
    for which in range(3):
        store3(foot.in_clip.sole[which], over_floor(pick(which, clip.points), floor))
        store3(foot.sole[which], placed(placement, pick(which, clip.points)))
    placement = lifted(placement, foot, under.plane)
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
        lands = foothold_point(sole, foot)
        ahead = vec.dot(vec.sub(lands, floor.point), floor.up) + height_on(under.plane, lands, floor.up)
        share = minimum_jerk(one - stance.left / foot.swing.seconds)
        target.ground += (ahead - height) * share
    return moved | (abs(target.ground - before) > near)
