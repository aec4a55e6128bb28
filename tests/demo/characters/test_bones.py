import numpy as np
import pytest

from kinema.demo.characters.bones import Bone, build, hinge, mirrored, socket
from kinema.math import arrays
from kinema.model.limits import Hinge, SwingTwist

ARM = [
    Bone("upper_l", None, (0.2, 1.4, 0.0), (0.4, 1.2, 0.1), (0.0, 0.0, 1.0), socket(90, 30)),
    Bone("lower_l", "upper_l", (0.4, 1.2, 0.1), (0.5, 1.0, 0.3), (0.0, 0.0, 1.0), hinge(-5, 140)),
]


def test_joints_sit_where_bones_start_with_y_along_them():
    skeleton = build(ARM)
    for bone, world in zip(ARM, skeleton.rest_world, strict=True):
        assert np.allclose(world[:3, 3], bone.start, atol=1e-6)
        along = np.subtract(bone.end, bone.start)
        assert np.allclose(world[:3, 1], along / np.linalg.norm(along), atol=1e-6)
        assert world[:3, 2] @ np.array(bone.facing) > 0
        assert np.linalg.det(world[:3, :3]) == pytest.approx(1.0, abs=1e-5)


def test_limits_are_degrees_about_the_joints_own_axes():
    upper, lower = build(ARM).limits
    assert isinstance(upper, SwingTwist)
    assert upper.swing == pytest.approx(np.pi / 2)
    assert upper.twist_high == -upper.twist_low == pytest.approx(np.pi / 6)
    assert isinstance(lower, Hinge)
    assert lower.axis == (1.0, 0.0, 0.0)
    assert (lower.low, lower.high) == pytest.approx((np.radians(-5), np.radians(140)))


def test_the_other_side_is_the_image_and_bends_the_same_way():
    left, right = build(ARM), build(mirrored(ARM))
    assert right.names == ("upper_r", "lower_r")
    assert right.limits == left.limits
    assert np.allclose(right.rest_world[:, :3, 3], left.rest_world[:, :3, 3] * (-1, 1, 1), atol=1e-6)
    bent = arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), 0.7)
    tips = []
    for skeleton, sign in ((left, 1), (right, -1)):
        world = skeleton.rest_world[1, :3, :3].astype(np.float64)
        tips.append(world @ arrays.rotate(bent, np.array((0.0, 1.0, 0.0))) * (sign, 1, 1))
    assert np.allclose(*tips, atol=1e-6)
