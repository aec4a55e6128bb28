"""A rope in the plane: links keep their length, ends stay where they are held, swings die away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.errors import InputError
from kinema.physics import Rope2D


def link_lengths(rope):
    return np.linalg.norm(np.diff(rope.joints, axis=0), axis=1)


def settled(rope, seconds=12.0):
    for _ in range(round(60 * seconds)):
        rope.step(1 / 60)
    return rope


points = st.tuples(st.floats(-3, 3), st.floats(-3, 3))


@given(points, st.one_of(st.none(), points), st.integers(1, 30), st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_links_keep_their_length_and_the_start_stays(start, end, links, steps):
    rope = Rope2D(start, end, links=links, length=2.0)
    for dt in steps:
        rope.step(dt)
        assert np.isfinite(rope.joints).all()
        np.testing.assert_allclose(link_lengths(rope), 2.0 / links, rtol=1e-9)
        np.testing.assert_allclose(rope.joints[0], start, atol=1e-12)


def test_the_end_is_held_where_the_rope_is_long_enough():
    assert settled(Rope2D((0, 0), (0.8, 0.1), length=1.5), 1.0).error < 1e-3
    assert settled(Rope2D((0, 0), (4.0, 0.0), length=1.5), 1.0).error == pytest.approx(2.5)


def test_a_rope_held_at_both_ends_hangs_in_a_symmetric_arc_below_them():
    rope = settled(Rope2D((0, 0), (1, 0), links=20, length=1.6))
    x, y = rope.joints.T
    assert y.min() < -0.4
    np.testing.assert_allclose(y, y[::-1], atol=0.02)
    np.testing.assert_allclose(x, 1 - x[::-1], atol=0.02)
    assert np.abs(rope.velocities).max() < 0.02


def test_a_free_rope_hangs_straight_down():
    rope = Rope2D((0, 0), (1, 0), links=12, length=1.0)
    settled(rope, 1.0)
    rope.end = None
    settled(rope, 20.0)
    np.testing.assert_allclose(rope.joints[-1], (0.0, -1.0), atol=0.02)


def test_gravity_may_point_anywhere():
    rope = settled(Rope2D((5, 5), links=6, length=2.0, gravity=(0, 1400)), 4.0)
    np.testing.assert_allclose(rope.joints[-1], (5, 7), atol=1e-3)
    assert Rope2D((0, 0), links=2, gravity=(0, 0)).step(1.0).shape == (3, 2)


def test_no_time_changes_nothing():
    rope = Rope2D((0, 0), (1, 0), length=1.5)
    before = rope.joints.copy()
    np.testing.assert_array_equal(rope.step(0.0), before)


def test_points_that_are_given_are_not_changed_later():
    start = np.array((0.0, 0.0))
    rope = Rope2D(start, length=1.0)
    start[:] = 9.0
    np.testing.assert_array_equal(rope.start, (0, 0))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"start": (0, 0, 0)}, "start"),
        ({"start": (0, np.nan)}, "start"),
        ({"end": ((0, 0), (1, 1))}, "end"),
        ({"links": 0}, "links"),
        ({"links": 10_000}, "links"),
        ({"length": 0}, "length"),
        ({"drag": -1}, "drag"),
        ({"gravity": 9.81}, "gravity"),
    ],
)
def test_wrong_values_are_named(values, says):
    with pytest.raises(InputError, match=says):
        Rope2D(**{"start": (0, 0), **values})


def test_a_negative_step_is_refused():
    with pytest.raises(InputError, match="dt"):
        Rope2D((0, 0)).step(-0.1)


def test_it_is_public():
    assert km.Rope2D is Rope2D
