"""Times and values of samplers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import FileError
from kinema.io.gltf.accessors import Accessors
from kinema.io.gltf.document import parse
from kinema.io.gltf.keys import Times, read_values, spread
from tests.io.gltf.build import Build


def accessors(made):
    return Accessors(parse(made.glb(), "a.glb"))


def times(values, kind="float32"):
    made = Build()
    made.accessor(values, kind)
    document = parse(made.glb(), "a.glb")
    return Times(document, Accessors(document)).read(0), document.problems


def test_times_are_seconds():
    assert times([0, 0.5, 2])[0].tolist() == [0, 0.5, 2]
    assert times([3])[0].tolist() == [3]


@pytest.mark.parametrize(
    "values", [[-1, 0], [0, np.nan, 1], [np.nan], [0, np.inf], [1, 0.5], [0, 2, 1, 3], [-np.inf, 0]]
)
def test_times_that_are_none(values):
    with pytest.raises(FileError, match=r"accessors\[0\] holds times of an animation; they must be finite, 0 or more"):
        times(values)
    with pytest.raises(FileError, match="has elements of 2 numbers; times have 1"):
        times([(0, 1), (1, 2)])


def test_keys_at_one_time_follow_each_other_at_once():
    """A jump, as some write it: the value before holds until then, the one after from then on."""
    found, problems = times([0, 1, 1, 1, 2])
    assert (np.diff(found) > 0).all()
    assert np.abs(found - [0, 1, 1, 1, 2]).max() < 1e-15
    assert problems == ["accessors[0] has several keys at one time; they are kept as a jump"]


@given(st.lists(st.floats(0, 2.0**100, width=32), min_size=1, max_size=30))
def test_any_times_are_spread(values):
    before = np.sort(np.repeat(np.array(values, np.float64), 3))
    after = spread(before)
    assert (np.diff(after) > 0).all()
    np.testing.assert_allclose(after, before, rtol=1e-13, atol=1e-300)


def test_values_of_many_at_once():
    rng = np.random.default_rng(1)
    made = Build()
    arrays = [rng.normal(size=(n, 4)) for n in (1, 5, 2)]
    whole = [made.accessor(array) for array in arrays]
    small = made.accessor([(0, 0, 127, 0), (0, 0, 0, -128)], "int8", normalized=True)
    found = read_values(accessors(made), "rotation", False, [*whole, small])
    for index, array in zip(whole, arrays, strict=True):
        np.testing.assert_allclose(found[index], array / np.linalg.norm(array, axis=1, keepdims=True), rtol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(found[index], axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(found[small], [(0, 0, 1, 0), (0, 0, 0, -1)])
    assert found[small].dtype == np.float64


def test_values_with_tangents_stay_as_they_are():
    made = Build()
    array = np.random.default_rng(2).normal(size=(6, 4)).astype("f4")
    index = made.accessor(array)
    found = read_values(accessors(made), "rotation", True, [index])
    np.testing.assert_array_equal(found[index], array.reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("path", "cubic", "bad", "message"),
    [
        ("translation", False, [(1, 2, np.nan)], r"accessors\[1\] has numbers that are not finite"),
        ("scale", False, [(1, 2, 3), (np.inf, 0, 0)], r"accessors\[1\] has numbers that are not finite"),
        ("translation", True, [(1, 2, 3), (0, 0, 0), (np.inf, 0, 0)], "not finite"),
        ("rotation", False, [(0, 0, 0, 1), (0, 0, 0, 0)], r"accessors\[1\] has a rotation of zero"),
        ("rotation", True, [(0, 0, 0, 1), (0, 0, 0, 0), (0, 0, 0, 1)], r"accessors\[1\] has a rotation of zero"),
        ("rotation", False, [(0, 0, 1)], "a rotation needs 4 numbers a key"),
        ("scale", False, [(0, 0, 1, 1)], "a scale needs 3 numbers a key"),
        ("scale", True, [(0, 0, 1)] * 4, "a scale needs 3 times 3 numbers a key"),
    ],
)
def test_values_that_are_none(path, cubic, bad, message):
    made = Build()
    width = 4 if path == "rotation" else 3
    good = made.accessor(np.ones((6, width)))
    wanted = [good, made.accessor(bad), made.accessor(np.ones((3, width)))]
    with pytest.raises(FileError, match=message):
        read_values(accessors(made), path, cubic, wanted)
