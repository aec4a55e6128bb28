"""Arrays of strangers: no pickles, no more memory than the file holds."""

import io
import zipfile

import numpy as np
import pytest

import kinema as km
from kinema.io.numpy_files import is_npy, is_npz, read_npy, read_npz


def npy(array, **options):
    data = io.BytesIO()
    np.lib.format.write_array(data, np.asarray(array), **options)
    return data.getvalue()


def npz(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return data.getvalue()


@pytest.mark.parametrize("kind", ["<f4", ">f8", "<i2", "|b1", "<U5", "|S3"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_what_numpy_writes_is_read(kind, version):
    for array in (np.arange(12).astype(kind).reshape(3, 4), np.asfortranarray(np.ones((2, 3)).astype(kind))):
        data = npy(array, version=version)
        assert is_npy(data)
        np.testing.assert_array_equal(read_npy(data, "a.npy"), array)


def test_archives():
    data = npz(a__npy=npy([1, 2]), b__npy=npy(np.array([None], object)), readme__txt=b"hello")
    assert is_npz(data)
    found = read_npz(data, "a.npz")
    assert list(found) == ["a"]
    np.testing.assert_array_equal(found["a"], [1, 2])


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr("kinema.io.numpy_files.MOST_BYTES", 1_000_000)
    with pytest.raises(km.FileError, match="more than the 1,000,000 bytes allowed"):
        read_npz(npz(a__npy=npy(np.zeros(500_000))), "a.npz")
    with pytest.raises(km.FileError, match="1,001 members"):
        read_npz(npz(**{f"m{i}__npy": b"" for i in range(1_001)}), "a.npz")


def test_what_a_file_may_unpack_to_grows_with_its_bytes(monkeypatch):
    monkeypatch.setattr("kinema.io.numpy_files.FREE_BYTES", 1_000)
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.zeros(500_000))
    with pytest.raises(km.FileError, match="bytes allowed for a file of this size"):
        read_npz(stream.getvalue(), "a.npz")
    stream = io.BytesIO()
    np.savez(stream, a=np.zeros(5_000))
    assert len(read_npz(stream.getvalue(), "a.npz")["a"]) == 5_000


@pytest.mark.parametrize(
    "data",
    [
        npy([1.0])[:-1],
        npy([1.0])[:30],
        npy(np.zeros(2, [("a", "f4")])),
        npy(np.array([None], object)),
        b"\x93NUMPY\x09",
    ],
)
def test_damage_is_refused(data):
    with pytest.raises(km.FileError):
        read_npy(data, "a.npy")
