"""Which foothold a foot chooses along the line on which it lands."""

import numpy as np
import pytest

from kinema.stages.feet.foot_rays import HEEL_AT_LANDING, PROFILE
from kinema.stages.feet.foothold_choice import foothold_seen, hold_cost, shift_foothold
from kinema.stages.legs.ground_contact import SupportPlane
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import FLOOR, ORIGIN, UP, a_foot, a_sole, hits

pytestmark = plain_python_only
COS_SLOPE = np.cos(0.75)


def chosen(found, spacing=0.05, **swing):
    """Steps ahead that a foot is moved to, and the plane there."""
    foot = a_foot()
    foot.swing.seconds = swing.get("seconds", 1.0)
    foot.landing.fixed = swing.get("fixed", False)
    plane = shift_foothold(a_sole(spacing), foot, found, FLOOR, COS_SLOPE)
    return int(foot.foothold.steps), plane


def profile(heights):
    """Hits whose profile has these heights, by their steps ahead of where the clip puts the heel; None for a hole."""
    found = hits()
    for step, height in heights.items():
        found.found[HEEL_AT_LANDING + step] = height is not None
        found.point[HEEL_AT_LANDING + step, 1] = height or 0.0
    return found


def cliff(edge):
    """Level ground up to some steps ahead of the heel, and nothing beyond."""
    return profile(dict.fromkeys(range(edge + 1, 14), None))


GAPS = {0: 0.03, 4: 0.15, 5: 0.05, 6: 0.03}
RISES = {-1: 0.03, 7: 0.1, 8: 0.03}
"""What 0.1 m costs, by the steps ahead of the heel."""


@pytest.mark.parametrize(
    ("step", "height", "cost"),
    [*((step, -0.1, cost) for step, cost in GAPS.items()), *((step, 0.1, cost) for step, cost in RISES.items())],
)
def test_gaps_cost_most_under_the_ball_and_rises_most_right_before_the_tip(step, height, cost):
    found = profile({step: height})
    assert hold_cost(found, HEEL_AT_LANDING, SupportPlane(ORIGIN, UP), UP, 1.0) == pytest.approx(cost, rel=0.3)


def test_a_hole_costs_as_much_as_a_gap_of_a_third_of_a_leg():
    found = profile({4: None})
    assert hold_cost(found, HEEL_AT_LANDING, SupportPlane(ORIGIN, UP), UP, 1.0) == pytest.approx(0.45, rel=0.3)


def test_on_level_ground_a_foot_lands_where_its_clip_puts_it():
    steps, plane = chosen(hits())
    assert steps == 0
    np.testing.assert_allclose(plane.normal, UP)


@pytest.mark.parametrize(("rise", "steps"), [(0.03, 0), (0.06, 1)])
def test_a_foot_does_not_move_for_a_bump_behind_its_heel_but_for_a_riser(rise, steps):
    assert chosen(profile({-1: rise}))[0] == steps


def test_a_foot_steps_back_from_an_edge_as_far_as_it_has_to():
    assert chosen(cliff(6))[0] == 0
    assert chosen(cliff(5))[0] == -1
    assert chosen(cliff(3))[0] == -3


def test_a_foot_is_moved_by_five_steps_and_by_a_quarter_of_a_leg_at_most():
    assert chosen(cliff(-3))[0] == -5
    assert chosen(cliff(0), spacing=0.03)[0] == -5
    assert chosen(cliff(0), spacing=0.1)[0] == -2


def test_a_foot_that_is_lifted_for_a_moment_is_not_moved_far():
    assert chosen(cliff(-1), seconds=0.2)[0] == -3


def test_a_landing_that_is_fixed_is_not_moved():
    assert chosen(cliff(0), fixed=True)[0] == 0


def test_what_was_chosen_stays_unless_something_is_clearly_better():
    foot, sole = a_foot(), a_sole()
    foot.swing.seconds = 1.0
    shift_foothold(sole, foot, cliff(4), FLOOR, COS_SLOPE)
    assert foot.foothold.steps == -2
    shift_foothold(sole, foot, hits(), FLOOR, COS_SLOPE)
    assert foot.foothold.steps == -2


def test_a_foothold_is_seen_where_any_ray_under_the_foot_hits():
    foot, found = a_foot(), hits()
    foot.rays.at_landing = True
    assert foothold_seen(foot, found)
    found.found[PROFILE:] = False
    assert not foothold_seen(foot, found)
    found.found[HEEL_AT_LANDING + 6] = True
    assert foothold_seen(foot, found)
    foot.rays.at_landing = False
    assert not foothold_seen(foot, found)
