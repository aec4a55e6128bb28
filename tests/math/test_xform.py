"""Transforms: the two ways to move a point agree, and inverses undo, mirrored, scaled and collapsed frames included."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.math import xform
from tests import naive
from tests.compiled import (
    COMPILED,
    both_precisions,
    cast,
    eps,
    fits_float32,
    from_python,
    numbers,
    rotations,
    run,
    sizes,
    vectors,
)

_signs = st.sampled_from([-1.0, 1.0])


def scales(low=0.2, high=5.0):
    """Three factors, any of them mirrored."""
    factor = st.tuples(numbers(low, high), _signs).map(lambda pair: pair[0] * pair[1])
    return st.tuples(factor, factor, factor).map(np.array)


def transforms():
    return st.tuples(vectors(), rotations(), scales())


def as_matrix(transform):
    """The 4x4 matrix by definition: translation times rotation times scale."""
    t, r, s = transform
    m = np.eye(4)
    m[:3, :3] = naive.quat_to_matrix(r) @ np.diag(s)
    m[:3, 3] = t
    return m


def columns(m):
    return tuple(m[:3, i] for i in range(4))


def as_4x4(m):
    result = np.eye(4)
    result[:3, :] = np.stack(m, axis=-1)
    return result


@both_precisions
@given(transform=transforms(), p=vectors())
def test_point_and_matrix_agree_with_the_definition(dtype, transform, p):
    expected = (as_matrix(transform) @ [*p, 1.0])[:3]
    near = {"rtol": 0, "atol": 1e3 * eps(dtype)}
    np.testing.assert_allclose(run(xform.point, dtype, transform, p), expected, **near)
    m = run(xform.matrix, dtype, transform)
    np.testing.assert_allclose(as_4x4(m), as_matrix(transform), **near)
    np.testing.assert_allclose(run(xform.apply, dtype, m, p), expected, **near)


@both_precisions
@given(a=transforms(), b=transforms(), p=vectors())
def test_mul_is_b_then_a(dtype, a, b, p):
    a, b = columns(as_matrix(a)), columns(as_matrix(b))
    near = {"rtol": 0, "atol": 1e4 * eps(dtype)}
    at_once = run(xform.apply, dtype, run(xform.mul, dtype, a, b), p)
    np.testing.assert_allclose(at_once, run(xform.apply, dtype, a, run(xform.apply, dtype, b, p)), **near)
    np.testing.assert_allclose(as_4x4(run(xform.mul, dtype, a, b)), as_4x4(a) @ as_4x4(b), **near)


@both_precisions
@given(transform=transforms(), p=vectors(), q=vectors())
def test_linear_moves_differences_of_points(dtype, transform, p, q):
    m = columns(as_matrix(transform))
    moved = run(xform.apply, dtype, m, p) - run(xform.apply, dtype, m, q)
    np.testing.assert_allclose(run(xform.linear, dtype, m, p - q), moved, rtol=0, atol=2e3 * eps(dtype))


@both_precisions
@given(transform=transforms(), p=vectors())
def test_inverse_undoes(dtype, transform, p):
    m = columns(as_matrix(transform))
    inverse = run(xform.inverse, dtype, m)
    near = {"rtol": 0, "atol": 1e4 * eps(dtype)}
    np.testing.assert_allclose(as_4x4(run(xform.mul, dtype, inverse, m)), np.eye(4), **near)
    np.testing.assert_allclose(as_4x4(run(xform.mul, dtype, m, inverse)), np.eye(4), **near)
    np.testing.assert_allclose(run(xform.apply, dtype, inverse, run(xform.apply, dtype, m, p)), p, **near)


@both_precisions
@given(r=rotations(), shape=scales(0.5, 2.0), size=sizes(), p=vectors(1.0))
def test_inverse_at_every_size(dtype, r, shape, size, p):
    m = columns(as_matrix((p * size, r, shape * size)))
    inverse = run(xform.inverse, dtype, m)
    there_and_back = run(xform.apply, dtype, inverse, run(xform.apply, dtype, m, p))
    np.testing.assert_allclose(there_and_back, p, rtol=0, atol=200 * eps(dtype))


@both_precisions
@given(t=vectors(), r=rotations(), s=scales(), flat=st.sets(st.integers(0, 2), min_size=1))
def test_inverse_of_a_collapsed_matrix_is_finite(dtype, t, r, s, flat):
    s = np.where(np.isin(np.arange(3), list(flat)), 0.0, s)
    inverse = run(xform.inverse, dtype, columns(as_matrix((t, r, s))))
    assert np.all(np.isfinite(np.array(inverse)))


@both_precisions
@given(transform=transforms())
def test_axes_are_the_frame_without_its_scale(dtype, transform):
    _, r, s = transform
    axes = np.array(run(xform.axes, dtype, columns(as_matrix(transform))))
    np.testing.assert_allclose(axes, (naive.quat_to_matrix(r) * np.sign(s)).T, rtol=0, atol=16 * eps(dtype))


@both_precisions
def test_axes_of_a_collapsed_matrix_are_those_of_the_world(dtype):
    np.testing.assert_array_equal(run(xform.axes, dtype, np.zeros((4, 3))), np.eye(3))


@both_precisions
@given(r=rotations(), mirror=st.tuples(_signs, _signs, _signs), v=vectors())
def test_into_gives_coordinates_in_a_frame_mirrored_or_not(dtype, r, mirror, v):
    frame = (naive.quat_to_matrix(r) * mirror).T
    inside = run(xform.into, dtype, frame, v)
    np.testing.assert_allclose(inside @ frame, v, rtol=0, atol=200 * eps(dtype))


@both_precisions
@given(r=rotations(), mirror=st.tuples(_signs, _signs, _signs))
def test_handedness_is_the_sign_of_the_determinant(dtype, r, mirror):
    frame = (naive.quat_to_matrix(r) * mirror).T
    assert run(xform.handedness, dtype, frame) == math.prod(mirror)


@both_precisions
@given(transform=transforms())
def test_unmirrored_takes_out_the_signs_of_a_joints_own_scale(dtype, transform):
    t, r, s = transform
    m = run(xform.unmirrored, dtype, columns(as_matrix(transform)), s)
    np.testing.assert_array_equal(m, cast(dtype, columns(as_matrix((t, r, np.abs(s))))))


@pytest.mark.skipif(not COMPILED, reason="plain Python has one precision of its own")
@given(a=transforms(), b=transforms(), p=vectors())
def test_float32_stays_float32(a, b, p):
    m, n = (cast(np.float32, columns(as_matrix(transform))) for transform in (a, b))
    a, p = cast(np.float32, a), cast(np.float32, p)
    for kernel, args in (
        (xform.point, (a, p)),
        (xform.matrix, (a,)),
        (xform.mul, (m, n)),
        (xform.linear, (m, p)),
        (xform.apply, (m, p)),
        (xform.axes, (m,)),
        (xform.into, (m[:3], p)),
        (xform.handedness, (m[:3],)),
        (xform.unmirrored, (m, p)),
        (xform.inverse, (m,)),
    ):
        assert fits_float32(from_python(kernel)(*args)), kernel.__name__
