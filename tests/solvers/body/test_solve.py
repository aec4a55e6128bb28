"""One character of a call: what is refused, what is loaded and stored, and who is settled."""

import numpy as np
import pytest

from kinema.solvers.body import records, solve
from tests import naive, problems
from tests.compiled import from_python


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e101])
def test_numbers_that_cannot_be_used_are_refused(wrong):
    effectors = records.zeros(records.EFFECTOR, 2)
    effectors["kind"], effectors["rotation"] = records.POSITION | records.ROTATION, (0, 0, 0, 1)
    assert from_python(solve.are_usable)(effectors)
    for name, c in (("position", 1), ("offset", 2), ("rotation", 0)):
        broken = effectors.copy()
        broken[name][1, c] = wrong
        assert not from_python(solve.are_usable)(broken)


def test_a_rotation_counts_only_where_it_is_wanted():
    effectors = records.zeros(records.EFFECTOR, 1)
    for kind, pin, usable in ((records.POSITION, False, True), (records.ROTATION, False, False), (3, True, True)):
        effectors["kind"], effectors["pin"] = kind, pin
        assert from_python(solve.are_usable)(effectors) == usable


def test_unit_rotations_are_of_length_one_to_rounding():
    unit = from_python(solve.is_unit)
    q = problems.quaternions(problems.generator(91))
    assert unit(tuple(q.tolist()))
    assert not unit(tuple((q * (1 + 1e-9)).tolist()))


@pytest.mark.parametrize("shared", [False, True])
def test_joints_that_are_off_by_more_than_a_thousandth_are_unsettled(shared):
    rotations = problems.quaternions(problems.generator(92), 1 if shared else 3, 4)
    warm = np.tile(rotations, (3, 1, 1)) if shared else rotations.copy()
    warm[1, 2] = naive.quat_mul(warm[1, 2], naive.quat_from_axis_angle((0, 0, 1), 1.5e-3))
    warm[2, 0] = -naive.quat_mul(warm[2, 0], naive.quat_from_axis_angle((0, 0, 1), 0.5e-3))
    warm[0, 3] = naive.quat_mul(warm[0, 3], naive.quat_from_axis_angle((0, 0, 1), 0.5))
    found = np.zeros((3, 4), bool)
    count = solve.find_unsettled(rotations, warm, np.array((1.0, 1.0, 1.0, 0.0)), found)
    assert count == 1
    assert np.argwhere(found).tolist() == [[1, 2]]
