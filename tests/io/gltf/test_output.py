"""Binary files put together: chunks, padding, and a source that stays as it is."""

import copy
import struct

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.io.gltf import output as module
from kinema.io.gltf.document import parse
from kinema.io.gltf.output import Output, Stored, float32

ASSET = {"asset": {"version": "2.0"}}


def document(output):
    return parse(b"".join(output.glb()), "made.glb")


@pytest.mark.parametrize("length", range(5))
def test_what_was_there_is_the_beginning(length):
    before = bytes(range(1, length + 1))
    output = Output({**ASSET, "buffers": [{"byteLength": length}]}, before)
    output.add_view(b"new")
    made = document(output)
    assert made.binary.startswith(before)
    (view,) = made.json["bufferViews"]
    start = view.get("byteOffset", 0)
    assert start % 4 == 0
    assert made.binary[start : start + view["byteLength"]] == b"new"
    assert len(made.binary) % 4 == 0
    assert len(made.original) % 4 == 0
    assert start + 3 <= made.json["buffers"][0]["byteLength"] <= len(made.binary)


def test_every_accessor_points_to_its_array():
    arrays = [
        np.arange(3, dtype="<f4").reshape(-1, 1),
        np.arange(5, dtype="u1").reshape(-1, 1),
        np.arange(32, dtype="<f4").reshape(2, 16),
        np.arange(8, dtype="<u2").reshape(2, 4),
    ]
    output = Output(ASSET)
    output.add_view(b"x")
    indices = output.add_arrays([Stored(array, bounded=True) for array in arrays])
    made = document(output)
    assert indices == [0, 1, 2, 3]
    for accessor, array in zip(made.json["accessors"], arrays, strict=True):
        view = made.json["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        assert np.array_equal(np.frombuffer(made.binary, array.dtype, array.size, start).reshape(array.shape), array)
        assert accessor["count"] == len(array)
        assert accessor["min"] == array.min(axis=0).tolist()
        assert accessor["max"] == array.max(axis=0).tolist()
    assert [a["type"] for a in made.json["accessors"]] == ["SCALAR", "SCALAR", "MAT4", "VEC4"]


def test_nothing_that_came_in_is_changed():
    tree = {**ASSET, "buffers": [{"byteLength": 4, "name": "b"}], "accessors": [], "extras": {"x": [1]}}
    before = copy.deepcopy(tree)
    output = Output(tree, b"abcd")
    output.add_arrays([Stored(np.ones((1, 1), "<f4"))])
    made = document(output)
    assert tree == before
    assert made.json["extras"] == {"x": [1]}
    assert made.json["buffers"] == [{"byteLength": 8, "name": "b"}]


def test_a_file_without_bytes_has_no_chunk_for_them():
    made = document(Output(ASSET))
    assert made.binary is None
    assert made.json == ASSET


def test_chunks_of_unknown_kinds_stay_behind():
    chunk = struct.pack("<I4s", 4, b"MORE") + b"abcd"
    output = Output(ASSET, b"1234", chunk)
    assert document(output).original.endswith(chunk)


def test_text_of_any_kind_comes_back():
    tree = {**ASSET, "extras": ["\u3042", "\ud800", "\u0000", 10**40, 0.1, 1e-300]}
    assert document(Output(tree)).json == tree


@pytest.mark.parametrize("odd", [float("inf"), float("nan")])
def test_numbers_that_no_json_can_hold(odd):
    with pytest.raises(InputError, match="cannot be written again"):
        list(Output({**ASSET, "extras": odd}).glb())


def test_files_have_an_end(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_GLB", 100)
    with pytest.raises(InputError, match="allows 100"):
        list(Output(ASSET, bytes(100)).glb())


def test_numbers_too_large_for_the_format_are_named():
    with pytest.raises(InputError, match=r"a hip has numbers beyond 3\.4e\+38"):
        float32(np.array([1e39]), "a hip")
