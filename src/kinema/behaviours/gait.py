"""Gait: the groups in which legs swing, and the rule by which a group lifts off.

Legs of a group swing together, and only while all other groups are planted; neighbouring legs are in different groups.
A foot needs a step once it is far from its ideal position. Its group lifts off when one of its feet needs a step, in
alternation and in time with the other group.
"""

from __future__ import annotations

import numpy as np

from kinema._jit import kernel, like, routine
from kinema.behaviours.ground_contact import PLANTED, RELEASED, SWINGING
from kinema.behaviours.walking import strain
from kinema.math import vec, xform
from kinema.math.rows import load3, store3
from kinema.rig import Rig

STEP_JOINS = 0.4
"""Share of the lift-off distance from which a foot lifts off together with its group."""

STEP_JOINS_UNTIL = 0.3
"""Share of a swing after which no other foot of the group lifts off: the other group is waiting."""

STEP_FIRST = 0.6
"""Share of the lift-off distance that is enough for the first step after standing."""

STOOD_LONG = 10.0
"""Duration since the last step, in swings, that counts as standing."""

STEP_URGENT = 1.3
"""Multiple of the lift-off distance from which a foot no longer waits for its beat, only for the others to land."""

BRAKE_FROM = 0.7
"""Strain from which the body slows down, so that no leg is overstretched."""

ROOM_AHEAD = 0.65
"""Share of its spare reach that a leg uses at landing."""

ROOM_BEHIND = 0.5
"""The same at lift-off: less, since the body moves on while the foot waits."""

OWN_SIDE = 0.5
"""Share of its distance from the middle of the body by which a foot may land further inwards."""

TRY_AGAIN = 0.06
"""Leg lengths by which the wanted position must move before a foot that found no foothold tries again."""


def groups_of(rig: Rig) -> tuple[int, ...]:
    """Return the group, 0 or 1, that each leg swings in.

    Groups alternate along a side, and the two sides are opposite: left and right for two legs, diagonal pairs for four,
    tripods for six, tetrapods for eight.
    """
    ankles = np.array([rig.standing_world[int(leg.joints[-1]), :3, 3] for leg in rig.legs])
    aside = (ankles - ankles.mean(axis=0)) @ np.cross(rig.up, rig.forward)
    ahead = ankles @ np.array(rig.forward)
    groups = np.zeros(len(ankles), np.int64)
    for side, legs in enumerate((np.flatnonzero(aside >= 0), np.flatnonzero(aside < 0))):
        groups[legs[np.argsort(-ahead[legs], kind="stable")]] = (np.arange(legs.size) + side) % 2
    return tuple(int(group) for group in groups)


# --- where to step ----------------------------------------------------------------------------------------------------


@kernel
def lead_of(settings, leg, foot):
    """How far ahead of its home a foot lands: as far as the body moves in a swing, at most a stride."""
    return min(vec.length(load3(foot.drift)) * settings.swing_time, settings.stride * leg.bones.length)


@routine
def lead_shift(settings, leg, m, along, lead):
    """How much farther ahead than its lead a foot lands, so that the leg has enough reach until lift-off.

    Negative for a leg that reaches ahead at rest, positive for one that trails behind. along: unit vector.
    """
    zero = like(lead, 0.0)
    way = xform.linear(m, vec.sub(load3(leg.home), load3(leg.hip)))
    up = xform.linear(m, load3(settings.contact.up))
    outward = vec.dot(vec.unit_or(vec.reject(way, up), (zero, zero, zero)), along)
    if outward < zero:
        return max(lead + leg.spare * like(lead, ROOM_BEHIND) / outward, zero)
    return min(leg.spare * like(lead, ROOM_AHEAD) / outward - lead, zero) if outward > zero else zero


@routine
def landing_point(settings, leg, walker, foot, m, seconds):
    """The ideal landing position of a foot that lands in so many seconds. m: the character's transform."""
    zero = like(seconds, 0.0)
    drift = load3(foot.drift)
    along = vec.unit_or(drift, (zero, zero, zero))
    lead = lead_of(settings, leg, foot)
    ahead = vec.scale(along, lead + lead_shift(settings, leg, m, along, lead))
    moves = vec.scale(drift, min(seconds, settings.swing_time) * walker.progress)
    return vec.add(load3(foot.home), vec.add(moves, keep_side(settings, leg, m, ahead)))


@routine
def keep_side(settings, leg, m, ahead):
    """The offset of a landing from the foot's home, shortened so that the foot stays on its own side of the body."""
    zero = like(ahead[0], 0.0)
    own_side = vec.cross(load3(settings.contact.up), load3(settings.forward))
    side = vec.unit_or(xform.linear(m, own_side), (zero, zero, zero))
    room = vec.dot(load3(leg.home), own_side) * like(zero, OWN_SIDE)
    inward = vec.dot(ahead, side)
    beyond = inward + room
    crosses = (beyond < zero) if room > zero else (beyond > zero)
    return vec.sub(ahead, vec.scale(side, beyond)) if crosses & (room != zero) else ahead


@routine
def clear_other(settings, legs, feet, n, m, wanted):
    """The landing of a biped's foot, moved sideways so that it stays on its own side of the other foot."""
    if legs.size != 2:
        return wanted
    zero = like(wanted[0], 0.0)
    own_side = vec.cross(load3(settings.contact.up), load3(settings.forward))
    side = vec.unit_or(xform.linear(m, own_side), (zero, zero, zero))
    apart = vec.dot(vec.sub(load3(legs[n].home), load3(legs[1 - n].home)), own_side) * like(zero, OWN_SIDE)
    missing = apart - vec.dot(vec.sub(wanted, load3(feet[1 - n].target.ball)), side)
    too_near = (missing > zero) if apart > zero else (missing < zero)
    return vec.add(wanted, vec.scale(side, missing)) if too_near & (apart != zero) else wanted


# --- when to step -----------------------------------------------------------------------------------------------------


@routine
def need(settings, leg, walker, foot, m, up):
    """How urgently a planted foot needs a step: it steps at 1. It is 0 after landing and grows as the body moves."""
    zero = like(settings.stride, 0.0)
    wanted = landing_point(settings, leg, walker, foot, m, zero)
    length = leg.bones.length
    if foot.target.contact == RELEASED:
        return like(zero, STEP_URGENT)
    if foot.target.contact != PLANTED:
        return zero
    if foot.failed:
        moved = vec.reject(vec.sub(wanted, load3(foot.tried)), up)
        if vec.length(moved) < length * like(zero, TRY_AGAIN):
            return zero
    ball = load3(foot.target.ball)
    gap = vec.reject(vec.sub(ball, vec.add(wanted, load3(foot.shift))), up)
    lead = lead_of(settings, leg, foot)
    most = max(lead + lead, settings.settle * length)
    needed = vec.length(gap) / most if most > zero else zero
    strained = strain(settings, leg, walker, foot, m, up)
    behind = vec.dot(vec.sub(load3(foot.home), ball), load3(foot.drift)) > zero
    if behind | (strained >= like(zero, 1.0)):
        return max(needed, strained * like(zero, STEP_URGENT / BRAKE_FROM))
    return needed


@routine
def beat(settings, legs, feet):
    """Seconds from one group's lift-off to the next one's: half of a leg's swing and stance. 0 if nothing moves."""
    zero = like(settings.stride, 0.0)
    half = settings.swing_time * like(zero, 0.5)
    longest = zero
    for n in range(legs.size):
        speed = vec.length(load3(feet[n].drift))
        if speed > zero:
            longest = max(longest, half + max(lead_of(settings, legs[n], feet[n]) / speed, half))
    return longest


@routine
def next_group(settings, legs, walker, feet, m, up):
    """The group that lifts off now, while all feet are planted; -1 for none. A waiting group keeps the walker awake."""
    zero = like(settings.stride, 0.0)
    pause = beat(settings, legs, feet)
    if pause <= zero:
        pause, walker.since = settings.swing_time, settings.swing_time * like(zero, STOOD_LONG)
    # After standing, the first step comes early, before the body has left its feet behind.
    enough = like(zero, STEP_FIRST) if walker.since > pause + pause else like(zero, 1.0)
    best, most = -1, zero
    for group in range(2):
        needed = zero
        for n in range(legs.size):
            if legs[n].group == group:
                needed = max(needed, need(settings, legs[n], walker, feet[n], m, up))
        if needed < enough:
            continue
        walker.pelvis.moving = True
        other = group != walker.group
        in_time = (walker.since >= pause) | (not other) | (needed >= like(zero, STEP_URGENT))
        # If both groups need a step, the one that did not swing last goes first.
        needed += like(zero, STEP_URGENT) if other else zero
        if in_time & (needed > most):
            best, most = group, needed
    return best


@routine
def lift_feet(settings, legs, walker, feet, m, up):
    """Lift off the feet of the group that steps now."""
    zero = like(settings.stride, 0.0)
    in_air = False
    for n in range(legs.size):
        in_air |= feet[n].target.contact == SWINGING
    walker.pelvis.moving |= in_air
    if not in_air:
        group = next_group(settings, legs, walker, feet, m, up)
        if group < 0:
            return
        walker.group, walker.since = group, zero
    elif walker.since > settings.swing_time * like(zero, STEP_JOINS_UNTIL):
        return
    enough = like(zero, 1.0) if in_air else like(zero, STEP_JOINS)
    for n in range(legs.size):
        waits = (legs[n].group == walker.group) & (feet[n].target.contact != SWINGING)
        if waits and need(settings, legs[n], walker, feet[n], m, up) >= enough:
            lift_off(settings, feet[n], up)


@kernel
def lift_off(settings, foot, up):
    """Start the swing of a foot from its current position."""
    zero = like(settings.stride, 0.0)
    foot.target.contact = SWINGING
    foot.left = foot.duration = settings.swing_time
    foot.lift_off = vec.dot(load3(foot.target.ball), up)
    store3(foot.velocity, (zero, zero, zero))
    foot.pull = zero
