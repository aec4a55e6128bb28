"""The committed figures of `make motion` keep their bars, and the document shows them."""

import json

import pytest

from tests.motion.table import DOCUMENT, RESULTS, lines

SUMMARY = json.loads(RESULTS.read_text(encoding="utf-8"))["summary"]

CLEAN = {
    "flat": {"given": 0.96, "aside": 0.78},
    "slope12": {"given": 0.97, "aside": 0.78},
    "slope25": {"given": 0.88, "aside": 0.71},
    "stairs": {"given": 0.79, "aside": 0.62},
    "stairs_down": {"given": 0.79, "aside": 0.60},
    "rocks": {"given": 0.81, "aside": 0.70},
}
"""Share of bakes that are clean: what has been reached, so that it does not fall. More is wanted."""

JERK = {"slope12": 1.3, "slope25": 1.3, "stairs": 1.8, "stairs_down": 1.8}

JERK_OF_TAKES = {"given": 1.3, "aside": 1.8}

FASTEST = 45.0
"""Degrees in 1/60 s beyond the clip."""


@pytest.mark.parametrize("split", ["given", "aside"])
@pytest.mark.parametrize("ground", CLEAN)
def test_so_many_bakes_are_clean(split, ground):
    assert SUMMARY[split][ground]["clean"] >= CLEAN[ground][split]


@pytest.mark.parametrize("split", ["given", "aside"])
@pytest.mark.parametrize("ground", JERK)
def test_motion_is_as_smooth_as_the_clip(split, ground):
    assert SUMMARY[split][ground]["jerk"]["median"] < JERK[ground]
    assert SUMMARY[split][ground]["jerk_takes"] < JERK_OF_TAKES[split]


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
