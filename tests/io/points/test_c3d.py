"""C3D against two libraries of others, and files of every byte order made in code."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests.io.points.build import C3D, read_or_refused
from tests.missing import missing

chance = np.random.default_rng(3)
POSITIONS = np.round(chance.normal(scale=900.0, size=(20, 6, 3)), 1)
NAMES = ["LFHD", "RFHD", "C7", "T10", "CLAV", "STRN"]


def judge(name):
    try:
        return __import__(name)
    except ImportError:
        return missing("judges", name)


def one(folder, made):
    (folder / "take.c3d").write_bytes(made.bytes())
    return km.load_points(folder / "take.c3d")


def with_residuals(positions=POSITIONS, missing=()):
    points = np.concatenate([positions, np.ones((*positions.shape[:2], 1))], 2)
    for frame, point in missing:
        points[frame, point, 3] = -1.0
    return points


def test_what_ezc3d_writes_is_read(tmp_path):
    file = judge("ezc3d").c3d()
    points = file["parameters"]["POINT"]
    points["RATE"]["value"], points["LABELS"]["value"], points["UNITS"]["value"] = [120.0], NAMES, ["mm"]
    data = np.ones((4, 6, 20))
    data[:3] = POSITIONS.transpose(2, 1, 0)
    data[:3, 2, 4] = np.nan
    file["data"]["points"] = data
    file.write(str(tmp_path / "a.c3d"))
    (take,) = km.load_points(tmp_path / "a.c3d")
    assert (take.names, take.fps, take.unit, take.name) == (tuple(NAMES), 120.0, 0.001, "a")
    assert np.argwhere(np.isnan(take.points[..., 0])).tolist() == [[4, 2]]
    assert np.nanmax(np.abs(take.points - POSITIONS)) < 1e-3


@pytest.mark.parametrize("scale", [-1.0, 0.1])
def test_what_the_c3d_package_writes_is_read(tmp_path, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = judge("c3d").Writer(point_rate=100.0, point_scale=scale)
        rows = np.concatenate([POSITIONS, np.zeros((*POSITIONS.shape[:2], 2))], 2).astype("f4")
        writer.add_frames([(row, np.zeros((0, 0))) for row in rows])
        writer.set_point_labels(NAMES)
        with (tmp_path / "a.c3d").open("wb") as stream:
            writer.write(stream)
    (take,) = km.load_points(tmp_path / "a.c3d")
    assert (take.names, take.fps) == (tuple(NAMES), 100.0)
    assert np.abs(take.points - POSITIONS).max() < (1e-3 if scale < 0 else 0.1)


@pytest.mark.parametrize("processor", ["intel", "dec", "sgi"])
@pytest.mark.parametrize("scale", [-0.1, 0.1])
@pytest.mark.parametrize("analog", [0, 7])
def test_every_byte_order_as_integers_and_floats(tmp_path, processor, scale, analog):
    made = C3D(with_residuals(missing=[(3, 1)]), processor, scale, 50.0, analog)
    (take,) = one(tmp_path, made)
    assert (take.fps, take.unit, take.names[5]) == (50.0, 0.001, "M5")
    assert np.argwhere(np.isnan(take.points).any(2)).tolist() == [[3, 1]]
    assert np.nanmax(np.abs(take.points - POSITIONS)) < 1e-3


def test_our_files_are_read_alike_by_the_c3d_package(tmp_path):
    """So that the files made here are C3D, not what our reader takes for it."""
    package = judge("c3d")
    for processor in ("intel", "dec", "sgi"):
        path = tmp_path / f"{processor}.c3d"
        path.write_bytes(C3D(with_residuals(), processor).bytes())
        with warnings.catch_warnings(), path.open("rb") as stream:
            warnings.simplefilter("ignore")
            frames = [points[:, :3] for _, points, _ in package.Reader(stream).read_frames()]
        assert np.abs(km.load_points(path)[0].points - frames).max() < 1e-9


def test_each_subject_is_a_take_and_angles_are_left_out(tmp_path):
    labels = ["Ann:LHEE", "Ann:RHEE", "Bob:LHEE", "Bob:RHEE", "Ann:LKneeAngles", "Bob:Power"]
    points = with_residuals()
    points[:5, 0:2, 3] = -1.0  # Bob is seen longer.
    made = C3D(points, LABELS=labels, ANGLES=["Ann:LKneeAngles"], POWERS=["Bob:Power"])
    bob, ann = one(tmp_path, made)
    assert (bob.name, ann.name, bob.names) == ("Bob", "Ann", ("LHEE", "RHEE"))
    assert np.abs(bob.points - POSITIONS[:, 2:4]).max() < 1e-3
    assert bob.notes == ("2 angles, forces and the like are left out",)


def test_a_marker_exactly_at_the_origin_is_missing(tmp_path):
    positions = POSITIONS.copy()
    positions[7, 2] = 0.0
    (take,) = one(tmp_path, C3D(with_residuals(positions)))
    assert np.argwhere(np.isnan(take.points).any(2)).tolist() == [[7, 2]]


def test_long_takes_say_so_in_parameters(tmp_path):
    frames = 70_000
    points = np.ones((frames, 1, 4))
    (take,) = one(tmp_path, C3D(points, LONG_FRAMES=float(frames)))
    assert len(take.points) == frames


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda data: data[:1_500], r"20 frames of 6 points are declared; the file holds \d"),
        (lambda data: data[:560], r"byte \d+: the parameter"),
    ],
)
def test_damage_is_refused_with_its_place(tmp_path, change, problem):
    data = C3D(with_residuals()).bytes()
    (tmp_path / "a.c3d").write_bytes(change(data))
    with pytest.raises(km.FileError, match=problem):
        km.load_points(tmp_path / "a.c3d")


def test_a_file_of_analog_samples_alone_is_refused(tmp_path):
    with pytest.raises(km.FileError, match="no points, only analog samples"):
        one(tmp_path, C3D(with_residuals(), USED=0))


@given(st.lists(st.tuples(st.integers(0, 1_700), st.integers(0, 255)), min_size=1, max_size=30))
def test_no_damage_crashes(tmp_path_factory, changes):
    data = bytearray(C3D(with_residuals(), analog=3).bytes())
    for at, value in changes:
        data[at] = value
    path = tmp_path_factory.mktemp("c3d") / "a.c3d"
    path.write_bytes(bytes(data))
    assert all(take.points.ndim == 3 for take in read_or_refused(path))
