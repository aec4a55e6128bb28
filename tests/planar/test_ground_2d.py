"""Ground in the plane, against the simplest ways to find it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import kinema as km
from kinema.planar.ground_2d import heights_of

SIZE = 8.0


def first_below(solid, x, y):
    """The top of the first solid tile met on the way down from a point: a walk from tile to tile."""
    rows, columns = solid.shape
    column, row = int(x // SIZE), int(y // SIZE)
    if not (0 <= column < columns and row < rows):
        return np.nan
    row = max(row, 0)
    if solid[row, column]:
        while row > 0 and solid[row - 1, column]:
            row -= 1
        return row * SIZE
    while row < rows and not solid[row, column]:
        row += 1
    return row * SIZE if row < rows else np.nan


@given(
    hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 6))),
    st.floats(-20.0, 70.0),
    st.floats(-70.0, 70.0),
)
def test_tiles_are_met_where_a_walk_down_meets_them(solid, x, y):
    found = heights_of(km.Tiles2D(solid, SIZE), y_down=True)(np.array([x]), np.array([-y]))
    np.testing.assert_array_equal(-found[0], first_below(solid, x, y))


def test_tiles_begin_at_their_origin():
    ground = heights_of(km.Tiles2D([[0], [1]], 10.0, origin=(100.0, 50.0)), y_down=True)
    np.testing.assert_array_equal(ground(np.array([99.0, 105.0]), np.array([-40.0, -40.0])), [np.nan, -60.0])


def test_a_line_of_points_is_joined_by_straight_lines_and_ends():
    ground = heights_of([(0.0, 1.0), (2.0, 3.0)], y_down=False)
    np.testing.assert_array_equal(ground(np.array([-0.1, 0.5, 2.1]), np.inf), [np.nan, 1.5, np.nan])


def test_a_y_axis_that_points_down_is_turned_over():
    for ground in (5.0, lambda x: 5.0 + 0.0 * x, [(0.0, 5.0), (9.0, 5.0)]):
        assert heights_of(ground, y_down=True)(np.array([1.0]), np.inf)[0] == -5.0


def test_infinite_heights_of_a_function_are_gaps():
    ground = heights_of(lambda x: np.where(x > 0, -np.inf, 1.0), y_down=False)
    np.testing.assert_array_equal(ground(np.array([-1.0, 1.0]), np.inf), [1.0, np.nan])


@pytest.mark.parametrize(
    ("ground", "said"),
    [
        ([(1.0, 0.0), (0.0, 0.0)], r"ground\[1\] is at x = 0, left of ground\[0\]"),
        ([1.0, 2.0, 3.0], "allowed are a height, a function of x, points"),
        ([(0.0, np.nan), (1.0, 0.0)], r"ground\[0, 1\] is nan"),
        ("floor", "ground must be an array of numbers"),
        (km.Tiles2D([[1]], 1.0), "y_down=True"),
    ],
)
def test_wrong_ground_is_refused(ground, said):
    with pytest.raises(km.InputError, match=said):
        heights_of(ground, y_down=False)


def test_a_function_must_return_one_height_for_each_x():
    ground = heights_of(lambda x: np.zeros(3), y_down=False)
    with pytest.raises(km.InputError, match=r"heights of shape \(3,\) for \(2,\) numbers"):
        ground(np.zeros(2), np.inf)


def test_tiles_need_a_table():
    with pytest.raises(km.InputError, match="shape"):
        km.Tiles2D([1, 0], 1.0)


def test_what_is_not_a_number_is_over_no_tile():
    depths = km.Tiles2D([[1]], SIZE).depths([np.nan, 1.0, np.inf, 1.0], [0.0, np.nan, 0.0, -np.inf])
    np.testing.assert_array_equal(depths, [np.nan, np.nan, np.nan, 0.0])


def test_tiles_of_ragged_rows_are_refused():
    with pytest.raises(km.InputError, match="solid must be an array"):
        km.Tiles2D([[1, 0], [1]], SIZE)


def test_a_function_may_return_one_height_for_all():
    heights = heights_of(lambda x: 2.0, False)
    np.testing.assert_array_equal(heights(np.zeros((3, 2)), None), np.full((3, 2), 2.0))


@pytest.mark.parametrize("height", [None, "high"])
def test_a_function_that_returns_no_numbers_is_refused(height):
    with pytest.raises(km.InputError, match="what the ground function returned must be an array of numbers"):
        heights_of(lambda x: height, False)(np.zeros(2), None)


@pytest.mark.parametrize("function", [math.sin, lambda x: 0.1 if x > 3.0 else 0.0])
def test_a_function_of_one_number_is_refused_and_told_of_np_sin(function):
    with pytest.raises(km.InputError, match=r"fails for an array of x.*np\.sin instead of math.sin"):
        km.Walker2D(function).update(1 / 60, 1.0)
