"""Limits: what comes out is allowed and the nearest there is, what was allowed stays, and nothing jumps or breaks."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kinema.compile.jit import batch
from kinema.constants import STRAIGHT
from kinema.errors import InputError
from kinema.math.rows import load3, load4, store4
from kinema.model import limits
from kinema.model.limits import Cone, Hinge, Slider, SwingTwist
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
    rotations,
    rounded,
    run,
    small_angles,
    units,
    widened,
)

UP = np.array([0.0, 1.0, 0.0])
Z = np.array([0.0, 0.0, 1.0])


def ranges(largest=math.pi):
    """A low and a high angle, in order."""
    return st.tuples(numbers(-largest, largest), numbers(-largest, largest)).map(sorted)


def hinges():
    return st.builds(lambda axis, bounds: Hinge(axis, *bounds), units(), ranges())


def cones():
    return st.builds(Cone, angles(0.0))


def swing_twists():
    return st.builds(lambda swing, bounds: SwingTwist(swing, *bounds), angles(0.0, 3.0), ranges())


def any_limit():
    return st.one_of(hinges(), cones(), swing_twists())


def excess(limit, q, bone):
    """By how many radians a rotation breaks a limit, from the definitions."""
    if isinstance(limit, Hinge):
        axis = np.array(limit.axis)
        along = q[:3] @ axis
        off_axis = 2.0 * np.linalg.norm(q[:3] - axis * along)
        return max(off_axis, naive.angle_outside(2.0 * math.atan2(along, q[3]), limit.low, limit.high))
    swing = naive.angle_between(bone, naive.quat_rotate(q, bone))
    if isinstance(limit, Cone):
        return max(0.0, swing - limit.angle)
    twist = naive.twist_angle(q, bone) if swing < math.pi - 1e-6 else 0.0
    return max(0.0, swing - limit.swing, naive.angle_outside(twist, limit.twist_low, limit.twist_high))


def allowed_rotation(limit, bone, shares):
    """A rotation inside a limit, by three numbers from 0 to 1; a little inside, so that rounding cannot undo it."""
    a, b, c = shares
    a = 0.001 + 0.998 * a
    if isinstance(limit, Hinge):
        return naive.quat_from_axis_angle(limit.axis, limit.low + (limit.high - limit.low) * a)
    axis = naive.rotated_about(naive.any_perpendicular(bone), bone, np.array([2.0 * math.pi * b]))[0]
    if isinstance(limit, Cone):
        swing, low, high = limit.angle, -math.pi, math.pi
    else:
        swing, low, high = limit.swing, limit.twist_low, limit.twist_high
    twist = naive.quat_from_axis_angle(bone, low + (high - low) * (0.001 + 0.998 * c))
    return naive.quat_mul(naive.quat_from_axis_angle(axis, swing * a), twist)


def same_rotation(a, b, near):
    return min(np.max(np.abs(a - b)), np.max(np.abs(a + b))) <= near


# --- rotations -------------------------------------------------------------------------------------------------


@given(limit=any_limit(), q=rotations(), bone=units())
def test_results_are_inside_the_limit(limit, q, bone):
    result = limit.project(q, bone)
    assert np.linalg.norm(result) == pytest.approx(1.0, abs=1e-14)
    assert excess(limit, result, bone) <= 1e-9


@given(limit=any_limit(), q=rotations(), bone=units())
def test_results_are_inside_the_limit_in_float32(limit, q, bone):
    result = limit.project(q.astype(np.float32), bone)
    assert result.dtype == np.float32
    assert np.linalg.norm(result) == pytest.approx(1.0, abs=1e-6)
    assert excess(limit, result.astype(np.float64), bone) <= 2e-5


@given(limit=any_limit(), q=rotations(), bone=units())
def test_projecting_twice_is_projecting_once(limit, q, bone):
    once = limit.project(q, bone)
    assert same_rotation(limit.project(once, bone), once, 1e-12)


@settings(max_examples=200)
@given(limit=any_limit(), bone=units(), shares=st.tuples(*[numbers(0.0, 1.0)] * 3))
def test_what_is_allowed_stays_as_it_is(limit, bone, shares):
    q = allowed_rotation(limit, bone, shares)
    assert same_rotation(limit.project(q, bone), q, 1e-14)


@both_precisions
@given(axis=units(), bounds=ranges(3.0), share=numbers(0.0, 1.0))
@example(axis=naive.unit((1.0, -1.0, 0.0)), bounds=[0.0, 1.0], share=0.5)
def test_a_hinge_along_its_own_bone_twists_it(dtype, axis, bounds, share):
    """A forearm that only twists: the bone goes nowhere, the angle still counts."""
    low, high = bounds
    angle = low + (high - low) * share
    q = naive.quat_from_axis_angle(axis, angle).astype(dtype)
    assert same_rotation(Hinge(axis, low, high).project(q, axis), q, 16 * eps(dtype))
    outside = naive.quat_from_axis_angle(axis, high + 0.1).astype(dtype)
    end = naive.quat_from_axis_angle(axis, high)
    if high - low < 6.0:
        assert same_rotation(Hinge(axis, low, high).project(outside, axis), end, 16 * eps(dtype))


def room(limit):
    """The width of the narrowest range of a limit, radians."""
    if isinstance(limit, Hinge):
        return limit.high - limit.low
    return limit.angle if isinstance(limit, Cone) else min(limit.swing, limit.twist_high - limit.twist_low)


@both_precisions
@given(limit=any_limit(), bone=units(), shares=st.tuples(*[numbers(0.0, 1.0)] * 3))
def test_what_is_allowed_keeps_its_bits(dtype, limit, bone, shares):
    assume(room(limit) > 0.02)
    if isinstance(limit, Hinge):
        # Only about x, y or z is a rounded rotation still about its axis.
        limit = Hinge(Z, limit.low, limit.high)
    q = allowed_rotation(limit, bone, shares).astype(dtype)
    np.testing.assert_array_equal(limit.project(q, bone), q)


@batch
def inside_and_projected(rotations, bone, limits_of_bone, rounding, inside):
    """Store which rotations are clearly inside a limit, and project them all."""
    for i in range(len(rotations)):
        q = load4(rotations[i])
        inside[i] = limits.clearly_inside(q, load3(bone), limits_of_bone[0], rounding)
        store4(rotations[i], limits.project(q, load3(bone), limits_of_bone[0], rounding))


@both_precisions
@pytest.mark.parametrize(
    "limit", [Cone(0.6), Cone(3.0), Hinge((1, 0, 0), -0.2, 2.4), SwingTwist(1.1, -0.5, 0.8), SwingTwist(2.9, -4.0, 4.0)]
)
def test_what_is_clearly_inside_is_not_moved(dtype, limit):
    draw = np.random.default_rng(0)
    start = draw.normal(size=(2_000, 4)) * (1.0, 0.3, 0.3, 1.0)
    start[::2, 1:3] = 0.0
    start = (start / np.linalg.norm(start, axis=1, keepdims=True)).astype(dtype)
    moved, inside = start.copy(), np.zeros(len(start), bool)
    table = limits.in_precision(limits.records((limit,), 1, tuple(UP)), dtype)
    inside_and_projected(moved, UP.astype(dtype), table, dtype(limits.ROUNDING_ROTATION * np.finfo(dtype).eps), inside)
    np.testing.assert_array_equal(moved[inside], start[inside])
    assert 0.1 < inside.mean() < 1.0


@pytest.mark.parametrize("limit", [Cone(math.pi), Cone(10.0), SwingTwist(math.pi, -4.0, 4.0)], ids=repr)
@both_precisions
@given(q=rotations(), bone=units())
@example(q=np.array([1.0, 0.0, 0.0, 0.0]), bone=UP)
@example(q=np.array([0.0, 0.0, 1.0, 0.0]), bone=UP)
def test_no_limit_changes_nothing(dtype, limit, q, bone):
    assert same_rotation(limit.project(q.astype(dtype), bone), q, 8 * eps(dtype))


@settings(max_examples=30)
@given(limit=cones(), q=rotations(), bone=units())
def test_cone_gives_the_nearest_rotation(limit, q, bone):
    result = limit.project(q, bone)
    allowed = naive.rotations_into_cone(bone, limit.angle, np.linspace(-math.pi, math.pi, 73))
    best, _ = naive.nearest_rotation(q, allowed)
    assert naive.angle_between_rotations(q, result) <= best + 1e-9


def test_cone_gives_the_nearest_rotation_if_the_bone_points_exactly_backwards():
    q, bone = np.array([0.0, -1.0, 0.0, 0.0]), np.array([0.0, 0.0, -1.0])
    assert naive.angle_between_rotations(q, Cone(1.0).project(q, bone)) == pytest.approx(math.pi - 1.0)


@given(limit=hinges(), q=rotations(), bone=units())
def test_hinge_gives_the_nearest_rotation(limit, q, bone):
    result = limit.project(q, bone)
    best, _ = naive.nearest_rotation(q, naive.rotations_about(limit.axis, limit.low, limit.high))
    assert naive.angle_between_rotations(q, result) <= best + 1e-9


@given(limit=swing_twists(), q=rotations(), bone=units())
def test_swing_twist_gives_the_nearest_direction_and_the_nearest_twist(limit, q, bone):
    direction = naive.quat_rotate(q, bone)
    assume(naive.angle_between(direction, bone) < math.pi - 0.01)
    result = limit.project(q, bone)
    reached = naive.quat_rotate(result, bone)
    best, _ = naive.nearest_direction(direction, naive.directions_in_cone(bone, limit.swing))
    assert naive.angle_between(direction, reached) <= best + 1e-9
    before, after = naive.twist_angle(q, bone), naive.twist_angle(result, bone)
    moved = abs(naive.wrapped(after - before))
    assert moved == pytest.approx(naive.angle_outside(before, limit.twist_low, limit.twist_high), abs=1e-9)


@given(limit=any_limit(), q=rotations(), bone=units(), axis=units(), step=small_angles(1e-9, 1e-5))
def test_a_small_change_in_is_a_small_change_out(limit, q, bone, axis, step):
    if isinstance(limit, Hinge):
        along = q[:3] @ np.array(limit.axis)
        clear = math.hypot(along, q[3])
        opposite = naive.wrapped(2.0 * math.atan2(along, q[3]) - (limit.low + limit.high) / 2.0)
    else:
        swing = naive.angle_between(bone, naive.quat_rotate(q, bone))
        clear = math.cos(swing / 2.0)
        opposite = (
            0.0
            if isinstance(limit, Cone) or clear < 0.1
            else naive.twist_angle(q, bone) - (limit.twist_low + limit.twist_high) / 2.0
        )
    # Opposite the middle of what is allowed the nearest place changes sides: every rule must jump there.
    assume(clear > 0.1)
    assume(abs(naive.wrapped(opposite)) < math.pi - 0.01)
    near = naive.quat_mul(naive.quat_from_axis_angle(axis, step), q)
    moved = naive.angle_between_rotations(limit.project(q, bone), limit.project(near, bone))
    assert moved <= 4.0 * step / clear**2 + 1e-12


def test_opposite_the_middle_one_side_is_taken():
    """Straight back, every edge of the cone is as near: any of them will do, and always the same one."""
    backwards = naive.quat_from_axis_angle((1.0, 0.0, 0.0), math.pi)
    result = Cone(0.5).project(backwards)
    assert naive.angle_between(naive.quat_rotate(result, UP), UP) == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_array_equal(Cone(0.5).project(backwards), result)


# --- ranges as they come ---------------------------------------------------------------------------------------


@given(axis=units(), bounds=ranges(), q=rotations())
def test_a_range_the_wrong_way_round_is_the_same_range(axis, bounds, q):
    low, high = bounds
    np.testing.assert_array_equal(Hinge(axis, high, low).project(q), Hinge(axis, low, high).project(q))
    np.testing.assert_array_equal(SwingTwist(1.0, high, low).project(q), SwingTwist(1.0, low, high).project(q))
    assert Hinge(axis, high, low) == Hinge(axis, low, high)


@given(axis=units(), angle=angles(-3.0, 3.0), q=rotations())
def test_an_empty_range_leaves_one_angle(axis, angle, q):
    fixed = naive.quat_from_axis_angle(axis, angle)
    assert same_rotation(Hinge(axis, angle, angle).project(q), fixed, 1e-9)


@given(q=rotations(), angle=numbers(-10.0, 0.0))
def test_a_cone_below_zero_counts_as_zero(q, angle):
    result = Cone(angle).project(q)
    assert naive.angle_between(naive.quat_rotate(result, UP), UP) <= 1e-9
    np.testing.assert_array_equal(result, Cone(0.0).project(q))


@given(axis=units(), q=rotations(), bounds=st.sampled_from([(-math.pi, math.pi), (-7.0, 0.0), (-1e300, 1e300)]))
def test_a_full_revolution_is_no_limit(axis, q, bounds):
    along = q[:3] @ axis
    assume(math.hypot(along, q[3]) > 1e-3)
    unlimited = naive.unit([*(axis * along), q[3]])
    assert same_rotation(Hinge(axis, *bounds).project(q), unlimited, 1e-12)


_ANGLES = [0.0, -0.0, 1e-320, -1e-12, math.pi, -math.pi, 7.0, -1e6, 1e17, -1e300, 1.7e308, -1.7e308]


@pytest.mark.parametrize("low", _ANGLES)
@both_precisions
def test_no_range_makes_a_nan(dtype, low):
    tricky = [(0, 0, 0, 1), (0, 0, 0, -1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0.5, 0.5, 0.5, 0.5), (0, 0, 0, 0)]
    q = np.array(tricky, dtype)
    for high in _ANGLES:
        for limit in (Hinge(Z, low, high), Hinge(UP, low, high), Cone(low), SwingTwist(low, high, low)):
            result = limit.project(q)
            assert result.dtype == dtype
            assert np.all(np.isfinite(result)), limit
            np.testing.assert_allclose(np.linalg.norm(result, axis=-1), 1.0, atol=8 * eps(dtype))


@given(bone=units(), short=small_angles(1e-15, 1e-3), q=rotations())
def test_a_cone_that_is_nearly_everything_holds(bone, short, q):
    limit = Cone(math.pi - short)
    assert excess(limit, limit.project(q, bone), bone) <= 1e-9


@both_precisions
def test_a_cone_that_is_nearly_everything_holds_at_its_edge(dtype):
    """Rotations that turn the bone to within a hair of its opposite, for a cone that ends at twice that."""
    random = np.random.default_rng(3)
    for short in 10.0 ** np.arange(-9.0 if dtype is np.float64 else -6.0, 0.0):
        for _ in range(20):
            bone, axis = naive.unit(random.normal(size=3)), random.normal(size=3)
            axis = naive.unit(np.cross(bone, axis))
            q = naive.quat_from_axis_angle(axis, math.pi - short).astype(dtype)
            limit = Cone(math.pi - 2.0 * short)
            result = limit.project(q, bone).astype(np.float64)
            assert excess(limit, result, bone) <= (1e-9 if dtype is np.float64 else 2e-6), short


# --- arrays ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [Hinge((1, 2, 3), -0.3, 0.8), Cone(0.4), SwingTwist(0.4, -0.2, 0.3)], ids=repr)
@both_precisions
def test_a_batch_is_many_singles(dtype, limit):
    batch = np.random.default_rng(0).normal(size=(3, 4, 4)).astype(dtype)
    before = batch.copy()
    result = limit.project(batch)
    assert result.shape == batch.shape
    assert result.dtype == dtype
    np.testing.assert_array_equal(batch, before)
    for index in np.ndindex(3, 4):
        np.testing.assert_array_equal(result[index], limit.project(batch[index]))


def test_lists_and_whole_numbers_are_taken_as_float64():
    assert Cone(0.5).project([0, 0, 0, 1]).dtype == np.float64
    np.testing.assert_array_equal(Cone(0.5).project([[0, 0, 0, 1]]), [[0.0, 0.0, 0.0, 1.0]])
    assert Cone(0.5).project(np.zeros((0, 4))).shape == (0, 4)


# --- directions: the kernels the solvers use -------------------------------------------------------------------


def onto_hinge(dtype, limit, straight, direction):
    record = limits.in_precision(np.atleast_1d(limit.record(tuple(straight))), dtype)[0]
    return widened(from_python(limits.onto_hinge)(cast(dtype, direction), record))


@both_precisions
@given(parent=units(), direction=units(), angle=angles(0.0))
def test_into_cone_gives_the_nearest_direction(dtype, parent, direction, angle):
    result = run(limits.into_cone, dtype, parent, direction, math.cos(angle), math.sin(angle))
    near = 100 * eps(dtype)
    assert np.linalg.norm(result) == pytest.approx(1.0, abs=near)
    assert naive.angle_between(parent, result) <= angle + near
    best, _ = naive.nearest_direction(direction, naive.directions_in_cone(parent, angle))
    assert naive.angle_between(direction, result) <= best + near


@both_precisions
@given(parent=units(), around=angles(), inside=numbers(0.0, 0.999), angle=angles(0.01))
def test_into_cone_leaves_what_is_inside(dtype, parent, around, inside, angle):
    aside = naive.rotated_about(naive.any_perpendicular(parent), parent, np.array([around]))[0]
    direction = parent * math.cos(angle * inside) + aside * math.sin(angle * inside)
    result = run(limits.into_cone, dtype, parent, direction, math.cos(angle), math.sin(angle))
    np.testing.assert_array_equal(result, rounded(dtype, direction))


@both_precisions
@given(parent=units(), angle=angles(0.0))
def test_into_cone_of_the_opposite_is_on_the_edge(dtype, parent, angle):
    parent = rounded(dtype, parent)
    result = run(limits.into_cone, dtype, parent, -parent, math.cos(angle), math.sin(angle))
    assert np.linalg.norm(result) == pytest.approx(1.0, abs=16 * eps(dtype))
    assert naive.angle_between(parent, result) == pytest.approx(angle, abs=100 * eps(dtype))


@both_precisions
def test_into_cone_from_nearly_opposite_is_on_the_edge(dtype):
    """A bone folded back on its parent: where to is all rounding, but the limit and the length hold."""
    random = np.random.default_rng(11)
    for short in [0.0, *10.0 ** np.arange(-16.0, 0.0)]:
        for i in range(30):
            parent = rounded(dtype, naive.unit(random.normal(size=3)) if i % 2 else np.eye(3)[i % 3])
            length = 1.0 + random.integers(-2, 3) * eps(dtype)
            direction = rounded(dtype, length * naive.unit(-parent + naive.unit(random.normal(size=3)) * short))
            result = run(limits.into_cone, dtype, parent, direction, math.cos(1.0), math.sin(1.0))
            assert np.linalg.norm(result) == pytest.approx(1.0, abs=16 * eps(dtype)), short
            assert naive.angle_between(parent, result) == pytest.approx(1.0, abs=100 * eps(dtype)), short


@both_precisions
@given(axis=units(), straight=units(), direction=units(), bounds=ranges())
def test_onto_hinge_gives_the_nearest_direction(dtype, axis, straight, direction, bounds):
    limit = Hinge(axis, *bounds)
    # Straight along the axis every angle is as near, and the direction seen along the axis is rounding.
    assume(np.linalg.norm(np.cross(axis, direction)) > 1e-3)
    result = onto_hinge(dtype, limit, straight, direction)
    near = 100 * eps(dtype)
    assert np.linalg.norm(result) == pytest.approx(1.0, abs=near)
    off_axis = np.linalg.norm(np.cross(axis, straight))
    near += 2 * off_axis * (off_axis < STRAIGHT)  # So close to the axis a bone counts as along it.
    on_hinge = naive.directions_on_hinge(straight, axis, *bounds)
    best, _ = naive.nearest_direction(direction, on_hinge)
    assert naive.angle_between(direction, result) <= best + 1e3 * near
    # And it is one of those the hinge allows: between two samples next to each other.
    apart, _ = naive.nearest_direction(result, on_hinge)
    assert apart <= (bounds[1] - bounds[0]) / 20_000 + near


@given(axis=units(), straight=units(), direction=units(), bounds=ranges())
def test_onto_hinge_twice_is_once(axis, straight, direction, bounds):
    limit = Hinge(axis, *bounds)
    assume(np.linalg.norm(np.cross(axis, straight)) > 1e-3)
    once = onto_hinge(np.float64, limit, straight, direction)
    np.testing.assert_allclose(onto_hinge(np.float64, limit, straight, once), once, rtol=0, atol=1e-12)


@both_precisions
@given(bounds=ranges(), straight=units())
def test_onto_hinge_from_along_its_axis_takes_the_middle(dtype, bounds, straight):
    middle = naive.rotated_about(straight, Z, np.array([(bounds[0] + bounds[1]) / 2.0]))[0]
    along = STRAIGHT if np.hypot(*straight[:2]) <= STRAIGHT else 0.0  # A bone along its own axis has no side.
    found = onto_hinge(dtype, Hinge(Z, *bounds), straight, Z)
    np.testing.assert_allclose(found, middle, rtol=0, atol=16 * eps(dtype) + 2 * along)


@both_precisions
def test_onto_hinge_keeps_the_length_next_to_its_axis(dtype):
    """However little a direction is off the axis, the bone that comes out has its length."""
    limit = Hinge(Z, -3.0, 3.0)
    smallest = -38 if dtype is np.float32 else -300
    for off in 10.0 ** np.arange(smallest, 0.0):
        for direction in ((off, 0.0, 1.0), (-off, 0.3 * off, 1.0), (0.7 * off, -0.7 * off, -1.0)):
            result = onto_hinge(dtype, limit, UP, direction)
            assert np.linalg.norm(result) == pytest.approx(1.0, abs=100 * eps(dtype)), direction


@given(angle=angles(), bounds=ranges())
def test_into_range_is_the_nearest_angle(angle, bounds):
    low, high = bounds
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    parts = (math.cos(middle), math.sin(middle), math.cos(half), math.sin(half))
    cosine, sine = run(limits.into_range, np.float64, math.cos(angle), math.sin(angle), *parts)
    result = math.atan2(sine, cosine)
    assert naive.angle_outside(result, low, high) <= 1e-12
    assert abs(naive.wrapped(result - angle)) == pytest.approx(naive.angle_outside(angle, low, high), abs=1e-12)


@given(q=rotations(), axis=units())
def test_split_is_swing_after_twist(q, axis):
    assume(naive.angle_between(axis, naive.quat_rotate(q, axis)) < math.pi - 1e-3)
    swing, twist = run(limits.split, np.float64, q, axis)
    assert same_rotation(naive.quat_mul(swing, twist), q, 1e-12)
    expected_swing, expected_twist = naive.swing_twist(q, axis)
    assert same_rotation(swing, expected_swing, 1e-11)
    assert same_rotation(twist, expected_twist, 1e-11)


@pytest.mark.skipif(not COMPILED, reason="plain Python has one precision of its own")
@given(u=units(), v=units(), w=units(), q=rotations(), a=angles(), b=angles(0.0))
def test_float32_stays_float32(u, v, w, q, a, b):
    parts = cast(np.float32, (math.cos(a), math.sin(a), math.cos(b), math.sin(b)))
    u, v, w, q = (cast(np.float32, item) for item in (u, v, w, q))
    hinge = limits.in_precision(np.atleast_1d(Hinge(w, a, b).record(UP)), np.float32)[0]
    for kernel, args in (
        (limits.into_cone, (u, v, *parts[2:])),
        (limits.into_range, (u[0], u[1], *parts)),
        (limits.onto_hinge, (u, hinge)),
        (limits.split, (q, u)),
        (limits.clamp_twist, (q, u, hinge)),
    ):
        assert fits_float32(from_python(kernel)(*args)), kernel.__name__


# --- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hinge((0, 0, 0), 0, 1), ["axis", "zero vector", "direction"]),
        (lambda: Hinge((0, 1), 0, 1), ["axis", "(..., 3)", "(2,)"]),
        (lambda: Hinge([[0, 1, 0]], 0, 1), ["axis", "(3,)", "(1, 3)"]),
        (lambda: Hinge((0, math.nan, 1), 0, 1), ["axis[1]", "nan", "finite"]),
        (lambda: Hinge((0, 1, math.inf), 0, 1), ["axis[2]", "inf", "finite"]),
        (lambda: Hinge("up", 0, 1), ["axis", "numbers", "str"]),
        (lambda: Hinge(None, 0, 1), ["axis", "numbers", "None"]),
        (lambda: Hinge((0, 0, 1), math.nan, 1), ["low", "nan", "finite"]),
        (lambda: Hinge((0, 0, 1), 0, math.inf), ["high", "inf", "finite"]),
        (lambda: Hinge((0, 0, 1), 0, "wide"), ["high", "number", "wide"]),
        (lambda: Cone(math.nan), ["angle", "nan", "finite"]),
        (lambda: Cone(None), ["angle", "number", "None"]),
        (lambda: Cone((1, 2)), ["angle", "number", "(1, 2)"]),
        (lambda: SwingTwist(-math.inf, 0, 1), ["swing", "-inf", "finite"]),
        (lambda: SwingTwist(1, math.nan, 1), ["twist_low", "nan", "finite"]),
        (lambda: SwingTwist(1, 0, math.nan), ["twist_high", "nan", "finite"]),
        (lambda: Cone(1).project((0, 0, 1)), ["rotations", "(..., 4)", "(3,)"]),
        (lambda: Cone(1).project(1.0), ["rotations", "(..., 4)", "()"]),
        (lambda: Cone(1).project([[0, 0, 0, 1], [0, math.nan, 0, 1]]), ["rotations[1, 1]", "nan", "finite"]),
        (lambda: Cone(1).project((0, 0, 0, 1), bone=(0, 0, 0)), ["bone", "zero vector"]),
    ],
)
def test_errors_name_what_is_wrong(make, words):
    with pytest.raises(InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_errors_about_angles_do_not_speak_of_infinite_bounds():
    with pytest.raises(InputError) as caught:
        Cone(math.nan)
    assert "-inf" not in str(caught.value)


def test_limits_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Cone(1.0).angle = 2.0


@pytest.mark.parametrize(
    ("given_limits", "words"),
    [
        (Cone(1.0), ["limits", "sequence", "one limit or None per bone"]),
        (5, ["limits", "sequence", "5"]),
        ([None, None, None], ["limits", "3 entries", "up to 2"]),
        ([None, 0.5], ["limits[1]", "0.5", "Hinge", "Cone", "SwingTwist", "None"]),
        (["a", None], ["limits[0]", "'a'", "Hinge"]),
        ([None, Cone], ["limits[1]", "Hinge"]),
    ],
)
def test_errors_of_chain_limits_name_the_bone(given_limits, words):
    with pytest.raises(InputError) as caught:
        limits.records(given_limits, 2, (0.0, 1.0, 0.0))
    for word in words:
        assert word in str(caught.value)


def test_there_is_one_record_per_bone():
    none = limits.records(None, 3, (0.0, 1.0, 0.0))
    assert none.shape == (3,)
    np.testing.assert_array_equal(none.kind, limits.NONE)
    mixed = limits.records((None, Cone(1.0), Hinge((0, 0, 1), 0, 1), SwingTwist(1, 0, 1)), 4, (0.0, 1.0, 0.0))
    np.testing.assert_array_equal(mixed.kind, [limits.NONE, limits.CONE, limits.HINGE, limits.SWING_TWIST])
    assert mixed[1] == Cone(1.0).record((0.0, 1.0, 0.0))


@pytest.mark.parametrize("make", [lambda: Cone(35), lambda: SwingTwist(90, -1, 1), lambda: Hinge((1, 0, 0), -90, 90)])
def test_degrees_by_mistake_are_warned_about(make, caplog):
    make()
    assert "radians" in caplog.text


@pytest.mark.parametrize("make", [lambda: Cone(math.pi), lambda: Hinge((1, 0, 0), -math.pi, math.pi)])
def test_no_limit_in_radians_is_not_warned_about(make, caplog):
    make()
    assert caplog.text == ""


@pytest.mark.parametrize("end", [math.inf, -math.inf])
def test_a_slider_has_somewhere_to_be(end):
    with pytest.raises(InputError, match="low and high are both"):
        Slider((0, 0, 1), end, end)
    assert Slider((0, 0, 1), np.float32(-math.inf), 1.0).low == -math.inf
