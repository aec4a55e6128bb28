"""When and where each foot lands next: in a bake the future is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames

BALL = 1
"""Which of a sole's points, heel, ball and tip, stands for the foot."""


class Landings:
    """The landings of F frames and L legs."""

    def __init__(self, clip_frames: ClipFrames) -> None:
        planted, frames = clip_frames.held, np.arange(len(clip_frames.held))[:, np.newaxis]
        never = len(planted)
        self._dt = clip_frames.dt
        # (F, L): the next frame in which a foot stands, and the last one in which it stood.
        self._next = np.minimum.accumulate(np.where(planted, frames, never)[::-1])[::-1]
        self._last = np.maximum.accumulate(np.where(planted, frames, -1))
        self._balls = self._standing(metrics.sole_points(clip_frames.rig, clip_frames.world)[:, :, BALL])

    def _standing(self, balls: Any) -> Any:
        """(F, L, 3): in planted frames, where the ball stands in most of the plant: it gets there only after the heel
        has landed.
        """
        standing = balls.copy()
        for leg in range(balls.shape[1]):
            landed = self._next[:, leg] == np.arange(len(balls))
            starts, ends = (np.flatnonzero(np.diff(np.pad(landed, 1).astype(int)) == way) for way in (1, -1))
            for start, end in zip(starts, ends, strict=True):
                standing[start:end, leg] = np.median(balls[start:end, leg], axis=0)
        return standing

    def after(self, frame: int) -> tuple[Any, Any, Any]:
        """Seconds until each foot lands, (L,), infinite where it does not any more; where its ball is then, (L, 3); and
        how long it is in the air by then, (L,), seconds.
        """
        lands, left_at, never = self._next[frame], self._last[frame], len(self._balls)
        at = np.minimum(lands, never - 1)
        points = self._balls[at, np.arange(len(at))]
        seconds = np.where(lands < never, (lands - frame) * self._dt, np.inf)
        return seconds, points, (lands - np.maximum(left_at, 0)) * self._dt
