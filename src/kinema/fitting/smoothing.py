"""Smooth points over time, fill their gaps, and keep bones as long as they are.

Each point is a smoothing spline (`math.smoothing`), pulled towards where its bones allow it to be; both take turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.math import vec
from kinema.math.rows import load3, store3

ROUNDS, SWEEPS = 6, 3
"""How often the spline and the bones take turns, and how often all bones are gone through in each turn."""

PULL = 0.3
"""Weight of where the bones put a point, beside that of a point that is seen."""

LEAST = 1e-3
"""Least weight of a point: one that is missing is drawn to where it is taken to be."""

CUTOFFS = (1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0)
"""Hz of which one is left of the motion of each point: a head that is held still, and a hand that throws."""

FREQUENCIES = (np.arange(256) + 0.5) * np.pi / 256
"""Radians a frame, evenly spaced up to the fastest."""

THIRD = np.array((-1.0, 3.0, -3.0, 1.0))
"""A third difference."""

THIRD_VARIANCE = 20.0
"""Variance of third differences of white noise of variance 1: 1 + 9 + 9 + 1."""

QUIET = 0.35
"""Quantile of the size of third differences that shows the noise: larger ones are motion."""

FEWEST = 8
"""Third differences of a point, at least, for it to show the noise."""

QUIET_OF_SIZE = 0.4538
"""That quantile for normal noise of deviation 1."""


@batch
def factor_bands(weights, stiffness, pull, stencil, bands):
    """Factor W + stiffness D3' D3 + pull of each column, (T, 4, C), as L D L': the diagonal, then what follows it.

    weights: (T, C). stiffness: (C,). stencil: (T, 4), the diagonals of D3' D3.
    """
    columns = weights.shape[1]
    for t in range(weights.shape[0]):
        own = weights[t]
        for j in range(4):
            row, share = bands[t, j], stencil[t, j]
            for c in range(columns):
                row[c] = stiffness[c] * share
        first = bands[t, 0]
        for c in range(columns):
            first[c] += own[c] + pull
        for i in range(1, min(t, 3) + 1):
            size, factor = bands[t - i, 0], bands[t - i, i]
            for j in range(4 - i):
                row, other = bands[t, j], bands[t - i, i + j]
                for c in range(columns):
                    row[c] -= factor[c] * other[c] * size[c]
        for j in range(1, 4):
            row = bands[t, j]
            for c in range(columns):
                row[c] /= first[c]


@batch
def solve_bands(bands, weights, values, targets, pull, out):
    """Solve all columns: (W + stiffness D3' D3 + pull) out = W values + pull targets. All (T, C)."""
    frames, columns = weights.shape
    for t in range(frames):
        row, own, value, target = out[t], weights[t], values[t], targets[t]
        for c in range(columns):
            row[c] = own[c] * value[c] + pull * target[c]
        for i in range(1, min(t, 3) + 1):
            factor, before = bands[t - i, i], out[t - i]
            for c in range(columns):
                row[c] -= factor[c] * before[c]
    for back in range(frames):
        t = frames - 1 - back
        row, size = out[t], bands[t, 0]
        for c in range(columns):
            row[c] /= size[c]
        for j in range(1, min(4, frames - t)):
            factor, after = bands[t, j], out[t + j]
            for c in range(columns):
                row[c] -= factor[c] * after[c]


def stencil_of(frames: int) -> Any:
    """Return the diagonal of D3' D3 and the three that follow it, (T, 4), of third differences D3."""
    stencil = np.zeros((frames, 4))
    for j in range(4):
        for k in range(4 - j):
            stencil[k : max(frames - 3, 0) + k, j] += THIRD[k] * THIRD[k + j]
    return stencil


@kernel
def _keep_bone(at, first, second, length, give, free_first, free_second):
    """Move the ends of a bone so that it has its length, farther along axes that are seen less well."""
    zero = like(length, 0.0)
    way = vec.sub(load3(at[second]), load3(at[first]))
    size = vec.length(way)
    if size > zero:
        direction = vec.scale(way, like(length, 1.0) / size)
        eased = (direction[0] * give[0], direction[1] * give[1], direction[2] * give[2])
        total = vec.dot(direction, eased) * (free_first + free_second)
        if total > zero:
            step = (size - length) / total
            store3(at[first], vec.add(load3(at[first]), vec.scale(eased, step * free_first)))
            store3(at[second], vec.sub(load3(at[second]), vec.scale(eased, step * free_second)))


@batch
def keep_lengths(points, bones, lengths, give, free, sweeps):
    """Give all bones their lengths, a few times in turn. points: (T, K, 3). bones: (B, 2). free: (T, K): how freely
    points move. give: (3,): how freely along each axis."""
    axes = load3(give)
    for t in range(points.shape[0]):
        for _ in range(sweeps):
            for b in range(bones.shape[0]):
                first, second = bones[b, 0], bones[b, 1]
                _keep_bone(points[t], first, second, lengths[b], axes, free[t, first], free[t, second])


def find_noise(points: Any, weights: Any) -> Any:
    """Measure the deviation of the noise of each axis, (3,), by third differences. Frames with gaps are left out."""
    if len(points) < 4:
        return np.zeros(3)
    third = np.abs(np.diff(points, 3, axis=0))
    seen = np.minimum.reduce([weights[k : len(weights) - 3 + k] for k in range(4)]) > 0
    ordered = np.sort(np.where(seen[..., np.newaxis], third, np.inf), axis=0)
    counts = seen.sum(axis=0)
    known = counts >= FEWEST
    if not known.any():
        return np.zeros(3)
    place = QUIET * (counts[known] - 1)
    below, share = place.astype(np.int64), (place % 1.0)[:, np.newaxis]
    columns = np.flatnonzero(known)
    quiet = ordered[below, columns] * (1.0 - share) + ordered[below + 1, columns] * share
    return np.median(quiet, axis=0) / QUIET_OF_SIZE / np.sqrt(THIRD_VARIANCE)


def choose_cutoffs(points: Any, weights: Any, seen: Any, noise: Any, fps: float, give: Any) -> Any:
    """Choose the Hz of each point that are left of its motion, (K,): those with the least expected error (Mallows' Cp).

    The distance to the points that were seen, (T, K), falls with every Hz that is left; what of it is noise is known.
    """
    count = points.shape[1]
    if len(points) < 8 or not noise.any():
        return np.full(count, CUTOFFS[-1])
    clear = give < 2.0  # Axes of the best kind alone say what motion is.
    costs = np.empty((len(CUTOFFS), count))
    none = np.zeros(0, np.int64).reshape(0, 2), np.zeros(0)
    for k, cutoff in enumerate(CUTOFFS):
        stiffness = stiffness_of(cutoff, fps)
        smoothed = smooth_points(points, weights, np.full(count, stiffness), *none, give)
        off = np.where(seen, ((smoothed - points)[..., clear] ** 2).sum(axis=-1), 0.0).sum(axis=0)
        costs[k] = off / np.maximum(seen.sum(axis=0), 1) + 2.0 * (noise[clear] ** 2).sum() * kept_noise(stiffness)
    return np.array(CUTOFFS)[costs.argmin(axis=0)]


def stiffness_of(cutoff: Any, fps: float) -> Any:
    """Return the stiffness of a spline that keeps motion up to so many Hz."""
    return (fps / (2.0 * np.pi * np.asarray(cutoff))) ** 6


def kept_noise(stiffness: float) -> float:
    """Return the mean weight with which a spline of equal weights takes the value of a point from the point itself."""
    return float((1.0 / (1.0 + stiffness * (2.0 * np.sin(0.5 * FREQUENCIES)) ** 6)).mean())


def smooth_points(points: Any, weights: Any, stiffness: Any, bones: Any, lengths: Any, give: Any) -> Any:
    """Smooth points, (T, K, 3), between which bones, (B, 2), have lengths, (B,), 0 where they are not known.

    weights: (T, K). stiffness: (K,), of each point. give: (3,): variance of the noise of each axis, relative to the
    best.
    """
    frames, count = points.shape[:2]
    if frames < 4:
        return points.copy()
    columns = np.ascontiguousarray(points, np.float64).reshape(frames, count * 3)
    data = np.maximum(weights[..., np.newaxis] / give, LEAST).reshape(frames, count * 3)
    out, bands, stencil = np.empty_like(columns), np.empty((frames, 4, count * 3)), stencil_of(frames)
    stiff = np.repeat(np.asarray(stiffness, np.float64), 3)
    factor_bands(data, stiff, 0.0, stencil, bands)
    solve_bands(bands, data, columns, columns, 0.0, out)
    rigid = lengths > 0
    if not rigid.any():
        return out.reshape(points.shape)
    bones, lengths = np.ascontiguousarray(bones[rigid]), np.ascontiguousarray(lengths[rigid])
    free = 1.0 / (1.0 + weights / PULL)
    factor_bands(data, stiff, PULL, stencil, bands)
    for _ in range(ROUNDS):
        targets = out.copy()
        keep_lengths(targets.reshape(points.shape), bones, lengths, give, free, SWEEPS)
        solve_bands(bands, data, columns, targets, PULL, out)
    return out.reshape(points.shape)
