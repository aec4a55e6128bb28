"""When and where each foot lands next: in a bake the future is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.clip_landings import standing_vectors


class Landing(NamedTuple):
    """The next landing of each of L feet, seen from a frame."""

    seconds: Any
    """(L,): until then; infinite where there is none."""
    points: Any
    """(L, 3): where the ball is then."""
    swings: Any
    """(L,): seconds that the foot is in the air by then."""
    headings: Any
    """(L, 3): from heel to tip, across up, unit."""
    fixed: Any
    """(L,): whether the foot was put there by the bake, and looks for no other foothold."""


class Landings:
    """The landings of F frames and L legs."""

    def __init__(self, clip_frames: ClipFrames) -> None:
        stands, frames = clip_frames.held, np.arange(len(clip_frames.held))[:, np.newaxis]
        never = len(stands)
        self._dt, self._stands = clip_frames.dt, stands
        # (F, L): the next frame in which a foot stands, and the last one in which it stood.
        self._next = np.minimum.accumulate(np.where(stands, frames, never)[::-1])[::-1]
        self._last = np.maximum.accumulate(np.where(stands, frames, -1))
        soles, up = metrics.sole_points(clip_frames.rig, clip_frames.world), np.array(clip_frames.rig.up)
        ahead = soles[:, :, TIP] - soles[:, :, HEEL]
        self._balls = standing_vectors(stands, soles[:, :, BALL])
        self._fixed = clip_frames.placed
        self._headings = arrays.unit(standing_vectors(stands, ahead - (ahead @ up)[..., np.newaxis] * up))

    def after(self, frame: int) -> Landing:
        """The next landings from a frame on."""
        lands, left_at, never = self._next[frame], self._last[frame], len(self._balls)
        at = np.minimum(lands, never - 1), np.arange(len(lands))
        seconds = np.where(lands < never, (lands - frame) * self._dt, np.inf)
        swings = (lands - np.maximum(left_at, 0)) * self._dt
        return Landing(seconds, self._balls[at], swings, self._headings[at], self._fixed[at])
