"""Bound how fast leg joints rotate beyond the clip: no pops in a bake.

Where a foot is put elsewhere at once, or a knee passes through straight, a leg joint may rotate by a right angle and
more from one frame to the next. In a bake the frames to come are known, so such a step is spread over the frames before
and after it. Everything slower is left exactly as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.pose import Pose
from kinema.skeleton import Joint

FASTEST_BEYOND = np.radians(22.0) * 60.0
"""Radians a second that a leg joint rotates at most beyond the clip: 22 degrees in 1/60 s. From 25 on it is seen as a
pop."""


MOST_MOVED_HELD, MOST_MOVED = 0.01, 0.4
"""Leg lengths that a sole may be moved by that, while it is held in place and while it swings. A leg whose foot would
be moved farther keeps its pops: they are those of joints that rotate against each other."""


def without_pops(clip_frames: ClipFrames, frames: BakedFrames) -> BakedFrames:
    """Return the frames with steps of leg joints beyond the clip spread over time.

    clip_frames: without a lead-in. frames: what the stages returned for them.
    """
    wanted = metrics.sole_points(clip_frames.rig, frames.world)
    for n, leg in enumerate(clip_frames.rig.legs):
        toes = clip_frames.rig.sole_points(leg)[0][-1]
        bounded = _bounded(clip_frames, frames, dict.fromkeys((*leg.joints, toes)))
        if bounded is frames:
            continue
        moved = np.linalg.norm(metrics.sole_points(clip_frames.rig, bounded.world) - wanted, axis=-1)[:, n].max(axis=-1)
        allowed = np.where(clip_frames.held[:, n], MOST_MOVED_HELD, MOST_MOVED) * clip_frames.rig.leg_length
        if (moved <= allowed).all():
            frames = bounded
    return frames


def _bounded(clip_frames: ClipFrames, frames: BakedFrames, joints: Iterable[Joint]) -> BakedFrames:
    """Return the frames with steps of some joints beyond the clip spread over time; the same, if there are none."""
    most = FASTEST_BEYOND * clip_frames.dt
    translations, rotations, scales = frames.poses.arrays()
    bounded, own = rotations.copy(), clip_frames.poses.arrays()[1]
    for joint in map(int, joints):
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
