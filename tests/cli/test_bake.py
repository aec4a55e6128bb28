"""`kinema bake` as it is typed: exit codes, what is printed where, what is written."""

import json
import re

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from tests.cli.invoking import invoke


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file with a walk in place and an idle."""
    person = humanoid()
    clips = {"idle": person.clips["idle"], "walk": person.clips["walk"].in_place(joint="root")}
    path = tmp_path_factory.mktemp("files") / "person.glb"
    km.save(path, km.Character(person.skeleton, clips))
    return path


def typed(*arguments):
    return invoke("bake", *arguments)


def test_a_walk_up_a_slope(file, tmp_path):
    out, report = tmp_path / "new.glb", tmp_path / "figures.json"
    made = typed(
        *(file, "-o", out, "--clip", "walk", "--ground", "slope:10", "--loops", 2, "--fps", 30, "--report", report),
        "--keep-strides",
    )
    assert made.exit_code == 0, made.output
    assert "walk baked" in made.stdout
    assert "planted sole above the ground" in made.stdout
    assert re.search(r"at 30 fps, moves at 1\.3\d* metres per second by its planted feet", made.stdout)
    character = km.load(out)
    assert list(character.clips) == ["idle", "walk", "walk baked"]
    hips = character.skeleton.world(character.clips["walk baked"].sample(np.array((0.0, 9.0))))[
        :, character.rig.hips, :3, 3
    ]
    went = hips[1] - hips[0]
    assert went[2] == pytest.approx(2.7, abs=0.1)
    assert went[1] == pytest.approx(2.7 * np.tan(np.radians(10)), abs=0.05)
    figures = json.loads(report.read_text())
    assert figures["format"] == "kinema.report"
    assert figures["version"] == 1
    (clip,) = figures["files"][0]["clips"]
    assert clip["in_place"]
    assert clip["after"]["in_leg_lengths"]["planted_hover"] < 0.02
    assert clip["before"]["slide"] > 4 * clip["after"]["slide"]  # Of every point of a sole that touches.


def test_nothing_is_overwritten_without_force(file, tmp_path):
    out = tmp_path / "new.glb"
    out.write_bytes(b"mine")
    first = typed(file, "-o", out, "--clip", "idle", "--fps", 5)
    assert first.exit_code == 2
    assert "--force" in first.stderr
    assert out.read_bytes() == b"mine"
    assert typed(file, "-o", out, "--clip", "idle", "--fps", 5, "--force").exit_code == 0
    report = tmp_path / "figures.json"
    report.write_text("mine")
    refused = typed(file, "-o", tmp_path / "other.glb", "--clip", "idle", "--fps", 5, "--report", report)
    assert refused.exit_code == 2
    assert report.read_text() == "mine"
    assert not (tmp_path / "other.glb").exists()


def test_many_files_and_a_second_run(file, tmp_path):
    for name in ("a.glb", "deep/b.glb"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(file.read_bytes())
    (tmp_path / "in" / "wrong.bvh").write_text("HIERARCHY")
    arguments = (tmp_path / "in", "-o", tmp_path / "out", "--clip", "idle", "--fps", 5, "--look-at", "1,1,2")
    first = typed(*arguments)
    assert first.exit_code == 1
    assert "1 of 3 failed" in first.stderr
    assert "wrong.bvh" in first.stderr
    assert (tmp_path / "out" / "deep" / "b.glb").exists()
    again = typed(*arguments)
    assert again.exit_code == 1
    assert "2 of 3 done before" in again.stdout


def test_a_second_run_keeps_the_figures_of_what_it_skips(file, tmp_path):
    (tmp_path / "in").mkdir()
    report, arguments = tmp_path / "figures.json", (tmp_path / "in", "-o", tmp_path / "out", "--clip", "idle")
    asked = ("--fps", 5, "--look-at", "1,1,2", "--report", report)
    (tmp_path / "in" / "a.glb").write_bytes(file.read_bytes())
    assert typed(*arguments, *asked).exit_code == 0
    (tmp_path / "in" / "b.glb").write_bytes(file.read_bytes())
    again = typed(*arguments, *asked)
    assert again.exit_code == 0, again.output
    first, second = json.loads(report.read_text())["files"]
    assert (first["status"], second["status"]) == ("skipped", "baked")
    assert first["clips"] == second["clips"]
    assert first["rig"] == second["rig"]


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}', "\x00"])
def test_only_reports_of_kinema_are_replaced(file, tmp_path, text):
    (tmp_path / "figures.json").write_text(text)
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "idle", "--fps", 5, "--report", tmp_path / "figures.json")
    assert made.exit_code == 2
    assert "is not a report of Kinema" in made.stderr
    assert (tmp_path / "figures.json").read_text() == text
    assert not (tmp_path / "new.glb").exists()


def test_written_files_are_reported(file, tmp_path):
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "idle", "--fps", 5)
    assert f"written to {tmp_path / 'new.glb'}" in made.stdout
    wrong = typed(file, "-o", tmp_path / "other.glb", "--clip", "idel", "--fps", 5)
    assert wrong.exit_code == 2
    assert wrong.stderr.lstrip().startswith("kinema bake: person.glb: there is no clip 'idel'")


def test_problems_name_the_file_once_and_nothing_hidden(file, tmp_path):
    notes, inside = tmp_path / "notes.glb", tmp_path / "notes.bvh"
    notes.write_text("milk, eggs")
    inside.write_text("HIERARCHY\nROOF")
    told = [typed(path, "-o", tmp_path / "out", "--fps", 5) for path in (notes, inside)]
    assert all(made.exit_code == 2 and made.stderr.count(".glb:") + made.stderr.count(".bvh:") == 1 for made in told)
    assert "notes.bvh: line 2" in told[1].stderr
    (tmp_path / "taken").write_text("a file where a folder should be")
    made = typed(file, "-o", tmp_path / "taken" / "new.glb", "--clip", "idle", "--fps", 5)
    assert made.exit_code == 2
    assert "cannot be written: " in made.stderr
    assert "Errno" not in made.stderr
    assert ".tmp" not in made.stderr
    long = typed(file, "-o", tmp_path / f"{'x' * 300}.glb", "--clip", "idle", "--fps", 5)
    assert long.exit_code == 2
    assert "too long" in long.stderr
    assert "Traceback" not in long.output


def test_points_and_paths(file, tmp_path):
    way = tmp_path / "way.csv"
    way.write_text("t,x,y,z\n0,0.2,1.1,0.4\n4,0.3,1.2,0.4\n")
    out, report = tmp_path / "new.glb", tmp_path / "figures.json"
    made = typed(file, "-o", out, "--clip", "idle", "--fps", 10, "--reach", f"left_hand={way}", "--report", report)
    assert made.exit_code == 0, made.output
    after = json.loads(report.read_text())["files"][0]["clips"][0]["after"]
    assert after["reach_error"] < 0.01


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--ground", "hills"), "ground is"),
        (("--ground", "none.png"), "none.png"),
        (("--ground", "none.glb"), "none.glb"),
        ((), "no change is asked for"),
        (("--name", "new", "--no-travel"), "no change is asked for"),
        (("--fps", "5", "--report", "none/figures.json"), "--report"),
        (("--at", "1"), "--at"),
        (("--look-at", "1,2"), "--look-at"),
        (("--reach", "left_hand"), "--reach"),
        (("--reach", "left_hand=1,2"), "left_hand"),
        (("--pull", "left_hand"), "--pull"),
        (("--pull", "third_hand=0,1,1"), "third_hand"),
        (("--pin", "left_foot"), "pull"),
        (("--reach", "left_hand=0,1,1", "--reach", "left_hand=1,1,1"), "left_hand twice"),
        (("--heading", "inf"), "degrees"),
        (("--look-at", "none.csv"), "none.csv: the file cannot be read: No such file"),
        (("--in-place", "--travel"), "exclude"),
        (("--role", "nonsense=3"), "nonsense"),
        (("--roles", "none.toml"), "none.toml"),
        (("--fps", "-3"), "fps"),
        (("--ground-size", "1,x", "--ground", "0"), "--ground-size"),
    ],
)
def test_errors_are_reported_before_any_work(file, tmp_path, arguments, told):
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "idle", *arguments)
    assert made.exit_code == 2, made.output
    assert told in made.stderr.replace("\n", " "), made.output
    assert list(tmp_path.iterdir()) == []


def test_headings_beyond_a_full_circle_wrap(file, tmp_path):
    for name, degrees in (("a.glb", 400), ("b.glb", 40), ("c.glb", -320)):
        made = typed(file, "-o", tmp_path / name, "--clip", "idle", "--fps", 5, "--heading", degrees)
        assert made.exit_code == 0, made.output
    first, *others = [km.load(tmp_path / f"{name}.glb").clips["idle baked"].sample(1.0).rotations for name in "abc"]
    assert all(np.abs(first - other).max() < 1e-5 for other in others)


def test_roles_by_word(file, tmp_path):
    wrong = typed(file, "-o", tmp_path / "new.glb", "--clip", "idle", "--fps", 5, "--role", "head=nobody")
    assert wrong.exit_code == 2
    assert "nobody" in wrong.stderr


def test_no_such_file(tmp_path):
    made = typed(tmp_path / "none.glb", "-o", tmp_path / "out", "--lock-feet")
    assert made.exit_code == 2
    assert "no file" in made.stderr


def test_without_dask(monkeypatch, file, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "idle", "--fps", 5, "--dask", "tcp://127.0.0.1:1")
    assert made.exit_code == 2
    assert "pip install distributed" in made.stderr


def test_folders_list_what_they_skip(file, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.glb").write_bytes(file.read_bytes())
    (tmp_path / "in" / "b.dae").write_bytes(b"<COLLADA")
    made = typed(tmp_path / "in", "-o", tmp_path / "out", "--clip", "idle", "--fps", 5)
    assert made.exit_code == 0, made.output
    assert "1 skipped" in made.stderr
    assert "b.dae" in made.stderr
    assert "convert it to .glb" in made.stderr


def test_an_output_that_cannot_be_written_is_noticed_before_any_work(file, tmp_path, monkeypatch):
    def read_only(self, *args, **named):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.touch", read_only)
    monkeypatch.setattr("kinema.jobs.many.run_many", lambda *a, **n: pytest.fail("work was done"))
    for arguments in (("-o", tmp_path / "new.glb"), ("-o", tmp_path / "out", "--report", tmp_path / "figures.json")):
        made = typed(file, *arguments, "--clip", "idle", "--fps", 5)
        assert made.exit_code == 2, made.output
        assert "cannot be written: Permission denied" in made.stderr, made.output
    terminal = typed(file, "-o", "-", "--clip", "idle", "--fps", 5)
    assert terminal.exit_code == 2
    assert "--output is '-'" in terminal.stderr


def test_a_walk_in_place_without_travel_is_reported_as_such(file, tmp_path):
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "walk", "--lock-feet", "--in-place")
    assert made.exit_code == 0, made.output
    assert re.search(r"walks in place at 1\.3\d* metres per second", made.stdout)


def test_a_wrong_clip_is_told_before_that_no_change_is_asked_for(file, tmp_path):
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "wlk")
    assert made.exit_code == 2
    assert "there is no clip 'wlk'" in made.stderr
    assert "no change is asked for" in typed(file, "-o", tmp_path / "new.glb", "--clip", "walk").stderr


def test_an_unknown_hand_is_named_as_it_was_typed(file, tmp_path):
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "idle", "--reach", "left_hnd=0.3,1.1,0.4", "--fps", 5)
    assert made.exit_code == 2
    assert "there is no left_hnd in" in made.stderr
    assert "left_hand, right_hand" in made.stderr


def test_a_ground_that_no_foot_finds_is_a_failure(file, tmp_path):
    """A person given as the ground: it lies high above the feet."""
    km.save(tmp_path / "person.glb", humanoid())
    made = typed(file, "-o", tmp_path / "new.glb", "--clip", "walk", "--fps", 10, "--ground", tmp_path / "person.glb")
    assert made.exit_code == 2
    assert "no planted foot finds the ground" in made.stderr
    assert not (tmp_path / "new.glb").exists()
