"""Where the ground puts a foot, and how deep it is in it."""

import math

import numpy as np
import pytest

from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.foot_placement import (
    ball_on_floor,
    cleared,
    depth_of,
    foot_rotation,
    ground_above,
    lifted,
    place_foot,
    placed,
    sample_of,
)
from kinema.stages.legs.ground_contact import PLANTED, SupportPlane
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import ORIGIN, STAND, UP, a_foot, a_sole, hits, in_clip, under

pytestmark = plain_python_only


def tilted(degrees):
    """A foot that is tilted back, and its clip has the ball at a height."""
    foot, angle = a_foot(), math.radians(degrees)
    foot.tilt[:] = 0.0, math.cos(angle), -math.sin(angle)
    return foot


def place(foot, clip, ground=None, shift=ORIGIN):
    return place_foot(a_sole(), foot, clip, shift, foot_rotation(foot, UP), under() if ground is None else ground)


def depth(found, held, clip=None):
    clip = in_clip() if clip is None else clip
    return depth_of(a_sole(), clip, place(a_foot(), clip), under(found), held)


@pytest.mark.parametrize(("height", "straight_up"), [(0.06, 0.0), (0.2, 0.12)])
def test_a_foot_rolls_along_the_normal_as_far_as_heels_lift_and_rises_straight_up_beyond(height, straight_up):
    found = place(tilted(20.0), in_clip((height,) * 3))
    assert found.raised == pytest.approx(straight_up, abs=0.03)
    assert found.rolled + found.raised == pytest.approx(height)


def test_a_foot_on_level_ground_is_where_its_clip_has_it_and_shifted_where_it_is_shifted():
    clip, foot = in_clip((0.05, 0.02, 0.0)), a_foot()
    np.testing.assert_allclose(placed(place(foot, clip), clip.points.heel), clip.points.heel, atol=1e-12)
    np.testing.assert_allclose(placed(place(foot, clip, shift=(0.1, 0, 0)), clip.points.tip), (0.1, 0, 0.1), atol=1e-12)
    np.testing.assert_allclose(ball_on_floor(clip, (0.1, 0.0, 0.0), UP), (0.1, 0.0, 0.0), atol=1e-12)


def test_a_foot_goes_up_with_its_plane_its_rise_its_lift_and_while_it_swings_its_clearance():
    foot, clip = a_foot(), in_clip()
    foot.rise.value, foot.lift.value, foot.clearance = 0.1, 0.02, 0.04
    plane = SupportPlane((0.0, 0.3, 0.0), UP)
    at = cleared(lifted(place(foot, clip, under(plane=plane)), foot, plane), foot)
    assert placed(at, clip.points.ball)[1] == pytest.approx(0.3 + 0.1 + 0.02 + 0.04)
    foot.contact = PLANTED
    assert placed(cleared(at, foot), clip.points.ball)[1] == pytest.approx(0.46)


def test_a_yaw_rotates_about_up_and_a_tilt_lays_the_sole_on_a_slope():
    foot, clip = tilted(20.0), in_clip()
    np.testing.assert_allclose(
        placed(place(foot, clip), clip.points.tip),
        (0.0, 0.1 * math.sin(math.radians(20)), 0.1 * math.cos(math.radians(20))),
    )
    foot = a_foot()
    foot.yaw = math.pi / 2
    np.testing.assert_allclose(placed(place(foot, clip), clip.points.tip), (0.1, 0.0, 0.0), atol=1e-12)


@pytest.mark.parametrize("which", [HEEL, BALL, TIP])
def test_each_point_of_a_sole_has_the_ray_under_it(which):
    np.testing.assert_allclose(hits().point[sample_of(which)], list(STAND.values())[which], atol=1e-12)


@pytest.mark.parametrize(("degrees", "follows"), [(40.0, True), (60.0, False)])
def test_ground_goes_on_along_its_slope_unless_it_is_too_steep_to_stand_on(degrees, follows):
    found, angle = hits()[0], math.radians(degrees)
    found.normal[:], found.point[:] = (0.0, math.cos(angle), -math.sin(angle)), ORIGIN
    assert ground_above(found, (0.0, 0.0, 0.1), UP) == pytest.approx(0.1 * math.tan(angle) if follows else 0.0)


@pytest.mark.parametrize(("rise", "counts"), [(0.045, True), (0.09, False)])
def test_a_rise_beside_a_planted_foot_is_ground_up_to_six_centimetres_and_a_wall_beyond(rise, counts):
    found = hits()
    found.point[3, 1] = rise
    assert depth(found, held=True).missing == pytest.approx(rise if counts else 0.0, abs=1e-9)
    assert depth(found, held=True).blocked == 0.0


@pytest.mark.parametrize(("rise", "blocks"), [(0.03, False), (0.06, True)])
def test_in_the_way_of_a_swinging_foot_a_rise_is_rough_ground_or_an_obstacle(rise, blocks):
    found = hits()
    found.point[3, 1] = rise
    assert (depth(found, held=False).blocked > 0.0) == blocks


def test_a_foot_in_an_obstacle_is_lifted_by_three_centimetres_at_once_and_the_remainder_is_planned():
    found = hits()
    found.point[3, 1] = 0.1
    at = depth(found, held=False)
    assert at.blocked == pytest.approx(0.1)
    assert 0.02 < at.missing < 0.045


def test_a_foot_above_the_ground_misses_nothing():
    at = depth(hits(), held=False, clip=in_clip((0.2, 0.2, 0.2)))
    assert (at.missing, at.blocked) == (pytest.approx(-0.2), 0.0)
