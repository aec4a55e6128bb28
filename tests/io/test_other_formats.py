"""Formats that are not read: each is recognised, and the error says what to do."""

import gzip
import io
import itertools
import zipfile

import numpy as np
import pytest

import kinema as km
from kinema.io import other_formats
from kinema.io.formats import READ
from kinema.io.other_formats import OTHERS, convertible, hint, recognised
from tests.io.gltf.build import arm


def zipped(name):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, arm().glb())
    return data.getvalue()


def points():
    data = io.BytesIO()
    np.save(data, np.zeros(3))
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'<?xml version="1.0"?>\n<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema">', "COLLADA"),
        (b"#usda 1.0", "USD"),
        (zipped("scene.usdc"), "USD"),
        (b"BLENDER-v300", "Blender"),
        (b"PathFileType\t4", "TRC"),
        (points(), "NumPy"),
        (b'<?xml version="1.0"?><sdf version="1.6">', "robot description"),
        (gzip.compress(arm().glb()), "compressed"),
        (zipped("arm.glb"), "compressed"),
        (b"\x89PNG\r\n", "picture"),
        (b"\x00\x00\x00\x18ftypmp42", "video"),
        (b"Ogawa\xff", "Alembic"),
        (b"7z\xbc\xaf\x27\x1c", "compressed"),
        (b"Rar!\x1a", "compressed"),
        (b"BZh9", "compressed"),
        (b"PMX \x00", "MikuMikuDance"),
        (b"<mvnx version='4'>", "MVNX"),
        (b"<OpenSimDocument Version='30000'>", "OpenSim"),
        (b":version 1.10", "Acclaim"),
    ],
    ids=itertools.count(),  # Archives hold the time: as names of tests they would differ from process to process.
)
def test_content_decides_whatever_the_name_is(content, name, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    assert recognised(content[:1024], ".glb").name == name
    (tmp_path / "a.glb").write_bytes(content)
    with pytest.raises(km.FileError, match=rf"a\.glb: {name} files are not read; "):
        km.load(tmp_path / "a.glb")


@pytest.mark.parametrize("suffix", [suffix for other in OTHERS for suffix in other.suffixes])
def test_the_suffix_decides_where_the_content_is_unknown(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    (tmp_path / f"a{suffix}").write_bytes(b"whatever it holds")
    with pytest.raises(km.FileError, match=r"files are not read; [\w`].{10}"):
        km.load(tmp_path / f"a{suffix}")


def test_the_suffix_says_more_than_an_archive():
    """Blender's files may be compressed as a whole."""
    assert recognised(gzip.compress(b"BLENDER"), ".blend").name == "Blender"


def test_suffixes_are_unique_and_none_is_read_without_a_package():
    suffixes = [suffix for other in OTHERS for suffix in other.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert not {suffix for other in OTHERS for suffix in other.suffixes if not other.package} & set(READ)


def test_what_is_unknown_has_no_hint(tmp_path):
    assert hint(b"", tmp_path / "a.glb") is None


def test_what_can_be_converted(tmp_path):
    assert convertible(tmp_path / "A.DAE").name == "COLLADA"
    assert convertible(tmp_path / "a.c3d") is None
    assert convertible(tmp_path / "a.glb") is None


def test_an_installed_converter_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(other_formats.shutil, "which", lambda program: program if program == "blender" else None)
    assert "first: blender --background" in hint(b"BLENDER", tmp_path / "a b.blend")
    monkeypatch.setattr(other_formats.shutil, "which", lambda program: None)
    assert "Install Blender (blender.org); with Blender: blender" in hint(b"BLENDER", tmp_path / "a.blend")
