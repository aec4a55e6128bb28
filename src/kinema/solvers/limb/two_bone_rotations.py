"""Two bones of an animated skeleton: the two rotations that move the tip to the target and keep the animated twist.

The result is a correction for the start joint and one for the middle joint, each in the joint's own space: the new
local rotation is `old * correction`. The steps follow ozz-animation's two-bone job; the mathematics is our own:

1. bend the middle joint about its own hinge axis until the distance from start to tip is that from start to target;
2. rotate the start joint by the smallest rotation that brings the tip onto the line to the target;
3. swing it about that line until the middle joint points towards the pole.

All steps are computed in the joints' own spaces from their world matrices, so the result does not depend on a moved,
rotated, uniformly scaled or mirrored parent.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.compile.threads import in_chunks
from kinema.constants import FARTHEST, POLE_FADE_HINTED, STRAIGHT, THREADS_FROM_ITERATIVE, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load_matrix, store4
from kinema.solvers.limb.two_bone import clamped, eased, is_beyond

NO_AXIS, ALWAYS, IF_STRAIGHT = 0, 1, 2

CORRECTION = Record(
    start=(REAL, 4),
    mid=(REAL, 4),
    error=REAL,  # distance from the end to the target
    reach=REAL,  # distance from start to target as a share of the limb's length
    pole_sine=REAL,  # of the angle between the pole and the line
    length=REAL,
    trouble=np.int64,  # flags of `notices`
)
"""What is found for a limb; `start` and `mid` are the corrections of its joints."""


class LimbMatrices(NamedTuple):
    """World matrices of a limb's joints, as four columns each."""

    start: Any
    mid: Any
    end: Any


class LimbBend(NamedTuple):
    """How a limb bends."""

    axis: Any
    """The middle joint's hinge axis, in its own space."""
    use_axis: Any
    """When to use that axis: NO_AXIS, ALWAYS or IF_STRAIGHT."""
    pole: Any
    """A point that the middle joint swings towards, world space."""
    has_pole: Any


class LimbCorrections(NamedTuple):
    """What `solve` finds."""

    start: Any
    mid: Any
    end: Any
    """Where the end is at full weight."""
    reach: Any
    """The wanted distance as a share of the reach."""
    pole_sine: Any
    """The sine of the angle between the pole and the line to the target."""


@kernel
def without_pole(axis, use_axis):
    """A limb that bends about an axis, in the plane of its animation."""
    zero = like(axis[0], 0.0)
    return LimbBend(axis, use_axis, (zero, zero, zero), False)


@kernel
def hinge_axis(given, use_axis, to_start, to_end, to_pole):
    """The bend axis of the middle joint, in its own space: given, else its current bend, else across the pole.

    use_axis: when to use the given one: NO_AXIS, ALWAYS, or IF_STRAIGHT, where the current bend comes first. A positive
    rotation about the axis bends the limb. to_start, to_end: from the middle joint. to_pole: the direction in which the
    middle joint should move. All are in its own space.
    """
    if use_axis == ALWAYS:
        return given
    line = vec.unit_or(vec.sub(to_end, to_start), vec.unit_or(to_end, given))
    bend = vec.cross(to_end, to_start)
    size = vec.length(to_start) * vec.length(to_end) * like(given[0], STRAIGHT)
    towards = vec.unit_or(vec.reject(to_pole, line), vec.unit_side(line))
    straight = vec.dot(bend, bend) <= size * size
    across = vec.select(use_axis == IF_STRAIGHT, given, vec.cross(towards, line))
    return vec.unit_or(vec.select(straight, across, bend), vec.hinge_of(line))


@kernel
def bend_to(to_start, to_end, axis, distance):
    """The rotation of the middle joint about its axis that brings the end to a distance from the start.

    With vectors a and b to start and end, |b' - a| = d means a . b' = (|a|^2 + |b|^2 - d^2) / 2. Only the parts
    perpendicular to the axis rotate, so this gives the cosine of their angle; the parts along the axis are constant.
    """
    one = like(distance, 1.0)
    zero = like(distance, 0.0)
    half = like(distance, 0.5)
    a_along = vec.dot(to_start, axis)
    b_along = vec.dot(to_end, axis)
    a = vec.sub(to_start, vec.scale(axis, a_along))
    b = vec.sub(to_end, vec.scale(axis, b_along))
    size = math.sqrt(vec.dot(a, a) * vec.dot(b, b))
    if size <= zero:
        return (zero, zero, zero, one)
    squares = vec.dot(to_start, to_start) + vec.dot(to_end, to_end) - distance * distance
    cosine = (half * squares - a_along * b_along) / size
    cosine = min(max(cosine, -one), one)
    sine = math.sqrt((one - cosine) * (one + cosine))
    now_cosine = vec.dot(a, b) / size
    now_sine = vec.dot(axis, vec.cross(a, b)) / size
    # Measured from a, a straight limb is at pi. A positive bend reduces the angle, so the end is at minus the angle.
    by_cosine = cosine * now_cosine - sine * now_sine
    by_sine = -sine * now_cosine - cosine * now_sine
    return quat.unit(quat.from_cos_sin(axis, by_cosine, by_sine))


@kernel
def swing(line, mid, to_pole, zone):
    """The rotation about a unit line that brings the middle joint to the pole's side. It fades out near the line."""
    one = like(line[0], 1.0)
    zero = like(line[0], 0.0)
    mid_aside = vec.reject(mid, line)
    pole_aside = vec.reject(to_pole, line)
    mid_size = vec.length(mid_aside)
    pole_size = vec.length(pole_aside)
    if mid_size <= zero or pole_size <= zero:
        return (zero, zero, zero, one)
    cosine = vec.dot(mid_aside, pole_aside) / (mid_size * pole_size)
    sine = vec.dot(line, vec.cross(mid_aside, pole_aside)) / (mid_size * pole_size)
    # Exactly opposite, the sign of the sine is noise, and the direction would change from frame to frame.
    sine = abs(sine) if abs(sine) < like(one, STRAIGHT) else sine
    rotation = quat.unit(quat.from_cos_sin(line, cosine, sine))
    edge_size = vec.length(to_pole) * zone
    if pole_size < edge_size:
        share = pole_size / edge_size
        x, y, z, w = rotation
        rotation = quat.unit((x * share, y * share, z * share, one + (w - one) * share))
    return rotation


@kernel
def solve(limb, target, bend, soften, weight):
    """Solve one limb, `LimbMatrices`, that bends as `LimbBend` says. Returns `LimbCorrections`."""
    start, mid, end = limb.start, limb.mid, limb.end
    one = like(soften, 1.0)
    zero = like(soften, 0.0)
    start_frame = xform.axes(start)
    mid_frame = xform.axes(mid)
    upper = vec.sub(mid[3], start[3])
    lower = vec.sub(end[3], mid[3])
    gap = vec.sub(target, start[3])
    size = vec.length(upper) + vec.length(lower)
    reach = vec.length(gap) / (size if size > zero else one)
    # From here on in units of the limb: products of four lengths could overflow float32.
    unit = vec.span(upper) + vec.span(lower)
    unit = unit if unit > zero else one
    upper, lower = vec.scale(upper, one / unit), vec.scale(lower, one / unit)
    length1, length2 = vec.length(upper), vec.length(lower)
    whole = length1 + length2
    gap_size = vec.span(gap)
    line_world = vec.unit_or(vec.scale(gap, one / (gap_size if gap_size > zero else one)), (zero, zero, zero))
    distance = min(reach, like(one, FARTHEST)) * whole
    asked = distance
    if soften < one:
        asked = eased(distance, whole, abs(length1 - length2), soften)
    asked = clamped(asked, whole, abs(length1 - length2))

    to_pole = vec.sub(bend.pole, start[3]) if bend.has_pole else (zero, zero, zero)
    pole_span = vec.span(to_pole)
    to_pole = vec.scale(to_pole, one / (pole_span if pole_span > zero else one))
    to_start = xform.into(mid_frame, vec.scale(upper, -one))
    to_end = xform.into(mid_frame, lower)
    hinge = hinge_axis(bend.axis, bend.use_axis, to_start, to_end, xform.into(mid_frame, to_pole))
    mid_correction = bend_to(to_start, to_end, hinge, asked)
    bent = quat.rotate(mid_correction, to_end)
    end_now = vec.add(upper, xform.linear((mid_frame[0], mid_frame[1], mid_frame[2]), bent))

    mid_local = xform.into(start_frame, upper)
    end_local = xform.into(start_frame, end_now)
    line = vec.unit_or(xform.into(start_frame, line_world), vec.unit_or(end_local, (zero, one, zero)))
    along = vec.unit_or(end_local, line)
    aim = quat.between(along, line, vec.hinge_of(along))
    start_correction = aim
    pole_sine = one
    if bend.has_pole:
        pole_local = xform.into(start_frame, to_pole)
        pole_size = vec.length(pole_local)
        pole_sine = vec.length(vec.reject(pole_local, line)) / (pole_size if pole_size > zero else one)
        swung = swing(line, quat.rotate(aim, mid_local), pole_local, like(one, POLE_FADE_HINTED))
        start_correction = quat.unit(quat.mul(swung, aim))
    to_tip = xform.linear(start_frame, quat.rotate(start_correction, end_local))
    reached_end = vec.add(start[3], vec.scale(to_tip, unit))
    start_correction = quat.part(start_correction, weight)
    mid_correction = quat.part(mid_correction, weight)
    return LimbCorrections(start_correction, mid_correction, reached_end, reach, pole_sine)


class LimbRows(NamedTuple):
    """The limbs of a call: world (limbs, 3, 12), target, axis and pole (limbs, 3), weight (limbs, 1)."""

    world: Any
    target: Any
    axis: Any
    pole: Any
    weight: Any


@batch
def _solve_range(first, last, limbs, use_axis, has_pole, soften, out):
    """Solve limbs first to last. out: `CORRECTION` of each."""
    for i in range(first, last):
        world = limbs.world[i]
        limb = LimbMatrices(load_matrix(world[0]), load_matrix(world[1]), load_matrix(world[2]))
        target = load3(limbs.target[i])
        bend = LimbBend(load3(limbs.axis[i]), use_axis, load3(limbs.pole[i]), has_pole)
        found = solve(limb, target, bend, soften, limbs.weight[i, 0])
        store4(out[i].start, found.start)
        store4(out[i].mid, found.mid)
        out[i].error = vec.length(vec.sub(found.end, target))
        out[i].reach = found.reach
        out[i].pole_sine = found.pole_sine
        upper = vec.length(vec.sub(limb.mid[3], limb.start[3]))
        lower = vec.length(vec.sub(limb.end[3], limb.mid[3]))
        out[i].length = upper + lower
        beyond = is_beyond(found.reach, upper + lower, abs(upper - lower))
        out[i].trouble = notices.flags_of(min(upper, lower), upper + lower, beyond)


class TwoBoneRotationsResult(NamedTuple):
    """What `two_bone_rotations` returns. ... is the batch's shape."""

    start: NDArray[Any]
    """(..., 4): correction of the start joint, in its own space; new local rotation = old * correction."""
    mid: NDArray[Any]
    """(..., 4): correction of the middle joint, in its own space; new local rotation = old * correction."""
    reached: NDArray[np.bool_]
    """(...): whether, at full weight, the end is within tolerance of the target."""
    error: NDArray[Any]
    """(...): distance from the end to the target at full weight."""
    reach: NDArray[Any]
    """(...): distance from start to target as a share of the limb's length; above 1 is out of reach."""
    pole_sine: NDArray[Any]
    """(...): sine of the angle between pole and reach line; near 0 the pole fades. 1 without a pole."""


def two_bone_rotations(
    world: ArrayLike,
    target: ArrayLike,
    axis: ArrayLike | None = None,
    pole: ArrayLike | None = None,
    soften: float = 1.0,
    weight: ArrayLike = 1.0,
    tolerance: float = TOLERANCE,
) -> TwoBoneRotationsResult:
    """Find the rotations of an animated limb's first two joints that bring its end to the target.

    Multiply each correction onto the joint's local rotation from the right. Leading axes are batches and broadcast.

    Parameters
    ----------
    world
        (..., 3, 3, 4) or (..., 3, 4, 4): world matrices of the first, the middle and the end joint. Their parents may
        be moved, rotated, uniformly scaled and mirrored.
    target
        (..., 3), world space: where the end should be.
    axis
        (..., 3): the middle joint's hinge axis in its own space; a positive rotation about it bends the limb. None
        bends the limb the way it is bent already, or towards the pole if it is straight.
    pole
        (..., 3), world space: a point that the middle joint swings towards. None keeps the animated bend plane.
    soften
        As in `two_bone`.
    weight
        (...), 0 to 1: 0 gives no rotation, 1 the whole one, values between them a slerp.
    tolerance
        Distance from the target that counts as reached, as a fraction of the limb's length.

    Returns
    -------
    TwoBoneRotationsResult
        The two corrections, whether the target was reached, and the distance that remains.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite or a matrix is singular.

    Examples
    --------
    >>> straight = np.tile(np.eye(4), (3, 1, 1))
    >>> straight[:, 1, 3] = 2.0, 1.0, 0.0
    >>> limb = km.two_bone_rotations(straight, target=(0.0, 0.5, 0.5), axis=(1, 0, 0))
    >>> bool(limb.reached), limb.start.shape, limb.mid.shape
    (True, (4,), (4,))
    """
    dtype = validation.precision(world, target, axis, pole)
    matrices = world_matrices("world", world, 3, dtype)
    named = {"world": matrices, "target": validation.vectors("target", target, 3, dtype)}
    named["axis"] = unit_vectors("axis", (1.0, 0.0, 0.0) if axis is None else axis, dtype)
    named["pole"] = validation.vectors("pole", (0.0, 0.0, 0.0) if pole is None else pole, 3, dtype)
    named["weight"] = validation.weights("weight", weight, dtype)
    shape = validation.batch_shape(named, {"world": 3})
    count = math.prod(shape)
    rows = {name: validation.rows(array, 3 if name == "world" else 1, shape) for name, array in named.items()}
    rows["world"] = rows["world"].reshape(count, 3, 12)
    limbs, use_axis = LimbRows(**rows), NO_AXIS if axis is None else ALWAYS
    (out,) = kernel_views(np.empty(count, CORRECTION.dtype(dtype)))
    soften = dtype(validation.number("soften", soften, 0.0, 1.0))
    in_chunks(_solve_range, count, THREADS_FROM_ITERATIVE, limbs, use_axis, pole is not None, soften, out)
    found = {name: np.ascontiguousarray(out[name]) for name in CORRECTION.fields}
    error, reach, length = found["error"], found["reach"], found["length"]
    notices.report("two_bone_rotations", int(np.bitwise_or.reduce(found["trouble"])))
    return TwoBoneRotationsResult(
        found["start"].reshape(*shape, 4),
        found["mid"].reshape(*shape, 4),
        (error <= dtype(validation.number("tolerance", tolerance, 0.0)) * length).reshape(shape)[()],
        error.reshape(shape)[()],
        reach.reshape(shape)[()],
        found["pole_sine"].reshape(shape)[()],
    )


def world_matrices(name: str, value: Any, joints: int, dtype: Any) -> Any:
    """World matrices of some joints, (..., joints, 3, 4), from that shape or (..., joints, 4, 4)."""
    array = validation.real(name, value)
    if array.ndim < 3 or array.shape[-3] != joints or array.shape[-2:] not in ((3, 4), (4, 4)):
        raise InputError(f"{name} must have shape (..., {joints}, 3, 4) or (..., {joints}, 4, 4), got {array.shape}")
    array = np.ascontiguousarray(array[..., :3, :], dtype)
    validation.check_finite(name, array)
    return array


def unit_vectors(name: str, value: Any, dtype: Any) -> Any:
    """Directions (..., 3) at length 1; a zero vector is refused."""
    return validation.directions(name, validation.vectors(name, value, 3, dtype))
