"""Records: layouts in both precisions, written through by kernels, compiled or not."""

import numpy as np
import pytest

from kinema.compile.jit import batch, kernel
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import vec
from kinema.math.rows import load3, load_matrix, load_origin, store3, store4, store_matrix
from tests.compiled import COMPILED

SPRING = Record(height=REAL, speed=REAL)
FOOT = Record(position=(REAL, 3), rotation=(REAL, 4), height=REAL, planted=bool)
BODY = Record(pelvis=SPRING, feet=(FOOT, 2), count=np.int64)


@kernel
def step_foot(foot, offset, dt):
    store3(foot.position, vec.add(load3(foot.position), load3(offset)))
    foot.height += dt
    foot.planted = foot.height > offset[0]


@kernel
def step_body(body, offset, dt):
    body.pelvis.height += body.pelvis.speed * dt
    for leg in range(2):
        step_foot(body.feet[leg], offset, dt)
    body.count += 1


@batch
def step_bodies(bodies, offset, dt):
    for i in range(bodies.size):
        step_body(bodies[i], offset, dt)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_kernels_write_through_nested_records(real):
    bodies = BODY.zeros(3, real)
    bodies.pelvis.speed[:] = (1, 2, 3)
    bodies.feet.position[:] = 1
    for _ in range(2):
        step_bodies(bodies, np.array((1, 2, 3), real), real(0.5))
    np.testing.assert_array_equal(bodies.pelvis.height, (1, 2, 3))
    np.testing.assert_array_equal(bodies.feet.position[2, 1], (3, 5, 7))
    np.testing.assert_array_equal(bodies.feet.height, np.ones((3, 2)))
    np.testing.assert_array_equal(bodies.count, (2, 2, 2))
    assert bodies.pelvis.height.dtype == real


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_one_record_from_values(real):
    one = FOOT.of(real, position=(1, 2, 3), rotation=(0, 0, 0, 1), height=0.25, planted=True)
    np.testing.assert_array_equal(one.position, (1, 2, 3))
    assert one.height == real(0.25)
    assert one.planted


def test_a_forgotten_or_misspelt_field_is_an_error():
    with pytest.raises(TypeError, match="height"):
        SPRING.of(np.float64, speed=1.0)
    with pytest.raises(TypeError, match="hight"):
        SPRING.of(np.float64, speed=1.0, hight=1.0)


@batch
def _copy_matrices(source, target, origins, rotations):
    for i in range(len(source)):
        m = load_matrix(source[i])
        store_matrix(target[i], m)
        store3(origins[i], load_origin(source[i]))
        store4(rotations[i], (m[0][0], m[1][0], m[2][0], m[3][0]))


def test_matrix_rows_are_stored_row_by_row():
    source = np.random.default_rng(1).normal(size=(4, 12))
    target, origins, first = np.zeros((4, 12)), np.zeros((4, 3)), np.zeros((4, 4))
    _copy_matrices(source, target, origins, first)
    np.testing.assert_array_equal(target, source)
    np.testing.assert_array_equal(origins, source.reshape(4, 3, 4)[:, :, 3])
    np.testing.assert_array_equal(first, source[:, :4])


def test_a_name_that_numpy_uses_is_an_error():
    with pytest.raises(TypeError, match="flat"):
        Record(flat=REAL)


def test_an_array_of_one_is_an_array():
    assert Record(lane=(REAL, 1)).dtype(np.float64)["lane"].shape == (1,)


@pytest.mark.skipif(not COMPILED, reason="uncompiled kernels take recarrays")
def test_arrays_that_kernels_take_share_the_object_of_their_type():
    """numba compares types that are equal but not the same object field by field, in every call."""
    point = Record(position=(REAL, 3), weight=REAL)
    first, second = kernel_views(point.zeros(2, np.float32), point.zeros(3, np.float32))
    (third,) = kernel_views(np.zeros(1, point.dtype(np.float32)))
    assert first.dtype is second.dtype is third.dtype
    (other,) = kernel_views(point.zeros(2, np.float64))
    assert other.dtype == point.dtype(np.float64)


@pytest.mark.skipif(not COMPILED, reason="uncompiled kernels take recarrays")
def test_what_kernels_write_is_in_the_array_that_was_viewed():
    records = Record(weight=REAL).zeros(2, np.float32)
    (view,) = kernel_views(records)
    view["weight"][1] = 3.0
    assert type(view) is np.ndarray
    assert records.weight.tolist() == [0.0, 3.0]
