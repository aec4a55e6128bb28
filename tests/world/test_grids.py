"""Rays and the walls of grids."""

import numpy as np
import pytest

from kinema.world.grids import box, cell_of, cell_sizes, next_wall, slab
from kinema.world.rays import RAY_FAR
from tests.compiled import run


@pytest.mark.parametrize(
    ("start", "speed", "expected"),
    [
        (0.0, 0.5, (2.0, 6.0)),
        (4.0, -0.5, (2.0, 6.0)),
        (2.0, 1.0, (-1.0, 1.0)),
        (2.0, 0.0, (-RAY_FAR, RAY_FAR)),
        (1.0, 0.0, (-RAY_FAR, RAY_FAR)),
        (3.0, 1e-250, (-RAY_FAR, RAY_FAR)),
        (0.0, 0.0, (RAY_FAR, -RAY_FAR)),
        (9.0, 1e-300, (RAY_FAR, -RAY_FAR)),
    ],
)
def test_between_two_planes(start, speed, expected):
    """From 1 to 3."""
    np.testing.assert_array_equal(run(slab, np.float64, start, speed, 1.0, 3.0), expected)


def test_through_a_box():
    low, high = (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)
    np.testing.assert_array_equal(run(box, np.float64, (0.5, 5.0, 0.5), (0.0, -1.0, 0.0), low, high), (3.0, 5.0))
    np.testing.assert_array_equal(run(box, np.float64, (0.5, 1.0, 0.5), (0.0, -1.0, 0.0), low, high), (-1.0, 1.0))
    first, last = run(box, np.float64, (-1.0, 3.5, 0.5), (0.6, 0.8, 0.0), low, high)
    assert first > last


@pytest.mark.parametrize(
    ("position", "cell"), [(-9.0, 0), (1.0, 0), (1.49, 0), (1.5, 1), (2.99, 3), (3.0, 3), (1e100, 3)]
)
def test_the_cell_a_position_is_in(position, cell):
    """Four cells of half a metre from 1 to 3."""
    assert run(cell_of, np.float64, position, 1.0, 0.5, 4) == cell


@pytest.mark.parametrize(
    ("speed", "distance"), [(1.0, 0.75), (-1.0, 0.25), (0.5, 1.5), (0.0, RAY_FAR), (-1e-300, RAY_FAR)]
)
def test_the_wall_where_a_ray_leaves_its_cell(speed, distance):
    """From 1.25 in the cell from 1 to 2."""
    assert run(next_wall, np.float64, 1.25, speed, 0.0, 1.0, 1) == distance


def test_sizes_of_cells():
    np.testing.assert_array_equal(cell_sizes("size", 2, 3), (2.0, 2.0, 2.0))
    np.testing.assert_array_equal(cell_sizes("size", (1, 2), 2), (1.0, 2.0))
    with pytest.raises(ValueError, match="size is 1e-200; allowed are numbers above zero, from 1e-100"):
        cell_sizes("size", 1e-200, 3)
