"""Hold what drifts in contacts, and let corrections of contacts fade into each other between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.math.arrays import minimum_jerk
from kinema.motion.runs import runs


def steadied(moves: Any, held: Any) -> Any:
    """Return what makes vectors of feet, (F, L, 3), constant while a foot is held, (F, L), at their mean; see `bridged`
    for what it is in between.
    """
    return bridged(to_mean(moves, held), held)


def to_mean(moves: Any, held: Any) -> Any:
    """Return from each of some vectors of feet, (F, L, 3), to the mean of its contact; zero where none is held."""
    changes = np.zeros_like(moves)
    for foot, start, stop in zip(*runs(held.T), strict=True):
        part = moves[start:stop, foot]
        changes[start:stop, foot] = part.mean(axis=0) - part
    return changes


def bridged(changes: Any, held: Any, one_pass: int = 0, fade: float = np.inf) -> Any:
    """Return vectors of feet, (F, L, 3), that are given while a foot is held, (F, L), and go from one contact to the
    next with least jerk. Before the first contact and after the last they stay.

    one_pass: frames of a pass of a loop, which ends as it begins; 0: no loop. fade: frames from a contact in which they
    fade to zero, where there are as many to both sides.
    """
    changes, count = changes.copy(), len(changes)
    frames = np.arange(count)[:, np.newaxis]
    last = np.maximum.accumulate(np.where(held, frames, -count), axis=0)
    following = np.minimum.accumulate(np.where(held, frames, 2 * count)[::-1], axis=0)[::-1]
    for foot in np.flatnonzero(held.any(axis=0)):
        start, end = last[:, foot], following[:, foot]
        from_start, to_end = frames[:, 0] - start, end - frames[:, 0]
        first, final = start < 0, end > count - 1
        start, end = np.where(first, end, start), np.where(final, start, end)
        before, after = changes[start, foot], changes[end, foot]
        share = minimum_jerk(np.clip((frames[:, 0] - start) / np.maximum(end - start, 1), 0.0, 1.0))
        left, right = 1.0 - share, share
        if np.isfinite(fade):
            long = first | final | (from_start + to_end > 2 * fade)
            left = np.where(long, ~first * (1.0 - minimum_jerk(np.minimum(from_start / fade, 1.0))), left)
            right = np.where(long, ~final * (1.0 - minimum_jerk(np.minimum(to_end / fade, 1.0))), right)
            right = np.where(from_start + to_end == 0, 0.0, right)
        changes[:, foot] = before * left[:, np.newaxis] + after * right[:, np.newaxis]
        swings = count - 1 - int(np.flatnonzero(held[:, foot])[-1])
        if 0 < swings < one_pass < count - swings:
            changes[count - swings :, foot] = changes[count - swings - one_pass : count - one_pass, foot]
    return changes
