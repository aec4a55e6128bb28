"""Gait: the groups in which legs swing, and the rule by which a group lifts off.

Legs of a group swing together, and only while all other groups are planted; neighbouring legs are in different groups.
A foot needs a step once it is far from its ideal position. Its group lifts off when one of its feet needs a step, in
alternation and in time with the other group.
"""

from __future__ import annotations

import math

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, store3
from kinema.model.rig import Rig
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING
from kinema.stages.walk.walking import LEAST_SPARE, strain

STRIDE_ROOM = 0.65
"""Share of its spare reach that a leg uses for a full stride: before the body is held back, with room for its delay."""

SHIFTED = 0.5
"""Share of a move straight away from the hip that shortens a stride: the remainder is what `lead_shift` makes good."""

HIGHEST_CLIMB = 0.5
"""Leg lengths that a stride may lead up or down: two steps of a staircase, not three."""

LEAD_OF_STEP = 0.27
"""Share of its step, over the ground, by which a foot lands ahead of its home at top speed: the body covers the
remainder."""

CLIMBS, FALLS = 0.92, 1.0
"""Time that a swing takes to climb and to descend, as a multiple of the leg's `climb_time`. That holds for a swing that
rises for 60% of its duration; one that climbs rises for 65%, one that descends comes down for 60% (see `swinging`)."""

SLOWEST_SWING, FASTEST_SWING = 0.75, 0.92
"""Share of the beat during which a group swings, at rest and at top speed. The remainder is for detours."""

LONGEST_SWING = 2.0
"""Longest swing on level ground, that of the slowest walk, as a multiple of the shortest."""

STEP_JOINS = 0.2
"""Share of the lift-off distance from which a foot lifts off together with its group."""

STEP_JOINS_UNTIL = 0.3
"""Share of a swing after which no other foot of the group lifts off: the other group is waiting."""

STEP_FIRST = 0.6
"""Share of the lift-off distance that is enough on the beat, and for the first step after standing."""

STOOD_LONG = 10.0
"""Duration since the last step, in swings, that counts as standing."""

STEP_URGENT = 1.3
"""Multiple of the lift-off distance from which a foot no longer waits for its beat, only for the others to land."""

STRAIN_URGENT = 0.7
"""Strain from which a foot that is behind no longer waits for its beat."""

TOO_SLOW, KEPT_UP = 0.87, 0.93
"""Share of its speed below which a walker is held back by its legs, and learns to walk more slowly; and from which it
walks faster again."""

LEAST_PACE = 0.6
"""Share of what its swinging feet could follow that a walker does not learn to be slower than."""

PACE_CREDIT = 1.0
"""Seconds of free walking that a walker which sets off, or turns back, starts with: its first step says little."""

PACE_SPARE, PACE_LEARNT, PACE_MEMORY = 1.08, 0.6, 0.4
"""Multiple of the speed it made that a walker learns, since legs that are never waited for could be faster; share of
that at every lift-off; and what counts of the steps before the last."""

LEAST_TRIAL, MOST_TRIAL, TRIAL_GROWS = 0.04, 0.15, 1.4
"""Share by which a walker that kept up speeds up at a lift-off: at first, when it may be close to what its legs can
do; at most; and the multiple from one lift-off to the next."""

ROOM_AHEAD = 0.65
"""Share of its spare reach that a leg uses at landing."""

ROOM_BEHIND = 0.5
"""Share of its spare reach that a leg uses at lift-off: less, since the body moves on while the foot waits."""

DIP_LEAD = 1.15
"""Multiple of its lead for which a walking body is low enough: feet lift off a little late."""

OWN_SIDE = 0.5
"""Share of its distance from the middle of the body by which a foot may land further inwards."""

TRY_AGAIN = 0.06
"""Leg lengths by which the wanted position must move before a foot that found no foothold tries again. A walker that
is held back tries again on every beat."""


def partners_of(rig: Rig) -> tuple[int, ...]:
    """Return the leg beside each leg, on the other side of the body: the nearest one ahead or behind. -1 for none."""
    ankles = np.array([rig.standing_world[int(leg.joints[-1]), :3, 3] for leg in rig.legs])
    aside = (ankles - ankles.mean(axis=0)) @ np.cross(rig.up, rig.forward)
    ahead = ankles @ np.array(rig.forward)
    partners = []
    for n in range(len(ankles)):
        others = np.flatnonzero(aside * aside[n] < 0)
        partners.append(int(others[np.argmin(np.abs(ahead[others] - ahead[n]))]) if others.size else -1)
    return tuple(partners)


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
def lead_of(walker, foot):
    """How far ahead of its home a foot lands: half as far as its home moves while it stands."""
    rhythm = walker.rhythm
    return vec.length(load3(foot.home.drift)) * (rhythm.beat - rhythm.swing_time * like(rhythm.beat, 0.5))


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
    drift = load3(foot.home.drift)
    along = vec.unit_or(drift, (zero, zero, zero))
    lead = lead_of(walker, foot)
    ahead = vec.scale(along, lead + lead_shift(settings, leg, m, along, lead))
    moves = vec.scale(drift, seconds * walker.advance)
    return vec.add(load3(foot.home.point), vec.add(moves, keep_side(settings, leg, m, ahead)))


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
def bound_landing(settings, legs, walker, feet, n, m, seconds):
    """Set how far to its own side a foot has to land so that it crosses neither the foot beside it nor the middle of
    its body, and how high that foot stands.
    """
    zero, foot = like(seconds, 0.0), feet[n]
    own_up = load3(settings.contact.up)
    own_side = vec.cross(own_up, load3(settings.forward))
    turned = quat.from_axis_angle(own_up, walker.turn * seconds * walker.advance)
    side = vec.unit_or(xform.linear(m, quat.rotate(turned, own_side)), (zero, zero, zero))
    partner = legs[n].partner
    apart = zero
    if partner >= 0:
        apart = vec.dot(vec.sub(load3(legs[n].home), load3(legs[partner].home)), own_side) * like(zero, OWN_SIDE)
    side = vec.scale(side, like(zero, -1.0)) if apart < zero else side
    store3(foot.wanted.side, vec.select(apart != zero, side, (zero, zero, zero)))
    foot.wanted.bound, foot.wanted.beside = zero, vec.dot(load3(foot.target.ball), xform.linear(m, own_up))
    if partner >= 0:
        beside = feet[partner]
        stands = load3(beside.foothold.ball) if beside.target.contact == SWINGING else load3(beside.target.ball)
        foot.wanted.beside = vec.dot(stands, xform.linear(m, own_up))
        foot.wanted.bound = vec.dot(load3(feet[partner].target.ball), load3(foot.wanted.side)) + abs(apart)
        home = vec.add(load3(foot.home.point), vec.scale(load3(foot.home.drift), seconds * walker.advance))
        inward = abs(vec.dot(load3(legs[n].home), own_side)) * like(zero, OWN_SIDE)
        foot.wanted.bound = max(foot.wanted.bound, vec.dot(home, load3(foot.wanted.side)) - inward)


@kernel
def on_own_side(foot, wanted):
    """A landing moved sideways so far that the foot does not cross the one beside it."""
    side, bound = load3(foot.wanted.side), foot.wanted.bound
    return vec.add(wanted, vec.scale(side, max(bound - vec.dot(wanted, side), like(bound, 0.0))))


@routine
def walking_dip(settings, legs, walker, feet, m):
    """How much lower a body walks than it stands, metres, so that its legs reach without a dip at every step."""
    zero = like(settings.stride, 0.0)
    dip = zero
    for n in range(legs.size):
        leg = legs[n]
        along = vec.unit_or(load3(feet[n].home.drift), (zero, zero, zero))
        lead = lead_of(walker, feet[n])
        shift = lead_shift(settings, leg, m, along, lead)
        lead = lead * like(zero, DIP_LEAD)
        rest = xform.linear(m, vec.sub(load3(leg.home), load3(leg.hip)))
        rest = vec.reject(rest, xform.linear(m, load3(settings.contact.up)))
        ahead = vec.length(vec.add(rest, vec.scale(along, shift + lead)))
        behind = vec.length(vec.add(rest, vec.scale(along, shift - lead)))
        farthest = max(ahead, behind)
        low = math.sqrt(max(leg.reach * leg.reach - farthest * farthest, zero))
        low -= lead * abs(vec.dot(load3(walker.slope), along))
        dip = max(dip, min(leg.rest_height - low, leg.crouch))
    return dip


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
    if foot.foothold.failed:
        moved = vec.reject(vec.sub(wanted, load3(foot.foothold.tried)), up)
        walks = vec.span(load3(foot.home.drift)) > zero
        again = walker.rhythm.retries & walks
        if (vec.length(moved) < length * like(zero, TRY_AGAIN)) & (not again):
            return zero
    ball = load3(foot.target.ball)
    # A foothold beside the wanted one is as good as that; one behind it is left the earlier.
    shift, along = load3(foot.foothold.shift), vec.unit_or(load3(foot.home.drift), (zero, zero, zero))
    shift = vec.sub(shift, vec.scale(along, min(vec.dot(shift, along), zero)))
    gap = vec.reject(vec.sub(ball, vec.add(wanted, shift)), up)
    lead = lead_of(walker, foot)
    most = max(lead + lead, settings.settle * length)
    needed = vec.length(gap) / most if most > zero else zero
    strained = strain(settings, leg, walker, foot, m, up, zero)
    behind = vec.dot(vec.sub(load3(foot.home.point), ball), load3(foot.home.drift)) > zero
    if behind | (strained >= like(zero, 1.0)):
        return max(needed, strained * like(zero, STEP_URGENT / STRAIN_URGENT))
    return needed


@routine
def longest_stride(settings, leg, walker, m, along):
    """How far ahead of its home a foot may land, metres, on ground that rises as it does under the walker.

    The foot that is behind, or ahead of a walker that descends, is lower than its home by the slope of the ground; its
    leg still has to reach it from a body that crouches. along: unit vector.
    """
    zero, one = like(leg.reach, 0.0), like(leg.reach, 1.0)
    slope = abs(vec.dot(load3(walker.slope), along))
    low, aside = leg.rest_height - leg.crouch, leg.rest_aside
    half = low * slope + aside * outward_share(settings, leg, m, along) * like(zero, SHIFTED)
    free = max(leg.reach * leg.reach - low * low - aside * aside, zero)
    squared = one + slope * slope
    farthest = (math.sqrt(half * half + squared * free) - half) / squared
    farthest = max(farthest, leg.bones.length * like(zero, LEAST_SPARE)) * like(zero, STRIDE_ROOM)
    climb = leg.bones.length * like(zero, HIGHEST_CLIMB * LEAD_OF_STEP)
    farthest = min(farthest, climb / slope) if slope > zero else farthest
    return min(settings.stride * leg.bones.length, farthest)


@routine
def outward_share(settings, leg, m, along):
    """The share of a move that leads straight away from the hip of a leg at rest, or straight towards it."""
    zero = like(leg.reach, 0.0)
    way = xform.linear(m, vec.sub(load3(leg.home), load3(leg.hip)))
    up = xform.linear(m, load3(settings.contact.up))
    return abs(vec.dot(vec.unit_or(vec.reject(way, up), (zero, zero, zero)), along))


@kernel
def climb_time(leg, slope):
    """Seconds of a swing per metre that the ground under it rises or falls. slope: metres per metre, along the way."""
    return leg.climb_time * like(slope, CLIMBS if slope > like(slope, 0.0) else FALLS) * abs(slope)


@routine
def fastest_speed(settings, leg, stride, slope):
    """The speed, metres per second, at which a foot lands a full stride ahead and swings as fast as it may.

    slope: how the ground rises along its way, metres per metre: a foot that climbs swings longer.
    """
    two, share = like(stride, 2.0), like(stride, FASTEST_SWING)
    most = two * share * stride / (settings.swing_time * (two - share))
    lifts = leg.climb_time * settings.lift * leg.bones.length * (two - share) / (two * stride)
    climbs = two * climb_time(leg, slope) + lifts
    return min(most, share / climbs) if climbs > like(stride, 0.0) else most


@routine
def set_rhythm(settings, legs, walker, feet, m):
    """Set beat and swing time of a walker from the speed of its feet.

    A walker that is four times as fast takes steps twice as long, twice as often: strides grow with the root of the
    speed, as those of animals do. The leg that is nearest to its top speed sets the rhythm of all. A walker that sets
    off has the rhythm of the speed that it is going to have.
    """
    rhythm = walker.rhythm
    zero, one, two = like(settings.stride, 0.0), like(settings.stride, 1.0), like(settings.stride, 2.0)
    effort, lead, speed, climbs, lifts = zero, zero, zero, zero, zero
    for n in range(legs.size):
        drift = load3(feet[n].home.drift)
        spin = vec.scale(vec.cross(load3(settings.contact.up), load3(legs[n].home)), walker.commanded.turn)
        moves = max(vec.length(drift), vec.length(xform.linear(m, vec.add(load3(walker.commanded.velocity), spin))))
        along = vec.unit_or(drift, (zero, zero, zero))
        slope = vec.dot(load3(walker.slope), along)
        stride = longest_stride(settings, legs[n], walker, m, along)
        share = min(moves / fastest_speed(settings, legs[n], stride, slope), one)
        if share > effort:
            effort, speed, lead, climbs = share, moves, stride * math.sqrt(share), climb_time(legs[n], slope)
            lifts = legs[n].climb_time * settings.lift * legs[n].bones.length
    share = like(zero, SLOWEST_SWING) + like(zero, FASTEST_SWING - SLOWEST_SWING) * effort
    longest = settings.swing_time * like(zero, LONGEST_SWING) / share
    rhythm.beat = min(two * lead / (speed * (two - share)), longest) if speed > zero else longest
    left = share - two * climbs * speed
    if left > zero:
        rhythm.beat = max(rhythm.beat, min(lifts / left, longest))
    rhythm.swing_time = rhythm.beat * share


@kernel
def forget_pace(walker):
    """Forget what a walker learnt of the ground: it goes another way."""
    learnt = walker.learnt
    zero = like(learnt.moved, 0.0)
    learnt.top, learnt.moved, learnt.waited = like(zero, math.inf), like(zero, PACE_CREDIT), zero
    learnt.trial = like(zero, LEAST_TRIAL)


@kernel
def learn_pace(walker):
    """Adapt the top speed of a walker to the share of its speed that it made since about the last lift-off.

    What single steps, edges and turns cost is not known before. A walker that is faster than its legs would stop and
    go.
    """
    learnt = walker.learnt
    one = like(learnt.moved, 1.0)
    time = learnt.moved + learnt.waited
    made = learnt.moved / time if time > like(time, 0.0) else one
    speed = vec.length(load3(walker.velocity))
    least = vec.length(load3(walker.commanded.velocity)) * like(one, LEAST_PACE)
    if least <= like(one, 0.0):
        forget_pace(walker)
    elif made < like(one, TOO_SLOW):
        learnt.top = max(speed * (one + (made * like(one, PACE_SPARE) - one) * like(one, PACE_LEARNT)), least)
        learnt.trial = like(one, LEAST_TRIAL)
    elif made > like(one, KEPT_UP):
        learnt.top *= one + learnt.trial
        learnt.trial = min(learnt.trial * like(one, TRIAL_GROWS), like(one, MOST_TRIAL))
    learnt.moved *= like(one, PACE_MEMORY)
    learnt.waited *= like(one, PACE_MEMORY)


@routine
def next_group(settings, legs, walker, feet, m, up):
    """The group that lifts off now, while all feet are planted; -1 for none. A waiting group keeps the walker awake."""
    rhythm = walker.rhythm
    zero = like(settings.stride, 0.0)
    pause, drifts = rhythm.beat, zero
    for n in range(legs.size):
        drifts = max(drifts, vec.span(load3(feet[n].home.drift)))
    if drifts <= zero:
        rhythm.since = settings.swing_time * like(zero, STOOD_LONG)
    # On the beat, and after standing, a step comes early, before the body has left its feet behind.
    enough = like(zero, STEP_FIRST) if rhythm.since >= pause else like(zero, 1.0)
    best, most = -1, zero
    for group in range(2):
        needed = zero
        for n in range(legs.size):
            if legs[n].group == group:
                needed = max(needed, need(settings, legs[n], walker, feet[n], m, up))
        if needed < enough:
            continue
        walker.pelvis.moving = True
        other = group != rhythm.group
        in_time = (rhythm.since >= pause) | (needed >= like(zero, STEP_URGENT))
        # If both groups need a step, the one that did not swing last goes first.
        needed = min(needed, like(zero, STEP_URGENT)) + (like(zero, STEP_URGENT) if other else zero)
        if in_time & (needed > most):
            best, most = group, needed
    return best


@routine
def lift_lost_feet(legs, walker, feet, up):
    """Lift off feet that are out of reach, also while the other group swings: they would be dragged over the ground.

    At least one foot in four stays planted. Returns whether any foot is in the air.
    """
    planted, in_air = 0, False
    for n in range(legs.size):
        planted += feet[n].target.contact == PLANTED
        in_air |= feet[n].target.contact == SWINGING
    if in_air and planted >= max(legs.size // 4, 1):
        for n in range(legs.size):
            if feet[n].target.contact == RELEASED:
                lift_off(walker, feet[n], up)
    return in_air


@routine
def lift_feet(settings, legs, walker, feet, m, up):
    """Lift off the feet of the group that steps now."""
    rhythm = walker.rhythm
    zero = like(settings.stride, 0.0)
    in_air = lift_lost_feet(legs, walker, feet, up)
    walker.pelvis.moving |= in_air
    if not in_air:
        group = next_group(settings, legs, walker, feet, m, up)
        if group < 0:
            return
        rhythm.group = group
    elif rhythm.since > rhythm.swing_time * like(zero, STEP_JOINS_UNTIL):
        return
    enough = like(zero, 1.0) if in_air else like(zero, STEP_JOINS)
    for n in range(legs.size):
        waits = (legs[n].group == rhythm.group) & (feet[n].target.contact != SWINGING)
        if waits and need(settings, legs[n], walker, feet[n], m, up) >= enough:
            lift_off(walker, feet[n], up)


@kernel
def lift_off(walker, foot, up):
    """Start the swing of a foot from its current position."""
    swing = foot.swing
    zero = like(walker.rhythm.since, 0.0)
    foot.target.contact = SWINGING
    swing.left = swing.duration = walker.rhythm.swing_time
    swing.lift_off = swing.ground = vec.dot(load3(foot.target.ball), up)
    swing.again = swing.replanned = False
    store3(foot.velocity, (zero, zero, zero))
    foot.pull = zero
