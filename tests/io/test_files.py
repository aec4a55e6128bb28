"""Loading and saving by content and by ending."""

import os
import threading

import numpy as np
import pytest

import kinema as km
from kinema.io import files, other_formats
from tests.assets import asset
from tests.io.gltf.build import arm

REAL = {"gltf/Fox.glb": (26, 3), "gltf/KayKit_Knight.glb": (57, 76), "bvh/cmu_02_01.bvh": (38, 1)}


@pytest.mark.parametrize("file", REAL)
def test_real_files_by_their_content(file):
    character = km.load(asset(file))
    assert (len(character.skeleton), len(character.clips)) == REAL[file]
    for clip in character.clips.values():
        assert np.isfinite(character.skeleton.world(clip.sample((0.0, clip.duration)))).all()


def test_the_ending_does_not_matter(tmp_path):
    path = tmp_path / "fox.bvh"
    path.write_bytes(asset("gltf/Fox.glb").read_bytes())
    assert len(km.load(path).skeleton) == 26


@pytest.mark.parametrize("content", [b"", b"   ", b"glT", b"HIER", bytes(2000)])
def test_what_is_neither(content, tmp_path):
    path = tmp_path / "a.glb"
    path.write_bytes(content)
    with pytest.raises(
        km.FileError,
        match=r"a\.glb: the content is of no known format; allowed are glTF .* BVH",
    ):
        km.load(path)


@pytest.mark.parametrize("suffix", [".dae", ".usd", ".usda", ".usdz"])
def test_errors_for_other_formats_explain_how_to_convert_them(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(other_formats.shutil, "which", lambda program: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    path = tmp_path / f"walk{suffix}"
    path.write_bytes(b"whatever it holds")
    with pytest.raises(km.FileError, match=r"convert it to \.glb first\. Install Blender .* blender --background") as e:
        km.load(path)
    assert f"filepath='{path.as_posix()}'" in str(e.value)
    assert f"filepath='{path.with_suffix('.glb').as_posix()}'" in str(e.value)


def test_the_error_for_markers_says_that_they_are_no_joints(tmp_path):
    (tmp_path / "walk.c3d").write_bytes(b"\x02P")
    with pytest.raises(km.FileError, match=r"they hold points, not joints: `kinema fit`"):
        km.load(tmp_path / "walk.c3d")


def test_collada_is_known_by_its_content_and_an_installed_converter_is_named(tmp_path, monkeypatch):
    path = tmp_path / "my walk.bin"
    path.write_bytes(b'<?xml version="1.0"?><COLLADA xmlns="">')
    monkeypatch.setattr(other_formats.shutil, "which", lambda program: program if program == "blender" else None)
    with pytest.raises(km.FileError, match=r"first: blender --background .*wm\.collada_import"):
        km.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once(tmp_path):
    """A pipe cannot be opened a second time: the format comes from the same bytes."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    feeder = threading.Thread(target=path.write_bytes, args=(arm().glb(),))
    feeder.start()
    assert len(km.load(path).skeleton) > 0
    feeder.join()


def test_bytes_are_loaded_as_files_are(tmp_path):
    (tmp_path / "arm.glb").write_bytes(arm().glb())
    from_bytes, from_file = files.load_bytes(arm().glb(), "arm.glb"), km.load(tmp_path / "arm.glb")
    assert from_bytes.name == from_file.name == "arm"
    assert from_bytes.skeleton.names == from_file.skeleton.names
    assert b"".join(files.encode(".glb", from_bytes)) == b"".join(files.encode(".glb", from_file))


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(km.FileError, match=r"nope\.glb: No such file"):
        km.load(tmp_path / "nope.glb")


def test_names_that_no_file_has_are_errors_of_files(tmp_path):
    with pytest.raises(km.FileError, match="null byte"):
        km.load("a\0b.glb")
    with pytest.raises(km.FileError, match="no name of a file holds a zero"):
        km.save("a\0b.glb", files.load_bytes(arm().glb(), "arm.glb"))
    with pytest.raises(km.InputError, match="path must be a str or a PathLike, got int"):
        km.load(3)
    with pytest.raises(km.InputError, match="max_bytes must be a whole number of 1 or more"):
        km.load(tmp_path, max_bytes=-5)


def test_swapped_arguments_are_named(tmp_path):
    character = files.load_bytes(arm().glb(), "arm.glb")
    with pytest.raises(km.InputError, match="path must be a path, got Character; the character comes second"):
        km.save(character, tmp_path / "a.glb")
