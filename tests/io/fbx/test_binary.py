"""The binary form: positions, typed values, arrays."""

import struct

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.fbx import binary
from kinema.io.fbx.element import Budget
from tests.io.fbx import build
from tests.io.fbx.build import element

TREE = [element("A", 1, 2.5, "x", True, [1.0, 2.0], inside=[element("B", [3, 4])]), element("C")]


def parsed(data):
    return binary.parse(data, Budget("a.fbx", len(data)))


@pytest.mark.parametrize("version", [7400, 7500])
@pytest.mark.parametrize("deflate", [False, True])
def test_values_come_back(version, deflate):
    root = parsed(build.binary(TREE, version, deflate=deflate))
    a = root.at("A")
    assert a.values[:4] == [1, 2.5, b"x", True]
    assert a.values[4].tolist() == [1.0, 2.0]
    assert a.at("B").numbers(np.int64).tolist() == [3, 4]
    assert [each.name for each in root.children] == ["A", "C"]


def test_a_long_run_of_numbers_is_an_array():
    values = parsed(build.binary([element("A", *map(float, range(9)))], 6100)).at("A").values
    assert len(values) == 1
    assert values[0].tolist() == list(range(9))


def test_numbers_of_several_types_stay_apart():
    assert parsed(build.binary([element("A", *([1] * 9), 2.0)])).at("A").values == [1] * 9 + [2.0]


def damaged(change):
    data = bytearray(build.binary([element("A", [1.0, 2.0, 3.0])], deflate=True))
    change(data, data.index(b"A") + 1)
    return bytes(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data, at: struct.pack_into("<I", data, at + 1, 4), r"A has an array of 24 bytes; 4 numbers of 8"),
        (lambda data, at: struct.pack_into("<I", data, at + 1, 2**30), "needs 1,073,741,824 numbers"),
        (lambda data, at: struct.pack_into("<I", data, at + 5, 2), "unknown encoding 2"),
        (lambda data, at: struct.pack_into("<I", data, at + 9, 2**20), "values that end outside of it"),
        (lambda data, at: struct.pack_into("<B", data, at, ord("?")), r"a value of unknown type '\?'"),
        (lambda data, at: struct.pack_into("<B", data, at + 13, 0), "cannot be inflated"),
        (lambda data, at: struct.pack_into("<I", data, 31, 10**6), r"has 1,000,000 values in \d+ bytes"),
    ],
)
def test_damage_is_named(change, message):
    with pytest.raises(FileError, match=message):
        parsed(damaged(change)).at("A").numbers()


def test_an_element_that_ends_outside_is_named():
    data = bytearray(build.binary([element("A", 1)]))
    struct.pack_into("<I", data, 27, 10**6)
    with pytest.raises(FileError, match=r"an element at byte 27 that ends at byte 1,000,000"):
        _ = parsed(bytes(data)).children


def test_elements_lie_in_each_other_up_to_a_limit():
    tree = element("A", 1)
    for _ in range(80):
        tree = element("A", inside=[tree])
    each = parsed(build.binary([tree]))
    for _ in range(65):
        each = each.at("A")
    with pytest.raises(FileError, match="is inside 65 elements; at most 64"):
        each.at("A")


def test_big_endian_files_are_refused():
    data = bytearray(build.binary(TREE))
    data[22] = 1
    with pytest.raises(FileError, match="big-endian"):
        parsed(bytes(data))
