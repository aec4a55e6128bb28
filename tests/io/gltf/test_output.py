"""Binary files put together: chunks, padding, and a source that stays as it is."""

import copy
import struct

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.io.gltf import output as module
from kinema.io.gltf.document import parse
from kinema.io.gltf.output import Output, Stored, add_clip, float32
from kinema.io.gltf.reader import read
from kinema.math import arrays
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests.io.gltf.build import Build

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


TIMES = np.array([0.0, 0.25, 1.0])
MATRIX = [0, 0, -2, 0, 0, 2, 0, 0, 2, 0, 0, 0, 3, 4, 5, 1]
"""Twice as large, a quarter rotation about y, moved."""


def two_nodes():
    """A parent with a matrix, and a child that is moved and rotated; one clip."""
    build = Build()
    build.add("nodes", name="a", matrix=MATRIX, children=[1], extras={"kept": True})
    build.add("nodes", name="b", translation=[0, 1, 0], rotation=[0, 0, 0.6, 0.8])
    build.animation((1, "translation", [0, 1], [(0, 1, 0), (0, 2, 0)]), name="first")
    return build.read()


def with_clip(character, *tracks, **options):
    """The character that is read from its file with a clip of these tracks added, and that clip."""
    clip = Clip("new", character.skeleton, tracks, **options)
    output = Output(character.source.json, character.source.binary)
    add_clip(output, "new", clip, np.argsort(character.source.joint_of_node).tolist())
    again = read(parse(b"".join(output.glb()), "again.glb"))
    return again, clip


def check_same(one, other, moments):
    for ours, theirs in zip(one.sample(moments).arrays(), other.sample(moments).arrays(), strict=True):
        assert np.allclose(ours, theirs, atol=1e-6)


def turns(count):
    return arrays.from_axis_angle((0.0, 0.6, 0.8), np.linspace(0.3, 2.0, count))


@pytest.mark.parametrize("how", ["STEP", "LINEAR", "CUBICSPLINE"])
def test_keys_and_what_is_between_them_come_back(how):
    def keys(values):
        if how != "CUBICSPLINE":
            return values
        return np.stack((np.full_like(values, 0.1), values, np.full_like(values, -0.2)), axis=1)

    positions = np.array([(1.0, 2.0, 3.0), (2.0, 2.0, 2.0), (0.0, 0.0, 1.0)])
    again, clip = with_clip(
        two_nodes(),
        Track("a", "translation", TIMES, keys(positions), how),
        Track("b", "rotation", TIMES, keys(turns(3)), how),
        Track("b", "scale", TIMES, keys(positions + 1), how),
    )
    moments = np.linspace(0.0, 1.0, 21)
    for ours, read_again in zip(
        clip.sample(moments).arrays(), again.clips["new"].sample(moments).arrays(), strict=True
    ):
        assert np.allclose(ours, read_again, atol=1e-6)
    assert [track.interpolation for track in again.clips["new"].tracks] == [how] * 3


def test_tracks_with_the_same_times_share_them():
    again, _ = with_clip(
        two_nodes(), Track("a", "rotation", TIMES, turns(3)), Track("b", "rotation", TIMES, turns(3)[::-1])
    )
    first, second = again.source.json["animations"][1]["samplers"]
    assert first["input"] == second["input"]
    times = again.source.json["accessors"][first["input"]]
    assert (times["min"], times["max"]) == ([0.0], [1.0])


def test_what_stays_at_rest_is_left_out():
    character = two_nodes()
    rest = character.skeleton.rest
    again, _ = with_clip(
        character,
        Track("b", "rotation", TIMES, -np.tile(rest.rotations[1], (3, 1))),
        Track("b", "translation", TIMES, np.tile(rest.translations[1], (3, 1))),
        Track("b", "scale", TIMES, np.ones((3, 3)) * [[1], [2], [1]]),
    )
    assert [track.path for track in again.clips["new"].tracks] == ["scale"]


@pytest.mark.parametrize(
    "tracks",
    [
        (),
        (Track("b", "rotation", [0.0], [(0.0, 0.0, 0.0, 1.0)]),),
        (Track("b", "rotation", [0.0], [(0.0, 0.0, 0.6, 0.8)]),),
        (Track("b", "translation", TIMES, np.eye(3), "STEP"),),
        (Track("b", "translation", TIMES, np.tile(np.eye(3)[:, np.newaxis], (1, 3, 1)), "CUBICSPLINE"),),
        (Track("b", "translation", [0.5], np.ones((1, 3, 3)), "CUBICSPLINE"),),
    ],
)
def test_a_clip_is_as_long_as_it_was(tracks):
    again, clip = with_clip(two_nodes(), *tracks, duration=2.0)
    assert again.clips["new"].duration == 2.0
    moments = np.linspace(0.0, 2.0, 9)
    for ours, read_again in zip(
        clip.sample(moments).arrays(), again.clips["new"].sample(moments).arrays(), strict=True
    ):
        assert np.allclose(ours, read_again, atol=1e-6)


def test_a_jump_stays_a_jump():
    """Keys nearer to each other than float32 can tell are written one after another."""
    times = np.array([-0.0, 1.0, 1.0 + 1e-12, 1.0 + 2e-12, 2.0])
    again, clip = with_clip(two_nodes(), Track("b", "translation", times, np.arange(15.0).reshape(5, 3)))
    (track,) = again.clips["new"].tracks
    assert (np.diff(track.times) > 0).all()
    assert np.allclose(track.times, times, atol=1e-6)
    check_same(clip, again.clips["new"], np.array([0.0, 0.5, 0.999, 1.001, 1.5, 2.0]))


def test_a_matrix_that_is_animated_becomes_what_it_is_made_of():
    character = two_nodes()
    again, _ = with_clip(character, Track("a", "rotation", TIMES, turns(3)))
    node = again.source.json["nodes"][0]
    assert "matrix" not in node
    assert node["extras"] == {"kept": True}
    assert node["name"] == "a"
    assert np.allclose(again.skeleton.rest_world, character.skeleton.rest_world, atol=1e-12)
    assert "matrix" in character.source.json["nodes"][0]  # The file that was read is as it was.


def test_a_matrix_that_is_not_animated_stays():
    again, _ = with_clip(two_nodes(), Track("b", "rotation", TIMES, turns(3)))
    assert again.source.json["nodes"][0]["matrix"] == MATRIX


def test_values_too_large_for_the_format_are_refused():
    skeleton = Skeleton(["a"], [-1], Pose(np.zeros((1, 3)), [(0.0, 0.0, 0.0, 1.0)]))
    clip = Clip("far", skeleton, [Track(0, "translation", [0.0], [(1e40, 0.0, 0.0)])])
    with pytest.raises(InputError, match="clip 'far', translation of 'a'"):
        add_clip(Output({"asset": {"version": "2.0"}, "nodes": [{}]}), "far", clip, [0])
