"""Bound how fast leg joints rotate beyond the clip: no pops in a bake.

Where a foot is put elsewhere at once, or a knee passes through straight, a leg joint may rotate by a right angle and
more from one frame to the next. In a bake the frames to come are known, so such a step is spread over the frames before
and after it. Everything slower is left exactly as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.pose import Pose

FASTEST_BEYOND = np.radians(22.0) * 60.0
"""Radians a second that a leg joint rotates at most beyond the clip: 22 degrees in 1/60 s. From 25 on it is seen as a
pop."""


def without_pops(clip_frames: ClipFrames, frames: BakedFrames) -> BakedFrames:
    """Return the frames with steps of leg joints beyond the clip spread over time.

    clip_frames: without a lead-in. frames: what the stages returned for them.
    """
    most = FASTEST_BEYOND * clip_frames.dt
    translations, rotations, scales = frames.poses.arrays()
    bounded, own = rotations.copy(), clip_frames.poses.arrays()[1]
    joints = sorted({int(joint) for leg in clip_frames.rig.legs for joint in leg.joints})
    for joint in joints:
        before = own[:, joint].astype(np.float64)
        corrections = arrays.mul(arrays.conj(before), rotations[:, joint].astype(np.float64))
        if _steps(corrections).max(initial=0.0) > most:
            bounded[:, joint] = arrays.unit(arrays.mul(before, _spread(corrections, most)))
    if np.array_equal(bounded, rotations):
        return frames
    poses = Pose.of(translations, bounded, scales)
    world = frames.transforms[:, np.newaxis] @ clip_frames.rig.skeleton.world(poses)
    return replace(frames, poses=poses, world=world.astype(np.float64))


def _steps(rotations: Any) -> Any:
    """(F-1,): radians from one rotation to the next."""
    return arrays.angle_between(rotations[:-1], rotations[1:])


def _spread(rotations: Any, most: float) -> Any:
    """(F, 4): rotations with no step of more than so many radians, half of each spread before it and half after."""
    late, early = _followed(rotations, most), _followed(rotations[::-1], most)[::-1]
    return _followed(arrays.slerp(early, late, np.full(len(rotations), 0.5)), most)


def _followed(rotations: Any, most: float) -> Any:
    """(F, 4): rotations that follow these with steps of so many radians at most."""
    followed = rotations.copy()
    for k in range(1, len(rotations)):
        angle = float(arrays.angle_between(followed[k - 1], rotations[k]))
        if angle > most:
            followed[k] = arrays.slerp(followed[k - 1], rotations[k], np.array(most / angle))
    return followed
