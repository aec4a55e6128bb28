"""Left and right that a detector has swapped in some frames.

Of the two ways to read each frame, the sequence is taken in which points move the least (Viterbi).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.compile.jit import batch

OFTEN = 0.02
"""What a frame costs that is read swapped, as a share of the squared distance between its two sides."""


@batch
def read_sides(points, ages, pairs, swapped, room):
    """Find the frames in which left and right are swapped, swapped (T,), with the sides as most frames have them.

    points: (T, K, 3), as last seen; NaN before that. ages: (T, K), frames since then. pairs: (P, 2): columns. room: (T,
    2, 2), where costs are kept.
    """
    frames = points.shape[0]
    room[0, 0, 0] = 0.0
    room[0, 1, 0] = 0.0
    for t in range(1, frames):
        same, across, apart = 0.0, 0.0, 0.0
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            s, c, d, all_seen = 0.0, 0.0, 0.0, True
            for axis in range(3):
                a0, b0, a1, b1 = points[t - 1, a, axis], points[t - 1, b, axis], points[t, a, axis], points[t, b, axis]
                all_seen = all_seen and a0 == a0 and b0 == b0 and a1 == a1 and b1 == b1
                s += (a1 - a0) * (a1 - a0) + (b1 - b0) * (b1 - b0)
                c += (b1 - a0) * (b1 - a0) + (a1 - b0) * (a1 - b0)
                d += (a1 - b1) * (a1 - b1)
            if all_seen and ages[t, a] == 0 and ages[t, b] == 0:  # What was not seen for long may have moved far.
                share = 1.0 / (1.0 + max(ages[t - 1, a], ages[t - 1, b])) ** 2
                same, across, apart = same + s * share, across + c * share, apart + d * share
        for state in range(2):
            stay, change = room[t - 1, state, 0] + same, room[t - 1, 1 - state, 0] + across
            room[t, state, 0] = min(stay, change) + (apart * OFTEN if state == 1 else 0.0)
            room[t, state, 1] = state if stay <= change else 1 - state
    state = 1 if room[frames - 1, 1, 0] < room[frames - 1, 0, 0] else 0
    for back in range(frames):
        t = frames - 1 - back
        swapped[t] = state == 1
        state = int(room[t, state, 1]) if t > 0 else state


def find_swaps(points: Any, pairs: Any) -> Any:
    """Return in which frames left and right are swapped, (T,). points: (T, K, 3). pairs: (P, 2): columns."""
    swapped = np.zeros(len(points), bool)
    if len(points) > 2 and len(pairs):
        read_sides(*_last_seen(points), pairs, swapped, np.zeros((len(points), 2, 2)))
    return ~swapped if swapped.mean() > 0.5 else swapped


def swap_sides(points: Any, pairs: Any, swapped: Any) -> Any:
    """Return points with left and right swapped in some frames, (T,)."""
    result = points.copy()
    first, second = pairs[:, 0], pairs[:, 1]
    where = np.flatnonzero(swapped)[:, np.newaxis]
    result[where, first], result[where, second] = points[where, second], points[where, first]
    return result


def _last_seen(points: Any) -> tuple[Any, Any]:
    """Each point where it was last seen, (T, K, 3), NaN before that; and frames since then, (T, K)."""
    seen = ~np.isnan(points[..., 0])
    frames = np.arange(len(points))[:, np.newaxis]
    last = np.maximum.accumulate(np.where(seen, frames, 0), axis=0)
    held = np.take_along_axis(points, np.broadcast_to(last[..., np.newaxis], points.shape), axis=0)
    return np.ascontiguousarray(held), (frames - last).astype(np.float64)
