"""The steps of an arm: help of the shoulder, the swing of the elbow, and the nearest swing that a limit allows."""

import math

import numpy as np
import pytest

from kinema.compile.records import kernel_views
from kinema.demo import humanoid
from kinema.model.character import Character
from kinema.model.limits import Cone, Hinge, SwingTwist
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.solvers.limb import two_bone
from kinema.stages.arms import arm
from kinema.stages.arms.hands import Hands
from kinema.stages.joint_easing import JOINT_LIMIT, set_joint_limit
from kinema.stages.stage import Crowd
from tests import naive, problems
from tests.compiled import from_python

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ROUNDING = 1e-9


def settings(**values):
    record = arm.ARM_SETTINGS.zeros(1, np.float64)
    record.soften, record.shoulder_angle, record.ease, record.speed = 0.97, 0.5, 0.1, 12.0
    for name, value in values.items():
        record[name] = value
    return kernel_views(record)[0][0]


def vector(v):
    return tuple(float(x) for x in v)


# --- the shoulder ----------------------------------------------------------------------------------------------------


def test_a_near_target_needs_no_shoulder():
    _, angle = from_python(arm.shoulder_rotation)(settings(), (0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.3, 0.0, 0.5), 0.7)
    assert angle == 0.0


def test_the_shoulder_brings_the_arm_nearer_by_at_most_its_largest_angle():
    rng, helps = problems.generator(1), from_python(arm.shoulder_rotation)
    pivot, root, size = np.zeros(3), np.array((0.2, 0.0, 0.0)), 0.6
    for way in naive.unit_rows(rng.normal(size=(200, 3))):
        target = way * 0.9
        axis, angle = helps(settings(), vector(pivot), vector(root), vector(target), size)
        assert 0.0 <= angle <= 0.5
        rotated = naive.quat_rotate(naive.quat_from_axis_angle(axis, angle), root)
        assert np.linalg.norm(target - rotated) <= np.linalg.norm(target - root) + 1e-12


def test_a_small_help_of_the_shoulder_is_all_that_is_needed():
    root, target, size = np.array((0.2, 0.0, 0.0)), np.array((0.1, 0.0, 0.56)), 0.6
    distance = float(np.linalg.norm(target - root))
    wanted = size * from_python(two_bone.eased)(distance / size, 0.97, 0.0, arm.SHOULDER_START)
    axis, angle = from_python(arm.shoulder_rotation)(settings(), (0.0, 0.0, 0.0), vector(root), vector(target), size)
    assert 0.01 < angle < 0.2
    rotated = naive.quat_rotate(naive.quat_from_axis_angle(axis, angle), root)
    assert np.linalg.norm(target - rotated) == pytest.approx(wanted, rel=1e-6)


def test_the_help_of_the_shoulder_does_not_jump():
    helps, angles = from_python(arm.shoulder_rotation), []
    for distance in np.linspace(0.3, 2.0, 400):
        _, angle = helps(settings(), (0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.1, 0.0, float(distance)), 0.6)
        angles.append(angle)
    assert angles[0] == 0.0
    assert max(angles) > 0.2
    assert np.abs(np.diff(angles)).max() < 0.02


# --- the elbow -------------------------------------------------------------------------------------------------------


def test_the_elbow_swings_to_its_pole():
    swing = from_python(arm.swing_to_pole)
    line, shoulder, elbow = (0.0, 0.0, 1.0), (1.0, 2.0, 3.0), (1.0, 0.0, 0.0)
    assert swing((1.0, 3.0, 3.5), line, shoulder, elbow) == pytest.approx(math.pi / 2)
    assert swing((1.0, 1.0, 3.5), line, shoulder, elbow) == pytest.approx(-math.pi / 2)
    assert swing((1.0, 2.0, 9.0), line, shoulder, elbow) == 0.0  # On the line: there is no way to go.
    assert swing(shoulder, line, shoulder, elbow) == 0.0


def limit_of(limit):
    rest = Pose([[0.0, 0, 0], [0.3, 1.0, 0.2]], [naive.unit([0.1, -0.4, 0.3, 0.8]), [0.0, 0, 0, 1]])
    skeleton = Skeleton(["upper", "fore"], [-1, 0], rest, [limit, None])
    record = JOINT_LIMIT.zeros(1, np.float64)
    set_joint_limit(record[0], Crowd(Character(skeleton), 1, np.float64), 0)
    return kernel_views(record)[0][0]


@pytest.mark.parametrize("limit", [Cone(0.8), Hinge((1, 0, 0), -0.4, 1.1), SwingTwist(1.0, -0.5, 0.3)], ids=repr)
def test_the_swing_is_the_nearest_that_the_limit_allows(limit):
    record, rng = limit_of(limit), problems.generator(2)
    allowed, broken = from_python(arm.allowed_swing), from_python(arm.broken_by)
    tried = np.linspace(-math.pi, math.pi, 181)
    met = 0
    for q in problems.quaternions(rng, 12):
        swing = arm.ElbowSwing(AXES, vector(naive.unit(rng.normal(size=3))), (0.0, 0.0, 0.0, 1.0), vector(q))
        for wanted in (0.0, 2.0):
            found = allowed(wanted, swing, record, ROUNDING)
            off = np.array([broken(float(wanted + away), swing, record, ROUNDING) for away in tried])
            if (off <= 0).any():
                met += 1
                assert broken(found, swing, record, ROUNDING) <= 1e-6
                assert abs(found - wanted) <= np.abs(tried[off <= 0]).min() + 1e-4
            else:
                assert broken(found, swing, record, ROUNDING) <= off.min() + 1e-6
    assert isinstance(limit, Hinge) or met > 3


def test_an_allowed_swing_stays_bit_for_bit():
    swing = arm.ElbowSwing(AXES, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0), vector(limit_of(None)["rest"]))
    assert from_python(arm.allowed_swing)(0.123, swing, limit_of(Cone(1.5)), ROUNDING) == 0.123


# --- what is known before the first frame ----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1])
def test_an_arm_bends_as_at_rest(number):
    crowd = Crowd(humanoid(), 1, np.float64)
    record, path = arm.arm_settings(crowd, number, crowd.rig.arms[number], Hands())
    joints = crowd.rig.arms[number].joints
    assert (record.upper[0], record.fore[0], record.hand[0]) == (joints[0], joints[1], joints[-1])
    assert path.joint[record.first[0]] == joints[0]
    assert path.joint[-1] == joints[-1]
    assert np.linalg.norm(record.axis[0]) == pytest.approx(1.0)
    world = crowd.rig.standing_world
    axis = world[joints[1], :3, :3] @ record.axis[0]
    forearm = world[joints[-1], :3, 3] - world[joints[1], :3, 3]
    bent = naive.quat_rotate(naive.quat_from_axis_angle(axis, 1.0), forearm)
    assert bent @ np.array(crowd.rig.forward) > 0.05  # A forearm that bends goes forward.
