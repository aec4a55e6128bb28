"""Files that lean on others become files that stand alone."""

import base64
import json
import struct

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.files import load
from kinema.io.gltf import self_contained as module
from kinema.io.gltf.document import parse
from kinema.io.gltf.reader import read
from kinema.io.gltf.self_contained import self_contained
from tests.io.gltf.build import Build, glb

PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)
JPEG = b"\xff\xd8\xff\xe0" + bytes(33)


def made(document):
    """The document of the file that stands alone."""
    return parse(b"".join(self_contained(document).glb()), "made.glb")


@pytest.fixture
def folder(tmp_path):
    """A text file with a buffer and pictures beside it; further buffers, one of them inside."""
    numbers = np.arange(12, dtype="<f4")
    (tmp_path / "some file.bin").write_bytes(numbers[:5].tobytes())
    (tmp_path / "more").mkdir()
    (tmp_path / "more/b.bin").write_bytes(numbers[5:8].tobytes())
    (tmp_path / "more/a.png").write_bytes(PNG)
    (tmp_path / "b.jpg").write_bytes(JPEG)
    (tmp_path / "c.odd").write_bytes(b"no picture")
    inside = "data:application/octet-stream;base64," + base64.b64encode(numbers[8:].tobytes()).decode()
    tree = {
        "asset": {"version": "2.0", "copyright": "somebody"},
        "nodes": [{"name": "a"}],
        "buffers": [
            {"byteLength": 20, "uri": "some%20file.bin", "name": "first"},
            {"byteLength": 12, "uri": "more/b.bin", "extras": 3},
            {"byteLength": 16, "uri": inside},
        ],
        "bufferViews": [{"buffer": k, "byteLength": 12} for k in range(3)],
        "images": [
            {"uri": "more/a.png", "name": "a"},
            {"uri": "b.jpg"},
            {"uri": "c.odd"},
            {"uri": "gone.png"},
            {"uri": "../out.png"},
            {"uri": "http://localhost/d.png"},
            {"bufferView": 0, "mimeType": "image/png"},
        ],
    }
    (tmp_path / "file.gltf").write_text(json.dumps(tree))
    (tmp_path.parent / "out.png").write_bytes(PNG)
    return tmp_path


def test_buffers_beside_a_file_come_inside(folder):
    source = load(folder / "file.gltf", rig=False).source
    alone = made(source)
    buffers = alone.json["buffers"]
    numbers = np.arange(12, dtype="<f4")
    assert alone.binary[:20] == numbers[:5].tobytes()
    assert "uri" not in buffers[0]
    assert buffers[0]["name"] == "first"
    assert base64.b64decode(buffers[1]["uri"].partition(",")[2]) == numbers[5:8].tobytes()
    assert buffers[1]["extras"] == 3
    assert buffers[2] == source.json["buffers"][2]
    assert alone.json["bufferViews"][:3] == source.json["bufferViews"]
    assert alone.json["asset"] == source.json["asset"]


def test_pictures_beside_a_file_come_inside(folder):
    alone = made(load(folder / "file.gltf", rig=False).source)
    images = alone.json["images"]
    for image, data, kind in ((images[0], PNG, "image/png"), (images[1], JPEG, "image/jpeg")):
        view = alone.json["bufferViews"][image["bufferView"]]
        assert alone.binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == data
        assert image["mimeType"] == kind
        assert "uri" not in image
    assert images[0]["name"] == "a"
    assert base64.b64decode(images[2]["uri"].partition(",")[2]) == b"no picture"
    assert images[6] == {"bufferView": 0, "mimeType": "image/png"}


def test_images_that_cannot_be_embedded_stay_external_and_are_reported(folder, caplog):
    alone = made(load(folder / "file.gltf", rig=False).source)
    assert [image["uri"] for image in alone.json["images"][3:6]] == ["gone.png", "../out.png", "http://localhost/d.png"]
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3


def test_pictures_that_would_make_the_file_too_large_stay_outside(folder, caplog, monkeypatch):
    source = load(folder / "file.gltf", rig=False).source
    monkeypatch.setattr(module, "LARGEST_FILE", 20 + len(PNG))
    images = made(source).json["images"]
    assert "bufferView" in images[0]
    assert images[1] == source.json["images"][1]
    assert "images[1].uri is too large" in caplog.text


def test_pictures_of_nothing(folder):
    (folder / "b.jpg").write_bytes(b"")
    images = made(load(folder / "file.gltf", rig=False).source).json["images"]
    assert images[1]["uri"].endswith("base64,")


def test_a_buffer_that_is_gone_by_now_is_an_error(folder):
    source = load(folder / "file.gltf", rig=False).source
    (folder / "more/b.bin").unlink()
    with pytest.raises(FileError, match=r"more/b\.bin"):
        self_contained(source)


def test_a_text_file_with_its_binary_inside():
    build = Build()
    build.add("nodes", name="a")
    build.animation((0, "translation", [0, 1], np.eye(3)[:2]), name="move")
    character = read(parse(build.gltf(), "made.gltf"))
    alone = made(character.source)
    assert alone.binary.startswith(bytes(build.data))
    assert alone.json["buffers"] == [{"byteLength": len(build.data)}]
    assert list(read(alone).clips) == ["move"]


def test_binary_files_keep_every_chunk():
    data = glb({"asset": {"version": "2.0"}, "nodes": [{}], "buffers": [{"byteLength": 3}]}, b"abc\0")
    chunk = struct.pack("<I4s", 4, b"MORE") + b"abcd"
    data = data[:8] + struct.pack("<I", len(data) + len(chunk)) + data[12:] + chunk
    alone = made(parse(data, "made.glb"))
    assert alone.binary == b"abc\0"
    assert alone.json["buffers"] == [{"byteLength": 3}]
    assert alone.original.endswith(chunk)


def test_files_without_buffers():
    document = parse(json.dumps({"asset": {"version": "2.0"}, "nodes": [{}]}).encode(), "made.gltf")
    assert made(document).json == document.json
