"""Compensating angles: a chain that moves its end to the target over frames, and backs away from what is too near.

For each bone from tip to root, a is the vector from its start to its end and b the vector from its start to the target.
Where b is shorter than a, pointing at the target does not help: the bone's compensating angle grows by (growth + angle
between a and b) (|a|/|b| - 1) and relaxes each step. The bone then rotates about a x b by its share of the angle, which
is larger towards the tip, less the compensating angles from this bone to the tip, weighted 1, 2, 3 and so on.

Different from its source: angles are bounded, so a target on a joint does not spin the chain; where a and b are
parallel the bone rotates about a fixed axis; bones keep their length however many steps are made; the end has a top
speed, if you give one; and since pulling and backing away would come to rest a few hundredths of the chain's length
from the target, rotations that bring the end itself there take over near it (homing).

Homing rotates all bones together, each by w_i = (b_i x f) / k_i, where b_i is the bone and f is a force at the end.
The force closes the gap r to the target, damped:

    (sum of (|b_i|^2 I - b_i b_i^T) / k_i + I) f = r

A bone takes what comes after it along without rotating it, so all bends of a crumpled chain straighten equally fast.
The stiffness k_i = |b_i| |r| is that of a taut bone against the pull. With it a chain arrives at a target near full
reach as fast as at others, no step overshoots, and no bone rotates by more than a radian times the share of the gap
that a step closes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record
from kinema.compile.threads import in_chunks
from kinema.constants import THREADS_FROM_ITERATIVE, TINY, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.math.arrays import Precision
from kinema.math.rows import load3, store3
from kinema.solvers.chain.chain import chain_joints, in_space
from kinema.solvers.chain.gauss_newton import add_free, solve_symmetric
from kinema.solvers.limb.bone_rotations import bone_rotations
from kinema.validation import Reals

LARGEST = math.pi
"""Radians: a compensating angle never grows past 180 degrees, however near the target is."""

HOMING_SPEED = 2.0
"""How fast the end is brought home, as a multiple of the rate at which bones rotate. With 1, long chains would arrive
later than by pointing at the target alone."""

LEAST_STIFFNESS = 1e-6
"""Stiffness of a bone while the end is brought home, beside that of a taut chain, in squared chain lengths: keeps the
division finite at the target, and is negligible elsewhere."""

SPEED_BISECTIONS = 16
"""Steps of the search for how far a chain goes when its end has a top speed: to 1e-5 of the way."""

COMPENSATION = Record(growth=REAL, relaxation=REAL, rate=REAL, homing=REAL, homing_rate=REAL, longest_step=REAL)
"""`Compensation` for a frame. rate: share of a rotation made in a step. homing_rate: share of the gap closed in a step.
longest_step: metres the end may move."""


@dataclass(frozen=True, kw_only=True)
class Compensation:
    """How a chain of compensating angles moves.

    Examples
    --------
    >>> settings = km.Compensation(max_speed=2.0)
    """

    growth: float = math.radians(10.0)
    """Radians that a bone which is too near adds to its compensating angle, besides the angle to the target."""
    relaxation: float = 0.5
    """Share of a compensating angle that is left after a step, 0 to 1."""
    rotation_rate: float = 8.0
    """How fast a bone at the tip closes its angle to the target, per second."""
    homing: float = 0.6
    """Distance from the target, in chain lengths, within which the end itself is brought home, more the nearer it is.
    With 0 the chain comes to rest 0.01 to 0.4 of its length away, farther the fewer bones it has."""
    max_speed: float = math.inf
    """Top speed of the end, metres a second."""

    def __post_init__(self) -> None:
        validation.number("growth", self.growth, 0.0, math.pi)
        validation.number("relaxation", self.relaxation, 0.0, 1.0)
        validation.number("rotation_rate", self.rotation_rate, 0.0)
        validation.number("homing", self.homing, 0.0)
        if self.max_speed != math.inf:
            validation.number("max_speed", self.max_speed, 0.0)

    def record(self, dt: float, steps: int, dtype: Precision) -> np.record:
        """Return these settings for a frame of dt seconds in so many steps."""
        seconds = dt / max(steps, 1)
        farthest = math.inf if self.max_speed == math.inf else self.max_speed * dt
        return COMPENSATION.of(
            dtype,
            growth=self.growth,
            relaxation=self.relaxation,
            rate=1.0 - math.exp(-self.rotation_rate * seconds),
            homing=self.homing,
            homing_rate=1.0 - math.exp(-HOMING_SPEED * self.rotation_rate * seconds),
            longest_step=min(farthest, float(np.finfo(dtype).max)),
        )


# --- one chain --------------------------------------------------------------------------------------------------------


@kernel
def grown_angle(settings, angle, before, length, distance):
    """A bone's compensating angle after a step, before it relaxes."""
    largest = like(angle, LARGEST)
    if distance >= length:
        return before
    ratio = length / distance - like(angle, 1.0) if distance > length * like(angle, TINY) else largest
    return min(before + min((settings.growth + angle) * ratio, largest), largest)


@kernel
def rotate_rest(joints, i, q):
    """Rotate everything after joint i about it."""
    start = load3(joints[i])
    for j in range(i + 1, len(joints)):
        store3(joints[j], vec.add(start, quat.rotate(q, vec.sub(load3(joints[j]), start))))


@kernel
def pointing(way, fallback):
    """A vector at length 1. Scaled first: the square of a very small or very large one would leave float32's range."""
    size = vec.span(way)
    known = size > like(size, 0.0)
    return vec.unit_or(vec.scale(way, like(size, 1.0) / (size if known else like(size, 1.0))), fallback)


@kernel
def step_bone(settings, joints, angles, target, i, homing):
    """Rotate one bone, and everything after it, less the nearer the end is brought home."""
    zero, one, largest = like(homing, 0.0), like(homing, 1.0), like(homing, LARGEST)
    bones = len(angles)
    start = load3(joints[i])
    a, b = vec.sub(load3(joints[i + 1]), start), vec.sub(target, start)
    along = pointing(a, (zero, one, zero))
    towards = pointing(b, along)
    across = vec.cross(along, towards)
    angle = math.atan2(vec.length(across), vec.dot(along, towards))
    angles[i] = grown_angle(settings, angle, angles[i], vec.length(a), vec.length(b)) * settings.relaxation
    compensation, weight = zero, one
    for j in range(i, bones):
        compensation += weight * angles[j]
        weight += one
    share = like(homing, i + 1) / like(homing, bones)
    rotation = min(max(angle * share - compensation, -largest), largest) * settings.rate * (one - homing)
    rotate_rest(joints, i, quat.from_axis_angle(vec.unit_or(across, vec.hinge_of(along)), rotation))


@kernel
def part_of(v, whole):
    """A vector in chain lengths. Divided, not multiplied by the inverse, which overflows for a very short chain."""
    return v[0] / whole, v[1] / whole, v[2] / whole


@kernel
def stiffness(bone, gap):
    """The stiffness of a bone while the end is brought home. gap: from the end to the target."""
    return vec.length(bone) * vec.length(gap) + like(bone[0], LEAST_STIFFNESS)


@kernel
def moment_of(bone, force, folded):
    """The moment of a force on a bone. In a folded chain, a bone that points away gets up to as much as one across:
    otherwise a chain that is folded on the line to its target would balance there. folded: 0 if straight, 1 if closed.
    """
    moment = vec.cross(bone, force)
    zero = like(bone[0], 0.0)
    if vec.dot(bone, force) >= zero:
        return moment
    most, size = vec.length(bone) * vec.length(force), vec.length(moment)
    axis = pointing(moment, vec.hinge_of(pointing(bone, (zero, like(zero, 1.0), zero))))
    return vec.scale(axis, size + (most - size) * folded)


@kernel
def homing_force(joints, gap, whole):
    """The force at the end that closes the gap to the target, in chain lengths."""
    zero, one = like(whole, 0.0), like(whole, 1.0)
    diagonal, off = (one, one, one), (zero, zero, zero)
    for i in range(len(joints) - 1):
        b = part_of(vec.sub(load3(joints[i + 1]), load3(joints[i])), whole)
        scaled = vec.scale(b, one / math.sqrt(stiffness(b, gap)))
        diagonal, off = add_free(diagonal, off, scaled)
    return solve_symmetric(diagonal, off, gap, one)


@kernel
def bring_home(joints, target, whole, share):
    """Rotate all bones so that the end goes a share of the way to the target."""
    last = len(joints) - 1
    gap = part_of(vec.sub(target, load3(joints[last])), whole)
    force = vec.scale(homing_force(joints, gap, whole), share)
    start, here = load3(joints[0]), load3(joints[0])
    extent = vec.length(part_of(vec.sub(load3(joints[last]), start), whole))
    folded = max(like(whole, 1.0) - extent, like(whole, 0.0))
    for i in range(last):
        end = load3(joints[i + 1])
        bone = vec.sub(end, start)
        b = part_of(bone, whole)
        by = vec.scale(moment_of(b, force, folded), like(share, 1.0) / stiffness(b, gap))
        here = vec.add(here, quat.rotate(quat.exp(by), bone))
        store3(joints[i + 1], here)
        start = end


@kernel
def step_chain(settings, joints, angles, target, whole):
    """One step of one chain, in place. whole: its length.

    Near the target, pulling and backing away fade out with the square of the distance, faster than homing slows down:
    what is left of them cannot hold the end away.
    """
    zero, one = like(whole, 0.0), like(whole, 1.0)
    bones = len(angles)
    miss = vec.length(vec.sub(load3(joints[bones]), target))
    zone = whole * settings.homing
    homing = one - (miss / zone) * (miss / zone) if miss < zone else zero
    for i in range(bones - 1, -1, -1):
        step_bone(settings, joints, angles, target, i, homing)
    if homing > zero:
        bring_home(joints, target, whole, settings.homing_rate * homing)


@kernel
def part_way(source, moved, joints, share):
    """A chain a share of the way from one pose to another: every bone rotates by that share, and keeps its length."""
    one, zero = like(share, 1.0), like(share, 0.0)
    here = load3(source[0])
    store3(joints[0], here)
    for j in range(1, len(source)):
        bone = vec.sub(load3(source[j]), load3(source[j - 1]))
        before = pointing(bone, (zero, one, zero))
        after = pointing(vec.sub(load3(moved[j]), load3(moved[j - 1])), before)
        if share < one:
            after = quat.rotate(quat.part(quat.between(before, after, vec.hinge_of(before)), share), before)
        here = vec.reach(here, vec.add(here, after), vec.length(bone))
        store3(joints[j], here)


@kernel
def finish_chain(settings, source, moved, joints):
    """Write the chain after its steps, with the lengths of the source: rounding creeps in over many rotations.

    If its end would move farther than it may, the chain goes only part of the way, found by bisection.
    """
    last = len(source) - 1
    start = load3(source[last])
    low, share = like(settings.longest_step, 0.0), like(settings.longest_step, 1.0)
    part_way(source, moved, joints, share)
    if vec.length(vec.sub(load3(joints[last]), start)) <= settings.longest_step:
        return
    high = share
    for _ in range(SPEED_BISECTIONS):
        share = (low + high) * like(share, 0.5)
        part_way(source, moved, joints, share)
        if vec.length(vec.sub(load3(joints[last]), start)) > settings.longest_step:
            high = share
        else:
            low = share
    part_way(source, moved, joints, low)


# --- many chains ------------------------------------------------------------------------------------------------------


class CompensatingChains(NamedTuple):
    """A batch: source, moved and joints (chains, N, 3), angles (chains, N-1), targets (chains, 3), errors and lengths
    (chains,).
    """

    source: Any
    moved: Any
    joints: Any
    angles: Any
    targets: Any
    errors: Any
    lengths: Any


@batch
def _step_range(first, last, chains, settings, steps):
    for k in range(first, last):
        source, moved, joints, target = chains.source[k], chains.moved[k], chains.joints[k], load3(chains.targets[k])
        whole = like(target[0], 0.0)
        for j in range(1, len(source)):
            whole += vec.length(vec.sub(load3(source[j]), load3(source[j - 1])))
        for _ in range(steps):
            step_chain(settings, moved, chains.angles[k], target, whole)
        if steps > 0:
            finish_chain(settings, source, moved, joints)
        chains.errors[k] = vec.length(vec.sub(load3(joints[len(source) - 1]), target))
        chains.lengths[k] = whole


class CompensatingResult(NamedTuple):
    """What `compensating` returns. ... is the batch's shape, D is 2 or 3 as in the input."""

    joints: NDArray[Any]
    """(..., N, D): every joint after the steps."""
    error: NDArray[Any]
    """(...): distance from the last joint to the target."""
    iterations: NDArray[np.int64]
    """(...): steps made."""
    reached: NDArray[np.bool_]
    """(...): whether the error is within tolerance."""
    state: NDArray[Any]
    """(..., N-1): the compensating angles, radians; pass it in with the next frame."""

    def rotations(self, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Reals:
        """World rotation of each bone, the smallest one from `axis`: (..., N-1, 4).

        A planar chain gives signed angles (..., N-1), radians.
        """
        return bone_rotations(self.joints, axis)


def compensating(
    joints: ArrayLike,
    target: ArrayLike,
    state: ArrayLike | None = None,
    steps: int = 10,
    dt: float = 1 / 60,
    tolerance: float = TOLERANCE,
    settings: Compensation | None = None,
) -> CompensatingResult:
    """Move a chain some steps towards the target. Call it every frame with the joints and the state that it returned.

    It moves like a creature, not like a machine: tip first, in a curve, backing away from a target that is too near.
    For the exact pose at once use `fabrik` or `ccd`.

    Parameters
    ----------
    joints
        (..., N, 2) or (..., N, 3), root to tip, 2 to 64 joints.
    target
        (..., 2) or (..., 3), as the joints.
    state
        (..., N-1), what the previous frame returned; None to begin.
    steps
        Number of steps that make up the frame.
    dt
        Duration of the frame, seconds.
    tolerance
        Distance from the target that counts as reached, as a fraction of the chain's length.
    settings
        How the chain moves; None for `Compensation()`.

    Returns
    -------
    CompensatingResult
        The joints after the frame, the error, and the state for the next frame.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite, or `steps` or `dt` is out of range.

    Examples
    --------
    >>> chain = km.compensating([(0, 0), (1, 0), (2, 0)], (1, 1), settings=km.Compensation(max_speed=2.0))
    >>> chain = km.compensating(chain.joints, (1, 1), chain.state)
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
    steps = validation.whole("steps", steps, 0)
    chains = _chains(named, shape, count, dtype)
    record = (settings or Compensation()).record(validation.number("dt", dt, 0.0), steps, dtype)
    in_chunks(_step_range, len(chains.source), THREADS_FROM_ITERATIVE, chains, record, steps)
    reached = chains.errors <= dtype(validation.number("tolerance", tolerance, 0.0)) * chains.lengths
    if not chains.lengths.all():
        notices.report("compensating", notices.DEGENERATE)
    moved = chains.joints.reshape(*shape, count, 3)
    return CompensatingResult(
        np.ascontiguousarray(moved[..., :2]) if planar else moved,
        chains.errors.reshape(shape)[()],
        np.full(shape, steps)[()],
        reached.reshape(shape)[()],
        chains.angles.reshape(*shape, count - 1),
    )


def _chains(named: dict[str, Any], shape: tuple[int, ...], count: int, dtype: Any) -> CompensatingChains:
    """The batch as kernels take it."""
    size = math.prod(shape)
    source = validation.flat(named["joints"], 2, shape).reshape(size, count, 3)
    angles = np.zeros((size, count - 1), dtype)
    if "state" in named:
        angles[:] = validation.flat(named["state"], 1, shape).reshape(size, count - 1)
    targets = validation.flat(named["target"], 1, shape).reshape(size, 3)
    moved, joints = source.copy(), source.copy()
    return CompensatingChains(source, moved, joints, angles, targets, np.empty(size, dtype), np.empty(size, dtype))


def check_state(state: NDArray[Any]) -> None:
    """Raise for compensating angles that no call returned: they are bounded."""
    wrong = (state < 0) | (state > LARGEST)
    if wrong.any():
        name, at = validation.first("state", wrong)
        raise InputError(f"{name} is {state[at]}; allowed are the angles a call returned, from 0 to pi")
