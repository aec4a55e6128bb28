"""Angles of hinges, judged by the rotations that they make."""

from pathlib import Path

import numpy as np
import pytest

import kinema as km
from kinema.errors import InputError
from tests import naive, problems, urdf
from tests.assets import asset

RANGES = ((-2.0, 1.0), (0.5, 5.5), (-3.1, 3.1))


def arm():
    """Three hinges about different axes, and a joint without a limit."""
    rest = km.Pose(
        np.array([(0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)], float), problems.quaternions(problems.generator(3), 4)
    )
    axes = ((1, 0, 0), (0, 0, 1), (0, 1, 0))
    limits = [km.Hinge(axis, *ends) for axis, ends in zip(axes, RANGES, strict=True)]
    return km.Skeleton(list("abcd"), range(-1, 3), rest, [*limits, None])


def posed(skeleton, angles):
    r = np.tile(skeleton.rest.rotations.astype(float), (len(angles), 1, 1))
    for j in range(3):
        away = np.array([naive.quat_from_axis_angle(skeleton.limits[j].axis, a) for a in angles[:, j]])
        r[:, j] = naive.quat_mul(r[:, j], away)
    return km.Pose(np.tile(skeleton.rest.translations, (len(angles), 1, 1)), r)


def test_angles_are_those_that_made_the_pose():
    skeleton, rng = arm(), problems.generator(1)
    angles = np.stack([rng.uniform(*ends, 50) for ends in RANGES], axis=-1)
    np.testing.assert_allclose(km.hinge_angles(skeleton, posed(skeleton, angles)), angles, atol=1e-9)


def test_hinges_may_be_named():
    skeleton, angles = arm(), np.array([(0.1, 0.7, -0.4)])
    np.testing.assert_allclose(km.hinge_angles(skeleton, posed(skeleton, angles), ["c", "a"]), [(-0.4, 0.1)], atol=1e-9)


def test_a_joint_that_is_no_hinge_is_refused():
    skeleton = arm()
    with pytest.raises(InputError, match="joint 'd' is not a hinge"):
        km.hinge_angles(skeleton, skeleton.rest, ["d"])


def test_a_joint_that_is_named_twice_is_refused():
    with pytest.raises(InputError, match=r"joints\[1\] is 'c' again"):
        km.from_hinge_angles(arm(), [0.1, 0.5], ["c", "c"])


def test_angles_of_a_solved_robot_make_its_pose_again():
    skeleton = urdf.load(asset("urdf/kuka_iiwa.urdf"))
    body = km.FullBody(skeleton, root="fixed", mobility=urdf.frozen(skeleton))
    tip = len(skeleton) - 1
    pose, report = body.solve(skeleton.rest, [km.Effector(tip, (0.4, 0.3, 0.6))])
    angles = km.hinge_angles(skeleton, pose)
    assert report.reached
    assert angles.shape == (7,)
    moving = [j for j, limit in enumerate(skeleton.limits) if limit is not None and limit.low < limit.high]
    for angle, j in zip(angles, moving, strict=True):
        limit = skeleton.limits[j]
        again = naive.quat_mul(skeleton.rest.rotations[j], naive.quat_from_axis_angle(limit.axis, angle))
        assert naive.angle_between_rotations(again, pose.rotations[j]) < 1e-6
        assert limit.low - 1e-6 <= angle <= limit.high + 1e-6


def test_bodies_of_two_joints_and_of_256():
    for count in (2, 256):
        at = np.zeros((count, 3))
        at[1:, 1] = 1.0
        limits = [None, *[km.Hinge((k % 2, 0, (k + 1) % 2), -2.0, 2.0) for k in range(count - 1)]]
        skeleton = km.Skeleton(
            [f"j{k}" for k in range(count)],
            range(-1, count - 1),
            km.Pose(at, np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))),
            limits,
        )
        target = np.array((0.3, 0.9, 0.2)) * (count - 1)
        target *= (count - 1) / np.linalg.norm(target) * (1.0 if count == 2 else 0.7)
        pose, report = km.FullBody(skeleton, root="fixed", mobility={0: 1.0}).solve(
            skeleton.rest, [km.Effector(count - 1, target)]
        )
        assert report.reached
        assert km.hinge_angles(skeleton, pose).shape == (count - 1,)


def test_the_angles_of_the_cookbook_reach():
    text = (Path(__file__).parents[3] / "docs" / "cookbook.md").read_text(encoding="utf-8")
    recipe = text.partition("**15. ")[2].partition("```python\n")[2].partition("```")[0]
    names = {"km": km}
    exec(recipe, names)
    robot = names["robot"]
    hand = robot.world(km.from_hinge_angles(robot, names["angles"]))[robot.index("hand"), :3, 3]
    assert names["done"].reached
    np.testing.assert_allclose(hand, (0.3, 0.2, 0.5), atol=1e-3)
