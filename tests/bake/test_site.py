"""The ground under a character: what counts as level, as a step, as stairs, and how far it is looked for."""

import numpy as np
import pytest

import kinema as km
from kinema.bake.site import Site, grades_along, heights_along, slopes_under, treads_along

UP, AHEAD = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))
LEG = 0.9


def way(length, count=200):
    """A level way ahead, so many legs long."""
    return np.linspace(0.0, length * LEG, count)[:, np.newaxis] * AHEAD + 0.5 * UP


def site(height, below=None):
    """A ground whose height, leg lengths, is a function of how far ahead it is, leg lengths."""

    def heights(x, z):
        return LEG * np.broadcast_to(height(np.asarray(z) / LEG), np.shape(z))

    return Site(km.Ground.from_function(heights), UP, LEG, below)


def steps(rise, edges):
    """A ground that rises by so much at each of some edges."""
    return site(lambda z: rise * (z[..., np.newaxis] > np.asarray(edges)).sum(axis=-1))


def treads(ground, length=6.0):
    grades = grades_along(ground, way(length), 0)
    return treads_along(ground, grades, AHEAD)


@pytest.mark.parametrize(("grade", "rises"), [(0.015, False), (0.025, True)])
def test_a_rise_of_two_in_a_hundred_is_level(grade, rises):
    ground = site(lambda z: grade * z)
    assert grades_along(ground, way(3.0), 0).rises == rises
    assert (slopes_under(ground, way(3.0), 0, 1.0) is not None) == rises


def test_the_grade_is_that_over_a_stride_around_a_place():
    """A bump half a leg wide, a leg away, does not count; one that is wider does."""
    ground = site(lambda z: 0.3 * (np.abs(z - 3.0) < 0.2))
    grades = grades_along(ground, way(6.0), 0)
    assert np.abs(grades.slopes[np.abs(grades.places[:, 2] / LEG - 1.2) < 0.5]).max() == 0.0
    assert np.abs(grades.slopes[np.abs(grades.places[:, 2] / LEG - 2.3) < 0.2]).max() > 0.05


@pytest.mark.parametrize(("degrees", "seen"), [(0.0, True), (45.0, True), (22.5, False)])
def test_the_ground_around_a_place_is_probed_in_eight_directions(degrees, seen):
    """A narrow post stands a leg away."""
    x, z = LEG * np.cos(np.radians(degrees)), LEG * np.sin(np.radians(degrees))
    post = km.Ground.from_function(lambda a, b: np.where(np.hypot(a - x, b - z) < 0.1 * LEG, 0.3, 0.0))
    grades = grades_along(Site(post, UP, LEG, None), 0.5 * UP * np.ones((2, 1)), 0)
    assert grades.slopes.any() == seen


def test_places_are_a_tenth_of_a_leg_apart_and_two_thousand_at_most():
    assert len(grades_along(site(lambda z: 0.1 * z), way(5.0, 1000), 0).frames) == pytest.approx(50, abs=2)
    assert len(grades_along(site(lambda z: 0.1 * z), way(900.0, 20_000), 0).frames) == pytest.approx(2000, abs=2)


@pytest.mark.parametrize(("deep", "seen"), [(1.1, True), (1.3, False)])
def test_a_pit_that_is_deeper_than_a_body_steps_is_not_looked_into(deep, seen):
    ground = site(lambda z: np.where(z > 2.0, -deep, 0.0))
    grades = grades_along(ground, way(1.5), 0)
    assert (np.abs(grades.slopes).max() > 0.1) == seen


@pytest.mark.parametrize(("rise", "found"), [(0.04, False), (0.06, True)])
def test_a_riser_is_five_hundredths_of_a_leg_high(rise, found):
    assert (treads(steps(rise, np.arange(1.0, 5.0, 0.4))) is not None) == found


@pytest.mark.parametrize(("edges", "found"), [((2.0, 2.4), False), ((2.0, 2.4, 2.8), True)])
def test_stairs_have_three_risers(edges, found):
    tread = treads(steps(0.2, edges))
    assert (tread is not None) == found
    if found:
        assert tread.run / LEG == pytest.approx(0.4, abs=0.03)
        assert min(abs(tread.edge / LEG - edge) for edge in edges) < 0.03


@pytest.mark.parametrize(("uneven", "found"), [(0.05, True), (0.1, False)])
def test_stairs_are_even(uneven, found):
    runs = 0.6 * (1.0 + uneven * np.array((1, -1, 1, -1, 1, -1, 1, -1)))
    assert (treads(steps(0.2, 0.8 + np.cumsum(runs))) is not None) == found


@pytest.mark.parametrize(("length", "found"), [(900.0, True), (1100.0, False)])
def test_treads_are_looked_for_along_a_thousand_legs(length, found):
    ground = site(lambda z: 0.2 * np.floor(z / 0.5))
    grades = grades_along(ground, way(length, 4000), 0)
    assert len(grades.places) == pytest.approx(2000, rel=0.1)
    assert (treads_along(ground, grades, AHEAD) is not None) == found


class Counting:
    """A floor that counts the rays it is asked for."""

    rays = 0

    def cast(self, origins, directions, max_distance):
        self.rays += np.size(origins) // 3
        return km.Plane().cast(origins, directions, max_distance)


def test_looking_for_treads_casts_fifty_rays_a_leg():
    """The longest way that is looked at, a thousand legs, must not cost more than 50,000 rays."""
    floor = Counting()
    grades = grades_along(Site(floor, UP, LEG, None), way(100.0), 0)
    floor.rays = 0
    assert treads_along(Site(floor, UP, LEG, None), grades, AHEAD) is None
    assert 45 * 100 < floor.rays < 55 * 100


@pytest.mark.parametrize(("off", "found"), [(900.0, True), (1100.0, False), (-900.0, True), (-1100.0, False)])
def test_the_first_ground_is_within_a_thousand_legs(off, found):
    heights = heights_along(Site(km.Plane(off * LEG * UP), UP, LEG, None), way(1.0, 3) * (1.0, 0.0, 1.0), 0)
    assert (heights is not None) == found
