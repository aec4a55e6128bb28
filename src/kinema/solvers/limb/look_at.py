"""`look_at`: the rotation that looks at a point and stays upright."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.threads import in_chunks
from kinema.constants import THREADS_FROM_ITERATIVE
from kinema.math import quat, vec
from kinema.math.rows import load3, store4
from kinema.validation import Reals


@kernel
def solve(position, target, forward, up):
    """Find one rotation: the smallest from forward to the target, then the roll about it that is upright.

    forward and up are unit vectors at right angles. A target exactly behind gives half a revolution about up. Straight
    above or below, where no roll is upright, the smallest rotation is left as it is. A target at the position gives no
    rotation.
    """
    one = like(position[0], 1.0)
    zero = like(position[0], 0.0)
    gap = vec.sub(target, position)
    # Scaled first: the square of a very small or very large gap would leave the range of float32.
    size = vec.span(gap)
    if size <= zero:
        return (zero, zero, zero, one)
    direction = vec.unit_or(vec.scale(gap, one / size), forward)
    smallest = quat.between(forward, direction, up)
    is_up = quat.rotate(smallest, up)
    should_be_up = vec.reject(up, direction)
    known = vec.dot(should_be_up, should_be_up) > zero
    should_be_up = vec.unit_or(should_be_up, is_up)
    roll = quat.from_cos_sin(
        direction, vec.dot(is_up, should_be_up), vec.dot(direction, vec.cross(is_up, should_be_up))
    )
    return quat.unit(quat.mul(roll, smallest)) if known else smallest


@batch
def _solve_range(start, stop, positions, targets, forward, up, out):
    """Rotations start to stop. positions, targets: (n, 3). forward, up: (3,). out: (n, 4)."""
    for i in range(start, stop):
        store4(out[i], solve(load3(positions[i]), load3(targets[i]), load3(forward), load3(up)))


def look_at(
    position: ArrayLike,
    target: ArrayLike,
    forward: ArrayLike = (0.0, 0.0, 1.0),
    up: ArrayLike = (0.0, 1.0, 0.0),
) -> Reals:
    """Find the rotation that points the axis `forward` from a position to a target and keeps `up` upright.

    A target exactly behind gives half a revolution about up, a target at the position no rotation. Straight above or
    below, where no direction is upright, the result is the smallest rotation.

    Parameters
    ----------
    position, target
        (..., 3), in one space.
    forward, up
        (3,): what points ahead and up where there is no rotation.

    Returns
    -------
    array
        (..., 4), unit quaternions x, y, z, w.

    Raises
    ------
    InputError
        If a shape does not fit or a number is not finite.

    Examples
    --------
    >>> km.look_at((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)).round(3).tolist()
    [0.0, 0.707, 0.0, 0.707]
    """
    dtype = validation.precision(position, target)
    named = {
        "position": validation.vectors("position", position, 3, dtype),
        "target": validation.vectors("target", target, 3, dtype),
    }
    ahead, upright = _right_angled(np.array(validation.axis("forward", forward)), np.array(validation.axis("up", up)))
    shape = validation.batch_shape(named)
    out = np.empty((*shape, 4), dtype)
    positions, targets = (validation.flat(array, 1, shape).reshape(-1, 3) for array in named.values())
    axes = ahead.astype(dtype), upright.astype(dtype)
    in_chunks(_solve_range, math.prod(shape), THREADS_FROM_ITERATIVE, positions, targets, *axes, out.reshape(-1, 4))
    return out


def _right_angled(forward: Any, up: Any) -> tuple[Any, Any]:
    """Return forward, and the part of up across it; any direction across it if up runs along forward."""
    across = up - forward * (up @ forward)
    size = np.linalg.norm(across)
    if size < np.sqrt(np.finfo(np.float64).eps):
        across = np.cross(forward, np.eye(3)[int(np.argmin(np.abs(forward)))])
        size = np.linalg.norm(across)
    return forward, across / size
