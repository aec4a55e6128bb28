"""Arms swing back when the foot of their side is ahead."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinema.math import quat
from kinema.stages.walk.arm_swing import SWINGING_ARM, rotation_in, swing_arms
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import settings, some_feet, some_legs

pytestmark = plain_python_only


@pytest.mark.parametrize("ahead", [0.3, -0.3])
def test_an_arm_swings_against_its_foot_by_its_gain(ahead):
    feet, arms, r = some_feet(some_legs()), SWINGING_ARM.zeros(1, np.float64), np.zeros((1, 2, 4))
    feet[0].target.ball[2], arms.joint, arms.gain, r[..., 3] = ahead, 1, 2.0, 1.0
    records = SimpleNamespace(settings=[settings()], feet=feet[np.newaxis])
    identity = np.eye(4)[:3].reshape(1, 1, 12)
    swing_arms(np.zeros(1, int), records, arms, identity, np.repeat(identity, 2, axis=1), np.ones(1), r)
    hangs = quat.rotate(r[0, 1], (0.0, -1.0, 0.0))
    assert np.sign(hangs[2]) == -np.sign(ahead)
    assert 2.0 * np.arccos(r[0, 1, 3]) == pytest.approx(0.6)


def test_an_axis_is_taken_into_the_space_of_a_mirrored_joint():
    mirrored = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    np.testing.assert_allclose(rotation_in(mirrored, (0.0, 1.0, 0.0), 0.2)[1], -np.sin(0.1))
