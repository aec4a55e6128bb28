"""Looking at a point: forward goes there, and of all rolls the most upright one is taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems

precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

IDENTITY = [0.0, 0.0, 0.0, 1.0]


def by_columns(direction, forward=(0.0, 0.0, 1.0), up=(0.0, 1.0, 0.0)):
    """The matrix that takes forward to a direction and keeps up upright: right, up and ahead, before and after."""

    def frame(ahead):
        right = naive.unit(np.cross(up, ahead))
        return np.stack([right, np.cross(ahead, right), ahead], axis=-1)

    return frame(naive.unit(direction)) @ frame(naive.unit(forward)).T


def test_forward_maps_to_the_direction_and_up_stays_upright():
    rng = problems.generator(71)
    position, target = rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) * 3
    q = km.look_at(position, target)
    assert q.shape == (300, 4)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-12)
    for one, way in zip(q, target - position, strict=True):
        np.testing.assert_allclose(naive.quat_to_matrix(one), by_columns(way), atol=1e-9)


def test_custom_forward_and_up():
    rng = problems.generator(72)
    for _ in range(100):
        forward, up, way = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        rotated = naive.quat_to_matrix(km.look_at((1, 2, 3), way + (1, 2, 3), forward=forward, up=up))
        # Of up it is the part across forward that is kept upright.
        upright = naive.unit(up - naive.unit(forward) * (naive.unit(forward) @ up))
        np.testing.assert_allclose(rotated, by_columns(way, forward, upright), atol=1e-9)


def test_no_other_roll_is_more_upright():
    rng = problems.generator(73)
    angles = np.linspace(-np.pi, np.pi, 721)
    for way in rng.normal(size=(40, 3)):
        q = km.look_at((0, 0, 0), way)
        np.testing.assert_allclose(naive.quat_rotate(q, (0, 0, 1)), naive.unit(way), atol=1e-12)
        up = naive.quat_rotate(q, (0, 1, 0))
        rolled = np.array(naive.rotated_about(up, way, angles))
        assert rolled[:, 1].max() <= up[1] + 1e-12


def test_a_target_exactly_behind_rotates_by_pi_about_up():
    np.testing.assert_array_equal(np.abs(km.look_at((0, 0, 0), (0, 0, -5))), [0, 1, 0, 0])
    q = km.look_at((1, 1, 1), (1, 1, -2), up=(0.3, 2, 9))  # The part of it across forward is what counts.
    np.testing.assert_allclose(np.abs(q), [*np.abs(naive.unit((0.3, 2, 0))), 0], atol=1e-12)
    rng = problems.generator(74)
    for _ in range(50):
        forward, up = rng.normal(size=3), rng.normal(size=3)
        q = km.look_at((0, 0, 0), -forward, forward=forward, up=up)
        across = naive.unit(up - naive.unit(forward) * (naive.unit(forward) @ up))
        assert naive.angle_between_rotations(q, [*across, 0.0]) < 1e-7


@precisions
def test_close_to_behind_is_as_good(dtype):
    """Where the usual shortcut for nearly opposite directions is up to a degree off."""
    for angle in (1e-2, 1e-3, 1e-4, 1e-5):
        for way in ((np.sin(angle), 0, -np.cos(angle)), (0, np.sin(angle), -np.cos(angle)), (angle, -angle, -1)):
            q = km.look_at(np.zeros(3, dtype), np.array(way, dtype)).astype(np.float64)
            expected = by_columns(np.array(way, dtype).astype(np.float64))
            np.testing.assert_allclose(naive.quat_to_matrix(q), expected, atol=1e-9 if dtype is np.float64 else 1e-5)


def test_straight_up_and_down_are_the_smallest_rotation():
    quarter = np.sqrt(0.5)
    np.testing.assert_allclose(km.look_at((0, 0, 0), (0, 3, 0)), [-quarter, 0, 0, quarter], atol=1e-12)
    np.testing.assert_allclose(km.look_at((5, 5, 5), (5, -3, 5)), [quarter, 0, 0, quarter], atol=1e-12)
    ahead_is_up = km.look_at((0, 0, 0), (0, 0, -2), forward=(1, 0, 0), up=(0, 0, 1))
    np.testing.assert_allclose(naive.quat_rotate(ahead_is_up, (1, 0, 0)), [0, 0, -1], atol=1e-12)


def test_targets_straight_ahead_and_at_the_eye_give_the_identity():
    np.testing.assert_array_equal(km.look_at((0, 0, 0), (0, 0, 7)), IDENTITY)
    np.testing.assert_array_equal(km.look_at((3, 2, 1), (3, 2, 1)), IDENTITY)
    np.testing.assert_array_equal(km.look_at((3, 2, 1), (3, 2, 1), forward=(1, 1, 0), up=(0, 0, 1)), IDENTITY)


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 0, -3), (0, 1e-12, 1), (0, 0, 1e-12)])
def test_up_along_forward_still_looks_there(up):
    rng = problems.generator(75)
    for way in [*rng.normal(size=(20, 3)), (0, 0, -1), (0, 1, 0)]:
        q = km.look_at((0, 0, 0), way, up=up)
        np.testing.assert_allclose(naive.quat_rotate(q, (0, 0, 1)), naive.unit(way), atol=1e-9)
        np.testing.assert_array_equal(q, km.look_at((0, 0, 0), way, up=up))


@precisions
@pytest.mark.parametrize("distance", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_any_distance(dtype, distance):
    rng = problems.generator(76)
    way = (problems.units(rng, 50) * distance).astype(dtype)
    q = km.look_at(np.zeros(3, dtype), way)
    assert q.dtype == dtype
    for one, to in zip(q.astype(np.float64), way.astype(np.float64), strict=True):
        np.testing.assert_allclose(
            naive.quat_to_matrix(one), by_columns(to), atol=1e-9 if dtype is np.float64 else 1e-4
        )


@given(problems.vectors(), problems.vectors(), problems.vectors(), problems.vectors(), st.booleans())
def test_finite_in_finite_out_and_forward_is_there(position, target, forward, up, single):
    dtype = np.float32 if single else np.float64
    position, target = position.astype(dtype), target.astype(dtype)
    forward, up = (v if v.any() else np.array([0.0, 0.0, 1.0]) for v in (forward, up))
    q = km.look_at(position, target, forward=forward, up=up)
    assert np.isfinite(q).all()
    assert q.dtype == dtype
    limit = 1e-5 if single else 1e-9
    assert abs(np.linalg.norm(q.astype(np.float64)) - 1.0) < limit
    gap = (target - position).astype(np.float64)
    if gap.any():
        assert naive.angle_between(naive.quat_rotate(q, naive.unit(forward)), gap) < 10 * limit
    else:
        np.testing.assert_array_equal(q, IDENTITY)


def test_small_steps_give_small_rotations_except_over_the_pole():
    """Round the horizon and up to the zenith: no jump on the way there; and below it all the way round behind."""
    rotation = np.linspace(-np.pi, np.pi, 2001)
    for height in (0.0, 0.5, -2.0):
        q = km.look_at((0, 0, 0), np.stack([np.sin(rotation), np.full_like(rotation, height), np.cos(rotation)], -1))
        assert naive.angle_between_rotations(q[:-1], q[1:]).max() < 1.5 * (rotation[1] - rotation[0])
    rise = np.linspace(-np.pi / 2, np.pi / 2, 1001)
    q = km.look_at((0, 0, 0), np.stack([np.zeros_like(rise), np.sin(rise), np.cos(rise)], -1))
    assert naive.angle_between_rotations(q[:-1], q[1:]).max() < 1.5 * (rise[1] - rise[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"position": (0, 0)}, r"position must have shape \(..., 3\), got \(2,\)"),
        ({"position": (0, np.nan, 0)}, r"position\[1\] is nan"),
        ({"target": [[0, 0, 1], [0, 0, np.inf]]}, r"target\[1, 2\] is inf"),
        ({"target": "there"}, "target must be an array of numbers"),
        ({"forward": (0, 0, 0)}, "forward is the zero vector; it must have a direction"),
        ({"forward": np.ones((2, 3))}, r"forward must be one vector of shape \(3,\), got \(2, 3\)"),
        ({"up": (0, 0, 0)}, "up is the zero vector"),
        ({"up": (0, np.nan, 0)}, r"up\[1\] is nan"),
        ({"position": np.zeros((2, 3)), "target": np.ones((3, 3))}, "batch shapes do not match"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        km.look_at(**{"position": (0, 0, 0), "target": (0, 0, 1)} | arguments)
