"""Height fields, against the quadratic of every cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.world.height_field import HeightField
from tests import problems
from tests.compiled import COMPILED
from tests.world import naive_casts
from tests.world.casting import DOWN, agrees, axis_rays, cast_checked, random_rays

COUNT = 600 if COMPILED else 200
ORIGIN, SPACING = np.array((-3.0, -2.0)), (0.75, 0.5)


def hills(rng, shape=(9, 8)):
    return rng.uniform(-1.5, 1.5, shape)


def upright_rays(rng, count, size):
    origins, _, reaches = random_rays(rng, count, size)
    return origins, np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])[rng.integers(0, 2, count)], reaches


# --- the oracle ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rays", [random_rays, axis_rays, upright_rays])
@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("with_holes", [False, True])
def test_agrees_with_every_cell(rays, two_sided, with_holes):
    rng = problems.generator(1)
    heights = hills(rng)
    holes = rng.uniform(size=(8, 7)) < 0.3 if with_holes else None
    origins, directions, reaches = rays(rng, COUNT, 3.5)
    ground = HeightField(heights, ORIGIN, SPACING, holes=holes, two_sided=two_sided)
    hits = cast_checked(ground, origins, directions, reaches)
    options = {"holes": holes, "front_only": not two_sided}
    agrees(hits, naive_casts.height_field(origins, directions, reaches, heights, ORIGIN, SPACING, **options))
    assert hits.hit.any()
    assert not hits.hit.all()


def test_long_flat_rays_over_steep_hills():
    """Many cells each, many near misses, several crossings within one cell."""
    rng = problems.generator(2)
    heights = hills(rng, (14, 14)) * 3
    origins = rng.uniform(-8, 8, (COUNT, 3)) * (1, 0.4, 1)
    directions = problems.units(rng, COUNT) * (1, 0.2, 1)
    for two_sided in (True, False):
        hits = cast_checked(HeightField(heights, (-5, -5), 0.8, two_sided=two_sided), origins, directions, 30.0)
        units, reaches = naive_casts.unit(directions), np.full(COUNT, 30.0)
        agrees(hits, naive_casts.height_field(origins, units, reaches, heights, (-5, -5), 0.8, None, not two_sided))


def bilinear(heights, x, z):
    """Height over a grid of spacing 1 from the origin, by its definition."""
    i, j = min(int(x), heights.shape[0] - 2), min(int(z), heights.shape[1] - 2)
    (h00, h01), (h10, h11) = heights[i : i + 2, j : j + 2]
    a, b = x - i, z - j
    return h00 * (1 - a) * (1 - b) + h10 * a * (1 - b) + h01 * (1 - a) * b + h11 * a * b


def test_points_lie_on_the_surface_and_normals_across_it():
    """Slopes by differences of heights next to the point."""
    rng = problems.generator(3)
    heights = hills(rng)
    origins = np.stack([rng.uniform(0.1, 7.9, 50), np.full(50, 4.0), rng.uniform(0.1, 6.9, 50)], axis=1)
    directions = problems.units(rng, 50) * 0.3 + DOWN
    hits = HeightField(heights).cast(origins, directions, 50.0)
    assert hits.hit.sum() > 25
    for point, normal in zip(hits.point[hits.hit], hits.normal[hits.hit], strict=True):
        x, y, z = point
        assert y == pytest.approx(bilinear(heights, x, z), abs=1e-9)
        step = 1e-7
        slope = [
            (bilinear(heights, x + step, z) - bilinear(heights, x - step, z)) / (2 * step),
            (bilinear(heights, x, z + step) - bilinear(heights, x, z - step)) / (2 * step),
        ]
        expected = naive_casts.unit((-slope[0], 1.0, -slope[1]))
        np.testing.assert_allclose(normal * np.sign(normal[1]), expected, atol=1e-6)


# --- exact cases -----------------------------------------------------------------------------------------------


def test_down_onto_the_given_heights_is_exact():
    """Corners and the outermost edges included."""
    heights = hills(problems.generator(4), (25, 26))
    i, j = np.meshgrid(np.arange(25), np.arange(26), indexing="ij")
    origins = np.stack([i * 0.5 + 1, np.full(i.shape, 8.0), j * 0.25 - 2], axis=-1)
    hits = cast_checked(HeightField(heights, (1, -2), (0.5, 0.25)), origins, DOWN, 20.0)
    assert hits.hit.all()
    np.testing.assert_array_equal(hits.distance, 8.0 - heights)


def test_the_origin_may_have_a_height():
    flat = np.zeros((3, 3))
    assert HeightField(flat, (0, 2.5, 0)).cast((1, 5, 1), DOWN, 9.0).distance == 2.5
    assert HeightField(flat, (0, 2.5, 0)).cast((0, 5, 0), (1, -2.5, 1), 9.0).point[1] == pytest.approx(2.5)


def test_a_slope_is_a_plane():
    x, z = np.meshgrid(np.arange(6), np.arange(5), indexing="ij")
    ground, normal = HeightField(0.5 * x - 0.25 * z), naive_casts.unit((-0.5, 1.0, 0.25))
    rng = problems.generator(5)
    origins = np.stack([rng.uniform(1, 4, 60), np.full(60, 4.0), rng.uniform(1, 3, 60)], axis=1)
    units = naive_casts.unit(problems.units(rng, 60) * 0.1 + DOWN)
    hits = cast_checked(ground, origins, units, 30.0)
    agrees(hits, naive_casts.plane(origins, units, np.full(60, 30.0), (0, 0, 0), normal))
    np.testing.assert_allclose(hits.normal, np.broadcast_to(normal, (60, 3)), atol=1e-12)


def lattice_rays(rng, count):
    """Through lattice points and along lattice lines, in directions of small whole numbers."""
    ends = rng.integers(2, 11, (count, 3)) / 2.0
    ways = rng.integers(-2, 3, (count, 3)).astype(np.float64)
    ways[:, 1] = rng.choice((-1.0, 1.0), count) * rng.integers(1, 3, count)
    ends[:, 1] = 0.0
    return ends - 4 * ways, ways, ends


def test_no_ray_slips_through_where_patches_meet():
    """Level ground, where the hit is known to the last bit, and hills against the oracle."""
    rng = problems.generator(6)
    origins, ways, ends = lattice_rays(rng, COUNT)
    hits = cast_checked(HeightField(np.zeros((7, 7))), origins, ways, 50.0)
    assert hits.hit.all()
    np.testing.assert_allclose(hits.point, ends, atol=1e-12)
    heights = rng.integers(-2, 3, (7, 7)) / 4.0
    hits = cast_checked(HeightField(heights), origins, ways, 50.0)
    units, reaches = naive_casts.unit(ways), np.full(COUNT, 50.0)
    # Where a ray only touches the ground, or runs along it, a hair more or less of height changes all: left out.
    low, high = (
        naive_casts.height_field(origins, units, reaches, heights + hair, (0, 0), 1.0) for hair in (-1e-7, 1e-7)
    )
    clear = np.isfinite(low) & np.isfinite(high)
    clear[clear] = np.abs(low[clear] - high[clear]) < 1e-4
    assert clear.mean() > 0.7
    assert hits.hit[clear].all()
    assert np.all((hits.distance >= np.minimum(low, high) - 1e-9)[clear])
    assert np.all((hits.distance <= np.maximum(low, high) + 1e-9)[clear])


@pytest.mark.parametrize("roughness", [0.0, 0.3, 3.0])
def test_no_ray_aimed_at_an_edge_or_a_corner_slips_through(roughness):
    """From anywhere above, at points of the lines between cells: hit there or before, never behind or not at all."""
    rng = problems.generator(9)
    count = 20_000 if COMPILED else 1_000
    heights = hills(rng, (8, 8)) * roughness
    x, z = rng.uniform(1, 6, (2, count))
    on_x, on_z = rng.uniform(size=count) < 0.6, rng.uniform(size=count) < 0.6
    x, z = np.where(on_x, np.round(x), x), np.where(on_z | ~on_x, np.round(z), z)
    ends = np.stack([x, [bilinear(heights, *position) for position in zip(x, z, strict=True)], z], axis=1)
    origins = rng.uniform(0, 7, (count, 3)) * (1, 0, 1) + (0, 6, 0)
    # Those that only touch a ridge may go on: a little farther they are above the ground.
    after = ends + naive_casts.unit(ends - origins) * 1e-5
    through = np.array([y < bilinear(heights, x, z) for x, y, z in after])
    assert through.mean() > 0.4
    origins, ends = origins[through], ends[through]
    hits = cast_checked(HeightField(heights), origins, ends - origins, 100.0)
    assert hits.hit.all()
    assert np.all(hits.normal[:, 1] > 0)
    assert np.all(hits.distance <= np.linalg.norm(ends - origins, axis=1) + 1e-9)
    if roughness == 0.0:
        np.testing.assert_allclose(hits.point, ends, atol=1e-12)


def test_along_an_edge_between_two_cells_and_around_the_outside():
    heights = np.array([[0.0, 1.0, 0.0], [2.0, 3.0, 2.0], [0.0, 1.0, 0.0]])
    ground = HeightField(heights)
    for x in (0.0, 1.0, 2.0):
        hits = cast_checked(ground, (x, 5.0, -1.0), (0.0, -1.0, 0.5), 20.0)
        expected = naive_casts.height_field(
            np.array([[x, 5.0, -1.0]]), naive_casts.unit([[0.0, -1.0, 0.5]]), np.array([20.0]), heights, (0, 0), 1.0
        )
        assert hits.hit
        assert hits.distance == pytest.approx(expected[0], abs=1e-12)
    for outside in ((-1e-9, 5, 1), (2 + 1e-9, 5, 1), (1, 5, -1e-9), (1, 5, 2 + 1e-9)):
        assert not ground.cast(outside, DOWN, 50.0).hit
    assert not ground.cast((-1, 5, 1), (-1, -1, 0), 50.0).hit


def test_a_ray_that_starts_on_the_surface():
    ground, one_sided = HeightField(np.zeros((4, 4))), HeightField(np.zeros((4, 4)), two_sided=False)
    for start in ((1.5, 0, 1.5), (1, 0, 2), (0, 0, 0), (3, 0, 3)):
        for way in ((0, -1, 0), (0.1, -1, 0.2), (0, 1, 0), (0.1, 1, 0.2)):
            hits = ground.cast(start, way, 0.0)
            assert hits.hit
            assert hits.distance == 0
            np.testing.assert_array_equal(hits.normal, (0, -np.sign(way[1]), 0))
            assert one_sided.cast(start, way, 5.0).hit == (way[1] < 0)
        assert not ground.cast(start, (1, 0, 0.5), 5.0).hit  # Along it.


def test_within_one_patch_a_ray_may_cross_twice():
    """A saddle, along its diagonal: y = 4 s (1 - s), s from corner to corner; upside down, a valley."""
    saddle, across = np.array([[0.0, 2.0], [2.0, 0.0]]), (1.0, 0.0, 1.0)
    hill, front = HeightField(saddle), HeightField(saddle, two_sided=False)
    low, high = (np.sqrt(2) * (1 + way * np.sqrt(0.5)) / 2 for way in (-1, 1))
    assert hill.cast((0.0, 0.5, 0.0), across, 5.0).distance == pytest.approx(low)  # Into the hill from the side.
    assert hill.cast((0.5, 0.5, 0.5), across, 5.0).distance == pytest.approx(high - np.sqrt(0.5))  # Out of it.
    assert not front.cast((0.5, 0.5, 0.5), across, 5.0).hit
    assert front.cast((0.0, 0.0, 0.0), across, 5.0).distance == 0  # Into it from the corner.
    assert hill.cast((0.0, 1.0, 0.0), across, 5.0).hit == front.cast((0.0, 1.0, 0.0), across, 5.0).hit  # Over the top.
    valley = HeightField(-saddle, two_sided=False)
    assert valley.cast((0.0, -0.5, 0.0), across, 5.0).distance == pytest.approx(
        high
    )  # Out of the ground, and in again.
    assert HeightField(-saddle).cast((0.0, -0.5, 0.0), across, 5.0).distance == pytest.approx(low)
    assert valley.cast((0.0, 0.0, 0.0), (1.0, -0.5, 1.0), 5.0).distance == pytest.approx(1.5 * 0.875)  # Off it and on.


def test_one_sided_the_way_out_is_ignored_and_the_way_back_in_is_not():
    """Through two ridges, from inside the first: out of it, and into the second."""
    ridges = np.repeat(np.array([0.0, 1.0, 0.0, 1.0, 0.0])[:, None], 3, axis=1)
    ray = (1.0, 0.5, 1.0), (1.0, 0.0, 0.1)
    both, front = (HeightField(ridges, two_sided=sided).cast(*ray, 9.0) for sided in (True, False))
    assert both.point[0] == pytest.approx(1.5)
    assert front.point[0] == pytest.approx(2.5)


def test_through_a_hole_and_up_from_below():
    holes = np.zeros((4, 4), bool)
    holes[1, 1] = True
    ground = HeightField(np.zeros((5, 5)), holes=holes)
    assert not ground.cast((1.5, 3, 1.5), DOWN, 9.0).hit
    assert ground.cast((0.5, 3, 1.5), DOWN, 9.0).hit
    assert not ground.cast((0.5, 1, 1.5), (1, -1, 0), 9.0).hit  # Slanted into the hole, and on below.
    hits = ground.cast((1.5, -1, 1.5), (1, 1, 0), 9.0)  # And up again through the next cell.
    assert hits.hit
    assert hits.point[0] == pytest.approx(2.5)
    np.testing.assert_array_equal(hits.normal, (0, -1, 0))


def test_the_end_of_the_ray_belongs_to_it():
    rng = problems.generator(7)
    ground = HeightField(hills(rng), ORIGIN, SPACING)
    origins, directions, _ = random_rays(rng, COUNT, 3.0)
    first = ground.cast(origins, directions, 20.0)
    again = ground.cast(origins, directions, first.distance)
    assert np.array_equal(again.hit, first.hit)
    assert np.array_equal(again.distance, first.distance)
    shorter = ground.cast(origins, directions, np.nextafter(first.distance, 0))
    assert not shorter.hit[first.distance > 0].any()


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_any_size(size):
    rng = problems.generator(8)
    heights = hills(rng)
    origins, directions, reaches = random_rays(rng, COUNT // 2, 3.5)
    ground = HeightField(heights * size, ORIGIN * size, np.array(SPACING) * size)
    hits = cast_checked(ground, origins * size, directions, reaches * size)
    expected = naive_casts.height_field(origins, directions, reaches, heights, ORIGIN, SPACING)
    agrees(hits._replace(distance=hits.distance / size), expected)


@given(st.data())
def test_finite_in_finite_out(data):
    origin, start, way = (data.draw(problems.vectors()) for _ in range(3))
    spacing = data.draw(st.sampled_from([1e-100, 1e-12, 1.0, 1e12, 1e100]))
    numbers = st.one_of(problems.numbers(), st.sampled_from([1e100, -1e100, 1e-300]))
    heights = np.array(data.draw(st.lists(numbers, min_size=6, max_size=6))).reshape(2, 3)
    two_sided = data.draw(st.booleans())
    ground = HeightField(heights, origin, spacing, two_sided=two_sided)
    cast_checked(ground, start, way if way.any() else DOWN, abs(data.draw(problems.numbers())))


# --- input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"heights": np.zeros(4)}, r"heights must have shape \(nx, nz\), both at least 2, got \(4,\)"),
        ({"heights": np.zeros((1, 4))}, r"heights must have shape .* got \(1, 4\)"),
        ({"heights": [[0, 1], [np.nan, 0]]}, r"heights\[1, 0\] is nan; .* mark the cell in `holes`"),
        ({"heights": [[0, 1], ["a", 0]]}, "heights must be an array of numbers"),
        ({"origin": 1.0}, r"origin must have shape \(2,\) or \(3,\), got \(\)"),
        ({"origin": (0, np.inf)}, r"origin\[1\] is inf"),
        ({"spacing": 0}, "spacing is 0.0; allowed are numbers above zero"),
        ({"spacing": (1, -2)}, r"spacing\[1\] is -2.0"),
        ({"spacing": (1, 1, 1)}, r"spacing must be one number or have shape \(2,\), got \(3,\)"),
        ({"holes": np.zeros((3, 3), bool)}, r"holes must be booleans of shape \(2, 2\), got bool \(3, 3\)"),
        ({"holes": np.zeros((2, 2))}, r"holes must be booleans of shape \(2, 2\), got float64"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        HeightField(**{"heights": np.zeros((3, 3))} | arguments)


def test_the_field_is_a_copy():
    heights, holes = np.zeros((3, 3)), np.zeros((2, 2), bool)
    ground = HeightField(heights, holes=holes)
    heights[:], holes[:] = 5.0, True
    assert ground.cast((1, 9, 1), DOWN, 20.0).distance == 9.0
