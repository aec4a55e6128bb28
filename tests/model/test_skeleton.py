"""Skeletons: their joints by name, world matrices against plain 4x4 products, mirrored poses."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.errors import InputError
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton, mirror_names
from tests import naive, problems
from tests.compiled import both_precisions, eps
from tests.stages.bodies import person, poses, quat_from_matrix
from tests.stages.symmetric_person import person as symmetric_person

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def rest(joints):
    t = np.zeros((joints, 3))
    t[:, 1] = 1.0
    return Pose(t, np.tile(IDENTITY, (joints, 1)))


def tree(rng, joints, dtype=np.float64, uniform=False):
    """Joints below any of the ones before, some of them roots; scales of either sign, a different one per axis."""
    parents = [int(rng.integers(-1, j)) if j else -1 for j in range(joints)]
    return Skeleton([f"joint {j}" for j in range(joints)], parents, random_pose(rng, joints, dtype, uniform))


def random_pose(rng, joints, dtype=np.float64, uniform=False, shape=()):
    scales = rng.uniform(0.5, 1.5, (*shape, joints, 1 if uniform else 3)) * rng.choice([1.0, -1.0], (*shape, joints, 3))
    return Pose(rng.normal(size=(*shape, joints, 3)), problems.quaternions(rng, *shape, joints), scales).astype(dtype)


def by_hand(skeleton, pose):
    return naive.world_matrices(skeleton.parents, *pose.arrays())


# --- joints ----------------------------------------------------------------------------------------------------

TREE = Skeleton(["hips", "spine", "head", "hip_l", "ankle_l", "hip_r"], [-1, 0, 1, 0, 3, 0], rest(6))


def test_joints_are_found_by_name_and_by_index():
    assert len(TREE) == 6
    assert repr(TREE) == "Skeleton(6 joints, root 'hips')"
    assert TREE.index("head") == 2
    assert TREE.index(2) == 2
    assert TREE.index(np.int32(2)) == 2
    assert TREE.children("hips") == (1, 3, 5)
    assert TREE.children("head") == ()
    assert TREE.chain("hips", "ankle_l") == (0, 3, 4)
    assert TREE.chain(3, 3) == (3,)
    assert TREE.below(["spine", "hip_l"]).tolist() == [1, 2, 3, 4]
    assert TREE.below([]).tolist() == []
    assert TREE.above([]).tolist() == []
    assert TREE.above(["ankle_l"]).tolist() == [0, 3, 4]
    assert TREE.above(["ankle_l", "head"]).tolist() == [0, 1, 2, 3, 4]
    assert TREE.length(("hips", "hip_l", "ankle_l")) == 2.0
    assert TREE.branch("arm", ["hips", "ankle_l"]) == (0, 4)


def test_below_and_above_are_each_others_opposite():
    skeleton = tree(np.random.default_rng(1), 30)
    below = np.array([[b in skeleton.below([a]) for b in range(30)] for a in range(30)])
    above = np.array([[b in skeleton.above([a]) for b in range(30)] for a in range(30)])
    np.testing.assert_array_equal(below, above.T)
    for a in range(30):
        for b in range(30):
            if below[a, b]:
                path = skeleton.chain(a, b)
                assert path[0] == a
                assert path[-1] == b
                assert len(path) == (above[b] & below[a]).sum()
            else:
                with pytest.raises(InputError, match=f"'joint {b}' is not below 'joint {a}'"):
                    skeleton.chain(a, b)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TREE.index("hip_x"), "there is no joint 'hip_x'; did you mean 'hip_"),
        (lambda: TREE.index("zzz"), "there is no joint 'zzz'; there are 'hips', 'spine'"),
        (lambda: TREE.index(6), "there is no joint 6; indices go from 0 to 5"),
        (lambda: TREE.index(-1), "there is no joint -1"),
        (lambda: TREE.index(1.0), "a joint is given by name or index, got 1.0"),
        (lambda: TREE.index(True), "a joint is given by name or index, got True"),
        (lambda: TREE.chain("head", "hips"), "'hips' is not below 'head'; a chain runs down a branch"),
        (lambda: TREE.branch("arm", ["hips"]), "arm has 1 joint; it needs at least 2"),
        (lambda: TREE.branch("arm", ["hips", "hips"]), "arm: 'hips' is not below 'hips'"),
        (lambda: TREE.branch("arm", ["spine", "ankle_l"]), "arm: 'ankle_l' is not below 'spine'; joints run down"),
        (lambda: TREE.branch("arm", "hips"), "arm must be a sequence of joints, got 'hips'"),
        (lambda: TREE.branch("arm", 3), "arm must be a sequence of joints, got 3"),
        (lambda: TREE.world(rest(5)), "the pose has 5 joints; this skeleton has 6"),
        (lambda: TREE.world("pose"), "pose must be a Pose, got str"),
        (lambda: TREE.palette(rest(7)), "the pose has 7 joints"),
        (
            lambda: TREE.world(rest(6), before=np.zeros((5, 4, 4)), changed=[0]),
            r"before .* \(6, 4, 4\); got \(5, 4, 4\)",
        ),
        (lambda: TREE.world(rest(6), before=np.full((6, 4, 4), np.nan), changed=[0]), r"before\[0, 0, 0\] is nan"),
        (
            lambda: TREE.world(rest(6), changed=["hips"]),
            r"before must be the world matrices.*; got \(0,\)",
        ),
        (lambda: TREE.mirrored(rest(6), {"hips": "nobody"}), "there is no joint 'nobody'"),
        (lambda: TREE.mirrored(rest(6), {0: 1, 1: 2}), "pairs has 'spine' with 'hips' and with 'head'"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": []}, "names is empty"),
        ({"names": "abc"}, "names must be a sequence of joint names, got 'abc'"),
        ({"names": ["a", "b", "a"]}, r"names\[2\] is 'a', as names\[0\] is"),
        ({"names": ["a", 1, "b"]}, r"names\[1\] is 1; allowed are strings"),
        ({"parents": [-1, 0]}, r"parents must be 3 whole numbers, one per name; got \(2,\)"),
        ({"parents": [-1, 0, 0.5]}, r"parents must be whole numbers, got float64 \(3,\)"),
        ({"parents": [[-1], [0, 1], [1]]}, "parents must be whole numbers"),
        ({"parents": [-1, 0, None]}, "parents must be whole numbers"),
        ({"parents": [-1, 0, 7]}, r"parents\[2\] is 7; allowed are -1 for a root and indices from 0 to 1"),
        ({"parents": [-1, 2, 7]}, r"parents\[2\] is 7; allowed are -1"),
        ({"parents": [-1, 2, -5]}, r"parents\[2\] is -5; allowed are -1"),
        ({"parents": [-2, 0, 1]}, r"parents\[0\] is -2; allowed are -1 for a root$"),
        ({"parents": [-1, 2, 0]}, r"parents\[1\] is 2 \('c'\); a parent comes before its children, below 1"),
        ({"parents": [-1, 2, 1]}, r"parents\[1\] is 2, which makes a cycle: b -> c -> b"),
        ({"parents": [0, 0, 1]}, r"parents\[0\] is 0, which makes a cycle: a -> a"),
        ({"parents": [2, 0, 1]}, "makes a cycle: a -> c -> b -> a"),
        ({"rest": rest(2)}, "rest must be one pose of 3 joints, one for each name; got 2 joints"),
        ({"rest": Pose(np.zeros((4, 3, 3)), [IDENTITY] * 3)}, r"got 3 joints, batch \(4,\)"),
        ({"rest": np.zeros((3, 3))}, "rest must be a Pose, got ndarray"),
        ({"limits": [None]}, "limits must be a dict by joint, or 3 limits or None"),
        ({"limits": 5}, "limits must be a sequence of limits or None, or a dict by joint, got 5"),
        ({"limits": [None, 0.5, None]}, r"limits\[1\] is 0.5; allowed are Hinge, Cone, SwingTwist, Slider and None"),
        ({"limits": {"d": km.Cone(1)}}, "there is no joint 'd'"),
        ({"inverse_bind": np.eye(4)}, r"inverse_bind must have shape \(3, 3, 4\) or \(3, 4, 4\), got \(4, 4\)"),
        ({"inverse_bind": np.full((3, 3, 4), np.inf)}, r"inverse_bind\[0, 0, 0\] is inf"),
    ],
)
def test_bad_skeletons_are_named(change, message):
    with pytest.raises(InputError, match=message):
        Skeleton(**{"names": ["a", "b", "c"], "parents": [-1, 0, 1], "rest": rest(3)} | change)


def test_limits_come_by_name_or_one_for_each():
    limits = {"spine": km.Cone(0.5), "ankle_l": km.Hinge((1, 0, 0), -1, 0)}
    by_name = Skeleton(TREE.names, TREE.parents, TREE.rest, limits)
    by_index = Skeleton(TREE.names, TREE.parents, TREE.rest, [limits.get(name) for name in TREE.names])
    assert by_name.limits == by_index.limits
    assert by_name.limits[1] == km.Cone(0.5)
    for dtype in (np.float64, np.float32):
        held = by_name.joint_limits(dtype)
        assert held.limits["kind"].dtype == held.bones.dtype == held.rest.dtype == dtype
        assert (held.limits["kind"] != 0).tolist() == [False, True, False, False, True, False]
    assert TREE.limits == (None,) * 6


def test_a_joints_bone_runs_to_its_first_child_as_its_scale_has_it():
    t = [(0, 0, 0), (0, 0, 0), (3, 4, 0), (0, 0, 1e-300)]
    s = [(1, 1, 1), (-1, 2, 1), (1, 1, 1), (1, 1, 1)]
    skeleton = Skeleton(list("abcd"), [-1, 0, 1, 2], Pose(t, [IDENTITY] * 4, s))
    bones = skeleton.joint_limits(np.float64).bones
    np.testing.assert_allclose(bones[0], (0, 1, 0))  # Its child is at the same position.
    np.testing.assert_allclose(bones[1], naive.unit((-3, 8, 0)))
    np.testing.assert_allclose(bones[2], (0, 0, 1))
    np.testing.assert_allclose(bones[3], (0, 1, 0))


def test_results_are_cached():
    skeleton, made = tree(np.random.default_rng(2), 3), []

    def make(key):
        return lambda: made.append(key) or key

    assert [skeleton.cached(key, make(key)) for key in (1, 2, 1, 2)] == [1, 2, 1, 2]
    assert made == [1, 2]
    for key in range(5000):
        skeleton.cached(key, make(key))
    assert len(skeleton._cache) <= 1024


def test_a_skeleton_can_be_sent_to_another_process():
    skeleton = tree(np.random.default_rng(3), 8)
    pose = random_pose(np.random.default_rng(4), 8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(skeleton)).world(pose), skeleton.world(pose))


# --- matrices --------------------------------------------------------------------------------------------------


@both_precisions
def test_world_matrices_are_the_products_of_local_ones(dtype):
    rng = np.random.default_rng(5)
    for joints in (1, 2, 17):
        skeleton = tree(rng, joints, dtype)
        pose = random_pose(rng, joints, dtype, shape=(3,))
        world = skeleton.world(pose)
        assert world.dtype == dtype
        assert world.shape == (3, joints, 4, 4)
        expected = by_hand(skeleton, pose)
        np.testing.assert_allclose(world, expected, atol=50 * eps(dtype) * np.abs(expected).max())
        np.testing.assert_array_equal(world[..., 3, :], np.broadcast_to((0, 0, 0, 1), (3, joints, 4)))


@both_precisions
def test_only_what_changed_is_computed_anew_and_gives_the_same(dtype):
    rng = np.random.default_rng(6)
    skeleton = tree(rng, 20, dtype)
    pose = random_pose(rng, 20, dtype, shape=(2, 3))
    before = skeleton.world(pose)
    for changed in ([4], ["joint 2", 9], [], list(range(20))):
        at = [skeleton.index(joint) for joint in changed]
        arrays = [array.copy() for array in pose.arrays()]
        for array, other in zip(arrays, random_pose(rng, 20, dtype, shape=(2, 3)).arrays(), strict=True):
            array[..., at, :] = other[..., at, :]
        other = Pose(*arrays)
        kept = before.copy()
        np.testing.assert_array_equal(skeleton.world(other, before=before, changed=changed), skeleton.world(other))
        np.testing.assert_array_equal(before, kept)
    # It is not all computed anew: joints that are said to be as they were are taken over.
    wrong = before + 1
    wrong[..., 3, :] = (0, 0, 0, 1)
    mixed, below = skeleton.world(pose, before=wrong, changed=[7]), skeleton.below([7])
    others = np.setdiff1d(np.arange(20), below)
    np.testing.assert_array_equal(mixed[..., others, :, :], wrong[..., others, :, :])


@both_precisions
def test_a_batch_of_any_shape_is_many_singles(dtype):
    rng = np.random.default_rng(7)
    skeleton = tree(rng, 9, dtype)
    for shape in ((1,), (4,), (2, 3), (0,), (2, 0, 3)):
        pose = random_pose(rng, 9, dtype, shape=shape)
        world, palette = skeleton.world(pose), skeleton.palette(pose)
        assert world.shape == (*shape, 9, 4, 4)
        assert palette.shape == (*shape, 9, 3, 4)
        for at in np.ndindex(*shape):
            np.testing.assert_array_equal(world[at], skeleton.world(pose[at]))
            np.testing.assert_array_equal(palette[at], skeleton.palette(pose[at]))


@pytest.mark.slow_uncompiled
def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    rng = np.random.default_rng(8)
    skeleton, pose = tree(rng, 6), random_pose(rng, 6, shape=(3000,))
    answers = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("KINEMA_THREADS", threads)
        answers.append((skeleton.world(pose), skeleton.palette(pose)))
    for world, palette in answers[1:]:
        np.testing.assert_array_equal(world, answers[0][0])
        np.testing.assert_array_equal(palette, answers[0][1])


@both_precisions
def test_a_palette_does_nothing_at_rest(dtype):
    skeleton = tree(np.random.default_rng(9), 12, dtype)
    still = np.broadcast_to(np.eye(4)[:3], (12, 3, 4))
    np.testing.assert_allclose(skeleton.palette(skeleton.rest), still, atol=1e4 * eps(dtype))
    np.testing.assert_array_equal(skeleton.rest_world, skeleton.world(skeleton.rest))


def test_a_palette_by_columns_is_the_same_matrices_in_another_order():
    rng = np.random.default_rng(3)
    skeleton = tree(rng, 3)
    pose = random_pose(rng, 3)
    rows, columns = skeleton.palette(pose), skeleton.palette(pose, layout="columns")
    assert columns.shape == (3, 4, 3)
    assert columns.flags.c_contiguous
    np.testing.assert_array_equal(columns.reshape(3, 12)[:, 9:], rows[..., 3])
    with pytest.raises(InputError, match="layout is 'diagonal'; allowed are 'rows', 'columns'"):
        skeleton.palette(pose, layout="diagonal")


@pytest.mark.parametrize("rows", [3, 4])
def test_a_palette_takes_points_from_where_they_were_bound(rows):
    rng = np.random.default_rng(10)
    plain = tree(rng, 6)
    bound = random_pose(rng, 6)
    inverse = np.linalg.inv(by_hand(plain, bound))
    skeleton = Skeleton(plain.names, plain.parents, plain.rest, inverse_bind=inverse[:, :rows])
    np.testing.assert_allclose(skeleton.inverse_bind, inverse)
    pose = random_pose(rng, 6, shape=(2,))
    np.testing.assert_allclose(skeleton.palette(pose), (by_hand(plain, pose) @ inverse)[..., :3, :], atol=1e-9)
    np.testing.assert_allclose(skeleton.palette(bound), np.broadcast_to(np.eye(4)[:3], (6, 3, 4)), atol=1e-9)


def test_collapsed_joints_stay_finite():
    pose = Pose(np.ones((3, 3)), [IDENTITY] * 3, [(0, 0, 0), (1, 0, 1), (1, 1, 1)])
    skeleton = Skeleton(list("abc"), [-1, 0, 1], pose, {"a": km.Cone(1.0)})
    assert np.isfinite(skeleton.world(pose)).all()
    assert np.isfinite(skeleton.palette(pose)).all()
    assert np.isfinite(skeleton.mirrored(pose).rotations).all()


@given(st.data())
def test_finite_in_finite_out(data):
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    t = np.array([data.draw(problems.vectors()) for _ in range(3)], dtype)
    s = np.array([data.draw(problems.vectors()) for _ in range(3)], dtype)
    q = problems.quaternions(np.random.default_rng(data.draw(st.integers(0, 99))), 3).astype(dtype)
    if dtype == np.float32:
        # Three of them multiplied, and a place, must stay below 3e38; and so must the inverse of that.
        s = np.where(np.abs(s) < 1e-6, 0, np.clip(s, -1e6, 1e6)).astype(dtype)
    skeleton = Skeleton(list("abc"), [-1, 0, 1], Pose(t, q, s))
    assert np.isfinite(skeleton.rest_world).all()
    assert np.isfinite(skeleton.inverse_bind).all()


# --- mirrored --------------------------------------------------------------------------------------------------


def with_mirrors(skeleton, joints):
    """The same joints in the same places, with scales that mirror x at some of them."""
    world = np.tile(np.eye(4), (len(skeleton), 1, 1))
    parts = []
    for j, parent in enumerate(skeleton.parents):
        above = np.eye(4) if parent < 0 else world[parent]
        axes, goal = (m[:3, :3] / np.cbrt(abs(np.linalg.det(m[:3, :3]))) for m in (above, skeleton.rest_world[j]))
        rotation = quat_from_matrix(axes.T @ goal @ np.diag([np.linalg.det(axes), 1, 1]))
        scale = np.abs(skeleton.rest.scales[j]) * (-1 if skeleton.names[j] in joints else 1, 1, 1)
        position = np.linalg.solve(above, skeleton.rest_world[j, :, 3])[:3]
        parts.append((position, rotation, scale))
        world[j] = above @ naive.local_matrices(*parts[-1])
    return Skeleton(skeleton.names, skeleton.parents, Pose(*(np.array(part) for part in zip(*parts, strict=True))))


MIRRORS = [(), ("shoulder_r",), ("root",), ("arm_l", "arm_r", "neck"), ("shoulder_r", "forearm_r", "hand_r", "foot_l")]


def swapped(names):
    pairs = mirror_names(names)
    pairs |= {b: a for a, b in pairs.items()}
    return [names.index(pairs.get(name, name)) for name in names]


@pytest.mark.parametrize("mirrors", MIRRORS, ids=lambda names: "+".join(names) or "none")
@both_precisions
def test_a_mirrored_pose_is_the_mirror_image(mirrors, dtype):
    plain = with_mirrors(symmetric_person().skeleton, mirrors)
    skeleton = Skeleton(plain.names, plain.parents, plain.rest.astype(dtype))
    rng = np.random.default_rng(11)
    rotations = poses(symmetric_person(), rng, 8, 1.5)
    rotations = naive.quat_mul(plain.rest.rotations, naive.quat_mul(naive.quat_conj(person_rest()), rotations))
    # Places move too, as hips do, and bones that a clip stretches.
    moved = plain.rest.translations + rng.normal(size=(8, len(plain), 3)) * 0.1
    pose = Pose(moved, rotations, plain.rest.scales).astype(dtype)
    image = skeleton.mirrored(pose)
    assert image.precision is dtype
    at, at_image = (skeleton.world(p)[..., :3, 3] for p in (pose, image))
    expected = at[:, swapped(skeleton.names)] * (-1, 1, 1)
    np.testing.assert_allclose(at_image, expected, atol=64 * eps(dtype))
    again = skeleton.mirrored(image)
    np.testing.assert_allclose(again.translations, pose.translations, atol=64 * eps(dtype))
    np.testing.assert_array_equal(again.scales, pose.scales)
    assert naive.angle_between_rotations(again.rotations, pose.rotations).max() < 64 * eps(dtype)
    back = skeleton.mirrored(skeleton.rest)
    np.testing.assert_allclose(back.translations, skeleton.rest.translations, atol=64 * eps(dtype))
    assert naive.angle_between_rotations(back.rotations, skeleton.rest.rotations).max() < 64 * eps(dtype)


def person_rest():
    return symmetric_person().skeleton.rest.rotations


@pytest.mark.parametrize("mirrors", MIRRORS, ids=lambda names: "+".join(names) or "none")
def test_world_rotations_are_the_axes_of_the_world_matrices(mirrors):
    skeleton = with_mirrors(symmetric_person().skeleton, mirrors)
    pose = Pose(skeleton.rest.translations, problems.quaternions(np.random.default_rng(12), 20), skeleton.rest.scales)
    axes = skeleton.world(pose)[:, :3, :3] / 0.5
    axes *= np.linalg.det(axes)[:, None, None]
    np.testing.assert_allclose(naive.quat_to_matrix(skeleton.world_rotations(pose)), axes, atol=1e-12)


def test_in_a_mirror_a_batch_is_many_singles():
    character = person()
    pose = Pose(
        character.skeleton.rest.translations, poses(character, np.random.default_rng(13), 6).reshape(2, 3, -1, 4)
    )
    image = character.skeleton.mirrored(pose)
    for at in np.ndindex(2, 3):
        assert image[at].same(character.skeleton.mirrored(pose[at]))


def test_pairs_may_be_given():
    skeleton = Skeleton(["root", "one", "two"], [-1, 0, 0], Pose([(0, 0, 0), (1, 1, 0), (-1, 1, 0)], [IDENTITY] * 3))
    pose = Pose(skeleton.rest.translations, [IDENTITY, naive.quat_from_axis_angle((0, 1, 1), 0.7), IDENTITY])
    for pairs in ({"one": "two"}, {"two": "one"}, {"one": "two", "two": "one"}, {1: 2}):
        image = skeleton.mirrored(pose, pairs)
        np.testing.assert_allclose(image.rotations[1], IDENTITY, atol=1e-15)
        assert naive.angle_between_rotations(image.rotations[2], naive.quat_from_axis_angle((0, 1, 1), -0.7)) < 1e-12
    alone = skeleton.mirrored(pose)  # Nothing in the names says that they belong together.
    assert naive.angle_between_rotations(alone.rotations[1], naive.quat_from_axis_angle((0, 1, 1), -0.7)) < 1e-12


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("hand_l", "hand_r"),
        ("upper_leg_l", "upper_leg_r"),
        ("lower_leg.L", "lower_leg.R"),
        ("LeftArm", "RightArm"),
        ("mixamorig:LeftUpLeg", "mixamorig:RightUpLeg"),
        ("left_hand", "right_hand"),
        ("LEFT_FOOT", "RIGHT_FOOT"),
        ("J_Bip_L_LowerLeg", "J_Bip_R_LowerLeg"),
        ("l_shoulder", "r_shoulder"),
        ("Bip01 L Calf", "Bip01 R Calf"),
        ("LHipJoint", "RHipJoint"),
        ("lShldr", "rShldr"),
        ("hand.l.001", "hand.r.001"),
        ("handL", "handR"),
        ("left_finger_l", "right_finger_r"),
    ],
)
def test_left_and_right_are_known_by_their_names(left, right):
    others = ["hips", "lower_spine", "skull", "Leftover", "tail_lower"]
    assert mirror_names([*others, left, right]) == {left: right}
    assert mirror_names([*others, left]) == {}
