"""The frames of a clip: contacts of walks and fast runs."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of
from tests.assets import asset


def frames(file):
    """The frames of a take."""
    character = km.load(asset(file))
    (clip,) = character.clips.values()
    return frames_of(character.rig, clip, BakeSettings(lock_feet=True))


def plants(file):
    """Which feet of a take are planted, (F, L)."""
    return frames(file).planted


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


def test_feet_that_hardly_move_just_above_the_floor_are_held():
    """In this take the left foot stands 2% of a leg above the floor that the other one stands on."""
    take = frames("bvh/cmu/cmu_137_28.bvh")
    assert take.held[take.planted].all()
    assert take.held[:, 1].mean() > take.planted[:, 1].mean() + 0.1


def test_held_feet_are_slow_and_low():
    take = frames("bvh/cmu_02_01.bvh")
    soles = metrics.sole_points(take.rig, take.world)
    low = (soles @ np.array(take.rig.up) - take.rig.floor).min(axis=-1)
    speed = np.linalg.norm(np.gradient(soles, take.dt, axis=0), axis=-1).min(axis=-1)
    assert low[take.held].max() < 0.06 * take.rig.leg_length
    assert speed[take.held].max() < 0.6 * take.rig.leg_length
