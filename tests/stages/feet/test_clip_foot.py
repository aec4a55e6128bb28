"""What a clip does with a foot."""

import math

import numpy as np
import pytest

from kinema.math import quat
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.clip_foot import lowest_point, over_floor, pick, read_clip_foot, twist_since, yaw_since
from kinema.stages.legs.ground_contact import Floor
from kinema.stages.legs.sole import SolePoints
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import FLOOR, STAND, UP, a_foot, a_sole

pytestmark = plain_python_only
POINTS = SolePoints(*STAND.values())


def world(pitch=0.0, yaw=0.0, position=(0.0, 0.0, 0.0)):
    """The matrix of the one joint: toes down by a pitch, rotated to the left by a yaw, degrees."""
    q = quat.mul(
        quat.from_axis_angle(UP, math.radians(yaw)), quat.from_axis_angle((1.0, 0.0, 0.0), math.radians(pitch))
    )
    columns = [quat.rotate(q, axis) for axis in np.eye(3)]
    return np.column_stack((*columns, position)).reshape(1, 12)


def read(foot, matrix, dt=1 / 60):
    return read_clip_foot(a_sole(), foot, matrix, FLOOR, dt)


@pytest.mark.parametrize(("degrees", "point"), [(0.5, BALL), (-0.5, BALL), (-1.3, HEEL), (2.6, TIP)])
def test_the_ball_touches_unless_another_point_is_clearly_lower(degrees, point):
    """Half a degree are 1.7 mm at the heel and 0.9 mm at the tip; 1.3 and 2.6 degrees are 4.5 mm."""
    assert read(a_foot(), world(pitch=degrees)).contact == point


def test_the_lowest_point_by_heights():
    assert lowest_point(0.0, 0.1, 0.2, 0.003) == HEEL
    assert lowest_point(0.2, 0.1, 0.0, 0.003) == TIP
    assert lowest_point(0.0, 0.0, 0.0, 0.003) == BALL
    for which in (HEEL, BALL, TIP):
        np.testing.assert_array_equal(pick(which, POINTS), POINTS[which])


@pytest.mark.parametrize(("metres", "fresh"), [(1.6, False), (2.6, True)])
def test_a_foot_that_moves_faster_than_any_foot_was_put_elsewhere(metres, fresh):
    foot = a_foot()
    read(foot, world(position=(0.0, 0.0, metres)), dt=0.1)
    assert foot.fresh == fresh


@pytest.mark.parametrize(("pitch", "follows_the_ankle"), [(30.0, False), (60.0, True)])
def test_the_yaw_of_a_steep_foot_is_that_of_its_ankle(pitch, follows_the_ankle):
    """The line from heel to ball has not rotated; the ankle is said to have been rotated by 20 degrees before."""
    foot, matrix = a_foot(), world(pitch=pitch)
    clip = read(foot, matrix)
    foot.in_clip.sole[[HEEL, BALL, TIP]] = clip.points
    foot.in_clip.rotation[:] = quat.mul(quat.from_axis_angle(UP, math.radians(-20.0)), clip.rotation)
    assert math.degrees(read(foot, matrix).yaw) == pytest.approx(20.0 if follows_the_ankle else 0.0, abs=1e-6)


def test_speeds_are_those_of_each_point_over_the_floor():
    clip = read(a_foot(), world(position=(0.0, 0.3, 0.04)), dt=0.1)
    assert clip.speed == pytest.approx(0.4)
    np.testing.assert_allclose(clip.speeds, math.hypot(0.3, 0.04) / 0.1)
    fresh = a_foot()
    fresh.fresh = True
    assert read(fresh, world(position=(0.0, 0.0, 0.04))).speed == 0.0


def test_a_floor_that_rises_with_the_ground_is_no_motion():
    rising = Floor((0.0, 2.0, 0.0), UP)
    np.testing.assert_allclose(over_floor((1.0, 2.1, 3.0), rising), over_floor((1.0, 0.1, 3.0), FLOOR))


def test_yaw_and_twist_have_the_sign_of_a_rotation_about_up():
    turned = [quat.rotate(quat.from_axis_angle(UP, 0.3), point) for point in POINTS]
    assert yaw_since(POINTS.ball, POINTS.heel, SolePoints(*turned), UP) == pytest.approx(0.3)
    assert twist_since((0.0, 0.0, 0.0, 1.0), quat.from_axis_angle(UP, 0.3), UP) == pytest.approx(0.3)
    assert twist_since((0.0, 0.0, 0.0, 1.0), quat.from_axis_angle(UP, -0.3), UP) == pytest.approx(-0.3)
