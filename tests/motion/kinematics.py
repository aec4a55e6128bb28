"""Forward kinematics of the judge, in plain NumPy: it shares nothing with the stages and the tools that it judges."""

from __future__ import annotations

from typing import Any

import numpy as np

RATE = 120.0
"""Samples a second, whatever the keys are."""

FRAME = 2
"""Samples of a 60 Hz frame."""


def matrices_of(rotations: Any) -> Any:
    """(..., 3, 3): of quaternions, (..., 4), with w last."""
    x, y, z, w = np.moveaxis(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def world_of(parents: Any, translations: Any, rotations: Any, scales: Any) -> Any:
    """(F, J, 4, 4): world matrices of joints, from their transforms relative to their parents, (F, J, n)."""
    local = np.zeros((*rotations.shape[:2], 4, 4))
    local[..., :3, :3] = matrices_of(np.asarray(rotations, np.float64)) * np.asarray(scales)[..., np.newaxis, :]
    local[..., :3, 3], local[..., 3, 3] = translations, 1.0
    world, done = local.copy(), np.asarray(parents) < 0
    while not done.all():
        for joint in np.flatnonzero(~done):
            if done[parents[joint]]:
                world[:, joint] = world[:, parents[joint]] @ local[:, joint]
                done[joint] = True
    return world


def pose_world(skeleton: Any, poses: Any) -> Any:
    """(F, J, 4, 4): world matrices of poses, (F,), of a skeleton."""
    return world_of(np.asarray(skeleton.parents), *poses.arrays())


def angles_between(a: Any, b: Any) -> Any:
    """Degrees from one rotation to another, (..., 4)."""
    return np.degrees(2.0 * np.arccos(np.clip(np.abs((a * b).sum(axis=-1)), 0.0, 1.0)))


def flat(vectors: Any, up: Any) -> Any:
    """The part of vectors, (..., 3), across up."""
    return vectors - (vectors @ up)[..., np.newaxis] * up


def smooth_over(values: Any, seconds: float) -> Any:
    """Running mean along the first axis over so many seconds; at the ends, of what there is."""
    count = max(1, round(seconds * RATE) // 2)
    total = np.cumsum(np.concatenate((np.zeros_like(values[:1]), values)), axis=0)
    frames = np.arange(len(values))
    first, last = np.maximum(frames - count, 0), np.minimum(frames + count + 1, len(values))
    shape = (-1, *(1,) * (values.ndim - 1))
    return (total[last] - total[first]) / (last - first).reshape(shape)


def speeds_of(points: Any, drift: Any = 0.0) -> Any:
    """(F, ...): speed of points, (F, ..., 3), over a 60 Hz frame to either side. drift: (3,), added to the velocity."""
    if len(points) < 2:
        return np.zeros(points.shape[:-1])
    frames = np.arange(len(points))
    first, last = np.maximum(frames - FRAME, 0), np.minimum(frames + FRAME, len(points) - 1)
    span = ((last - first) / RATE).reshape(-1, *(1,) * (points.ndim - 1))
    return np.linalg.norm((points[last] - points[first]) / span + drift, axis=-1)


def runs(mask: Any) -> list[tuple[int, int]]:
    """Stretches of true in (F,): first frame, and the one after the last."""
    edges = np.diff(np.pad(mask, 1).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))
