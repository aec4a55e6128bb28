"""What `Locomotion` knows before the first frame, `Plan`, what it keeps from frame to frame, `Memory`; what both say
of a leg.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema._jit import kernel, like, routine
from kinema.behaviours.footing import BALL, get3
from kinema.constants import LEAST_SPARE, LIMIT_STRIDES, STRAIN_REACH
from kinema.math import quat, vec, xform

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


@kernel
def row3(table, leg):
    """A vector of a leg."""
    return (table[leg, 0], table[leg, 1], table[leg, 2])


@kernel
def quat4(array, i, leg):
    return (array[i, leg, 0], array[i, leg, 1], array[i, leg, 2], array[i, leg, 3])


@kernel
def set4(array, i, leg, q):
    array[i, leg, 0], array[i, leg, 1], array[i, leg, 2], array[i, leg, 3] = q[0], q[1], q[2], q[3]


@kernel
def turn_of(m):
    """The rotation in a place."""
    frame = xform.axes(m)
    return quat.from_columns(vec.scale(frame[0], xform.handedness(frame)), frame[1], frame[2])


@kernel
def quat_row(table, leg):
    return (table[leg, 0], table[leg, 1], table[leg, 2], table[leg, 3])


@kernel
def ankle_of(plan, memory, i, leg):
    """Where the ankle of a foot is, standing as it does."""
    foot = get3(memory.contacts[i], leg, BALL)
    return vec.add(foot, quat.rotate(quat4(memory.turns, i, leg), row3(plan.to_ankles, leg)))


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
