"""Poses: what is taken in, blending, layers of differences; one character or a batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import InputError
from kinema.model.pose import Pose
from tests import compiled, naive, problems
from tests.compiled import both_precisions, eps

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def random_pose(rng, *shape, joints=5, dtype=np.float64):
    """Anything goes: places, turns, scales of either sign, numbers that are -0."""
    t, s = rng.normal(size=(*shape, joints, 3)), rng.uniform(-2.0, 2.0, (*shape, joints, 3))
    t[..., 0, 0] = -0.0
    return Pose(t.astype(dtype), problems.quaternions(rng, *shape, joints).astype(dtype), s.astype(dtype))


def same_bits(a, b):
    return all(x.tobytes() == y.tobytes() and x.shape == y.shape for x, y in zip(a.arrays(), b.arrays(), strict=True))


def assert_poses_close(a, b, within):
    np.testing.assert_allclose(a.translations, b.translations, atol=within)
    np.testing.assert_allclose(a.scales, b.scales, atol=within)
    assert naive.angle_between_rotations(a.rotations, b.rotations).max() < within


# --- what is taken in ------------------------------------------------------------------------------------------


def test_plain_lists_are_taken_and_scales_are_1_where_not_given():
    pose = Pose([[0, 1, 2], [3, 4, 5]], [IDENTITY, (0, 1, 0, 0)])
    assert pose.shape == ()
    assert pose.joints == 2
    assert pose.precision is np.float64
    np.testing.assert_array_equal(pose.scales, np.ones((2, 3)))
    assert repr(pose) == "Pose(2 joints, batch (), float64)"


@both_precisions
def test_the_precision_is_kept(dtype):
    pose = random_pose(np.random.default_rng(1), 3, dtype=dtype)
    assert pose.precision is dtype
    parts = [pose.blend(pose, 0.3), pose.add(pose, 0.3), pose.difference(pose), pose[1], pose.copy()]
    assert all(array.dtype == dtype for part in parts for array in part.arrays())


def test_one_array_of_float64_makes_it_float64():
    assert Pose(np.zeros((2, 3), np.float32), np.tile(np.array(IDENTITY), (2, 1))).precision is np.float64
    assert Pose(np.zeros((2, 3), np.float32), [IDENTITY] * 2).precision is np.float32


def test_the_three_arrays_broadcast():
    pose = Pose(np.zeros((4, 1, 7, 3)), np.tile(IDENTITY, (3, 7, 1)), (2, 2, 2))
    assert pose.shape == (4, 3)
    assert pose.joints == 7
    assert [array.shape for array in pose.arrays()] == [(4, 3, 7, 3), (4, 3, 7, 4), (4, 3, 7, 3)]
    assert all(array.flags.c_contiguous and array.flags.writeable for array in pose.arrays())


@both_precisions
def test_rotations_come_out_at_length_1(dtype):
    rng = np.random.default_rng(2)
    q = problems.quaternions(rng, 30).astype(dtype)
    sizes = np.array([1e-15, 1e-6, 0.5, 1, 2, 1e10], dtype)
    pose = Pose(np.zeros((6, 30, 3), dtype), q * sizes[:, None, None])
    np.testing.assert_allclose(np.linalg.norm(pose.rotations.astype(float), axis=-1), 1, atol=4 * eps(dtype))
    assert naive.angle_between_rotations(pose.rotations, q.astype(float)).max() < 8 * eps(dtype)
    assert (pose.rotations[3] == q).all()  # What is of length 1 already is not touched.


def test_later_changes_of_the_arrays_that_came_in_change_nothing():
    rng = np.random.default_rng(3)
    given_in = [rng.normal(size=(4, 3)), problems.quaternions(rng, 4), rng.normal(size=(4, 3))]
    before = [array.copy() for array in given_in]
    pose = Pose(*given_in)
    assert all((a == b).all() for a, b in zip(given_in, before, strict=True))
    for array in given_in:
        array[:] = 9
    assert all((a == b).all() for a, b in zip(pose.arrays(), before, strict=True))


def test_a_pose_cannot_be_given_other_arrays():
    with pytest.raises(AttributeError):
        random_pose(np.random.default_rng(4)).rotations = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0, np.nan]], [IDENTITY]), r"translations\[0, 2\] is nan"),
        (([[0, 0, 0]], [IDENTITY], [[1, np.inf, 1]]), r"scales\[0, 1\] is inf"),
        (([[0, 0, 0]] * 2, [IDENTITY, (0, 0, 0, 0)]), r"rotations\[1\] is zero; a rotation is a quaternion"),
        (([[0, 0, 0]], [(0, 0, 0, np.nan)]), r"rotations\[0, 3\] is nan"),
        (([0, 0, 0], [IDENTITY]), r"translations must have shape \(..., joints, n\), got \(3,\)"),
        (([[0, 0, 0]], IDENTITY), r"rotations must have shape \(..., joints, n\), got \(4,\)"),
        (([[0, 0]], [IDENTITY]), r"translations must have shape \(..., 3\), got \(1, 2\)"),
        (([[0, 0, 0]], [(0, 0, 1)]), r"rotations must have shape \(..., 4\), got \(1, 3\)"),
        (([[0, 0, 0]] * 2, [IDENTITY] * 3), r"do not match: translations \(2, 3\), rotations \(3, 4\)"),
        (("abc", [IDENTITY]), "translations must be an array of numbers"),
        (([[1e200, 0, 0]], [IDENTITY]), r"translations\[0, 0\] is 1e\+200; allowed are finite numbers"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        Pose(*arguments)


# --- parts and precisions --------------------------------------------------------------------------------------


def test_parts_of_a_batch():
    pose = random_pose(np.random.default_rng(5), 4, 6)
    for at in (2, (2, 3), slice(1, 3), (slice(None), 2), [0, 3], np.array([True, False, True, True]), ..., None):
        part = pose[at]
        assert part.joints == pose.joints
        for mine, whole in zip(part.arrays(), pose.arrays(), strict=True):
            np.testing.assert_array_equal(mine, whole[at if at is not ... else slice(None)])
    pose[0].translations[:] = 7
    assert (pose.translations != 7).all()
    assert [part.shape for part in pose] == [(6,)] * 4
    with pytest.raises(IndexError):
        pose[0, 0, 0]  # Joints are no part of the batch.
    with pytest.raises(InputError, match="only a batch of poses has parts"):
        pose[0, 0][0]


def test_another_precision_is_a_copy():
    pose = random_pose(np.random.default_rng(6), 2)
    narrow = pose.astype(np.float32)
    assert narrow.precision is np.float32
    assert narrow.same(pose.astype(np.dtype("float32")))
    np.testing.assert_array_equal(narrow.rotations, pose.rotations.astype(np.float32))
    same = pose.astype(np.float64)
    assert same.same(pose)
    assert not np.shares_memory(same.rotations, pose.rotations)
    with pytest.raises(InputError, match=r"dtype is .*int.*; allowed are float32 and float64"):
        pose.astype(int)
    with pytest.raises(InputError, match=r"translations\[0, 0\] is inf; allowed are finite numbers .* 1e\+17"):
        Pose([[1e50, 0, 0]], [IDENTITY]).astype(np.float32)


def test_same_looks_at_every_number():
    pose = random_pose(np.random.default_rng(7), 2)
    assert pose.same(pose.copy())
    assert not pose.same(pose[0])
    for n in range(3):
        arrays = [array.copy() for array in pose.arrays()]
        arrays[n][1, 2, 0] += 1e-3
        assert not pose.same(Pose(*arrays))


# --- blending --------------------------------------------------------------------------------------------------


@both_precisions
def test_weight_0_and_1_are_the_poses_bit_for_bit(dtype):
    rng = np.random.default_rng(8)
    a, b = (random_pose(rng, 3, dtype=dtype) for _ in range(2))
    assert same_bits(a.blend(b, 0), a)
    assert same_bits(a.blend(b, 1), b)
    assert same_bits(a.blend(b, 0.0 * np.ones(3)), a)
    assert same_bits(a.blend(b, np.ones((3, 5))), b)


@both_precisions
def test_between_rotations_are_slerped_and_the_rest_in_proportion(dtype):
    rng = np.random.default_rng(9)
    a, b = (random_pose(rng, joints=40, dtype=dtype) for _ in range(2))
    for weight in (0.001, 0.25, 0.5, 0.9):
        mixed = a.blend(b, weight)
        for name in ("translations", "scales"):
            x, y = (getattr(p, name).astype(float) for p in (a, b))
            np.testing.assert_allclose(getattr(mixed, name), x + (y - x) * dtype(weight), atol=8 * eps(dtype))
        expected = [naive.slerp(p, q, float(dtype(weight))) for p, q in zip(a.rotations, b.rotations, strict=True)]
        assert naive.angle_between_rotations(mixed.rotations, np.array(expected)).max() < 32 * eps(dtype)


@given(compiled.rotations(), compiled.rotations(), st.floats(0, 1))
def test_a_blend_stays_unit_length_and_never_rotates_past_the_goal(p, q, weight):
    a, b = Pose([[0, 0, 0]], [p]), Pose([[0, 0, 0]], [q])
    mixed = a.blend(b, weight).rotations
    np.testing.assert_allclose(np.linalg.norm(mixed), 1, atol=1e-15 * 4)
    whole = float(naive.angle_between_rotations(p, q))
    np.testing.assert_allclose(naive.angle_between_rotations(p, mixed[0]), whole * weight, atol=1e-7)


def test_a_mask_blends_each_joint_by_its_own_weight():
    rng = np.random.default_rng(10)
    a, b = random_pose(rng, 3), random_pose(rng, 3)
    mask = np.array([0.0, 1.0, 0.5, 0.0, 0.25])
    mixed = a[0].blend(b[0], mask)
    for j, weight in enumerate(mask):
        alone = a[0].blend(b[0], weight)
        assert all((x[j] == y[j]).all() for x, y in zip(mixed.arrays(), alone.arrays(), strict=True))
    over_all = a.blend(b, mask[np.newaxis])
    assert over_all.shape == (3,)
    assert same_bits(over_all[0], mixed)
    each = rng.uniform(size=(3, 5))
    assert all(same_bits(a.blend(b, each)[i], a[i].blend(b[i], each[i])) for i in range(3))


def test_blends_broadcast_over_the_batch():
    rng = np.random.default_rng(11)
    one, many = random_pose(rng), random_pose(rng, 4, 3)
    weights = rng.uniform(size=(4, 3))
    for a, b in ((one, many), (many, one)):
        mixed = a.blend(b, weights)
        assert mixed.shape == (4, 3)
        for at in np.ndindex(4, 3):
            x, y = (p[at] if p.shape else p for p in (a, b))
            assert same_bits(mixed[at], x.blend(y, weights[at]))
    assert one.blend(one, np.linspace(0, 1, 7)).shape == (7,)
    # As long as the skeleton, but one for each of a batch: no mask.
    five = random_pose(rng, 5)
    assert same_bits(five.blend(five[::-1], np.linspace(0, 1, 5))[4], five[0])


def test_blending_poses_of_two_precisions_gives_the_finer():
    rng = np.random.default_rng(12)
    assert random_pose(rng, dtype=np.float32).blend(random_pose(rng), 0.5).precision is np.float64


@pytest.mark.parametrize(
    ("other", "weight", "message"),
    [
        ((5,), 1.5, "weight is 1.5; allowed are numbers from 0 to 1"),
        ((5,), [0.5, -1, 0, 0, 0], r"weight\[1\] is -1"),
        ((5,), np.nan, "weight is nan"),
        ((4,), 0.5, "the poses have 5 and 4 joints"),
        ((2, 5), [0.1, 0.2, 0.3], r"batch shapes do not match: \(\), \(2,\), weight \(3,\)"),
    ],
)
def test_bad_blends_are_named(other, weight, message):
    rng = np.random.default_rng(13)
    pose, other = random_pose(rng), random_pose(rng, *other[:-1], joints=other[-1])
    for method in (pose.blend, pose.add):
        with pytest.raises(InputError, match=message):
            method(other, weight)


# --- layers ----------------------------------------------------------------------------------------------------


@both_precisions
def test_adding_the_difference_gives_the_pose_back(dtype):
    rng = np.random.default_rng(14)
    base, pose = (random_pose(rng, 6, dtype=dtype) for _ in range(2))
    layer = pose.difference(base)
    assert_poses_close(base.add(layer), pose, 64 * eps(dtype))
    assert same_bits(base.add(layer, 0), base)
    nothing = pose.difference(pose)
    np.testing.assert_array_equal(nothing.translations, 0)
    np.testing.assert_array_equal(nothing.scales, 1)
    assert naive.rotation_angle(nothing.rotations).max() < 8 * eps(dtype)


def test_part_of_a_layer_is_added_by_its_weight():
    rng = np.random.default_rng(15)
    base, pose, other = (random_pose(rng) for _ in range(3))
    layer = pose.difference(base)
    weights = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    added = other.add(layer, weights)
    np.testing.assert_allclose(added.translations, other.translations + layer.translations * weights[:, None])
    np.testing.assert_allclose(added.scales, other.scales * (1 + (layer.scales - 1) * weights[:, None]))
    for j, weight in enumerate(weights):
        rotation = naive.slerp(np.array(IDENTITY), layer.rotations[j], weight)
        assert naive.angle_between_rotations(added.rotations[j], naive.quat_mul(other.rotations[j], rotation)) < 1e-12


@both_precisions
def test_scales_of_nothing_and_next_to_nothing_have_no_factor(dtype):
    flat = np.array([[0, 1e-30, 2]], dtype)
    base = Pose(np.zeros((1, 3), dtype), np.array([IDENTITY], dtype), flat)
    pose = Pose(np.zeros((1, 3), dtype), np.array([IDENTITY], dtype), np.array([[3, 1e10, 3]], dtype))
    layer = pose.difference(base)
    assert np.isfinite(layer.scales).all()
    again = base.add(layer)
    assert again.scales[0, 0] == 0
    assert again.scales[0, 2] == 3


@given(st.data())
def test_finite_in_finite_out(data):
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))

    def pose():
        return Pose(
            np.array([data.draw(problems.vectors())], dtype),
            np.array([data.draw(compiled.rotations())], dtype),
            np.array([data.draw(problems.vectors())], dtype),
        )

    a, b, weight = pose(), pose(), data.draw(st.floats(0, 1))
    for out in (a.blend(b, weight), a.difference(b), a.add(b, weight)):
        assert all(np.isfinite(array).all() for array in out.arrays())
        np.testing.assert_allclose(np.linalg.norm(out.rotations.astype(float), axis=-1), 1, atol=1e-6)


def test_nothing_is_changed_in_place():
    rng = np.random.default_rng(16)
    a, b = random_pose(rng, 3), random_pose(rng, 3)
    before = a.copy(), b.copy()
    for out in (a.blend(b, 0.0), a.blend(b, 1.0), a.blend(b, 0.5), a.add(b), a.difference(b), a.copy(), a[:2]):
        for array in out.arrays():
            array[:] = 3
    assert same_bits(a, before[0])
    assert same_bits(b, before[1])


def test_a_joint_is_found_by_its_name():
    rng = np.random.default_rng(17)
    pose = random_pose(rng, 2, 4)
    named = pose.named(["hips", "spine", "head", "tail", "tip"])
    joint = named["spine"]
    np.testing.assert_array_equal(joint.translation, pose.translations[..., 1, :])
    np.testing.assert_array_equal(joint.rotation, pose.rotations[..., 1, :])
    np.testing.assert_array_equal(joint.scale, pose.scales[..., 1, :])
    joint.translation[:] = 9  # A copy.
    assert not (named.translations == 9).any()


def test_names_go_with_a_pose():
    rng = np.random.default_rng(18)
    names = tuple("abcdefgh"[: random_pose(rng, 3).joints])
    a, b = random_pose(rng, 3).named(names), random_pose(rng, 3)
    for pose in (a.copy(), a.astype(np.float32), a[1], a.blend(b, 0.5), a.add(b), a.difference(b)):
        assert pose.names == names
    assert b.names is None


def test_joints_that_are_not_there_are_named():
    pose = random_pose(np.random.default_rng(19), 3)
    with pytest.raises(InputError, match="this pose has no joint names to find 'head' by"):
        pose["head"]
    names = ["head", "hips", "knee", "foot", "toes"]
    with pytest.raises(InputError, match=r"there is no joint 'haed'; did you mean 'head'\?"):
        pose.named(names)["haed"]
    with pytest.raises(InputError, match="names has 1"):
        pose.named(["head"])
