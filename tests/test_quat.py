"""`km.quat` against the definitions, in both precisions."""

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


def test_float32_stays_float32():
    q = np.array([0, 0, 0, 1], np.float32)
    assert km.quat.mul(q, q).dtype == np.float32
    assert km.quat.slerp(q, q, 0.5).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: km.quat.mul((0, 0, 1), (0, 0, 0, 1)), r"a must have shape \(..., 4\)"),
        (lambda: km.quat.rotate((0, 0, 0, np.nan), (0, 0, 1)), r"q\[3\] is nan"),
        (lambda: km.quat.from_axis_angle((0, 0, 0), 1.0), "axis is the zero vector"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
