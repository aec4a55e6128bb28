"""The rotation that looks at a point, upright."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel, like
from kinema.constants import THREADS_FROM_ITERATIVE
from kinema.math import quat, vec


@kernel
def solve(position, target, forward, up):
    """One rotation: first the smallest turn from forward to the target, then the roll about it that is upright.

    forward and up are unit vectors at right angles. Exactly behind is half a turn about up; straight above or below,
    where no roll is upright, the smallest turn is left as it is; at the eye itself there is no turn.
    """
    one = like(position[0], 1.0)
    zero = like(position[0], 0.0)
    gap = vec.sub(target, position)
    # Scaled first: the square of a very small or very large gap would leave the range of float32.
    size = vec.span(gap)
    if size <= zero:
        return (zero, zero, zero, one)
    direction = vec.unit_or(vec.scale(gap, one / size), forward)
    turn = quat.between(forward, direction, up)
    is_up = quat.rotate(turn, up)
    should_be_up = vec.reject(up, direction)
    known = vec.dot(should_be_up, should_be_up) > zero
    should_be_up = vec.unit_or(should_be_up, is_up)
    roll = quat.from_cos_sin(
        direction, vec.dot(is_up, should_be_up), vec.dot(direction, vec.cross(is_up, should_be_up))
    )
    return quat.unit(quat.mul(roll, turn)) if known else turn


@batch
def _solve_range(start, stop, positions, targets, forward, up, out):
    for i in range(start, stop):
        p = (positions[3 * i], positions[3 * i + 1], positions[3 * i + 2])
        t = (targets[3 * i], targets[3 * i + 1], targets[3 * i + 2])
        q = solve(p, t, (forward[0], forward[1], forward[2]), (up[0], up[1], up[2]))
        for c in range(4):
            out[4 * i + c] = q[c]


def look_at(
    position: ArrayLike,
    target: ArrayLike,
    forward: ArrayLike = (0.0, 0.0, 1.0),
    up: ArrayLike = (0.0, 1.0, 0.0),
) -> Any:
    """The rotation, (..., 4), that turns the axis `forward` to point from position to target with `up` kept upright.

    position, target: (..., 3), one space. forward, up: (3,), what points ahead and up where there is no turn.
    A target exactly behind turns about up. At the position itself there is no turn. Straight above or below, where
    nothing is upright, it is the smallest turn.
    """
    dtype = validation.precision(position, target)
    named = {
        "position": validation.vectors("position", position, 3, dtype),
        "target": validation.vectors("target", target, 3, dtype),
    }
    ahead, upright = _right_angled(np.array(validation.axis("forward", forward)), np.array(validation.axis("up", up)))
    shape = validation.batch_shape(named)
    out = np.empty((*shape, 4), dtype)
    positions, targets = (validation.flat(array, 1, shape) for array in named.values())
    validation.in_chunks(
        lambda start, stop: _solve_range(
            start, stop, positions, targets, ahead.astype(dtype), upright.astype(dtype), out.reshape(-1)
        ),
        math.prod(shape),
        THREADS_FROM_ITERATIVE,
        1,
    )
    return out


def _right_angled(forward: Any, up: Any) -> tuple[Any, Any]:
    """forward, and the part of up across it; any direction across it if up runs along forward."""
    across = up - forward * (up @ forward)
    size = np.linalg.norm(across)
    if size < np.sqrt(np.finfo(np.float64).eps):
        across = np.cross(forward, np.eye(3)[int(np.argmin(np.abs(forward)))])
        size = np.linalg.norm(across)
    return forward, across / size
