"""Whether a foot of a clip is planted, swinging or released, and how long its swings take."""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like
from kinema.math import vec
from kinema.math.rows import load3
from kinema.motion.contacts import stands_now
from kinema.stages.feet.foot_landing import predicted_landing
from kinema.stages.feet.foot_placement import WALL
from kinema.stages.feet.foot_records import LEAVES, NO_OVERRIDE
from kinema.stages.legs.ground_contact import PLANTED, SWINGING, TIP_SAMPLE, SupportPlane, height_on

BACK_IN_PLACE = 0.015
"""Leg lengths from where its clip has it within which a released foot is held again."""

SAME_HEIGHT = 0.05
"""Leg lengths by which a foot may be higher or lower than in the clip that plays for the contacts of that to count."""

SHORTEST_SWING = 0.08
"""Seconds in the air below which a foot has made no step: nothing is learnt of its next swing."""


class FootStance(NamedTuple):
    """Whether a foot is held where it is (held), was so before too (standing), or is on its way to a known landing
    (lands), in so many seconds (left).
    """

    held: Any
    standing: Any
    lands: Any
    left: Any


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
    back = vec.length(load3(foot.offset.value)) < sole.length * like(clip.low, BACK_IN_PLACE)
    again = back & (foot.override == NO_OVERRIDE) & (clip.speed < settings.plant_speed * sole.length)
    return PLANTED if (foot.contact == SWINGING) | again else foot.contact


@kernel
def is_step(foot, before):
    """Whether a foot that now stands has made a step since its last contact. before: its contact in the last frame.

    At the limit of height and speed a contact may be lost for a frame, all the more at high frame rates.
    """
    return (before == SWINGING) & (not foot.fresh) & (foot.swing.since >= like(foot.swing.since, SHORTEST_SWING))


@kernel
def update_contact(settings, sole, foot, clip, hits, up, dt):
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
