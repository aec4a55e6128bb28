"""Which files are meant, where they go, and what is known to be done."""

import json

import pytest

from kinema.errors import FileError, InputError
from kinema.io.gltf import reader as gltf_reader
from kinema.io.gltf.document import parse
from kinema.jobs.listing import MANIFEST, Item, Manifest, items, read
from tests.assets import asset
from tests.io.gltf.build import arm, glb


@pytest.fixture
def folder(tmp_path):
    """Files of several kinds, in folders of their own."""
    for name in ("b.glb", "a.GLB", "notes.txt", "deep/er/c.bvh", "deep/d.vrm", "deep/.kinema-files.json"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(b"x")
    return tmp_path


def names(found):
    return [item.name for item in found]


def test_a_folder_is_searched_to_the_bottom_and_kept_in_shape(folder):
    found = items([str(folder / "in")], folder / "out")
    assert names(found) == ["a.GLB", "b.glb", "deep/d.vrm", "deep/er/c.bvh"]
    outputs = [item.output.relative_to(folder / "out").as_posix() for item in found]
    assert outputs == ["a.glb", "b.glb", "deep/d.glb", "deep/er/c.bvh"]


def test_patterns_and_files_each_once(folder):
    found = items([str(folder / "in" / "*.glb"), str(folder / "in" / "b.glb")], folder / "out")
    assert names(found) == ["b.glb"]
    assert names(items([str(folder / "in" / "**" / "*.*")], folder / "out")) == ["a.GLB", "b.glb", "d.vrm", "c.bvh"]


def test_one_file_to_one_file(folder):
    (one,) = items([str(folder / "in" / "deep" / "er" / "c.bvh")], folder / "new.glb")
    assert one.output == folder / "new.glb"
    assert one.kind == ".glb"


@pytest.mark.parametrize(
    ("inputs", "output", "told"),
    [
        (["in"], "one.glb", "give a folder"),
        (["nothing.glb"], "out", "no file"),
        (["in/*.xyz"], "out", "no file"),
        (["in/notes.txt"], "out", "points, not joints"),
        (["in/b.glb"], "new.gltf", "ends in '.gltf'; allowed are .glb"),
        (
            ["in/b.glb"],
            "new.fbx",
            "ends in '.fbx'; write .glb, which Blender opens and exports as such files; allowed are",
        ),
        (["in/b.glb"], "new.fbx", "ends in '.fbx'"),
        (["in"], "new.txt", "ends in '.txt'"),
        (["in/deep/er", "in/b.glb", "in/deep/../b.glb"], "out", "both be written"),
    ],
)
def test_what_cannot_be_meant(folder, inputs, output, told):
    with pytest.raises(InputError, match=told):
        items([str(folder / text) for text in inputs], folder / output)


def test_a_folder_without_characters(tmp_path):
    with pytest.raises(InputError, match="there is no"):
        items([str(tmp_path)], tmp_path / "out")


def test_a_gltf_with_files_beside_it_is_read_as_one():
    path = asset("torture/AnimatedMorphCube_quantized/AnimatedMorphCube.gltf")
    data = read(Item(path, path.name, path))
    assert data.startswith(b"glTF")
    assert len(data) > path.with_suffix(".bin").stat().st_size


def test_a_file_named_directly_may_be_called_anything(tmp_path):
    (tmp_path / "motion.vrma").write_bytes(arm().glb())
    (tmp_path / "captured.txt").write_text("\n hierarchy\n")
    found = items([str(tmp_path / "motion.vrma"), str(tmp_path / "captured.txt")], tmp_path / "out")
    assert [item.output.name for item in found] == ["motion.glb", "captured.bvh"]
    (tmp_path / "out.v2").mkdir()
    (one,) = items([str(tmp_path / "motion.vrma")], tmp_path / "out.v2")
    assert one.output == tmp_path / "out.v2" / "motion.glb"


@pytest.mark.parametrize("name", ["walk.gltf", "walk.vrma"])
def test_what_a_file_refers_to_travels_along(tmp_path, name):
    """Text or not, whatever it is called: the bytes that are sent to a worker need no other file."""
    made = arm()
    made.animation((0, "translation", (0.0, 1.0), ((0, 0, 0), (0, 0, 1))), name="walk")
    tree = {**made.json, "buffers": [{"byteLength": len(made.data), "uri": "deep/the%20bytes.bin"}]}
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "the bytes.bin").write_bytes(made.data)
    (tmp_path / name).write_bytes(json.dumps(tree).encode() if name.endswith("gltf") else glb(tree))
    data = read(Item(tmp_path / name, name, tmp_path / "out.glb"))
    alone = gltf_reader.read(parse(data, "alone.glb"))
    assert alone.clips["walk"].sample(1.0).translations[0, 2] == pytest.approx(1.0)
    (tmp_path / "deep" / "the bytes.bin").unlink()
    with pytest.raises(FileError, match=name):
        read(Item(tmp_path / name, name, tmp_path / "out.glb"))


def test_unreadable_files_are_reported(tmp_path):
    for name in ("none.glb", "none.gltf"):
        with pytest.raises(FileError, match="none"):
            read(Item(tmp_path / name, name, tmp_path / "out.glb"))


def test_the_manifest_records_finished_files_and_their_settings(tmp_path):
    item = Item(tmp_path / "a.glb", "a.glb", tmp_path / "out" / "deep" / "a.glb")
    item.output.parent.mkdir(parents=True)
    manifest = Manifest(tmp_path / "out", "order")
    assert not manifest.is_done(item, b"old")
    item.output.write_bytes(b"new")
    manifest.add(item, b"old")
    again = Manifest(tmp_path / "out", "order")
    assert again.is_done(item, b"old")
    assert not again.is_done(item, b"other")
    assert not Manifest(tmp_path / "out", "another order").is_done(item, b"old")
    item.output.unlink()
    assert not again.is_done(item, b"old")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', "\x00"])
def test_a_manifest_that_is_broken_is_as_none(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    item = Item(tmp_path / "a.glb", "a.glb", tmp_path / "b.glb")
    item.output.write_bytes(b"new")
    assert not Manifest(tmp_path, "order").is_done(item, b"old")
