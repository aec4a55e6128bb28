"""Rotations as quaternions, for arrays of any shape: the functions behind `km.quat`.

A quaternion is x, y, z, w, of length 1 (Hamilton). Leading axes are batches and broadcast. float32 in gives float32
out; everything else gives float64.

    >>> quarter = km.quat.from_axis_angle((0, 1, 0), math.pi / 2)
    >>> km.quat.rotate(quarter, (0, 0, 1)).round(9)
    array([1., 0., 0.])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.math import arrays

__all__ = ["conjugate", "from_axis_angle", "mul", "rotate", "slerp"]


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
    directions = validation.vectors("axis", axis, 3, dtype)
    sizes = np.linalg.norm(directions, axis=-1, keepdims=True)
    if not sizes.all():
        where, _ = validation.first("axis", sizes[..., 0] == 0)
        raise InputError(f"{where} is the zero vector; it must have a direction")
    angles = validation.real("angle", angle).astype(dtype)
    validation.check_finite("angle", angles)
    return arrays.from_axis_angle(directions / sizes, angles)


def slerp(a: ArrayLike, b: ArrayLike, share: ArrayLike) -> NDArray[Any]:
    """Blend rotations at constant speed along the shorter way.

    a, b: (..., 4). share: (...), from 0, which gives a, to 1, which gives b. Returns (..., 4).
    """
    dtype = validation.precision(a, b)
    shares = validation.real("share", share).astype(dtype)
    validation.check_finite("share", shares)
    return arrays.slerp(validation.vectors("a", a, 4, dtype), validation.vectors("b", b, 4, dtype), shares)
