"""What a function may return for a character: finite numbers, and rotations that can be normalized."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.model.pose import LocalTransforms
from kinema.stages.device.layer import is_pose
from tests.compiled import plain_python_only

JOINTS = 2


@plain_python_only
@pytest.mark.parametrize(
    ("part", "number", "value", "good"),
    [
        ("t", 0, 5.0, True),
        ("t", 5, np.nan, False),
        ("s", 3, np.inf, False),
        ("s", 2, -1.0, True),
        ("r", 7, 3.0, True),
        ("r", 0, np.nan, False),
        ("r", 4, 1e9, False),
    ],
)
def test_a_pose_is_checked_in_its_own_row(part, number, value, good):
    rows = LocalTransforms(np.zeros(9 * JOINTS), np.tile([0.0, 0.0, 0.0, 1.0], 3 * JOINTS), np.ones(9 * JOINTS))
    width = {"t": 3, "r": 4, "s": 3}[part] * JOINTS
    getattr(rows, part)[width + number] = value  # In row 1 of three.
    assert [bool(is_pose(rows, k, JOINTS)) for k in range(3)] == [True, good, True]


@plain_python_only
def test_a_rotation_of_no_length_is_none():
    rows = LocalTransforms(np.zeros(3), np.zeros(4), np.ones(3))
    assert not is_pose(rows, 0, 1)
