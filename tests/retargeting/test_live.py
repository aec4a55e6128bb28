"""`Retargeter`: poses that arrive one by one."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from tests.retargeting.variants import Variant, joint_positions, vary

PERSON = humanoid()
OTHER = vary(PERSON, Variant(axes=1, scale=100.0, arms=0.7))
DT = 1 / 60


def poses(character, live, frames=60):
    """Poses of the character, one after the other."""
    return [live.update(PERSON.clips["walk"].sample(k * DT), dt=DT) for k in range(frames)]


def stacked(found):
    return km.Pose.of(*(np.stack(parts) for parts in zip(*(pose.arrays() for pose in found), strict=True)))


def test_without_contacts_it_is_the_transfer_of_each_pose():
    live = km.Retargeter(PERSON, OTHER, contacts=False)
    times = np.arange(10) * DT
    one_by_one = stacked(poses(OTHER, live, 10))
    together = live.update(PERSON.clips["walk"].sample(times))
    assert np.array_equal(one_by_one.rotations, together.rotations)
    assert np.array_equal(one_by_one.translations, together.translations)


def test_limbs_are_where_the_source_has_them():
    found = joint_positions(OTHER, stacked(poses(OTHER, km.Retargeter(PERSON, OTHER))))
    ours = joint_positions(PERSON, PERSON.clips["walk"].sample(np.arange(60) * DT).astype(np.float64)) * 100.0
    joints = [int(joint) for limb in (*PERSON.rig.legs, *PERSON.rig.arms) for joint in limb.joints]
    assert np.abs(found - ours)[:, joints].max() < 0.02 * OTHER.rig.leg_length


def test_a_foot_that_slides_in_the_source_stands():
    """The whole body drifts by 10 cm a second: slow enough to stand, so feet are held and hips go on."""
    live = km.Retargeter(PERSON, PERSON)
    rest, found = PERSON.skeleton.rest.astype(np.float64), []
    for k in range(30):
        translations = rest.translations.copy()
        translations[int(PERSON.rig.hips), 0] += 0.1 * k * DT
        found.append(live.update(km.Pose(translations, rest.rotations), dt=DT))
    at = joint_positions(PERSON, stacked(found))
    for leg in PERSON.rig.legs:
        assert np.ptp(at[2:, int(leg.joints[-1]), 0]) < 2e-3


def test_reset_begins_anew():
    live = km.Retargeter(PERSON, OTHER)
    first = stacked(poses(OTHER, live, 20))
    live.reset()
    assert np.array_equal(stacked(poses(OTHER, live, 20)).rotations, first.rotations)


def test_inputs_are_not_modified_and_outputs_not_shared():
    live = km.Retargeter(PERSON, OTHER)
    pose = PERSON.clips["walk"].sample(0.2)
    before = pose.copy()
    first = live.update(pose, dt=DT)
    kept = first.copy()
    live.update(PERSON.clips["walk"].sample(0.4), dt=DT)
    assert pose.same(before)
    assert first.same(kept)


@pytest.mark.parametrize("size", [1e-30, 1e12])
def test_hostile_poses_give_finite_ones(size):
    live = km.Retargeter(PERSON, OTHER)
    rest = PERSON.skeleton.rest.astype(np.float64)
    for dt in (1e-12, 1e6):
        pose = live.update(km.Pose(rest.translations * size, rest.rotations), dt=dt)
        assert all(np.isfinite(part).all() for part in pose.arrays())


def test_wrong_input_is_named():
    live = km.Retargeter(PERSON, OTHER)
    with pytest.raises(km.InputError, match="dt"):
        live.update(PERSON.skeleton.rest, dt=-1.0)
    with pytest.raises(km.InputError, match="joints"):
        live.update(km.Pose(np.zeros((2, 3)), np.tile((0.0, 0, 0, 1), (2, 1))))
    with pytest.raises(km.InputError, match="scale"):
        km.Retargeter(PERSON, OTHER, scale=0.0)
