"""`solve`: branches of a posed skeleton brought to goals, checked by forward kinematics on what comes out."""

import numpy as np
import pytest

import kinema as km
from kinema.math import arrays
from tests import compiled, problems

COUNT = 400 if compiled.COMPILED else 6


def random_pose(skeleton, count, rng, spread):
    """Poses about rest, every joint turned by some angle."""
    axes = arrays.unit(rng.normal(size=(count, len(skeleton), 3)))
    turns = arrays.from_axis_angle(axes, rng.normal(size=(count, len(skeleton))) * spread)
    shape = (count, len(skeleton), 3)
    rest = skeleton.rest
    return km.Pose(np.broadcast_to(rest.translations, shape), arrays.mul(rest.rotations, turns), rest.scales)


def leg(scale=(1.0, 1.0, 1.0), limits=None):
    """A root that may be scaled or mirrored, a leg with a joint that carries no length, rolled bones."""
    rng = problems.generator(5)
    names = ["root", "hip", "hip_twist", "knee", "ankle", "toe"]
    ways = [(0, 1, 0), (0.1, 0, 0), (0, 0, 0), (0, -0.45, 0.03), (0, -0.44, -0.03), (0, -0.05, 0.15)]
    scales = np.ones((6, 3))
    scales[0] = scale
    rest = km.Pose(np.array(ways, float), arrays.unit(rng.normal(size=(6, 4))), scales)
    return km.Skeleton(names, range(-1, 5), rest, limits)


def tail(joints=10, limits=None):
    rng = problems.generator(6)
    rest = km.Pose(np.tile((0.0, 1.0, 0.0), (joints, 1)), arrays.unit(rng.normal(size=(joints, 4))))
    return km.Skeleton([f"j{i}" for i in range(joints)], range(-1, joints - 1), rest, limits)


@pytest.mark.parametrize("scale", [(1, 1, 1), (1.3, 1.3, 1.3), (-1, 1, 1), (1.2, -1.2, 1.2)])
def test_a_limb_reaches_and_its_tip_turns_as_asked(scale):
    rng, skeleton = problems.generator(1), leg(scale)
    pose = random_pose(skeleton, COUNT, rng, 0.5)
    world = skeleton.world(pose)
    hip, length = world[:, 1, :3, 3], 0.89 * abs(scale[0])
    target = hip + arrays.unit(rng.normal(size=(COUNT, 3))) * rng.uniform(0.1, 0.98, (COUNT, 1)) * length
    wanted = arrays.unit(rng.normal(size=(COUNT, 4)))
    solved, report = km.solve(skeleton, pose, skeleton.chain("hip", "ankle"), km.Goal(target, rotation=wanted))
    after = skeleton.world(solved)
    np.testing.assert_allclose(after[:, 4, :3, 3], target, atol=1e-9)
    axes = after[:, 4, :3, :3] / np.linalg.norm(after[:, 4, :3, :3], axis=1, keepdims=True)
    mirrored = np.prod(scale) < 0
    np.testing.assert_allclose(axes * ((-1, 1, 1) if mirrored else 1), arrays.to_matrix(wanted), atol=1e-9)
    assert report.reached.all() and (report.iterations == 0).all()
    np.testing.assert_allclose(report.error, np.linalg.norm(after[:, 4, :3, 3] - target, axis=-1), atol=1e-12)


@pytest.mark.parametrize("solver", ["ccd", "fabrik"])
def test_long_chains_reach(solver):
    rng, skeleton = problems.generator(2), tail()
    pose = random_pose(skeleton, COUNT, rng, 0.3)
    root = skeleton.world(pose)[:, 0, :3, 3]
    target = root + arrays.unit(rng.normal(size=(COUNT, 3))) * rng.uniform(0.5, 8.5, (COUNT, 1))
    solved, report = km.solve(skeleton, pose, skeleton.chain(0, 9), km.Goal(target), solver=solver)
    missed = np.linalg.norm(skeleton.world(solved)[:, -1, :3, 3] - target, axis=-1)
    np.testing.assert_allclose(report.error, missed, atol=1e-12)
    assert report.reached.all() and missed.max() <= 1e-4 * 9


def test_limits_hold_and_what_they_allow_is_reached():
    rng = problems.generator(3)
    limits = [km.Cone(0.6) if i % 2 else km.Hinge((1, 0, 0), -1, 1) for i in range(10)]
    skeleton = tail(limits=limits)
    _, bones, rest = skeleton.limit_rows(np.float64)

    def inside(rotations, j):
        away = arrays.mul(arrays.conj(rest[j]), rotations)
        return arrays.mul(rest[j], limits[j].project(away, bones[j]))

    made = random_pose(skeleton, COUNT, rng, 0.8)
    turned = np.stack([inside(made.rotations[:, j], j) for j in range(10)], axis=1)
    target = skeleton.world(km.Pose(made.translations, turned))[:, -1, :3, 3]
    solved, report = km.solve(skeleton, random_pose(skeleton, COUNT, rng, 0.6), skeleton.chain(0, 9), km.Goal(target))
    assert report.reached.mean() > 0.99 and report.limited.any()
    for j in range(9):
        assert arrays.angle_between(solved.rotations[:, j], inside(solved.rotations[:, j], j)).max() < 1e-6


def test_weights_turn_joints_part_of_the_way():
    skeleton = leg()
    pose, chain = random_pose(skeleton, 3, problems.generator(4), 0.4), ("hip", "knee", "ankle")
    goal = lambda weight: km.Goal((0.3, 0.5, 0.2), weight=weight)  # noqa: E731
    none, half, whole = (km.solve(skeleton, pose, chain, goal(w))[0] for w in (0.0, 0.5, 1.0))
    assert np.array_equal(none.rotations, pose.rotations)
    expected = arrays.slerp(pose.rotations, whole.rotations, 0.5)
    assert arrays.angle_between(half.rotations, expected).max() < 1e-7
    for solved in (half, whole):
        bones = [np.diff(skeleton.world(p)[:, [1, 3, 4]][..., :3, 3], axis=1) for p in (pose, solved)]
        np.testing.assert_allclose(*(np.linalg.norm(bone, axis=-1) for bone in bones))


def test_out_of_reach_is_straight_at_the_target():
    skeleton = leg()
    solved, report = km.solve(skeleton, skeleton.rest, ("hip", "knee", "ankle"), km.Goal((3.0, 3.0, 3.0)))
    world = skeleton.world(solved)
    way, bone = np.array((3.0, 3.0, 3.0)) - world[1, :3, 3], world[4, :3, 3] - world[1, :3, 3]
    np.testing.assert_allclose(arrays.unit(bone), arrays.unit(way), atol=1e-6)
    assert not report.reached and report.reach > 1


def test_the_goal_of_higher_priority_is_met():
    """Two arms on one spine, each wanting it for itself."""
    names = ["spine", "chest", "upper_l", "fore_l", "hand_l", "upper_r", "fore_r", "hand_r"]
    ways = [(0, 1, 0), (0, 0.4, 0), (0.2, 0.1, 0), (0.3, 0, 0), (0.3, 0, 0), (-0.2, 0.1, 0), (-0.3, 0, 0), (-0.3, 0, 0)]
    rest = km.Pose(np.array(ways, float), np.tile((0.0, 0.0, 0.0, 1.0), (8, 1)))
    skeleton = km.Skeleton(names, [-1, 0, 1, 2, 3, 1, 5, 6], rest)
    chains = [skeleton.chain("spine", "hand_l"), skeleton.chain("spine", "hand_r")]
    for first, second in ((1, 0), (0, 1)):
        goals = [km.Goal((1.0, 1.35, 0.2), priority=first), km.Goal((-1.0, 1.35, 0.2), priority=second)]
        solved, reports = km.solve(skeleton, rest, chains, goals)
        world = skeleton.world(solved)
        errors = [
            np.linalg.norm(world[joint, :3, 3] - goal.position) for joint, goal in zip((4, 7), goals, strict=True)
        ]
        np.testing.assert_allclose([report.error for report in reports], errors, atol=1e-12)
        assert errors[second] < 2e-4 and errors[second] <= errors[first]


def test_a_batch_is_many_singles_bit_for_bit_and_inputs_stay():
    rng, skeleton = problems.generator(7), tail(6)
    pose, target = random_pose(skeleton, 5, rng, 0.4), rng.normal(size=(5, 3)) + (0, 2, 0)
    before = pose.rotations.copy()
    many, _ = km.solve(skeleton, pose, skeleton.chain(0, 5), km.Goal(target))
    for i in range(5):
        one, _ = km.solve(skeleton, pose[i], skeleton.chain(0, 5), km.Goal(target[i]))
        assert np.array_equal(one.rotations, many.rotations[i])
    assert np.array_equal(before, pose.rotations)


@pytest.mark.parametrize(
    ("chain", "goal", "options", "message"),
    [
        (("hip", "kne"), km.Goal((0, 0, 0)), {}, "knee"),
        (("hip",), km.Goal((0, 0, 0)), {}, "at least 2"),
        (("ankle", "hip"), km.Goal((0, 0, 0)), {}, "not below"),
        (("hip", "knee", "ankle"), (0, 0, 0), {}, "Goal|goals"),
        (("hip", "knee", "ankle"), km.Goal((0, 0, np.nan)), {}, "position"),
        (("hip", "knee", "ankle"), km.Goal((0, 0, 0), weight=2), {}, "weight"),
        (("hip", "knee", "ankle"), km.Goal((0, 0, 0)), {"solver": "magic"}, "solver"),
        (("root", "hip", "knee", "ankle"), km.Goal((0, 0, 0)), {"solver": "two_bone"}, "three joints"),
    ],
)
def test_what_is_wrong_is_named(chain, goal, options, message):
    skeleton = leg()
    with pytest.raises(km.InputError, match=message):
        km.solve(skeleton, skeleton.rest, chain, goal, **options)
