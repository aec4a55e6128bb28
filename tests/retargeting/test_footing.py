"""Feet that stand: what stands of the source's sole stands on the target, whatever the shape of its foot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.motion.soles import SoleMotion
from kinema.retargeting.footing import Soles, carrying, clear_floor, sole_heights, stand_feet, standing_slides

FRAMES, DT = 60, 1 / 60
HEEL, BALL, TIP = (0.0, 0.0, -0.1), (0.0, 0.0, 0.3), (0.0, 0.0, 0.45)


def soles(yaw=0.0, pitch=0.0, toe=0.0):
    """One foot over all frames that is rotated about its heel: radians, one each or by frame."""
    yaw, pitch, toe = (np.broadcast_to(each, FRAMES) for each in (yaw, pitch, toe))
    points = np.zeros((FRAMES, 1, 3, 3))
    for f in range(FRAMES):
        cy, sy, cp, sp = np.cos(yaw[f]), np.sin(yaw[f]), np.cos(pitch[f]), np.sin(pitch[f])
        turn = np.array(((cy, 0, sy), (0, 1, 0), (-sy, 0, cy))) @ np.array(((1, 0, 0), (0, cp, sp), (0, -sp, cp)))
        points[f, 0, :2] = (np.array((HEEL, BALL)) - HEEL) @ turn.T
        way = np.array((0, np.sin(pitch[f] + toe[f]), np.cos(pitch[f] + toe[f]))) * 0.15
        points[f, 0, 2] = points[f, 0, 1] + np.array(((cy, 0, sy), (0, 1, 0), (-sy, 0, cy))) @ way
    return points


def seen(points):
    """The ankle is above the heel, at right angles to the sole; the toe joint is at the ball."""
    foot = points[:, :, 1] - points[:, :, 0]
    heading = np.unwrap(np.arctan2(foot[:, 0, 0], foot[:, 0, 2]), period=np.pi)  # A foot that hangs down keeps it.
    side = np.stack((np.cos(heading), np.zeros(FRAMES), -np.sin(heading)), -1)[:, np.newaxis]
    above = np.cross(foot, side) / np.linalg.norm(foot, axis=-1, keepdims=True)
    return Soles(points, points[:, :, 0] + 0.1 * above, points[:, :, 1])


def stand(points, source=None, weights=None, lock=True):
    contacts = np.ones((FRAMES, 1), bool)
    weights = np.ones((FRAMES, 1, 3)) if weights is None else weights
    return stand_feet(seen(points), points if source is None else source, weights, contacts, DT, lock)


def headings(points):
    foot = points[:, 0, 1] - points[:, 0, 0]
    return np.arctan2(foot[:, 0], foot[:, 2])


@given(st.floats(-0.2, 0.2))
def test_a_foot_that_is_flat_keeps_its_heading(angle):
    turned = soles(yaw=np.linspace(0, angle, FRAMES))
    assert np.ptp(headings(stand(turned).points)) < 1e-9


def test_a_heel_that_begins_to_rise_does_not_swing():
    turned = soles(yaw=np.linspace(0, 0.2, FRAMES))
    weights = np.ones((FRAMES, 1, 3))
    weights[:, :, 0] = 0.1
    assert np.ptp(headings(stand(turned, weights=weights).points)) < 1e-9


def test_without_lock_it_twists_as_it_does():
    turned = soles(yaw=np.linspace(0, 0.2, FRAMES))
    assert np.ptp(headings(stand(turned, lock=False).points)) == pytest.approx(0.2)


def test_a_dancer_who_twists_on_a_foot_means_it():
    turned = soles(yaw=np.linspace(0, 3.0, FRAMES))
    assert np.ptp(headings(stand(turned).points)) == pytest.approx(3.0)


@given(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2))
def test_a_sole_lies_as_that_of_the_source(own, other):
    points, source = stand(soles(pitch=own), soles(pitch=other)).points, soles(pitch=other)
    foot, wanted = (each[:, 0, 1] - each[:, 0, 0] for each in (points, source))
    assert foot[:, 1] == pytest.approx(wanted[:, 1], abs=1e-6)


def test_toes_are_not_in_the_floor():
    points = stand(soles(toe=-0.2)).points
    assert points[..., 1].min() > -1e-9


def test_long_toes_bend_instead_of_lifting_their_leg():
    points = soles(pitch=-0.2)
    swinging = stand(points, weights=np.zeros((FRAMES, 1, 3)))
    height = -float(points[0, 0, 1, 1])  # The ball is on the floor, the tip would be below.
    cleared = clear_floor(swinging, np.full((FRAMES, 1), height), DT)
    assert (swinging.points[..., 2, 1] + height).min() < -0.02
    assert (cleared.points[..., 2, 1] + height).min() > -2e-3
    assert cleared.feet == pytest.approx(swinging.feet)


def test_toes_that_point_into_the_floor_bend_up_as_far_as_toes_do():
    """Captured toes hang down from flat feet; a foot on its toes keeps them at most 70 degrees from its sole."""
    flat = stand(soles(toe=-1.0), weights=np.zeros((FRAMES, 1, 3)))
    assert clear_floor(flat, np.zeros((FRAMES, 1)), DT).points[..., 1].min() > -1e-3
    steep = stand(soles(pitch=-1.5), weights=np.zeros((FRAMES, 1, 3)))
    height = np.full((FRAMES, 1), -float(steep.points[0, 0, 1, 1]))
    foot, toes = np.moveaxis(np.diff(clear_floor(steep, height, DT).points, axis=-2), -2, 0)
    bend = np.arccos((foot * toes).sum(-1) / np.linalg.norm(foot, axis=-1) / np.linalg.norm(toes, axis=-1))
    assert np.degrees(bend) == pytest.approx(69, abs=1)


def test_the_toes_of_a_foot_that_hangs_down_do_not_swing_round():
    """On a knee, a foot passes the upright: where its heel is ahead of its ball it has no heading."""
    passing = stand(soles(pitch=np.linspace(-1.2, -1.9, FRAMES)), weights=np.zeros((FRAMES, 1, 3)))
    cleared = clear_floor(passing, -passing.points[..., 1, 1], DT).points[:, 0]
    steps = np.linalg.norm(np.diff(cleared[:, 2] - cleared[:, 1], axis=0), axis=-1)
    assert steps.max() < 0.02


def test_a_foot_that_lies_on_its_back_curls_its_toes():
    """A kneeling body has such feet."""
    lying = stand(soles(pitch=-np.pi + 0.1, toe=0.3), weights=np.zeros((FRAMES, 1, 3)))
    height = -lying.points[..., 1, 1]
    cleared = clear_floor(lying, height, DT)
    assert (lying.points[..., 2, 1] + height).max() < -0.05
    assert (cleared.points[..., 2, 1] + height).min() > -1e-3


def test_what_stands_of_the_source_does_not_slide():
    """The foot pivots on its ball: the heel moves, the ball stands."""
    points = soles(yaw=np.linspace(0, 1.0, FRAMES))
    points = points - points[:, :, 1:2]
    weights = np.zeros((FRAMES, 1, 3))
    weights[..., 1] = 1.0
    assert np.abs(standing_slides(points, weights, 1.0)).max() < 1e-9
    weights[...] = (1.0, 0.0, 0.0)
    assert np.linalg.norm(standing_slides(points, weights, 1.0)[-1]) > 0.3


def test_a_ball_that_is_still_in_the_air_does_not_carry():
    """The source puts its ball down; that of the longer foot is higher, and swings about the heel that stands."""
    points = soles(pitch=np.linspace(0.5, 0.2, FRAMES))
    weights = np.ones((FRAMES, 1, 3)) * (1.0, 0.8, 0.0)
    assert np.abs(standing_slides(points, weights, 1.0)).max() < 1e-4
    assert np.linalg.norm(standing_slides(points, weights, 100.0)[-1]) > 0.01  # On a foot as flat as that both count.


def test_points_that_are_low_and_slow_carry():
    points = np.zeros((FRAMES, 1, 3, 3))
    points[30:, 0, 0, 1] = 0.2  # The heel is lifted, ball and tip stand.
    heights, velocity = points[..., 1], np.gradient(points, DT, axis=0)
    motion = SoleMotion(points, velocity, heights, np.ones(1), np.array((0.0, 1.0, 0.0)))
    found = carrying(motion, np.ones((FRAMES, 1), bool), DT)
    assert found[:20].min() > 0.99
    assert found[45:, 0, 0].max() < 0.01
    assert found[45:, 0, 1].min() > 0.99
    assert not carrying(motion, np.zeros((FRAMES, 1), bool), DT).any()


def test_toes_do_not_count_for_the_height_of_a_sole():
    points = np.array([[[(0, 0.2, 0), (0, 0.1, 0.3), (0, -0.3, 0.4)]]])
    assert sole_heights(points) == pytest.approx(np.array([[0.1]]))
