"""Targets: moving points from numbers and from files, which are not trusted, and hands that cannot reach them."""

import numpy as np
import pytest

from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.demo import humanoid
from kinema.errors import FileError, InputError


def test_a_fixed_point_is_always_there():
    point = MovingPoint.fixed((1, 2, 3))
    assert all(np.array_equal(point.at(t), (1, 2, 3)) for t in (-1.0, 0.0, 100.0))


def test_a_moving_point_goes_straight_and_is_gone_outside(tmp_path):
    file = tmp_path / "way.csv"
    file.write_text("t,x,y,z\n0.5,0,0,0\n\n1.5, 2, 0, 4\n")
    point = MovingPoint.load(file)
    assert np.allclose(point.at(1.0), (1, 0, 2))
    assert np.allclose(point.at(0.5), 0)
    assert np.allclose(point.at(1.5), (2, 0, 4))
    assert point.at(0.49) is None
    assert point.at(1.51) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no row"),
        ("t,x,y,z\n", "no row"),
        ("0,1,2\n", "four numbers"),
        ("0,1,2,3\nx,1,2,3\n", "line 2"),
        ("0,1,2,nan\n", "four numbers"),
        ("1,0,0,0\n1,1,1,1\n", "must increase"),
        ("0,1,2,1e999\n", "four numbers"),
        ("0;1;2;3\n", "expected commas"),
        ("t;x;y;z\n0,5;1;2;3\n", "expected commas"),
    ],
)
def test_errors_of_broken_files_name_the_position(tmp_path, text, told):
    file = tmp_path / "way.csv"
    file.write_text(text)
    with pytest.raises(FileError, match=told):
        MovingPoint.load(file)


def test_no_file_and_no_text(tmp_path):
    (tmp_path / "way.csv").write_bytes(b"\xff\xfe\x00\x01")
    for name in ("way.csv", "none.csv"):
        with pytest.raises(FileError, match=name):
            MovingPoint.load(tmp_path / name)


@pytest.mark.parametrize(("times", "points"), [((), ()), ((0, 1), ((0, 0, 0),)), ((0.0,), ((0, 0, np.inf),))])
def test_numbers_that_are_wrong(times, points):
    with pytest.raises(InputError):
        MovingPoint(times, np.reshape(points, (-1, 3)) if len(points) else points)


def test_a_hand_without_a_goal_reports_zero_error():
    person = humanoid()
    way = MovingPoint((1.0, 1.5), ((0.25, 1.2, 0.45), (0.3, 1.2, 0.45)))
    baked = bake(person, "idle", BakeSettings(reach={"left": way}, fps=30))
    times = np.arange(len(baked.after.reach)) * baked.dt
    asked = (times >= 1.0) & (times <= 1.5)
    assert baked.before.reach[asked].min() > 0.1, "on its way there"
    assert baked.after.reach[asked].max() > 0.05, "on its way there"
    assert not baked.before.reach[~asked].any()
    assert not baked.after.reach[~asked].any()
    assert not baked.problems, "a hand that is on its way is no problem"


@pytest.mark.parametrize("way", [MovingPoint.fixed((3.0, 1.2, 0.0)), MovingPoint((0.5, 0.8), ((3.0, 1.2, 0.0),) * 2)])
def test_a_point_out_of_reach_is_a_problem(way):
    baked = bake(humanoid(), "idle", BakeSettings(reach={"left": way}, fps=15))
    (reported,) = baked.problems
    assert "the left hand cannot reach (3, 1.2, 0)" in reported
    assert 2.0 < float(reported.split()[-2]) <= round(baked.after.worst_reach, 2)


@pytest.mark.parametrize(("rows", "fits"), [(100_000, True), (100_001, False)])
def test_a_file_of_more_than_ten_minutes_is_refused(tmp_path, rows, fits):
    file = tmp_path / "way.csv"
    file.write_text("".join(f"{n},0,0,0\n" for n in range(rows)))
    if fits:
        assert len(MovingPoint.load(file).times) == rows
    else:
        with pytest.raises(FileError, match="more than 100,000 rows"):
            MovingPoint.load(file)


def test_a_clip_is_repeated_a_thousand_times_at_most():
    assert BakeSettings(loops=1000).loops == 1000
    with pytest.raises(InputError, match="allowed are 1 to 1000"):
        BakeSettings(loops=1001)
