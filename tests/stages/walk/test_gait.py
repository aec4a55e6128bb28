"""When legs step and where to: groups, strides, rhythm and pace."""

import math

import numpy as np
import pytest

from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING
from kinema.stages.walk.gait import (
    bound_landing,
    climb_time,
    fastest_speed,
    keep_side,
    landing_point,
    lead_of,
    lead_shift,
    learn_pace,
    lift_feet,
    longest_stride,
    need,
    next_group,
    on_own_side,
    outward_share,
    set_rhythm,
    walking_dip,
)
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import HERE, UP, a_walker, settings, some_feet, some_legs

pytestmark = plain_python_only
AHEAD, LEFT = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


# --- where to step ---------------------------------------------------------------------------------------------


def test_a_foot_lands_half_as_far_ahead_as_its_home_moves_while_it_stands():
    legs, walker = some_legs(), a_walker()
    foot = some_feet(legs)[0]
    foot.home.drift[2] = 1.0
    assert lead_of(walker, foot) == pytest.approx(0.4 - 0.15)
    at = landing_point(settings(), legs[0], walker, foot, HERE, 0.2)
    np.testing.assert_allclose(at, (0.1, 0.0, 0.2 + 0.25), atol=1e-12)


@pytest.mark.parametrize(("home", "shift"), [(0.4, -0.305), (-0.4, 0.35)])
def test_a_leg_that_reaches_ahead_lands_shorter_and_one_that_trails_behind_farther(home, shift):
    leg = some_legs(1)[0]
    leg.home[2], spare = home, 0.3
    leg.spare = spare
    found = lead_shift(settings(), leg, HERE, AHEAD, 0.5)
    assert found == pytest.approx(shift, abs=0.045)


def test_a_foot_lands_five_centimetres_inwards_of_its_home_at_most_if_that_is_ten_from_the_middle():
    leg = some_legs(1)[0]
    assert keep_side(settings(), leg, HERE, (-0.2, 0.0, 0.3))[0] == pytest.approx(-0.05, abs=0.015)
    np.testing.assert_allclose(keep_side(settings(), leg, HERE, (0.2, 0.0, 0.3)), (0.2, 0.0, 0.3))


def test_a_foot_stays_on_its_side_of_the_foot_beside_it():
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    feet[1].target.ball[0] = 0.3  # The right foot stands to the left.
    bound_landing(settings(), legs, walker, feet, 0, HERE, 0.0)
    assert on_own_side(feet[0], (0.1, 0.0, 0.0))[0] == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(on_own_side(feet[0], (0.6, 0.0, 0.0)), (0.6, 0.0, 0.0))


@pytest.mark.parametrize(("lead", "dip"), [(0.3, 0.0), (0.55, 0.051), (0.9, 0.16)])
def test_a_body_walks_lower_the_longer_its_strides_but_not_lower_than_its_crouch(lead, dip):
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    feet.home.drift[:, 2] = lead / 0.25
    legs.spare[:] = 1.0
    assert walking_dip(settings(), legs, walker, feet, HERE) == pytest.approx(dip, abs=0.02)


# --- when to step ----------------------------------------------------------------------------------------------


def needed(off=0.0, drift=0.0, **foot_state):
    """How urgently a foot needs a step that is a distance behind its home."""
    legs, walker = some_legs(1), a_walker()
    foot = some_feet(legs)[0]
    foot.target.ball[2], foot.home.drift[2] = -off, drift
    for name, value in foot_state.items():
        setattr(foot.foothold, name, value)
    return need(settings(settle=0.1), legs[0], walker, foot, HERE, UP)


def test_a_standing_foot_needs_a_step_once_it_is_farther_from_home_than_it_may_stay():
    assert needed(0.0) == 0.0
    assert needed(0.05) == pytest.approx(0.5)
    assert needed(0.12) == pytest.approx(1.2)


@pytest.mark.parametrize(("moved", "tries"), [(0.04, False), (0.08, True)])
def test_a_foot_that_found_no_foothold_tries_again_when_it_is_wanted_elsewhere(moved, tries):
    legs, walker = some_legs(1), a_walker()
    foot = some_feet(legs)[0]
    foot.foothold.failed, foot.foothold.tried[2], foot.target.ball[2] = True, moved, -0.2
    assert (need(settings(), legs[0], walker, foot, HERE, UP) > 0.0) == tries


def test_a_foot_that_is_behind_and_strained_does_not_wait_for_its_beat():
    legs, walker = some_legs(1), a_walker()
    foot = some_feet(legs)[0]
    foot.target.ball[2], foot.home.drift[2] = -0.3, 0.2
    assert 0.7 < need(settings(settle=2.0), legs[0], walker, foot, HERE, UP) < 1.3


def test_a_foot_out_of_reach_needs_a_step_at_once():
    legs, walker = some_legs(1), a_walker()
    assert need(settings(), legs[0], walker, some_feet(legs, RELEASED)[0], HERE, UP) > 1.0


def stepping_group(needs, drift=0.0, since=0.1, group=1):
    """The group that lifts off, for feet that are so much of their largest distance behind their home."""
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    walker.rhythm.since, walker.rhythm.group = since, group
    for foot, share in zip(feet, needs, strict=True):
        foot.home.drift[2] = drift
        most = max(2.0 * lead_of(walker, foot), 0.1)
        foot.target.ball[2] = lead_of(walker, foot) - share * most
    return next_group(settings(settle=0.1, stride=3.0), legs, walker, feet, HERE, UP), walker


@pytest.mark.parametrize(("share", "group"), [(0.45, -1), (0.75, 0)])
def test_after_standing_a_foot_steps_before_the_body_has_left_it_behind(share, group):
    found, walker = stepping_group((share, 0.0))
    assert found == group
    assert 1.4 < walker.rhythm.since < 2.8  # About ten swings.


@pytest.mark.parametrize(("share", "group"), [(1.1, -1), (1.6, 0)])
def test_before_its_beat_a_foot_steps_only_if_it_is_urgent(share, group):
    assert stepping_group((share, 0.0), drift=0.2)[0] == group


def test_on_the_beat_the_group_goes_first_that_did_not_swing_last():
    assert stepping_group((1.0, 1.0), drift=0.2, since=0.5, group=0)[0] == 1
    assert stepping_group((1.0, 1.0), drift=0.2, since=0.5, group=1)[0] == 0


@pytest.mark.parametrize(("other", "joins"), [(0.14, False), (0.28, True)])
def test_a_foot_joins_its_group_if_it_is_a_fifth_of_the_way_to_its_own_step(other, joins):
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    legs.group[:] = 0
    feet.target.ball[:, 2] = -0.15, -0.1 * other
    lift_feet(settings(settle=0.1), legs, walker, feet, HERE, UP)
    assert feet[0].target.contact == SWINGING
    assert (feet[1].target.contact == SWINGING) == joins


@pytest.mark.parametrize(("since", "joins"), [(0.07, True), (0.12, False)])
def test_a_foot_does_not_join_its_group_late_in_the_swing(since, joins):
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    legs.group[:], walker.rhythm.since = 0, since
    feet[0].target.contact = SWINGING
    feet[1].target.ball[2] = -0.2
    lift_feet(settings(settle=0.1), legs, walker, feet, HERE, UP)
    assert (feet[1].target.contact == SWINGING) == joins


def test_a_foot_out_of_reach_lifts_off_also_while_another_swings_but_one_stays():
    legs, walker = some_legs(4), a_walker()
    legs.group[:], legs.partner[:], walker.rhythm.group, walker.rhythm.since = (0, 1, 1, 0), -1, 0, 0.29
    feet = some_feet(legs)
    feet.target.contact[:] = SWINGING, PLANTED, RELEASED, PLANTED
    lift_feet(settings(), legs, walker, feet, HERE, UP)
    assert feet.target.contact.tolist() == [SWINGING, PLANTED, SWINGING, PLANTED]
    feet.target.contact[:] = SWINGING, SWINGING, RELEASED, SWINGING
    lift_feet(settings(), legs, walker, feet, HERE, UP)
    assert feet[2].target.contact == RELEASED


# --- strides, rhythm and pace ----------------------------------------------------------------------------------


def stride(slope=0.0, along=AHEAD, given=2.0, **leg):
    walker = a_walker()
    walker.slope[2] = slope
    return longest_stride(settings(stride=given), some_legs(1, **leg)[0], walker, HERE, along)


def test_a_stride_takes_two_thirds_of_the_reach_of_a_crouching_leg():
    assert 0.35 < stride() < 0.7
    assert stride(given=0.2) == 0.2


def test_a_leg_that_stands_out_reaches_less_far_outwards():
    outwards = stride(along=LEFT, rest_aside=0.3, home=(0.4, 0.0, 0.0), rest_height=0.8)
    assert 0.32 < outwards < 0.375
    assert outwards < stride(along=AHEAD, rest_aside=0.3, home=(0.4, 0.0, 0.0))
    assert outward_share(settings(), some_legs(1, home=(0.4, 0.0, 0.0))[0], HERE, LEFT) == pytest.approx(1.0)


def test_on_a_steep_slope_a_stride_leads_up_by_two_steps_of_a_staircase_at_most():
    assert 0.11 < stride(slope=0.6) * 0.6 < 0.16
    assert stride(slope=-0.6) == stride(slope=0.6)


def test_a_swing_that_climbs_takes_longer_than_one_that_falls_as_far():
    leg = some_legs(1)[0]
    assert climb_time(leg, -0.5) == pytest.approx(0.43 * 0.5)
    assert climb_time(leg, 0.5) < climb_time(leg, -0.5)
    assert fastest_speed(settings(), leg, 0.35, 0.5) < fastest_speed(settings(), leg, 0.35, 0.0)
    assert fastest_speed(settings(), leg, 0.35, 0.0) == pytest.approx(1.7 * 0.35 / 0.2, rel=0.1)


def rhythm(speed):
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    feet.home.drift[:, 2] = speed
    set_rhythm(settings(), legs, walker, feet, HERE)
    return walker.rhythm


def test_the_slowest_walk_swings_twice_as_long_as_the_fastest():
    slow, fast = rhythm(0.0), rhythm(3.0)
    assert 0.3 < slow.swing_time < 0.55
    assert fast.swing_time == pytest.approx(0.2, rel=0.3)
    assert slow.swing_time / slow.beat == pytest.approx(0.75, abs=0.1)
    assert fast.swing_time / fast.beat == pytest.approx(0.92, abs=0.05)


def learnt(made, top=1.0, commanded=1.0, trial=0.04):
    walker = a_walker()
    walker.learnt.moved, walker.learnt.waited, walker.learnt.top, walker.learnt.trial = made, 1.0 - made, top, trial
    walker.commanded.velocity[2], walker.velocity[2] = commanded, top
    learn_pace(walker)
    return walker.learnt


def test_a_walker_that_is_held_back_learns_to_walk_more_slowly_and_one_that_keeps_up_faster():
    assert learnt(0.5).top == pytest.approx(1.0 - 0.6 * (1.0 - 0.5 * 1.08), abs=0.03)  # Three fifths of the way there.
    assert learnt(0.9).top == 1.0
    assert 1.02 < learnt(1.0).top < 1.08
    assert learnt(1.0).trial == pytest.approx(0.056, abs=0.006)
    assert learnt(1.0, trial=0.15).trial == pytest.approx(0.15, abs=0.04)


@pytest.mark.parametrize("commanded", [1.0, 0.0])
def test_a_walker_that_was_too_slow_or_stood_tries_a_twentyfifth_more_at_first(commanded):
    """Not the trial that it had come to before."""
    walker = a_walker()
    walker.learnt.moved, walker.learnt.waited, walker.learnt.top, walker.learnt.trial = 0.5, 0.5, 1.0, 0.15
    walker.commanded.velocity[2], walker.velocity[2] = commanded, 1.0
    learn_pace(walker)
    walker.learnt.top, walker.learnt.moved, walker.learnt.waited, walker.commanded.velocity[2] = 1.0, 1.0, 0.0, 1.0
    learn_pace(walker)
    assert walker.learnt.top == pytest.approx(1.04, abs=0.01)


def test_a_walker_does_not_learn_to_be_slower_than_its_feet():
    assert 0.45 < learnt(0.1, top=0.3).top < 0.8


def test_two_fifths_of_what_a_walker_made_are_remembered_at_the_next_lift_off():
    after = learnt(0.9)
    assert after.moved == pytest.approx(0.36, abs=0.05)
    assert after.waited == pytest.approx(0.04, abs=0.005)


def test_a_walker_that_stands_forgets_its_pace():
    assert learnt(0.5, commanded=0.0).top == math.inf
