"""Saving adds: once, under a name of its own, and to nothing that was there."""

import base64
import json
import struct
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kinema.errors import FileError, InputError
from kinema.io import files
from kinema.io.files import load, save
from kinema.io.gltf import writer as module
from kinema.io.gltf.document import parse
from kinema.io.gltf.reader import read
from kinema.io.gltf.writer import self_contained
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests.assets import asset
from tests.io import mutations
from tests.io.gltf.build import Build, glb


@pytest.fixture
def character():
    build = Build(extensionsUsed=["EXT_unknown"], extensions={"EXT_unknown": {"deep": [1, {"x": None}]}}, extras="mine")
    build.add("nodes", name="b", children=[1], extras={"tag": "kept"})
    build.add("nodes", name="a", translation=[0, 1, 0])
    build.animation((1, "translation", [0, 1], [(0, 1, 0), (0, 2, 0)]), name="Walk")
    build.animation((0, "translation", [0, 2], [(0, 1, 0), (0, 2, 0)]))
    return build.read()


def nod(character, name="Nod"):
    rotations = [(0.0, 0.0, 0.0, 1.0), (0.6, 0.0, 0.0, 0.8)]
    return Clip(name, character.skeleton, [Track("a", "rotation", [0.0, 0.5], rotations)])


def saved(path, character, **clips):
    save(path, replace(character, clips={**character.clips, **clips}))
    return files.load(path, rig=False)


def test_a_new_clip_is_added_and_the_rest_stays(character, tmp_path):
    before = json.dumps(character.source.json)
    back = saved(tmp_path / "a.glb", character, Nod=nod(character))
    assert list(back.clips) == ["Walk", "clip_1", "Nod"]
    assert back.source.binary.startswith(character.source.binary)
    assert back.source.json["extensions"] == character.source.json["extensions"]
    assert back.source.json["nodes"] == character.source.json["nodes"]
    assert back.source.json["animations"][:2] == character.source.json["animations"]
    assert back.source.json["animations"][2]["channels"] == [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]
    assert json.dumps(character.source.json) == before


def test_saving_what_was_loaded_adds_nothing_again(character, tmp_path):
    first = saved(tmp_path / "a.glb", character, Nod=nod(character))
    again = saved(tmp_path / "a.glb", first)
    assert again.source.original == first.source.original
    third = saved(tmp_path / "a.glb", again, Shake=nod(character, "Shake"))
    assert list(third.clips) == ["Walk", "clip_1", "Nod", "Shake"]


def test_clips_that_are_taken_from_the_character_stay_in_the_file(character, tmp_path):
    save(tmp_path / "a.glb", replace(character, clips={"Nod": nod(character)}))
    assert list(files.load(tmp_path / "a.glb", rig=False).clips) == ["Walk", "clip_1", "Nod"]


def test_names_the_file_has_already_are_not_taken_twice(character, tmp_path):
    clips = {"Walk": nod(character), "clip_1": nod(character)}
    save(tmp_path / "a.glb", replace(character, clips=clips))
    assert list(files.load(tmp_path / "a.glb", rig=False).clips) == ["Walk", "clip_1", "Walk_2", "clip_1_2"]


def test_a_clip_is_called_as_the_character_calls_it(character, tmp_path):
    assert "Yes" in saved(tmp_path / "a.glb", character, Yes=nod(character)).clips


def test_clips_of_another_skeleton_are_refused(character, tmp_path):
    other = Skeleton(["x"], [-1], Pose(np.zeros((1, 3)), [(0.0, 0.0, 0.0, 1.0)]))
    with pytest.raises(InputError, match="clip 'Odd' belongs to another skeleton"):
        saved(tmp_path / "a.glb", character, Odd=Clip("Odd", other, ()))
    with pytest.raises(InputError, match="set source=None to write a new file"):
        save(tmp_path / "a.glb", replace(character, skeleton=other, clips={}))
    assert not list(tmp_path.iterdir())


def test_without_its_source_a_character_becomes_a_file_of_its_own(character, tmp_path):
    save(tmp_path / "a.glb", replace(character, source=None))
    back = files.load(tmp_path / "a.glb", rig=False)
    assert list(back.clips) == list(character.clips)
    assert back.skeleton.names == character.skeleton.names
    assert "extras" not in back.source.json


def test_what_cannot_be_written_leaves_the_old_file(character, tmp_path):
    path = tmp_path / "a.glb"
    path.write_bytes(b"old")
    far = Clip("far", character.skeleton, [Track("a", "translation", [0.0], [(1e40, 0.0, 0.0)])])
    with pytest.raises(InputError, match="numbers beyond"):
        saved(path, character, far=far)
    assert path.read_bytes() == b"old"


# --- by the path's ending --------------------------------------------------------------------------------------


def test_the_path_decides_the_format(character, tmp_path):
    files.save(tmp_path / "a.GLB", character)
    files.save(tmp_path / "a.bvh", character, clip="Walk", fps=10)
    assert (tmp_path / "a.GLB").read_bytes()[:4] == b"glTF"
    assert (tmp_path / "a.bvh").read_text().startswith("HIERARCHY")
    assert files.load(tmp_path / "a.bvh").clips["a"].duration == 1.0


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("a.fbx", {}, r"path ends in '\.fbx'; write \.glb, which Blender opens .*; allowed are \.glb"),
        ("a", {}, "path ends in ''"),
        ("a.glb", {"clip": "Walk"}, "clip and fps are for files of one clip"),
        ("a.bvh", {}, "choose one with clip="),
    ],
)
def test_parts_that_cannot_be_saved_are_reported(character, tmp_path, name, options, said):
    with pytest.raises(InputError, match=said):
        files.save(tmp_path / name, character, **options)
    with pytest.raises(InputError, match="must be a Character"):
        files.save(tmp_path / name, character.skeleton)
    assert not list(tmp_path.iterdir())


# --- damaged files ---------------------------------------------------------------------------------------------


def test_what_can_be_read_of_damaged_files_can_be_saved_or_is_refused(tmp_path):
    damaged, saved = tmp_path / "damaged", tmp_path / "saved"
    damaged.mkdir()
    saved.mkdir()
    trial = mutations.Trial(damaged)
    outcomes = Counter(_saved_damaged(trial.write(seed), saved) for seed in [*range(150), 6431])
    assert outcomes["saved"] > 20, outcomes


def _saved_damaged(path, folder):
    try:
        character = files.load(path, rig=False)
        clips = {
            **character.clips,
            "turn": Clip("turn", character.skeleton, [Track(0, "rotation", [1.0], [(0, 1, 0, 0)])]),
        }
        files.save(folder / "a.glb", replace(character, clips=clips))
        assert len(files.load(folder / "a.glb", rig=False).clips) == len(clips)
        files.save(folder / "a.glb", replace(character, source=None))
        files.save(folder / "a.bvh", character, clip=clips["turn"], fps=2)
    except InputError:
        return "refused"
    return "saved"


# --- a real one ------------------------------------------------------------------------------------------------


def test_bones_of_a_real_file_as_bvh(tmp_path):
    """Every bone is where it was, in every frame; meshes, and what they hang from, stay behind."""
    knight = files.load(asset("gltf/KayKit_Knight.glb"), rig=False)
    clip = knight.clips["Walking_A"]
    files.save(tmp_path / "a.bvh", knight, clip=clip, fps=30)
    read = files.load(tmp_path / "a.bvh", rig=False)
    assert "Knight_Body" in knight.skeleton.names
    assert "Knight_Body" not in read.skeleton.names
    assert (read.skeleton.parents < 0).sum() == 1
    moments = np.arange(round(clip.duration * 30)) / 30
    ours = knight.skeleton.world(clip.sample(moments))[..., :3, 3]
    theirs = read.skeleton.world(read.clips["a"].sample(moments))[..., :3, 3]
    both = [name for name in read.skeleton.names if name in knight.skeleton.names]
    assert len(both) > 35
    for name in both:
        at = ours[:, knight.skeleton.index(name)]
        assert np.allclose(at, theirs[:, read.skeleton.index(name)], atol=3e-6), name  # Six decimals.


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
