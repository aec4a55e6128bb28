"""Some joints of a skeleton, numbered anew: parents come first, and what is copied comes back where it was."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.demo import humanoid
from kinema.stages.device.joint_subset import (
    JointSubset,
    load_joints,
    store_rotated,
    store_rotations,
    store_translation,
)
from kinema.stages.device.tiles import TILE, PoseTiles
from tests.compiled import plain_python_only

PERSON = humanoid()
SKELETON, LEG = PERSON.skeleton, PERSON.rig.legs[0].joints


@pytest.fixture
def subset():
    return JointSubset(SKELETON, LEG)


@pytest.fixture
def tiles():
    """Two tiles of poses in which every number is another one."""
    sizes = (3 * len(SKELETON), 4 * len(SKELETON), 3 * len(SKELETON), 12)
    return PoseTiles(*(10.0**n + np.arange(2 * size * TILE).reshape(2, size, TILE) for n, size in enumerate(sizes)))


def own_pose(subset):
    count = len(subset.joints)
    return SimpleNamespace(
        t=np.zeros((count, 3)), r=np.zeros((count, 4)), s=np.zeros((count, 3)), transform=np.zeros(12)
    )


def test_it_has_the_joints_and_all_above_them_and_no_others(subset):
    above, joint = set(LEG), LEG[0]
    while (joint := SKELETON.parents[joint]) >= 0:
        above.add(int(joint))
    assert set(subset.joints.tolist()) == above


def test_parents_come_before_children(subset):
    assert subset.parents.tolist()[0] == -1
    assert (subset.parents < np.arange(subset.joints.size)).all()
    np.testing.assert_array_equal(subset.joints[subset.parents[1:]], SKELETON.parents[subset.joints[1:]])


def test_a_number_names_the_joint_it_stands_for(subset):
    np.testing.assert_array_equal(subset.joints[subset.number(LEG)], LEG)


def test_joints_outside_have_no_number_and_marks_stay(subset):
    head = PERSON.rig.head
    assert subset.number([head, -1, -3]).tolist() == [-1, -1, -3]


@plain_python_only
@pytest.mark.parametrize("i", [0, 33])
def test_a_character_loads_its_own_joints(subset, tiles, i):
    pose = own_pose(subset)
    load_joints(tiles, i, subset.joints, pose)
    for part, width in (("t", 3), ("r", 4), ("s", 3)):
        rows = getattr(tiles, part)[i // TILE, :, i % TILE].reshape(-1, width)
        np.testing.assert_array_equal(getattr(pose, part), rows[subset.joints])
    np.testing.assert_array_equal(pose.transform, tiles.transform[i // TILE, :, i % TILE])


@plain_python_only
def test_rotations_come_back_to_these_joints_alone(subset, tiles):
    pose, before = own_pose(subset), tiles.r.copy()
    pose.r[:] = -1.0
    store_rotations(tiles, 33, subset.joints, pose)
    changed = (tiles.r != before).any(axis=(0, 2)).reshape(-1, 4).any(axis=1)
    assert set(np.flatnonzero(changed)) == set(subset.joints.tolist())
    assert (tiles.r[:, :, np.arange(TILE) != 1] == before[:, :, np.arange(TILE) != 1]).all()


@plain_python_only
def test_rotations_of_some_joints_alone_come_back(subset, tiles):
    pose, before, rotated = own_pose(subset), tiles.r.copy(), np.array([3, 1])
    pose.r[:] = np.arange(len(subset.joints))[:, np.newaxis]
    store_rotated(tiles, 33, subset.joints, rotated, pose)
    changed = (tiles.r != before).any(axis=(0, 2)).reshape(-1, 4).any(axis=1)
    assert set(np.flatnonzero(changed)) == set(subset.joints[rotated].tolist())
    assert (tiles.r[1, 4 * subset.joints[3] : 4 * subset.joints[3] + 4, 1] == 3.0).all()


@plain_python_only
def test_a_translation_comes_back_to_its_joint(subset, tiles):
    pose, before = own_pose(subset), tiles.t.copy()
    pose.t[2] = 7.0, 8.0, 9.0
    store_translation(tiles, 5, subset.joints, 2, pose)
    j = subset.joints[2]
    assert tiles.t[0, 3 * j : 3 * j + 3, 5].tolist() == [7.0, 8.0, 9.0]
    assert (tiles.t != before).sum() == 3
