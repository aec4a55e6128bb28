"""`SwingSpline`: smooth values of feet over time that are fixed while a foot is held."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.constants import TELEPORT
from kinema.math.arrays import minimum_jerk
from kinema.math.smoothing import smooth
from kinema.motion.runs import runs
from kinema.stages.feet.clip_foot import FASTEST_FOOT

SMOOTHING = 0.045
"""Seconds: time constant of the smoothing. What changes within less than about six times this is smoothed."""

PINNED_WEIGHT = 1e9
"""Weight of a frame in which a foot is held, against 1 while it swings."""

MAX_FRAMES = 24.0
"""Frames of the longest time constant. The stiffness is its sixth power; more would be lost in rounding."""

CONTACT_SPEED_TIME = 0.08
"""Seconds of a contact whose mean speed a swing starts and ends with."""

CONTACT_TIME = 0.25
"""Seconds from a contact within which the contact decides on the height of a foot, rather than what was planned before
the contact was known."""

MAX_SHIFT = 0.03
"""Leg lengths that smoothing may move a swinging foot across the ground, or beyond the heights of its swing."""

BACKOFF, BACKOFF_STEPS = 0.75, 10
"""Factor by which the time constant of a swing is shortened while it moves the foot farther, and how often at most."""


class SwingSpline(NamedTuple):
    """Smooths values of F frames and L legs."""

    pinned: Any
    """(F, L): where values stay as they are."""
    seconds: Any
    """(F, L): the time constant of each swing."""
    continuous: Any
    """(F - 3,): 1 for four frames in a row without a jump of the clip, else 0."""
    dt: float
    """Seconds from frame to frame."""

    def smooth(self, values: Any, weights: Any) -> Any:
        """Smooth values, (F, L, n), whose weights are (F, L)."""
        weights = np.where(self.pinned, PINNED_WEIGHT, weights)
        # Four frames that belong to two swings are as stiff as the one that is smoothed less.
        seconds = np.lib.stride_tricks.sliding_window_view(self.seconds, 4, axis=0).min(axis=-1)
        stiffness = stiffness_of(seconds, self.dt) * self.continuous[:, np.newaxis]
        steady = self._with_steady_contacts(values)
        legs = [smooth(steady[:, n], weights[:, n], stiffness[:, n]) for n in range(values.shape[1])]
        return np.where(self.pinned[..., np.newaxis], values, np.stack(legs, axis=1))

    def weights_near_contacts(self, least: float) -> Any:
        """(F, L): weights that rise from `least` at a contact to 1 at `CONTACT_TIME` from it."""
        frames = frames_to(self.pinned)
        return least + (1.0 - least) * minimum_jerk(np.minimum(frames * self.dt / CONTACT_TIME, 1.0))

    def _with_steady_contacts(self, values: Any) -> Any:
        """(F, L, n): values that have the mean speed of the contact in the two held frames next to a swing.

        A foot that rolls over its toes shakes. A swing that continued its last speed would go astray.
        """
        steady, count = values.copy(), max(2, round(CONTACT_SPEED_TIME / self.dt))
        for leg, start, stop in swings_of(self.pinned):
            for edge, way in ((start - 1, -1), (stop, 1)):
                far = min(max(edge + way * count, 0), len(values) - 1)
                if not 0 <= edge < len(values) or far == edge:
                    continue
                speed = (values[far, leg] - values[edge, leg]) / abs(far - edge)
                for k in range(1, min(abs(far - edge), 2) + 1):
                    steady[edge + way * k, leg] = values[edge, leg] + k * speed
        return steady


def spline_for(moves: Any, pinned: Any, clip_frames: ClipFrames, least_weight: float) -> SwingSpline:
    """Return a spline that smooths each swing as much as it may without taking the foot too far.

    moves: (F, L, 3), how far ankles are from the clip's. pinned: (F, L). least_weight: of heights beside contacts.
    """
    up, farthest = np.array(clip_frames.rig.up), MAX_SHIFT * clip_frames.rig.leg_length
    spline = SwingSpline(pinned, np.full(pinned.shape, SMOOTHING), continuous_frames(clip_frames), clip_frames.dt)
    heights, weights = (moves @ up)[..., np.newaxis], spline.weights_near_contacts(least_weight)
    across = moves - heights * up
    for _ in range(BACKOFF_STEPS):
        shifts = np.linalg.norm(spline.smooth(across, np.ones(pinned.shape)) - across, axis=-1)
        height, done = spline.smooth(heights, weights), True
        for leg, start, stop in swings_of(pinned):
            around, new = heights[max(start - 1, 0) : stop + 1, leg], height[start:stop, leg]
            above = max(float(new.max() - around.max()), float(around.min() - new.min()))
            if max(above, float(shifts[start:stop, leg].max())) > farthest:
                spline.seconds[start:stop, leg] *= BACKOFF
                done = False
        if done:
            break
    return spline


def stiffness_of(seconds: Any, dt: float) -> Any:
    """The stiffness of a smoothing spline with this time constant."""
    return np.minimum(seconds / dt, MAX_FRAMES) ** 6


def swings_of(pinned: Any) -> list[tuple[int, int, int]]:
    """The leg, the first frame and the frame after the last one of every swing. pinned: (F, L)."""
    return list(zip(*runs(~pinned.T), strict=True))


def frames_to(mask: Any) -> Any:
    """(F, L): frames to the nearest one in which the mask, (F, L), is set; many where there is none."""
    frames, many = np.arange(len(mask))[:, np.newaxis], len(mask)
    before = np.maximum.accumulate(np.where(mask, frames, -many), axis=0)
    after = np.minimum.accumulate(np.where(mask, frames, 2 * many)[::-1], axis=0)[::-1]
    return np.minimum(np.minimum(frames - before, after - frames), many)


def continuous_frames(clip_frames: ClipFrames) -> Any:
    """(F - 3,): 1 for four frames in a row in which hips and feet of the clip do not jump, else 0.

    Captured takes may start with a frame of their rest pose.
    """
    rig = clip_frames.rig
    places = clip_frames.world[:, [rig.hips, *(leg.joints[-1] for leg in rig.legs)]][..., :3, 3]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).max(axis=-1)
    jumps = steps > max(TELEPORT, FASTEST_FOOT * clip_frames.dt) * rig.leg_length
    return (~np.lib.stride_tricks.sliding_window_view(jumps, 3).any(axis=-1)).astype(np.float64)
