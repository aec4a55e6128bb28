"""The plane that a foot goes by, and its tilt."""

import math

import numpy as np
import pytest

from kinema.stages.feet.foot_plane import choose_plane, go_by, lift_along, tilt_foot
from kinema.stages.legs.ground_contact import PLANTED, SupportPlane, height_on
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import FLOOR, HELD, ORIGIN, SWINGS, UP, a_foot, a_sole, hits, lands_in, settings

pytestmark = plain_python_only


def slope(degrees):
    """A plane through the origin that rises ahead."""
    angle = math.radians(degrees)
    return SupportPlane(ORIGIN, (0.0, math.cos(angle), -math.sin(angle)))


@pytest.mark.parametrize(("low", "least", "most"), [(0.0, 0.0, 0.0), (0.1, 0.5, 0.8), (0.2, 1.0, 1.0)])
def test_a_foot_high_in_the_air_does_not_tilt_with_the_ground(low, least, most):
    foot = a_foot()
    foot.fresh, foot.plane.ground_normal[:] = True, slope(20.0).normal
    assert least <= tilt_foot(settings(), a_sole(), foot, UP, low, 1 / 60) <= most
    tilt = math.degrees(math.acos(foot.tilt[1]))
    assert tilt == pytest.approx(20.0 if least == 0.0 else 0.0, abs=1e-6) or 4.0 < tilt < 10.0


def test_a_tilt_is_half_way_after_its_half_life():
    foot = a_foot()
    foot.plane.ground_normal[:] = slope(20.0).normal
    tilt_foot(settings(tilt_half_life=0.02), a_sole(), foot, UP, 0.0, 0.02)
    assert math.degrees(math.acos(foot.tilt[1])) == pytest.approx(10.0, abs=0.2)


def test_a_foot_stays_where_it_is_when_its_plane_changes():
    foot = a_foot()
    foot.on_floor.point[2], foot.on_floor.velocity[2], foot.lift.value = 0.4, 1.0, 0.02
    after = slope(15.0)
    go_by(foot, after, UP)
    lifted = foot.lift.value * after.normal[1]
    assert height_on(after, foot.on_floor.point, UP) + foot.rise.value + lifted == pytest.approx(0.02)
    assert foot.rise.speed == pytest.approx(-math.tan(math.radians(15.0)))
    np.testing.assert_allclose(foot.plane.normal, after.normal)


def test_a_lift_along_another_normal_keeps_its_height():
    foot = a_foot()
    foot.lift.value = 0.1
    lift_along(foot, slope(20.0).normal, UP, UP)
    assert foot.lift.value + foot.rise.value == pytest.approx(0.1 * math.cos(math.radians(20.0)))


def test_a_foot_that_stands_keeps_its_plane():
    foot, found = a_foot(PLANTED), hits()
    foot.plane.point[1] = 0.3
    plane = choose_plane(settings(), a_sole(), foot, found, FLOOR, HELD)
    assert plane.point[1] == 0.3


def test_a_foot_in_the_air_goes_by_what_is_under_it_and_one_that_lands_by_its_foothold():
    found = hits()
    found.point[12:, 1] = 0.2
    foot = a_foot()
    assert choose_plane(settings(), a_sole(), foot, found, FLOOR, SWINGS).point[1] == 0.0
    foot.rays.at_landing = True
    assert choose_plane(settings(), a_sole(), foot, found, FLOOR, lands_in(0.3)).point[1] == pytest.approx(0.2)


@pytest.mark.parametrize(("miss", "tilted"), [(0.03, True), (-0.03, True), (0.1, False), (-0.1, False)])
def test_on_its_way_to_a_slope_a_foot_goes_by_it_if_it_took_off_from_it(miss, tilted):
    foot, found = a_foot(), hits()
    foot.rays.at_landing = True
    found.normal[12:], found.point[12:, 1] = slope(15.0).normal, found.point[12:, 2] * math.tan(math.radians(15.0))
    foot.swing.takeoff[:] = (0.0, -0.5 * math.tan(math.radians(15.0)) + miss, -0.5)
    plane = choose_plane(settings(), a_sole(), foot, found, FLOOR, lands_in(0.4))
    np.testing.assert_allclose(plane.normal, slope(15.0).normal if tilted else UP, atol=1e-9)
