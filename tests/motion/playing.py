"""`Feet` while a game runs: a clip frame by frame, at a rate, with nothing known of the frames to come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import kinema as km
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from tests.motion.cases import Case

RATES = (30, 60, 120, 240)
"""Frames a second."""


class Motion(NamedTuple):
    """A character's motion. F frames."""

    times: Any
    """(F,): seconds, evenly spaced."""
    poses: Pose
    """(F,)"""
    transforms: Any
    """(F, 4, 4): of the character."""

    def at(self, rig: Rig, times: Any) -> Motion:
        """The motion at other times."""
        poses = Clip.from_poses("motion", rig.skeleton, self.poses, times=self.times).sample(times)
        at = np.clip(times / (self.times[1] - self.times[0]), 0.0, len(self.times) - 1)
        left = np.minimum(at.astype(int), len(self.times) - 2)
        share = (at - left)[:, np.newaxis, np.newaxis]
        return Motion(times, poses, self.transforms[left] * (1 - share) + self.transforms[left + 1] * share)

    def world(self, rig: Rig) -> Any:
        """(F, J, 4, 4)"""
        return self.transforms[:, np.newaxis] @ rig.skeleton.world(self.poses).astype(np.float64)


def clip_motion(case: Case) -> Motion:
    """The clip with its travel on level ground."""
    return Motion(case.clip_frames.times, case.clip_frames.poses, case.clip_frames.transforms)


def play(case: Case, rate: float) -> Motion:
    """Play a clip through `Play` and `Feet`. Where it walks in place, a game moves the character as its feet do."""
    rig, whole = case.clip_frames.rig, clip_motion(case)
    clip = Clip.from_poses("clip", rig.skeleton, whole.poses, times=whole.times)
    way = whole.at(rig, np.arange(int(whole.times[-1] * rate + 1e-6) + 1) / rate)
    rotations = arrays.from_matrix(arrays.unit(way.transforms[:, :3, :3].swapaxes(1, 2)).swapaxes(1, 2))
    character = replace(case.character, rig=rig, clips={"clip": clip})
    animator = km.Animator(character, [km.Play("clip", loop=False), km.Feet()], ground=case.ground)
    up, height, frames = np.array(rig.up, np.float64), 0.0, []
    for k in range(len(way.times)):
        across = way.transforms[k, :3, 3]
        animator.set_transform(across - up * (across @ up) + up * height, rotations[k])
        frames.append(animator.update(1 / rate if k else 0.0))
        height = float(frames[-1].transform[:3, 3] @ up)
    parts = ([frame.pose.arrays()[n] for frame in frames] for n in range(3))
    transforms = np.array([frame.transform for frame in frames], np.float64)
    return Motion(way.times, Pose.of(*map(np.array, parts)), transforms)
