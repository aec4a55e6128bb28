"""The container and the JSON: read as they lie, or refused."""

import json
import struct

import pytest

from kinema.errors import FileError
from kinema.io.gltf.document import MOST_VALUES, parse
from tests.assets import asset
from tests.io.gltf.build import Build, arm, glb, memory

PLAIN = {"asset": {"version": "2.0"}}


def refused(data, message):
    with pytest.raises(FileError, match=message) as caught:
        parse(data, "a.glb")
    assert str(caught.value).startswith("a.glb: ")
    assert len(str(caught.value)) < 250


def test_everything_is_kept_as_it_lies():
    tree = {**PLAIN, "extras": {"mine": [1, None, "ä", 2.5]}, "extensions": {"X": {}}}
    data = glb(tree, b"\1\2\3\4")
    document = parse(data, "a.glb")
    assert document.json == tree
    assert document.binary == b"\1\2\3\4"
    assert document.original == data
    assert document.container == "glb"
    assert document.problems == []
    text = json.dumps(tree).encode()
    for plain in (text, b"\xef\xbb\xbf" + text, b"\n  " + text):
        document = parse(plain, "a.gltf")
        assert document.json == tree
        assert document.binary is None
        assert document.container == "gltf"


def test_a_file_without_binary_and_one_with_more_chunks():
    assert parse(glb(PLAIN), "a.glb").binary is None
    data = glb(PLAIN, b"1234") + struct.pack("<I4s", 4, b"MORE") + b"abcd"
    data = data[:8] + struct.pack("<I", len(data)) + data[12:]
    assert parse(data, "a.glb").binary == b"1234"


def test_bytes_after_the_end_are_noted():
    document = parse(glb(PLAIN) + b"junk", "a.glb")
    assert document.problems == ["4 bytes after the end of the file are ignored"]


def test_a_file_cut_off_anywhere_is_refused():
    data = arm().glb()
    for length in range(len(data)):
        with pytest.raises(FileError):
            parse(data[:length], "a.glb")


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (4, 1, "glTF version 1; expected version 2"),
        (8, 10**6, r"the file ends after \d+ of 1,000,000 bytes"),
        (8, 15, "ends within the header of chunk 0"),
        (8, 12, "first chunk is not JSON"),
        (12, 2**32 - 1, r"chunk 0 has 4,294,967,295 bytes; the file has"),
        (16, 0, "first chunk is not JSON"),
    ],
)
def test_lying_headers(at, value, message):
    data = bytearray(glb(PLAIN, b"1234"))
    struct.pack_into("<I", data, at, value)
    refused(bytes(data), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "breaks off at line 1"),
        (b"[]", "is not an object"),
        (b'{"asset": {"version": "2.0"}', "breaks off"),
        (b'{"asset": NaN}', "has NaN"),
        (b'{"asset": -Infinity}', "has -Infinity"),
        (b'{"asset": "\xff"}', "not UTF-8 at byte 11"),
        (b'{"asset": ' + b"9" * 5000 + b"}", "number of thousands of digits"),
        (b'{"a":' * 500_000, "nested too deeply"),
        (b"[" * 500_000, "nested too deeply"),
        (b"{}", "the file has no 'asset'"),
        (b'{"asset": 3}', "asset is 3; expected an object"),
        (b'{"asset": {}}', "asset has no 'version'"),
        (b'{"asset": {"version": 2.0}}', "asset.version is 2.0; expected a string"),
        (b'{"asset": {"version": "1.0"}}', "asset.version is '1.0'; expected '2.0'"),
        (b'{"asset": {"version": "2.0", "minVersion": "2.1"}}', "asset.minVersion is '2.1'"),
    ],
)
def test_what_is_not_the_json_of_a_gltf_file(text, message):
    refused(glb(text), message)
    with pytest.raises(FileError):
        parse(text, "a.gltf")


def test_the_last_of_equal_keys_counts_as_everywhere():
    assert parse(b'{"asset": 1, "asset": {"version": "2.0"}}', "a.gltf").json == PLAIN


def test_more_values_than_memory_should_hold_are_not_parsed():
    text = b'{"a": [' + b"0," * (MOST_VALUES + 1) + b"0]}"
    with memory() as peak:
        refused(text, "more than 2,000,000 values")
        assert peak() < 1_000_000


# --- bones among all the nodes --------------------------------------------------------------------------------------


def bones_of(nodes, *skins):
    """Names of the bones of a file of these nodes, {name: members}, and skins that are lists of names."""
    build, names = Build(), list(nodes)
    for name, members in nodes.items():
        children = [names.index(child) for child in members.get("children", ())]
        build.add("nodes", name=name, **{**members, **({"children": children} if children else {})})
    for skin in skins:
        build.add("skins", joints=[names.index(name) for name in skin])
    if any("mesh" in members for members in nodes.values()):
        build.triangle()
    character = build.read()
    joints = character.source.bones(character.skeleton)
    return None if joints is None else {character.skeleton.names[joint] for joint in joints}


SCENE = {
    "scene": {"children": ["rig", "floor"]},
    "floor": {"mesh": 0},
    "rig": {"children": ["body", "hand", "target"]},
    "body": {"mesh": 0, "skin": 0},
    "hand": {"children": ["wrist"]},
    "wrist": {"children": ["finger", "sword"]},
    "finger": {"children": ["finger_end"]},
    "finger_end": {},
    "sword": {"mesh": 0},
    "target": {},
}


def test_what_a_skin_is_bound_to_with_what_is_between_and_bare_ends():
    assert bones_of(SCENE, ["hand", "finger"]) == {"hand", "wrist", "finger", "finger_end"}


def test_several_tops_come_with_what_is_above_them_all():
    assert bones_of(SCENE, ["hand"], ["target"]) == {"rig", "hand", "target"}


def test_bones_of_two_trees():
    assert bones_of({"a": {"children": ["b"]}, "b": {}, "c": {}}, ["b", "c"]) == {"a", "b", "c"}


def test_numbers_of_nodes_may_be_written_with_a_point():
    build = Build()
    build.add("nodes", name="a", children=[1])
    build.add("nodes", name="b")
    build.add("skins", joints=[0.0, 1.0])
    character = build.read()
    assert character.source.bones(character.skeleton) == [0, 1]


def test_no_bones_without_skins():
    assert bones_of({"a": {}}) is None


FINE = [
    *("KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit", "KHR_materials_variants", "VRM"),
    *("KHR_lights_punctual", "KHR_texture_basisu", "EXT_texture_webp", "KHR_node_visibility", "VRMC_vrm"),
    *("VRMC_springBone", "KHR_draco_mesh_compression", "KHR_animation_pointer", "KHR_xmp_json_ld"),
]


@pytest.mark.parametrize("name", FINE)
def test_extensions_that_do_not_affect_skeletons_are_accepted(name):
    assert len(arm(extensionsRequired=[name]).read().skeleton) == 3


@pytest.mark.parametrize(
    "name", ["EXT_meshopt_compression", "KHR_meshopt_compression", "ACME_bones", "", "VRMX", "KHR_"]
)
def test_unsupported_required_extensions_are_errors(name):
    with pytest.raises(FileError, match=rf"made\.glb: extensionsRequired\[1\] is '{name}', which is not supported"):
        arm(extensionsRequired=["KHR_materials_unlit", name]).read()


@pytest.mark.parametrize(("value", "message"), [([3], r"extensionsRequired\[0\] is 3"), ("VRM", "expected an array")])
def test_what_is_no_list_of_names(value, message):
    with pytest.raises(FileError, match=message):
        arm(extensionsRequired=value).read()


def test_what_is_only_used_may_be_anything():
    assert len(arm(extensionsUsed=["ACME_bones"]).read().skeleton) == 3


def test_the_fox_compressed_has_the_same_clips():
    import kinema as km

    plain, draco = (km.load(asset(f), rig=False) for f in ("gltf/Fox.glb", "torture/Fox_gt_draco.glb"))
    assert list(plain.clips) == list(draco.clips)
    assert not draco.skins
    for name, clip in plain.clips.items():
        assert abs(clip.sample(0.3).rotations - draco.clips[name].sample(0.3).rotations).max() < 1e-6
