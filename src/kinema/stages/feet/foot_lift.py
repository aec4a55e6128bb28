"""Lift a foot of a clip out of the ground, and lower a planted one until it touches."""

from __future__ import annotations

from kinema.compile.jit import kernel, like
from kinema.constants import AT_REST
from kinema.math import spring, vec
from kinema.motion.contacts import RELEASE_SHARE
from kinema.stages.feet.foot_contact import contact_override
from kinema.stages.feet.foot_records import NO_OVERRIDE

HIGHEST_HOVER = 0.1
"""Leg lengths. A foot that `set_contacts` or its clip plants is lowered to the ground if the clip has it hover by less
than this: all the way if it hovers little, not at all from here on. Captured feet stand up to 5% above their floor, and
floors of captures drift by up to 8%."""

LARGEST_SINK = 0.08
"""Leg lengths that a planted foot is lowered at most to touch the ground where its toes hang over an edge."""

LIFT_HALF_LIFE = 0.01
"""Seconds in which a planted foot is half way to touching the ground."""

LIFT_OFF_HALF_LIFE = 0.04
"""Seconds in which a foot that has lifted off is half way back to how high the clip has it hover."""

TOUCH_DOWN = 0.12
"""Seconds before a known landing from which a foot comes down to touch the ground."""


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
def lift_foot(settings, sole, foot, clip, under, stance, missing, dt):
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
