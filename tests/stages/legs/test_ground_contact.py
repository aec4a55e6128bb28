"""Ground contact: hits are sanitised, and the plane under a sole clears what is under it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinema.compile.jit import batch, like
from kinema.math.rows import load3, store3
from kinema.stages.feet.foot_rays import HEEL_AT_LANDING
from kinema.stages.feet.foothold_choice import hold_cost
from kinema.stages.legs.ground_contact import (
    CONTACT_SETTINGS,
    HIT,
    Floor,
    SupportPlane,
    aim_down,
    cast_first,
    cast_rays,
    fit_plane,
    floor_of,
    heel_to_ball,
    limit_slope,
    new_rays,
)
from kinema.world.plane import Plane
from tests.compiled import both_precisions, plain_python_only
from tests.stages.feet.test_foothold_choice import profile

UP = np.array((0.0, 1.0, 0.0))


@batch
def fitted(hits, cos_slope, out):
    """Row 0: a point of the fitted plane; row 1: its normal."""
    zero, one = like(cos_slope, 0.0), like(cos_slope, 1.0)
    floor = Floor((zero, zero, zero), (zero, one, zero))
    plane = fit_plane(hits, 0, 1, floor, cos_slope)
    store3(out[0], plane.point)
    store3(out[1], plane.normal)


@batch
def limited(normal, up, cos_slope, out):
    store3(out, limit_slope(load3(normal), load3(up), cos_slope))


@batch
def aimed(settings, transform, point, rays):
    aim_down(rays, 0, load3(point), floor_of(settings[0], transform), settings[0].rise)


def samples(heights, normals=None, found=(True,) * 4, dtype=np.float64):
    """Hits of heel, middle, ball and tip, 0.1 m apart along z."""
    hits = HIT.zeros(4, dtype)
    hits.found = found
    hits.point[:, 1], hits.point[:, 2] = heights, 0.1 * np.arange(4)
    hits.normal[:] = UP if normals is None else normals
    return hits


def down(count):
    """Rays that go 2 m down from 1 m above the ground."""
    rays = new_rays(count, 2.0, np.float64)
    rays.origins[:], rays.units[:] = UP, -UP
    return rays


def plane_of(hits, steepest=0.75):
    out = np.zeros((2, 3), hits.point.dtype)
    fitted(hits, hits.point.dtype.type(math.cos(steepest)), out)
    return out


def answer(points, normals, hit=None, distance=None):
    """A ground whose every cast gets the same answer."""
    points, normals = np.asarray(points, float), np.asarray(normals, float)
    hit = np.ones(len(points), bool) if hit is None else np.array(hit)
    distance = np.ones(len(points)) if distance is None else np.array(distance)
    return SimpleNamespace(cast=lambda *_: SimpleNamespace(hit=hit, point=points, normal=normals, distance=distance))


@both_precisions
@pytest.mark.parametrize("degrees", [0.0, 12.0, -25.0])
def test_a_slope_is_its_own_plane(dtype, degrees):
    rise = math.tan(math.radians(degrees))
    normal = np.array((0.0, math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))))
    point, fitted_normal = plane_of(samples(rise * 0.1 * np.arange(4), normal, dtype=dtype))
    np.testing.assert_allclose(fitted_normal, normal, atol=1e-6)
    np.testing.assert_allclose(point[1], rise * point[2], atol=1e-6)


def test_a_foot_over_an_edge_stands_on_the_tread_and_clears_every_sample():
    hits = samples((0.0, 0.0, 0.2, 0.2))
    point, normal = plane_of(hits)
    np.testing.assert_allclose(normal, UP)
    assert point[1] == pytest.approx(0.2)


def test_without_ground_the_plane_is_the_floor():
    point, normal = plane_of(samples(np.zeros(4), found=(False,) * 4))
    np.testing.assert_array_equal(point, 0.0)
    np.testing.assert_array_equal(normal, UP)


@both_precisions
def test_a_normal_is_limited_to_the_steepest_slope(dtype):
    out, steepest = np.zeros(3, dtype), 0.5
    wall = np.array((0.0, 0.1, -1.0), dtype) / dtype(math.hypot(0.1, 1.0))
    limited(wall, UP.astype(dtype), dtype(math.cos(steepest)), out)
    assert math.acos(out[1]) == pytest.approx(steepest, abs=1e-6)
    assert out[2] < 0
    assert abs(out[0]) < 1e-7


@both_precisions
def test_rays_go_down_the_characters_own_up(dtype):
    settings = CONTACT_SETTINGS.zeros(1, dtype)
    settings.up[0], settings.floor, settings.rise = UP, 0.1, 0.7
    on_its_side = np.array(((0, 1, 0, 5), (-1, 0, 0, 6), (0, 0, 1, 7)), dtype).reshape(12)
    rays = new_rays(1, 2.0, dtype)
    aimed(settings, on_its_side, np.array((9.0, 6.5, 7.5), dtype), rays)
    np.testing.assert_allclose(rays.units[0], (-1.0, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(rays.origins[0], (5.0 + 0.1 + 0.7, 6.5, 7.5), atol=1e-6)
    assert rays.reaches[0] == 2.0


def test_only_the_first_rays_are_cast():
    rays = down(3)
    assert cast_first(Plane(), rays, 2).hit.tolist() == [True, True]
    assert cast_first(None, rays, 0).hit.size == 0


@both_precisions
def test_what_is_not_finite_or_starts_inside_is_a_miss(dtype):
    bad, good = (np.nan, np.inf, 1e300), (1.0, 2.0, 3.0)
    points = [good, *((x, 0.0, 0.0) for x in bad), good, good, good, good]
    normals = [UP, UP, UP, UP, (0.0, np.nan, 0.0), (0.0, 0.0, 0.0), UP, UP]
    hit, distance = [True] * 7 + [False], [1.0] * 6 + [0.0, 1.0]
    with np.errstate(over="ignore"):
        hits = cast_rays(answer(points, normals, hit, distance), down(8), dtype)
    np.testing.assert_array_equal(hits.found, [True] + [False] * 7)
    assert np.isfinite(hits.point).all()
    assert np.isfinite(hits.normal).all()
    np.testing.assert_array_equal(hits.point[0], good)


def test_a_ray_that_is_not_finite_hits_nothing():
    rays = down(4)
    rays.origins[0, 0], rays.origins[1, 2], rays.units[2] = np.nan, np.inf, np.nan
    hits = cast_rays(Plane(), rays, np.float32)
    np.testing.assert_array_equal(hits.found, (False, False, False, True))


@pytest.mark.parametrize(
    ("found", "at"),
    [((False, True, True, True), 0.2), ((False, True, False, True), 0.3), ((False, True, False, False), 0.1)],
)
def test_of_equal_planes_that_of_the_ball_comes_first_then_that_of_the_tip(found, at):
    assert plane_of(samples((0.0,) * 4, found=found))[0] == pytest.approx((0.0, 0.0, at))


@plain_python_only
def test_a_hole_under_a_part_of_a_foot_costs_as_much_as_a_gap_of_three_tenths_of_a_leg():
    hole, gap = (
        hold_cost(profile({4: height}), HEEL_AT_LANDING, SupportPlane((0.0, 0.0, 0.0), UP), UP, 1.0)
        for height in (None, -0.3)
    )
    assert hole == pytest.approx(gap, rel=0.1)


@plain_python_only
@pytest.mark.parametrize(("degrees", "one_surface"), [(15.0, True), (30.0, False)])
def test_from_tread_to_tread_is_no_slope_unless_it_is_a_bump(degrees, one_surface):
    hits = samples((0.0, 0.0, 0.2 * math.tan(math.radians(degrees)), 0.0))
    plane, found = heel_to_ball(hits[0], hits[2], UP, math.cos(0.75))
    assert found == one_surface
    assert math.degrees(math.acos(plane.normal[1])) == pytest.approx(degrees)
