"""Point an axis of a joint, with an origin of its own, at a target: a muzzle, a finger."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.compile.threads import in_chunks
from kinema.constants import AIM_TOLERANCE, THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load_matrix, store4
from kinema.solvers.limb.two_bone_rotations import unit_vectors

AIM_TASK = Record(
    world=(REAL, 12),
    target=(REAL, 3),
    forward=(REAL, 3),
    offset=(REAL, 3),
    weight=REAL,
    correction=(REAL, 4),
    error=REAL,
)
"""One call of `aim`: its arguments, and the fields of its result."""


@kernel
def solve(world, target, forward, offset, weight):
    """Aim one joint. Returns its correction, and the angle left between axis and target at full weight.

    The axis starts at `offset` and runs along `forward`. A rotation about the joint keeps distances from it, so the
    point of the axis that can be brought to the target t is the one as far from the joint as t:
    |offset + x forward| = |t|, x >= 0. If there is none, t is nearer to the joint than any point of the axis, and the
    nearest one is rotated towards it. A target at the joint itself stays where it is in the joint's space, whatever the
    rotation, so there is none.
    """
    zero = like(weight, 0.0)
    one = like(weight, 1.0)
    t = xform.apply(xform.inverse(world), target)
    size = vec.span(t) + vec.span(offset)
    known = vec.span(t) > zero
    size = size if size > zero else one
    t = vec.scale(t, one / size)
    start = vec.scale(offset, one / size)
    along = vec.dot(start, forward)
    square = along * along + vec.dot(t, t) - vec.dot(start, start)
    x = math.sqrt(square if square > zero else zero) - along
    x = x if x > zero else zero
    point = vec.unit_or(vec.add(start, vec.scale(forward, x)), forward)
    q = quat.between(point, vec.unit_or(t, point), vec.hinge_of(point))
    q = (q[0] if known else zero, q[1] if known else zero, q[2] if known else zero, q[3] if known else one)
    gap = vec.sub(t, quat.rotate(q, start))
    axis = quat.rotate(q, forward)
    left = math.atan2(vec.length(vec.cross(axis, gap)), vec.dot(axis, gap))
    return quat.part(q, weight), left


@batch
def _solve_range(first, last, tasks):
    for i in range(first, last):
        task = tasks[i]
        q, task.error = solve(
            load_matrix(task.world), load3(task.target), load3(task.forward), load3(task.offset), task.weight
        )
        store4(task.correction, q)


class AimResult(NamedTuple):
    """The result of `aim`. ... is the shape of the batch."""

    correction: NDArray[Any]
    """(..., 4): in the joint's own space; new local rotation = old * correction."""
    reached: NDArray[np.bool_]
    """(...): whether the axis points at the target at full weight."""
    error: NDArray[Any]
    """(...): angle left between axis and target at full weight, radians."""


def aim(
    world: ArrayLike,
    target: ArrayLike,
    forward: ArrayLike = (0.0, 0.0, 1.0),
    offset: ArrayLike = (0.0, 0.0, 0.0),
    weight: ArrayLike = 1.0,
    tolerance: float = AIM_TOLERANCE,
) -> AimResult:
    """Find the smallest rotation of a joint that makes one of its axes point at a target.

    A target nearer to the joint than any point of the axis cannot be hit; the axis is then brought as close as
    possible.

    Parameters
    ----------
    world
        (..., 3, 4) or (..., 4, 4): the joint's world matrix. It may be moved, rotated, uniformly scaled and mirrored.
    target
        (..., 3), world space.
    forward
        (..., 3): the axis that should point at the target, in the joint's own space.
    offset
        (..., 3): the point that the axis starts from, in the joint's own space.
    weight
        (...), 0 to 1: 0 gives no rotation, 1 the whole one.
    tolerance
        Angle that counts as on target, radians.

    Returns
    -------
    AimResult
        The correction, and the angle that remains.

    Raises
    ------
    InputError
        If a shape does not fit or a number is not finite.

    Examples
    --------
    >>> km.aim(np.eye(4), target=(1.0, 0.0, 0.0)).correction.round(3).tolist()
    [0.0, 0.707, 0.0, 0.707]
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
    (tasks,) = kernel_views(AIM_TASK.zeros(math.prod(shape), dtype))
    for name, values in named.items():
        flat = validation.flat(values, 2 if name == "world" else 1, shape)
        tasks[name] = flat.reshape(tasks[name].shape)
    in_chunks(_solve_range, tasks.size, THREADS_FROM_ITERATIVE, tasks)
    error = tasks["error"].copy().reshape(shape)
    reached = error <= dtype(validation.number("tolerance", tolerance, 0.0))
    return AimResult(tasks["correction"].copy().reshape(*shape, 4), reached[()], error[()])
