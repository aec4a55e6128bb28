"""Compensating angles: a chain that walks its end to the target over frames, and backs away from what is too near.

Bones from tip to root, a the way from a bone's start to its end, b from its start to the target. Where b is shorter
than a the bone cannot help by pointing there: its compensating angle grows by (10 degrees + angle between a and b)
(|a|/|b| - 1), and relaxes by half each step. r is the sum of the compensating angles from this bone to the tip,
weighted 1, 2, 3 and so on; the bone turns about a x b by an amount that grows towards the tip, less r, eased by the
time step.

Different from its source: angles are bounded, so a target on a joint does not spin the chain; where a and b are
parallel the bone turns about an axis that is always the same; bones keep their length however many steps are made;
and since pulling and backing away would come to rest at a few hundredths of the chain's length from the target, the
last stretch is taken over, gradually, by turns that bring the end itself there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import notices, validation
from kinema._jit import batch, kernel, like
from kinema.constants import (
    COMPENSATION_BASE,
    COMPENSATION_LARGEST,
    COMPENSATION_RELAX,
    HOMING_ZONE,
    THREADS_FROM_ITERATIVE,
    TINY,
    TOLERANCE,
    TURN_RATE,
)
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.solvers.chain import bone_rotations, chain_joints, in_space


@kernel
def growth(angle, length, distance):
    """How much a bone's compensating angle grows in a step, radians."""
    zero = like(angle, 0.0)
    if distance >= length:
        return zero
    largest = like(angle, COMPENSATION_LARGEST)
    ratio = length / distance - like(angle, 1.0) if distance > length * like(angle, TINY) else largest
    grown = (like(angle, COMPENSATION_BASE) + angle) * ratio
    return grown if grown < largest else largest


@kernel
def turn_rest(joints, count, chain, i, q):
    """Turn everything after joint i about it."""
    start = joint_of(joints, count, chain, i)
    for j in range(i + 1, count):
        way = vec.sub(joint_of(joints, count, chain, j), start)
        set_joint(joints, count, chain, j, vec.add(start, quat.rotate(q, way)))


@kernel
def pointing(way, fallback):
    """A way at length 1. Scaled first: the square of a very small or very large one would leave float32's range."""
    size = vec.span(way)
    known = size > like(size, 0.0)
    return vec.unit_or(vec.scale(way, like(size, 1.0) / (size if known else like(size, 1.0))), fallback)


@kernel
def step(joints, count, chain, target, angles, rate, whole):
    """One step of one chain, in place. `angles` holds its compensating angles, `rate` how much of a turn is made."""
    zero = like(rate, 0.0)
    one = like(rate, 1.0)
    largest = like(rate, COMPENSATION_LARGEST)
    bones = count - 1
    miss = vec.length(vec.sub(joint_of(joints, count, chain, bones), target))
    zone = whole * like(rate, HOMING_ZONE)
    homing = one - miss / zone if miss < zone else zero
    for i in range(bones - 1, -1, -1):
        start = joint_of(joints, count, chain, i)
        a = vec.sub(joint_of(joints, count, chain, i + 1), start)
        b = vec.sub(target, start)
        along = pointing(a, (zero, one, zero))
        towards = pointing(b, along)
        across = vec.cross(along, towards)
        angle = math.atan2(vec.length(across), vec.dot(along, towards))
        at = chain * bones + i
        grown = angles[at] + growth(angle, vec.length(a), vec.length(b))
        angles[at] = min(grown, largest) * like(rate, COMPENSATION_RELAX)
        compensation = zero
        weight = one
        for j in range(i, bones):
            compensation += weight * angles[chain * bones + j]
            weight += one
        share = like(rate, i + 1) / like(rate, bones)
        turn = min(max(angle * share - compensation, -largest), largest) * rate * (one - homing)
        axis = vec.unit_or(across, vec.hinge_of(along))
        turn_rest(joints, count, chain, i, quat.from_axis_angle(axis, turn))
        to_end = pointing(vec.sub(joint_of(joints, count, chain, bones), start), along)
        home = quat.between(to_end, towards, vec.hinge_of(to_end))
        turn_rest(joints, count, chain, i, quat.part(home, rate * homing))


@kernel
def restore(joints, source, count, chain):
    """Put every bone back to its length in the source: many turns in a row let rounding creep in."""
    before = joint_of(source, count, chain, 0)
    here = before
    moved = joint_of(joints, count, chain, 0)
    for j in range(1, count):
        old = joint_of(source, count, chain, j)
        length = vec.length(vec.sub(old, before))
        way = vec.sub(joint_of(joints, count, chain, j), moved)
        moved = joint_of(joints, count, chain, j)
        size = vec.span(way)
        way = vec.scale(way, like(size, 1.0) / size) if size > like(size, 0.0) else way
        here = vec.reach(here, vec.add(here, way), length) if size > like(size, 0.0) else here
        set_joint(joints, count, chain, j, here)
        before = old


@batch
def _step_range(first, last, joints, source, count, targets, angles, steps, rate, errors, lengths):
    for chain in range(first, last):
        target = (targets[3 * chain], targets[3 * chain + 1], targets[3 * chain + 2])
        whole = like(rate, 0.0)
        for j in range(count - 1):
            whole += vec.length(vec.sub(joint_of(source, count, chain, j + 1), joint_of(source, count, chain, j)))
        for _ in range(steps):
            step(joints, count, chain, target, angles, rate, whole)
        if steps > 0:
            restore(joints, source, count, chain)
        errors[chain] = vec.length(vec.sub(joint_of(joints, count, chain, count - 1), target))
        lengths[chain] = whole


class CompensatingResult(NamedTuple):
    """What `compensating` returns. ... is the batch's shape, D is 2 or 3 as in the input."""

    joints: Any
    """(..., N, D): every joint after the steps."""
    error: Any
    """(...): distance from the last joint to the target."""
    iterations: Any
    """(...): steps made."""
    reached: Any
    """(...): whether the error is within tolerance."""
    state: Any
    """(..., N-1): the compensating angles, radians; hand it back in with the next frame."""

    def rotations(self, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Any:
        """(..., N-1, 4): the smallest turn from axis to each bone; (..., N-1) signed angles for a planar chain."""
        return bone_rotations(self.joints, axis)


def compensating(
    joints: ArrayLike,
    target: ArrayLike,
    state: ArrayLike | None = None,
    steps: int = 10,
    dt: float = 1 / 60,
    tolerance: float = TOLERANCE,
) -> CompensatingResult:
    """Move a chain some steps towards the target; call it every frame with the joints and the state it gave back.

    joints: (..., N, 2) or (..., N, 3), root to tip, 2 to 64. target: (..., 2 or 3). state: (..., N-1), what the frame
    before returned, or None to begin. steps: how many steps make up the frame. dt: seconds that the frame takes.

    It moves like a creature, not like a machine: tip first, in a curve, backing away from a target that is too near.
    For the exact pose at once there are `fabrik` and `ccd`.
    """
    dtype = validation.precision(joints, target, state)
    source, planar = chain_joints(joints, dtype)
    validation.check_finite("joints", source)
    count = source.shape[-2]
    named = {"joints": source, "target": in_space(validation.vectors("target", target, 2 if planar else 3, dtype))}
    if state is not None:
        named["state"] = validation.vectors("state", state, count - 1, dtype)
        check_state(named["state"])
    shape = validation.batch_shape(named, {"joints": 2})
    chains = math.prod(shape)
    before = validation.flat(source, 2, shape)
    moved = before.copy()
    angles = (
        validation.flat(named["state"], 1, shape).copy() if state is not None else np.zeros(chains * (count - 1), dtype)
    )
    steps = validation.whole("steps", steps, 0)
    seconds = validation.number("dt", dt, 0.0) / max(steps, 1)
    rate = dtype(1.0 - math.exp(-TURN_RATE * seconds))
    error, length = np.empty(chains, dtype), np.empty(chains, dtype)
    targets = validation.flat(named["target"], 1, shape)
    validation.in_chunks(
        lambda first, last: _step_range(first, last, moved, before, count, targets, angles, steps, rate, error, length),
        chains,
        THREADS_FROM_ITERATIVE,
        1,
    )
    reached = error <= dtype(validation.number("tolerance", tolerance, 0.0)) * length
    flags = 0 if length.all() else notices.DEGENERATE
    if flags:
        notices.report("compensating", flags)
    result = moved.reshape(*shape, count, 3)
    return CompensatingResult(
        np.ascontiguousarray(result[..., :2]) if planar else result,
        error.reshape(shape)[()],
        np.full(shape, steps)[()],
        reached.reshape(shape)[()],
        angles.reshape(*shape, count - 1),
    )


def check_state(state: Any) -> None:
    """Compensating angles are bounded: a state that is not ours is refused, not obeyed."""
    wrong = (state < 0) | (state > COMPENSATION_LARGEST)
    if wrong.any():
        place, at = validation.first("state", wrong)
        raise InputError(f"{place} is {state[at]}; allowed are the angles a call returned, from 0 to pi")


@kernel
def joint_of(flat, joints, chain, j):
    at = (chain * joints + j) * 3
    return (flat[at], flat[at + 1], flat[at + 2])


@kernel
def set_joint(flat, joints, chain, j, point):
    at = (chain * joints + j) * 3
    flat[at] = point[0]
    flat[at + 1] = point[1]
    flat[at + 2] = point[2]
