"""How a walker follows what it is asked, and what its legs allow."""

import math

import numpy as np
import pytest

from kinema.stages.legs.ground_contact import SWINGING
from kinema.stages.walk.travelling import (
    allowed_share,
    begin_frame,
    departs,
    ease_velocity,
    eased_progress,
    follow_level,
    is_asked_to_move,
    note_homes,
    pace_of,
    slowed_progress,
    step_transform,
    velocity_to_goal,
)
from kinema.stages.walk.walking_records import HANGING, TO_A_POINT
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import HERE, UP, a_walker, settings, some_feet, some_legs

pytestmark = plain_python_only


def to_goal(*goal, pace=1.0):
    walker = a_walker()
    walker.asked.goal[:], walker.asked.pace, walker.asked.mode = goal, pace, TO_A_POINT
    return velocity_to_goal(settings(turn_speed=1.0), 1.0, walker, HERE, UP)


@pytest.mark.parametrize(("distance", "goes"), [(0.014, False), (0.03, True)])
def test_a_walker_has_arrived_two_percent_of_a_leg_from_its_goal(distance, goes):
    velocity, _ = to_goal(0.0, 0.0, distance)
    assert (velocity[2] > 0.0) == goes


def test_a_walker_turns_less_where_its_goal_is_near():
    far, near = to_goal(5.0, 0.0, 0.0)[1], to_goal(0.35, 0.0, 0.0)[1]
    assert far == pytest.approx(1.0)
    assert 0.5 < near / far < 0.85


def test_a_walker_faces_its_goal_before_it_goes_there_and_slows_down_in_time():
    assert to_goal(0.0, 0.0, -5.0)[0] == (0.0, 0.0, 0.0)
    assert to_goal(0.0, 0.0, 5.0)[0][2] == pytest.approx(1.0)
    assert to_goal(0.0, 0.0, 0.3)[0][2] < 0.6


def rotated(degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return ((c, 0.0, -s), UP, (s, 0.0, c), (0.0, 0.0, 0.0))


@pytest.mark.parametrize(("degrees", "fresh"), [(50.0, False), (70.0, True)])
def test_a_caller_who_rotates_a_walker_by_more_than_sixty_degrees_sets_it_anew(degrees, fresh):
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    begin_frame(settings(), legs, walker, feet, rotated(degrees), UP, 1 / 60)
    assert walker.pelvis.fresh == fresh
    assert (feet[0].target.contact == HANGING) == fresh


def test_feet_follow_a_small_move_of_the_caller():
    legs, walker = some_legs(), a_walker()
    feet = some_feet(legs)
    moved = (*HERE[:3], (0.0, 0.0, 0.1))
    begin_frame(settings(), legs, walker, feet, moved, UP, 0.1)
    np.testing.assert_allclose(feet[0].home.carried, (0.0, 0.0, 1.0), atol=1e-12)


def allowed(now, then):
    """Shares of a motion in 0.1 s by which a leg's strain goes from one to another."""
    legs, walker = some_legs(1), a_walker()
    walker.velocity[2] = 1.0
    feet = some_feet(legs)
    full = 1.7 * 0.35
    feet[0].target.ball[2] = feet[0].target.ankle[2] = -now * full
    after = (*HERE[:3], (0.0, 0.0, (then - now) * full))
    return allowed_share(settings(), legs, walker, feet, HERE, after, UP, 0.1)


def test_a_body_is_stopped_a_little_beyond_the_limit_of_its_legs():
    assert allowed(0.3, 0.5).possible == 1.0
    assert 0.2 < allowed(0.9, 1.5).possible < 0.5


def test_a_body_brakes_in_time():
    assert allowed(0.1, 0.11).braking == 1.0
    assert allowed(0.99, 1.2).braking < allowed(0.9, 1.2).braking < 1.0
    assert allowed(1.0, 1.2).braking == 0.0


def test_a_foot_that_only_rises_still_holds_its_body():
    foot = some_feet(some_legs(1), SWINGING)[0]
    foot.swing.duration, foot.swing.left, foot.swing.depart = 1.0, 0.9, 0.2
    assert departs(foot)
    foot.swing.left = 0.7
    assert not departs(foot)


def test_a_walker_that_was_held_back_is_let_go_within_half_of_its_half_life():
    legs, walker = some_legs(), a_walker(progress=0.0)
    assert eased_progress(settings(half_life=0.2), legs, walker, 1.0, 0.1) == pytest.approx(0.5, abs=0.12)


def test_a_walker_slows_down_as_hard_as_it_may_and_no_harder():
    legs, walker = some_legs(), a_walker()
    walker.velocity[2] = 2.0
    assert slowed_progress(legs, walker, 10.0, 0.1) == pytest.approx(0.5)
    walker.turn = 2.0
    assert pace_of(legs, walker) == pytest.approx(4.0)


def test_a_walker_whose_legs_still_reach_brakes_by_eleven_leg_lengths_a_second_squared():
    legs, walker = some_legs(), a_walker()
    walker.velocity[2] = 2.0
    assert eased_progress(settings(), legs, walker, 0.0, 0.1) == pytest.approx(1.0 - 1.1 / 2.0, abs=0.05)


def test_a_walker_whose_legs_do_not_reach_stops_by_forty_leg_lengths_a_second_squared():
    legs, walker = some_legs(), a_walker()
    walker.velocity[2] = 2.0
    feet = some_feet(legs)
    feet.target.ball[:, 2] = feet.target.ankle[:, 2] = -1.0
    step_transform(settings(), legs, walker, feet, np.eye(4)[:3].reshape(12), UP, 0.01)
    assert walker.progress == pytest.approx(1.0 - 0.4 / 2.0, abs=0.03)


def test_velocity_is_half_way_after_the_half_life():
    legs, walker = some_legs(), a_walker()
    walker.asked.velocity[2] = 0.4
    ease_velocity(settings(half_life=0.1), legs, walker, HERE, UP, 0.1)
    assert walker.velocity[2] == pytest.approx(0.2)
    assert is_asked_to_move(walker)


def test_more_than_the_feet_can_follow_is_slowed_down():
    legs, walker = some_legs(), a_walker()
    walker.asked.velocity[2] = 100.0
    ease_velocity(settings(half_life=0.0), legs, walker, HERE, UP, 0.1)
    assert 1.0 < walker.velocity[2] < 4.0
    assert walker.allowed == pytest.approx(walker.velocity[2] / 100.0)


def test_a_transform_follows_its_velocity():
    legs, walker = some_legs(), a_walker()
    walker.velocity[2] = 0.5
    transform = np.eye(4)[:3].reshape(12)
    assert step_transform(settings(), legs, walker, some_feet(legs), transform, UP, 0.1)
    assert transform[11] == pytest.approx(0.05)
    assert walker.learnt.moved == pytest.approx(1.1)


def test_a_transform_follows_the_level_of_the_feet_and_the_body_stays():
    legs, walker = some_legs(), a_walker()
    walker.level.height, transform = 0.2, np.eye(4)[:3].reshape(12)
    feet = some_feet(legs)
    follow_level(settings(), legs, walker, feet, transform, UP, 0.1)
    assert transform[7] == pytest.approx(0.1)  # Half way after the half-life of the pelvis.
    assert walker.pelvis.height == pytest.approx(-0.1)
    assert feet[0].hip.point[1] == pytest.approx(0.8)


def test_homes_drift_with_the_velocity_and_the_turn_of_the_body():
    legs, walker = some_legs(), a_walker(turn=1.0)
    walker.velocity[2] = 1.0
    feet = some_feet(legs)
    note_homes(legs, walker, feet, HERE, UP)
    np.testing.assert_allclose(feet[0].home.drift, (0.0, 0.0, 0.9))
    np.testing.assert_allclose(feet[1].home.drift, (0.0, 0.0, 1.1))
