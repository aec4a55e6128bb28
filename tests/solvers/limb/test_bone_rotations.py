"""Rotations of bones from the positions of joints."""

import numpy as np
import pytest

from kinema.solvers.limb.bone_rotations import bone_rotations
from tests import naive, problems


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_the_axis_is_carried_onto_each_bone_by_the_smallest_rotation(dtype, size):
    rng = problems.generator(87)
    joints = (problems.random_chains(rng, 20, 4, lengths=(0.2, 2.0)) * size).astype(dtype)
    axis = np.array((1.0, -2.0, 0.5))
    rotations = bone_rotations(joints, axis)
    assert rotations.dtype == dtype
    bones = naive.unit_rows(np.diff(joints.astype(np.float64), axis=1))
    near = 1e-9 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(naive.quat_rotate(rotations, naive.unit(axis)), bones, atol=near)
    np.testing.assert_allclose(naive.rotation_angle(rotations), naive.angle_between(bones, axis), atol=near * 10)


def test_a_bone_without_length_is_not_rotated():
    np.testing.assert_array_equal(bone_rotations(np.zeros((3, 3)), (0, 1, 0)), [[0, 0, 0, 1]] * 2)


def test_planar_bones_have_signed_angles_from_the_axis():
    joints = np.array([(0, 0), (1, 0), (1, 1), (0, 1.0)])
    np.testing.assert_allclose(bone_rotations(joints, (1, 0)), [0, np.pi / 2, np.pi], atol=1e-12)
    np.testing.assert_allclose(bone_rotations(joints, (0, 1)), [-np.pi / 2, 0, np.pi / 2], atol=1e-12)
