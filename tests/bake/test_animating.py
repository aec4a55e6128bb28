"""When and where feet land next, and what `Feet` makes of being told."""

from types import SimpleNamespace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake.animating import Landings
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.motion.soles import BALL

PLANTED = np.array([[1, 0], [0, 0], [0, 1], [1, 1], [1, 0], [0, 0]], bool)
PLACED = PLANTED & np.array([[1, 0], [0, 0], [0, 1], [0, 1], [0, 0], [0, 0]], bool)


@pytest.fixture
def clip_frames():
    person = humanoid()
    world = person.skeleton.world(person.clips["walk"].sample(np.arange(len(PLANTED)) / 6)).astype(float)
    up = np.array(person.rig.up)
    return SimpleNamespace(held=PLANTED, dt=0.5, rig=person.rig, up=up, world=world, lead=0, placed=PLACED)


@pytest.mark.parametrize(
    ("frame", "seconds", "swings"),
    [(0, (0.0, 1.0), (0.0, 1.0)), (1, (1.0, 0.5), (1.5, 1.0)), (4, (0.0, np.inf), None), (5, (np.inf, np.inf), None)],
)
def test_seconds_until_landing_and_duration_of_the_swing(clip_frames, frame, seconds, swings):
    landing = Landings(clip_frames).after(frame)
    np.testing.assert_array_equal(landing.seconds, seconds)
    if swings is not None:
        np.testing.assert_allclose(landing.swings, swings)


def test_the_position_is_the_median_of_the_ball_while_planted(clip_frames):
    balls = metrics.sole_points(clip_frames.rig, clip_frames.world)[:, :, BALL]
    points = Landings(clip_frames).after(1).points
    np.testing.assert_allclose(points[0], np.median(balls[3:5, 0], axis=0))
    np.testing.assert_allclose(points[1], np.median(balls[2:4, 1], axis=0))


def test_headings_are_those_of_the_planted_foot_across_up(clip_frames):
    soles = metrics.sole_points(clip_frames.rig, clip_frames.world)
    ahead = np.median((soles[:, :, 2] - soles[:, :, 0])[3:5, 0] * (1, 0, 1), axis=0)
    headings = Landings(clip_frames).after(1).headings
    np.testing.assert_allclose(headings[0], ahead / np.linalg.norm(ahead))


def test_feet_that_the_bake_has_put_somewhere_land_exactly_there(clip_frames):
    np.testing.assert_array_equal(Landings(clip_frames).after(1).fixed, (False, True))


@pytest.mark.parametrize(
    ("seconds", "points", "swings", "named"),
    [
        ((0.1, np.nan), np.zeros((2, 3)), (1, 1), "seconds"),
        ((0.1,), np.zeros((2, 3)), (1, 1), "seconds"),
        ((0.1, 0.1), np.zeros((3, 3)), (1, 1), "points"),
        ((0.1, 0.1), np.full((2, 3), np.inf), (1, 1), "points"),
        ((0.1, 0.1), np.zeros((2, 3)), (1, 1, 1), "swings"),
    ],
)
def test_feet_refuse_what_is_wrong_and_keep_what_they_knew(seconds, points, swings, named):
    feet = km.Animator(humanoid(), [km.Feet()], ground=km.Plane())["feet"]
    before = feet.feet.landing.point.copy(), feet.feet.swing.seconds.copy()
    with pytest.raises(InputError, match=named):
        feet.set_landings(seconds, points, swings)
    assert not feet.feet.landing.given.any()
    assert all(
        np.array_equal(a, b) for a, b in zip(before, (feet.feet.landing.point, feet.feet.swing.seconds), strict=True)
    )


def test_an_unknown_landing_is_predicted_by_the_feet():
    feet = km.Animator(humanoid(), [km.Feet()], ground=km.Plane())["feet"]
    feet.set_landings((0.2, np.inf), np.ones((2, 3)), (0.5, 0.5))
    assert feet.feet.landing.given.tolist() == [[True, False]]
    np.testing.assert_allclose(feet.feet.swing.seconds[0] - feet.feet.swing.since[0], (0.2, 0.0), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("headings", np.zeros((3, 3))),
        ("headings", np.full((2, 3), np.nan)),
        ("headings", 1.0),
        ("fixed", (True, False, True)),
        ("fixed", (1.0, 0.0)),
    ],
)
def test_headings_and_fixed_landings_are_checked(name, value):
    feet = km.Animator(humanoid(), [km.Feet()], ground=km.Plane())["feet"]
    with pytest.raises(InputError, match=name):
        feet.set_landings((0.2, 0.2), np.ones((2, 3)), (0.5, 0.5), **{name: value})
    assert not feet.feet.landing.given.any()
