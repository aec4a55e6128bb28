"""Joints of legs do not rotate away from their clip faster than a bound."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinema.math import quat
from kinema.math.rows import load4
from kinema.solvers.joints import CharacterPose
from kinema.stages.feet.leg_easing import LEG_EASE, ease_leg, keep_clip, rotated_by
from kinema.stages.legs.leg_fold import LEG_JOINT
from tests.compiled import plain_python_only

pytestmark = plain_python_only
X = (1.0, 0.0, 0.0)


class OneJoint:
    """A leg of one joint, whose clip leaves it alone."""

    def __init__(self):
        r = np.zeros((1, 1, 4))
        r[..., 3] = 1.0
        self.pose = CharacterPose(
            np.zeros((1, 3)), r[0], np.ones((1, 3)), np.zeros((1, 12)), np.eye(4)[:3].reshape(12), 1.0
        )
        self.path, self.eases = LEG_JOINT.zeros(1, np.float64), LEG_EASE.zeros(1, np.float64)
        self.path.parent, self.eases.change[..., 3] = -1, 1.0
        self.leg = SimpleNamespace(first=0, at_ankle=0, last=1)

    def frame(self, solved, clip=0.0, free=False, most=0.1):
        """Ease the joint from its clip to the solved angle. Returns whether it was held back, and its angle."""
        self.pose.r[0] = quat.from_axis_angle(X, clip)
        keep_clip(self.eases, self.path, self.pose)
        self.pose.r[0] = quat.from_axis_angle(X, solved)
        held = ease_leg(self.leg, self.eases, self.path, self.pose, free, most)
        return held, rotated_by((0.0, 0.0, 0.0, 1.0), load4(self.pose.r[0]))


def test_a_joint_gets_to_where_it_is_solved_within_a_few_frames():
    one = OneJoint()
    angles = [one.frame(0.25) for _ in range(4)]
    assert [held for held, _ in angles] == [True, True, False, False]
    np.testing.assert_allclose([angle for _, angle in angles], (0.1, 0.2, 0.25, 0.25), atol=1e-9)


def test_what_the_clip_does_is_not_slowed_down():
    held, angle = OneJoint().frame(2.0, clip=2.0)
    assert not held
    assert angle == pytest.approx(2.0)


def test_a_free_joint_is_not_held_back():
    held, angle = OneJoint().frame(1.5, free=True)
    assert (held, angle) == (False, pytest.approx(1.5))


def test_matrices_follow_a_joint_that_is_held_back():
    one = OneJoint()
    one.frame(1.0)
    assert math.asin(one.pose.world[0, 9]) == pytest.approx(0.1)
