"""Swings of a clip's feet: to their footholds, over what is on the way."""

import numpy as np
import pytest

from kinema.math.curves import Motion
from kinema.stages.feet.foot_placement import Depth
from kinema.stages.feet.foot_rays import AHEAD
from kinema.stages.feet.foot_swing import (
    delay_at_step,
    delayed,
    fly_over,
    move_offset,
    obstacle,
    raise_over,
    share_of,
    shortest_plan,
    swing_across,
)
from kinema.stages.legs.ground_contact import SupportPlane
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import ORIGIN, SWINGS, UP, a_foot, a_sole, hits, in_clip, lands_in, settings, under

pytestmark = plain_python_only


def going(metres):
    """A foot that goes ahead, and looks along its way."""
    foot = a_foot()
    foot.rays.ahead, foot.rays.path[2] = True, metres
    return foot


def met(foot, height, at=0.5):
    """What a foot meets that goes at the height of its plane, with a step of a height ahead."""
    found = hits()
    found.found[AHEAD : AHEAD + 8] = False
    found.found[AHEAD], found.point[AHEAD] = True, (0.0, height, at)
    return obstacle(a_sole(), foot, under(found), Motion(0.0, 0.0, 0.0), 0.4, False)


def rise_after(foot, stance, dt, blocked=0.0):
    fly_over(a_sole(), foot, under(), stance, blocked, dt)
    return foot.rise.value


# --- along up --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("height", "least", "most"), [(0.0, 0.025, 0.05), (0.1, 0.07, 0.1), (0.2, 0.09, 0.17)])
def test_a_foot_gets_more_time_to_rise_the_higher_it_has_to(height, least, most):
    assert least < shortest_plan(a_sole(), height) < most
    assert shortest_plan(a_sole(), -height) == shortest_plan(a_sole(), height)
    assert shortest_plan(a_sole(), 3.0) == shortest_plan(a_sole(), 1.0)


def test_in_a_long_swing_a_foot_is_back_on_its_plane_in_a_third_of_a_second():
    foot = a_foot()
    foot.rise.value = 0.1
    assert 0.03 < rise_after(foot, lands_in(1.0), 0.175) < 0.07


def test_a_foot_that_steps_up_is_there_a_little_before_it_lands():
    foot = a_foot()
    foot.rise.value, foot.swing.seconds = -0.1, 1.0
    assert -0.07 < rise_after(foot, lands_in(0.3), 0.075) < -0.03


def test_a_foot_keeps_a_centimetre_and_a_half_from_what_it_passes_over():
    when, needed, worst = met(going(1.0), 0.1)
    assert 0.110 < needed < 0.122
    assert worst == pytest.approx(needed)
    assert 0.0 < when < 0.4


def test_what_is_met_first_is_met_by_the_end_of_the_foot_that_goes_first():
    forwards, backwards = met(going(1.0), 0.1)[0], met(going(-1.0), 0.1, at=-0.5)[0]
    assert forwards > backwards  # The tip is 0.1 m ahead of the ball, the heel 0.2 m behind it.


@pytest.mark.parametrize(("length", "meets"), [(0.03, True), (0.012, False)])
def test_a_foot_that_hardly_goes_anywhere_meets_nothing(length, meets):
    assert (met(going(length), 0.1, at=0.0)[2] > 0.0) == meets


def test_a_foot_that_does_not_look_ahead_meets_nothing():
    foot = going(1.0)
    foot.rays.ahead = False
    assert met(foot, 0.1) == (0.0, 0.0, 0.0)


def test_a_foot_rises_over_what_blocks_it():
    foot = a_foot()
    for _ in range(30):
        rise_after(foot, SWINGS, 1 / 120, blocked=max(0.1 - foot.rise.value, 0.0))
    assert foot.rise.value > 0.08


def test_a_fresh_foot_is_over_what_blocks_it_at_once():
    foot = a_foot()
    foot.fresh = True
    assert rise_after(foot, SWINGS, 1 / 60, blocked=0.2) == 0.2


def test_below_the_plane_it_goes_to_a_foot_is_lifted_a_little_at_once_and_the_remainder_is_planned():
    foot = a_foot()
    foot.rise.value = -0.2
    missing = raise_over(a_sole(), foot, under(), lands_in(0.3), Depth(0.2, 0.0), 1 / 60)
    assert missing + foot.rise.value + 0.2 == pytest.approx(0.03, abs=0.01)


# --- across up -------------------------------------------------------------------------------------------------


def test_in_a_long_swing_a_foot_comes_to_its_foothold_within_eight_tenths_of_a_second():
    foot = a_foot()
    foot.offset.value[0] = 0.1
    move_offset(settings(), a_sole(), foot, ORIGIN, lands_in(2.0), 0.4)
    assert foot.offset.value[0] == pytest.approx(0.05, abs=0.01)


def test_a_foot_without_a_known_landing_gives_back_its_offset_in_four_half_lives():
    foot = a_foot()
    foot.offset.value[0] = 0.1
    move_offset(settings(release_half_life=0.06), a_sole(), foot, ORIGIN, SWINGS, 0.12)
    assert foot.offset.value[0] == pytest.approx(0.05, abs=1e-3)
    move_offset(settings(release_half_life=0.06), a_sole(), foot, ORIGIN, SWINGS, 0.24)
    assert foot.offset.value[0] == pytest.approx(0.0, abs=1e-3)


def test_a_foot_that_swings_gives_back_its_yaw():
    foot = a_foot()
    foot.yaw = 0.4
    move_offset(settings(release_half_life=0.06), a_sole(), foot, ORIGIN, lands_in(0.5), 0.06)
    assert foot.yaw == pytest.approx(0.2)


def delay(step, seconds=0.5):
    foot = a_foot()
    foot.swing.seconds, foot.swing.takeoff[2] = seconds, -0.5
    return delay_at_step(a_sole(), foot, SupportPlane((0.0, step, 0.0), UP), (0.0, 0.0, 0.5), UP)


@pytest.mark.parametrize(("step", "least", "most"), [(0.3, 0.1, 0.2), (0.12, 0.05, 0.1), (0.03, 0.0, 0.0)])
def test_a_foot_waits_before_a_step_up_and_hurries_before_a_step_down(step, least, most):
    assert least <= delay(step) <= most
    assert delay(-step) == -delay(step)


def test_a_foot_does_not_wait_in_a_swing_of_two_seconds():
    assert delay(0.3, seconds=0.9) == delay(0.3)
    assert 0.0 < delay(0.3, seconds=1.5) < delay(0.3)
    assert delay(0.3, seconds=2.0) == 0.0


def test_a_slope_is_no_step():
    foot = a_foot()
    foot.swing.takeoff[:], normal = (0.0, -0.2, -0.5), np.array((0.0, 1.0, -0.4)) / np.hypot(1.0, 0.4)
    assert delay_at_step(a_sole(), foot, SupportPlane((0.0, 0.0, 0.0), tuple(normal)), (0.0, 0.2, 0.5), UP) == 0.0


def test_a_delay_is_half_way_after_three_hundredths_of_a_second():
    foot, plane = a_foot(), SupportPlane((0.0, 0.3, 0.0), UP)
    foot.landing.point[:], foot.swing.takeoff[:] = (0.0, 0.3, 0.5), (0.0, 0.0, -0.5)
    swing_across(settings(), a_sole(), foot, in_clip(), under(plane=plane), lands_in(0.3), 0.03)
    assert 0.055 < foot.swing.delay < 0.095


def test_a_foot_that_waits_stays_behind_its_clip_and_one_that_hurries_is_ahead():
    for height, sign in ((0.3, -1.0), (-0.3, 1.0)):
        foot = a_foot()
        foot.landing.point[:], foot.swing.takeoff[:] = (0.0, height, 0.5), (0.0, 0.0, -0.5)
        plane = SupportPlane((0.0, height, 0.0), UP)
        shift = swing_across(settings(), a_sole(), foot, in_clip(), under(plane=plane), lands_in(0.2), 0.1)
        assert np.sign(shift[2]) == sign


def test_a_foot_that_is_late_goes_on_from_where_it_was_shifted_to():
    foot = a_foot()
    foot.swing.delay, foot.on_floor.point[:] = 0.1, (0.0, 0.0, 0.2)
    shift = swing_across(settings(release_half_life=1.0), a_sole(), foot, in_clip(), under(), SWINGS, 1 / 60)
    assert shift[2] == pytest.approx(0.2, abs=0.01)
    assert foot.swing.delay == 0.0


def test_shares_of_a_way():
    assert delayed(0.5, 0.2) == pytest.approx(0.375)
    assert delayed(0.5, -0.2) == pytest.approx(0.625)
    assert share_of(1.0, 4.0) == 0.25
    assert share_of(1.0, 0.0) == 0.0
