"""Rays: validation and shared kernels."""

import numpy as np
import pytest

from kinema.world import rays
from kinema.world.rays import RAY_FAR
from tests import problems
from tests.compiled import run


def test_directions_of_any_length_are_normalised():
    units = problems.units(problems.generator(1), 50)
    for scale in (5e-324, 1e-300, 1e-12, 1.0, 1e12, 9e99):
        given = units * scale
        given[np.max(np.abs(given), axis=1) == 0] = (0, 5e-324, 0)
        checked, shape, dtype = rays.checked(np.zeros(3), given, 1.0)
        lengths = np.linalg.norm(checked.units, axis=1)
        np.testing.assert_allclose(lengths, 1.0, rtol=1e-15)
        assert shape == (50,)
        assert dtype == np.float64
    np.testing.assert_allclose(rays.checked(np.zeros(3), units * 7, 1.0)[0].units, units, atol=1e-15)


def test_along_an_axis_directions_stay_exact():
    for way in (*np.eye(3), *-np.eye(3)):
        np.testing.assert_array_equal(rays.checked((0, 0, 0), way * 0.3, 1.0)[0].units, [way])


def test_every_array_is_of_the_one_type_the_kernels_are_compiled_for():
    """float64, contiguous and writeable, for read-only and broadcast arrays and other precisions too."""
    frozen = np.zeros((1, 3))
    frozen.flags.writeable = False
    cases = [
        (frozen, (0, 1, 0), 1.0),
        ((0, 0, 0), frozen + 1, np.float32([2])),
        (np.broadcast_to(np.float32([1, 2, 3]), (4, 3)), np.float32([[0, 1, 0]]), 1),
        (np.zeros((2, 3), ">f8"), np.ones((2, 3), int), [1, 2]),
        (np.zeros((0, 3)), (0, 1, 0), 1.0),
    ]
    for case in cases:
        checked = rays.checked(*case)[0]
        count = checked.reaches.size
        assert checked.origins.shape == (count, 3) == checked.units.shape
        assert checked.reaches.shape == (count,)
        for array in checked:
            assert array.dtype == np.float64
            assert array.dtype.isnative
            assert array.flags.c_contiguous
            assert array.flags.writeable


@pytest.mark.parametrize(
    ("gap", "speed", "expected"),
    [
        (2.0, 0.5, 4.0),
        (-2.0, 0.5, -4.0),
        (0.0, 0.5, 0.0),
        (1.0, 0.0, RAY_FAR),
        (0.0, 0.0, RAY_FAR),
        (1.0, 1e-300, RAY_FAR),
    ],
)
def test_distance_at_which_a_gap_is_crossed(gap, speed, expected):
    assert run(rays.crossing, np.float64, gap, speed) == expected


def test_normals_face_the_side_that_the_ray_came_from():
    rng = problems.generator(2)
    for normal, unit in zip(problems.units(rng, 20), problems.units(rng, 20), strict=True):
        facing = run(rays.face_ray, np.float64, normal, unit)
        assert facing @ unit <= 0
        assert np.array_equal(facing, normal) or np.array_equal(facing, -normal)
