"""The table of formats: one line and one package are all that a format needs."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import kinema as km
from kinema.io import formats
from kinema.io.formats import FORMATS, Format
from kinema.jobs.listing import items
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def dots(monkeypatch):
    """A format of one line: a dot for each joint of a chain."""
    package = ModuleType("kinema.io.dots")
    package.LARGEST_FILE = 20
    package.detect = lambda head: head.startswith(b".")
    package.encode = lambda character: [b"." * len(character.skeleton)]
    package.pack = lambda data, path: data + b"."

    def decode(data, name, folder, max_bytes):
        joints = range(len(data))
        rest = Pose(np.tile((0.0, 1.0, 0.0), (len(data), 1)), np.tile((0.0, 0.0, 0.0, 1.0), (len(data), 1)))
        return Character(Skeleton([f"j{i}" for i in joints], [i - 1 for i in joints], rest), name=name)

    package.decode = decode
    monkeypatch.setitem(sys.modules, "kinema.io.dots", package)
    line = Format("dots", (".dots",), "dots", written=".dots", files_beside=True)
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, line))
    return line


def test_a_new_line_is_read_and_written(dots, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\n .....")
    assert formats.detect(b"\n .....", "a.bin") is dots
    (tmp_path / "a.dots").write_bytes(b".....")
    character = km.load(tmp_path / "a.dots", rig=False)
    assert len(character.skeleton) == 5
    km.save(tmp_path / "b.DOTS", character)
    assert (tmp_path / "b.DOTS").read_bytes() == b"....."
    with pytest.raises(km.InputError, match=r"a \.dots file holds all clips"):
        km.save(tmp_path / "b.dots", character, fps=30)


def test_each_format_has_its_own_largest_file(dots, tmp_path):
    (tmp_path / "a.dots").write_bytes(b"." * 21)
    with pytest.raises(km.FileError, match="larger than 20 bytes"):
        km.load(tmp_path / "a.dots")
    assert len(km.load(tmp_path / "a.dots", rig=False, max_bytes=21).skeleton) == 21


def test_bakes_find_out_what_a_file_becomes(dots, tmp_path):
    (tmp_path / "a.dots").write_bytes(b"...")
    (one,) = items([str(tmp_path / "a.dots")], tmp_path / "out")
    assert one.kind == ".dots"
    assert dots.packed(b"..", tmp_path) == b"..."
    read_only = Format("dots", (".dots",), "dots")
    assert (read_only.output, read_only.packed(b"..", tmp_path)) == (".glb", b"..")


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_package_has_what_its_line_promises(format):
    codec = format.codec
    assert codec.LARGEST_FILE > 0
    assert not codec.detect(b"")
    assert callable(codec.decode)
    assert format.written is None or callable(codec.encode)
    assert not format.files_beside or callable(codec.pack)


def test_suffixes_are_unique_and_found_in_any_case():
    assert len(set(formats.READ)) == len(formats.READ)
    assert formats.of_suffix(".VRM") is FORMATS[0]
    assert formats.of_suffix(".fox") is None


def test_formats_are_listed_without_numpy():
    """The help of the command line lists them; it must answer at once."""
    import subprocess

    code = "import sys, kinema.io.formats; assert 'numpy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_map_of_the_rooms_names_every_package():
    (row,) = (line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| `io` |"))
    packages = {format.package.split(".")[0] for format in FORMATS} | {"points"}
    assert not {package for package in packages if f"`{package}`" not in row}
