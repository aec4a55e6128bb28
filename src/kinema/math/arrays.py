"""Quaternions, rotation matrices and curves as NumPy arrays, for code outside the frame loop.

Conventions are those of the kernels in `quat` and `curves`. Leading axes broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of numbers or truth values; what it holds and its shape stand where it is used."""

Floats = NDArray[np.floating[Any]]
"""An array of float32 or float64."""

Mask = NDArray[np.bool_]
"""An array of truth values."""

Precision = type[np.floating[Any]]
"""`numpy.float32` or `numpy.float64`."""


def mul(a: Any, b: Any) -> Any:
    """Combine rotations: b first, then a. Returns (..., 4)."""
    a, b = np.asarray(a), np.asarray(b)
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return np.stack(
        (
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ),
        axis=-1,
    )


def conj(q: Any) -> Any:
    """Invert unit quaternions. Returns (..., 4)."""
    q = np.asarray(q)
    return q * np.array((-1, -1, -1, 1), q.dtype)


def rotate(q: Any, v: Any) -> Any:
    """Rotate v by q. Returns (..., 3)."""
    q, v = np.asarray(q), np.asarray(v)
    axis, w = q[..., :3], q[..., 3:]
    t = 2 * cross(axis, v)
    return v + w * t + cross(axis, t)


def cross(a: Any, b: Any) -> Any:
    """Return what is at right angles to both, (..., 3), several times as fast as `numpy.cross` for few vectors."""
    ax, ay, az, bx, by, bz = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


def from_axis_angle(axis: Any, angle: Any) -> Any:
    """Build the rotation about a unit axis by an angle in radians. Returns (..., 4)."""
    axis, half = np.asarray(axis), np.asarray(angle)[..., np.newaxis] / 2
    w = np.broadcast_to(np.cos(half), (*np.broadcast_shapes(axis.shape[:-1], half.shape[:-1]), 1))
    return np.concatenate((axis * np.sin(half), w), axis=-1)


def unit(q: Any) -> Any:
    """Normalize along the last axis, (..., n). A zero vector stays zero."""
    q = np.asarray(q)
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    return q / np.where(size > 0, size, 1)


def from_matrix(m: Any) -> Any:
    """Convert rotation matrices (..., 3, 3) to quaternions (..., 4), by the largest of four candidates."""
    m = np.asarray(m)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    yz, zx, xy = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    sxy, szx, syz = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    candidates = np.stack(
        (
            np.stack((1 + xx - yy - zz, sxy, szx, yz), -1),
            np.stack((sxy, 1 - xx + yy - zz, syz, zx), -1),
            np.stack((szx, syz, 1 - xx - yy + zz, xy), -1),
            np.stack((yz, zx, xy, 1 + xx + yy + zz), -1),
        ),
        axis=-2,
    )
    largest = np.argmax(np.diagonal(candidates, axis1=-2, axis2=-1), axis=-1)
    return unit(np.take_along_axis(candidates, largest[..., np.newaxis, np.newaxis], axis=-2)[..., 0, :])


def rotation_of(matrices: Any) -> Any:
    """Find the rotation of matrices (..., 4, 4), whatever they scale or mirror. Returns (..., 4)."""
    axes = np.asarray(matrices, np.float64)[..., :3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), np.finfo(float).tiny)
    return from_matrix(axes * np.where(np.linalg.det(axes) < 0, -1.0, 1.0)[..., np.newaxis, np.newaxis])


def across(vectors: Any, axis: Any) -> Any:
    """Return what of vectors (..., 3) lies across a unit axis, (3,)."""
    return vectors - (vectors @ axis)[..., np.newaxis] * axis


def to_matrix(q: Any) -> Any:
    """Convert quaternions (..., 4) to rotation matrices (..., 3, 3)."""
    q = np.asarray(q)
    return np.stack([rotate(q, axis) for axis in np.eye(3, dtype=q.dtype)], axis=-1)


def slerp(a: Any, b: Any, share: Any) -> Any:
    """Interpolate from a (share 0) to b (share 1) at constant speed, the shorter way. Returns (..., 4)."""
    step = mul(conj(a), b)
    step = np.where(step[..., 3:] < 0, -step, step)
    sine = np.linalg.norm(step[..., :3], axis=-1, keepdims=True)
    half = np.arctan2(sine, step[..., 3:]) * np.asarray(share, step.dtype)[..., np.newaxis]
    axis = step[..., :3] / np.where(sine > 0, sine, 1)
    return mul(a, np.concatenate((axis * np.sin(half), np.cos(half)), axis=-1))


def swing(start: Any, end: Any) -> Any:
    """Find the smallest rotation from one direction to another, about any axis if they are opposite."""
    a, b = np.broadcast_arrays(unit(start), unit(end))
    axis, cosine = cross(a, b), (a * b).sum(axis=-1, keepdims=True)
    opposite = cosine < -1.0 + 1e-9
    if opposite.any():
        axis = np.where(opposite, np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)]), axis)
    return unit(np.concatenate((axis, np.where(opposite, 0.0, 1.0 + cosine)), axis=-1))


def angle_between(a: Any, b: Any) -> Any:
    """Measure the angle of the rotation from a to b, 0 to pi radians. Returns (...)."""
    step = mul(conj(a), b)
    return 2 * np.arctan2(np.linalg.norm(step[..., :3], axis=-1), np.abs(step[..., 3]))


def continuous(q: Any) -> Any:
    """Give each quaternion of (F, ..., 4) the sign nearer to the frame before.

    q and -q are the same rotation, but interpolating the components between them takes the long way round.
    """
    q = np.asarray(q)
    flips = (q[1:] * q[:-1]).sum(axis=-1) < 0
    signs = np.where(np.logical_xor.accumulate(flips, axis=0), -1, 1).astype(q.dtype)
    return np.concatenate((q[:1], q[1:] * signs[..., np.newaxis]))


def smoothstep(share: Any) -> Any:
    """Ease in and out: 0 to 1 for shares from 0 to 1, with no slope at the ends."""
    return share * share * (3.0 - 2.0 * share)


def minimum_jerk(share: Any) -> Any:
    """Ease in and out with minimum jerk: 0 to 1 for shares from 0 to 1, with no slope or curvature at the ends."""
    return share**3 * (10.0 + share * (6.0 * share - 15.0))
