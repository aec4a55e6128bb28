"""`solve` on posed skeletons, judged by forward kinematics with plain 4x4 matrices on what it returns."""

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.errors import InputError
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests import compiled, naive, problems, urdf
from tests.assets import asset
from tests.compiled import both_precisions, eps
from tests.stages.bodies import STRANGE, person, poses

SOLVERS = ["two_bone", "ccd", "fabrik", "compensating"]
ARM = ("upper_l", "fore_l", "hand_l")
OTHER_ARM = ("upper_r", "fore_r", "hand_r")  # With a joint in between that is left out.
IDENTITY = (0.0, 0.0, 0.0, 1.0)

MIRRORED_ARM = person(seed=4, mirrored=("shoulder_l", "fore_l", "hand_l"))
PEOPLE = {"plain": person(), "small": STRANGE[0], "mirrored": STRANGE[1], "mirrored arm": MIRRORED_ARM}

each_character = pytest.mark.parametrize("who", PEOPLE)


# --- poses and their forward kinematics ------------------------------------------------------------------------


def posed(character, rng, count, amount=1.0):
    """Poses with every joint rotated a little."""
    rest = character.skeleton.rest
    return Pose(rest.translations, poses(character, rng, count, amount), rest.scales)


def world_of(skeleton, pose):
    return naive.world_matrices(skeleton.parents, *(array.astype(np.float64) for array in pose.arrays()))


def places(skeleton, pose, joints):
    """(..., n, 3): where these joints are."""
    return world_of(skeleton, pose)[..., :3, 3][..., [skeleton.index(joint) for joint in joints], :]


def size(skeleton, pose, joints):
    """(...): length from joint to joint."""
    return naive.bone_lengths(places(skeleton, pose, joints)).sum(-1)


def reachable(rng, skeleton, pose, joints, low=0.02, high=0.98):
    """Targets in any direction at a distance that two bones can do, a share of the way from least to most."""
    at = places(skeleton, pose, joints)
    bones = naive.bone_lengths(at)
    hole = np.maximum(2 * bones.max(-1) - bones.sum(-1), 0)
    distance = hole + rng.uniform(low, high, bones.shape[:-1]) * (bones.sum(-1) - hole)
    return at[..., 0, :] + problems.units(rng, *bones.shape[:-1]) * distance[..., None]


def check_sound(skeleton, before, after, report, joints, target, tolerance=1e-4):
    """What holds whatever is asked: unit rotations, bones as they were, joints off the chain untouched, true report."""
    within = 64 * eps(after.precision)
    np.testing.assert_array_equal(after.translations, np.broadcast_to(before.translations, after.translations.shape))
    np.testing.assert_array_equal(after.scales, np.broadcast_to(before.scales, after.scales.shape))
    np.testing.assert_allclose(np.linalg.norm(after.rotations.astype(float), axis=-1), 1, atol=within)
    rotated = [skeleton.index(joint) for joint in joints]
    others = [j for j in range(len(skeleton)) if j not in rotated]
    start = np.broadcast_to(before.rotations, after.rotations.shape)
    np.testing.assert_array_equal(after.rotations[..., others, :], start[..., others, :])
    check_honest(skeleton, after, report, joints, target, tolerance)


def check_honest(skeleton, after, report, joints, target, tolerance=1e-4):
    """The report is what the returned pose does."""
    at = skeleton.world(after)[..., skeleton.index(joints[-1]), :3, 3]
    miss = np.linalg.norm(at.astype(float) - np.asarray(target, float), axis=-1)
    length = size(skeleton, after, joints)
    rounding = 32 * eps(after.precision) * (length + np.linalg.norm(at, axis=-1) + np.abs(target).max())
    assert (np.abs(report.error - miss) <= rounding).all()
    clear = np.abs(miss - tolerance * length) > rounding
    assert (np.asarray(report.reached)[clear] == (miss <= tolerance * length)[clear]).all()


def same_bits(a, b):
    return all(x.tobytes() == y.tobytes() and x.shape == y.shape for x, y in zip(a.arrays(), b.arrays(), strict=True))


def line(*offsets, rotations=None, scales=None, limits=None):
    """A skeleton that is one chain: joints a, b, c and so on, each this far from the one before."""
    turns = np.tile(IDENTITY, (len(offsets), 1)) if rotations is None else rotations
    names = [chr(ord("a") + i) for i in range(len(offsets))]
    return Skeleton(names, range(-1, len(offsets) - 1), Pose(np.array(offsets, float), turns, scales), limits)


# --- who reaches -----------------------------------------------------------------------------------------------


@each_character
@pytest.mark.parametrize("solver", [None, *SOLVERS])
@pytest.mark.parametrize("arm", [ARM, OTHER_ARM], ids=["", "a joint left out"])
def test_the_hand_is_at_the_target(who, solver, arm):
    rng = problems.generator(1)
    skeleton, count = PEOPLE[who].skeleton, 40 if compiled.COMPILED else 3
    pose = posed(PEOPLE[who], rng, count)
    target = reachable(rng, skeleton, pose, arm, 0.2, 0.9)
    after, report = km.solve(skeleton, pose, arm, km.Goal(target), solver=solver)
    check_sound(skeleton, pose, after, report, arm, target)
    share = report.error / size(skeleton, pose, arm)
    if solver == "compensating":  # A creature, not a machine: it comes near.
        assert np.median(share) < 1e-3
        assert share.max() < 0.05
        assert (report.iterations > 0).all()
    else:
        assert report.reached.all()
        assert not report.limited.any()
        closed_form = solver in (None, "two_bone")
        assert share.max() < (1e-9 if closed_form else 1e-4)
        assert (report.iterations == 0).all() == closed_form
    np.testing.assert_allclose(
        report.reach,
        np.linalg.norm(target - places(skeleton, after, arm)[:, 0], axis=-1) / size(skeleton, pose, arm),
    )


@pytest.mark.slow_uncompiled
@each_character
def test_twenty_thousand_limbs_reach(who):
    rng = problems.generator(2)
    skeleton = PEOPLE[who].skeleton
    pose = posed(PEOPLE[who], rng, 5000, 2.0)
    target = reachable(rng, skeleton, pose, ARM, 1e-6, 1 - 1e-6)
    after, report = km.solve(skeleton, pose, ARM, km.Goal(target))
    miss = np.linalg.norm(places(skeleton, after, ARM)[:, -1] - target, axis=-1)
    assert miss.max() < 1e-6 * size(skeleton, pose, ARM).max()
    assert report.reached.all()


@each_character
@pytest.mark.parametrize("solver", [None, "ccd", "fabrik"])
def test_a_long_chain_reaches(who, solver):
    rng = problems.generator(3)
    skeleton, count = PEOPLE[who].skeleton, 60 if compiled.COMPILED else 3
    chain = skeleton.chain("spine", "hand_r")
    pose = posed(PEOPLE[who], rng, count)
    target = reachable(rng, skeleton, pose, chain, 0.1, 0.97)
    after, report = km.solve(skeleton, pose, chain, km.Goal(target), solver=solver)
    check_sound(skeleton, pose, after, report, chain, target)
    assert report.reached.all()


@both_precisions
@pytest.mark.parametrize("where", [1e-3, 1.0, 1e3])
def test_near_and_far_from_the_origin_in_both_precisions(dtype, where):
    rng = problems.generator(4)
    skeleton, pose = person().skeleton, posed(person(), rng, 20)
    moved = pose.translations.copy()
    moved[:, 0] += problems.units(rng, 20) * where
    pose = Pose(moved, pose.rotations).astype(dtype)
    target = reachable(rng, skeleton, pose, ARM).astype(dtype)
    after, report = km.solve(skeleton, pose, ARM, km.Goal(target))
    assert after.precision is dtype
    assert report.error.dtype == dtype
    assert report.reach.dtype == dtype
    assert report.error.max() < 64 * eps(dtype) * max(1, where)


def test_a_bone_that_aims():
    """Two joints: there is nothing to bend, only to point."""
    skeleton = line((1, 1, 1), (0, 2, 0))
    after, report = km.solve(skeleton, skeleton.rest, [*"ab"], km.Goal((4, 1, 1)))
    np.testing.assert_allclose(places(skeleton, after, "b")[0], (3, 1, 1), atol=1e-12)
    assert not report.reached
    assert report.error == pytest.approx(1)


def test_joints_may_be_indices_and_the_batch_may_come_from_the_goal():
    skeleton = person().skeleton
    target = reachable(problems.generator(5), skeleton, posed(person(), np.random.default_rng(0), 6, 0.0), ARM)
    chain = [skeleton.index(joint) for joint in ARM]
    after, report = km.solve(skeleton, skeleton.rest, np.array(chain), km.Goal(target.reshape(2, 3, 3)))
    assert after.shape == (2, 3)
    assert report.reached.shape == (2, 3)
    assert report.reached.all()
    one, single = km.solve(skeleton, skeleton.rest, ARM, km.Goal(target[4].tolist()))
    assert same_bits(after[1, 1], one)
    assert one.shape == ()
    assert single.error.shape == ()
    none, empty = km.solve(skeleton, skeleton.rest, ARM, km.Goal(np.zeros((0, 3))))
    assert none.shape == (0,)
    assert empty.reached.shape == (0,)


# --- out of reach ----------------------------------------------------------------------------------------------


@each_character
@pytest.mark.parametrize("solver", [None, "ccd", "fabrik"])
def test_too_far_is_straight_at_the_target(who, solver):
    rng = problems.generator(6)
    skeleton = PEOPLE[who].skeleton
    pose = posed(PEOPLE[who], rng, 10)
    for chain in (ARM, skeleton.chain("chest", "hand_l")):
        at, whole = places(skeleton, pose, chain), size(skeleton, pose, chain)
        way = problems.units(rng, 10)
        target = at[:, 0] + way * (whole * np.geomspace(1.01, 1e6, 10))[:, None]
        after, report = km.solve(skeleton, pose, chain, km.Goal(target), solver=solver)
        check_sound(skeleton, pose, after, report, chain, target)
        end = places(skeleton, after, chain)[:, -1]
        np.testing.assert_allclose((end - at[:, 0]) / whole[:, None], way, atol=1e-6)
        assert not report.reached.any()
        assert (report.reach > 1).all()


def test_too_near_is_the_edge_of_the_hole():
    skeleton = line((0, 0, 0), (0, 3, 0), (1, 0, 0))
    after, report = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal((0.5, 0, 0.5)))
    np.testing.assert_allclose(places(skeleton, after, "c")[0], np.array((1, 0, 1)) * np.sqrt(2), atol=1e-7)
    assert not report.reached
    assert report.error == pytest.approx(2 - np.sqrt(0.5))


@pytest.mark.parametrize("solver", [None, *SOLVERS])
def test_a_target_at_the_root_and_chains_without_length(solver):
    for offsets in (
        [(0, 0, 0), (0, 1, 0), (0, 1, 0)],
        [(0, 0, 0), (0, 0, 0), (0, 1, 0)],
        [(0, 0, 0), (0, 1, 0), (0, 0, 0)],
        [(1, 2, 3), (0, 0, 0), (0, 0, 0)],
    ):
        skeleton = line(*offsets)
        for target in ((0, 0, 0), (1, 2, 3), (0, 2, 0), (0, 5, 0)):
            after, report = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal(target, pole=target), solver=solver)
            check_sound(skeleton, skeleton.rest, after, report, "abc", target)


def test_softened_limbs_ease_into_full_stretch():
    skeleton = line((0, 0, 0), (0, 1, 0.3), (0, 1, -0.3))
    whole = 2 * np.hypot(1, 0.3)
    share = np.linspace(0.9, 1.2, 301)
    target = np.stack([0 * share, 0 * share, share * whole], axis=-1)
    sharp, hard = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal(target))
    soft, eased = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal(target), soften=0.95)
    assert not hard.soft.any()
    np.testing.assert_array_equal(eased.soft, share > 0.95)

    def fastest(pose):
        step = np.diff(places(skeleton, pose, "b")[:, 0], axis=0)
        return np.linalg.norm(step, axis=-1).max() / (whole * 0.001)

    assert fastest(soft) < 4 < 15 < fastest(sharp)
    # Below the zone nothing is different.
    np.testing.assert_allclose(soft.rotations[share < 0.95], sharp.rotations[share < 0.95], atol=1e-12)


def test_one_warning_when_trouble_starts(caplog):
    skeleton = line((0, 0, 0), (0, 1, 0.3), (0, 1, -0.3))
    goal, far = km.Goal((0, 1, 0)), km.Goal((0, 9, 0))
    for _ in range(3):
        km.solve(skeleton, skeleton.rest, [*"abc"], far)
    assert [record.getMessage() for record in caplog.records] == [
        "solve: the target is out of reach; the closest reachable pose is returned"
    ]
    km.solve(skeleton, skeleton.rest, [*"abc"], goal)
    km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal((0, 9, 0), weight=0.5))  # It is not meant to get there.
    assert len(caplog.records) == 1
    km.solve(skeleton, skeleton.rest, [*"abc"], far)
    assert len(caplog.records) == 2
    km.solve(skeleton, skeleton.rest, [*"abc"], far, solver="fabrik")  # Says so itself.
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["solve", "solve", "fabrik"]


def test_one_warning_about_a_zero_bone(caplog):
    skeleton = line((0, 0, 0), (0, 1, 0.3), (0, 0, 0), (0, 1, -0.3))
    for _ in range(3):
        km.solve(skeleton, skeleton.rest, [*"abcd"], (0, 1, 0))
    assert [record.getMessage() for record in caplog.records] == ["solve: a bone has length zero"]


def test_hinges_at_one_point_are_a_joint_of_several_axes(caplog):
    limits = {"b": km.Hinge((1, 0, 0), -2, 2), "c": km.Hinge((0, 0, 1), -2, 2)}
    skeleton = line((0, 0, 0), (0, 1, 0.3), (0, 0, 0), (0, 1, -0.3), limits=limits)
    km.solve(skeleton, skeleton.rest, [*"abcd"], (0, 1, 0))
    assert caplog.records == []


# --- the tip's rotation ----------------------------------------------------------------------------------------


@each_character
@pytest.mark.parametrize("chain", [ARM, "long"], ids=str)
def test_the_tip_has_the_rotation_of_the_goal(who, chain):
    rng = problems.generator(7)
    skeleton = PEOPLE[who].skeleton
    chain = skeleton.chain("spine", "hand_l") if chain == "long" else chain
    pose = posed(PEOPLE[who], rng, 20)
    target, wanted = reachable(rng, skeleton, pose, chain, 0.3, 0.9), problems.quaternions(rng, 20)
    after, report = km.solve(skeleton, pose, chain, km.Goal(target, rotation=wanted * 3))
    check_sound(skeleton, pose, after, report, chain, target)
    assert report.reached.all()
    tip = skeleton.index("hand_l")
    axes = world_of(skeleton, after)[:, tip, :3, :3]
    axes /= np.linalg.norm(axes, axis=-2, keepdims=True)
    expected = naive.quat_to_matrix(wanted) * np.sign(skeleton.rest.scales[tip])
    # Below a mirror there is no such rotation: its x axis is the other way round.
    above = world_of(skeleton, after)[:, skeleton.parents[tip], :3, :3]
    expected[..., 0] *= np.sign(np.linalg.det(above))[:, None]
    np.testing.assert_allclose(axes, expected, atol=1e-9)


@pytest.mark.slow_uncompiled
@both_precisions
@each_character
def test_the_report_measures_the_rotation_of_the_tip(who, dtype):
    """A straight arm and a limit keep the hand from its rotation: the goal is not reached, whatever its position."""
    rng = problems.generator(29)
    skeleton = with_limits(PEOPLE[who], {"hand_l": km.Cone(0.5)})
    count = 20 if compiled.COMPILED else 1
    pose = posed(PEOPLE[who], rng, count).astype(dtype)
    target, wanted = reachable(rng, skeleton, pose, ARM, 0.98, 0.99), problems.quaternions(rng, count)
    after, report = km.solve(skeleton, pose, ARM, km.Goal(target, rotation=wanted))
    tip = skeleton.index("hand_l")
    world = world_of(skeleton, after)
    above = world[:, skeleton.parents[tip], :3, :3]
    above = above / np.linalg.norm(above, axis=-2, keepdims=True)
    rotated = above @ naive.quat_to_matrix(after.rotations[:, tip].astype(float))
    rotated[..., 0] *= np.sign(np.linalg.det(above))[:, None]
    difference = rotated @ np.swapaxes(naive.quat_to_matrix(wanted), -1, -2)
    angle = np.arccos(np.clip((np.trace(difference, axis1=-2, axis2=-1) - 1) / 2, -1, 1))
    np.testing.assert_allclose(report.rotation_error, angle, atol=1e-3 if dtype == np.float32 else 1e-6)
    assert report.rotation_error.dtype == dtype
    near = report.error <= 1e-4 * size(skeleton, after, ARM)
    np.testing.assert_array_equal(report.reached, (report.rotation_error <= 1e-3) & near)
    assert near.all()  # Where not both can be met, the position counts.
    assert not report.reached.all()


@pytest.mark.slow_uncompiled
def test_the_tolerance_of_the_rotation_is_an_angle():
    skeleton = line((0, 0, 0), (0, 1, 0), (0, 1, 0), limits={"c": km.Cone(0.5)})
    rotated = naive.quat_from_axis_angle((1, 0, 0), 0.9)
    target = places(skeleton, skeleton.rest, "c")[0]
    for tolerance, reached in ((0.3, False), (0.5, True)):
        goal = km.Goal(target, rotation=rotated)
        _, report = km.solve(skeleton, skeleton.rest, [*"abc"], goal, rotation_tolerance=tolerance)
        assert report.rotation_error == pytest.approx(0.4, abs=1e-6)
        assert report.reached == reached
    assert km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal(target))[1].rotation_error == 0


@pytest.mark.slow_uncompiled
def test_inside_limits_position_and_rotation_are_met_together():
    """A KUKA iiwa: seven hinges, whose last one alone rotates the tip."""
    rng = problems.generator(30)
    skeleton, count = urdf.load(asset("urdf/kuka_iiwa.urdf")), 300 if compiled.COMPILED else 1
    rotations = np.tile(skeleton.rest.rotations, (count, 1, 1))
    for j in range(1, len(skeleton)):
        limit = skeleton.limits[j]
        away = [naive.quat_from_axis_angle(limit.axis, angle) for angle in rng.uniform(limit.low, limit.high, count)]
        rotations[:, j] = naive.quat_mul(skeleton.rest.rotations[j], np.array(away))
    pose, chain = Pose(np.tile(skeleton.rest.translations, (count, 1, 1)), rotations), range(1, len(skeleton))
    tip = len(skeleton) - 1
    goal = km.Goal(skeleton.world(pose)[:, tip, :3, 3], rotation=skeleton.world_rotations(pose)[:, tip])
    after, report = km.solve(skeleton, skeleton.rest, chain, goal, tolerance_m=1e-3, rotation_tolerance=np.radians(1))
    at = world_of(skeleton, after)[:, tip, :3, 3]
    assert ((np.linalg.norm(at - goal.position, axis=-1) < 1e-3) & report.reached).mean() >= 0.995


@pytest.mark.parametrize("limits", [{}, {"hand_l": km.Cone(0.9), "fore_l": km.Cone(0.9)}], ids=["no limits", "limits"])
@both_precisions
def test_a_direction_is_met_and_the_rotation_about_it_is_free(dtype, limits):
    """The position and an axis of the hand in other poses, inside the limits."""
    skeleton, count = with_limits(person(), limits), 12 if compiled.COMPILED else 2
    axis, hand, chain = naive.unit((1.0, 2.0, 0.5)), skeleton.index("hand_l"), skeleton.chain("upper_l", "hand_l")

    def along(pose):
        rotations = skeleton.world_rotations(pose)[:, hand].astype(float)
        return naive.quat_rotate(rotations, np.tile(axis, (count, 1)))

    wanted = posed(person(), problems.generator(12), count, 0.3)
    target, direction = skeleton.world(wanted)[:, hand, :3, 3], along(wanted) * 3
    start = Pose(*(np.tile(array.astype(dtype), (count, 1, 1)) for array in skeleton.rest.arrays()))
    after, report = km.solve(skeleton, start, chain, km.Goal(target, direction=direction, axis=axis))
    assert report.reached.all()
    angle = naive.angle_between(along(after), direction)
    np.testing.assert_allclose(report.rotation_error, angle, atol=1e-3 if dtype == np.float32 else 1e-6)
    assert angle.max() < 1.1e-3
    for i in range(2):
        one, _ = km.solve(skeleton, start[i], chain, km.Goal(target[i], direction=direction[i], axis=axis))
        assert same_bits(one, after[i])


def test_a_direction_that_cannot_be_met_leaves_the_position():
    tight = km.SwingTwist(0.1, -0.1, 0.1)
    skeleton = with_limits(person(), {"upper_l": tight, "fore_l": tight, "hand_l": tight})
    chain, hand = skeleton.chain("upper_l", "hand_l"), skeleton.index("hand_l")
    target = skeleton.world(skeleton.rest)[hand, :3, 3]
    _, alone = km.solve(skeleton, skeleton.rest, chain, km.Goal(target))
    _, report = km.solve(skeleton, skeleton.rest, chain, km.Goal(target, direction=(0, 0, -1), axis=(0, 0, 1)))
    assert alone.reached
    assert not report.reached
    assert report.error == alone.error
    assert report.rotation_error > 1e-3


def test_a_bare_point_is_a_goal():
    skeleton = person().skeleton
    after, report = km.solve(skeleton, skeleton.rest, ARM, (0.1, 1.2, 0.3))
    same, _ = km.solve(skeleton, skeleton.rest, ARM, km.Goal((0.1, 1.2, 0.3)))
    assert report.reached
    assert same_bits(after, same)
    many, _ = km.solve(skeleton, skeleton.rest, ARM, np.full((2, 3), (0.1, 1.2, 0.3)))
    assert same_bits(many[1], same)
    _, reports = km.solve(skeleton, skeleton.rest, [ARM, OTHER_ARM], [(0.1, 1.2, 0.3), (-0.1, 1.2, 0.3)])
    assert all(one.reached for one in reports)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_the_tolerance_may_be_metres(tolerance):
    skeleton = line((0, 0, 0), *[(0, 1, 0)] * 6)
    target = problems.units(problems.generator(31), 20) * 4
    _, report = km.solve(skeleton, skeleton.rest, [*"abcdefg"], km.Goal(target), tolerance_m=tolerance)
    assert (report.error <= tolerance).all()
    assert report.reached.all()


def test_passes_may_be_bounded():
    skeleton = line((0, 0, 0), *[(0, 1, 0)] * 6)
    target = problems.units(problems.generator(32), 20) * 5.9
    _, report = km.solve(skeleton, skeleton.rest, [*"abcdefg"], km.Goal(target), tolerance=1e-9, max_iterations=2)
    assert report.iterations.max() <= 2
    assert not report.reached.all()


def test_without_a_rotation_the_tip_keeps_its_local_one():
    rng = problems.generator(8)
    skeleton, pose = person().skeleton, posed(person(), rng, 5)
    after, _ = km.solve(skeleton, pose, ARM, km.Goal(reachable(rng, skeleton, pose, ARM)))
    tip = skeleton.index("hand_l")
    np.testing.assert_array_equal(after.rotations[:, tip], pose.rotations[:, tip])


# --- the pole --------------------------------------------------------------------------------------------------


@each_character
@pytest.mark.parametrize("arm", [ARM, OTHER_ARM], ids=["", "a joint left out"])
def test_the_elbow_lies_towards_the_pole(who, arm):
    rng = problems.generator(9)
    skeleton = PEOPLE[who].skeleton
    pose = posed(PEOPLE[who], rng, 50)
    target, whole = reachable(rng, skeleton, pose, arm), size(skeleton, pose, arm)
    root = places(skeleton, pose, arm)[:, 0]
    to_pole = problems.units(rng, 50) * whole[:, None] * 2
    after, report = km.solve(skeleton, pose, arm, km.Goal(target, pole=root + to_pole))
    check_sound(skeleton, pose, after, report, arm, target)
    elbow = places(skeleton, after, arm)[:, 1] - root
    along = (target - root) / np.linalg.norm(target - root, axis=-1, keepdims=True)
    across = np.cross(along, to_pole)
    sine = np.linalg.norm(across, axis=-1) / np.linalg.norm(to_pole, axis=-1)
    clear = sine > 0.03
    np.testing.assert_array_equal(report.pole_singular, sine < 0.02)
    aside = to_pole - along * (to_pole * along).sum(-1, keepdims=True)
    assert ((elbow * aside).sum(-1) > 0)[clear].all()
    assert np.abs((elbow * across).sum(-1) / np.linalg.norm(across, axis=-1) / whole)[clear].max() < 1e-7


def test_a_pole_on_the_line_to_the_goal_has_little_effect():
    skeleton = line((0, 0, 0), (0, 1, 0.3), (0, 1, -0.3))
    for pole, little in (((0, 0, 3), True), ((0, 0, 0), True), ((0, 0.01, 1), True), ((0, 0.1, 1), False)):
        for solver in SOLVERS:
            _, report = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal((0, 0, 1.5), pole=pole), solver=solver)
            assert report.pole_singular == little
    assert not km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal((0, 0, 1.5)))[1].pole_singular


@pytest.mark.parametrize("solver", ["ccd", "fabrik"])
def test_a_long_chain_bows_towards_the_pole(solver):
    skeleton = line((0, 0, 0), *[(0, 1, 0)] * 6)
    rng = problems.generator(10)
    target = problems.units(rng, 30) * rng.uniform(2, 5, (30, 1))
    pole = problems.units(rng, 30) * 4
    after, report = km.solve(skeleton, skeleton.rest, [*"abcdefg"], km.Goal(target, pole=pole), solver=solver)
    assert report.reached.all()
    middle = places(skeleton, after, "bcdef").mean(axis=-2)
    along = target / np.linalg.norm(target, axis=-1, keepdims=True)
    aside = pole - along * (pole * along).sum(-1, keepdims=True)
    assert ((middle * aside).sum(-1) > 0).all()


def test_without_a_pole_a_straight_limb_bends_as_it_does_at_rest():
    bent = line((0, 0, 0), (0, 1, 0.2), (0, 1, -0.2))
    rotation = naive.smallest_rotation((0, 1, 0.2), (0, 1, 0))
    back = naive.smallest_rotation((0, 1, -0.2), naive.quat_rotate(naive.quat_conj(rotation), (0, 1, 0)))
    straight = Pose(bent.rest.translations, [rotation, back, IDENTITY])
    assert np.ptp(places(bent, straight, "abc")[:, 2]) < 1e-12
    after, report = km.solve(bent, straight, [*"abc"], km.Goal((0, 1.5, 0)))
    elbow = places(bent, after, "b")[0]
    assert report.reached
    assert elbow[2] > 0.3
    assert abs(elbow[0]) < 1e-9


# --- weights ---------------------------------------------------------------------------------------------------


@both_precisions
@pytest.mark.parametrize("solver", SOLVERS)
def test_weight_zero_is_the_pose_bit_for_bit(dtype, solver):
    rng = problems.generator(11)
    skeleton = with_limits(person(), LIMITS)
    pose = posed(person(), rng, 4, 2.0).astype(dtype)  # Outside its limits, most of it.
    goal = km.Goal(rng.normal(size=(4, 3)), rotation=problems.quaternions(rng, 4), pole=(1, 2, 3), weight=0)
    after, report = km.solve(skeleton, pose, ARM, goal, solver=solver)
    assert same_bits(after, pose)
    assert not report.limited.any()
    check_honest(skeleton, after, report, ARM, goal.position)


@each_character
@pytest.mark.parametrize("chain", [ARM, "long"], ids=str)
def test_between_the_weights_local_rotations_are_slerped(who, chain):
    rng = problems.generator(12)
    skeleton = PEOPLE[who].skeleton
    chain = skeleton.chain("spine", "hand_l") if chain == "long" else chain
    pose = posed(PEOPLE[who], rng, 10)
    target, rotation = reachable(rng, skeleton, pose, chain), problems.quaternions(rng, 10)
    whole, _ = km.solve(skeleton, pose, chain, km.Goal(target, rotation=rotation))
    for weight in (1e-3, 0.5, 0.9, 1.0):
        after, report = km.solve(skeleton, pose, chain, km.Goal(target, rotation=rotation, weight=weight))
        check_sound(skeleton, pose, after, report, chain, target)
        np.testing.assert_allclose(
            naive.bone_lengths(places(skeleton, after, chain)),
            naive.bone_lengths(places(skeleton, pose, chain)),
            rtol=1e-9,
        )
        for i in range(10):
            for joint in chain:
                j = skeleton.index(joint)
                part = naive.slerp(pose.rotations[i, j], whole.rotations[i, j], weight)
                assert naive.angle_between_rotations(after.rotations[i, j], part) < 1e-9


def test_each_character_may_have_its_own_weight():
    rng = problems.generator(13)
    skeleton, pose = person().skeleton, posed(person(), rng, 5)
    target, weight = reachable(rng, skeleton, pose, ARM), np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    after, report = km.solve(skeleton, pose, ARM, km.Goal(target, weight=weight))
    assert same_bits(after[0], pose[0])
    assert report.reached.tolist() == [False, False, False, False, True]
    for i in range(5):
        one, single = km.solve(skeleton, pose[i], ARM, km.Goal(target[i], weight=weight[i]))
        assert same_bits(after[i], one)
        assert report.error[i] == single.error


# --- places and lengths ----------------------------------------------------------------------------------------


def test_joints_without_length_do_not_count():
    """Twist joints and helpers that stand where another joint stands, anywhere in the chain."""
    rng = problems.generator(14)
    plain = [(0, 0, 0), (0, 1, 0.1), (0, 1, -0.1)]
    lean = line(*plain)
    here = (0, 0, 0)
    full = line(plain[0], here, plain[1], here, here, plain[2], here)
    target = problems.units(rng, 20) * rng.uniform(0.2, 1.9, (20, 1))
    after, report = km.solve(lean, lean.rest, [*"abc"], km.Goal(target))
    stuffed, same = km.solve(full, full.rest, [*"abcdefg"], km.Goal(target))
    assert (same.iterations == 0).all()
    assert same.reached.all()
    np.testing.assert_array_equal(same.error, report.error)
    np.testing.assert_array_equal(places(full, stuffed, "acf"), places(lean, after, "abc"))
    check_sound(full, full.rest, stuffed, same, "abcdefg", target)
    named, _ = km.solve(full, full.rest, [*"abcdefg"], km.Goal(target), solver="two_bone")
    assert same_bits(named, stuffed)


def test_zero_length_bones_are_detected_per_item_of_a_batch():
    """A clip that lets a bone vanish for some characters."""
    rng = problems.generator(15)
    skeleton = line((0, 0, 0), (0, 1, 0.1), (0, 0.5, -0.1), (0, 0.7, 0.1))
    t = np.tile(skeleton.rest.translations, (6, 1, 1))
    t[1, 2], t[2, 3], t[3, 1], t[4, 1:], t[5, 1:3] = 0, 0, 0, 0, 0
    pose = Pose(t, problems.quaternions(rng, 6, 4))
    target = rng.normal(size=(6, 3))
    for solver in (None, "fabrik"):
        after, report = km.solve(skeleton, pose, [*"abcd"], km.Goal(target), solver=solver)
        for i in range(6):
            one, single = km.solve(skeleton, pose[i], [*"abcd"], km.Goal(target[i]), solver=solver)
            assert same_bits(after[i], one)
            assert all(np.array_equal(a[i], b) for a, b in zip(report, single, strict=True))


def test_what_is_left_out_of_a_chain_keeps_its_local_transform():
    rng = problems.generator(16)
    skeleton, pose = person().skeleton, posed(person(), rng, 20)
    chain = ("spine", "shoulder_r", "fore_r", "gun")  # chest, upper_r, twist_r and hand_r are left out.
    target = reachable(rng, skeleton, pose, chain, 0.1, 0.9)
    after, report = km.solve(skeleton, pose, chain, km.Goal(target))
    check_sound(skeleton, pose, after, report, chain, target)
    assert report.reached.all()
    np.testing.assert_allclose(
        report.reach,
        np.linalg.norm(target - places(skeleton, pose, chain)[:, 0], axis=-1) / size(skeleton, pose, chain),
    )


@each_character
def test_bones_that_a_clip_lengthens_count_as_they_are(who):
    rng = problems.generator(17)
    skeleton = PEOPLE[who].skeleton
    pose = posed(PEOPLE[who], rng, 20)
    longer = Pose(pose.translations * rng.uniform(0.5, 2.0, (20, len(skeleton), 1)), pose.rotations, pose.scales)
    target = reachable(rng, skeleton, longer, ARM)
    after, report = km.solve(skeleton, longer, ARM, km.Goal(target))
    check_sound(skeleton, longer, after, report, ARM, target)
    assert (report.error < 1e-9 * size(skeleton, longer, ARM)).all()


def test_scales_of_the_joints_themselves_count():
    """A joint is scaled before it is rotated, each axis by its own number, and may be mirrored by it."""
    rng = problems.generator(18)
    scales = rng.uniform(0.5, 2.0, (3, 1)) * rng.choice([-1, 1], (3, 3))
    scales[1, 1] *= 3.0  # Only the joint before the tip may be stretched: what is below it would be sheared.
    skeleton = line((0, 0, 0), (0.1, 1, 0.2), (0.3, 0.5, -0.1), rotations=problems.quaternions(rng, 3), scales=scales)
    pose = Pose(skeleton.rest.translations, problems.quaternions(rng, 30, 3), scales)
    target = reachable(rng, skeleton, pose, "abc")
    after, report = km.solve(skeleton, pose, [*"abc"], km.Goal(target))
    check_sound(skeleton, pose, after, report, "abc", target)
    assert report.error.max() < 1e-9


# --- limits ----------------------------------------------------------------------------------------------------

LIMITS = {
    "spine": km.Cone(0.4),
    "chest": km.SwingTwist(0.4, -0.3, 0.3),
    "shoulder_l": km.Cone(0.3),
    "upper_l": km.SwingTwist(1.4, -1.0, 1.0),
    "fore_l": km.Hinge((0, 0.2, 1), -0.2, 2.2),
    "hand_l": km.Cone(0.5),
}
HINGES = {
    "spine": km.Hinge((1, 0, 0), -0.5, 0.5),
    "chest": km.Hinge((0, 0, 1), -0.5, 0.5),
    "shoulder_l": km.Hinge((0, 1, 0), -0.5, 0.5),
    "upper_l": km.Hinge((1, 0, 0), -1.5, 1.5),
    "fore_l": km.Hinge((0, 0, 1), 0.0, 2.2),
}
REACHING = ("spine", "chest", "shoulder_l", "upper_l", "fore_l", "hand_l")


def with_limits(character, limits):
    skeleton = character.skeleton
    return Skeleton(skeleton.names, skeleton.parents, skeleton.rest, limits)


def bone_of(skeleton, j):
    """The direction of a joint's bone, in its own space at rest: to its first child."""
    way = skeleton.rest.translations[skeleton.children(j)[0]] if skeleton.children(j) else (0, 1, 0)
    return naive.unit(way * np.sign(skeleton.rest.scales[j]))


def inside(rng, skeleton, joints, count):
    """Poses in which these joints are inside their limits, spread over all of what is allowed; the rest at rest."""
    rotations = np.tile(skeleton.rest.rotations, (count, 1, 1))
    for joint in joints:
        j = skeleton.index(joint)
        limit, bone = skeleton.limits[j], bone_of(skeleton, j)
        for i in range(count):
            if isinstance(limit, km.Hinge):
                rotation = naive.quat_from_axis_angle(limit.axis, rng.uniform(limit.low, limit.high))
            else:
                cone = isinstance(limit, km.Cone)
                swing = (limit.angle if cone else limit.swing) * np.sqrt(rng.uniform())
                twist = rng.uniform(-1.5, 1.5) if cone else rng.uniform(limit.twist_low, limit.twist_high)
                aside = np.cross(bone, problems.units(rng))
                rotation = naive.quat_mul(
                    naive.quat_from_axis_angle(aside, swing), naive.quat_from_axis_angle(bone, twist)
                )
            rotations[i, j] = naive.quat_mul(skeleton.rest.rotations[j], rotation)
    return Pose(skeleton.rest.translations, rotations, skeleton.rest.scales)


def outside(skeleton, pose, joints):
    """How far the worst of these joints is outside its limit, radians."""
    worst = 0.0
    for joint in joints:
        j = skeleton.index(joint)
        limit, bone = skeleton.limits[j], bone_of(skeleton, j)
        for rotation in naive.quat_mul(naive.quat_conj(skeleton.rest.rotations[j]), pose.rotations[..., j, :]).reshape(
            -1, 4
        ):
            if isinstance(limit, km.Hinge):
                swing, _ = naive.swing_twist(rotation, limit.axis)
                off = [
                    naive.rotation_angle(swing),
                    naive.angle_outside(naive.twist_angle(rotation, limit.axis), limit.low, limit.high),
                ]
            elif limit is not None:
                swing = limit.angle if isinstance(limit, km.Cone) else limit.swing
                off = [naive.angle_between(bone, naive.quat_rotate(rotation, bone)) - swing]
                if isinstance(limit, km.SwingTwist):
                    off.append(
                        naive.angle_outside(naive.twist_angle(rotation, bone), limit.twist_low, limit.twist_high)
                    )
            else:
                off = [0.0]
            worst = max(worst, *(float(x) for x in off))
    return worst


limited = pytest.mark.parametrize("limits", [LIMITS, HINGES], ids=["cones and a hinge", "hinges"])


@limited
@pytest.mark.parametrize("chain", [ARM, REACHING], ids=["arm", "long"])
@pytest.mark.parametrize(
    ("start", "who"), [("rest", "plain"), ("inside", "plain"), ("broken", "plain"), ("broken", "mirrored arm")]
)
def test_what_can_be_reached_inside_the_limits_is_reached(limits, chain, start, who):
    rng = problems.generator(19)
    skeleton, count = with_limits(PEOPLE[who], limits), 250 if compiled.COMPILED else 1
    target = places(skeleton, inside(rng, skeleton, chain[:-1], count), chain[-1:])[:, 0]
    pose = skeleton.rest
    if start == "inside":
        pose = inside(rng, skeleton, chain[:-1], count)
    elif start == "broken":
        rotations = np.tile(skeleton.rest.rotations, (count, 1, 1))
        turning = [skeleton.index(joint) for joint in chain[:-1]]
        rotations[:, turning] = problems.quaternions(rng, count, len(turning))
        pose = Pose(skeleton.rest.translations, rotations, skeleton.rest.scales)
    after, report = km.solve(skeleton, pose, chain, km.Goal(target))
    check_sound(skeleton, pose, after, report, chain, target)
    assert report.reached.mean() > 0.99
    assert outside(skeleton, after, chain[:-1]) < 1e-6


@limited
@pytest.mark.parametrize("chain", [ARM, REACHING], ids=["arm", "long"])
@pytest.mark.parametrize("solver", [None, "fabrik", "compensating"])
@both_precisions
def test_limits_hold_for_every_target(limits, chain, solver, dtype):
    rng = problems.generator(20)
    skeleton, count = with_limits(person(), limits), 20 if compiled.COMPILED else 1
    pose = posed(person(), rng, count, 3.0).astype(dtype)
    target = (rng.normal(size=(count, 3)) * 2).astype(dtype)
    weight = rng.uniform(0.01, 1.0, count)
    goal = km.Goal(target, rotation=problems.quaternions(rng, count), weight=weight)
    after, report = km.solve(skeleton, pose, chain, goal, solver=solver)
    check_sound(skeleton, pose, after, report, chain, target)
    assert outside(skeleton, after, chain) < (1e-6 if dtype is np.float64 else 1e-5)
    assert report.limited.mean() > 0.9


def test_limits_that_are_not_met_change_nothing():
    rng = problems.generator(21)
    free = person().skeleton
    wide = with_limits(person(), {joint: km.Cone(3.1) for joint in REACHING})
    pose = posed(person(), rng, 10, 0.2)
    target = places(free, posed(person(), rng, 10, 0.2), ["hand_l"])[:, 0]
    for chain in (ARM, REACHING):
        one, plain = km.solve(free, pose, chain, km.Goal(target))
        other, report = km.solve(wide, pose, chain, km.Goal(target))
        assert same_bits(one, other)
        assert not report.limited.any()
        assert plain.reached.all()


def test_a_hinge_decides_which_way_a_limb_bends():
    for low, high in ((-2.5, 0.0), (0.0, 2.5)):
        skeleton = line((0, 0, 0), (0, 1, 0), (0, 1, 0), limits={"b": km.Hinge((1, 0, 0), low, high)})
        after, report = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal((0, 0.4, 1.2)))
        angle = naive.twist_angle(after.rotations[1], (1, 0, 0))
        assert report.reached
        assert low <= angle <= high
        assert abs(angle) > 0.5


def test_out_of_reach_inside_limits_is_as_near_as_it_gets():
    """One hinge and a stiff arm: the nearest point of an arc is known."""
    skeleton = line((0, 0, 0), (0, 1, 0), limits={"a": km.Hinge((0, 0, 1), -0.5, 0.5)})
    for target, angle in (((9, 0, 0), -0.5), ((-9, 0, 0), 0.5), ((-1, 5, 0), np.arctan2(1, 5)), ((1e12, 0, 0), -0.5)):
        after, report = km.solve(skeleton, skeleton.rest, [*"ab"], km.Goal(target))
        assert naive.twist_angle(after.rotations[0], (0, 0, 1)) == pytest.approx(angle, abs=1e-3)
        assert not report.reached


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("aside", [(1, 0, 0), (0, 0, 1), (-1, 0.2, 0.5)])
def test_no_pops_past_a_limit(aside):
    """The target walks on a straight line out of what the limits of an arm allow."""
    limits = {"a": km.SwingTwist(0.8, -0.5, 0.5), "b": km.Hinge((1, 0, 0), 0, 2.5)}
    skeleton = line((0, 0, 0), (0, 1, 0), (0, 1, 0.1), limits=limits)
    path = np.linspace((0.1, 1.4, 0.1), np.array([0.1, 1.4, 0.1]) + 1.5 * naive.unit(aside), 400)
    after, report = km.solve(skeleton, skeleton.rest, [*"abc"], km.Goal(path))
    assert report.limited[-1]
    assert not report.limited.all()
    assert 0.05 < report.reached.mean() < 0.95
    moves = np.linalg.norm(np.diff(places(skeleton, after, "abc"), axis=0), axis=-1).max(axis=-1)
    assert moves.max() < 10 * np.linalg.norm(path[1] - path[0])


def test_a_joint_without_length_that_enters_outside_its_limit_is_held_before_solving():
    """Held only afterwards, it would carry the tip away from a target that it can reach."""
    limits = {"b": km.Cone(0.3)}
    skeleton = line((0, 0, 0), (0, 0, 0), (0, 1, 0.1), (0, 1, -0.1), limits=limits)
    rotations = skeleton.rest.rotations.copy()
    rotations[1] = naive.quat_from_axis_angle((1, 0, 0), 1.5)
    pose = Pose(skeleton.rest.translations, rotations)
    target = np.array([(0.3, 1.2, 0.4), (-0.5, -0.8, 0.9), (0.2, 0.3, -1.1)])
    for solver in (None, "ccd", "fabrik"):
        after, report = km.solve(skeleton, pose, [*"abcd"], km.Goal(target), solver=solver)
        check_honest(skeleton, after, report, "abcd", target)
        assert report.reached.all()
        assert all(outside_any(skeleton, after[i]) < 1e-6 for i in range(3))


# --- several goals ---------------------------------------------------------------------------------------------


def hands(skeleton):
    return [skeleton.chain("spine", "hand_l"), skeleton.chain("spine", "hand_r")]


@pytest.mark.slow_uncompiled
def test_goals_that_share_a_spine_are_all_met_where_they_can_be():
    rng = problems.generator(22)
    character, count = person(), 100 if compiled.COMPILED else 3
    skeleton, chains = character.skeleton, hands(person().skeleton)
    rotated = sorted({*chains[0], *chains[1]})
    for amount in (0.5, 1.5):
        pose = posed(character, rng, count, 0.3)
        rotations = pose.rotations.copy()
        rotations[:, rotated] = poses(character, rng, count, amount)[:, rotated]
        left, right = np.moveaxis(places(skeleton, Pose(pose.translations, rotations), ["hand_l", "hand_r"]), 1, 0)
        after, reports = km.solve(skeleton, pose, chains, [km.Goal(left), km.Goal(right)])
        for chain, report, target in zip(chains, reports, (left, right), strict=True):
            check_honest(skeleton, after, report, chain, target)
            assert report.reached.all()


@pytest.mark.slow_uncompiled
def test_the_higher_priority_is_met_and_the_lower_gives_way():
    rng = problems.generator(23)
    skeleton, count = person().skeleton, 40 if compiled.COMPILED else 3
    chains = hands(skeleton)
    spine = skeleton.rest_world[skeleton.index("spine"), :3, 3]
    up = problems.units(rng, count) * (0.3, 0.1, 0.3) + (0, 0.5, 0)
    high, low = spine + up, spine - up * 2.5  # Apart from each other by more than both arms can do.
    for order in (1, -1):
        goals = [km.Goal(high, priority=3), km.Goal(low)][::order]
        after, reports = km.solve(skeleton, skeleton.rest, chains, goals)
        met, missed = reports[::order]
        assert met.reached.all()
        assert not missed.reached.all()
        check_honest(skeleton, after, met, chains[::order][0], high)
        check_honest(skeleton, after, missed, chains[::order][1], low)
        # As near as its own arm gets it: straight at the target.
        arm = ("upper_l", "fore_l", "hand_l") if order == -1 else ("upper_r", "fore_r", "hand_r")
        at = places(skeleton, after, arm)[~missed.reached]
        way = low[~missed.reached] - at[:, 0]
        assert naive.angle_between(at[:, -1] - at[:, 0], way).max() < 1e-4
        assert (
            size(skeleton, after, arm)[~missed.reached] - np.linalg.norm(at[:, -1] - at[:, 0], axis=-1)
        ).max() < 1e-4


@pytest.mark.slow_uncompiled
def test_goals_above_one_another():
    """The chest is rotated as wanted, and the hand is on its target all the same."""
    rng = problems.generator(24)
    skeleton, pose = person().skeleton, posed(person(), rng, 10, 0.2)
    chains = [("hips", "spine", "chest"), ARM]
    chest = places(skeleton, pose, ["chest"])[:, 0] + rng.normal(size=(10, 3)) * 0.02
    upright = np.tile(skeleton.world_rotations(skeleton.rest)[skeleton.index("chest")], (10, 1))
    at = places(skeleton, pose, ["upper_l"])[:, 0] + (0.1, -0.1, 0.3)
    for priorities in ((0, 0), (1, 0), (0, 1)):
        goals = [km.Goal(chest, rotation=upright, priority=priorities[0]), km.Goal(at, priority=priorities[1])]
        after, (first, second) = km.solve(skeleton, pose, chains, goals)
        check_honest(skeleton, after, first, chains[0], chest)
        check_honest(skeleton, after, second, ARM, at)
        assert second.reached.all()
        if priorities != (0, 1):
            rotations = skeleton.world_rotations(after)[:, skeleton.index("chest")]
            assert naive.angle_between_rotations(rotations, upright).max() < 1e-9


def test_a_goal_of_weight_zero_has_no_effect():
    rng = problems.generator(25)
    skeleton, pose = person().skeleton, posed(person(), rng, 6)
    chains = hands(skeleton)
    left, right = (
        places(skeleton, pose, [name])[:, 0] + rng.normal(size=(6, 3)) * 0.05 for name in ("hand_l", "hand_r")
    )
    alone, report = km.solve(skeleton, pose, chains[0], km.Goal(left))
    after, (first, second) = km.solve(skeleton, pose, chains, [km.Goal(left), km.Goal(right, weight=0.0)])
    assert same_bits(after, alone)
    assert np.array_equal(first.error, report.error)
    check_honest(skeleton, after, second, chains[1], right)
    none, _ = km.solve(skeleton, pose, chains, [km.Goal(left, weight=0), km.Goal(right, weight=0)])
    assert same_bits(none, pose)


@pytest.mark.slow_uncompiled
def test_a_limb_with_two_goals_is_solved_without_complaint():
    skeleton = person().skeleton
    at = places(skeleton, skeleton.rest, ["hand_l"])[0]
    goals = [km.Goal(at + (0.05, 0, 0), priority=1), km.Goal(at - (0.05, 0, 0))]
    _, (first, second) = km.solve(skeleton, skeleton.rest, [ARM, ARM], goals, solver="two_bone")
    assert first.reached
    assert second.error == pytest.approx(0.1)


# --- guarantees ------------------------------------------------------------------------------------------------


def options(rng, count):
    yield {}
    yield {"rotation": problems.quaternions(rng, count), "pole": rng.normal(size=(count, 3))}
    yield {"weight": rng.choice([0.0, 0.3, 1.0], count), "pole": rng.normal(size=(count, 3))}


@pytest.mark.slow_uncompiled
@both_precisions
@pytest.mark.parametrize("solver", [None, *SOLVERS])
def test_a_batch_is_many_singles(dtype, solver):
    rng = problems.generator(26)
    count = 12 if compiled.COMPILED else 2
    pose = posed(person(), rng, count, 1.5).astype(dtype)
    target = rng.normal(size=(count, 3)) * 0.4 + (0.1, 1.3, 0.2)
    for skeleton in (person().skeleton, with_limits(person(), LIMITS)):
        for chain in (ARM,) if solver == "two_bone" else (ARM, REACHING):
            for more in options(rng, count):
                after, report = km.solve(skeleton, pose, chain, km.Goal(target, **more), solver, 0.97)
                for i in range(count):
                    own = {name: value[i] for name, value in more.items()}
                    one, single = km.solve(skeleton, pose[i], chain, km.Goal(target[i], **own), solver, 0.97)
                    assert same_bits(after[i], one)
                    assert all(np.array_equal(a[i], b) for a, b in zip(report, single, strict=True))


@pytest.mark.slow_uncompiled
def test_with_several_goals_too_a_batch_is_many_singles():
    rng = problems.generator(27)
    count = 12 if compiled.COMPILED else 3
    pose, chains = posed(person(), rng, count), hands(person().skeleton)
    left, right = rng.normal(size=(2, count, 3)) * 0.3 + (0, 1.4, 0.2)
    weight = rng.choice([0.0, 0.5, 1.0], count)
    for skeleton in (person().skeleton, with_limits(person(), LIMITS)):
        after, reports = km.solve(skeleton, pose, chains, [km.Goal(left, weight=weight), km.Goal(right, priority=1)])
        for i in range(count):
            goals = [km.Goal(left[i], weight=weight[i]), km.Goal(right[i], priority=1)]
            one, singles = km.solve(skeleton, pose[i], chains, goals)
            assert same_bits(after[i], one)
            for report, single in zip(reports, singles, strict=True):
                assert all(np.array_equal(a[i], b) for a, b in zip(report, single, strict=True))


@pytest.mark.slow_uncompiled
def test_inputs_are_never_changed_and_the_same_input_gives_the_same_bits():
    rng = problems.generator(28)
    skeleton = with_limits(person(), LIMITS)
    pose = posed(person(), rng, 5)
    given_in = [rng.normal(size=(5, 3)), problems.quaternions(rng, 5), rng.normal(size=(5, 3)), rng.uniform(size=5)]
    copies, before = [array.copy() for array in given_in], pose.copy()
    for array in given_in:
        array.flags.writeable = False
    first, one = km.solve(skeleton, pose, ARM, km.Goal(*given_in))
    second, two = km.solve(skeleton, pose, ARM, km.Goal(*given_in))
    assert all(np.array_equal(a, b) for a, b in zip(given_in, copies, strict=True))
    assert same_bits(pose, before)
    assert same_bits(first, second)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    first.rotations[:] = first.translations[:] = 0
    assert same_bits(pose, before)


@pytest.mark.slow_uncompiled
@given(st.data())
def test_finite_in_finite_out(data):
    """Bones, targets and poles of any size, places of any kind; limits of any kind, empty and inverted ones too."""
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    joints = data.draw(st.integers(2, 5))
    limit = st.one_of(
        st.none(),
        st.builds(km.Cone, st.floats(-1, 4)),
        st.builds(km.Hinge, compiled.units(), st.floats(-4, 4), st.floats(-4, 4)),
        st.builds(km.SwingTwist, st.floats(-1, 4), st.floats(-4, 4), st.floats(-4, 4)),
    )
    rest = Pose(
        np.array([data.draw(problems.vectors()) for _ in range(joints)], dtype),
        np.array([data.draw(compiled.rotations()) for _ in range(joints)], dtype),
    )
    limits = data.draw(st.lists(limit, min_size=joints, max_size=joints))
    skeleton = Skeleton([f"j{j}" for j in range(joints)], range(-1, joints - 1), rest, limits)
    pose = Pose(rest.translations, np.array([data.draw(compiled.rotations()) for _ in range(joints)], dtype))
    solver = data.draw(st.sampled_from([None, "ccd", "fabrik", "compensating"]))
    weight, soften = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
    pole = data.draw(st.one_of(st.none(), problems.vectors()))
    goal = km.Goal(data.draw(problems.vectors()).astype(dtype), pole=pole, weight=weight)
    after, report = km.solve(skeleton, pose, range(joints), goal, solver, soften)
    assert all(np.isfinite(array).all() for array in after.arrays())
    assert all(np.isfinite(part).all() for part in report)
    np.testing.assert_allclose(np.linalg.norm(after.rotations.astype(float), axis=-1), 1, atol=1e-5)
    if dtype(weight) > 0:
        assert outside_any(skeleton, after) < (1e-6 if dtype == np.float64 else 1e-5)
    else:
        assert same_bits(after, pose)


def outside_any(skeleton, pose):
    """How far the joints but the last are outside their limits, by the limits' own projection (tested with them)."""
    bones = skeleton.joint_limits(np.float64).bones
    worst = 0.0
    for j, limit in enumerate(skeleton.limits[:-1]):
        if limit is not None:
            rest, rotation = skeleton.rest.rotations[j].astype(float), pose.rotations[j].astype(float)
            away = naive.quat_mul(naive.quat_conj(rest), rotation)
            worst = max(worst, float(naive.angle_between_rotations(away, limit.project(away, bones[j]))))
    return worst


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pose": "pose"}, "pose must be a Pose, got str"),
        ({"pose": Pose(np.zeros((2, 3)), [IDENTITY] * 2)}, "the pose has 2 joints; this skeleton has 17"),
        ({"chain": "hand_l"}, "chain must be a sequence of joints, got 'hand_l'"),
        ({"chain": 3}, "chain must be a sequence of joints, got 3"),
        ({"chain": ("hand_l",)}, "chain has 1 joint; it needs at least 2"),
        ({"chain": ("fore_l", "upper_l")}, "chain: 'upper_l' is not below 'fore_l'; joints run down a branch"),
        ({"chain": ("upper_l", "hand_r")}, "chain: 'hand_r' is not below 'upper_l'"),
        ({"chain": ("upper_l", "hand_x")}, "there is no joint 'hand_x'; did you mean"),
        ({"goal": (0, 1)}, r"position must have shape \(..., 3\), got \(2,\)"),
        ({"goal": "hand"}, "goal must be a Goal or a point, got 'hand'"),
        ({"goal": None}, "goal must be a Goal or a point, got None"),
        ({"goal": []}, r"position must have shape \(..., 3\), got \(0,\)"),
        ({"chain": [], "goal": []}, "chain has 0 joints|position must have shape"),
        ({"chain": [ARM], "goal": []}, "there are 1 chains and 0 goals"),
        ({"tolerance_m": -1}, "tolerance_m is -1.0"),
        (
            {"goal": km.Goal((0, 0, 0), rotation=(0, 0, 0, 1), direction=(0, 0, 1))},
            "goal has both rotation and direction",
        ),
        ({"goal": km.Goal((0, 0, 0), direction=(0, 0, 0))}, "direction is the zero vector"),
        ({"max_iterations": 1.5}, "max_iterations"),
        ({"chain": [ARM], "goal": [km.Goal((0, 0, 0))] * 2}, "there are 1 chains and 2 goals; each chain needs one"),
        ({"goal": km.Goal((0, 0))}, r"position must have shape \(..., 3\), got \(2,\)"),
        ({"goal": km.Goal((0, np.nan, 0))}, r"position\[1\] is nan"),
        ({"goal": km.Goal((0, 0, 0), pole=(0, 0, np.inf))}, r"pole\[2\] is inf"),
        ({"goal": km.Goal((0, 0, 0), rotation=(0, 0, 0, 0))}, "rotation is zero; a rotation is a quaternion"),
        ({"goal": km.Goal((0, 0, 0), rotation=(0, 0, 1))}, r"rotation must have shape \(..., 4\)"),
        ({"goal": km.Goal((0, 0, 0), weight=1.5)}, "weight is 1.5; allowed are numbers from 0 to 1"),
        ({"goal": km.Goal((0, 0, 0), weight=[1, 2])}, r"weight\[1\] is 2"),
        ({"goal": km.Goal((0, 0, 0), priority="high")}, "priority must be one number, got 'high'"),
        ({"goal": km.Goal(np.zeros((2, 3)), pole=np.zeros((3, 3)))}, "batch shapes of pose and goals do not match"),
        ({"solver": "newton"}, "solver is 'newton'; allowed are 'two_bone', 'ccd', 'fabrik', 'compensating' and None"),
        ({"soften": 2}, "soften is 2.0; allowed are finite numbers from 0 to 1"),
        ({"tolerance": -1}, "tolerance is -1.0"),
        (
            {"chain": REACHING, "solver": "two_bone"},
            r"two_bone takes three joints with bones between them; .* \['spine'",
        ),
    ],
)
def test_bad_input_is_named(arguments, message):
    whole = {"skeleton": person().skeleton, "pose": person().skeleton.rest, "chain": ARM, "goal": km.Goal((0, 1, 0))}
    with pytest.raises(InputError, match=message):
        km.solve(**whole | arguments)


def test_a_chain_that_is_too_long_is_named():
    skeleton = Skeleton([f"j{j}" for j in range(70)], range(-1, 69), Pose(np.ones((70, 3)), [IDENTITY] * 70))
    with pytest.raises(InputError, match="chain has 70 joints; allowed are up to 64"):
        km.solve(skeleton, skeleton.rest, range(70), km.Goal((0, 0, 0)))


@pytest.fixture(autouse=True)
def _quiet(request):
    """Silence the warnings of targets that are out of reach on purpose."""
    logger = logging.getLogger("kinema")
    before = logger.level
    logger.setLevel(logging.WARNING if "caplog" in request.fixturenames else logging.ERROR)
    yield
    logger.setLevel(before)


# --- angles of hinges ------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
def test_the_report_has_the_angles_of_the_hinges():
    """A KUKA iiwa and a goal with rotation: the angles are inside the ranges and make the pose again."""
    skeleton = urdf.load(asset("urdf/kuka_iiwa.urdf"))
    hinges = [j for j, limit in enumerate(skeleton.limits) if limit is not None and limit.low < limit.high]
    wanted = np.array([0.4, 0.7, -0.3, -0.9, 0.2, 0.6, 0.5])
    r = skeleton.rest.rotations.astype(float).copy()
    for j, angle in zip(hinges, wanted, strict=True):
        r[j] = naive.quat_mul(r[j], naive.quat_from_axis_angle(skeleton.limits[j].axis, angle))
    goal_pose = km.Pose(skeleton.rest.translations.astype(float), r)
    tip = hinges[-1]
    goal = km.Goal(skeleton.world(goal_pose)[tip, :3, 3], rotation=skeleton.world_rotations(goal_pose)[tip])
    pose, report = km.solve(skeleton, skeleton.rest, skeleton.chain(hinges[0], tip), goal)
    assert report.reached
    assert report.angles.shape == (7,)
    np.testing.assert_allclose(report.angles, km.hinge_angles(skeleton, pose), atol=1e-12)
    for j, angle in zip(hinges, report.angles, strict=True):
        limit = skeleton.limits[j]
        assert limit.low - 1e-6 <= angle <= limit.high + 1e-6
        again = naive.quat_mul(skeleton.rest.rotations[j], naive.quat_from_axis_angle(limit.axis, angle))
        assert naive.angle_between_rotations(again, pose.rotations[j]) < 1e-6


def test_a_chain_without_hinges_has_no_angles():
    rest = Pose(np.array([(0, 0, 0), (0, 1, 0), (0, 1, 0)], float), np.tile(IDENTITY, (3, 1)))
    skeleton = Skeleton([*"abc"], [-1, 0, 1], rest)
    _, report = km.solve(skeleton, rest, [*"abc"], np.array([(1.0, 1.0, 0.0), (0.0, 1.0, 1.0)]))
    assert report.angles.shape == (2, 0)


# --- posture ---------------------------------------------------------------------------------------------------


def arm_pose(skeleton, hinges, angles):
    """A pose by the angles of its hinges (..., n)."""
    shape = angles.shape[:-1]
    r = np.tile(skeleton.rest.rotations.astype(float), (*shape, 1, 1))
    for k, j in enumerate(hinges):
        away = [naive.quat_from_axis_angle(skeleton.limits[j].axis, angle) for angle in angles[..., k].ravel()]
        r[..., j, :] = naive.quat_mul(r[..., j, :], np.reshape(away, (*shape, 4)))
    return Pose(np.tile(skeleton.rest.translations.astype(float), (*shape, 1, 1)), r)


@pytest.mark.slow_uncompiled
def test_of_all_poses_that_reach_the_goal_one_near_the_input_is_taken():
    """A KUKA iiwa has seven hinges for a position: NumPy's pseudo-inverse finds the least change that reaches."""
    skeleton, rng = urdf.load(asset("urdf/kuka_iiwa.urdf")), problems.generator(31)
    hinges = [j for j, limit in enumerate(skeleton.limits) if limit is not None and limit.low < limit.high]
    low, high = np.transpose([(skeleton.limits[j].low, skeleton.limits[j].high) for j in hinges])

    def tip(angles):
        return skeleton.world(arm_pose(skeleton, hinges, angles))[..., hinges[-1], :3, 3]

    def least_change(start, target):
        angles, step = start, 1e-6 * np.eye(len(hinges))
        for _ in range(60):
            jacobian = (tip(angles + step) - tip(angles - step)).T / 2e-6
            back = np.linalg.pinv(jacobian)
            home = (start - angles) - back @ (jacobian @ (start - angles))
            angles = angles + 0.5 * (back @ (target - tip(angles)) + home)
        return angles

    ratios = []
    for start in rng.uniform(0.6 * low, 0.6 * high, (20 if compiled.COMPILED else 5, len(hinges))):
        target = tip(start) + 0.05 * naive.unit(rng.normal(size=3))
        least = least_change(start, target)
        if np.linalg.norm(tip(least) - target) < 1e-4 and (low < least).all() and (least < high).all():
            chain = skeleton.chain(hinges[0], hinges[-1])
            _, report = km.solve(skeleton, arm_pose(skeleton, hinges, start), chain, target)
            assert report.reached
            ratios.append(np.linalg.norm(report.angles - start) / np.linalg.norm(least - start))
    assert np.median(ratios) < 1.02
    assert max(ratios) < 1.5
