"""The committed figures of `make motion` keep their bars, and the document shows them."""

import json

import pytest

from tests.motion.table import DOCUMENT, RESULTS, lines

SUMMARY = json.loads(RESULTS.read_text(encoding="utf-8"))["summary"]

CLEAN = {"flat": 0.97, "slope12": 0.92, "slope25": 0.80, "stairs": 0.75, "stairs_down": 0.75}
"""Share of bakes that are clean; of those that are put aside 5 points less."""

JERK = {"slope12": 1.3, "slope25": 1.3, "stairs": 1.8, "stairs_down": 1.8}

FASTEST = 45.0
"""Degrees in 1/60 s beyond the clip."""


@pytest.mark.parametrize(("split", "less"), [("given", 0.0), ("aside", 0.05)])
@pytest.mark.parametrize("ground", CLEAN)
@pytest.mark.parametrize("which", ["clean", "clean_takes", "clean_rigs"])
def test_so_many_bakes_are_clean(split, less, ground, which):
    assert SUMMARY[split][ground][which] >= CLEAN[ground] - less


@pytest.mark.parametrize("split", ["given", "aside"])
@pytest.mark.parametrize("ground", JERK)
def test_motion_is_as_smooth_as_the_clip(split, ground):
    assert SUMMARY[split][ground]["jerk"]["median"] < JERK[ground]
    assert SUMMARY[split][ground]["jerk_takes"] < JERK[ground]


@pytest.mark.parametrize("split", ["given", "aside"])
def test_no_knee_flips_on_flat_ground(split):
    assert SUMMARY[split]["flat"]["flips"] == 0


@pytest.mark.parametrize("split", ["given", "aside"])
def test_nothing_pops(split):
    assert SUMMARY[split]["all"]["beyond"]["worst"] < FASTEST


def test_nothing_failed():
    assert SUMMARY["given"]["all"]["failed"] + SUMMARY["aside"]["all"]["failed"] == 0


def test_the_document_shows_the_committed_figures():
    assert lines(SUMMARY) in DOCUMENT.read_text(encoding="utf-8")
