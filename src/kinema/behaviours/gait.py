"""Who steps when: the groups that legs swing in, and the rule by which a group leaves the ground.

Legs of a group swing together, and only while every other group stands; neighbours are never in the same one. A foot
wants to leave once it is far from where it should be; its group goes when it is wanted, in turn and in time with the
other. `Plan` holds what is known before the first frame, `Memory` what goes on from frame to frame.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema._jit import kernel, like, routine
from kinema.behaviours.footing import BALL, BARRED, FREE, LOCKED, get3, set3
from kinema.constants import (
    BRAKE_FROM,
    LEAST_SPARE,
    LIMIT_STRIDES,
    ROOM_AHEAD,
    ROOM_BEHIND,
    STEP_FIRST,
    STEP_JOINS,
    STEP_JOINS_UNTIL,
    STEP_URGENT,
    STOOD_LONG,
    STRAIN_REACH,
    TRY_AGAIN,
)
from kinema.math import quat, vec, xform
from kinema.rig import Rig

HANGING = 3
"""A foot without ground: it hangs from the body. Beside FREE (swinging), LOCKED (planted), BARRED (out of reach)."""

BY_VELOCITY, TO_A_POINT = 0, 1
"""What a walker goes by."""


class Plan(NamedTuple):
    """What is known before the first frame. L legs. The first twelve are as `footing.Plan` has them."""

    up: Any
    floor: Any
    size: Any
    thighs: Any
    knees: Any
    ankles: Any
    rise: Any
    cos_slope: Any
    sin_slope: Any
    pelvis_half_life: Any
    stretch: Any
    lean: Any
    forward: Any
    """(3,): forward in the character's own space."""
    groups: Any
    """(L,): who swings together."""
    homes: Any
    """(L, 3): where the ball of each foot rests, in the character's own space."""
    hips: Any
    """(L, 3): where each leg starts, in the character's own space."""
    reaches: Any
    """(L,): metres that each leg reaches, at its largest stretch."""
    eases: Any
    """(L,): metres from its start to the ankle at rest."""
    asides: Any
    """(L,): the same across up."""
    spares: Any
    """(L,): metres that each leg reaches farther aside than that, on level ground."""
    crouch: Any
    """(L,): metres that the body comes down for a leg."""
    to_ankles: Any
    """(L, 3): from the ball to the ankle at rest, in the character's own space."""
    ankle_turns: Any
    """(L, 4): how the ankle is turned at rest, in the character's own space."""
    samples: Any
    """(L, FOOT_SAMPLES, 3): from the ball to heel, middle, ball and tip, in the character's own space."""
    points: Any
    """(L,): whether the foot is a mere point."""
    stride: Any
    settle: Any
    lift: Any
    search: Any
    swing_time: Any
    foot_speed: Any
    turn_speed: Any
    half_life: Any


class Memory(NamedTuple):
    """What is kept from frame to frame. N characters, L legs."""

    fresh: Any
    """(N,): whether nothing from before counts."""
    moving: Any
    """(N,): whether anything here changed in the last frame."""
    mode: Any
    """(N,): BY_VELOCITY or TO_A_POINT."""
    asked: Any
    """(N, 4): velocity in the character's own space, metres a second, and turn, radians a second, as asked for."""
    goal: Any
    """(N, 3): the point to walk to, world space."""
    pace: Any
    """(N,): how fast to walk there, metres a second."""
    velocity: Any
    """(N, 4): velocity and turn now, eased."""
    held: Any
    """(N,): share of them that the legs let the body do."""
    places: Any
    """(N, 12): the place at the end of the last frame."""
    group: Any
    """(N,): who swings, or did last."""
    since: Any
    """(N,): seconds since that group left the ground."""
    locked: Any
    """(N, L): FREE, LOCKED, BARRED or HANGING."""
    contacts: Any
    """(N, L, 3, 3): heel, ball and tip, world space. Only balls are kept: a foot is where its ball is."""
    speeds: Any
    """(N, L, 3): velocity of a swinging foot, world space."""
    turns: Any
    """(N, L, 4): the turn from the character's own space to how the foot stands."""
    homes: Any
    """(N, L, 3): where each foot belongs now, world space."""
    drifts: Any
    """(N, L, 3): velocity of those places, world space, metres a second."""
    wanted: Any
    """(N, L, 3): where a foot that leaves now should come down."""
    holds: Any
    """(N, L, 3): the foothold a swinging foot is going to."""
    hold_turns: Any
    """(N, L, 4): and how it is going to stand there."""
    excuses: Any
    """(N, L, 3): how far from where it was wanted that is, for want of ground."""
    failed: Any
    """(N, L): whether a foothold was looked for in vain."""
    tried: Any
    """(N, L, 3): and where."""
    apexes: Any
    """(N, L): height along up over which a swinging foot passes."""
    depart: Any
    """(N, L): share of a swing before which it only rises, to be above what is ahead."""
    arrive: Any
    """(N, L): share that is left when it only comes down any more."""
    takeoff: Any
    """(N, L): height along up from which it left."""
    left: Any
    """(N, L): seconds that are left of its swing."""
    whole: Any
    """(N, L): seconds it takes in all."""
    first: Any
    """(N, L): the first of its rays in this frame; -1 if it has none."""
    hips: Any
    """(N, L, 3): where each leg starts, as the body was last, in the character's own space."""
    level: Any
    """(N,): height of the plane of the feet under the hips, above the character's floor."""
    follow_speed: Any
    ahead: Any
    """(N, L): height above the character's floor that the body goes by, foot by foot."""
    targets: Any
    """(N, L, 3): where the ankle is to be, world space."""
    rotations: Any
    """(N, L, 4): how it is to be turned, world space."""
    swing: Any
    """(N, L): 0 on the ground to 1 in the air."""
    pelvis: Any
    pelvis_speed: Any
    shift: Any
    lean: Any
    moves: Any


def groups_of(rig: Rig) -> tuple[int, ...]:
    """Which group each leg swings in, 0 or 1: along a side they take turns, and the two sides are opposite. That is
    left and right for two legs, diagonal pairs for four, tripods for six, tetrapods for eight.
    """
    places = np.array([rig.standing_world[int(leg.joints[-1]), :3, 3] for leg in rig.legs])
    aside = (places - places.mean(axis=0)) @ np.cross(rig.up, rig.forward)
    ahead = places @ np.array(rig.forward)
    groups = np.zeros(len(places), np.int64)
    for side, legs in enumerate((np.flatnonzero(aside >= 0), np.flatnonzero(aside < 0))):
        groups[legs[np.argsort(-ahead[legs], kind="stable")]] = (np.arange(legs.size) + side) % 2
    return tuple(int(group) for group in groups)


@kernel
def row3(table, leg):
    """A vector of a leg."""
    return (table[leg, 0], table[leg, 1], table[leg, 2])


@kernel
def quat4(array, i, leg):
    return (array[i, leg, 0], array[i, leg, 1], array[i, leg, 2], array[i, leg, 3])


@kernel
def ankle_of(plan, memory, i, leg):
    """Where the ankle of a foot is, standing as it does."""
    foot = get3(memory.contacts[i], leg, BALL)
    return vec.add(foot, quat.rotate(quat4(memory.turns, i, leg), row3(plan.to_ankles, leg)))


# --- when to step ----------------------------------------------------------------------------------------------


@kernel
def lead_of(plan, memory, i, leg):
    """How far ahead of its rest place a foot is put down: as far as the body goes in a swing, up to a stride."""
    return min(vec.length(get3(memory.drifts, i, leg)) * plan.swing_time, plan.stride * plan.size[leg])


@routine
def lead_shift(plan, leg, m, along, lead):
    """How much farther ahead a foot is put than its lead, so that from there to where it leaves the leg has room: one
    that trails far behind the body at rest is put down earlier, one that reaches far ahead later. along: unit.
    """
    zero = like(lead, 0.0)
    way = xform.linear(m, vec.sub(row3(plan.homes, leg), row3(plan.hips, leg)))
    up = xform.linear(m, (plan.up[0], plan.up[1], plan.up[2]))
    outward = vec.dot(vec.unit_or(vec.reject(way, up), (zero, zero, zero)), along)
    if outward < zero:
        return max(lead + plan.spares[leg] * like(lead, ROOM_BEHIND) / outward, zero)
    return min(plan.spares[leg] * like(lead, ROOM_AHEAD) / outward - lead, zero) if outward > zero else zero


@routine
def wanted_at(plan, memory, i, leg, m, seconds):
    """Where a foot that comes down in so many seconds should be. m: the place of the character."""
    drift = get3(memory.drifts, i, leg)
    zero = like(seconds, 0.0)
    along = vec.unit_or(drift, (zero, zero, zero))
    lead = lead_of(plan, memory, i, leg)
    ahead = vec.scale(along, lead + lead_shift(plan, leg, m, along, lead))
    moves = vec.scale(drift, min(seconds, plan.swing_time) * memory.held[i])
    return vec.add(get3(memory.homes, i, leg), vec.add(moves, ahead))


@kernel
def reach_for(plan, leg, share):
    """How far a leg is stretched if of what it can be beyond its rest only a share is used, metres."""
    return plan.eases[leg] + (plan.reaches[leg] - plan.eases[leg]) * share


@routine
def strain(plan, memory, i, leg, m, up):
    """How near a planted leg is to what it can bear, with the character's space at m: 1 is all of it."""
    size = plan.size[leg]
    home = xform.apply(m, row3(plan.homes, leg))
    off = vec.length(vec.reject(vec.sub(get3(memory.contacts[i], leg, BALL), home), up))
    hip = xform.apply(m, get3(memory.hips, i, leg))
    way = vec.sub(hip, get3(memory.targets, i, leg))
    # How far aside the leg reaches once the body has come down as far as it does, beyond how far it does at rest.
    low = vec.dot(way, up) + memory.level[i] - memory.pelvis[i] - plan.crouch[leg]
    reach = reach_for(plan, leg, like(size, STRAIN_REACH))
    square = reach * reach - low * low
    rest = plan.asides[leg]
    spare = (math.sqrt(square) if square > like(size, 0.0) else like(size, 0.0)) - rest
    spare = max(spare, size * like(size, LEAST_SPARE))
    aside = (vec.length(vec.reject(way, up)) - rest) / spare
    return max(off / (size * plan.stride * like(size, LIMIT_STRIDES)), aside)


@routine
def need(plan, memory, i, leg, m, up):
    """How much a planted foot wants to leave: from 1 on it does. Just landed it is 0, and it grows as the body goes."""
    zero = like(plan.stride, 0.0)
    wanted = wanted_at(plan, memory, i, leg, m, zero)
    size = plan.size[leg]
    if memory.locked[i, leg] == BARRED:
        return like(zero, STEP_URGENT)
    if memory.locked[i, leg] != LOCKED:
        return zero
    if memory.failed[i, leg]:
        moved = vec.reject(vec.sub(wanted, get3(memory.tried, i, leg)), up)
        if vec.length(moved) < size * like(zero, TRY_AGAIN):
            return zero
    foot = get3(memory.contacts[i], leg, BALL)
    gap = vec.reject(vec.sub(foot, vec.add(wanted, get3(memory.excuses, i, leg))), up)
    lead = lead_of(plan, memory, i, leg)
    most = max(lead + lead, plan.settle * size)
    wants = vec.length(gap) / most if most > zero else zero
    bears = strain(plan, memory, i, leg, m, up)
    behind = vec.dot(vec.sub(get3(memory.homes, i, leg), foot), get3(memory.drifts, i, leg)) > zero
    return max(wants, bears * like(zero, STEP_URGENT / BRAKE_FROM)) if behind | (bears >= like(zero, 1.0)) else wants


@routine
def beat(plan, memory, i):
    """Seconds from one group's leaving the ground to the next one's: half of what a leg's swing and stand take. 0 if
    nothing moves.
    """
    zero = like(plan.stride, 0.0)
    longest = zero
    for leg in range(plan.size.size):
        speed = vec.length(get3(memory.drifts, i, leg))
        if speed > zero:
            stand = max(lead_of(plan, memory, i, leg) / speed, plan.swing_time * like(zero, 0.5))
            longest = max(longest, plan.swing_time * like(zero, 0.5) + stand)
    return longest


@routine
def next_group(plan, memory, i, m, up):
    """The group that leaves the ground now, all standing; -1 if none does. Sets `moving` while one waits its turn."""
    zero = like(plan.stride, 0.0)
    one = like(plan.stride, 1.0)
    pause = beat(plan, memory, i)
    if pause <= zero:
        pause, memory.since[i] = plan.swing_time, plan.swing_time * like(zero, STOOD_LONG)
    # Who has stood for long sets off early, and does not wait until the body has left its feet behind.
    enough = like(zero, STEP_FIRST) if memory.since[i] > pause + pause else one
    best, most = -1, zero
    for group in range(2):
        wants = zero
        for leg in range(plan.size.size):
            if plan.groups[leg] == group:
                wants = max(wants, need(plan, memory, i, leg, m, up))
        if wants < enough:
            continue
        memory.moving[i] = True
        other = group != memory.group[i]
        in_time = (memory.since[i] >= pause) | (not other) | (wants >= like(zero, STEP_URGENT))
        # Of two that want to go the turn is that of the other one.
        wants += like(zero, STEP_URGENT) if other else zero
        if in_time & (wants > most):
            best, most = group, wants
    return best


@routine
def lift_feet(plan, memory, i, m, up):
    """Let the feet whose turn it is leave the ground: from now on they swing."""
    zero = like(plan.stride, 0.0)
    in_air = False
    for leg in range(plan.size.size):
        in_air |= memory.locked[i, leg] == FREE
    memory.moving[i] |= in_air
    group = memory.group[i]
    if not in_air:
        group = next_group(plan, memory, i, m, up)
        if group < 0:
            return
        memory.group[i], memory.since[i] = group, zero
    elif memory.since[i] > plan.swing_time * like(zero, STEP_JOINS_UNTIL):
        return
    share = like(zero, 1.0) if in_air else like(zero, STEP_JOINS)
    for leg in range(plan.size.size):
        if (plan.groups[leg] == group) & (memory.locked[i, leg] != FREE):
            if need(plan, memory, i, leg, m, up) >= share:
                leave(plan, memory, i, leg, up)


@routine
def leave(plan, memory, i, leg, up):
    """A foot begins to swing, from where it is."""
    zero = like(plan.stride, 0.0)
    memory.locked[i, leg] = FREE
    memory.left[i, leg] = memory.whole[i, leg] = plan.swing_time
    memory.takeoff[i, leg] = vec.dot(get3(memory.contacts[i], leg, BALL), up)
    set3(memory.speeds, i, leg, (zero, zero, zero))
