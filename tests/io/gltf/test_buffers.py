"""Buffers: inside the file, in a data: URI, beside it; never anywhere else."""

import os

import pytest

from kinema.errors import FileError
from kinema.io.gltf import buffers
from kinema.io.gltf.document import parse
from kinema.io.gltf.limits import LARGEST_FILE

DATA = b"12345678"


def buffer(tmp_path, uri, length=8, binary=None, **further):
    document = parse(b'{"asset": {"version": "2.0"}}', "a.gltf", tmp_path)
    document.json["buffers"] = [{"byteLength": length, **({} if uri is None else {"uri": uri}), **further}]
    document.binary = binary
    return buffers.DocumentBuffers(document).read(0)


@pytest.fixture
def folder(tmp_path):
    """A folder with buffers in it, and one outside."""
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    for path in (inside / "a.bin", inside / "b c%ä.bin", inside / "deep" / "d.bin", tmp_path / "secret.bin"):
        path.write_bytes(DATA)
    return inside


@pytest.mark.parametrize(
    "uri",
    [
        *("a.bin", "./a.bin", "deep/d.bin", "b%20c%25%C3%A4.bin", "b c%25ä.bin", "deep//d.bin"),
        *("data:application/octet-stream;base64,MTIzNDU2Nzg=", "data:;base64,MTIzNDU2Nzg%3D", "data:,1234%3567%38"),
    ],
)
def test_what_may_be_read(folder, uri):
    assert buffer(folder, uri) == DATA


@pytest.mark.parametrize(
    "uri",
    [
        *(
            "../secret.bin",
            "deep/../../secret.bin",
            "%2e%2e/secret.bin",
            "..%2fsecret.bin",
            "deep/%2E%2E/%2e%2e/secret.bin",
        ),
        *(
            "..\\secret.bin",
            "%5c%5cserver\\share",
            "/etc/passwd",
            "%2fetc/passwd",
            "//server/share",
            "C:/a.bin",
            "c:a.bin",
        ),
        *("file:///etc/passwd", "http://example.com/a.bin", "HTTPS://example.com/a.bin", "ftp:a.bin", "http%3A//a/b"),
        *("a.bin\0.txt", "a.bin%00", "deep/..", "..", "x/../a.bin"),
    ],
)
def test_nothing_outside_the_folder(folder, uri):
    with pytest.raises(
        FileError, match=r"a\.gltf: buffers\[0\]\.uri is .*allowed are files in the document's own folder"
    ):
        buffer(folder, uri)


@pytest.mark.parametrize("uri", ["none.bin", "", ".", "deep", "x" * 5000, "a.bin/x", "\ud800.bin", "?", "a.bin?x"])
def test_what_is_not_a_file(folder, uri):
    with pytest.raises(FileError, match=r"no such file|not a file"):
        buffer(folder, uri)


def test_links_are_followed_only_inside(folder):
    os.symlink(folder / "a.bin", folder / "good.bin")
    os.symlink(folder.parent / "secret.bin", folder / "bad.bin")
    os.symlink(folder.parent, folder / "up")
    os.symlink(folder / "ring.bin", folder / "ring.bin")
    assert buffer(folder, "good.bin") == DATA
    for uri in ("bad.bin", "up/secret.bin"):
        with pytest.raises(FileError, match="a link that leads out of the document's folder"):
            buffer(folder, uri)
    with pytest.raises(FileError, match="no such file"):
        buffer(folder, "ring.bin")


def test_a_folder_reached_by_a_link_is_a_folder(folder):
    os.symlink(folder, folder.parent / "other")
    assert buffer(folder.parent / "other", "a.bin") == DATA


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe.bin")
    with pytest.raises(FileError, match="not a file"):
        buffer(folder, "pipe.bin")


def test_without_a_folder_nothing_is_opened():
    with pytest.raises(FileError, match="was not loaded from a folder"):
        buffer(None, "a.bin")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("data:", "without a comma"),
        ("data:;base64,%%", "not base64"),
        ("data:;base64,a", "not base64"),
        (7, "a string"),
    ],
)
def test_data_uris_that_are_none(uri, message):
    with pytest.raises(FileError, match=message):
        buffer(None, uri)


@pytest.mark.parametrize("length", [0, -1, 9, 1.5, "8", None, True, LARGEST_FILE + 1, 10**30])
def test_lengths_that_lie(folder, length):
    with pytest.raises(FileError, match=r"buffers\[0\]\.byteLength is "):
        buffer(folder, "a.bin", length)


def test_the_files_own_binary():
    assert buffer(None, None, binary=DATA) == DATA
    assert buffer(None, None, length=5, binary=DATA)[:5] == DATA[:5]
    with pytest.raises(FileError, match=r"buffers\[0\] has no 'uri'"):
        buffer(None, None)


def test_all_buffers_together_are_bounded(monkeypatch):
    monkeypatch.setattr(buffers, "LARGEST_FILE", 20)
    document = parse(b'{"asset": {"version": "2.0"}}', "a.gltf")
    document.json["buffers"] = [{"byteLength": 8, "uri": "data:;base64,MTIzNDU2Nzg="}] * 3
    read = buffers.DocumentBuffers(document)
    assert read.read(0) == read.read(0) == read.read(1) == DATA
    with pytest.raises(
        FileError, match=r"buffers\[2\]\.byteLength is 8; all buffers together may have at most 20 bytes"
    ):
        read.read(2)
