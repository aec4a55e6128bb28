"""The poses that attempts start from, in a lane of their own."""

import numpy as np
import pytest

from kinema.compile.records import kernel_views
from kinema.solvers.chain import attempt
from kinema.solvers.chain.chain_records import Workspace, group_record, joint_record, scratch_record
from tests import naive, problems
from tests.compiled import both_precisions, from_python


def laid(pose, lengths, goal, dtype, *rest):
    """The joints of a chain of length 1, as a function of this module lays them for a goal."""
    work = [
        record(1).zeros(count, dtype)
        for record, count in ((joint_record, len(lengths) + 1), (group_record, 1), (scratch_record, 1))
    ]
    work[0]["length"][1:, 0], work[1]["goal"][0, :, 0], work[1]["whole"] = lengths, goal, 1
    from_python(pose)(Workspace(*kernel_views(*work)), 0, *rest)
    return work[0]["position"][:, :, 0].astype(np.float64)


@both_precisions
@pytest.mark.parametrize("spread", [0.0, 1.0, 6.0, 12.0])
def test_a_fold_is_at_any_target_whatever_the_bones_are(dtype, spread):
    rng = problems.generator(81)
    for bones in (2, 3, 4, 7):
        for share in (0.0, 1e-7, 1e-3, 0.3, 0.7, 0.999, 1.0):
            lengths = 10 ** rng.uniform(-spread / 2, spread / 2, bones)
            lengths /= lengths.sum()
            hole = max(2 * lengths.max() - 1, 0)
            goal = problems.units(rng) * (hole + (1 - hole) * share)
            joints = laid(attempt.fold, lengths, goal, dtype)
            near = 1e-7 if dtype is np.float64 else 1e-3  # Next to the edges an angle is the root of a rounding.
            np.testing.assert_allclose(joints[-1], goal, atol=near if share not in (0.3, 0.7) else near * 1e-2)
            np.testing.assert_allclose(naive.bone_lengths(joints), lengths, atol=1e-6 if dtype is np.float32 else 1e-14)


@both_precisions
def test_a_bow_ends_at_the_goal_and_bulges_towards_the_pole(dtype):
    rng = problems.generator(82)
    settings = np.zeros(1, [("floor", dtype)]).view(np.recarray)[0]
    for share in (0.9, 0.99, 0.9999):
        goal = problems.units(rng) * share
        pole = naive.any_perpendicular(goal)
        towards = tuple(dtype(x) for x in pole)
        joints = laid(attempt.bow, np.full(8, 1 / 8), goal, dtype, towards, settings)
        np.testing.assert_allclose(joints[-1], goal, atol=1e-6)
        assert (joints[1:-1] @ pole > 0).all()
        np.testing.assert_allclose(np.abs(joints @ np.cross(goal, pole)).max(), 0, atol=1e-6)
        # Nearly as long as the chain is, so that little is left to unroll.
        assert naive.bone_lengths(joints).sum() == pytest.approx(1, abs=0.03)


@both_precisions
def test_targets_out_of_reach_are_answered_straight_or_folded(dtype):
    rng = problems.generator(83)
    joints = problems.random_chains(rng, 1, 5, lengths=(0.2, 0.4))[0]
    joints[3:] += (joints[3] - joints[2]) * 9  # One bone that is longer than all the others.
    lengths = naive.bone_lengths(joints)
    hole = 2 * lengths.max() - lengths.sum()
    for distance, reached in ((lengths.sum() * 3, lengths.sum()), (hole / 2, hole)):
        direction = problems.units(rng)
        result = np.zeros_like(joints, dtype)
        target = tuple(dtype(x) for x in direction * distance)
        from_python(attempt.lay_out)(result, joints.astype(dtype), target, target)
        np.testing.assert_allclose(result[-1], direction * reached, atol=1e-5)
        np.testing.assert_allclose(naive.bone_lengths(result), lengths, rtol=1e-5)


@pytest.mark.parametrize("planar", [False, True])
def test_scattered_poses_keep_bones_and_planes_and_differ(planar):
    settings = np.zeros(1, [("floor", np.float64), ("straight", np.float64, 3), ("planar", bool)]).view(np.recarray)[0]
    settings["straight"], settings["planar"] = (0, 1, 0), planar
    poses = [laid(attempt.scatter, np.full(5, 0.2), (0, 0.5, 0), np.float64, settings, k) for k in range(6)]
    for joints in poses:
        np.testing.assert_allclose(naive.bone_lengths(joints), 0.2)
        assert (joints[:, 2] == 0).all() == planar
    assert len({joints.tobytes() for joints in poses}) == 6
