"""Which parts of soles stand, where points are noisy: those that stay in one place for some time.

From frame to frame, noise is as fast as a foot. So a point of a sole stands for as long as it is low and near the mean
of where it is in that time, which grows from its slowest moment on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.compile.jit import batch
from kinema.motion.contacts import LONGEST_GAP, LOWEST_SHARE
from kinema.motion.runs import without_noise
from kinema.motion.soles import TIP

NEAR = 0.04
"""Leg lengths from the mean of its places within which a point stays: 3 cm, what is left of 1 cm of noise at worst."""

LOW = 0.05
"""Leg lengths above where it is lowest up to which a point stands."""

HIGHEST = 0.1
"""Leg lengths above the floor that a standing point is, at most: body models have the ball inside the foot."""

SLOW = 0.35
"""Leg lengths a second below which a point is in its slowest moment; feet that are dragged are faster."""

SHORTEST = 0.1
"""Seconds that a point stays, at least."""


@batch
def find_stays(flat, low, speeds, order, near, slow, fewest, stays):
    """Mark the frames in which points stay, (K, F): 1 where they do. All are (K, F), `flat` (K, F, 2).

    order: frames, the slowest first. fewest: frames that count.
    """
    frames = flat.shape[1]
    for k in range(flat.shape[0]):
        for n in range(frames):
            start = order[k, n]
            if speeds[k, start] > slow:
                break
            if low[k, start] == 0 or stays[k, start] != 0:
                continue
            first, stop, x, y = start, start + 1, flat[k, start, 0], flat[k, start, 1]
            grows = True
            while grows:
                grows = False
                count = stop - first
                for t in (stop, first - 1):
                    if 0 <= t < frames and low[k, t] != 0 and stays[k, t] == 0:
                        way_x, way_y = flat[k, t, 0] - x / count, flat[k, t, 1] - y / count
                        if way_x * way_x + way_y * way_y < near * near:
                            first, stop = min(first, t), max(stop, t + 1)
                            x, y = x + flat[k, t, 0], y + flat[k, t, 1]
                            count, grows = stop - first, True
            mark = 1 if stop - first >= fewest else 2
            for t in range(first, stop):
                stays[k, t] = mark


def standing_parts(points: Any, leg: float, dt: float) -> tuple[Any, Any]:
    """Return which feet stand, (F, L), and which of heel, ball and tip of each stay in place, (F, L, 3): 0 or 1.

    points: (F, L, 2, 3), heel and ball in canonical axes, heights above the floor. leg: its length.
    """
    frames, legs = points.shape[:2]
    columns = np.ascontiguousarray(points.reshape(frames, -1, 3).swapaxes(0, 1))
    heights, flat = columns[..., 1] / leg, np.ascontiguousarray(columns[..., ::2])
    lowest = np.clip(np.quantile(heights, LOWEST_SHARE, axis=1, keepdims=True), 0.0, HIGHEST)
    low = (heights - lowest < LOW).astype(np.int64)
    speeds = np.linalg.norm(np.gradient(flat, dt, axis=1), axis=-1)
    stays = np.zeros_like(low)
    order = np.argsort(speeds, axis=1, kind="stable")
    find_stays(flat, low, speeds, order, NEAR * leg, SLOW * leg, SHORTEST / dt, stays)
    parts = np.zeros((frames, legs, 3))
    parts[..., :TIP] = (stays == 1).T.reshape(frames, legs, TIP)
    return without_noise(parts.any(axis=-1), LONGEST_GAP / dt, SHORTEST / dt), parts
