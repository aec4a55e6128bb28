"""Coordinates of joint limits: there and back, nearest inside, steps that stay inside and below the largest speed."""

import numpy as np
import pytest

from kinema.compile.records import kernel_views
from kinema.model.character import Character
from kinema.model.limits import Cone, Hinge, SwingTwist
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.stages import joint_easing
from kinema.stages.stage import Crowd
from tests import naive, problems
from tests.compiled import COMPILED, from_python

LIMITS = {
    "none": None,
    "hinge": Hinge((1, 2, 0), -0.3, 2.4),
    "wide hinge": Hinge((1, 0, 0), -2.9, 2.9),
    "whole hinge": Hinge((1, 0, 0), -4.0, 4.0),
    "cone": Cone(0.9),
    "wide cone": Cone(2.6),
    "swing twist": SwingTwist(1.7, -0.4, 1.5),
}
each_limit = pytest.mark.parametrize("limit", list(LIMITS.values()), ids=list(LIMITS))
NOWHERE = (0.0, 0.0, 0.0)


def skeleton_with(limit):
    """Two joints; the first has the limit and a rest rotation of its own."""
    rest = Pose([[0.0, 0, 0], [0.3, 1.0, 0.2]], [naive.unit([0.1, -0.4, 0.3, 0.8]), [0.0, 0, 0, 1]])
    return Skeleton(["joint", "end"], [-1, 0], rest, [limit, None])


def record_of(limit):
    """The limit of the first joint, as kernels take it."""
    record = joint_easing.JOINT_LIMIT.zeros(1, np.float64)
    joint_easing.set_joint_limit(record[0], Crowd(Character(skeleton_with(limit)), 1, np.float64), 0)
    return kernel_views(record)[0][0]


def allowed(limit, rotations):
    """Rotations moved into the limit, by the limit itself."""
    skeleton = skeleton_with(limit)
    if limit is None:
        return rotations
    rest, bone = skeleton.rest.rotations[0], skeleton.joint_limits(np.float64).bones[0]
    return naive.quat_mul(rest, limit.project(naive.quat_mul(naive.quat_conj(rest), rotations), bone))


def as_tuple(q):
    return tuple(float(x) for x in q)


def from_coordinates(record, v):
    return np.array(from_python(joint_easing.from_coordinates)(record, as_tuple(v)))


def coordinates(record, q, near=NOWHERE):
    return np.array(from_python(joint_easing.coordinates)(record, as_tuple(q), as_tuple(near)))


@each_limit
def test_coordinates_and_back(limit):
    record = record_of(limit)
    for q in allowed(limit, problems.quaternions(problems.generator(1), 40)):
        assert naive.angle_between_rotations(from_coordinates(record, coordinates(record, q)), q) < 1e-7


@each_limit
def test_coordinates_inside_the_limit_are_rotations_it_allows(limit):
    record = record_of(limit)
    for v in problems.generator(2).normal(size=(40, 3)) * 3:
        inside = from_python(joint_easing.nearest_inside)(record, as_tuple(v))
        q = from_coordinates(record, inside)
        assert naive.angle_between_rotations(allowed(limit, q), q) < 1e-6


@each_limit
def test_half_way_between_allowed_rotations_is_allowed(limit):
    record = record_of(limit)
    rng = problems.generator(3)
    for a, b in zip(*(allowed(limit, problems.quaternions(rng, 40)) for _ in range(2)), strict=True):
        start = coordinates(record, a)
        middle = from_coordinates(record, (start + coordinates(record, b, start)) / 2)
        assert naive.angle_between_rotations(allowed(limit, middle), middle) < 1e-6


@each_limit
def test_a_rotation_that_jumps_is_eased_inside_the_limit_and_below_the_largest_speed(limit):
    """From one allowed rotation to another in one frame, again and again."""
    record = record_of(limit)
    easing = kernel_views(joint_easing.JOINT_EASING.zeros(1, np.float64))[0][0]
    ease = from_python(joint_easing.ease_joint)
    rng, dt = problems.generator(4), 1 / 60
    r, shown = np.zeros(4), None
    for n in range(400 if COMPILED else 120):
        if n % 40 == 0:
            goal = allowed(limit, problems.quaternions(rng, 1))[0]
        r[:] = goal
        ease(record, easing, r, shown is not None, 0.1, 12.0, dt)
        assert naive.angle_between_rotations(allowed(limit, r), r) < 1e-6
        if shown is not None:
            assert naive.angle_between_rotations(shown, r) <= joint_easing.JOINT_SPEED * dt + 1e-6
        shown = r.copy()
    assert naive.angle_between_rotations(goal, r) < 0.1


@each_limit
def test_a_rotation_that_rests_is_left_bit_for_bit(limit):
    record = record_of(limit)
    easing = kernel_views(joint_easing.JOINT_EASING.zeros(1, np.float64))[0][0]
    ease = from_python(joint_easing.ease_joint)
    goal = allowed(limit, problems.quaternions(problems.generator(5), 1))[0]
    for begun in (False, True, True):
        r = goal.copy()
        assert not ease(record, easing, r, begun, 0.1, 12.0, 1 / 60)
        np.testing.assert_array_equal(r, goal)
