"""`Feet` while a game runs: a clip frame by frame, at a rate, with nothing known of the frames to come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import kinema as km
from kinema.bake.preparing import prepare_clip
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests.motion.cases import Case
from tests.motion.reference import clip_times

RATES = (30, 60, 120, 240)
"""Frames a second."""

PLAYED_RATE = 60.0
"""Keys a second of the clip that is played, pass after pass."""


POSE_SECONDS = 1.0
"""Seconds that a clip of one pose is played."""


class Motion(NamedTuple):
    """A character's motion. F frames."""

    times: Any
    """(F,): seconds, evenly spaced."""
    poses: Pose
    """(F,)"""
    transforms: Any
    """(F, 4, 4): of the character."""

    def at(self, skeleton: Skeleton, times: Any) -> Motion:
        """The motion at other times."""
        poses = Clip.from_poses("motion", skeleton, self.poses, times=self.times).sample(times)
        at = np.clip(times / (self.times[1] - self.times[0]), 0.0, len(self.times) - 1)
        left = np.minimum(at.astype(int), len(self.times) - 2)
        share = (at - left)[:, np.newaxis, np.newaxis]
        return Motion(times, poses, self.transforms[left] * (1 - share) + self.transforms[left + 1] * share)


def play(case: Case, rate: float) -> Motion:
    """Play a clip through `Play` and `Feet`, prepared as a game prepares it. Where it walks in place, a game moves the
    character as its feet do.
    """
    rig, seconds = case.character.rig, case.one_pass * case.settings.loops or POSE_SECONDS
    assert rig is not None
    times = np.arange(int(seconds * rate + 1e-6) + 1) / rate
    every = np.arange(int(seconds * PLAYED_RATE + 1e-6) + 2) / PLAYED_RATE
    prepared = prepare_clip(case.character, case.clip)
    poses = prepared.sample(clip_times(prepared, np.minimum(every, seconds), case.one_pass))
    clip = Clip.from_poses("clip", rig.skeleton, poses, times=every)
    animator = km.Animator(
        replace(case.character, clips={"clip": clip}), [km.Play("clip", loop=False), km.Feet()], ground=case.ground
    )
    up, height, frames = np.array(rig.up, np.float64), 0.0, []
    for k, seconds in enumerate(times):
        animator.set_transform(case.travel * seconds + up * height, (0.0, 0.0, 0.0, 1.0))
        frames.append(animator.update(1 / rate if k else 0.0))
        height = float(frames[-1].transform[:3, 3] @ up)
    parts = ([frame.pose.arrays()[n] for frame in frames] for n in range(3))
    transforms = np.array([frame.transform for frame in frames], np.float64)
    return Motion(times, Pose.of(*map(np.array, parts)), transforms)
