"""Swinging feet that went through the ground are raised out of it, smoothly, and where they stand not at all."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.animating import BakedFrames
from kinema.bake.clearances import SHALLOWEST, clearances
from kinema.bake.clip_frames import frames_of
from kinema.demo import humanoid


@pytest.fixture(scope="module")
def walk():
    person = humanoid()
    return frames_of(person.rig, person.clips["walk"], BakeSettings(lock_feet=True, loops=2)).without_lead


def unchanged(walk):
    return BakedFrames(walk.poses, walk.transforms, walk.world)


def test_feet_above_the_ground_are_left_alone(walk):
    assert not clearances(walk, unchanged(walk), km.Plane()).any()


def test_feet_in_the_ground_are_raised_while_they_swing(walk):
    ground = km.Plane((0.0, 0.05, 0.0))
    depth = metrics.penetration(metrics.soles_over(walk.rig, walk.world, ground))
    raised = clearances(walk, unchanged(walk), ground)
    assert not raised[walk.held].any(), "feet that stand are not raised"
    held = np.stack([np.convolve(walk.held[:, leg], np.ones(13), mode="same") > 0 for leg in range(2)], axis=1)
    deep = ~held & (depth > SHALLOWEST * walk.rig.leg_length)
    assert deep.sum() > 5
    assert (raised[deep] > depth[deep]).all()
    assert np.abs(np.diff(raised, axis=0)).max() < 0.4 * raised.max(), "nothing jumps"


def test_a_clip_shorter_than_the_smoothing(walk):
    person = humanoid()
    pose = km.Clip.from_poses("pose", person.skeleton, walk.poses[[30, 30]], times=np.array((0.0, 1 / 60)))
    frames = frames_of(person.rig, pose, BakeSettings(lock_feet=True)).without_lead
    deep = clearances(frames, unchanged(frames), km.Plane((0.0, 0.3, 0.0)))
    assert deep.shape == frames.held.shape
    assert np.isfinite(deep).all()
