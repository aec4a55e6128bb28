"""Terrain: pieces along z with stones on top, against the formula in NumPy, a march along the ray and the mesh."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo import course, rocks, slope, stairs
from kinema.errors import InputError
from kinema.world.ground import Ground
from kinema.world.terrain import PIECE, STONE, Terrain
from tests import problems
from tests.world.casting import DOWN, cast_checked

TERRAINS = {"slope": slope(-25.0), "stairs": stairs(), "rocks": rocks(1, 3.0), "course": course()}
each = pytest.mark.parametrize("terrain", TERRAINS.values(), ids=list(TERRAINS))
NO_STONES = np.zeros(0, STONE)


def surface(terrain, x, z):
    """Heights and normals by the formula: the piece that starts last, and every stone added."""
    piece = terrain.pieces[np.maximum(np.searchsorted(terrain.pieces["start"], z, side="right") - 1, 0)]
    height, slope_x, slope_z = (
        piece["height"] + piece["slope"] * (z - piece["start"]),
        0.0 * x,
        piece["slope"] + 0.0 * x,
    )
    for stone in terrain.stones:
        off_x, off_z = x - stone["x"], z - stone["z"]
        distance, rim = np.hypot(off_x, off_z), stone["rim"] * stone["radius"]
        share = np.clip((stone["radius"] - distance) / rim, 0.0, 1.0)
        height = height + stone["height"] * share * share * (3 - 2 * share)
        fall = -stone["height"] * 6 * share * (1 - share) / rim / np.where(distance > 0, distance, 1.0)
        slope_x, slope_z = slope_x + fall * off_x, slope_z + fall * off_z
    normals = np.stack((-slope_x, np.ones_like(x), -slope_z), axis=-1)
    return height, normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def slanted_rays(terrain, count, seed=3):
    """Rays from above and below, in all directions, over all of the terrain and beyond."""
    draw = problems.generator(seed)
    origins = draw.uniform((-2.5, -1.0, -1.0), (2.5, 3.0, terrain.length + 1.0), (count, 3))
    return origins, problems.units(draw, count), draw.uniform(0.0, 12.0, count)


@each
def test_heights_and_normals_are_those_of_the_formula(terrain):
    draw = problems.generator(1)
    x, z = draw.uniform(-2.5, 2.5, 500), draw.uniform(-1.0, terrain.length + 1.0, 500)
    height, normal = terrain.height_and_normal(x, z)
    expected, facing = surface(terrain, x, z)
    np.testing.assert_allclose(height, expected, atol=1e-12)
    np.testing.assert_allclose(normal, facing, atol=1e-12)


@each
def test_slanted_rays_find_what_a_march_finds(terrain):
    """Grazing rays may pass a feature narrower than a step of the march: one in a hundred may differ."""
    origins, directions, reaches = slanted_rays(terrain, 200)
    hits = cast_checked(terrain, origins, directions, reaches)
    marched = Ground.from_function(lambda x, z: surface(terrain, x, z), step=0.01).cast(origins, directions, reaches)
    alike = (hits.hit == marched.hit) & (np.abs(hits.distance - marched.distance) < 1e-6)
    assert alike.mean() >= 0.99
    assert 20 < hits.hit.sum() < 190


@each
def test_every_hit_lies_on_the_surface_or_on_a_riser(terrain):
    origins, directions, reaches = slanted_rays(terrain, 300, seed=4)
    hits = terrain.cast(origins, directions, reaches)
    x, y, z = hits.point[hits.hit].T
    on_riser = np.abs(z[:, np.newaxis] - terrain.pieces["start"]).min(axis=1) < 1e-9
    height, normal = surface(terrain, x, z)
    np.testing.assert_allclose(y[~on_riser], height[~on_riser], atol=1e-9)
    facing = np.abs(np.sum(hits.normal[hits.hit] * normal, axis=-1))
    assert (facing[~on_riser] > 1 - 1e-6).all()
    upright = np.abs(hits.normal[hits.hit][on_riser, 2])
    assert (upright > 1 - 1e-12).all()


@pytest.mark.parametrize("name", ["slope", "stairs"])
def test_without_stones_the_mesh_is_hit_at_the_same_distance(name):
    terrain = TERRAINS[name]
    origins, directions, reaches = slanted_rays(terrain, 300, seed=5)
    hits, mesh = (ground.cast(origins, directions, reaches) for ground in (terrain, terrain.triangles()))
    ends = origins + directions * hits.distance[:, np.newaxis]
    inside = hits.hit & (np.abs(ends[:, 0]) < 1.99) & (ends[:, 2] > 0.01) & (ends[:, 2] < terrain.length - 0.01)
    assert inside.sum() > 30
    np.testing.assert_allclose(hits.distance[inside], mesh.distance[inside], atol=1e-9)
    np.testing.assert_allclose(hits.normal[inside], mesh.normal[inside], atol=1e-9)


def test_a_riser_is_met_from_both_sides():
    terrain = stairs(0.18, 0.29, 4)
    ahead = terrain.cast((0.0, 0.1, 0.0), (0.0, 0.0, 1.0), 10.0)
    back = terrain.cast((0.0, 0.1, 2.1), (0.0, 0.0, -1.0), 10.0)  # From inside the first step.
    assert (ahead.distance, back.distance) == (pytest.approx(2.0), pytest.approx(0.1))
    np.testing.assert_array_equal(ahead.normal, (0.0, 0.0, -1.0))
    np.testing.assert_array_equal(back.normal, (0.0, 0.0, 1.0))


@each
@given(data=st.data())
def test_a_ray_that_ends_at_its_hit_still_hits(terrain, data):
    start = data.draw(st.tuples(st.floats(-2, 2), st.floats(-1, 3), st.floats(-1, 12)))
    way = data.draw(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda way: max(map(abs, way)) > 1e-100))
    first = cast_checked(terrain, start, way, 20.0)
    again = cast_checked(terrain, start, way, first.distance)
    assert again.hit == first.hit
    assert again.distance == first.distance


def test_a_ray_along_the_ground_misses_and_one_that_starts_on_it_hits():
    level = Terrain(np.array([(0.0, 0.5, 0.0)], PIECE), NO_STONES, 3.0)
    assert not level.cast((0, 0.5, 0), (0, 0, 1), 9.0).hit
    for way in (DOWN, -DOWN, (0.0, 1.0, 2.0), (0.3, -1.0, 0.0)):
        assert level.cast((0, 0.5, 0), way, 9.0).distance == 0.0
    assert level.cast((0, -1.0, 0), (0, 1, 0.5), 9.0).normal[1] == -1.0


def test_stones_far_from_each_other_are_found_too():
    stones = np.array([(0.0, 5.0, 0.3, 0.1, 0.5), (0.0, -900.0, 0.3, 0.1, 0.5)], STONE)
    terrain = Terrain(np.array([(0.0, 0.0, 0.0)], PIECE), stones, 10.0)
    for z in (5.0, -900.0):
        assert terrain.cast((0.0, 1.0, z), DOWN, 5.0).distance == pytest.approx(0.9)
        assert terrain.height_and_normal(0.0, z)[0] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("pieces", "stones", "message"),
    [
        (np.zeros(0, PIECE), NO_STONES, "pieces must be one or more"),
        (np.array([(1.0, 0, 0), (0.0, 0, 0)], PIECE), NO_STONES, "ordered by start"),
        (np.zeros((2, 3)), NO_STONES, r"pieces must be an array \(n,\)"),
        (np.array([(0.0, np.nan, 0)], PIECE), NO_STONES, r"pieces\['height'\]"),
        (np.zeros(1, PIECE), np.zeros(1, STONE), "radius"),
    ],
)
def test_what_is_no_terrain_is_refused(pieces, stones, message):
    with pytest.raises(InputError, match=message):
        Terrain(pieces, stones, 1.0)
