"""`kinema bench`: a table, an optional file, and notes about missing libraries."""

import json
from pathlib import Path

import pytest
from benchmarks.sections import SECTIONS
from typer.testing import CliRunner

from benchmarks import playground
from kinema.cli import app


@pytest.fixture
def bench(monkeypatch):
    """The command; what it tells libraries about threads is forgotten afterwards."""
    for name in ("KINEMA_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    return lambda *arguments: CliRunner().invoke(app, ["bench", *arguments])


def test_one_section_is_measured_shown_and_written(bench, tmp_path):
    result = bench("--only", "two_bone_batch", "--quick", "--json", str(tmp_path))
    assert result.exit_code == 0, result.output
    (written,) = tmp_path.iterdir()
    content = json.loads(written.read_text())
    (row,) = content["rows"]
    assert row["name"] == "two_bone_batch"
    assert content["machine"]["cores"] >= 1
    assert "two_bone_batc" in result.output
    assert "numpy" in result.output


def test_the_full_body_arrives_beside_its_peers(bench, tmp_path):
    result = bench("--only", "full_body", "--quick", "--json", str(tmp_path / "body.json"))
    assert result.exit_code == 0, result.output
    rows = {row["name"]: row for row in json.loads((tmp_path / "body.json").read_text())["rows"]}
    assert {"full_body_batch", "full_body_warm", "arm_batch"} <= set(rows)
    assert rows["full_body_batch"]["kinema"]["arrived"] >= 0.995
    assert rows["arm_batch"]["kinema"]["arrived"] >= 0.98
    assert set(rows["arm_batch"]["peers"]) == {"mink", "pink", "placo", "roboticstoolbox", "ikpy"}


def test_a_playground_that_does_not_start_is_a_missing_figure(monkeypatch):
    monkeypatch.setattr(playground, "tick_timer", lambda: lambda: 1e-4)
    monkeypatch.setattr(playground.sys, "executable", "/bin/echo" if Path("/bin/echo").exists() else "echo")
    _, *answers = playground.rows(quick=True)
    assert len(answers) == len(playground.DRAGS)
    assert all("did not start" in str(answer) for answer in answers)


def test_an_unknown_section_is_refused_with_those_there_are(bench):
    result = bench("--only", "juggling")
    assert result.exit_code == 2
    assert "juggling" in result.output
    assert all(section in result.output for section in SECTIONS)


def test_the_picture_says_what_it_needs_where_matplotlib_is_missing(bench, monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.growth.find_spec", lambda name: None)
    result = bench("--plot", str(tmp_path))
    assert result.exit_code != 0
    assert "pip install matplotlib" in result.output
    assert not list(tmp_path.iterdir())


def test_curves_have_a_time_and_a_floor_for_every_size(bench):
    from benchmarks.growth import curves

    for curve in curves(quick=True):
        assert len(curve.x) == len(curve.seconds) == len(curve.floor)
        assert min(curve.seconds) > 0
        assert min(curve.floor) > 0
