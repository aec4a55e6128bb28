"""What steps of a walk ask about a walker: strain, reach, homes."""

import math

import numpy as np
import pytest

from kinema.stages.legs.ground_contact import SWINGING, new_rays
from kinema.stages.walk.walking import (
    aim_at_ground,
    ankle_of,
    home_of,
    landing_ankle,
    landing_share,
    lower,
    moved_transform,
    reach_for,
    rotation_of,
    strain,
)
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import FLOOR, HERE, UP, a_walker, settings, some_feet, some_legs

pytestmark = plain_python_only


def strained(behind, stride=0.35, **leg):
    legs = some_legs(1, **leg)
    foot = some_feet(legs)[0]
    foot.target.ball[2], foot.target.ankle[2] = -behind, -behind
    return strain(settings(stride=stride), legs[0], a_walker(), foot, HERE, UP, 0.0)


def test_a_leg_is_fully_strained_a_little_less_than_two_strides_from_home():
    assert 0.7 < strained(0.5) < 1.0
    assert strained(0.0) == 0.0


def test_a_leg_is_fully_strained_before_it_is_stretched():
    """A leg of 0.98 m below a hip that crouches to 0.64 m reaches 0.74 m far."""
    assert 0.6 < strained(0.5, stride=9.0) < 0.75
    assert strained(0.74, stride=9.0) > 1.0


def test_a_leg_that_stands_straight_still_has_some_room():
    assert 0.35 < strained(0.025, stride=9.0, crouch=0.0, reach=0.8) < 0.75


def test_positions_of_homes_and_ankles():
    legs = some_legs(1)
    foot = some_feet(legs)[0]
    np.testing.assert_allclose(home_of(legs[0], HERE), (0.1, 0.0, 0.0))
    np.testing.assert_allclose(ankle_of(legs[0], foot), (0.1, 0.1, 0.0))
    foot.foothold.ball[:], foot.foothold.rotation[:] = (0.0, 1.0, 0.0), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    np.testing.assert_allclose(landing_ankle(legs[0], foot), (0.0, 1.0, 0.1), atol=1e-12)
    assert reach_for(legs[0], 0.5) == pytest.approx(0.89)
    assert lower(legs[0]) == pytest.approx(0.08, abs=0.03)


def test_a_walker_moves_and_turns_in_its_own_space():
    m = moved_transform(HERE, (0.0, 0.0, 2.0), math.pi, UP, 0.5)
    np.testing.assert_allclose(m[3], (0.0, 0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(m[2], (1.0, 0.0, 0.0), atol=1e-12)  # It has turned to its left.
    np.testing.assert_allclose(rotation_of(m), (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)), atol=1e-12)


def test_rays_ahead_start_above_the_slope():
    rays, walker = new_rays(1, 2.0, np.float64), a_walker()
    walker.slope[2] = 0.5
    aim_at_ground(settings(), walker, rays, 0, (0.0, 0.0, 2.0), FLOOR)
    np.testing.assert_allclose(rays.origins[0], (0.0, 2.0, 2.0))
    np.testing.assert_allclose(rays.units[0], (0.0, -1.0, 0.0))


def test_a_body_slows_down_for_a_leg_that_would_not_reach_when_the_other_lands():
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    feet[0].target.contact, feet[0].swing.left = SWINGING, 0.5
    assert landing_share(settings(), legs, walker, feet, HERE, UP) == 1.0
    walker.velocity[2] = 2.0
    assert 0.3 < landing_share(settings(), legs, walker, feet, HERE, UP) < 0.8
    feet[0].target.contact = feet[1].target.contact
    assert landing_share(settings(), legs, walker, feet, HERE, UP) == 1.0
