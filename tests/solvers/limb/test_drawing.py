"""Limbs as sprites: each starts at its joint and points along its section, on a screen whose y points down."""

import math

import numpy as np
import pytest
from hypothesis import given

from kinema.errors import InputError
from kinema.solvers.limb.drawing import draw_limb
from tests import problems
from tests.compiled import both_precisions


def tip(place, angle, length):
    """Where a sprite ends that points to the right at 0 degrees and turns counter-clockwise as seen."""
    radians = np.radians(angle)
    return place + length * np.stack([np.cos(radians), -np.sin(radians)], axis=-1)


@both_precisions
def test_each_sprite_ends_where_the_next_one_begins(dtype):
    rng = problems.generator(401)
    origin, lengths = rng.uniform(-100, 100, (200, 2)).astype(dtype), rng.uniform(20, 90, (200, 2)).astype(dtype)
    target = (origin + rng.uniform(-120, 120, (200, 2))).astype(dtype)
    bend = rng.choice([-1, 1], 200)
    s = draw_limb(origin, target, lengths, bend)
    near = 1e-9 if dtype is np.float64 else 1e-3
    assert all(part.dtype == dtype for part in s)
    np.testing.assert_array_equal(s.first, origin)
    np.testing.assert_allclose(tip(s.first, s.first_angle, lengths[:, :1]), s.second, atol=near)
    np.testing.assert_allclose(tip(s.second, s.second_angle, lengths[:, 1:]), s.end, atol=near)
    distance = np.linalg.norm(target - origin, axis=-1)
    within = (distance < lengths.sum(-1) - 1) & (distance > np.abs(lengths[:, 0] - lengths[:, 1]) + 1)
    assert 50 < within.sum() < 200
    np.testing.assert_allclose(s.end[within], target[within], atol=near)


def test_flip_is_the_former_name_of_the_bend():
    for flip, bend in ((False, 1), (True, -1)):
        former, now = draw_limb((0, 0), (3, 1), (2, 2), flip=flip), draw_limb((0, 0), (3, 1), (2, 2), bend)
        np.testing.assert_array_equal(former.second, now.second)


def test_up_on_the_screen_is_ninety_degrees():
    s = draw_limb((10.0, 100.0), (10.0, 40.0), (30.0, 30.0))
    assert s.first_angle == pytest.approx(90)
    assert s.second_angle == pytest.approx(90)
    np.testing.assert_allclose(s.second, (10, 70))


def test_the_joint_is_on_the_left_of_the_way_and_on_the_right_with_the_other_bend():
    for bend, y in ((1, -30), (-1, 30)):  # To the right on the screen: its left is up, where y is less.
        s = draw_limb((0.0, 0.0), (80.0, 0.0), (50.0, 50.0), bend)
        np.testing.assert_allclose(s.second, (40, y), atol=1e-9)
        assert s.first_angle == pytest.approx(math.degrees(math.atan2(-y, 40)))


def test_one_limb_broadcasts_over_targets():
    targets = np.array([[30.0, 10.0], [0.0, -50.0], [500.0, 0.0]])
    s = draw_limb((0.0, 0.0), targets, (40.0, 30.0))
    assert s.first.shape == s.second.shape == (3, 2)
    assert s.first_angle.shape == (3,)
    for i, target in enumerate(targets):
        one = draw_limb(np.zeros(2), target, np.array([40.0, 30.0]))
        assert all(np.array_equal(a[i], b) for a, b in zip(s, one, strict=True))


@given(problems.vectors(2), problems.vectors(2), problems.lengths(), problems.lengths())
def test_finite_in_finite_out(origin, target, upper, lower):
    s = draw_limb(origin, target, (upper, lower), -1)
    assert all(np.isfinite(part).all() for part in s)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"origin": (0.0, math.nan)}, r"origin\[1\] is nan"),
        ({"target": (0.0, 0.0, 0.0)}, "target must have shape"),
        ({"lengths": (1.0, -1.0)}, r"lengths\[1\] is -1"),
        ({"bend": 0}, r"bend is 0.0; allowed are \+1 and -1"),
        ({"bend": True}, r"bend is True; allowed are \+1"),
    ],
)
def test_bad_input_is_refused_by_name(bad, message):
    with pytest.raises(InputError, match=message):
        draw_limb(**{"origin": (0.0, 0.0), "target": (1.0, 1.0), "lengths": (1.0, 1.0)} | bad)


def test_angles_are_between_minus_pi_and_pi():
    angle = np.linspace(-np.pi, np.pi, 97)
    targets = 3.0 * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    for bend in (1, -1):
        second = draw_limb((0, 0), targets, (2, 2), bend=bend).second_angle
        assert second.max() <= 180.0
        assert second.min() > -180.0
