"""Quaternions and matrices as whole NumPy arrays, for code that runs once: loading, building, measuring.

The same conventions as the kernels next door, which only compiled code can call. Leading axes broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def mul(a: Any, b: Any) -> Any:
    """(..., 4): turn by b first, then by a."""
    ax, ay, az, aw = np.moveaxis(np.asarray(a), -1, 0)
    bx, by, bz, bw = np.moveaxis(np.asarray(b), -1, 0)
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
    """(..., 4): the opposite turn."""
    q = np.asarray(q)
    return q * np.array((-1, -1, -1, 1), q.dtype)


def rotate(q: Any, v: Any) -> Any:
    """(..., 3): v turned by q."""
    q, v = np.asarray(q), np.asarray(v)
    axis, w = q[..., :3], q[..., 3:]
    t = 2 * np.cross(axis, v)
    return v + w * t + np.cross(axis, t)


def from_axis_angle(axis: Any, angle: Any) -> Any:
    """(..., 4): the turn about a unit axis, radians."""
    axis, half = np.asarray(axis), np.asarray(angle)[..., np.newaxis] / 2
    w = np.broadcast_to(np.cos(half), (*np.broadcast_shapes(axis.shape[:-1], half.shape[:-1]), 1))
    return np.concatenate((axis * np.sin(half), w), axis=-1)


def unit(q: Any) -> Any:
    """(..., n): scaled to length 1; what has no length stays as it is."""
    q = np.asarray(q)
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    return q / np.where(size > 0, size, 1)


def from_matrix(m: Any) -> Any:
    """(..., 4): the turn of rotation matrices (..., 3, 3), by the largest of four candidates."""
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


def to_matrix(q: Any) -> Any:
    """(..., 3, 3): the rotation matrix of a turn."""
    q = np.asarray(q)
    return np.stack([rotate(q, axis) for axis in np.eye(3, dtype=q.dtype)], axis=-1)


def slerp(a: Any, b: Any, share: Any) -> Any:
    """(..., 4): from a (share 0) to b (share 1) at constant speed along the shorter way."""
    turn = mul(conj(a), b)
    turn = np.where(turn[..., 3:] < 0, -turn, turn)
    sine = np.linalg.norm(turn[..., :3], axis=-1, keepdims=True)
    half = np.arctan2(sine, turn[..., 3:]) * np.asarray(share, turn.dtype)[..., np.newaxis]
    axis = turn[..., :3] / np.where(sine > 0, sine, 1)
    return mul(a, np.concatenate((axis * np.sin(half), np.cos(half)), axis=-1))


def angle_between(a: Any, b: Any) -> Any:
    """(...,): the angle of the turn from a to b, 0 to pi."""
    turn = mul(conj(a), b)
    return 2 * np.arctan2(np.linalg.norm(turn[..., :3], axis=-1), np.abs(turn[..., 3]))


def continuous(q: Any) -> Any:
    """(F, ..., 4): the same rotations, each with the sign that is nearer to the frame before.

    q and -q are the same rotation, but players that interpolate the numbers between them take the long way round.
    """
    q = np.asarray(q)
    flips = (q[1:] * q[:-1]).sum(axis=-1) < 0
    signs = np.where(np.logical_xor.accumulate(flips, axis=0), -1, 1).astype(q.dtype)
    return np.concatenate((q[:1], q[1:] * signs[..., np.newaxis]))
