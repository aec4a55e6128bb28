"""The judge: what it calls floating, a step and a motion."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from tests.retargeting.judging import after_calibration, judge
from tests.retargeting.suite import over

PERSON = humanoid()
WALK = PERSON.clips["walk"]
TIMES = np.linspace(0.0, WALK.duration, 61)
POSES = WALK.sample(TIMES).astype(np.float64)


def judged(poses, source=POSES):
    """Figures of poses of the person, made of others."""
    clips = [km.Clip.from_poses("walk", PERSON.skeleton, each, times=TIMES) for each in (source, poses)]
    return judge(PERSON, clips[0], PERSON, clips[1])


def with_rotations(poses, rotations, translations=None):
    return Pose.of(poses.translations if translations is None else translations, rotations, poses.scales)


def test_a_motion_is_as_good_as_itself():
    found = judged(POSES)
    assert found["limbs"] == pytest.approx(0.0, abs=0.1)
    assert found["float"] < 0.03
    assert found["beyond"] == 0.0


def test_a_body_that_is_raised_floats():
    raised = POSES.translations.copy()
    raised[:, 0, 1] += 0.1 * PERSON.rig.leg_length
    found = judged(with_rotations(POSES, POSES.rotations, raised))
    assert found["float"] > 0.08
    assert over({"own": False} | found, "float")
    assert not over({"own": True} | found, "float"), "a clip on its own body stays as it is"


def test_a_body_that_is_drawn_along_slides():
    drawn = POSES.translations.copy()
    drawn[:, 0, 0] += np.linspace(0.0, PERSON.rig.leg_length, len(TIMES))
    assert judged(with_rotations(POSES, POSES.rotations, drawn))["slide"] > 0.05


def test_hips_may_be_rotated_by_what_is_above_them():
    hips, root = int(PERSON.rig.hips), int(PERSON.skeleton.parents[int(PERSON.rig.hips)])
    spin = arrays.from_axis_angle(np.tile((0.0, 1.0, 0.0), (len(TIMES), 1)), np.linspace(0, 12.0, len(TIMES)))
    above, below = POSES.rotations.copy(), POSES.rotations.copy()
    above[:, root] = arrays.mul(above[:, root], spin)
    below[:, hips] = arrays.mul(spin, below[:, hips])
    moved = POSES.translations.copy()
    moved[:, hips] = arrays.rotate(spin, moved[:, hips])
    found = judged(with_rotations(POSES, below, moved), with_rotations(POSES, above))
    assert found["beyond"] < 0.1


def test_poses_of_calibration_are_no_motion():
    rotations = np.concatenate([np.tile(PERSON.skeleton.rest.rotations, (10, 1, 1)), POSES.rotations])
    rotations[:10, [int(arm.joints[0]) for arm in PERSON.rig.arms]] = (1.0, 0.0, 0.0, 0.0)
    rotations[:10, [int(leg.joints[1]) for leg in PERSON.rig.legs]] = (1.0, 0.0, 0.0, 0.0)
    assert after_calibration(PERSON.rig, rotations.astype(np.float64), 1 / 60) == 10
    assert after_calibration(PERSON.rig, POSES.rotations, 1 / 60) == 0
