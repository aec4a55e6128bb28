"""Two bones in the plane: the law of cosines, with its angles.

    phi   = direction to the target                    psi   = angle at the root between bone 1 and that direction
    gamma = inner angle at the knee                    theta1 = phi - s psi        theta2 = s (pi - gamma)

for bend sign s. The angles are taken from the triangle's sides by atan2, not by acos, which would lose half the digits
just where a limb spends its time: nearly straight.
"""

from __future__ import annotations

import math
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.threads import in_chunks
from kinema.constants import LARGEST_FLOAT64, THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.solvers.limb.two_bone import clamped, triangle
from kinema.validation import Reals

_PACKED = 7
"""Numbers of one limb in a row: root 2, target 2, lengths 2, bend."""

_FIELDS = 12
"""Numbers of one answer in a row: knee 2, end 2, theta1, theta2, phi, psi, gamma, radius, bend, clamped."""

_UNUSABLE = 8
"""Flag beside those of `notices`: a number that is not finite, a negative length, a bend that is not +1 or -1."""


@kernel
def solve(root, target, length1, length2, bend, auto_bend):
    """One planar limb: all fields of `TwoBone2DResult`, as one tuple of numbers."""
    zero = like(length1, 0.0)
    one = like(length1, 1.0)
    pi = like(length1, math.pi)
    x = target[0] - root[0]
    y = target[1] - root[1]
    distance = math.sqrt(x * x + y * y)
    away = distance > zero
    ux = x / distance if away else one
    uy = y / distance if away else zero
    sign = bend
    if auto_bend:
        sign = -one if x < zero else one
    radius = clamped(distance, length1 + length2, abs(length1 - length2))
    along, aside = triangle(length1, length2, radius)
    phi = math.atan2(uy, ux)
    # A limb with a zero bone is one bone: straight at the target, whatever the triangle says.
    bends = length1 > zero and length2 > zero
    psi = math.atan2(aside, along) if bends else zero
    gamma = math.atan2(aside * radius, aside * aside - along * (radius - along)) if bends else pi
    knee_along = along if bends else length1
    knee_aside = -sign * aside if bends else zero
    return (
        root[0] + ux * knee_along - uy * knee_aside,
        root[1] + uy * knee_along + ux * knee_aside,
        root[0] + ux * radius,
        root[1] + uy * radius,
        phi - sign * psi,
        sign * (pi - gamma),
        phi,
        psi,
        gamma,
        radius,
        sign,
        one if radius != distance else zero,
    )


@batch
def _solve_range(start, stop, packed, auto_bend, largest, out):
    """Limbs start to stop, one row of `packed` and of `out` each. Returns the flags of all of them together."""
    flags = 0
    for i in range(start, stop):
        p = packed[i * _PACKED : (i + 1) * _PACKED]
        for c in range(_PACKED):
            if not abs(p[c]) <= largest:
                flags |= _UNUSABLE
        answer = solve((p[0], p[1]), (p[2], p[3]), p[4], p[5], p[6], auto_bend)
        row = out[i * _FIELDS : (i + 1) * _FIELDS]
        for c in range(_FIELDS):
            row[c] = answer[c]
        shorter, zero = min(p[4], p[5]), like(p[4], 0.0)
        if shorter < zero or abs(p[6]) != like(p[4], 1.0):
            flags |= _UNUSABLE
        flags |= notices.flags_of(shorter, p[4] + p[5], row[11] != zero)
    return flags


class TwoBone2DResult(NamedTuple):
    """What `two_bone_2d` returns. ... is the batch's shape; angles are radians, counter-clockwise in the given axes."""

    knee: NDArray[Any]
    """(..., 2): the middle joint."""
    end: NDArray[Any]
    """(..., 2): the end."""
    theta1: NDArray[Any]
    """(...): direction of bone 1."""
    theta2: NDArray[Any]
    """(...): direction of bone 2 relative to bone 1."""
    phi: NDArray[Any]
    """(...): direction from root to target; 0 for a target at the root."""
    psi: NDArray[Any]
    """(...): angle at the root between bone 1 and the direction to the target, 0 to pi."""
    gamma: NDArray[Any]
    """(...): inner angle at the knee, 0 (folded) to pi (straight)."""
    radius: NDArray[Any]
    """(...): distance to the target, clamped to [|L1 - L2|, L1 + L2]."""
    bend: NDArray[np.int64]
    """(...): the bend sign that was used, +1 or -1."""
    clamped: NDArray[np.bool_]
    """(...): whether the distance had to be clamped, so that the end is not at the target."""

    @property
    def mid(self) -> Reals:
        """(..., 2): the middle joint, by the name that `two_bone` gives it."""
        return self.knee

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(...): whether the end is at the target, by the name that `two_bone` gives it."""
        return np.logical_not(self.clamped)


_pack = Struct(f"{_PACKED}d").pack


def two_bone_2d(
    root: ArrayLike, target: ArrayLike, lengths: ArrayLike, bend: ArrayLike = 1, auto_bend: bool = False
) -> TwoBone2DResult:
    """Solve a planar limb of two bones, with every angle of the solution.

    Angles are counter-clockwise with y up; on a screen with y down the same formulas hold, mirrored. Leading axes are
    batches and broadcast. Arrays on a GPU are solved there.

    Parameters
    ----------
    root
        (..., 2): the first joint. It stays. Any unit of length.
    target
        (..., 2): where the end should be.
    lengths
        (..., 2): upper and lower bone.
    bend
        (...), +1 or -1: which of the two mirror images.
    auto_bend
        Choose the bend by the target's side: the sign of its x relative to the root's, +1 at 0.

    Returns
    -------
    TwoBone2DResult
        Middle joint, end, and the angles between them, radians.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite, a length is negative or a bend is neither +1 nor -1.

    Examples
    --------
    >>> limb = km.two_bone_2d(root=(0, 0), target=(1, 1), lengths=(1, 1))
    >>> limb.knee.round(3).tolist(), round(float(limb.theta1), 3)
    ([1.0, 0.0], 0.0)
    """
    packed = validation.one_row(_pack, (root, 2), (target, 2), (lengths, 2), ((bend,), 1))
    if packed is not None:
        out = np.empty(_FIELDS)
        flags = _solve_range(0, 1, packed, bool(auto_bend), LARGEST_FLOAT64, out)
        if not flags & _UNUSABLE:
            if flags:
                notices.report("two_bone_2d", flags)
            return TwoBone2DResult._make((out[0:2], out[2:4], *out[4:10], int(out[10]), out[11] != 0.0))
    elif validation.device(root, target, lengths, bend) == "gpu":
        from kinema.solvers.gpu import cuda

        return TwoBone2DResult(*cuda.two_bone_2d(root, target, lengths, bend, auto_bend))
    return _two_bone_2d_batch(root, target, lengths, bend, bool(auto_bend))


def _two_bone_2d_batch(root: Any, target: Any, lengths: Any, bend: Any, auto_bend: bool) -> TwoBone2DResult:
    dtype = validation.precision(root, target, lengths)
    named = {
        "root": validation.vectors("root", root, 2, dtype),
        "target": validation.vectors("target", target, 2, dtype),
        "lengths": validation.lengths("lengths", lengths, 2, dtype),
        "bend": signs("bend", bend, dtype),
    }
    shape = validation.batch_shape(named)
    count = math.prod(shape)
    rows = [validation.flat(array, 1, shape).reshape(count, array.shape[-1]) for array in named.values()]
    packed = np.concatenate(rows, axis=1).reshape(-1)
    out = np.empty((count, _FIELDS), dtype)
    flags = 0
    largest = dtype(validation.largest(dtype))
    for part in in_chunks(_solve_range, count, THREADS_FROM_ITERATIVE, packed, auto_bend, largest, out.reshape(-1)):
        flags |= part
    if flags:
        notices.report("two_bone_2d", flags)
    angles = [np.ascontiguousarray(out[:, field]).reshape(shape)[()] for field in range(4, 10)]
    return TwoBone2DResult._make(
        (
            np.ascontiguousarray(out[:, 0:2]).reshape(*shape, 2),
            np.ascontiguousarray(out[:, 2:4]).reshape(*shape, 2),
            *angles,
            out[:, 10].astype(np.int64).reshape(shape)[()],
            (out[:, 11] != 0).reshape(shape)[()],
        )
    )


def signs(name: str, value: Any, dtype: Any) -> Any:
    """+1 or -1 for each limb, (..., 1)."""
    array = validation.real(name, value).astype(dtype)
    wrong = np.abs(array) != 1
    if wrong.any():
        entry, at = validation.first(name, wrong)
        raise InputError(f"{entry} is {array[at]}; allowed are +1 and -1")
    return array[..., np.newaxis]
