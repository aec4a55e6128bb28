"""Kernels on branches of a skeleton: what `solve` and the stages build on."""

import numpy as np
import pytest
from hypothesis import given

from kinema.compile.records import kernel_views
from kinema.model import limits
from kinema.solvers import branch
from kinema.solvers.joints import FrameArrays, path_joints
from tests import compiled, naive, problems
from tests.compiled import both_precisions, eps, run
from tests.solvers.limit_kinds import kinds
from tests.stages.bodies import person, poses

IDENTITY = (0.0, 0.0, 0.0, 1.0)


class Branch:
    """The arrays of some posed characters and a path of theirs, as kernels take them."""

    def __init__(self, character, rng, count, start, tip, amount=1.0):
        self.skeleton = skeleton = character.skeleton
        self.rows = np.arange(count)
        self.path = np.array(skeleton.chain(start, tip))
        self.marks = np.arange(self.path.size)
        self.t, self.s = (np.tile(array, (count, 1, 1)) for array in (skeleton.rest.translations, skeleton.rest.scales))
        self.r = poses(character, rng, count, amount)
        (self.on_path,) = kernel_views(path_joints(skeleton, self.path, np.float64))
        self.transforms = np.tile(np.eye(4)[:3].reshape(1, 1, 12), (count, 1, 1))
        self.world = np.zeros((count, len(skeleton), 12))
        self.refresh()

    def refresh(self):
        self.world[:] = self.by_hand()[..., :3, :].reshape(self.world.shape)

    def by_hand(self):
        return naive.world_matrices(self.skeleton.parents, self.t, self.r, self.s)

    def at(self):
        """(characters, joints of the path, 3), from scratch."""
        return self.by_hand()[:, self.path][..., :3, 3]

    @property
    def arrays(self):
        return FrameArrays(self.t, self.r, self.s, self.world, self.transforms, np.ones(len(self.t)))


def mirrored():
    return person(seed=6, mirrored=("shoulder_l", "fore_l", "hand_l"))


def test_followed_points_are_where_the_joints_come_to_be():
    rng = problems.generator(1)
    b = Branch(mirrored(), rng, 10, "chest", "hand_l")
    bones = np.linalg.norm(np.diff(b.at(), axis=1), axis=-1)
    ways = problems.units(rng, 10, bones.shape[1]) * bones[..., None]
    points = np.concatenate([b.at()[:, :1], b.at()[:, :1] + np.cumsum(ways, axis=1)], axis=1)
    branch.follow(b.rows, b.on_path, b.marks, points, b.arrays)
    np.testing.assert_allclose(b.at(), points, atol=1e-12)
    np.testing.assert_allclose(b.world[:, b.path][..., 3::4], points, atol=1e-12)  # And world matrices say so.


def test_followed_points_may_skip_joints_and_go_anywhere():
    """Where a point is not as far as the bone is long, the bone points there."""
    rng = problems.generator(2)
    b = Branch(mirrored(), rng, 10, "spine", "hand_l")
    b.marks = np.array([0, 2, 5])
    before, others = b.r.copy(), [1, 3, 4]
    points = rng.normal(size=(10, 3, 3)) * 3
    branch.follow(b.rows, b.on_path, b.marks, points, b.arrays)
    at = b.at()[:, b.marks]
    np.testing.assert_array_equal(b.r[:, b.path[others]], before[:, b.path[others]])
    assert naive.angle_between(at[:, 1] - at[:, 0], points[:, 1] - at[:, 0]).max() < 1e-9
    assert naive.angle_between(at[:, 2] - at[:, 1], points[:, 2] - at[:, 1]).max() < 1e-9


def test_only_the_rows_that_are_named_are_worked_on():
    rng = problems.generator(3)
    b = Branch(person(), rng, 6, "upper_l", "hand_l")
    before, rows = b.r.copy(), np.array([4, 1])
    points = np.tile(b.at()[:, :1], (1, 3, 1)) + rng.normal(size=(6, 3, 3))
    branch.follow(rows, b.on_path, b.marks, points[rows], b.arrays)
    assert (b.r != before).any(axis=(1, 2)).tolist() == [False, True, False, False, True, False]
    whole = Branch(person(), problems.generator(3), 6, "upper_l", "hand_l")
    branch.follow(whole.rows, whole.on_path, whole.marks, points, whole.arrays)
    np.testing.assert_array_equal(b.r[rows], whole.r[rows])


@given(compiled.vectors(), compiled.vectors(), compiled.sizes(), compiled.sizes())
def test_the_smallest_rotation_between_vectors_of_any_size(a, b, a_size, b_size):
    rotation = run(branch.smallest_rotation, np.float64, a * a_size, b * b_size)
    np.testing.assert_allclose(np.linalg.norm(rotation), 1, atol=1e-12)
    if np.linalg.norm(a) > 1e-6 and np.linalg.norm(b) > 1e-6:
        assert naive.angle_between(naive.quat_rotate(rotation, a), b) < 1e-9
        assert naive.rotation_angle(rotation) == pytest.approx(naive.angle_between(a, b), abs=1e-9)


def test_a_zero_vector_gives_the_identity():
    for a, b in (((0, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 0))):
        np.testing.assert_allclose(run(branch.smallest_rotation, np.float64, a, b), IDENTITY)


# --- limits ----------------------------------------------------------------------------------------------------


@kinds
@both_precisions
def test_joints_are_moved_into_their_limits_and_no_further(limit, dtype):
    rng = problems.generator(4)
    bone, rest = naive.unit((1, 2, -1)), problems.quaternions(rng, 1)
    q = problems.quaternions(rng, 40).astype(dtype)
    r, moved = q.reshape(40, 1, 4).copy(), np.zeros(40, bool)
    table = limits.in_precision(np.atleast_1d(limit.record(tuple(bone))), dtype)
    held = limits.JointLimits(table, bone.astype(dtype)[np.newaxis], rest.astype(dtype))
    rounding = dtype(8 * eps(dtype))
    arguments = (np.arange(40), np.array([0]), held, rounding)
    branch.hold_limits(*arguments, r, moved)
    away = naive.quat_mul(naive.quat_conj(rest[0]), q)
    expected = naive.quat_mul(rest[0], limit.project(away, bone))
    assert naive.angle_between_rotations(r[:, 0], expected).max() < 64 * eps(dtype)
    np.testing.assert_array_equal(moved, naive.angle_between_rotations(away, limit.project(away, bone)) > 1e-6)
    np.testing.assert_array_equal(r[~moved, 0], q[~moved])
    again, still = r.copy(), np.zeros(40, bool)
    branch.hold_limits(*arguments, again, still)
    assert not still.any()
    np.testing.assert_array_equal(again, r)


def test_a_joint_without_a_limit_is_not_moved():
    r, moved = np.ones((1, 1, 4)), np.zeros(1, bool)
    table = limits.in_precision(limits.LIMIT.zeros(1, np.float64), np.float64)
    held = limits.JointLimits(table, np.ones((1, 3)), np.ones((1, 4)))
    branch.hold_limits(np.arange(1), np.array([0]), held, 1e-15, r, moved)
    assert not moved.any()
    np.testing.assert_array_equal(r, 1)


# --- measuring -------------------------------------------------------------------------------------------------


@both_precisions
def test_bones_are_found_by_their_share_of_the_length(dtype):
    t = np.zeros((4, 4, 12), dtype)
    t[0, :, 3] = (0, 1, 2, 3)
    t[1, :, 3] = (0, 1, 1, 3)
    t[2, :, 3] = (0, 1e-9, 1, 1)
    found = np.empty((3, 3), bool)
    branch.find_bones(np.array([0, 1, 2]), np.arange(4), t, found)
    assert found.tolist() == [[True, True, True], [True, False, True], [False, True, False]]
    branch.find_bones(np.array([3, 0, 0]), np.arange(4), t, found)
    assert found[0].tolist() == [False, False, False]


def test_tips_are_rotated_below_any_parent():
    rng = problems.generator(8)
    b = Branch(mirrored(), rng, 8, "upper_l", "hand_l")
    tip, parent = b.path[-1], b.path[-2]
    wanted = problems.quaternions(rng, 8)
    branch.rotate_tips(b.rows, tip, parent, wanted, b.arrays)
    above = b.by_hand()[:, parent, :3, :3]
    rotated = above / np.linalg.norm(above, axis=-2, keepdims=True) @ naive.quat_to_matrix(b.r[:, tip])
    expected = naive.quat_to_matrix(wanted)
    expected[..., 0] *= np.sign(np.linalg.det(above))[:, None]
    np.testing.assert_allclose(rotated, expected, atol=1e-12)
    # A root is below the transform of the character.
    branch.rotate_tips(b.rows, 0, -1, wanted, b.arrays)
    assert naive.angle_between_rotations(b.r[:, 0], wanted).max() < 1e-12


@both_precisions
def test_blending_back(dtype):
    rng = problems.generator(9)
    before, r = (problems.quaternions(rng, 3, 4).astype(dtype) for _ in range(2))
    now = r.copy()
    weights = np.array([[0, 1], [0.5, 0.25], [1, 0]], dtype)
    branch.blend_back(np.arange(3), np.array([2, 0]), weights, before, r)
    np.testing.assert_array_equal(r[:, [1, 3]], now[:, [1, 3]])
    for i in range(3):
        for n, j in enumerate((2, 0)):
            weight = weights[i, n]
            if weight in (0, 1):
                np.testing.assert_array_equal(r[i, j], (before if weight == 0 else now)[i, j])
            else:
                expected = naive.slerp(before[i, j].astype(float), now[i, j].astype(float), float(weight))
                assert naive.angle_between_rotations(r[i, j], expected) < 16 * eps(dtype)
