"""A sphere, against the quadratic formula."""

import numpy as np
import pytest

from kinema.world.sphere import Sphere
from tests import problems
from tests.world import naive_casts
from tests.world.casting import agrees, axis_rays, cast_checked, random_rays

CENTRE, RADIUS = np.array([0.5, -1.0, 0.25]), 2.5


@pytest.mark.parametrize("rays", [random_rays, axis_rays])
@pytest.mark.parametrize("two_sided", [True, False])
def test_agrees_with_the_quadratic_formula(rays, two_sided):
    origins, directions, reaches = rays(problems.generator(1), 400)
    hits = cast_checked(Sphere(CENTRE, RADIUS, two_sided=two_sided), origins, directions, reaches)
    agrees(hits, naive_casts.sphere(origins, directions, reaches, CENTRE, RADIUS, front_only=not two_sided))
    assert hits.hit.any()
    assert not hits.hit.all()


def test_points_lie_on_it_and_normals_run_through_its_centre():
    origins, directions, reaches = random_rays(problems.generator(2), 400)
    hits = Sphere(CENTRE, RADIUS).cast(origins, directions, reaches)
    out = (hits.point - CENTRE)[hits.hit] / RADIUS
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(out * hits.normal[hits.hit], axis=1)), 1.0, atol=1e-12)


def test_all_the_way_round_a_small_planet_down_is_to_its_centre():
    out = problems.units(problems.generator(3), 100)
    hits = Sphere(CENTRE, RADIUS).cast(CENTRE + out * (RADIUS + 1.5), -out, 10.0)
    np.testing.assert_allclose(hits.distance, 1.5, atol=1e-12)
    np.testing.assert_allclose(hits.normal, out, atol=1e-12)


def test_from_inside_the_normal_faces_the_centre():
    hits = Sphere((0, 0, 0), 2.0).cast((0, 0.5, 0), (0, 1, 0), 10.0)
    assert hits.hit
    assert hits.distance == 1.5
    np.testing.assert_array_equal(hits.normal, (0, -1, 0))
    assert not Sphere((0, 0, 0), 2.0, two_sided=False).cast((0, 0.5, 0), (0, 1, 0), 10.0).hit


def test_a_ray_that_starts_on_it_hits_at_once():
    for way in (-1.0, 1.0):
        hits = Sphere((0, 0, 0), 2.0).cast((0, 2, 0), (0, way, 0), 0.0)
        assert hits.hit
        assert hits.distance == 0
        np.testing.assert_array_equal(hits.normal, (0, -way, 0))
    assert not Sphere((0, 0, 0), 2.0, two_sided=False).cast((0, 2, 0), (0, 1, 0), 9.0).hit


def test_a_ray_that_touches_it_or_runs_away_from_it_misses():
    assert not Sphere((0, 0, 0), 2.0).cast((-5, 2, 0), (1, 0, 0), 10.0).hit
    assert not Sphere((0, 0, 0), 2.0).cast((0, 2, 0), (1, 0, 0), 10.0).hit
    assert not Sphere((0, 0, 0), 2.0).cast((0, 5, 0), (0, 1, 0), 10.0).hit
    assert not Sphere((0, 0, 0), 0.0).cast((0, 5, 0), (0, -1, 0), 10.0).hit


def test_the_end_of_the_ray_belongs_to_it():
    ground, ray = Sphere(CENTRE, RADIUS), ((4, 5, 6), (-1, -1.5, -1.25))
    distance = ground.cast(*ray, 100.0).distance
    again = ground.cast(*ray, distance)
    assert again.hit
    assert again.distance == distance
    assert not ground.cast(*ray, np.nextafter(distance, 0)).hit


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_any_size(size):
    origins, directions, reaches = random_rays(problems.generator(4), 200)
    hits = cast_checked(Sphere(CENTRE * size, RADIUS * size), origins * size, directions, reaches * size)
    agrees(
        hits._replace(distance=hits.distance / size), naive_casts.sphere(origins, directions, reaches, CENTRE, RADIUS)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"centre": (0, 0)}, r"centre must have shape \(..., 3\), got \(2,\)"),
        ({"centre": np.zeros((2, 3))}, r"centre must be one vector of shape \(3,\), got \(2, 3\)"),
        ({"radius": -1.0}, "radius is -1.0"),
        ({"radius": np.nan}, "radius is nan"),
        ({"radius": 1e200}, "radius is 1e\\+200"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Sphere(**arguments)
