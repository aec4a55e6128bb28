"""A plane, against its equation."""

import numpy as np
import pytest

from kinema.world.plane import Plane
from tests import problems
from tests.world import naive_casts
from tests.world.casting import DOWN, agrees, axis_rays, cast_checked, random_rays


@pytest.mark.parametrize("rays", [random_rays, axis_rays])
@pytest.mark.parametrize("normal", [(0, 1, 0), (0, -3, 0), (1, 2, -0.5), (0, 0, 1e-9)])
def test_agrees_with_the_equation(rays, normal):
    origins, directions, reaches = rays(problems.generator(1), 300)
    hits = cast_checked(Plane((0.5, 0.25, -1.0), normal), origins, directions, reaches)
    agrees(hits, naive_casts.plane(origins, directions, reaches, (0.5, 0.25, -1.0), normal))
    assert hits.hit.any()
    assert not hits.hit.all()


def test_straight_down_is_exact():
    hits = Plane().cast((0.3, 1.1, 7.0), DOWN, 5.0)
    assert hits.hit
    assert hits.distance == 1.1
    np.testing.assert_array_equal(hits.point, (0.3, 0.0, 7.0))
    np.testing.assert_array_equal(hits.normal, (0.0, 1.0, 0.0))


def test_from_below_the_normal_faces_down():
    hits = Plane().cast((0, -2, 0), (0, 1, 0), 5)
    assert hits.hit
    assert hits.distance == 2
    np.testing.assert_array_equal(hits.normal, (0, -1, 0))
    assert not Plane(two_sided=False).cast((0, -2, 0), (0, 1, 0), 5).hit
    assert Plane(two_sided=False).cast((0, 2, 0), (0, -1, 0), 5).hit


def test_the_end_of_the_ray_belongs_to_it():
    assert Plane().cast((0, 2, 0), DOWN, 2.0).hit
    assert not Plane().cast((0, 2, 0), DOWN, np.nextafter(2.0, 0.0)).hit
    slanted = Plane((1, 2, 3), (1, 2, -1)), (4, 5, 6), (-1, -2, 0.5)
    distance = slanted[0].cast(*slanted[1:], 100.0).distance
    again = slanted[0].cast(*slanted[1:], distance)
    assert again.hit
    assert again.distance == distance


def test_a_ray_that_starts_on_it_hits_at_once():
    for way, facing in ((-1, 1), (1, -1)):
        hits = Plane().cast((3, 0, 1), (0.5, way, 0), 0.0)
        assert hits.hit
        assert hits.distance == 0
        np.testing.assert_array_equal(hits.normal, (0, facing, 0))
    assert not Plane(two_sided=False).cast((3, 0, 1), (0.5, 1, 0), 1.0).hit


@pytest.mark.parametrize("height", [0.0, 1.0, -1.0])
def test_a_ray_along_it_misses(height):
    hits = cast_checked(Plane(), (0, height, 0), (1, 0, 1), 3.0)
    assert not hits.hit
    assert hits.distance == 3.0


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_any_size(size):
    origins, directions, reaches = random_rays(problems.generator(2), 200)
    normal, point = np.array([1.0, 2.0, -0.5]), np.array([0.5, 0.25, -1.0])
    hits = cast_checked(Plane(point * size, normal / size), origins * size, directions * size, reaches * size)
    agrees(hits._replace(distance=hits.distance / size), naive_casts.plane(origins, directions, reaches, point, normal))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"point": (0, 0)}, r"point must have shape \(..., 3\), got \(2,\)"),
        ({"point": np.zeros((2, 3))}, r"point must be one vector of shape \(3,\), got \(2, 3\)"),
        ({"point": (0, np.nan, 0)}, r"point\[1\] is nan"),
        ({"normal": (0, 0, 0)}, "normal is the zero vector"),
        ({"normal": np.ones((2, 3))}, r"normal must be one vector of shape \(3,\)"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Plane(**arguments)
