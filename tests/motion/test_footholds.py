"""Where feet stand, and what the floor of a capture drifts."""

import numpy as np
import pytest

from kinema.motion.footholds import DRIFT_OVER, find_footholds, floor_drift
from kinema.motion.soles import SoleMotion

DT = 1 / 60
STEP = 30
"""Frames of a step of the walk below."""


def walk(levels, rise=0.0, swing=4.0, high=0.0):
    """Soles and hips of a body that takes steps of a half leg length onto these heights, (S,): one foot stands still
    while the other one swings. rise: of the hips above a leg length. high: of the swinging foot's lowest point.
    """
    count = STEP * len(levels)
    points, velocity = np.zeros((count, 2, 3, 3)), np.zeros((count, 2, 3, 3))
    hips = np.zeros((count, 3))
    hips[:, 2] = np.linspace(0.0, 0.5 * len(levels), count)
    hips[:, 1] = 1.0 + rise
    for n, level in enumerate(levels):
        part, foot = slice(n * STEP, (n + 1) * STEP), n % 2
        points[part, foot] = (0.0, level, 0.5 * n + 0.25)
        points[part, 1 - foot] = hips[part, np.newaxis] * (0.0, 0.0, 1.0) + (0.0, level + 0.1 + high, 0.0)
        velocity[part, 1 - foot] = (0.0, 0.0, swing)
    return SoleMotion(points, velocity, points[..., 1].copy(), np.ones(2), np.array((0.0, 1.0, 0.0))), hips


def test_a_floor_that_rises_is_followed():
    """In the middle of each step the drift is the height of the foot that stands."""
    levels = np.array((0.0, 0.01, 0.02, 0.03, 0.04, 0.05))
    drift = floor_drift(*walk(levels), DT)
    np.testing.assert_allclose(drift[STEP // 2 :: STEP], levels, atol=0.002)
    assert np.abs(np.diff(drift)).max() < 0.01 * DT / DRIFT_OVER


@pytest.mark.parametrize(("level", "drifts"), [(0.004, False), (0.012, True), (0.07, True), (0.09, False)])
def test_what_is_level_and_what_is_a_step_does_not_drift(level, drifts):
    """Some millimetres are noise, and from nine centimetres on it is a box."""
    assert floor_drift(*walk((0.0, 0.0, level, 0.0, 0.0)), DT).any() == drifts


@pytest.mark.parametrize(
    ("speed", "body", "stands"), [(0.2, 0.0, True), (0.3, 0.0, False), (0.9, 8.0, True), (1.1, 8.0, False)]
)
def test_a_foot_stands_still_for_the_body_that_passes_over_it(speed, body, stands):
    soles, hips = walk((0.0,) * 4)
    velocity = soles.velocity.copy()
    velocity[:STEP, 0] = (0.0, 0.0, speed)
    hips = np.outer(np.arange(len(hips)) * DT, (0.0, 0.0, body)) + (0.0, 1.0, 0.0)
    points = soles.points + hips[:, np.newaxis, np.newaxis] * (0.0, 0.0, 1.0) - soles.points * (0.0, 0.0, 1.0)
    found = find_footholds(soles._replace(points=points, velocity=velocity), hips, DT)
    assert found.stands[STEP // 2, 0] == stands


@pytest.mark.parametrize(("frames", "stands"), [(2, False), (3, True)])
def test_a_foothold_lasts_a_twentieth_of_a_second(frames, stands):
    soles, hips = walk((0.0,) * 4)
    velocity = soles.velocity.copy()
    velocity[:STEP, 0] = (0.0, 0.0, 2.0)
    velocity[10 : 10 + frames, 0] = 0.0
    assert find_footholds(soles._replace(velocity=velocity), hips, DT).stands[:STEP, 0].any() == stands


@pytest.mark.parametrize(("hips", "stands"), [(0.65, True), (0.55, False)])
def test_hips_are_above_the_foot_that_carries_them(hips, stands):
    found = find_footholds(*walk((0.0,) * 4, rise=hips - 1.0), DT)
    assert found.stands[:STEP, 0].any() == stands


@pytest.mark.parametrize(("aside", "stands"), [(0.55, True), (0.65, False)])
def test_hips_are_beside_no_foot_that_carries_them(aside, stands):
    soles, hips = walk((0.0,) * 4)
    assert find_footholds(soles, hips + (aside, 0.0, 0.0), DT).stands[STEP // 2, 0] == stands


@pytest.mark.parametrize(("higher", "stands"), [(0.09, True), (0.11, False)])
def test_the_lower_of_two_still_feet_carries_the_body(higher, stands):
    soles, hips = walk((0.0,) * 4)
    points, heights = soles.points.copy(), soles.heights.copy()
    points[:STEP, 0, :, 1], heights[:STEP, 0] = higher, higher
    points[:STEP, 1, :, 1], heights[:STEP, 1] = 0.0, 0.0
    velocity = soles.velocity.copy()
    velocity[:STEP] = 0.0
    soles = soles._replace(points=points, heights=heights, velocity=velocity)
    assert find_footholds(soles, hips, DT).stands[STEP // 2, 0] == stands


def test_bodies_on_more_legs_and_single_frames_have_none():
    soles, hips = walk((0.03,) * 4)
    four = SoleMotion(*(np.concatenate((each, each), axis=1) for each in soles[:3]), np.ones(4), soles.up)
    assert not floor_drift(four, hips, DT).any()
    one = SoleMotion(*(each[:1] for each in soles[:3]), soles.legs, soles.up)
    assert not floor_drift(one, hips[:1], DT).any()
