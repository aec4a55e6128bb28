"""Voxels, against the slab test of every filled cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.world.voxel_grid import VoxelGrid
from tests import problems
from tests.world import naive_casts
from tests.world.casting import DOWN, agrees, axis_rays, cast_checked, random_rays

COUNT = 600


def random_grid(rng, shape=(7, 5, 6), share=0.2):
    return rng.uniform(size=shape) < share


@pytest.mark.parametrize("rays", [random_rays, axis_rays])
@pytest.mark.parametrize("size", [0.5, (0.3, 1.25, 0.7)])
def test_agrees_with_every_cell(rays, size):
    rng = problems.generator(1)
    filled, origin = random_grid(rng), (-1.75, -1.3, -1.6)
    origins, directions, reaches = rays(rng, COUNT, 3.0)
    hits = cast_checked(VoxelGrid(filled, origin, size), origins, directions, reaches)
    agrees(hits, naive_casts.voxels(origins, directions, reaches, filled, origin, size))
    assert hits.hit.any()
    assert not hits.hit.all()
    assert np.any(hits.hit & (hits.distance == 0))


def test_normals_are_those_of_the_wall_that_was_hit():
    """The wall lies across the normal: one cell on from the point there is the filled one, one back an empty one."""
    rng = problems.generator(2)
    filled = random_grid(rng)
    origins, directions, _ = random_rays(rng, COUNT, 8.0)
    hits = VoxelGrid(filled, (0, 0, 0), 1.0).cast(origins, directions, 100.0)
    entered = hits.hit & (hits.distance > 0)
    assert entered.any()
    point, normal = hits.point[entered], hits.normal[entered]
    assert np.all(np.sort(np.abs(normal), axis=1) == (0, 0, 1))
    into, out = (np.floor(point - way * normal * 1e-6).astype(int) for way in (1, -1))
    padded = np.pad(filled, 30)
    assert padded[tuple((into + 30).T)].all()
    assert not padded[tuple((out + 30).T)].any()


def test_a_ray_from_inside_hits_at_once_against_its_direction():
    ground = VoxelGrid(np.ones((2, 2, 2), bool))
    way = np.array([0.6, 0.0, 0.8])
    hits = ground.cast((0.5, 1.5, 0.5), way * 3, 5.0)
    assert hits.hit
    assert hits.distance == 0
    np.testing.assert_allclose(hits.normal, -way, atol=1e-15)
    np.testing.assert_array_equal(hits.point, (0.5, 1.5, 0.5))


def test_down_onto_a_column_is_exact():
    filled = np.zeros((3, 8, 3), bool)
    filled[1, :5, 1] = True
    hits = VoxelGrid(filled, (-1.5, 0, -1.5), 1.0).cast((0.2, 7.3, -0.1), DOWN, 50.0)
    assert hits.hit
    assert hits.point[1] == 5.0
    np.testing.assert_array_equal(hits.normal, (0, 1, 0))


def test_a_ray_that_starts_on_a_wall():
    """Outside and inwards it hits at once, by the wall; away from it it does not."""
    filled = np.zeros((3, 3, 3), bool)
    filled[1, 1, 1] = True
    ground = VoxelGrid(filled)
    for axis in range(3):
        for position, way in ((1.0, 1.0), (2.0, -1.0)):
            start, direction = np.full(3, 1.5), np.zeros(3)
            start[axis], direction[axis] = position, way
            hits = ground.cast(start, direction, 0.0)
            assert hits.hit
            assert hits.distance == 0
            np.testing.assert_array_equal(hits.normal, -direction)
            if position == 2.0:  # A cell owns its lower wall, and not its upper one.
                assert not ground.cast(start, -direction, 9.0).hit


def test_a_full_grid_from_its_own_walls():
    ground = VoxelGrid(np.ones((2, 2, 2), bool))
    assert ground.cast((1, 2, 1), (0, -1, 0), 0.0).hit
    assert not ground.cast((1, 2, 1), (0, 1, 0), 9.0).hit
    assert not ground.cast((1, 2, 1), (1, 0, 0), 9.0).hit  # Along the top.
    assert not ground.cast((2, 1, -1), (0, 0, 1), 9.0).hit
    assert ground.cast((0, 1, -1), (0, 0, 1), 9.0).hit


def lattice_rays(rng, count, most=6):
    """From lattice points, and half way between, in directions of small whole numbers: along walls, through edges and
    corners, with no rounding at all.
    """
    origins = rng.integers(-4, 2 * most + 4, (count, 3)) / 2
    directions = rng.integers(-2, 3, (count, 3))
    directions[~directions.any(axis=1)] = (0, -1, 0)
    return origins.astype(np.float64), directions.astype(np.float64)


def test_along_walls_through_edges_and_corners():
    """What a ray sees the inside of it hits; what it hits it at least touches."""
    rng = problems.generator(3)
    filled = random_grid(rng, (6, 6, 6), 0.15)
    origins, directions = lattice_rays(rng, COUNT)
    hits = cast_checked(VoxelGrid(filled), origins, directions, 40.0)
    reaches, units = np.full(COUNT, 40.0), naive_casts.unit(directions)
    seen = naive_casts.voxels(origins, units, reaches - 1e-9, filled, (0, 0, 0), 1.0)
    touched = naive_casts.voxels(origins, units, reaches, filled, (0, 0, 0), 1.0, closed=True)
    assert np.all(hits.hit[np.isfinite(seen)])
    assert np.all(np.isfinite(touched[hits.hit]))
    assert np.all(hits.distance <= np.where(np.isfinite(seen), seen, 40.0) + 1e-9)
    assert np.all(hits.distance[hits.hit] >= touched[hits.hit] - 1e-9)
    assert np.any(hits.distance < np.where(np.isfinite(seen), seen, 40.0) - 1e-9)  # A corner that was only touched.


def test_at_an_edge_and_at_a_corner_x_goes_before_y_before_z():
    """Of the cells that touch the middle of the grid, a ray from corner to corner sees those it steps through."""
    for way, seen in (((1, 1, 0), [(1, 0, 0)]), ((0, 1, 1), [(0, 1, 0)]), ((1, 0, 1), [(1, 0, 0)])):
        start = np.array([0.5, 0.5, 0.5])
        for cell in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
            filled = np.zeros((2, 2, 2), bool)
            filled[cell] = True
            assert VoxelGrid(filled).cast(start, way, 9.0).hit == (cell in seen)
    for cell in np.ndindex(2, 2, 2):
        filled = np.zeros((2, 2, 2), bool)
        filled[cell] = True
        path = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
        assert VoxelGrid(filled).cast((0.25, 0.25, 0.25), (1, 1, 1), 9.0).hit == (cell in path)
        back = [(1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)]
        assert VoxelGrid(filled).cast((1.75, 1.75, 1.75), (-1, -1, -1), 9.0).hit == (cell in back)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_no_ray_slips_between_two_cells_that_share_a_wall(axis):
    """A floor one cell thick stops every ray through its lattice, steep or flat."""
    rng = problems.generator(4)
    shape = [8, 8, 8]
    shape[axis] = 1
    ground = VoxelGrid(np.ones(shape, bool))
    ends = rng.integers(2, 13, (COUNT, 3)) / 2
    ways = rng.integers(-2, 3, (COUNT, 3))
    ways[:, axis] = rng.choice((-1, 1), COUNT) * rng.integers(1, 3, COUNT)
    ends[:, axis] = 0.5
    starts = ends - ways * 2.0  # Well outside of the floor.
    hits = cast_checked(ground, starts, ways, np.linalg.norm(ways * 4.0, axis=1))
    assert hits.hit.all()
    np.testing.assert_allclose(hits.point[:, axis], np.where(ways[:, axis] > 0, 0.0, 1.0), atol=1e-12)


def test_the_end_of_the_ray_belongs_to_it():
    ground = VoxelGrid(np.ones((4, 4, 4), bool))
    ray = ((-2.3, 6.1, 1.2), (1.1, -1.3, 0.2))
    distance = ground.cast(*ray, 100.0).distance
    again = ground.cast(*ray, distance)
    assert distance > 0
    assert again.hit
    assert again.distance == distance
    assert not ground.cast(*ray, np.nextafter(distance, 0)).hit


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_any_size(size):
    rng = problems.generator(5)
    filled, origin = random_grid(rng), np.array((-1.75, -1.3, -1.6))
    origins, directions, reaches = random_rays(rng, COUNT // 2, 3.0)
    hits = cast_checked(VoxelGrid(filled, origin * size, size / 2), origins * size, directions, reaches * size)
    expected = naive_casts.voxels(origins, directions, reaches, filled, origin, 0.5)
    agrees(hits._replace(distance=hits.distance / size), expected)


@given(st.data())
def test_finite_in_finite_out(data):
    origin, start, way = (data.draw(problems.vectors()) for _ in range(3))
    size = data.draw(st.sampled_from([1e-100, 1e-12, 1.0, 1e12, 1e100]))
    filled = np.array(data.draw(st.lists(st.booleans(), min_size=8, max_size=8))).reshape(2, 2, 2)
    reach = abs(data.draw(problems.numbers()))
    cast_checked(VoxelGrid(filled, origin, size), start, way if way.any() else DOWN, reach)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filled": np.ones((2, 2), bool)}, r"filled must have shape \(nx, ny, nz\), none of them 0, got \(2, 2\)"),
        ({"filled": np.ones((2, 0, 2), bool)}, r"filled must have shape .* got \(2, 0, 2\)"),
        ({"filled": np.ones((2, 2, 2))}, "filled must be booleans, got float64"),
        ({"origin": (0, np.inf, 0)}, r"origin\[1\] is inf"),
        ({"origin": np.zeros((1, 3))}, r"origin must be one vector of shape \(3,\), got \(1, 3\)"),
        ({"size": 0.0}, "size is 0.0; allowed are numbers above zero"),
        ({"size": (1, -1, 1)}, r"size\[1\] is -1.0; allowed are numbers above zero"),
        ({"size": (1, 1)}, r"size must be one number or have shape \(3,\), got \(2,\)"),
        ({"size": np.nan}, "size is nan"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        VoxelGrid(**{"filled": np.ones((2, 2, 2), bool)} | arguments)


def test_the_grid_is_a_copy():
    filled = np.ones((2, 2, 2), bool)
    ground = VoxelGrid(filled)
    filled[:] = False
    assert ground.cast((0.5, 5, 0.5), DOWN, 9.0).hit
