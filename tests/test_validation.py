"""Validation: accepted input, its precision, and errors that name the argument, the index and what is allowed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema import validation
from kinema.errors import InputError, KinemaError

F32, F64 = np.float32, np.float64


def complaint(call, *args):
    with pytest.raises(InputError) as caught:
        call(*args)
    return str(caught.value)


def test_input_errors_are_value_errors_and_kinemas():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputError, KinemaError)


# --- numbers and arrays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1, 2, 3], F64),
        ((1.0, 2.0), F64),
        (np.array([1, 2], np.int8), F64),
        (np.array([1, 2], np.uint64), F64),
        (np.array([True, False]), F64),
        (np.array([1, 2], F64), F64),
        (np.array([1, 2], np.longdouble), F64),
        (np.array([1, 2], F32), F32),
        (np.array([1, 2], np.float16), F32),
        (np.array([1, 2], ">f4"), F32),
        (np.array([1, 2], ">f8"), F64),
    ],
)
def test_real_keeps_float32_and_makes_all_else_float64(value, dtype):
    array = validation.real("target", value)
    assert array.dtype == dtype
    assert array.dtype.isnative
    np.testing.assert_array_equal(array, np.asarray(value, F64))


@pytest.mark.parametrize(
    "value",
    ["high", ["a", "b"], None, [None, 1], [1j, 2], [[1, 2], [3]], {"x": 1}, object(), np.array(["2020"], "M8[Y]")],
    ids=lambda value: repr(value)[:20],
)
def test_real_refuses_what_is_no_array_of_numbers(value):
    message = complaint(validation.real, "target", value)
    assert "target" in message
    assert "array of numbers" in message


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ((np.zeros(3, F32),), F32),
        ((np.zeros(3, F64),), F64),
        ((np.zeros(3, np.float16),), F32),
        ((np.zeros(3, int),), F64),
        ((np.zeros(3, F32), np.zeros(3, F64)), F64),
        ((np.zeros(3, F64), np.zeros(3, F32)), F64),
        ((np.zeros(3, F32), np.zeros(3, F32)), F32),
        ((np.zeros(3, F32), [0.0, 1.0, 0.0], None), F32),
        (([0.0, 1.0, 0.0], (1, 2, 3)), F64),
        ((F32(1), np.zeros(3, F32)), F32),
        ((F64(1), np.zeros(3, F32)), F64),
        ((1.0, 2), F64),
        ((), F64),
    ],
)
def test_precision_is_float32_only_if_every_array_is(values, dtype):
    assert validation.precision(*values) is dtype


@pytest.mark.parametrize("dtype", [F64, F32])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@given(shape=st.lists(st.integers(1, 4), max_size=2), data=st.data())
def test_the_first_bad_number_is_named_with_its_index(dtype, bad, shape, data):
    array = np.zeros((*shape, 3), dtype)
    at = data.draw(st.integers(0, array.size - 1))
    array.flat[at] = bad
    array.flat[data.draw(st.integers(at, array.size - 1))] = bad
    message = complaint(validation.vectors, "pole", array, 3, dtype)
    index = ", ".join(str(i) for i in np.unravel_index(at, array.shape))
    assert f"pole[{index}] is {bad}" in message
    assert "finite" in message
    assert f"{validation.largest(dtype):g}" in message


@pytest.mark.parametrize("dtype", [F64, F32])
def test_magnitudes_are_taken_up_to_the_largest(dtype):
    largest = validation.largest(dtype)
    validation.vectors("target", np.array([largest, -largest, 0.0], dtype), 3, dtype)
    message = complaint(validation.vectors, "target", np.array([0.0, 0.0, -largest * 1.01], dtype), 3, dtype)
    assert "target[2]" in message
    assert f"up to {largest:g}" in message


def test_a_list_too_large_for_float32_is_named_not_rounded_to_infinity():
    message = complaint(validation.vectors, "pole", [0.0, 1e300, 0.0], 3, F32)
    assert "pole[1]" in message


def test_a_long_double_too_large_is_named():
    if np.finfo(np.longdouble).max <= np.finfo(F64).max:
        pytest.skip("long double is double here")
    message = complaint(validation.vectors, "pole", np.array([0, 1, np.longdouble("1e1000")]), 3, F64)
    assert "pole[2]" in message


@pytest.mark.parametrize("value", [1.0, [1.0, 2.0], np.zeros((3, 2)), np.zeros((3, 4)), [], np.zeros((3, 0))])
def test_a_wrong_shape_is_named_with_the_right_one(value):
    message = complaint(validation.vectors, "target", value, 3, F64)
    assert "target" in message
    assert "(..., 3)" in message
    assert str(np.shape(value)) in message


@pytest.mark.parametrize("dtype", [F64, F32])
def test_vectors_come_out_contiguous_in_the_precision_asked_for(dtype):
    source = np.arange(24.0).reshape(3, 8).T
    array = validation.vectors("target", source, 3, dtype)
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(array, source)
    strided = np.arange(12.0)[::2].reshape(2, 3)
    assert validation.vectors("target", strided, 3, dtype).flags.c_contiguous


def test_inputs_may_be_read_only_and_are_never_changed():
    source = np.arange(6.0).reshape(2, 3)
    source.setflags(write=False)
    np.testing.assert_array_equal(validation.vectors("target", source, 3, F64), source)
    np.testing.assert_array_equal(validation.vectors("target", source, 3, F32), source)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 3)])
def test_an_empty_batch_is_fine(shape):
    assert validation.vectors("target", np.zeros(shape), 3, F64).shape == shape
    assert validation.lengths("lengths", np.zeros(shape), 3, F64).shape == shape


@given(shape=st.lists(st.integers(1, 4), max_size=2), data=st.data(), value=st.floats(-1e10, -1e-10))
def test_a_negative_length_is_named_with_its_index(shape, data, value):
    array = np.ones((*shape, 2))
    at = data.draw(st.integers(0, array.size - 1))
    array.flat[at] = value
    message = complaint(validation.lengths, "lengths", array, 2, F64)
    index = ", ".join(str(i) for i in np.unravel_index(at, array.shape))
    assert f"lengths[{index}] is {value}" in message
    assert "0 or more" in message


def test_lengths_of_zero_are_allowed():
    np.testing.assert_array_equal(validation.lengths("lengths", [0.0, -0.0], 2, F64), [0.0, 0.0])


# --- single values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 0.25, 1, True, np.float32(0.5), np.int64(1), np.array(0.5)])
def test_number_takes_one_number(value):
    result = validation.number("tolerance", value, 0.0, 1.0)
    assert isinstance(result, float)
    assert result == float(value)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, -math.inf])
def test_number_errors_name_the_value_and_the_allowed_range(value):
    message = complaint(validation.number, "soften", value, 0.0, 1.0)
    assert f"soften is {value}" in message
    assert "from 0 to 1" in message
    assert "soften is -1.0; allowed are finite numbers of 0 or more" in complaint(validation.number, "soften", -1, 0.0)


@pytest.mark.parametrize("value", ["wide", None, [1.0, 2.0], 1j, object(), np.zeros(2)], ids=lambda v: repr(v)[:20])
def test_number_refuses_what_is_not_one(value):
    message = complaint(validation.number, "tolerance", value)
    assert "tolerance must be one number" in message


def test_number_refuses_a_whole_number_beyond_any_float():
    assert "tolerance" in complaint(validation.number, "tolerance", 10**400)


@pytest.mark.parametrize("value", [0, 1, 7, np.int32(3), 10**30])
def test_whole_takes_whole_numbers(value):
    result = validation.whole("steps", value, 0)
    assert type(result) is int
    assert result == value


@pytest.mark.parametrize("value", [0, -1, 1.0, 2.5, "3", None, True, np.bool_(True), [1], math.nan])
def test_whole_errors_name_the_value_and_the_allowed_range(value):
    message = complaint(validation.whole, "max_iterations", value, 1)
    assert "max_iterations must be a whole number of 1 or more" in message
    assert repr(value)[:60] in message


@given(
    direction=st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda v: max(map(abs, v)) > 0.1),
    exponent=st.integers(-300, 99),
)
def test_axis_has_length_one_for_any_input_size(direction, exponent):
    result = validation.axis("axis", np.array(direction) * 10.0**exponent)
    assert all(type(x) is float for x in result)
    np.testing.assert_allclose(result, np.array(direction) / np.linalg.norm(direction), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((0, 0, 0), ["zero vector", "direction"]),
        ((0, 1), ["(..., 3)", "(2,)"]),
        ([[0, 1, 0]], ["(3,)", "(1, 3)"]),
        ((0, math.nan, 0), ["up[1]", "nan", "finite"]),
        ("up", ["numbers"]),
        (None, ["numbers", "None"]),
    ],
)
def test_axis_errors(value, words):
    message = complaint(validation.axis, "up", value)
    for word in ["up", *words]:
        assert word in message


# --- batches ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "core", "expected"),
    [
        ({"root": (3,), "target": (3,)}, None, ()),
        ({"root": (3,), "target": (5, 3)}, None, (5,)),
        ({"root": (4, 1, 3), "target": (5, 3)}, None, (4, 5)),
        ({"root": (1, 3), "target": (5, 3)}, None, (5,)),
        ({"root": (0, 3), "target": (3,)}, None, (0,)),
        ({"root": (0, 3), "target": (1, 3)}, None, (0,)),
        ({"joints": (7, 3), "target": (5, 3)}, {"joints": 2}, (5,)),
        ({"joints": (5, 7, 3), "target": (3,)}, {"joints": 2}, (5,)),
        ({"joints": (2, 1, 7, 3), "target": (5, 3), "pole": (3,)}, {"joints": 2}, (2, 5)),
        ({}, None, ()),
    ],
)
def test_batch_shape_is_the_common_leading_shape(shapes, core, expected):
    assert validation.batch_shape({name: np.zeros(shape) for name, shape in shapes.items()}, core) == expected


def test_batch_shapes_that_do_not_match_are_all_named():
    named = {"root": np.zeros((4, 3)), "target": np.zeros((5, 3)), "pole": np.zeros(3)}
    message = complaint(validation.batch_shape, named)
    for words in ("batch", "root (4, 3)", "target (5, 3)", "pole (3,)"):
        assert words in message


def _leading():
    return st.sampled_from([(), (1,), (5,), (1, 5), (4, 1), (4, 5), (1, 1)])


@given(leading=_leading())
def test_flat_writes_every_chain_out(leading):
    array = np.random.default_rng(1).normal(size=(*leading, 6, 3))
    row = validation.flat(array, 2, (4, 5))
    np.testing.assert_array_equal(row.reshape(4, 5, 6, 3), np.broadcast_to(array, (4, 5, 6, 3)))


# --- other libraries ------------------------------------------------------------------------------------------


class _Foreign:
    """An array of another library, as PyTorch and JAX have them on a CPU."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array.astype(dtype) if dtype is not None else self._array


@pytest.mark.parametrize("dtype", [F64, F32])
def test_arrays_of_other_libraries_keep_their_precision(dtype):
    foreign = _Foreign(np.array([1.0, 1.0, 0.0], dtype))
    assert validation.precision(foreign, (0, 0, 0)) is dtype
    assert km.two_bone(np.zeros(3, dtype), foreign, (1, 1)).mid.dtype == dtype


class _OnDevice:
    __cuda_array_interface__: dict = {}  # noqa: RUF012


def test_the_device_is_the_gpu_if_any_array_is_there():
    assert validation.device(np.zeros(3), [1, 2], None) == "cpu"
    assert validation.device(np.zeros(3), _OnDevice()) == "gpu"
    assert validation.device() == "cpu"


# --- words, flags and collections ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: validation.whole("attempts", 10**30, 0, 9),
            "attempts is 1000.*; allowed are whole.* from 0 to 9",
        ),
        (lambda: validation.flag("loop", np.zeros(2)), r"loop must be true or false, got array\(\[0., 0.\]\)"),
        (lambda: validation.choice("root", np.zeros(0), ("free",)), "root is array.*; allowed are 'free'$"),
        (
            lambda: validation.choice("solver", "x", ("ccd",), optional=True),
            "is 'x'; allowed are 'ccd' and None",
        ),
        (lambda: validation.instance("pose", 3, np.ndarray, km.Pose), "pose must be a ndarray or a Pose, got int"),
        (lambda: validation.sequence("joints", "hips", "joints"), "joints must be a sequence of joints, got 'hips'"),
        (
            lambda: validation.sequence("joints", np.array(1), "joints"),
            r"must be a sequence of joints, got array\(1\)",
        ),
        (lambda: validation.mapping("masses", [1], "masses"), r"masses must be a dict of masses, got \[1\]"),
        (lambda: validation.whole_numbers("parents", [[1], [2, 3]]), "parents must be whole numbers; "),
        (lambda: validation.whole_numbers("parents", [0.5]), r"parents must be whole numbers, got float64 \(1,\)"),
        (lambda: validation.booleans("held", [[True], [True, False]]), "held must be booleans; "),
        (lambda: validation.booleans("held", [True], (2,)), r"held must be booleans of shape \(2,\), got bool \(1,\)"),
        (lambda: validation.vector("up", np.zeros((2, 3))), r"up must be one vector of shape \(3,\), got \(2, 3\)"),
        (
            lambda: validation.within("strength", [1.0, np.nan], 0.5, 2),
            r"strength\[1\] is nan; allowed .* from 0.5 to 2",
        ),
    ],
)
def test_what_is_something_else_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_what_is_right_is_returned():
    assert validation.flag("loop", np.bool_(True)) is True
    assert validation.sequence("joints", iter(("a", 1)), "joints") == ("a", 1)
    assert validation.whole_numbers("parents", np.array([1, 2], np.uint8)).dtype == np.int64
    given = np.array((1.0, 2.0, 3.0))
    assert validation.vector("up", given) is not given
    validation.choice("solver", None, ("ccd",), optional=True)
