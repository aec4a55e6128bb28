"""Which reader a file gets, arrays, TRC, and what all takes promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.demo import humanoid
from tests.io.points.build import TRC, archive, read_or_refused

POINTS = np.random.default_rng(6).normal(size=(6, 17, 3))


def test_arrays_of_every_shape(tmp_path):
    np.save(tmp_path / "a.npy", POINTS.astype("f4"))
    np.testing.assert_allclose(km.load_points(tmp_path / "a.npy")[0].points, POINTS, atol=1e-6)
    np.save(tmp_path / "a.npy", np.asfortranarray(POINTS.reshape(6, 51)))
    np.testing.assert_array_equal(km.load_points(tmp_path / "a.npy")[0].points, POINTS)
    np.save(tmp_path / "a.npy", np.stack([POINTS, POINTS + 1]))
    np.testing.assert_array_equal(km.load_points(tmp_path / "a.npy")[1].points, POINTS + 1)
    np.save(tmp_path / "a.npy", np.stack([POINTS, POINTS + 1], 1))
    np.testing.assert_array_equal(km.load_points(tmp_path / "a.npy")[1].points, POINTS + 1)
    np.save(tmp_path / "a.npy", POINTS[0])
    (take,) = km.load_points(tmp_path / "a.npy")
    assert (take.points.shape, take.notes) == ((1, 17, 3), ("the array is taken for the points of one frame",))


def test_the_third_number_beside_pixels_is_a_confidence(tmp_path):
    pixels = np.concatenate([POINTS[..., :2] * 300, np.full((6, 17, 1), 0.5)], 2)
    np.save(tmp_path / "a.npy", pixels)
    (take,) = km.load_points(tmp_path / "a.npy")
    np.testing.assert_array_equal(take.points, pixels[..., :2])
    assert (take.confidence == 0.5).all()


def test_an_archive_says_more(tmp_path):
    names = [f"p{i}" for i in range(17)]
    about = {"fps": 25.0, "names": names, "layout": "coco17", "unit": "mm", "people": np.array([None])}
    np.savez_compressed(tmp_path / "a.npz", keypoints=POINTS, scores=np.full((6, 17), 0.25), **about)
    (take,) = km.load_points(tmp_path / "a.npz")
    assert (take.fps, take.names, take.layout, take.unit) == (25.0, tuple(names), "coco17", 0.001)
    assert (take.confidence == 0.25).all()


@pytest.mark.parametrize(
    ("path", "most", "problem"),
    [
        (3, None, "path must be the path of a file or a folder, got 3"),
        ("a\0b.csv", None, "null"),
        (".", "a", "max_bytes must be a whole number"),
        (".", -1, "max_bytes must be a whole number"),
    ],
)
def test_wrong_arguments_are_named(path, most, problem):
    with pytest.raises(km.KinemaError, match=problem):
        km.load_points(path, max_bytes=most)


def test_trc(tmp_path):
    (tmp_path / "squat.trc").write_text(TRC)
    (take,) = km.load_points(tmp_path / "squat.trc")
    assert (take.name, take.names, take.fps, take.unit) == ("squat", ("LHEE", "RHEE"), 60.0, 0.001)
    np.testing.assert_array_equal(take.points, [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [np.nan] * 3]])


def npy(kind, shape):
    """The header of an array, without its numbers."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\1\0\x50\0" + head.encode().ljust(80)


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (TRC.replace("\t5\t", "\tfive\t").encode(), "a.trc", "line 7: found 'five'"),
        (TRC.replace("60.00\t60", "sixty\t60").encode(), "a.trc", "line 3: DataRate is 'sixty'"),
        (TRC[:60].encode(), "a.trc", "first five lines"),
        (b"HIERARCHY\nROOT", "a.csv", "BVH files hold joints, not points; km.load reads them"),
        (b"<COLLADA", "a.csv", "COLLADA files are not read"),
        (b"\0\1\2", "a.xyz", "no known kind of points"),
        (b"", "a.csv", "no "),
        (npy("<f8", "(9999999999, 3)"), "a.npy", r"declares the shape \(9999999999, 3\) of float64; the file holds 0"),
        (npy("|O", "(1,)"), "a.npy", "pickle"),
        (b"PK\3\4" + b"\0" * 22 + b"\5\0\0\0a.npy", "a.npz", "archive is damaged"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, content, name, problem):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(km.FileError, match=problem):
        km.load_points(tmp_path / name)


def test_other_mistakes(tmp_path):
    with pytest.raises(km.FileError, match="No such file"):
        km.load_points(tmp_path / "none.csv")
    with pytest.raises(km.FileError, match=r"no \.json files"):
        km.load_points(tmp_path)
    np.save(tmp_path / "a.npy", POINTS)
    with pytest.raises(km.FileError, match="larger than 100 bytes"):
        km.load_points(tmp_path / "a.npy", max_bytes=100)
    km.save(tmp_path / "a.glb", humanoid())
    with pytest.raises(km.FileError, match="glTF files hold joints"):
        km.load_points(tmp_path / "a.glb")
    np.savez(tmp_path / "a.npz", poses=np.zeros((2, 72)), trans=np.zeros((2, 3)))
    with pytest.raises(km.FileError, match=r"SMPL body; km\.load reads it"):
        km.load_points(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", fps=3)
    with pytest.raises(km.FileError, match=r"has the arrays 'fps'; none is called 'points'"):
        km.load_points(tmp_path / "a.npz")


SOURCES = [("a.npz", archive(points=POINTS[:2, :3], names=["a", "b", "c"])), ("a.trc", TRC.encode())]


@given(
    st.sampled_from(SOURCES),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8),
    st.integers(1, 10**6),
)
def test_no_damage_crashes(tmp_path_factory, source, changes, cut):
    name, data = source
    damaged = bytearray(data)
    for at, value in changes:
        damaged[at % len(damaged)] = value
    path = tmp_path_factory.mktemp("points") / name
    path.write_bytes(bytes(damaged) if cut % 4 else bytes(damaged)[: cut % len(damaged)])
    for take in read_or_refused(path):
        assert take.points.shape[2] in (2, 3)
        assert not np.isinf(take.points).any()
