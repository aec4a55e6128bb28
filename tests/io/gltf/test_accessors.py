"""Arrays out of bytes: every type, stride and way of being sparse, within bounds."""

import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import FileError
from kinema.io.gltf import accessors as module
from kinema.io.gltf.accessors import Accessors
from kinema.io.gltf.document import parse
from kinema.io.gltf.limits import LARGEST_FILE
from tests.io.gltf.build import CODES, Build, memory


def array(made, index=-1):
    accessors = Accessors(parse(made.glb(), "a.glb"))
    return accessors.array(range(len(accessors.cursors))[index])


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 16])
def test_every_type(kind, width):
    rng = np.random.default_rng(width)
    wanted = rng.integers(0, 100, (5, width)).astype(kind)
    made = Build()
    made.accessor(wanted, kind)
    found = array(made)
    assert found.dtype == kind
    assert found.shape == (5, width)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("kind", "stored", "wanted"),
    [
        ("uint8", (0, 51, 255), (0, 0.2, 1)),
        ("int8", (-128, -127, 0, 127), (-1, -1, 0, 1)),
        ("uint16", (0, 13107, 65535), (0, 0.2, 1)),
        ("int16", (-32768, -32767, 32767), (-1, -1, 1)),
        ("float32", (-2, 0.5), (-2, 0.5)),
    ],
)
def test_normalised_numbers(kind, stored, wanted):
    made = Build()
    made.accessor(stored, kind, normalized=True)
    np.testing.assert_allclose(array(made)[:, 0], wanted, rtol=1e-6)


@pytest.mark.parametrize(("shape", "size", "kind"), [("MAT2", 2, "uint8"), ("MAT3", 3, "uint8"), ("MAT3", 3, "int16")])
def test_columns_of_matrices_start_at_four_bytes(shape, size, kind):
    columns = np.arange(2 * size * size).reshape(2, size, size).astype(kind)
    width = -(-size * columns.itemsize // 4) * 4
    rows = b"".join(column.tobytes().ljust(width, b"\xee") for matrix in columns for column in matrix)
    made = Build()
    made.add("accessors", bufferView=made.view(rows), count=2, type=shape, componentType=CODES[kind])
    np.testing.assert_array_equal(array(made), columns.reshape(2, -1))
    made.json["bufferViews"][0]["byteLength"] = len(rows) - (width - size * columns.itemsize)  # Nothing after the last.
    np.testing.assert_array_equal(array(made), columns.reshape(2, -1))


@given(st.integers(1, 6), st.integers(0, 9), st.integers(0, 5), st.integers(0, 3))
def test_strides_and_offsets(count, gap, offset, start):
    """At any address, aligned or not; and not one byte beyond the end."""
    stride = 12 + gap
    wanted = np.arange(3 * count, dtype="f4").reshape(count, 3)
    rows = b"".join(row.tobytes().ljust(stride, b"\xee") for row in wanted)[: stride * (count - 1) + 12]
    made = Build()
    made.data += bytes(start)
    view = made.view(bytes(offset) + rows, byteStride=stride)
    made.add("accessors", bufferView=view, byteOffset=offset, count=count, type="VEC3", componentType=5126)
    np.testing.assert_array_equal(array(made), wanted)
    made.json["bufferViews"][view]["byteLength"] -= 1
    with pytest.raises(FileError, match=rf"accessors\[0\] reaches {len(rows) + offset} bytes into bufferViews\[0\]"):
        array(made)


def sparse(made, base, indices, values, kind="uint16", count=None):
    where = {"bufferView": made.view(np.array(indices, kind).tobytes()), "componentType": CODES[kind]}
    what = {"bufferView": made.view(np.array(values, "f4").tobytes())}
    made.json["accessors"][base]["sparse"] = {
        "count": len(indices) if count is None else count,
        "indices": where,
        "values": what,
    }


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32"])
def test_sparse_over_an_array_and_over_zeros(kind):
    made = Build()
    base = made.accessor(np.arange(12).reshape(4, 3))
    empty = made.add("accessors", count=4, type="VEC3", componentType=5126)
    for index in (base, empty):
        sparse(made, index, [1, 3], [(9, 9, 9), (8, 8, 8)], kind)
    np.testing.assert_array_equal(array(made, base), [(0, 1, 2), (9, 9, 9), (6, 7, 8), (8, 8, 8)])
    np.testing.assert_array_equal(array(made, empty), [(0, 0, 0), (9, 9, 9), (0, 0, 0), (8, 8, 8)])


@pytest.mark.parametrize(
    ("indices", "count", "message"),
    [
        ([1, 4], None, r"accessors\[0\]\.sparse\.indices must increase and stay below 4"),
        ([3, 1], None, "must increase"),
        ([1, 1], None, "must increase"),
        ([1], 2, r"accessors\[0\]\.sparse\.indices reaches 4 bytes into"),
        ([1], 5, r"accessors\[0\]\.sparse\.count is 5; expected a whole number from 1 to 4"),
        ([1], 0, "sparse.count is 0"),
    ],
)
def test_sparse_out_of_range(indices, count, message):
    made = Build()
    made.accessor(np.zeros((4, 3)))
    sparse(made, 0, indices, np.zeros((len(indices), 3)), count=count)
    with pytest.raises(FileError, match=message):
        array(made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, r"accessors\[0\]\.count is 0; expected a whole number from 1 to"),
        ({"count": -3}, "count is -3"),
        ({"count": True}, "count is True"),
        ({"count": "4"}, "count is '4'"),
        ({"count": 4.5}, "count is 4.5"),
        ({"count": 10**40}, "count is a whole number of many digits"),
        ({"count": 5}, r"accessors\[0\] reaches 60 bytes into bufferViews\[0\], which has 48"),
        ({"byteOffset": 1}, "reaches 49 bytes"),
        ({"byteOffset": -4}, "byteOffset is -4"),
        ({"componentType": 5124}, r"accessors\[0\]\.componentType is 5124; expected one of 5120, 5121"),
        ({"componentType": None}, "componentType is None"),
        ({"type": "VEC5"}, "type is 'VEC5'; expected one of SCALAR, VEC2"),
        ({"type": 3}, "type is 3"),
        ({"bufferView": 1}, r"accessors\[0\]\.bufferView is 1; expected a whole number from 0 to 0"),
        ({"bufferView": -1}, "bufferView is -1"),
        ({"bufferView": None}, "bufferView is None"),
        ({"normalized": 1}, "normalized is 1; expected true or false"),
        ({"sparse": 1}, r"accessors\[0\]\.sparse is 1; expected an object"),
        ({"sparse": {"count": 1}}, "sparse has no 'indices'"),
    ],
)
def test_accessors_that_lie(change, message):
    made = Build()
    made.accessor(np.zeros((4, 3)))
    made.json["accessors"][0].update(change)
    with pytest.raises(FileError, match=message):
        array(made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"buffer": 1}, r"bufferViews\[0\]\.buffer is 1; expected a whole number from 0 to 0"),
        ({"byteOffset": 1}, r"bufferViews\[0\] reaches to byte 49 of a buffer that has 48"),
        ({"byteOffset": -1}, "byteOffset is -1"),
        ({"byteLength": 2**40}, "byteLength is 1099511627776"),
        ({"byteLength": 49}, "reaches to byte 49"),
        ({"byteStride": 0}, "byteStride is 0; expected a whole number from 4 to 252"),
        ({"byteStride": 256}, "byteStride is 256"),
        ({"byteStride": 8}, r"bufferViews\[0\] has a byteStride of 8; accessors\[0\] has elements of 12 bytes"),
        ({"byteStride": 252}, "reaches 768 bytes"),
    ],
)
def test_views_that_lie(change, message):
    made = Build()
    made.accessor(np.zeros((4, 3)))
    made.json["bufferViews"][0].update(change)
    with pytest.raises(FileError, match=message):
        array(made)


def test_declared_sizes_allocate_no_memory():
    """A billion zeros, or fifty times a hundred million: refused before any are made."""
    made = Build()
    for count in (10**9, 40_000_000):
        for _ in range(5):
            made.add("accessors", count=count, type="MAT4", componentType=5126)
    start = time.process_time()
    with memory() as peak:
        with pytest.raises(FileError, match=r"accessors\[0\]\.count is 1000000000"):
            array(made, 0)
        made.json["accessors"] = made.json["accessors"][5:]
        with pytest.raises(FileError, match="more than the 20,000,000 allowed"):
            array(made, 0)
        assert peak() < 1_000_000
        assert time.process_time() - start < 1


def test_many_that_share_a_view_are_counted_each():
    made = Build()
    made.accessor(np.zeros((50_000, 16)))
    made.json["accessors"] *= 60
    accessors = Accessors(parse(made.glb(), "a.glb"))
    most = (20_000_000 + 4 * 3_200_000) // 800_000
    for index in range(most):
        accessors.array(index)
    assert accessors.array(0) is accessors.array(0)
    with pytest.raises(
        FileError, match=rf"accessors\[{most}\] needs 800,000 numbers; together more than the 32,800,000"
    ):
        accessors.array(most)


DATA = b"12345678"


def buffer(tmp_path, uri, length=8, binary=None, **further):
    document = parse(b'{"asset": {"version": "2.0"}}', "a.gltf", tmp_path)
    document.json["buffers"] = [{"byteLength": length, **({} if uri is None else {"uri": uri}), **further}]
    document.binary = binary
    return module.DocumentBuffers(document).read(0)


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
    monkeypatch.setattr(module, "LARGEST_FILE", 20)
    document = parse(b'{"asset": {"version": "2.0"}}', "a.gltf")
    document.json["buffers"] = [{"byteLength": 8, "uri": "data:;base64,MTIzNDU2Nzg="}] * 3
    read = module.DocumentBuffers(document)
    assert read.read(0) == read.read(0) == read.read(1) == DATA
    with pytest.raises(
        FileError, match=r"buffers\[2\]\.byteLength is 8; all buffers together may have at most 20 bytes"
    ):
        read.read(2)
