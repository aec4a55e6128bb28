"""Steps of leg joints beyond the clip are spread over time; everything slower stays as it is."""

import numpy as np
import pytest

from kinema.bake import BakeSettings
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.rotation_bounds import FASTEST_BEYOND, without_pops
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.pose import Pose


@pytest.fixture(scope="module")
def walk():
    person = humanoid()
    return frames_of(person.rig, person.clips["walk"], BakeSettings(lock_feet=True)).without_lead


def with_step(walk, joint, degrees, frame):
    """The frames of the clip, with one joint rotated from some frame on."""
    t, r, s = (part.copy() for part in walk.poses.arrays())
    step = arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.radians(degrees)).astype(r.dtype)
    r[frame:, joint] = arrays.mul(r[frame:, joint], step)
    poses = Pose.of(t, r, s)
    return BakedFrames(poses, walk.transforms, walk.transforms[:, np.newaxis] @ walk.rig.skeleton.world(poses))


def beyond(walk, frames, joint):
    """(F-1,): radians from frame to frame of what is added to the clip."""
    before, after = (poses.arrays()[1][:, joint] for poses in (walk.poses, frames.poses))
    added = arrays.mul(arrays.conj(before), after)
    return arrays.angle_between(added[:-1], added[1:])


@pytest.mark.parametrize("degrees", [60.0, 175.0])
def test_a_pop_is_spread_before_and_after_it(walk, degrees):
    knee, frame = walk.rig.legs[0].joints[1], len(walk.times) // 2
    popping = with_step(walk, knee, degrees, frame)
    bounded = without_pops(walk, popping)
    steps = beyond(walk, bounded, knee)
    assert steps.max() <= FASTEST_BEYOND * walk.dt * 1.001
    moving = np.flatnonzero(steps > np.radians(1))
    assert moving[0] < frame - 1 < moving[-1]
    np.testing.assert_allclose(bounded.poses.arrays()[1][-1, knee], popping.poses.arrays()[1][-1, knee], atol=1e-5)


def test_world_matrices_follow(walk):
    knee = walk.rig.legs[0].joints[1]
    bounded = without_pops(walk, with_step(walk, knee, 90.0, len(walk.times) // 2))
    world = walk.transforms[:, np.newaxis] @ walk.rig.skeleton.world(bounded.poses)
    np.testing.assert_allclose(bounded.world, world, atol=1e-6)


def test_slower_motion_and_other_joints_are_left_as_they_are(walk):
    knee, arm = walk.rig.legs[0].joints[1], walk.rig.arms[0].joints[0]
    slow = with_step(walk, knee, 10.0, 5)
    assert without_pops(walk, slow) is slow
    other = with_step(walk, arm, 90.0, 5)
    assert without_pops(walk, other) is other
