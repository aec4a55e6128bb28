import numpy as np
import pytest

from kinema.demo import course, rocks, slope, stairs, voxels
from kinema.world.terrain import Terrain

DOWN = (0.0, -1.0, 0.0)
ALL = {
    "slope": slope(20.0),
    "slope down": slope(-25.0),
    "stairs": stairs(),
    "rocks": rocks(1),
    "course": course(),
}

each = pytest.mark.parametrize("terrain", ALL.values(), ids=list(ALL))


def scattered(terrain, count=2000):
    draw = np.random.default_rng(7)
    return draw.uniform(-2.0, 2.0, count), draw.uniform(0.0, terrain.length, count)


def away_from_corners(terrain, z, margin):
    return np.abs(z[:, np.newaxis] - terrain.pieces["start"]).min(axis=1) > margin


@each
def test_normals_are_those_of_the_heights(terrain):
    x, z = scattered(terrain)
    kept = away_from_corners(terrain, z, 1e-3)
    x, z, h = x[kept], z[kept], 1e-6
    _, normals = terrain.height_and_normal(x, z)
    along_x, along_z = (
        (terrain.height_and_normal(x + a, z + b)[0] - terrain.height_and_normal(x - a, z - b)[0]) / (2 * h)
        for a, b in ((h, 0), (0, h))
    )
    expected = np.stack((-along_x, np.ones_like(x), -along_z), axis=1)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs(normals - expected).max() < 1e-5


@each
def test_the_mesh_lies_on_the_ground_and_faces_up(terrain):
    vertices, triangles = terrain.mesh(0.1)
    x, y, z = vertices.T
    here, _ = terrain.height_and_normal(x, z)
    before, _ = terrain.height_and_normal(x, np.nextafter(z, -1.0))
    assert np.minimum(np.abs(y - here), np.abs(y - before)).max() < 1e-12
    a, b, c = (vertices[triangles[:, n]] for n in range(3))
    assert np.cross(b - a, c - a)[:, 1].min() > -1e-12
    assert z.min() == 0.0
    assert z.max() == pytest.approx(terrain.length)
    assert x.min() == -2.0
    assert x.max() == 2.0


def rays_down(terrain):
    """(R, 3): from above, clear of corners and borders."""
    x, z = scattered(terrain, 300)
    inside = away_from_corners(terrain, z, 1e-3) & (np.abs(x) < 1.99) & (z > 0.01) & (z < terrain.length - 0.01)
    return np.stack((x, np.full_like(x, 5.0), z), axis=1)[inside]


@each
def test_a_ray_down_finds_the_ground(terrain):
    origins = rays_down(terrain)
    hits = terrain.cast(origins, DOWN, 10.0)
    height, normal = terrain.height_and_normal(origins[:, 0], origins[:, 2])
    assert hits.hit.all()
    assert np.abs(hits.point[:, 1] - height).max() < 1e-9
    assert np.abs(hits.normal - normal).max() < 1e-9


@pytest.mark.parametrize(
    ("name", "spacing", "within"),
    [
        ("slope", 1.0, 1e-6),
        ("stairs", 1.0, 1e-6),
        pytest.param("rocks", 0.04, 0.02, marks=pytest.mark.slow_uncompiled),
        pytest.param("course", 0.04, 0.02, marks=pytest.mark.slow_uncompiled),
    ],
)
def test_the_mesh_is_the_same_ground(name, spacing, within):
    """Exactly where the ground is straight; where there are stones it cuts across them."""
    origins = rays_down(ALL[name])
    hits = ALL[name].triangles(spacing).cast(origins, DOWN, 10.0)
    height, _ = ALL[name].height_and_normal(origins[:, 0], origins[:, 2])
    assert hits.hit.all()
    assert np.abs(hits.point[:, 1] - height).max() < within


def test_a_slope_is_as_steep_as_it_says():
    height, normal = slope(20.0, 4.0).height_and_normal(0.3, np.array((1.0, 3.0, 7.0)))
    assert height == pytest.approx((0.0, np.tan(np.radians(20)), 4 * np.tan(np.radians(20))))
    assert np.degrees(np.arccos(normal[:, 1])) == pytest.approx((0.0, 20.0, 0.0))


def test_stairs_rise_by_steps():
    terrain = stairs(0.18, 0.29, 4)
    edges = 2.0 + 0.29 * np.arange(4)
    height, normal = terrain.height_and_normal(0.0, np.concatenate((edges - 1e-6, edges + 1e-6)))
    assert height == pytest.approx(0.18 * np.array((0, 1, 2, 3, 1, 2, 3, 4)))
    assert np.allclose(normal, (0.0, 1.0, 0.0))
    side = terrain.triangles().cast((0.0, 0.1, 0.0), (0.0, 0.0, 1.0), 10.0)
    assert side.hit
    assert side.distance == pytest.approx(2.0)
    assert np.allclose(np.abs(side.normal), (0.0, 0.0, 1.0))


@pytest.mark.parametrize("seed", range(4))
def test_rocks_have_flat_tops_and_are_no_higher_than_they_should_be(seed):
    terrain = rocks(seed)
    x, z = np.meshgrid(np.linspace(-2.0, 2.0, 300), np.linspace(0.0, terrain.length, 500))
    height, _ = terrain.height_and_normal(x, z)
    assert 0.08 < height.max() < 0.17
    assert height.min() == 0.0
    stones = terrain.stones[terrain.stones["rim"] < 1]
    assert len(stones) > 20
    x, z, radius = (stones[field] for field in ("x", "z", "radius"))
    apart = np.hypot(np.subtract.outer(x, x), np.subtract.outer(z, z)) - np.add.outer(radius, radius)
    assert apart[~np.eye(len(stones), dtype=bool)].min() > 0


def test_the_course_has_all_of_it():
    terrain = course()
    z = np.linspace(0.0, terrain.length, 20_001)
    height, normal = terrain.height_and_normal(0.0, z)
    jumps = np.diff(height)
    steep = np.degrees(np.arccos(normal[:, 1]))[away_from_corners(terrain, z, 1e-3)]
    assert terrain.length > 10.0
    assert len(terrain.stones) > 8
    assert (jumps > 0.17).sum() == 5
    assert (jumps < -0.17).sum() == 5
    ramps = np.degrees(np.arctan(terrain.pieces["slope"]))
    assert ramps.max() == pytest.approx(25.0)
    assert ramps.min() == pytest.approx(-25.0)
    assert steep.max() >= 24.9
    assert height[0] == pytest.approx(0.0, abs=1e-9)
    assert height[-1] == pytest.approx(0.0, abs=1e-9)


def test_seeds_decide():
    assert np.array_equal(rocks(3).stones, rocks(3).stones)
    assert not np.array_equal(rocks(3).stones, rocks(4).stones)


def test_heights_have_the_shape_of_the_positions():
    terrain = course()
    height, normal = terrain.height_and_normal(np.zeros((2, 3)), 1.0)
    assert height.shape == (2, 3)
    assert normal.shape == (2, 3, 3)
    assert isinstance(terrain, Terrain)
    assert np.shape(terrain.height_and_normal(0.0, 1.0)[0]) == ()


def test_voxels_can_be_walked():
    """Down from above at each block: whole blocks, neighbours one apart at most, level where the walk starts."""
    size = 0.12
    ground = voxels(2, size)
    x, z = np.meshgrid(np.arange(-1.9, 1.9, size), np.arange(0.06, 9.9, size), indexing="ij")
    origins = np.stack((x, np.full_like(x, 3.0), z), axis=-1)
    hits = ground.cast(origins, DOWN, 10.0)
    levels = hits.point[..., 1] / size
    assert hits.hit.all()
    assert np.abs(levels - np.rint(levels)).max() < 1e-9
    assert np.abs(np.diff(levels, axis=0)).max() <= 1 + 1e-9
    assert np.abs(np.diff(levels, axis=1)).max() <= 1 + 1e-9
    assert np.abs(levels[z < 1.9]).max() < 1e-9
    assert levels.max() >= 2
