"""Tables of points: every header that is common, and what is said about the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests.io.points.build import read_or_refused

POINTS = np.round(np.random.default_rng(4).normal(size=(5, 3, 3)), 4)
NAMES = ("nose", "left_wrist", "index")


def load(folder, text, name="walk.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return km.load_points(folder / name)


def wide(header, rows, delimiter=","):
    return "\n".join([delimiter.join(header), *(delimiter.join(map(str, row)) for row in rows)])


def rows(points=POINTS):
    return points.reshape(len(points), -1).tolist()


@pytest.mark.parametrize("form", ["{}_{}", "{}.{}", "{} {}", "{}_{} (m)", "{}:{}"])
@pytest.mark.parametrize("upper", [False, True])
def test_a_column_for_each_coordinate(tmp_path, form, upper):
    header = [form.format(name, axis.upper() if upper else axis) for name in NAMES for axis in "xyz"]
    (take,) = load(tmp_path, wide(header, rows()))
    assert (take.names, take.name, take.fps) == (NAMES, "walk", None)
    np.testing.assert_array_equal(take.points, POINTS)
    assert take.unit == (1.0 if "(m)" in form else None)


def test_numbers_instead_of_names_confidence_and_times(tmp_path):
    header = ["time", *(f"{axis}{i}" for i in range(3) for axis in ("x", "y", "z", "score")), "comment"]
    scores = np.full((5, 3, 1), 0.5)
    table = [[i / 30, *row, "a word"] for i, row in enumerate(rows(np.concatenate([POINTS, scores], 2)))]
    (take,) = load(tmp_path, wide(header, table))
    assert (take.names, take.fps) == ((), 30.0)
    np.testing.assert_array_equal(take.points, POINTS)
    np.testing.assert_array_equal(take.confidence, scores[..., 0])


def test_a_row_for_each_point_in_any_order(tmp_path):
    table = [
        (frame * 40, person, name, *POINTS[frame, i], 0.9)
        for frame in range(5)
        for person in ("7", "9")
        for i, name in enumerate(NAMES)
        if not (person == "9" and frame > 2)
    ]
    table = [table[0], *table[:0:-1]]
    header = ["timestamp_ms", "person_id", "landmark", "x", "y", "z", "visibility"]
    first, second = load(tmp_path, wide(header, table, "\t"), "walk.tsv")
    assert (first.name, second.name, first.fps) == ("7", "9", 25.0)
    order = [first.names.index(name) for name in NAMES]
    np.testing.assert_array_equal(first.points[:, order], POINTS)
    assert np.isnan(second.points[3:]).all()
    assert not np.isnan(second.points[:3]).any()


def test_two_dimensions_missing_cells_and_decimal_commas(tmp_path):
    text = "frame;a_x;a_y;b_x;b_y\n0;1,5;2;;\n1;2;NaN;4;5\n3;1;2;3;4\n"
    (take,) = load(tmp_path, text)
    expected = [[[1.5, 2], [np.nan] * 2], [[np.nan] * 2, [4, 5]], [[np.nan] * 2] * 2, [[1, 2], [3, 4]]]
    np.testing.assert_array_equal(take.points, expected)


@pytest.mark.parametrize("text", ["a_x;a_y;a_z\n1,5;2,5;3,5\n4,5;5,5;6,5\n", "1,5;2,5;3,5\n4,5;5,5;6,5\n"])
def test_decimal_commas_between_semicolons(tmp_path, text):
    (take,) = load(tmp_path, text)
    np.testing.assert_array_equal(take.points, [[[1.5, 2.5, 3.5]], [[4.5, 5.5, 6.5]]])


@pytest.mark.parametrize(
    ("header", "marks", "frames", "fps"),
    [
        ("frame", (0, 1, 50, 51), (0, 1, 50, 51), None),
        ("frame", (10, 20, 50), (0, 1, 4), None),
        ("frame", (0, 1, 1e9), (0, 1, 2), None),
        ("frame", (0, -1e308, 1e308), (1, 0, 2), None),
        ("time", (0.0, 0.033, 0.067, 0.501, 0.534), (0, 1, 2, 15, 16), 29.988),
        ("time", (0.0, 0.03, 0.07, 0.1, 0.14), (0, 1, 2, 3, 4), 28.571),
        ("frame,time", ("0,0", "1,0.04", "4,0.16", "5,0.2"), (0, 1, 4, 5), 25.0),
    ],
)
def test_frames_between_rows_are_there_without_points(tmp_path, header, marks, frames, fps):
    (take,) = load(tmp_path, wide([header, "a_x", "a_y"], [(mark, k, k) for k, mark in enumerate(marks)]))
    assert len(take.points) == max(frames) + 1
    np.testing.assert_array_equal(take.points[list(frames), 0, 0], range(len(marks)))
    assert np.isfinite(take.points[..., 0]).sum() == len(marks)
    assert take.fps == fps


def test_frames_far_apart_are_refused_before_memory_is_taken(tmp_path):
    table = [(100 * k, *[0.5] * 3_000) for k in range(200)]
    table.insert(1, (1, *[0.5] * 3_000))
    header = ["frame", *(f"p{k}_{axis}" for k in range(1_000) for axis in "xyz")]
    with pytest.raises(km.FileError, match="allowed are 50,000,000"):
        load(tmp_path, wide(header, table))


def test_times_whose_steps_are_beyond_numbers_say_no_rate(tmp_path):
    times = [-1.7e308, 1.7e308]
    (take,) = load(tmp_path, wide(["time", "a_x", "a_y"], [(mark, k, k) for k, mark in enumerate(times)]))
    assert take.fps is None


@pytest.mark.parametrize("digits", [2, 3, 4])
def test_rounded_times_give_the_exact_rate(tmp_path, digits):
    (take,) = load(tmp_path, wide(["time", "a_x", "a_y"], [(f"{k / 30:.{digits}f}", 1, 2) for k in range(121)]))
    assert take.fps == 30.0


@pytest.mark.parametrize("name", ["time", "timestamp"])
@pytest.mark.parametrize(("unit", "size"), [("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])
@pytest.mark.parametrize("fps", [12.5, 30, 500])
def test_times_of_any_unit(tmp_path, name, unit, size, fps):
    table = [(round(k / fps / size), 1, 2) for k in range(9)]
    (named,) = load(tmp_path, wide([f"{name}_{unit}", "a_x", "a_y"], table))
    assert named.fps == pytest.approx(fps, rel=0.02)
    assert not named.notes
    if table[1][0] > 5:
        (guessed,) = load(tmp_path, wide([name, "a_x", "a_y"], table))
        assert guessed.fps == named.fps
        assert f"taken to be in {unit}" in guessed.notes[0]


def test_deeplabcut(tmp_path):
    head = (
        "scorer,net,net,net,net,net,net\nbodyparts,paw,paw,paw,tail,tail,tail\ncoords,x,y,likelihood,x,y,likelihood\n"
    )
    (take,) = load(tmp_path, head + "0,10,20,0.9,30,40,0.8\n1,11,21,0.9,31,41,0.7\n")
    assert take.names == ("paw", "tail")
    np.testing.assert_array_equal(take.points[1], [[11, 21], [31, 41]])
    np.testing.assert_array_equal(take.confidence[1], [0.9, 0.7])


def test_vicon(tmp_path):
    head = "Trajectories\n120\n,,A:LHEE,,,A:RHEE,,\nFrame,Sub Frame,X,Y,Z,X,Y,Z\n,,mm,mm,mm,mm,mm,mm\n"
    (take,) = load(tmp_path, head + "1,0,1,2,3,4,5,6\n2,0,1,2,3,,,\n")
    assert (take.names, take.fps, take.unit) == (("A:LHEE", "A:RHEE"), 120.0, 0.001)
    assert np.isnan(take.points[1, 1]).all()
    np.testing.assert_array_equal(take.points[0], [[1, 2, 3], [4, 5, 6]])


def test_optitrack(tmp_path):
    head = (
        "Format Version,1.23,Capture Frame Rate,100.0,Length Units,Meters\n\n,Type,Marker,Marker,Marker,Marker,Marker,"
        "Marker\n,Name,hip,hip,hip,knee,knee,knee\n,ID,a1,a2,a3,a4,a5,a6\n,,Position,Position,Position,Position,"
        "Position,Position\nFrame,Time (Seconds),X,Y,Z,X,Y,Z\n"
    )
    (take,) = load(tmp_path, head + "0,0.0,1,2,3,4,5,6\n1,0.01,1,2,3,4,5,6\n")
    assert (take.names, take.fps, take.unit) == (("hip", "knee"), 100.0, 1.0)


def test_without_a_header(tmp_path):
    (take,) = load(tmp_path, "\n".join(",".join(map(str, row)) for row in rows()))
    np.testing.assert_array_equal(take.points, POINTS)
    (take,) = load(tmp_path, "\n".join(",".join(map(str, [i, *row])) for i, row in enumerate(rows())))
    np.testing.assert_array_equal(take.points, POINTS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a_x,a_y\n1,2\n1,two", r"walk\.csv, line 3: found 'two'; expected a number"),
        ("name,x,y\nnose,1,2", "column 'frame' or 'time'"),
        ("a,b\n1,2", "columns x and y"),
        ("frame,a_x,a_y\n0,1,2\nx,1,2", r"line 3: found 'x'"),
        ("frame,a_x,a_y\n0,1,2\n,1,2", r"line 3: a row has no number of its frame"),
        ("1,2,3\n1,2", r"line 2: the row has 2 cells; the first one has 3"),
        ("a_x,a_y\n,\n", "no numbers|not a single point"),
        ("a_x,a_y\n1e200,1", "beyond 1e"),
        ('a_x,a_y\n"' + "1" * 200_000, "field larger|expected"),
        (",".join(["_" * 100] * 5_000), "found '___"),  # Took seconds: names were looked for in each part of each cell.
        ("", "no columns|no numbers"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, problem):
    with pytest.raises(km.FileError, match=problem):
        load(tmp_path, text)


@given(st.text('xyz_nose,;\t\n0123456789.-e" frametimescore', max_size=200))
def test_no_text_crashes(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(text, encoding="utf-8")
    assert all(take.points.shape[2] in (2, 3) for take in read_or_refused(path))
