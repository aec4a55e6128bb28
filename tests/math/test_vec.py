"""Vectors: the algebra against NumPy, directions, and what is said of degenerate and of planar input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.math import vec
from tests.compiled import (
    COMPILED,
    both_precisions,
    cast,
    eps,
    fits_float32,
    from_python,
    numbers,
    planar_units,
    rounded,
    run,
    sizes,
    units,
    vectors,
)


@both_precisions
@given(a=vectors(), b=vectors(), s=numbers(-10.0, 10.0))
def test_algebra_is_numpys(dtype, a, b, s):
    a, b, s = rounded(dtype, a), rounded(dtype, b), rounded(dtype, s)
    near = {"atol": 400 * eps(dtype), "rtol": 0}
    np.testing.assert_allclose(run(vec.add, dtype, a, b), a + b, **near)
    np.testing.assert_allclose(run(vec.sub, dtype, a, b), a - b, **near)
    np.testing.assert_allclose(run(vec.scale, dtype, a, s), a * s, **near)
    np.testing.assert_allclose(run(vec.dot, dtype, a, b), a @ b, **near)
    np.testing.assert_allclose(run(vec.cross, dtype, a, b), np.cross(a, b), **near)


@both_precisions
@given(direction=units(), size=sizes())
def test_length_at_every_size(dtype, direction, size):
    a = rounded(dtype, direction * size)
    assert run(vec.length, dtype, a) == pytest.approx(np.linalg.norm(a), rel=4 * eps(dtype))


@both_precisions
@given(direction=units(), size=sizes())
def test_span_is_a_size(dtype, direction, size):
    a = rounded(dtype, direction * size)
    span, length = run(vec.span, dtype, a), np.linalg.norm(a)
    assert length * (1 - 4 * eps(dtype)) <= span <= 1.8 * length


@both_precisions
@given(a=vectors(), b=vectors())
def test_select_takes_one_whole(dtype, a, b):
    call = from_python(vec.select)
    assert call(True, cast(dtype, a), cast(dtype, b)) == cast(dtype, a)
    assert call(False, cast(dtype, a), cast(dtype, b)) == cast(dtype, b)


@both_precisions
@given(direction=units(), size=sizes(), fallback=units())
def test_unit_or_keeps_the_direction_at_every_size(dtype, direction, size, fallback):
    result = run(vec.unit_or, dtype, direction * size, fallback)
    assert np.linalg.norm(result) == pytest.approx(1.0, abs=4 * eps(dtype))
    np.testing.assert_allclose(result, direction, rtol=0, atol=8 * eps(dtype))


@both_precisions
@given(fallback=units())
def test_unit_or_of_zero_is_the_fallback(dtype, fallback):
    np.testing.assert_array_equal(run(vec.unit_or, dtype, (0, 0, 0), fallback), rounded(dtype, fallback))


@both_precisions
@given(a=vectors(), along=units())
def test_reject_is_what_is_left_at_right_angles(dtype, a, along):
    a, along = rounded(dtype, a), rounded(dtype, along)
    left = run(vec.reject, dtype, a, along)
    assert abs(left @ along) <= 100 * eps(dtype)
    np.testing.assert_allclose(np.cross(a - left, along), 0.0, atol=100 * eps(dtype))


@both_precisions
@given(u=units())
def test_side_is_at_right_angles_and_long_enough(dtype, u):
    aside = run(vec.side, dtype, u)
    assert abs(aside @ rounded(dtype, u)) <= 4 * eps(dtype)
    assert 0.1 - 1e-6 <= np.linalg.norm(aside) <= 1.0 + 4 * eps(dtype)


@both_precisions
@given(u=units())
def test_unit_side_and_hinge_make_a_right_handed_frame(dtype, u):
    u = rounded(dtype, u)
    aside, hinge = run(vec.unit_side, dtype, u), run(vec.hinge_of, dtype, u)
    frame = np.array([u, aside, hinge])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=30 * eps(dtype))
    assert np.linalg.det(frame) > 0.0


@both_precisions
@given(u=planar_units())
def test_planar_stays_planar(dtype, u):
    assert run(vec.side, dtype, u)[2] == 0.0
    assert run(vec.unit_side, dtype, u)[2] == 0.0
    hinge = run(vec.hinge_of, dtype, u)
    assert hinge[0] == 0.0
    assert hinge[1] == 0.0
    assert hinge[2] == pytest.approx(1.0, abs=8 * eps(dtype))


@both_precisions
@given(a=planar_units(), b=planar_units(), size=sizes(), distance=sizes())
def test_planar_points_stay_planar(dtype, a, b, size, distance):
    assert run(vec.reach, dtype, a * size, b * size, distance)[2] == 0.0
    assert run(vec.reject, dtype, a * size, b)[2] == 0.0
    assert run(vec.unit_or, dtype, a * size, b)[2] == 0.0
    assert run(vec.faded, dtype, a * size, size, 0.5, b)[2] == 0.0


@both_precisions
@given(direction=units(), fallback=units(), size=sizes(), zone=numbers(1e-3, 1.0), beyond=numbers(1.0, 100.0))
def test_faded_leaves_what_is_long_enough(dtype, direction, fallback, size, zone, beyond):
    a = rounded(dtype, direction * (size * zone * beyond * (1 + 8 * eps(dtype))))
    np.testing.assert_array_equal(run(vec.faded, dtype, a, size, zone, fallback), a)


@both_precisions
@given(fallback=units(), size=sizes(), zone=numbers(1e-3, 1.0))
def test_faded_is_all_fallback_at_zero(dtype, fallback, size, zone):
    result = run(vec.faded, dtype, (0, 0, 0), size, zone, fallback)
    assert np.linalg.norm(result) > 0.0
    np.testing.assert_allclose(result / np.linalg.norm(result), fallback, atol=8 * eps(dtype))


@both_precisions
@given(fallback=units())
def test_faded_without_a_size_still_has_a_direction(dtype, fallback):
    np.testing.assert_array_equal(run(vec.faded, dtype, (0, 0, 0), 0, 0.5, fallback), rounded(dtype, fallback))


@given(a=units(), fallback=units(), length=numbers(0.0, 1.5), step=numbers(-1e-6, 1e-6), along=units())
def test_faded_does_not_jump(a, fallback, length, step, along):
    here = run(vec.faded, np.float64, a * length, 2.0, 0.5, fallback)
    near = run(vec.faded, np.float64, a * length + along * step, 2.0, 0.5, fallback)
    assert np.linalg.norm(near - here) <= 4.0 * abs(step) + 1e-15


@both_precisions
@given(start=vectors(1.0), direction=units(), gap=numbers(0.1, 10.0), distance=numbers(0.0, 10.0), size=sizes())
def test_reach_keeps_the_distance_on_the_line(dtype, start, direction, gap, distance, size):
    start = rounded(dtype, start * size)
    towards = rounded(dtype, start + direction * (gap * size))
    distance = float(rounded(dtype, distance * size))
    end = run(vec.reach, dtype, start, towards, distance)
    near = 16 * eps(dtype) * (distance + np.linalg.norm(start))
    assert np.linalg.norm(end - start) == pytest.approx(distance, rel=0, abs=near)
    line = (towards - start) / np.linalg.norm(towards - start)
    # The line itself is known as well as the places of its two ends allow.
    off = near + distance * 16 * eps(dtype) * np.linalg.norm(start) / np.linalg.norm(towards - start)
    np.testing.assert_allclose(end, start + line * distance, rtol=0, atol=off)


@both_precisions
@given(start=vectors(), distance=numbers(0.0, 10.0))
def test_reach_goes_up_where_the_points_coincide(dtype, start, distance):
    start = rounded(dtype, start)
    np.testing.assert_allclose(
        run(vec.reach, dtype, start, start, distance), start + [0, distance, 0], rtol=0, atol=20 * eps(dtype)
    )


@both_precisions
@given(a=st.lists(st.sampled_from([0.0, 1e-30, -1e-18, 1e-15, 1.0, 1e12]), min_size=3, max_size=3), size=sizes())
def test_nothing_degenerate_makes_a_nan(dtype, a, size):
    for result in (
        run(vec.unit_or, dtype, a, (0, 1, 0)),
        run(vec.reach, dtype, a, a, size),
        run(vec.reach, dtype, a, (0, 0, 0), size),
        run(vec.faded, dtype, a, size, 1e-3, (0, 1, 0)),
    ):
        assert np.all(np.isfinite(result))


@pytest.mark.skipif(not COMPILED, reason="plain Python has one precision of its own")
@given(a=units(), b=units(), s=numbers(0.1, 10.0))
def test_float32_stays_float32(a, b, s):
    a, b, s = cast(np.float32, a), cast(np.float32, b), np.float32(s)
    for kernel, args in (
        (vec.add, (a, b)),
        (vec.sub, (a, b)),
        (vec.scale, (a, s)),
        (vec.dot, (a, b)),
        (vec.cross, (a, b)),
        (vec.length, (a,)),
        (vec.span, (a,)),
        (vec.unit_or, (a, b)),
        (vec.reject, (a, b)),
        (vec.side, (a,)),
        (vec.unit_side, (a,)),
        (vec.hinge_of, (a,)),
        (vec.faded, (a, s, s, b)),
        (vec.reach, (a, b, s)),
    ):
        assert fits_float32(from_python(kernel)(*args)), kernel.__name__
