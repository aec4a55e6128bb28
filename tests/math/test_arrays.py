"""Quaternions and matrices as whole arrays: the same answers as the definitions, for any leading axes."""

import numpy as np
import pytest
from hypothesis import given

from kinema.math import arrays, quat
from tests import compiled, naive, problems
from tests.compiled import both_precisions, eps

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def random_rotations(rng, *shape, dtype=np.float64):
    return problems.quaternions(rng, *shape).astype(dtype)


@both_precisions
def test_products_and_rotated_vectors(dtype):
    rng = np.random.default_rng(1)
    a, b, v = (
        random_rotations(rng, 50, dtype=dtype),
        random_rotations(rng, 50, dtype=dtype),
        rng.normal(size=(50, 3)).astype(dtype),
    )
    for ours, theirs in (
        (arrays.mul(a, b), naive.quat_mul(a, b)),
        (arrays.conj(a), naive.quat_conj(a)),
        (arrays.rotate(a, v), naive.quat_rotate(a, v)),
        (arrays.to_matrix(a), naive.quat_to_matrix(a)),
    ):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, atol=32 * eps(dtype))


def test_they_are_the_same_as_the_kernels():
    rng = np.random.default_rng(2)
    a, b, v = random_rotations(rng, 20), random_rotations(rng, 20), rng.normal(size=(20, 3))
    for i in range(20):
        np.testing.assert_allclose(compiled.run(quat.mul, np.float64, a[i], b[i]), arrays.mul(a[i], b[i]), atol=1e-15)
        np.testing.assert_allclose(
            compiled.run(quat.rotate, np.float64, a[i], v[i]), arrays.rotate(a[i], v[i]), atol=1e-14
        )
        slerped = compiled.run(quat.slerp, np.float64, a[i], b[i], 0.3)
        assert naive.angle_between_rotations(slerped, arrays.slerp(a[i], b[i], 0.3)) < 1e-14


def test_leading_axes_broadcast():
    rng = np.random.default_rng(3)
    a, b, v = random_rotations(rng, 4, 1), random_rotations(rng, 5), rng.normal(size=(6, 1, 1, 3))
    assert arrays.mul(a, b).shape == (4, 5, 4)
    assert arrays.rotate(a, v).shape == (6, 4, 1, 3)
    assert arrays.slerp(a, b, np.full((4, 5), 0.5)).shape == (4, 5, 4) == arrays.slerp(a, b, 0.5).shape
    assert arrays.from_axis_angle([0.0, 1.0, 0.0], np.zeros((2, 7))).shape == (2, 7, 4)
    assert arrays.from_axis_angle(problems.units(rng, 7), 0.5).shape == (7, 4)
    assert arrays.from_matrix(arrays.to_matrix(a)).shape == (4, 1, 4)
    np.testing.assert_array_equal(arrays.mul(a, b)[2, 3], arrays.mul(a[2, 0], b[3]))
    np.testing.assert_array_equal(arrays.slerp(a, b, 0.5)[2, 3], arrays.slerp(a[2, 0], b[3], 0.5))


def test_rotations_about_an_axis():
    rng = np.random.default_rng(4)
    for axis, angle in zip(problems.units(rng, 20), rng.uniform(-7, 7, 20), strict=True):
        np.testing.assert_allclose(
            arrays.from_axis_angle(axis, angle), naive.quat_from_axis_angle(axis, angle), atol=1e-15
        )
    np.testing.assert_allclose(arrays.from_axis_angle((0, 1, 0), np.pi), (0, 1, 0, 0), atol=1e-15)


@both_precisions
def test_unit(dtype):
    rng = np.random.default_rng(5)
    for width in (2, 3, 4):
        v = rng.normal(size=(10, width)).astype(dtype)
        np.testing.assert_allclose(arrays.unit(v), [naive.unit(x) for x in v], atol=4 * eps(dtype))
        assert arrays.unit(v).dtype == dtype
    np.testing.assert_array_equal(arrays.unit(np.zeros((2, 4))), 0)


@both_precisions
def test_the_rotation_of_a_matrix_round_trips(dtype):
    """Every branch: the largest number of the quaternion is x, y, z or w, and either sign."""
    rng = np.random.default_rng(6)
    q = np.concatenate([random_rotations(rng, 200), np.eye(4), [(0, 0, 0, -1), *(np.ones(4) / 2,), (1, 1, 0, 0)]])
    q = (q / np.linalg.norm(q, axis=-1, keepdims=True)).astype(dtype)
    again = arrays.from_matrix(naive.quat_to_matrix(q).astype(dtype))
    assert naive.angle_between_rotations(q, again).max() < 8 * eps(dtype)
    np.testing.assert_allclose(np.linalg.norm(again.astype(float), axis=-1), 1, atol=4 * eps(dtype))


@both_precisions
def test_slerp(dtype):
    rng = np.random.default_rng(7)
    a, b, share = random_rotations(rng, 60, dtype=dtype), random_rotations(rng, 60, dtype=dtype), rng.uniform(size=60)
    b[:5], b[5:10] = a[:5], -a[5:10]  # No turn at all, also with the other sign.
    expected = [naive.slerp(p.astype(float), q.astype(float), s) for p, q, s in zip(a, b, share, strict=True)]
    out = arrays.slerp(a, b, share.astype(dtype))
    assert out.dtype == dtype
    assert arrays.slerp(a, b, 0.25).dtype == dtype
    assert naive.angle_between_rotations(out, np.array(expected)).max() < 32 * eps(dtype)
    assert naive.angle_between_rotations(arrays.slerp(a, b, 0.0), a).max() < 8 * eps(dtype)
    assert naive.angle_between_rotations(arrays.slerp(a, b, 1.0), b).max() < 8 * eps(dtype)


@given(compiled.rotations(), compiled.small_angles(1e-9, 3.0), compiled.units())
def test_the_angle_between_two_rotations(q, angle, axis):
    """To full precision for the smallest ones too."""
    other = arrays.mul(q, arrays.from_axis_angle(axis, angle))
    assert arrays.angle_between(q, other) == pytest.approx(angle, rel=1e-6, abs=1e-15)
    assert arrays.angle_between(q, -other) == pytest.approx(angle, rel=1e-6, abs=1e-15)
    assert arrays.angle_between(q, -q) < 1e-15


@both_precisions
def test_continuous_rotations_never_change_sign(dtype):
    angle = np.linspace(0.0, 4 * np.pi, 50)
    q = np.stack([np.sin(angle / 2), 0 * angle, 0 * angle, np.cos(angle / 2)], axis=-1).astype(dtype)
    signs = np.random.default_rng(0).choice([-1, 1], (50, 1)).astype(dtype)
    found = arrays.continuous(q * signs)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, q * signs[0])
