"""A file is whole or not there: temporary file, disk, rename."""

import os
import stat

import pytest

from kinema.errors import FileError
from kinema.io import atomic


def only_file(folder):
    (file,) = folder.iterdir()
    return file


def test_the_pieces_are_the_file(tmp_path):
    atomic.write(tmp_path / "a.bin", [b"one", b"", b"two"])
    assert only_file(tmp_path).read_bytes() == b"onetwo"


def test_an_old_file_is_replaced_whole_and_stays_private(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"much longer than the new one")
    path.chmod(0o600)
    atomic.write(path, [b"new"])
    assert only_file(tmp_path).read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_file_has_the_default_permissions(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    atomic.write(tmp_path / "a.bin", [b"new"])
    assert (tmp_path / "a.bin").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    def failing():
        yield b"half"
        raise KeyboardInterrupt

    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        atomic.write(path, failing())
    assert only_file(tmp_path).read_bytes() == b"old"


def test_a_failure_to_rename_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"a\.bin: the file cannot be written: no space"):
        atomic.write(tmp_path / "a.bin", [b"new"])
    assert not list(tmp_path.iterdir())


def test_a_link_stays_one(tmp_path):
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link.bin").symlink_to("real.bin")
    atomic.write(tmp_path / "link.bin", [b"new"])
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"


def test_names_as_long_as_names_can_be(tmp_path):
    name = "ü" * 127
    atomic.write(tmp_path / name, [b"new"])
    assert only_file(tmp_path).name == name


@pytest.mark.parametrize(("path", "said"), [(".", "this is a folder"), ("no/a.bin", "the folder '")])
def test_where_no_file_can_be(tmp_path, path, said):
    with pytest.raises(FileError, match=said):
        atomic.write(tmp_path / path, [b"new"])
    assert not list(tmp_path.iterdir())
