"""Who steps when: the groups that legs swing in, and the rule by which a group leaves the ground.

Legs of a group swing together, and only while every other group stands; neighbours are never in the same one. A foot
wants to leave once it is far from where it should be; its group goes when it is wanted, in turn and in time with the
other.
"""

from __future__ import annotations

import numpy as np

from kinema._jit import kernel, like, routine
from kinema.behaviours.footing import BALL, BARRED, FREE, LOCKED, get3, set3
from kinema.behaviours.walking import row3, strain
from kinema.constants import (
    BRAKE_FROM,
    ROOM_AHEAD,
    ROOM_BEHIND,
    STEP_FIRST,
    STEP_JOINS,
    STEP_JOINS_UNTIL,
    STEP_URGENT,
    STOOD_LONG,
    TRY_AGAIN,
)
from kinema.math import vec, xform
from kinema.rig import Rig


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
        waits = (plan.groups[leg] == group) & (memory.locked[i, leg] != FREE)
        if waits and need(plan, memory, i, leg, m, up) >= share:
            leave(plan, memory, i, leg, up)


@routine
def leave(plan, memory, i, leg, up):
    """A foot begins to swing, from where it is."""
    zero = like(plan.stride, 0.0)
    memory.locked[i, leg] = FREE
    memory.left[i, leg] = memory.whole[i, leg] = plan.swing_time
    memory.takeoff[i, leg] = vec.dot(get3(memory.contacts[i], leg, BALL), up)
    set3(memory.speeds, i, leg, (zero, zero, zero))
