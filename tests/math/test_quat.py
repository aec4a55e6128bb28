"""Quaternions: the axioms of rotations, the smallest rotation in its hardest cases, and interpolation."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kinema.math import quat, vec
from tests import naive
from tests.compiled import (
    COMPILED,
    angles,
    both_precisions,
    cast,
    eps,
    fits_float32,
    from_python,
    numbers,
    planar_units,
    rotations,
    rounded,
    run,
    small_angles,
    units,
    vectors,
)

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def same_rotation(a, b, near):
    """Two quaternions of the same rotation: equal, or each other's negative."""
    return min(np.max(np.abs(a - b)), np.max(np.abs(a + b))) <= near


def any_hinge(a):
    return naive.any_perpendicular(a)


# --- the group -------------------------------------------------------------------------------------------------


@both_precisions
@given(a=rotations(), b=rotations(), c=rotations())
def test_mul_is_associative(dtype, a, b, c):
    left = run(quat.mul, dtype, run(quat.mul, dtype, a, b), c)
    right = run(quat.mul, dtype, a, run(quat.mul, dtype, b, c))
    np.testing.assert_allclose(left, right, rtol=0, atol=16 * eps(dtype))


@both_precisions
@given(a=rotations(), b=rotations())
def test_mul_is_hamiltons_product_and_keeps_the_norm(dtype, a, b):
    product = run(quat.mul, dtype, a, b)
    np.testing.assert_allclose(product, naive.quat_mul(a, b), rtol=0, atol=8 * eps(dtype))
    assert np.linalg.norm(product) == pytest.approx(1.0, abs=8 * eps(dtype))


@both_precisions
@given(a=rotations(), b=rotations(), v=vectors())
def test_mul_rotates_by_b_then_by_a(dtype, a, b, v):
    at_once = run(quat.rotate, dtype, run(quat.mul, dtype, a, b), v)
    one_by_one = run(quat.rotate, dtype, a, run(quat.rotate, dtype, b, v))
    np.testing.assert_allclose(at_once, one_by_one, rtol=0, atol=500 * eps(dtype))


@both_precisions
@given(q=rotations(), v=vectors())
def test_rotate_is_the_definition_and_keeps_lengths(dtype, q, v):
    rotated = run(quat.rotate, dtype, q, v)
    np.testing.assert_allclose(rotated, naive.quat_rotate(q, v), rtol=0, atol=200 * eps(dtype))
    assert np.linalg.norm(rotated) == pytest.approx(np.linalg.norm(v), abs=200 * eps(dtype))


@both_precisions
@given(q=rotations(), v=vectors())
def test_conj_is_the_inverse(dtype, q, v):
    back = run(quat.conj, dtype, q)
    np.testing.assert_allclose(run(quat.mul, dtype, q, back), IDENTITY, rtol=0, atol=8 * eps(dtype))
    returned = run(quat.rotate, dtype, back, run(quat.rotate, dtype, q, v))
    np.testing.assert_allclose(returned, v, rtol=0, atol=400 * eps(dtype))


@both_precisions
@given(a=rotations(), b=rotations())
def test_dot_is_numpys(dtype, a, b):
    assert run(quat.dot, dtype, a, b) == pytest.approx(a @ b, abs=8 * eps(dtype))


@both_precisions
@given(q=rotations(), size=numbers(-12.0, 12.0))
def test_unit_at_every_size(dtype, q, size):
    result = run(quat.unit, dtype, q * 10.0**size)
    np.testing.assert_allclose(result, q, rtol=0, atol=8 * eps(dtype))


@both_precisions
def test_unit_of_zero_is_the_identity(dtype):
    np.testing.assert_array_equal(run(quat.unit, dtype, (0, 0, 0, 0)), IDENTITY)


# --- from an axis and an angle ---------------------------------------------------------------------------------


@both_precisions
@given(axis=units(), angle=angles(-7.0, 7.0))
def test_from_axis_angle_is_the_definition(dtype, axis, angle):
    result = run(quat.from_axis_angle, dtype, axis, angle)
    np.testing.assert_allclose(result, naive.quat_from_axis_angle(axis, angle), rtol=0, atol=16 * eps(dtype))


@both_precisions
@given(axis=units(), angle=angles())
@example(axis=np.array([0.0, 0.0, 1.0]), angle=0.0)
@example(axis=np.array([0.0, 0.0, 1.0]), angle=math.pi)
@example(axis=np.array([0.0, 0.0, 1.0]), angle=-math.pi)
@example(axis=np.array([0.0, 0.0, 1.0]), angle=math.pi / 2)
@example(axis=np.array([0.0, 0.0, 1.0]), angle=-math.pi / 2)
def test_from_cos_sin_agrees_with_the_angle_all_the_way_round(dtype, axis, angle):
    cosine, sine = rounded(dtype, math.cos(angle)), rounded(dtype, math.sin(angle))
    result = run(quat.from_cos_sin, dtype, axis, cosine, sine)
    expected = naive.quat_from_axis_angle(axis, math.atan2(sine, cosine))
    assert same_rotation(result, expected, 8 * eps(dtype))
    assert result[3] >= 0.0


@given(axis=units(), small=small_angles(1e-12), sign=st.sampled_from([-1.0, 1.0]))
def test_from_cos_sin_keeps_every_digit_of_a_small_angle(axis, small, sign):
    result = run(quat.from_cos_sin, np.float64, axis, math.cos(small), sign * math.sin(small))
    np.testing.assert_allclose(result[:3], axis * (sign * math.sin(small / 2)), rtol=1e-14, atol=0)
    back = run(quat.from_cos_sin, np.float64, axis, -math.cos(small), sign * math.sin(small))
    assert back[3] == pytest.approx(math.sin(small / 2), rel=1e-14)


# --- the smallest rotation -----------------------------------------------------------------------------------------


@both_precisions
@given(a=units(), b=units())
def test_between_takes_a_to_b_the_shortest_way(dtype, a, b):
    # Within a tenth of a radian of opposite the next two tests take over.
    if naive.angle_between(a, b) > math.pi - 0.1:
        b = -b
    q = run(quat.between, dtype, a, b, any_hinge(a))
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=8 * eps(dtype))
    np.testing.assert_allclose(naive.quat_rotate(q, a), b, rtol=0, atol=100 * eps(dtype))
    assert naive.rotation_angle(q) == pytest.approx(naive.angle_between(a, b), abs=100 * eps(dtype))


@both_precisions
@given(a=units())
def test_between_opposite_vectors_rotates_by_pi_about_the_given_axis(dtype, a):
    a = rounded(dtype, a)
    hinge = run(vec.hinge_of, dtype, a)
    q = run(quat.between, dtype, a, -a, hinge)
    np.testing.assert_array_equal(q, [*hinge, 0.0])
    np.testing.assert_allclose(naive.quat_rotate(q, a), -a, rtol=0, atol=16 * eps(dtype))


@given(a=units(), around=angles(), short=small_angles(1e-9, 0.1))
def test_between_nearly_opposite_vectors(a, around, short):
    aside = naive.rotated_about(any_hinge(a), a, np.array([around]))[0]
    b = -a * math.cos(short) + aside * math.sin(short)
    q = run(quat.between, np.float64, a, b, any_hinge(a))
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    # The axis comes from a cross product of length `short`: eps / short is all it can be known to.
    known_to = 1e-15 + 8 * eps(np.float64) / short
    np.testing.assert_allclose(naive.quat_rotate(q, a), b, rtol=0, atol=known_to)
    assert naive.rotation_angle(q) == pytest.approx(math.pi - short, abs=1e-14)


@both_precisions
def test_between_is_exact_for_nearly_opposite_vectors(dtype):
    """The rotation takes a to b to a few units in the last place, also where the two are not quite of length 1."""
    random = np.random.default_rng(7)
    for short in [0.0, *10.0 ** np.arange(-16.0, 0.0)]:
        for i in range(30):
            a = rounded(dtype, naive.unit(random.normal(size=3)) if i % 2 else np.eye(3)[i % 3])
            length = 1.0 + random.integers(-2, 3) * eps(dtype)
            b = rounded(dtype, length * naive.unit(-a + naive.unit(random.normal(size=3)) * short))
            q = run(quat.between, dtype, a, b, any_hinge(a))
            message = f"{short:g} from opposite"
            np.testing.assert_allclose(naive.quat_rotate(q, a), b, rtol=0, atol=32 * eps(dtype), err_msg=message)


@given(a=planar_units(), b=planar_units())
def test_between_planar_vectors_rotates_about_z(a, b):
    q = run(quat.between, np.float64, a, b, (0, 0, 1))
    assert q[0] == 0.0
    assert q[1] == 0.0


# --- parts of turns --------------------------------------------------------------------------------------------


@both_precisions
@given(axis=units(), angle=angles(0.0), limit=angles(0.0))
def test_limited_cuts_the_angle_and_keeps_the_axis(dtype, axis, angle, limit):
    q = naive.quat_from_axis_angle(axis, angle)
    cut = run(quat.limited, dtype, q, math.cos(limit / 2), math.sin(limit / 2))
    expected = naive.quat_from_axis_angle(axis, min(angle, limit))
    # Half an angle known by its cosine alone is known to the root of eps near zero.
    np.testing.assert_allclose(cut, expected, rtol=0, atol=4 * math.sqrt(eps(dtype)))
    assert np.linalg.norm(cut) == pytest.approx(1.0, abs=8 * eps(dtype))
    if angle + 4 * math.sqrt(eps(dtype)) < limit:
        np.testing.assert_array_equal(cut, rounded(dtype, q))


@both_precisions
@given(axis=units(), short=st.one_of(st.just(0.0), small_angles(1e-30, 1e-6)), limit=small_angles(1e-30, 1e-6))
def test_limited_is_finite_for_tiny_rotations(dtype, axis, short, limit):
    """A rotation that rounding left a little short of length 1, cut to next to nothing."""
    q = (*(axis * short), 1.0 - eps(dtype))
    assert np.all(np.isfinite(run(quat.limited, dtype, q, 1.0, limit)))


@both_precisions
@given(q=rotations(), share=numbers(0.0, 1.0))
def test_part_rotates_by_that_share_about_the_same_axis(dtype, q, share):
    result = run(quat.part, dtype, q, share)
    short_way = q if q[3] >= 0.0 else -q
    assert naive.rotation_angle(result) == pytest.approx(share * naive.rotation_angle(q), abs=16 * eps(dtype))
    np.testing.assert_allclose(np.cross(result[:3], short_way[:3]), 0.0, atol=16 * eps(dtype))
    assert result[:3] @ short_way[:3] >= -16 * eps(dtype)


@both_precisions
@given(q=rotations())
def test_part_at_its_ends_is_exact(dtype, q):
    np.testing.assert_array_equal(run(quat.part, dtype, q, 0.0), IDENTITY)
    whole = run(quat.part, dtype, q, 1.0)
    given_rotation = rounded(dtype, q)
    assert np.array_equal(whole, given_rotation) or np.array_equal(whole, -given_rotation)


@both_precisions
@given(a=rotations(), b=rotations())
def test_slerp_at_its_ends(dtype, a, b):
    np.testing.assert_array_equal(run(quat.slerp, dtype, a, b, 0.0), rounded(dtype, a))
    assert same_rotation(run(quat.slerp, dtype, a, b, 1.0), b, 8 * eps(dtype))


@both_precisions
@given(a=rotations(), b=rotations(), share=numbers(0.0, 1.0))
def test_slerp_goes_at_constant_speed(dtype, a, b, share):
    between = run(quat.slerp, dtype, a, b, share)
    whole = naive.angle_between_rotations(a, b)
    near = 32 * eps(dtype)
    assert np.linalg.norm(between) == pytest.approx(1.0, abs=near)
    assert naive.angle_between_rotations(a, between) == pytest.approx(share * whole, abs=near)
    assert naive.angle_between_rotations(between, b) == pytest.approx((1.0 - share) * whole, abs=near)


@given(a=rotations(), b=rotations(), share=numbers(0.0, 1.0))
def test_slerp_is_shoemakes(a, b, share):
    # Half a rotation apart both ways are as short, and the two formulas may choose differently.
    if abs(a @ b) > 1e-3:
        assert same_rotation(run(quat.slerp, np.float64, a, b, share), naive.slerp(a, b, share), 1e-12)


# --- rotation vectors ------------------------------------------------------------------------------------------


@both_precisions
@given(axis=units(), angle=angles(0.0, 6.0))
def test_exp_rotates_about_the_vector_by_its_length(dtype, axis, angle):
    result = run(quat.exp, dtype, axis * angle)
    np.testing.assert_allclose(result, naive.quat_from_axis_angle(axis, angle), rtol=0, atol=16 * eps(dtype))


@both_precisions
@given(axis=units(), angle=angles(0.0, 6.0))
@example(axis=np.array([0.0, 0.0, 1.0]), angle=0.0)
def test_log_inverts_exp(dtype, axis, angle):
    back = run(quat.log, dtype, run(quat.exp, dtype, axis * angle))
    # Near a whole revolution the axis is known to eps / (2 pi - angle) only.
    np.testing.assert_allclose(back, axis * angle, rtol=0, atol=400 * eps(dtype))


@both_precisions
@given(q=rotations())
def test_to_vector_is_the_log_in_the_hemisphere_of_the_identity(dtype, q):
    near = run(quat.same_hemisphere, dtype, q, IDENTITY)
    np.testing.assert_array_equal(run(quat.to_vector, dtype, q), run(quat.log, dtype, near))


@both_precisions
@given(q=rotations(), reference=rotations())
def test_same_hemisphere_keeps_the_rotation_and_takes_the_nearer_sign(dtype, q, reference):
    result = run(quat.same_hemisphere, dtype, q, reference)
    assert same_rotation(result, rounded(dtype, q), 0.0)
    assert result @ rounded(dtype, reference) >= -eps(dtype)


# --- matrices --------------------------------------------------------------------------------------------------


@both_precisions
@given(q=rotations())
@example(q=np.array([0.0, 0.0, 0.0, 1.0]))
@example(q=np.array([1.0, 0.0, 0.0, 0.0]))
@example(q=np.array([0.0, 1.0, 0.0, 0.0]))
@example(q=np.array([0.0, 0.0, 1.0, 0.0]))
@example(q=np.array([0.5, 0.5, 0.5, 0.5]))
def test_from_columns_inverts_to_matrix(dtype, q):
    x, y, z = naive.quat_to_matrix(q).T
    assert same_rotation(run(quat.from_columns, dtype, x, y, z), q, 16 * eps(dtype))


@given(axis=units(), short=small_angles(1e-12, 1e-3))
def test_from_columns_near_pi(axis, short):
    q = naive.quat_from_axis_angle(axis, math.pi - short)
    x, y, z = naive.quat_to_matrix(q).T
    assert same_rotation(run(quat.from_columns, np.float64, x, y, z), q, 1e-14)


# --- precision -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not COMPILED, reason="plain Python has one precision of its own")
@given(a=rotations(), b=rotations(), u=units(), v=units(), share=numbers(0.1, 0.9))
def test_float32_stays_float32(a, b, u, v, share):
    x, y, z = (cast(np.float32, column) for column in naive.quat_to_matrix(a).T)
    a, b, u, v = (cast(np.float32, item) for item in (a, b, u, v))
    share = np.float32(share)
    for kernel, args in (
        (quat.mul, (a, b)),
        (quat.conj, (a,)),
        (quat.dot, (a, b)),
        (quat.unit, (a,)),
        (quat.rotate, (a, u)),
        (quat.from_cos_sin, (u, share, share)),
        (quat.from_axis_angle, (u, share)),
        (quat.between, (u, v, u)),
        (quat.limited, (a, share, share)),
        (quat.part, (a, share)),
        (quat.slerp, (a, b, share)),
        (quat.from_columns, (x, y, z)),
        (quat.same_hemisphere, (a, b)),
        (quat.exp, (u,)),
        (quat.log, (a,)),
        (quat.to_vector, (a,)),
    ):
        assert fits_float32(from_python(kernel)(*args)), kernel.__name__


# --- rotation vectors ------------------------------------------------------------------------------------------


@given(vectors(4.0), st.floats(0.01, 3.0))
def test_a_rotation_vector_is_its_axis_times_its_angle(v, largest):
    rotation = run(quat.from_vector, np.float64, v, largest)
    angle = min(float(np.linalg.norm(v)), largest)
    assert naive.rotation_angle(rotation) == pytest.approx(angle if angle <= np.pi else 2 * np.pi - angle, abs=1e-9)
    if angle > 1e-9:
        expected = naive.quat_from_axis_angle(v, angle)
        np.testing.assert_allclose(rotation, expected, atol=1e-12)


@given(rotations())
def test_a_rotation_is_its_vector(q):
    v = run(quat.to_vector, np.float64, q)
    assert np.linalg.norm(v) <= np.pi + 1e-9
    back = run(quat.from_vector, np.float64, v, 4.0)
    assert naive.angle_between_rotations(back, q) < 1e-7


@both_precisions
@given(a=rotations(), b=rotations())
def test_the_angle_between_rotations_does_not_depend_on_their_signs(dtype, a, b):
    angle = run(quat.angle_between, dtype, a, b)
    assert angle == pytest.approx(naive.angle_between_rotations(a, b), abs=64 * eps(dtype))
    assert run(quat.angle_between, dtype, a, -b) == pytest.approx(angle, abs=64 * eps(dtype))


def test_select_takes_one_or_the_other():
    a, b = (1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)
    assert from_python(quat.select)(True, a, b) == a
    assert from_python(quat.select)(False, a, b) == b
