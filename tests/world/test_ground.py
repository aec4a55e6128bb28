"""What holds of every ground: one contract, whatever is hit."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo import course
from kinema.errors import InputError
from kinema.world.ground import Ground, cast_at
from kinema.world.height_field import HeightField
from kinema.world.plane import Plane
from kinema.world.rays import Hits, checked
from kinema.world.sphere import Sphere
from kinema.world.triangle_mesh import TriangleMesh
from kinema.world.voxel_grid import VoxelGrid
from tests import problems
from tests.world import meshes
from tests.world.casting import DOWN, axis_rays, cast_checked, random_rays, same_bits


def _grounds():
    rng = np.random.default_rng(0)
    mesh = meshes.grid(rng.uniform(-0.5, 0.5, (7, 7)))
    grounds = {
        "plane": Plane((0, 0.25, 0), (0.1, 1, -0.2)),
        "sphere": Sphere((0, -1, 0), 3.5),
        "height field": HeightField(rng.uniform(-0.5, 0.5, (8, 9)), (-4, -4), holes=rng.uniform(size=(7, 8)) < 0.1),
        "voxels": VoxelGrid(rng.uniform(size=(8, 4, 8)) < 0.2, (-4, -2, -4)),
        "mesh": TriangleMesh(mesh[0] - (3, 0, 3), mesh[1], accelerator="kernel"),
        "terrain": course(),
        "function": Ground.from_function(lambda x, z: (0.125 * x * z, (-0.125 * z, 1.0, -0.125 * x)), step=0.5),
        "union": Ground.union(Plane((0, -1, 0)), Sphere((1, 0, 1), 1.0)),
    }
    if find_spec("embreex"):
        grounds["mesh by embree"] = TriangleMesh(mesh[0] - (3, 0, 3), mesh[1], accelerator="embree")
    return grounds


GROUNDS = _grounds()
every_ground = pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS.keys())


@every_ground
@pytest.mark.parametrize("rays", [random_rays, axis_rays])
def test_a_batch_is_many_singles(ground, rays):
    origins, directions, reaches = rays(problems.generator(1), 120)
    batch = cast_checked(ground, origins, directions * 3, reaches)
    assert batch.hit.any()
    assert not batch.hit.all()
    for i in range(0, len(origins), 5):
        assert same_bits(ground.cast(origins[i], directions[i] * 3, reaches[i]), [field[i] for field in batch])


@every_ground
def test_threads_change_nothing(ground, monkeypatch):
    origins, directions, reaches = random_rays(problems.generator(2), 40)
    alone = ground.cast(origins, directions, reaches)
    monkeypatch.setenv("KINEMA_THREADS", "3")
    for module in ("plane", "sphere"):
        monkeypatch.setattr(f"kinema.world.{module}.THREADS_FROM_CLOSED_FORM", 8)
    for module in ("height_field", "voxel_grid", "triangle_mesh", "terrain"):
        monkeypatch.setattr(f"kinema.world.{module}.THREADS_FROM_ITERATIVE", 8)
    assert same_bits(ground.cast(origins, directions, reaches), alone)


@every_ground
def test_leading_axes_broadcast(ground):
    origins, directions, reaches = random_rays(problems.generator(3), 12)
    hits = cast_checked(ground, origins.reshape(3, 4, 3), directions[:4], reaches[:3, None])
    for i in range(3):
        for j in range(4):
            single = ground.cast(origins[4 * i + j], directions[j], reaches[i])
            assert same_bits(single, [field[i, j] for field in hits])
    one = cast_checked(ground, origins[0], DOWN, 9.0)
    assert one.point.shape == (3,)
    assert np.ndim(one.hit) == 0 == np.ndim(one.distance)
    assert cast_checked(ground, origins[:1], DOWN, 9.0).point.shape == (1, 3)
    assert cast_checked(ground, np.zeros((0, 3)), DOWN, 9.0).point.shape == (0, 3)
    assert cast_checked(ground, np.zeros((2, 0, 3)), np.ones((2, 1, 3)), 9.0).hit.shape == (2, 0)


@every_ground
def test_the_answer_has_the_precision_of_the_rays(ground):
    origins, directions, reaches = random_rays(problems.generator(4), 30)
    small = origins.astype(np.float32), directions.astype(np.float32)
    hits = cast_checked(ground, *small, reaches)
    assert hits.distance.dtype == hits.point.dtype == hits.normal.dtype == np.float32
    # Computed in float64 all the same: only what comes out is rounded.
    exact = ground.cast(*(array.astype(np.float64) for array in small), reaches.astype(np.float32).astype(np.float64))
    assert all(np.array_equal(a, np.asarray(b).astype(a.dtype)) for a, b in zip(hits, exact, strict=True))
    assert ground.cast(small[0], directions, 3.0).distance.dtype == np.float64
    assert ground.cast(small[0], (0, -1, 0), 3.0).distance.dtype == np.float32
    assert ground.cast([[0, 1, 0]], (0, -1, 0), 3).distance.dtype == np.float64


@every_ground
def test_inputs_are_never_changed(ground):
    arrays = random_rays(problems.generator(5), 10)
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    hits = ground.cast(*arrays)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, copies, strict=True))
    assert all(field.flags.writeable and not any(np.shares_memory(field, a) for a in arrays) for field in hits)


@every_ground
def test_any_layout_of_the_arrays(ground):
    origins, directions, reaches = random_rays(problems.generator(6), 12)
    plain = ground.cast(origins, directions, reaches)
    assert same_bits(ground.cast(np.asfortranarray(origins), directions[::-1][::-1], reaches.tolist()), plain)
    assert same_bits(ground.cast(origins.astype(">f8"), directions.tolist(), np.repeat(reaches, 2)[::2]), plain)


@every_ground
def test_the_length_of_a_direction_does_not_matter(ground):
    origins, directions, reaches = random_rays(problems.generator(7), 12)
    plain = ground.cast(origins, directions, reaches)
    for scale in (2.0**-1000, 2.0**-40, 2.0**40, 2.0**300):
        assert same_bits(ground.cast(origins, directions * scale, reaches), plain)


@every_ground
@given(data=st.data())
def test_finite_in_finite_out(ground, data):
    start, way = data.draw(problems.vectors()), data.draw(problems.vectors())
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    way = way.astype(dtype)
    reach = abs(data.draw(problems.numbers()))
    cast_checked(ground, start.astype(dtype), way if way.any() else DOWN.astype(dtype), reach)


@every_ground
def test_the_largest_rays_there_are(ground):
    for start in ((1e100, 1e100, -1e100), (0, 1e100, 0), (0, 0, 0)):
        for way in ((-1, -1, 1), (0, -1, 0), (1e-300, -1e100, 0), (1, 1e-300, -1e-200)):
            cast_checked(ground, start, way, 1e100)


@every_ground
def test_no_distance_at_all(ground):
    origins, directions, _ = random_rays(problems.generator(8), 30)
    hits = cast_checked(ground, origins, directions, 0.0)
    np.testing.assert_array_equal(hits.point, origins)
    assert np.all(hits.distance == 0)


@every_ground
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"origins": (0, 0)}, r"origins must have shape \(..., 3\), got \(2,\)"),
        ({"origins": (0, np.nan, 0)}, r"origins\[1\] is nan; allowed are finite numbers"),
        ({"origins": "here"}, "origins must be an array of numbers"),
        ({"directions": (0, 0, 0)}, "directions is the zero vector; it must have a direction"),
        ({"directions": [[[0, 1, 0], [0, 0, 0]]]}, r"directions\[0, 1\] is the zero vector"),
        ({"directions": (0, np.inf, 0)}, r"directions\[1\] is inf"),
        ({"max_distance": -1.0}, "max_distance is -1.0; a length must be 0 or more"),
        ({"max_distance": [1.0, np.nan]}, r"max_distance\[1\] is nan"),
        ({"max_distance": np.inf}, "max_distance is inf"),
        ({"origins": np.zeros((2, 3)), "directions": np.ones((3, 3))}, "batch shapes do not match: origins"),
        ({"origins": np.zeros((2, 3)), "max_distance": [1.0, 2.0, 3.0]}, "batch shapes do not match"),
        ({"origins": np.float32([0, 0, 0]), "directions": np.float32([0, 1, 0]), "max_distance": 1e30}, "max_distance"),
    ],
)
def test_bad_input_is_named(ground, arguments, message):
    with pytest.raises(ValueError, match=message):
        ground.cast(**{"origins": (0, 1, 0), "directions": DOWN, "max_distance": 5.0} | arguments)


def test_ground_itself_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Ground()


class Foreign:
    """An object with `cast` that is no `Ground`: it answers every cast with the same."""

    def __init__(self, answer):
        self.answer = answer

    def cast(self, origins, directions, max_distance):
        assert [array.dtype for array in (origins, directions, max_distance)] == [np.float64] * 3
        assert max_distance.shape == (len(origins),)
        return self.answer


def test_an_answer_that_is_not_finite_is_a_miss():
    rays = checked(np.zeros((3, 3)), DOWN, 2.0)[0]
    point = np.array(((1.0, 2.0, 3.0), (np.nan, 0.0, 0.0), (0.0, 0.0, 0.0)), np.float32)
    answer = Hits([1, True, True], point, np.tile((0.0, 1.0, 0.0), (3, 1)), [1.0, 1.0, np.inf])
    hits = cast_at(Foreign(answer), rays)
    np.testing.assert_array_equal(hits.hit, (True, False, False))
    assert all(np.isfinite(field).all() and field.flags.c_contiguous for field in hits)
    assert hits.point.dtype == np.float64


@pytest.mark.parametrize("answer", [None, (True, DOWN), Hits([True], [DOWN], [DOWN], [1.0]), Hits(*"abcd")])
def test_an_answer_of_another_shape_is_named(answer):
    rays = checked(np.zeros((3, 3)), DOWN, 2.0)[0]
    with pytest.raises(InputError, match=r"Foreign.cast returned .*; it must return Hits"):
        cast_at(Foreign(answer), rays)
