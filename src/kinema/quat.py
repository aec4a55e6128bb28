"""Rotations as quaternions, for arrays of any shape: the functions behind `km.quat`.

A quaternion is x, y, z, w, of length 1 (Hamilton). Leading axes are batches and broadcast. float32 in gives float32
out; everything else gives float64. Angles are radians.

    >>> quarter = km.quat.from_axis_angle((0, 1, 0), math.pi / 2)
    >>> km.quat.rotate(quarter, (0, 0, 1)).round(9)
    array([1., 0., 0.])
    >>> km.quat.to_euler(quarter, "XYZ").round(3)
    array([0.   , 1.571, 0.   ])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.math import arrays

__all__ = [
    "conjugate",
    "from_axis_angle",
    "from_euler",
    "from_matrix",
    "from_wxyz",
    "mul",
    "rotate",
    "slerp",
    "to_axis_angle",
    "to_euler",
    "to_matrix",
    "to_wxyz",
]

SKEWED = 1e-3
"""Error of the axes of a matrix, in length and at right angles, above which it is no rotation but for rounding."""

NO_ROTATION = 1e-9
"""Sine of half an angle below which two Euler angles about one axis cannot be told apart, or a rotation has no axis. In
float32 this is 1e-5."""


def __dir__() -> list[str]:
    return sorted(__all__)


def mul(a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """Combine two rotations: b first, then a. a, b: (..., 4). Returns (..., 4)."""
    dtype = validation.precision(a, b)
    return arrays.mul(validation.vectors("a", a, 4, dtype), validation.vectors("b", b, 4, dtype))


def conjugate(q: ArrayLike) -> NDArray[Any]:
    """Invert a rotation. q: (..., 4). Returns (..., 4)."""
    return arrays.conj(validation.vectors("q", q, 4, validation.precision(q)))


def rotate(q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
    """Rotate vectors. q: (..., 4). v: (..., 3). Returns (..., 3)."""
    dtype = validation.precision(q, v)
    return arrays.rotate(validation.vectors("q", q, 4, dtype), validation.vectors("v", v, 3, dtype))


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> NDArray[Any]:
    """Make rotations about axes. axis: (..., 3), of any length but zero. angle: (...), radians. Returns (..., 4)."""
    dtype = validation.precision(axis, angle)
    directions = validation.directions("axis", validation.vectors("axis", axis, 3, dtype))
    angles = validation.real("angle", angle).astype(dtype)
    validation.check_finite("angle", angles)
    return arrays.from_axis_angle(directions, angles)


def to_axis_angle(q: ArrayLike) -> tuple[NDArray[Any], Any]:
    """Convert rotations to an axis, (..., 3), of length 1, and an angle about it, (...), 0 to pi radians.

    q: (..., 4). The axis of no rotation is +Y.
    """
    dtype = validation.precision(q)
    found = validation.directions("q", validation.vectors("q", q, 4, dtype))
    found = np.where(found[..., 3:] < 0, -found, found)
    sine = np.linalg.norm(found[..., :3], axis=-1)
    known = (sine > 0)[..., np.newaxis]
    axis = np.where(known, found[..., :3], np.array((0, 1, 0), dtype)) / np.where(known, sine[..., np.newaxis], 1)
    return axis, 2 * np.arctan2(sine, found[..., 3])


def from_matrix(matrix: ArrayLike) -> NDArray[Any]:
    """Convert rotation matrices, which act on column vectors. matrix: (..., 3, 3). Returns (..., 4), with w >= 0."""
    dtype = validation.precision(matrix)
    array = validation.real("matrix", matrix)
    if array.ndim < 2 or array.shape[-2:] != (3, 3):
        raise InputError(f"matrix must have shape (..., 3, 3), got {array.shape}")
    array = validation.contiguous(array, dtype)
    validation.check_finite("matrix", array)
    right = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3, dtype=dtype)).max(axis=(-1, -2)) <= SKEWED
    wrong = ~right | (np.linalg.det(array) <= 0)
    if wrong.any():
        where, _ = validation.first("matrix", wrong)
        raise InputError(f"{where} is no rotation; its axes must have length 1, right angles and no mirror image")
    found = arrays.from_matrix(array)
    return np.where(found[..., 3:] < 0, -found, found)


def to_matrix(q: ArrayLike) -> NDArray[Any]:
    """Convert rotations to matrices, which act on column vectors. q: (..., 4). Returns (..., 3, 3)."""
    return arrays.to_matrix(validation.directions("q", validation.vectors("q", q, 4, validation.precision(q))))


def from_euler(angles: ArrayLike, order: str) -> NDArray[Any]:
    """Make rotations from three angles about coordinate axes.

    angles: (..., 3), radians, in the order of the letters. Returns (..., 4).

    order: three letters. Capitals, such as "YXZ", are intrinsic: each rotation is about an axis that the ones before
    have rotated along. Small letters, such as "zxy", are extrinsic: about axes that stay. "YXZ" with angles a, b, c is
    "zxy" with angles c, b, a. All twelve orders exist, also those that begin and end with the same axis.

    >>> km.quat.from_euler((math.pi / 2, 0, 0), "XYZ").round(3)
    array([0.707, 0.   , 0.   , 0.707])
    """
    axes, intrinsic = _order(order)
    dtype = validation.precision(angles)
    turns = validation.vectors("angles", angles, 3, dtype)
    parts = [arrays.from_axis_angle(np.eye(3, dtype=dtype)[axis], turns[..., n]) for n, axis in enumerate(axes)]
    first, second, third = parts if intrinsic else parts[::-1]
    return arrays.mul(arrays.mul(first, second), third)


def to_euler(q: ArrayLike, order: str) -> NDArray[Any]:
    """Convert rotations to three angles about coordinate axes: the inverse of `from_euler`.

    q: (..., 4). order: as in `from_euler`. Returns (..., 3), radians: the first and third from -pi to pi, the second
    from -pi/2 to pi/2, or from 0 to pi if the order begins and ends with the same axis. At the ends of the second's
    range ("gimbal lock") the first and third rotate about one axis; the third is then 0.
    """
    axes, intrinsic = _order(order)
    dtype = validation.precision(q)
    q = validation.directions("q", validation.vectors("q", q, 4, dtype))
    i, j, k = axes[::-1] if intrinsic else axes
    proper = i == k
    k = 3 - i - j if proper else k
    parity = (i - j) * (j - k) * (k - i) // 2
    # With the middle angle measured from 0, its halves' cosine and sine carry the sum and the difference of the others.
    a, b, c, d = q[..., 3], q[..., i], q[..., j], parity * q[..., k]
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    # Angles below: about i first, j, k last, about axes that stay.
    first, last = half_sum - half_difference, half_sum + half_difference
    threshold = max(NO_ROTATION, 64 * float(np.finfo(dtype).eps))
    size = np.hypot(np.hypot(a, b), np.hypot(c, d))
    for locked, angle, sign in (
        (np.hypot(c, d) <= threshold * size, half_sum, 1),
        (np.hypot(a, b) <= threshold * size, half_difference, -1),
    ):
        first = np.where(locked, 0 if intrinsic else 2 * sign * angle, first)
        last = np.where(locked, 2 * angle if intrinsic else 0, last)
    if not proper:
        last, middle = parity * last, middle - dtype(math.pi / 2)
    outer = [_wrapped(first), _wrapped(last)]
    first, last = outer[::-1] if intrinsic else outer
    return np.stack((first, middle, last), axis=-1)


def _order(order: str) -> tuple[list[int], bool]:
    """The axes of an order of Euler angles, and whether it is intrinsic."""
    known = isinstance(order, str) and len(order) == 3 and (order.isupper() or order.islower())
    axes = ["xyz".find(letter) for letter in order.lower()] if known else [-1]
    if min(axes) < 0 or axes[0] == axes[1] or axes[1] == axes[2]:
        raise InputError(
            f"order is {order!r:.60}; allowed are three of X, Y, Z (intrinsic) or of x, y, z (extrinsic), "
            "neighbours different, such as 'YXZ' or 'zxz'"
        )
    return axes, order.isupper()


def _wrapped(angle: NDArray[Any]) -> NDArray[Any]:
    """Wrap angles to -pi to pi."""
    pi = angle.dtype.type(math.pi)
    return angle - 2 * pi * ((angle > pi).astype(angle.dtype) - (angle < -pi))


def from_wxyz(q: ArrayLike) -> NDArray[Any]:
    """Reorder quaternions from w, x, y, z, as some libraries have them. q: (..., 4). Returns (..., 4): x, y, z, w."""
    return np.roll(validation.vectors("q", q, 4, validation.precision(q)), -1, axis=-1)


def to_wxyz(q: ArrayLike) -> NDArray[Any]:
    """Reorder quaternions to w, x, y, z. q: (..., 4): x, y, z, w. Returns (..., 4)."""
    return np.roll(validation.vectors("q", q, 4, validation.precision(q)), 1, axis=-1)


def slerp(a: ArrayLike, b: ArrayLike, share: ArrayLike) -> NDArray[Any]:
    """Blend rotations at constant speed along the shorter way.

    a, b: (..., 4). share: (...), from 0, which gives a, to 1, which gives b. Returns (..., 4).
    """
    dtype = validation.precision(a, b)
    shares = validation.real("share", share).astype(dtype)
    validation.check_finite("share", shares)
    return arrays.slerp(validation.vectors("a", a, 4, dtype), validation.vectors("b", b, 4, dtype), shares)
