"""The one rule of contacts: a point touches while it is low and slow, and noise is no contact."""

import numpy as np
import pytest

from kinema.motion import contacts
from kinema.motion.runs import runs, without_ends, without_noise
from kinema.motion.soles import BALL, HEEL, SoleMotion

DT = 1 / 60


def soles(heights, speeds, legs=(1.0,)):
    """Soles whose points have these heights and speeds, (F, 3), on one leg."""
    heights, speeds = (np.asarray(each, float)[:, np.newaxis] for each in (heights, speeds))
    velocity = speeds[..., np.newaxis] * np.array((0.0, 0.0, 1.0)) * np.array(legs)[:, np.newaxis, np.newaxis]
    return SoleMotion(np.zeros((*heights.shape, 3)), velocity, heights, np.array(legs), np.array((0.0, 1.0, 0.0)))


def steady(height, speed, frames=30):
    return soles(np.full((frames, 3), height), np.full((frames, 3), speed))


@pytest.mark.parametrize("rule", [contacts.MEASURED, contacts.PLANTED])
def test_a_point_touches_up_to_the_height_and_speed_of_its_rule(rule):
    for height, speed, expected in ((0.99, 0.99, True), (1.01, 0.99, False), (0.99, 1.01, False)):
        found = contacts.touching(rule, steady(height * rule.height, speed * rule.speed))
        assert (found == expected).all()


@pytest.mark.parametrize(("rule", "share"), [(contacts.PLANTED, 0.25), (contacts.SKATING, 0.5)])
def test_a_rule_may_go_by_the_speed_of_the_body(rule, share):
    for speed, expected in ((0.96 * share * 4.0, True), (1.04 * share * 4.0, False)):
        runs_fast = steady(0.0, speed)
        assert not contacts.planted_feet(runs_fast, DT, rule=rule).any()
        assert contacts.planted_feet(runs_fast, DT, 4.0, rule).all() == expected
        assert contacts.planted_feet(runs_fast, DT, np.full(30, 4.0), rule).all() == expected


def test_feet_of_fast_bodies_are_less_still():
    """Of a sprint at eight leg lengths a second a foot stands that moves at one, and it goes on at one and a half."""
    for speed, still, kept in ((0.9, True, True), (1.05, False, True), (1.5, False, True), (1.7, False, False)):
        soles_ = steady(0.02, speed)
        assert contacts.still_points(soles_, 8.0).all() == still
        at_first = np.zeros((30, 1), bool)
        at_first[:5] = True
        held = contacts.held_feet(soles_, np.zeros((30, 1, 3)), DT, at_first, body_speed=8.0)
        assert held.all() == kept
    assert not contacts.still_points(steady(0.02, 0.9), 1.0).any()


@pytest.mark.parametrize(("frames", "found"), [(3, True), (4, False)])
def test_a_contact_goes_on_over_a_twentieth_of_a_second(frames, found):
    speeds = np.zeros((30, 3))
    speeds[10 : 10 + frames] = 3.0
    assert contacts.planted_feet(soles(np.zeros((30, 3)), speeds), DT).all() == found


@pytest.mark.parametrize(("frames", "found"), [(2, False), (3, True)])
def test_the_steps_of_a_sprint_are_contacts(frames, found):
    """A foot that is slow for a twentieth of a second stands; for a thirtieth it is on its way."""
    speeds = np.full((30, 3), 3.0)
    speeds[10 : 10 + frames] = 0.2
    assert contacts.planted_feet(soles(np.zeros((30, 3)), speeds), DT).any() == found


def test_speeds_are_measured_in_leg_lengths():
    short, long = (soles(np.zeros((9, 3)), np.full((9, 3), 0.3), legs=(size,)) for size in (0.5, 2.0))
    np.testing.assert_allclose(short.speeds, 0.3)
    np.testing.assert_allclose(long.speeds, 0.3)


def test_heights_above_the_lowest_count_from_where_each_point_stands():
    """A heel that stands 4% of a leg above the floor touches there, one that is always 9% above it does not."""
    heights = np.zeros((100, 3))
    heights[:, HEEL], heights[:, BALL] = 0.045, 0.09
    found = contacts.still_points(soles(heights, np.zeros((100, 3))))[:, 0]
    assert found[:, HEEL].all()
    assert not found[:, BALL].any()


def test_what_counts_as_lowest_is_no_single_frame():
    """One frame in a hundred that is 3% deeper does not lift the others out of contact."""
    heights = np.full((200, 3), 0.045)
    heights[100] = 0.0
    assert contacts.still_points(soles(heights, np.zeros((200, 3)))).mean() > 0.99


@pytest.mark.parametrize("legs", [1, 4])
def test_short_gaps_close_before_short_contacts_go(legs):
    mask = np.zeros((40, legs), bool)
    mask[5:10], mask[12:17], mask[25:27] = True, True, True
    found = without_noise(mask, 3, 4)
    assert [(a, b) for _, a, b in zip(*runs(found.T[:1]), strict=True)] == [(5, 17)]


def test_a_contact_goes_on_where_it_is_a_little_faster_than_it_must_be():
    """Noise of half the speed limit of a contact neither ends it nor makes one."""
    speeds = np.full((60, 3), 0.1)
    speeds[20:30] = 0.45
    moving = soles(np.full((60, 3), 0.03), speeds)
    still = np.zeros((60, 1, 3))
    assert contacts.held_feet(moving, still, DT, np.zeros((60, 1), bool)).all()
    fast = soles(np.full((60, 3), 0.03), np.full((60, 3), 0.45))
    assert not contacts.held_feet(fast, still, DT, np.zeros((60, 1), bool)).any()


def test_stretches_lose_their_ends_but_those_of_the_whole():
    mask = np.zeros((30, 2), bool)
    mask[:3, 0] = mask[6:12, 0] = mask[26:, 0] = mask[4:8, 1] = True
    kept = without_ends(mask, 2)
    assert np.flatnonzero(kept[:, 0]).tolist() == [0, 8, 9, 28, 29]
    assert not kept[:, 1].any()
    np.testing.assert_array_equal(without_ends(mask, 0), mask)


@pytest.mark.parametrize(("way", "held"), [(0.1, True), (0.2, False)])
def test_a_foot_that_slides_far_is_dragged(way, held):
    """It is held only where it is sure to stand."""
    speeds = np.full((60, 3), 0.4)
    speeds[:10] = 0.0
    slides = np.zeros((60, 1, 3))
    slides[:, 0, 2] = np.linspace(0.0, way, 60)
    found = contacts.held_feet(soles(np.full((60, 3), 0.03), speeds), slides, DT, np.zeros((60, 1), bool))
    assert found[:10].all()
    assert found[20:].all() == held


def test_a_foot_of_a_walk_in_place_may_skate():
    """It moves back under the body, but not as fast as the body goes; one that stays below the body does not stand."""
    body, still, none = np.zeros((60, 3)), np.zeros((60, 1, 3)), np.zeros((60, 1), bool)
    body[:, 2] = 2.0
    skates, stays = steady(0.03, 0.8, 60), steady(0.03, 1.6, 60)
    assert contacts.held_feet(skates, still, DT, none, body).all()
    assert not contacts.held_feet(skates, still, DT, none).any()
    assert not contacts.held_feet(stays, still, DT, none, body).any()


@pytest.mark.parametrize(("way", "held"), [(0.55, True), (0.65, False)])
def test_a_foot_of_a_walk_in_place_skates_six_tenths_of_a_leg_at_most(way, held):
    """It is a little fast for two frames: its contact goes on over them unless it was dragged."""
    body, slides, speeds = np.zeros((60, 3)), np.zeros((60, 1, 3)), np.full((60, 3), 0.4)
    body[:, 2], slides[:, 0, 2], speeds[30:32] = 2.0, np.linspace(0.0, way, 60), 1.9
    found = contacts.held_feet(soles(np.full((60, 3), 0.03), speeds), slides, DT, np.zeros((60, 1), bool), body)
    assert found[:30].all()
    assert found[30:32].all() == held


def test_a_foot_that_stands_does_so_until_it_is_clearly_higher_or_faster():
    low = np.array((0.0, 0.9, 1.1, 1.2, 1.3, 1.1, 0.9))[:, np.newaxis]
    found = contacts.stand_one_by_one(low, np.zeros_like(low), 1.0, 1.0)
    assert found[:, 0].tolist() == [True, True, True, True, False, False, True]
    assert contacts.stand_one_by_one(np.zeros_like(low), low, 1.0, 1.0)[:, 0].tolist() == found[:, 0].tolist()


def test_frame_by_frame_the_kernel_finds_the_same():
    class Settings:
        plant_height, plant_speed = 0.018, 0.5

    draw = np.random.default_rng(3)
    low, speed = draw.uniform(0.0, 0.03, 300), draw.uniform(0.0, 0.8, 300)
    stood, found = False, []
    step = contacts.stands_now if not hasattr(contacts.stands_now, "py_func") else contacts.stands_now.py_func
    for height, pace in zip(low, speed, strict=True):
        stood = step(Settings, 1.0, height, pace, stood)
        found.append(stood)
    expected = contacts.stand_one_by_one(low[:, np.newaxis], speed[:, np.newaxis], 0.018, 0.5)[:, 0]
    np.testing.assert_array_equal(found, expected)
