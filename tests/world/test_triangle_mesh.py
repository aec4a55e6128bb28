"""Meshes, by the kernel and by Embree, against every triangle."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.world.triangle_mesh import TriangleMesh
from tests import problems
from tests.compiled import COMPILED
from tests.world import meshes, naive_casts
from tests.world.casting import DOWN, agrees, axis_rays, cast_checked, random_rays, same_bits

COUNT = 400 if COMPILED else 200

without_embree = pytest.mark.skipif(find_spec("embreex") is None, reason="embreex is not installed")
both = pytest.mark.parametrize("accelerator", ["kernel", pytest.param("embree", marks=without_embree)])


def hills(rng, count=9):
    return meshes.grid(rng.uniform(-0.7, 0.7, (count, count)), 0.75)


def corners_of(mesh):
    vertices, triangles = mesh
    return vertices[triangles]


# --- the oracle ------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("rays", [random_rays, axis_rays])
@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("shape", ["hills", "soup", "box"])
def test_agrees_with_every_triangle(accelerator, rays, two_sided, shape):
    rng = problems.generator(1)
    mesh = {"hills": hills(rng), "soup": meshes.soup(rng, 150), "box": meshes.box((-2, -1, 0.5), (1, 2.2, 3))}[shape]
    origins, directions, reaches = rays(rng, COUNT, 3.0)
    hits = cast_checked(TriangleMesh(*mesh, accelerator=accelerator, two_sided=two_sided), origins, directions, reaches)
    expected, which = naive_casts.triangles(origins, directions, reaches, corners_of(mesh), front_only=not two_sided)
    agrees(hits, expected)
    assert hits.hit.any()
    assert not hits.hit.all()
    a, b, c = np.moveaxis(corners_of(mesh)[which[hits.hit]], 1, 0)
    normals = naive_casts.unit(np.cross(b - a, c - a))
    normals *= -np.sign(np.sum(normals * directions[hits.hit], axis=1, keepdims=True))
    np.testing.assert_allclose(hits.normal[hits.hit], normals, atol=1e-7)


def test_the_front_is_counter_clockwise():
    floor = np.array([[0.0, 0, 0], [0, 0, 2], [2, 0, 0]]), [[0, 1, 2]]
    for accelerator in ["kernel"] + ["embree"] * (find_spec("embreex") is not None):
        ground = TriangleMesh(*floor, accelerator=accelerator, two_sided=False)
        assert ground.cast((0.5, 1, 0.5), DOWN, 5.0).hit
        assert not ground.cast((0.5, -1, 0.5), -DOWN, 5.0).hit
        back = TriangleMesh(*floor, accelerator=accelerator).cast((0.5, -1, 0.5), -DOWN, 5.0)
        assert back.distance == 1.0
        np.testing.assert_array_equal(back.normal, (0, -1, 0))


@both
def test_one_sided_the_first_front_behind_a_back_is_hit(accelerator):
    """From inside a box, out through its wall, to another box."""
    (a, s), (b, t) = meshes.box(), meshes.box((3, -1, -1), (4, 1, 1))
    mesh = np.concatenate([a, b]), np.concatenate([s, t + 8])
    ray = (0.1, 0.2, 0.3), (1, 0, 0), 10.0
    assert TriangleMesh(*mesh, accelerator=accelerator).cast(*ray).distance == pytest.approx(0.9)
    assert TriangleMesh(*mesh, accelerator=accelerator, two_sided=False).cast(*ray).distance == pytest.approx(2.9)


# --- edges and corners -----------------------------------------------------------------------------------------


@both
def test_no_ray_slips_through_shared_edges_and_corners(accelerator):
    """From anywhere, aimed at corners and at points of edges, as exactly as numbers allow."""
    rng = problems.generator(2)
    vertices, triangles = hills(rng, 7)
    inner = np.all((vertices[:, (0, 2)] > 0.1) & (vertices[:, (0, 2)] < 4.4), axis=1)
    ends = [vertices[inner]]
    for k in range(3):
        a, b = triangles[:, k], triangles[:, (k + 1) % 3]
        kept = inner[a] & inner[b]
        for share in (0.5, 0.3, rng.uniform()):
            ends.append(vertices[a[kept]] * (1 - share) + vertices[b[kept]] * share)
    ends = np.concatenate(ends)
    if not COMPILED:
        ends = ends[::6]
    ground = TriangleMesh(vertices, triangles, accelerator=accelerator)
    for origins in (ends + (0, 5, 0), ends + problems.units(rng, len(ends)) + (0, 4, 0), ends - (0, 5, 0)):
        hits = cast_checked(ground, origins, ends - origins, 20.0)
        assert hits.hit.all()
        short = np.linalg.norm(ends - origins, axis=1) - hits.distance
        assert np.all(short > -1e-9)
        expected, _ = naive_casts.triangles(
            origins, naive_casts.unit(ends - origins), np.full(len(ends), 20.0), vertices[triangles], slack=1e-9
        )
        np.testing.assert_allclose(hits.distance, expected, atol=1e-6)


@both
def test_a_closed_box_keeps_everything_in(accelerator):
    """From its middle to its corners, along and next to its edges and the diagonals of its sides."""
    ground = TriangleMesh(*meshes.box(), accelerator=accelerator)
    steps = np.linspace(-1, 1, 9)
    ways = np.array([(x, y, z) for x in steps for y in steps for z in steps if max(abs(x), abs(y), abs(z)) == 1])
    ways = ways if COMPILED else ways[::5]
    for start in ((0, 0, 0), (0.3, -0.2, 0.1)):
        hits = cast_checked(ground, start, ways - start, 9.0)
        assert hits.hit.all()
        np.testing.assert_allclose(hits.point, ways, atol=1e-12)
    outside = cast_checked(ground, ways * 3, -ways, 9.0)
    np.testing.assert_allclose(outside.point, ways, atol=1e-9)


@both
def test_a_corner_shared_by_many(accelerator):
    ground = TriangleMesh(*meshes.fan(97), accelerator=accelerator)
    rng = problems.generator(3)
    origins = problems.units(rng, COUNT) * (1, 0.5, 1) + (0, 1, 0)
    hits = cast_checked(ground, origins, -origins, 5.0)
    assert hits.hit.all()
    np.testing.assert_allclose(hits.point, np.zeros((COUNT, 3)), atol=1e-12)


@both
def test_level_ground_is_exact(accelerator):
    ground = TriangleMesh(*meshes.grid(np.full((6, 6), 0.3)), accelerator=accelerator)
    x, z = np.meshgrid(np.linspace(0, 5, 11), np.linspace(0, 5, 11))
    hits = ground.cast(np.stack([x, np.full(x.shape, 1.3), z], axis=-1), DOWN, 5.0)
    assert hits.hit.all()
    assert np.all(hits.distance == 1.3 - 0.3)
    np.testing.assert_array_equal(hits.normal, np.broadcast_to((0, 1, 0), hits.normal.shape))


# --- other edge cases ------------------------------------------------------------------------------------------


@both
def test_a_ray_that_starts_on_a_triangle_or_runs_along_one(accelerator):
    """With another floor below, and another ceiling above, that must not be taken for it."""
    vertices, triangles = meshes.grid(np.zeros((4, 4)))
    vertices = np.concatenate([vertices + (0, height, 0) for height in (0, -2, 2)])
    triangles = np.concatenate([triangles, triangles + 16, triangles[:, ::-1] + 32])
    ground = TriangleMesh(vertices, triangles, accelerator=accelerator)
    front = TriangleMesh(vertices, triangles, accelerator=accelerator, two_sided=False)
    for start in ((1.25, 0, 1.5), (1, 0, 1), (1.5, 0, 1.5), (0, 0, 0)):
        for way in ((0, -1, 0), (0.3, -1, 0.1), (0, 1, 0)):
            hits = ground.cast(start, way, 0.0)
            assert hits.hit
            assert hits.distance == 0
            assert hits.normal[1] == -np.sign(way[1])
            assert ground.cast(start, way, 9.0).distance == 0
            # Seen from its own front it is hit; from behind, the ceiling is.
            assert (front.cast(start, way, 9.0).distance == 0) == (way[1] < 0)
        assert not ground.cast(start, (1, 0, 0), 9.0).hit
    assert not ground.cast((-1, 0, 1.2), (1, 0, 0), 9.0).hit


@both
def test_the_end_of_the_ray_belongs_to_it(accelerator):
    rng = problems.generator(4)
    ground = TriangleMesh(*meshes.soup(rng, 100), accelerator=accelerator)
    origins, directions, _ = random_rays(rng, COUNT, 3.0)
    first = ground.cast(origins, directions, 20.0)
    again = ground.cast(origins, directions, first.distance)
    assert first.hit.any()
    assert same_bits(again._replace(point=0), first._replace(point=0))
    shorter = ground.cast(origins, directions, np.nextafter(first.distance, 0))
    assert not shorter.hit.any()


@both
def test_the_order_rays_are_taken_in_changes_nothing(accelerator, monkeypatch):
    rng = problems.generator(7)
    ground = TriangleMesh(*meshes.soup(rng, 100), accelerator=accelerator)
    for rays in (random_rays, axis_rays):
        origins, directions, reaches = rays(rng, COUNT, 3.0)
        as_given = ground.cast(origins, directions, reaches)
        with monkeypatch.context() as patch:
            patch.setattr("kinema.world.triangle_mesh.SORTED_FROM", 1)
            assert same_bits(ground.cast(origins, directions, reaches), as_given)


@both
def test_far_from_the_origin_and_from_far_away(accelerator):
    """A level a million metres off; float32 has steps of 6 cm there."""
    rng = problems.generator(5)
    vertices, triangles = hills(rng)
    origins, directions, reaches = random_rays(rng, COUNT, 3.0)
    away = np.array([1e6, -2e5, 3e6])
    expected, _ = naive_casts.triangles(origins, directions, reaches, vertices[triangles])
    hits = TriangleMesh(vertices + away, triangles, accelerator=accelerator).cast(origins + away, directions, reaches)
    assert np.mean(hits.hit == np.isfinite(expected)) > 0.99
    shared = hits.hit & np.isfinite(expected)
    np.testing.assert_allclose(hits.distance[shared], expected[shared], atol=1e-7)
    aimed = np.array([3.0, 0.0, 3.0]) + rng.uniform(-1, 1, (COUNT, 3))
    origins = aimed + problems.units(rng, COUNT) * 1e4
    units = naive_casts.unit(aimed - origins)
    expected, _ = naive_casts.triangles(origins, units, np.full(COUNT, 1e5), vertices[triangles])
    hits = TriangleMesh(vertices, triangles, accelerator=accelerator).cast(origins, aimed - origins, 1e5)
    agrees(hits, expected, atol=1e-7)


@both
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_any_size(accelerator, size):
    rng = problems.generator(6)
    vertices, triangles = meshes.soup(rng, 80)
    origins, directions, reaches = random_rays(rng, COUNT // 2, 3.0)
    hits = cast_checked(
        TriangleMesh(vertices * size, triangles, accelerator=accelerator), origins * size, directions, reaches * size
    )
    expected, _ = naive_casts.triangles(origins, directions, reaches, vertices[triangles])
    agrees(hits._replace(distance=hits.distance / size), expected)


@both
def test_triangles_without_an_area_are_left_out(accelerator):
    vertices = [[0, 0, 0], [2, 0, 0], [0, 0, 2], [1, 0, 0], [5, 5, 5]]
    triangles = [[0, 0, 0], [0, 3, 1], [4, 4, 1], [0, 2, 1]]
    ground = TriangleMesh(vertices, triangles, accelerator=accelerator)
    assert cast_checked(ground, [[0.5, 1, 0.5], [1, 1, 0], [5, 9, 5]], DOWN, 9.0).hit.tolist() == [True, True, False]
    for nothing in (np.zeros((0, 3), int), [[0, 3, 1]]):
        assert not cast_checked(TriangleMesh(vertices, nothing, accelerator=accelerator), (0.5, 1, 0), DOWN, 9.0).hit


@both
@given(data=st.data())
def test_finite_in_finite_out(accelerator, data):
    vertices = np.array([data.draw(problems.vectors()) for _ in range(4)])
    start, way = data.draw(problems.vectors()), data.draw(problems.vectors())
    ground = TriangleMesh(vertices, [[0, 1, 2], [1, 3, 2]], accelerator=accelerator)
    cast_checked(ground, start, way if way.any() else DOWN, abs(data.draw(problems.numbers())))


def test_the_largest_numbers_there_are():
    vertices = np.array([[-1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]) * 1e100
    ground = TriangleMesh(vertices, [[0, 1, 2]], accelerator="kernel")
    hits = cast_checked(ground, (0, 9e99, 0), (0.1, -1, 0), 1e100)
    assert hits.hit
    assert hits.distance == pytest.approx(9e99 * np.hypot(1, 0.1))


# --- input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vertices": np.zeros(3)}, r"vertices must have shape \(V, 3\), got \(3,\)"),
        ({"vertices": np.zeros((4, 2))}, r"vertices must have shape \(..., 3\), got \(4, 2\)"),
        ({"vertices": [[0, 0, 0], [0, np.nan, 0], [1, 1, 1]]}, r"vertices\[1, 1\] is nan"),
        ({"triangles": [[0, 1, 2], [0, 3, 1]]}, r"triangles\[1, 1\] is 3; allowed are 0 to 2"),
        ({"triangles": [[0, 1, -1]]}, r"triangles\[0, 2\] is -1; allowed are 0 to 2"),
        ({"triangles": [0, 1, 2]}, r"triangles must have shape \(T, 3\), got \(3,\)"),
        ({"triangles": [[0.0, 1.0, 2.0]]}, "triangles must be whole numbers, got float64"),
        ({"accelerator": "gpu"}, "accelerator is 'gpu'; allowed are 'auto', 'kernel', 'embree'"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        TriangleMesh(**{"vertices": np.eye(3), "triangles": [[0, 1, 2]]} | arguments)


def test_the_mesh_is_a_copy():
    vertices, triangles = meshes.grid(np.zeros((3, 3)))
    ground = TriangleMesh(vertices, triangles)
    vertices += 10.0
    assert ground.cast((1, 2, 1), DOWN, 9.0).distance == 2.0


def test_which_accelerator(monkeypatch):
    mesh = meshes.box()
    installed = find_spec("embreex") is not None
    assert TriangleMesh(*mesh).accelerator == ("embree" if installed else "kernel")
    assert TriangleMesh(*mesh, accelerator="kernel").accelerator == "kernel"
    monkeypatch.setattr("kinema.world.triangle_mesh.find_spec", lambda name: None)
    assert TriangleMesh(*mesh).accelerator == "kernel"
    with pytest.raises(ValueError, match="accelerator is 'embree', but embreex is not installed"):
        TriangleMesh(*mesh, accelerator="embree")
