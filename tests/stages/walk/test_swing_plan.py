"""Plans of swings, from records alone."""

import numpy as np
import pytest

from kinema.compile.jit import batch
from kinema.compile.records import kernel_views
from kinema.stages.legs.ground_contact import HIT
from kinema.stages.walk.swing_plan import (
    LANDING_RAYS,
    PATH_RAYS,
    landing_point_of,
    plan_penetration,
    plan_rays,
    plan_swing,
    raise_foothold,
    set_waits,
    share_across,
    swing_duration,
    swing_path,
)
from kinema.stages.walk.walking_records import WALKING_FOOT, WALKING_LEG
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import UP, a_walker, settings, some_feet, some_legs


@batch
def raise_footholds(legs, feet, hits):
    for n in range(feet.size):
        raise_foothold(legs[0], feet[n], hits, UP)


@batch
def find_landing_points(legs, feet, out):
    for n in range(feet.size):
        for which in range(LANDING_RAYS):
            point = landing_point_of(legs[0], feet[n], which)
            for c in range(3):
                out[n, which, c] = point[c]


@batch
def find_penetrations(legs, feet, hits, out):
    for n in range(feet.size):
        out[n] = plan_penetration(legs[0], feet[n], hits, UP)


@batch
def find_shares(feet, times, out):
    for n in range(times.size):
        out[n] = share_across(feet[0], times[n])


def a_leg():
    """A leg of one metre with a sole of 0.3 m."""
    legs = WALKING_LEG.zeros(1, np.float64)
    legs.bones.length[:] = 1.0
    legs.samples[0] = [(0.0, 0.0, -0.2), (0.0, 0.0, -0.1), (0.0, 0.0, 0.0), (0.0, 0.0, 0.1)]
    return legs


def steps(foothold, count=1):
    """Feet at the origin that are going to land at a foothold, level."""
    feet = WALKING_FOOT.zeros(count, np.float64)
    feet.rotation[:, 3] = feet.foothold.rotation[:, 3] = 1.0
    feet.foothold.ball[:] = foothold
    return feet


def flat_hits():
    """What the rays of one plan hit on level ground."""
    hits = HIT.zeros(2 * PATH_RAYS + LANDING_RAYS, np.float64)
    hits.found[:] = True
    hits.normal[:] = UP
    return hits


@pytest.mark.parametrize("which", range(LANDING_RAYS))
def test_a_foothold_is_raised_by_a_bump_under_any_part_of_the_sole(which):
    feet, hits = steps((0.0, 0.0, 0.6)), flat_hits()
    hits.point[2 * PATH_RAYS + which, 1] = 0.05
    raise_footholds(*kernel_views(a_leg(), feet, hits))
    assert feet.foothold.ball[0, 1] == pytest.approx(0.05)


@pytest.mark.parametrize("height", [0.0005, 0.2])
def test_rounding_and_steps_do_not_raise_a_foothold(height):
    feet, hits = steps((0.0, 0.0, 0.6)), flat_hits()
    hits.point[2 * PATH_RAYS, 1] = height
    raise_footholds(*kernel_views(a_leg(), feet, hits))
    assert feet.foothold.ball[0, 1] == 0.0


def test_a_sole_that_tilts_is_measured_where_it_lands():
    feet, out, half = steps((0.0, 0.0, 0.6)), np.zeros((1, LANDING_RAYS, 3)), np.radians(15.0)
    feet.foothold.rotation[0] = (np.sin(half), 0.0, 0.0, np.cos(half))  # Toes down by 30 degrees.
    find_landing_points(*kernel_views(a_leg(), feet), out)
    np.testing.assert_allclose(out[0, 0], (0.0, 0.1, 0.6 - 0.2 * np.cos(2 * half)), atol=1e-12)
    np.testing.assert_allclose(out[0, -1], (0.0, -0.05, 0.6 + 0.1 * np.cos(2 * half)), atol=1e-12)


def test_a_swing_that_waits_before_a_step_up_clears_it_better():
    feet, hits, out = steps((0.0, 0.2, 0.6), 2), flat_hits(), np.zeros(2)
    for line in range(2):
        hits.point[line * PATH_RAYS + 6 : (line + 1) * PATH_RAYS, 1] = 0.2
    feet.swing.apex[:], feet.swing.rises[:], feet.swing.arrive[:], feet.swing.depart[:] = 0.32, 0.65, 0.1, (0.0, 0.3)
    find_penetrations(*kernel_views(a_leg(), feet, hits), out)
    assert out[1] < 0.5 * out[0]


def test_a_foot_stays_during_its_waits_and_moves_all_the_way_between_them():
    feet, out = steps((0.0, 0.0, 0.6)), np.zeros(3)
    feet.swing.depart[:], feet.swing.arrive[:] = 0.2, 0.3
    find_shares(*kernel_views(feet), np.array((0.2, 0.45, 0.7)), out)
    np.testing.assert_allclose(out, (0.0, 0.5, 1.0), atol=1e-12)


# --- one plan, by itself ----------------------------------------------------------------------------------------------


class Plan:
    """A swing by 0.6 m over ground with a height, by the distance from where its ball leaves."""

    def __init__(self, height=lambda along: 0.0, lands=0.0, **changes):
        self.legs = some_legs(1, home=(0.0, 0.0, 0.0))
        self.leg, self.foot = self.legs[0], some_feet(self.legs)[0]
        self.settings, self.walker = settings(**changes), a_walker()
        self.foot.foothold.ball[:] = 0.0, lands, 0.6
        self.hits = HIT.zeros(plan_rays(self.leg), np.float64)
        self.hits.found, self.hits.normal = True, UP
        path = swing_path(self.leg, self.foot, UP)
        self.spacing = path.spacing
        for line in range(2):
            for n in range(PATH_RAYS):
                self.hits[line * PATH_RAYS + n].point[1] = height(path.first + n * path.spacing)
        self.foot.swing.apex, self.foot.swing.arrive = lands + 0.12, 0.1

    def plan(self):
        plan_swing(self.settings, self.leg, self.walker, self.foot, self.hits, UP)
        return self.foot.swing

    def waits(self):
        set_waits(self.settings, self.leg, self.walker, self.foot, self.hits, UP)
        return self.foot.swing.depart, self.foot.swing.arrive


@plain_python_only
def test_a_swing_on_level_ground_rises_over_it_and_does_not_wait():
    swing = Plan().plan()
    assert swing.apex == pytest.approx(0.12)
    assert swing.depart == 0.0
    assert 0.07 < swing.arrive < 0.15


@plain_python_only
@pytest.mark.parametrize(("lands", "rises"), [(0.6, 0.65), (0.0, 0.5), (-0.6, 0.4)])
def test_a_foot_rises_for_longer_where_it_climbs_a_step_and_for_less_where_it_descends(lands, rises):
    assert Plan(lands=lands).plan().rises == pytest.approx(rises, abs=0.03)


@plain_python_only
@pytest.mark.parametrize(("bump", "raised"), [(0.0008, 0.0), (0.0015, 0.0015), (0.05, 0.05), (0.07, 0.0)])
def test_a_foothold_is_raised_by_what_is_more_than_rounding_and_less_than_a_step(bump, raised):
    one = Plan()
    one.hits.point[2 * PATH_RAYS :, 1] = bump
    raise_foothold(one.leg, one.foot, one.hits, UP)
    assert one.foot.foothold.ball[1] == pytest.approx(raised)


@plain_python_only
def test_a_foot_has_a_quarter_of_its_swing_to_move_ahead_in():
    """Over a box that begins where it stands and ends where it lands, and with legs that are fast enough."""
    one = Plan(lambda along: 0.5 if 0.02 < along < 0.58 else 0.0, foot_speed=1e3)
    one.leg.climb_time, one.foot.swing.apex = 0.01, 0.6
    assert 0.6 < sum(one.waits()) < 0.8


def waits_over(box, apex, rises=0.6, climb_time=0.43, foot_speed=1e3):
    """The waits of a swing over a box: how high it is, where it begins and ends; a foot that lands beyond is on it."""
    height, begins, ends = box
    one = Plan(lambda along: height if begins < along < ends else 0.0, height if ends > 0.6 else 0.0)
    one.settings.foot_speed, one.leg.climb_time = foot_speed, climb_time
    one.foot.swing.apex, one.foot.swing.rises = apex, rises
    return one.waits()


@plain_python_only
def test_a_foot_that_stands_before_a_low_step_waits_for_three_tenths_of_its_swing():
    """Waits are compared in steps of a tenth of a swing: two tenths scrape the edge, four take longer."""
    assert waits_over((0.1, 0.1, 0.9), 0.22, foot_speed=20.0) == pytest.approx((0.3, 0.1), abs=0.04)


@plain_python_only
def test_a_foot_only_rises_for_four_tenths_of_its_swing_at_most():
    """Although it would clear the step that it stands before after six tenths."""
    assert waits_over((0.5, 0.01, 0.9), 0.62, rises=0.8, climb_time=0.001) == pytest.approx((0.4, 0.1), abs=0.04)


@plain_python_only
def test_both_waits_leave_a_quarter_of_a_swing_to_move_ahead_in():
    """Also over a box as wide as the way and almost as high as the apex, where nine tenths would clear more."""
    assert waits_over((0.5, 0.02, 0.58), 0.54, rises=0.45, climb_time=0.001) == pytest.approx((0.3, 0.4), abs=0.04)


@plain_python_only
def test_a_foot_weighs_its_clearance_against_waits_and_a_longer_swing():
    """Over a bump of a hundredth of a leg, which is lower than the clearance of a plan, it waits for two tenths at both
    ends. Were waiting or a longer swing half as dear it would wait longer, and shorter if they were twice as dear.
    """
    waits = waits_over((0.01, 0.02, 0.4), 0.05, climb_time=0.1, foot_speed=4.0)
    assert waits == pytest.approx((0.2, 0.2), abs=0.04)


@plain_python_only
@pytest.mark.parametrize(("wall", "counts"), [(0.4, True), (0.6, False)])
def test_a_swing_goes_over_a_step_but_not_over_a_wall(wall, counts):
    apex = Plan(lambda along: wall if 0.2 < along < 0.35 else 0.0).plan().apex
    assert apex == pytest.approx(0.12 + (wall if counts else 0.0))


@plain_python_only
def test_a_swing_takes_as_long_as_it_takes_to_rise_and_to_fall_and_to_go_across():
    one = Plan()
    one.foot.swing.apex, one.foot.swing.rises, one.foot.swing.arrive = 0.3, 0.6, 0.0
    one.foot.foothold.ball[:] = 0.0, 0.2, 0.01
    assert swing_duration(one.settings, one.leg, one.foot, UP) == pytest.approx(0.3 * 0.43, rel=0.3)
    one.foot.foothold.ball[:] = 0.0, 0.3, 2.0
    assert swing_duration(one.settings, one.leg, one.foot, UP) == pytest.approx(1.5 * 2.0 / 10.0, rel=0.01)


@plain_python_only
@pytest.mark.parametrize(("below", "clear"), [(0.02, False), (0.045, True)])
def test_a_swing_keeps_three_centimetres_from_the_ground_where_it_can(below, clear):
    one = Plan(lambda along: -below)
    one.foot.swing.apex = 0.0
    assert (plan_penetration(one.leg, one.foot, one.hits, UP) == 0.0) == clear


@plain_python_only
def test_a_plan_is_compared_with_the_ground_at_some_twenty_moments():
    one = Plan(lambda along: 0.07)
    one.foot.swing.apex = 0.0
    assert plan_penetration(one.leg, one.foot, one.hits, UP) == pytest.approx(20 * 4 * 0.1, rel=0.3)


@plain_python_only
def test_rays_along_a_path_and_under_a_sole_are_a_hands_width_apart():
    one = Plan()
    assert 0.045 < one.spacing < 0.08
    points = [landing_point_of(one.leg, one.foot, which) for which in range(LANDING_RAYS)]
    assert 0.04 < np.diff(points, axis=0)[:, 2].max() < 0.08


@plain_python_only
def test_a_point_that_rises_in_place_has_a_path_of_next_to_no_length():
    one = Plan()
    one.leg.samples[:], one.foot.foothold.ball[:] = 0.0, (0.0, 0.3, 0.0)
    assert 0.0 < swing_path(one.leg, one.foot, UP).spacing < 1e-6
