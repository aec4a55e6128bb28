"""Feet are lifted out of the ground, and planted ones lowered until they touch."""

import pytest

from kinema.stages.feet.foot_lift import hovering, lift_foot
from kinema.stages.legs.ground_contact import PLANTED, SWINGING
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import HELD, SWINGS, a_foot, a_sole, in_clip, lands_in, settings, under

pytestmark = plain_python_only


def lift(foot, stance, missing, dt, height=0.0, frames=1):
    for _ in range(frames):
        before = foot.lift.value
        lift_foot(settings(), a_sole(), foot, in_clip((height,) * 3), under(), stance, missing, dt)
        missing -= foot.lift.value - before
    return foot.lift.value


def test_a_foot_in_the_ground_is_lifted_out_at_once():
    assert lift(a_foot(PLANTED), HELD, 0.04, 1 / 60) == pytest.approx(0.04)
    assert lift(a_foot(SWINGING), SWINGS, 0.04, 1 / 60) >= 0.04


@pytest.mark.parametrize(
    ("low", "least", "most"), [(0.02, 0.0, 0.001), (0.05, 0.0, 0.006), (0.09, 0.03, 0.08), (0.11, 0.11, 0.11)]
)
def test_a_foot_that_its_clip_plants_hovers_only_where_it_lifts_off(low, least, most):
    foot = a_foot(PLANTED)
    foot.override = 1
    assert least <= hovering(settings(), a_sole(), foot, low) <= most


def test_toes_that_hang_over_an_edge_lower_a_foot_by_eight_centimetres_at_most():
    assert 0.06 < -lift(a_foot(PLANTED), HELD, -0.3, 1 / 60, frames=60) < 0.12


def test_a_planted_foot_is_half_way_to_the_ground_in_a_hundredth_of_a_second():
    assert -0.035 < lift(a_foot(PLANTED), HELD, -0.05, 0.01) < -0.018


def test_a_foot_that_lifts_off_gives_back_what_it_was_lowered_more_slowly():
    foot = a_foot(SWINGING)
    foot.lift.value = -0.04
    assert -0.026 < lift(foot, SWINGS, -0.2, 0.04, height=0.2) < -0.014


@pytest.mark.parametrize(("left", "touches"), [(0.15, False), (0.1, True)])
def test_a_foot_comes_down_to_touch_the_ground_in_the_last_tenth_of_a_second(left, touches):
    assert (lift(a_foot(SWINGING), lands_in(left), -0.05, 1 / 60) < 0.0) == touches


def test_a_foot_high_above_everything_is_not_lowered():
    assert lift(a_foot(PLANTED), HELD, -2.0, 1 / 60) == 0.0
