"""The frames of a clip: contacts of walks and fast runs."""

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of
from tests.assets import asset


def plants(file):
    """Which feet of a take are planted, (F, L)."""
    character = km.load(asset(file))
    (clip,) = character.clips.values()
    return frames_of(character.rig, clip, BakeSettings(lock_feet=True)).planted


@pytest.mark.parametrize(("file", "steps"), [("bvh/cmu/cmu_09_01.bvh", 4), ("bvh/cmu_02_01.bvh", 4)])
def test_every_step_of_a_run_and_of_a_walk_is_planted(file, steps):
    """The run goes at 4 leg lengths a second."""
    planted = plants(file)
    landings = np.diff(np.pad(planted, ((1, 1), (0, 0))).astype(int), axis=0) == 1
    assert steps <= landings.sum() <= steps + 2


def test_feet_of_a_run_fly():
    planted = plants("bvh/cmu/cmu_09_01.bvh")
    assert not planted.all(axis=1).any()
    assert (~planted.any(axis=1)).mean() > 0.3
