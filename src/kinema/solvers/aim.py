"""The turn of a joint that points an axis of it, with an origin of its own, at a target: a muzzle, a finger."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel, like
from kinema.constants import AIM_TOLERANCE, THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.solvers.two_bone_rotations import matrix_of, unit_vectors


@kernel
def solve(world, target, forward, offset, weight):
    """One joint. Returns its correction, and the angle left between axis and target at full weight.

    The axis starts at `offset` and runs along `forward`. A turn about the joint keeps distances from it, so the point
    of the axis that can be brought to the target t is the one as far from the joint as t: |offset + x forward| = |t|,
    x >= 0. If there is none, t is nearer the joint than any point of the axis, and the nearest one is turned to it.
    """
    zero = like(weight, 0.0)
    one = like(weight, 1.0)
    nothing = (zero, zero, zero, one)
    t = xform.apply(xform.inverse(world), target)
    size = vec.span(t) + vec.span(offset)
    if vec.span(t) <= zero:
        return nothing, like(weight, math.pi)
    t = vec.scale(t, one / size)
    start = vec.scale(offset, one / size)
    along = vec.dot(start, forward)
    square = along * along + vec.dot(t, t) - vec.dot(start, start)
    x = math.sqrt(square if square > zero else zero) - along
    x = x if x > zero else zero
    point = vec.unit_or(vec.add(start, vec.scale(forward, x)), forward)
    turn = quat.between(point, vec.unit_or(t, point), vec.hinge_of(point))
    gap = vec.sub(t, quat.rotate(turn, start))
    axis = quat.rotate(turn, forward)
    left = math.atan2(vec.length(vec.cross(axis, gap)), vec.dot(axis, gap))
    return quat.part(turn, weight), left


@batch
def _solve_range(first, last, worlds, targets, forwards, offsets, weights, corrections, errors):
    for i in range(first, last):
        target = (targets[3 * i], targets[3 * i + 1], targets[3 * i + 2])
        forward = (forwards[3 * i], forwards[3 * i + 1], forwards[3 * i + 2])
        offset = (offsets[3 * i], offsets[3 * i + 1], offsets[3 * i + 2])
        q, errors[i] = solve(matrix_of(worlds, 12 * i), target, forward, offset, weights[i])
        for c in range(4):
            corrections[4 * i + c] = q[c]


class AimResult(NamedTuple):
    """What `aim` returns. ... is the batch's shape."""

    correction: Any
    """(..., 4): in the joint's own space; new local rotation = old * correction."""
    reached: Any
    """(...): whether, at full weight, the axis points at the target."""
    error: Any
    """(...): angle left between axis and target at full weight, radians."""


def aim(
    world: ArrayLike,
    target: ArrayLike,
    forward: ArrayLike = (0.0, 0.0, 1.0),
    offset: ArrayLike = (0.0, 0.0, 0.0),
    weight: ArrayLike = 1.0,
    tolerance: float = AIM_TOLERANCE,
) -> AimResult:
    """The smallest turn of a joint that makes an axis of it point at the target.

    world: (..., 3, 4) or (..., 4, 4), the joint's world matrix; moved, turned, uniformly scaled and mirrored will do.
    target: (..., 3), world space. forward: (..., 3), the axis, and offset: (..., 3), the point it starts from, in the
    joint's own space. weight: (...), 0 gives no turn, 1 the whole one. tolerance: radians.

    A target nearer the joint than any point of the axis cannot be hit: the axis is brought as near as it goes.
    """
    dtype = validation.precision(world, target, offset)
    array = validation.real("world", world)
    if array.ndim < 2 or array.shape[-2:] not in ((3, 4), (4, 4)):
        raise InputError(f"world must have shape (..., 3, 4) or (..., 4, 4), got {array.shape}")
    matrices = np.ascontiguousarray(array[..., :3, :], dtype)
    validation.check_finite("world", matrices)
    named = {
        "world": matrices,
        "target": validation.vectors("target", target, 3, dtype),
        "forward": unit_vectors("forward", forward, dtype),
        "offset": validation.vectors("offset", offset, 3, dtype),
        "weight": validation.weights("weight", weight, dtype),
    }
    shape = validation.batch_shape(named, {"world": 2})
    flat = [validation.flat(array, 2 if name == "world" else 1, shape) for name, array in named.items()]
    corrections, errors = np.empty((*shape, 4), dtype), np.empty(math.prod(shape), dtype)
    validation.in_chunks(
        lambda first, last: _solve_range(first, last, *flat, corrections.reshape(-1), errors),
        errors.size,
        THREADS_FROM_ITERATIVE,
        1,
    )
    reached = errors <= dtype(validation.number("tolerance", tolerance, 0.0))
    return AimResult(corrections, reached.reshape(shape)[()], errors.reshape(shape)[()])
