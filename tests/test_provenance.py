"""Committed figures are those of the code that is committed with them."""

import json
import subprocess

import pytest
from benchmarks.provenance import (
    FIGURES,
    MADE,
    PICTURES,
    RESULTS,
    ROOT,
    fingerprint,
    sources,
    stale_pictures,
    stamps,
)

from tests.fitting import table as fitting
from tests.retargeting import cleaning


@pytest.mark.parametrize("module", [cleaning, fitting], ids=["cleaning", "fitting"])
def test_pages_show_the_committed_figures(module):
    assert module.DOCUMENT.read_text("utf-8") == module.page()


def test_every_file_of_figures_is_known():
    assert {path.name for path in RESULTS.glob("*.json")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_not_older_than_the_code_they_speak_of(name):
    found = stamps(json.loads((RESULTS / name).read_text("utf-8")))
    measure = (
        f"benchmarks/results/{name} is older than the code it speaks of; measure it again: {FIGURES[name].command}"
    )
    assert found, measure
    for made in found:
        assert made.get("sources") == fingerprint(name), measure
        assert made.get("commit"), measure


def test_fingerprints_are_of_files_that_everyone_has():
    """A page that was built leaves files beside the sources; a fresh clone has none."""
    listed = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone")
    there = {ROOT / name for name in listed.stdout.split("\0")}
    assert {path for name in FIGURES | PICTURES for path in sources(name)} <= there


def test_every_picture_of_the_docs_is_known():
    kinds = (".png", ".gif", ".svg")
    assert {path.name for path in MADE.parent.iterdir() if path.suffix in kinds} == set(PICTURES)


def test_pictures_are_not_older_than_what_they_show():
    assert not stale_pictures(), "draw them anew, look at them: make pictures"


def test_a_change_of_what_a_picture_shows_makes_it_stale(monkeypatch, tmp_path):
    known = json.loads(MADE.read_text("utf-8"))
    (tmp_path / "made.json").write_text(json.dumps({**known, "walks.png": "0" * 12}))
    monkeypatch.setattr("benchmarks.provenance.MADE", tmp_path / "made.json")
    assert "walks.png" in stale_pictures()
