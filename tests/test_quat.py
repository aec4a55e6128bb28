"""`km.quat` against the definitions, in both precisions."""

import itertools
import math

import numpy as np
import pytest

import kinema as km
from tests import naive, problems


def test_products_rotate_by_the_second_first():
    rng = problems.generator(51)
    a, b, v = problems.quaternions(rng, 20), problems.quaternions(rng, 20), rng.normal(size=(20, 3))
    np.testing.assert_allclose(km.quat.mul(a, b), naive.quat_mul(a, b), atol=1e-12)
    np.testing.assert_allclose(
        km.quat.rotate(km.quat.mul(a, b), v), km.quat.rotate(a, km.quat.rotate(b, v)), atol=1e-12
    )


def test_rotate_is_the_definition_and_conjugate_undoes_it():
    rng = problems.generator(52)
    q, v = problems.quaternions(rng, 20), rng.normal(size=(20, 3))
    np.testing.assert_allclose(km.quat.rotate(q, v), naive.quat_rotate(q, v), atol=1e-12)
    np.testing.assert_allclose(km.quat.rotate(km.quat.conjugate(q), km.quat.rotate(q, v)), v, atol=1e-12)


def test_an_axis_of_any_length_and_an_angle():
    np.testing.assert_allclose(
        km.quat.from_axis_angle((0, 3, 0), math.pi / 2), naive.quat_from_axis_angle((0, 1, 0), math.pi / 2)
    )


def test_slerp_has_constant_speed():
    rng = problems.generator(53)
    a, b = problems.quaternions(rng, 2)
    for share in (0.0, 0.3, 1.0):
        assert naive.angle_between_rotations(km.quat.slerp(a, b, share), naive.slerp(a, b, share)) < 1e-9


ORDERS = ["".join(axes) for axes in itertools.product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]]
ORDERS += [order.upper() for order in ORDERS]


def by_hand(angles, order):
    """Small letters: one rotation after the other about axes that stay. Capitals: about axes that rotate along."""
    q = np.array([0.0, 0.0, 0.0, 1.0])
    for angle, letter in zip(angles, order, strict=True):
        step = naive.quat_from_axis_angle(np.eye(3)["xyz".index(letter.lower())], angle)
        q = naive.quat_mul(q, step) if letter.isupper() else naive.quat_mul(step, q)
    return q


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_one_rotation_after_the_other(order):
    rng = problems.generator(54)
    angles = rng.uniform(-7, 7, (40, 3))
    expected = [by_hand(each, order) for each in angles]
    np.testing.assert_allclose(km.quat.from_euler(angles, order), expected, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_come_back_in_their_ranges(order):
    rng = problems.generator(55)
    low, high = (0, math.pi) if order[0] == order[2] else (-math.pi / 2, math.pi / 2)
    angles = rng.uniform(-math.pi, math.pi, (200, 3))
    angles[:, 1] = rng.uniform(low + 1e-3, high - 1e-3, 200)
    np.testing.assert_allclose(km.quat.to_euler(km.quat.from_euler(angles, order), order), angles, atol=1e-10)
    single = km.quat.to_euler(km.quat.from_euler(angles.astype(np.float32), order), order)
    assert single.dtype == np.float32
    # Next to gimbal lock two of the angles are known less well than the rotation.
    assert (
        naive.angle_between_rotations(km.quat.from_euler(single, order), km.quat.from_euler(angles, order)).max() < 1e-5
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ORDERS)
def test_in_gimbal_lock_the_third_angle_is_zero(order, dtype):
    """Every multiple of a quarter for each angle: half of these rotations are in gimbal lock."""
    angles = np.array(list(itertools.product(np.arange(-2, 3) * math.pi / 2, repeat=3)), dtype)
    q = km.quat.from_euler(angles, order)
    found = km.quat.to_euler(q, order)
    assert naive.angle_between_rotations(km.quat.from_euler(found, order), q).max() < (
        1e-7 if dtype == np.float64 else 1e-3
    )
    low, high = (0, math.pi) if order[0] == order[2] else (-math.pi / 2, math.pi / 2)
    locked = (np.abs(found[:, 1] - low) < 1e-3) | (np.abs(found[:, 1] - high) < 1e-3)
    assert locked.sum() >= 25
    np.testing.assert_array_equal(found[locked, 2], 0)


def test_matrices_have_the_rotated_axes_as_columns():
    rng = problems.generator(56)
    q = problems.quaternions(rng, 5, 40)
    q[0, :4] = np.eye(4)
    matrices = km.quat.to_matrix(q)
    for axis in range(3):
        np.testing.assert_allclose(matrices[..., axis], naive.quat_rotate(q, np.eye(3)[axis]), atol=1e-12)
    back = km.quat.from_matrix(matrices)
    assert (back[..., 3] >= 0).all()
    assert naive.angle_between_rotations(back, q).max() < 1e-7


def test_axis_and_angle_come_back():
    rng = problems.generator(57)
    axis, angle = problems.units(rng, 50), rng.uniform(0, math.pi, 50)
    found_axis, found_angle = km.quat.to_axis_angle(-km.quat.from_axis_angle(axis, angle))
    np.testing.assert_allclose(found_axis, axis, atol=1e-9)
    np.testing.assert_allclose(found_angle, angle, atol=1e-9)
    axis, angle = km.quat.to_axis_angle((0, 0, 0, 1))
    assert axis.tolist() == [0, 1, 0]
    assert angle == 0


def test_w_first_is_the_same_numbers_in_another_order():
    assert km.quat.from_wxyz((1, 2, 3, 4)).tolist() == [2, 3, 4, 1]
    assert km.quat.to_wxyz((1, 2, 3, 4)).tolist() == [4, 1, 2, 3]


def test_float32_stays_float32():
    q = np.array([0, 0, 0, 1], np.float32)
    answers = (
        km.quat.mul(q, q),
        km.quat.slerp(q, q, 0.5),
        km.quat.conjugate(q),
        *km.quat.to_axis_angle(q),
        km.quat.to_matrix(q),
        km.quat.from_matrix(km.quat.to_matrix(q)),
        km.quat.to_euler(q, "ZXY"),
        km.quat.from_euler(q[:3], "ZXZ"),
        km.quat.from_wxyz(q),
        km.quat.to_wxyz(q),
    )
    assert {answer.dtype for answer in answers} == {np.dtype(np.float32)}


def test_only_public_names_are_completed():
    assert dir(km.quat) == km.quat.__all__
    assert all(callable(getattr(km.quat, name)) for name in km.quat.__all__)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: km.quat.mul((0, 0, 1), (0, 0, 0, 1)), r"a must have shape \(..., 4\)"),
        (lambda: km.quat.rotate((0, 0, 0, np.nan), (0, 0, 1)), r"q\[3\] is nan"),
        (lambda: km.quat.from_axis_angle((0, 0, 0), 1.0), "axis is the zero vector"),
        (lambda: km.quat.from_matrix(np.eye(4)), r"matrix must have shape \(..., 3, 3\), got \(4, 4\)"),
        (lambda: km.quat.from_matrix([np.eye(3), np.diag((1, 1, -1))]), r"matrix\[1\] is no rotation"),
        (lambda: km.quat.from_matrix(2 * np.eye(3)), "matrix is no rotation; its axes must have length 1"),
        (lambda: km.quat.to_euler((0, 0, 0, 0), "XYZ"), "q is the zero vector"),
        (lambda: km.quat.from_euler((0, 0, 0), "XYz"), "order is 'XYz'; allowed are three of X, Y, Z"),
        (lambda: km.quat.from_euler((0, 0, 0), "xxy"), "order is 'xxy'"),
        (lambda: km.quat.to_euler((0, 0, 0, 1), None), "order is None"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
