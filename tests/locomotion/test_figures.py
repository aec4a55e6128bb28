"""The committed figures of `Locomotion`: those of the document, and good enough."""

import json

import numpy as np
import pytest

from tests.locomotion.figures import measure, rows_of
from tests.locomotion.table import BEGIN, DOCUMENT, END, RESULTS, updated
from tests.locomotion.walks import CHARACTERS, GROUNDS, MORE, RATES, SPEEDS, course_of, walked

ALL_ROWS = json.loads(RESULTS.read_text())["rows"]
ROWS = [row for row in ALL_ROWS if row["character"] in CHARACTERS]
MORE_ROWS = [row for row in ALL_ROWS if row["character"] in MORE]


def test_the_tables_are_those_of_the_committed_figures():
    text = DOCUMENT.read_text()
    assert BEGIN in text
    assert END in text
    assert updated() == text


def test_every_character_walked_every_ground_at_every_speed_and_rate():
    found = {tuple(row[key] for key in ("character", "ground", "hz", "asked", "turns")) for row in ROWS}
    assert len(found) == len(ROWS) == len(CHARACTERS) * len(GROUNDS) * len(RATES) * 2 * len(SPEEDS)


@pytest.mark.parametrize("hz", RATES)
@pytest.mark.parametrize(("key", "bar"), [("rotation", 25.0), ("depth", 2.0), ("flips", 0.5), ("slide", 0.01)])
def test_walks_are_within_the_bars_at_every_rate(hz, key, bar):
    assert max(row[key] for row in ROWS if row["hz"] == hz) < bar


@pytest.mark.parametrize("hz", RATES)
def test_feet_do_not_cross(hz):
    assert min(row["apart"] for row in ROWS if row["hz"] == hz) > 0.0


@pytest.mark.parametrize("hz", RATES)
def test_arms_of_a_person_swing(hz):
    assert min(row["arms"] for row in ROWS if row["hz"] == hz and row["character"] == "person") > 20.0


@pytest.mark.parametrize("hz", RATES)
def test_slow_and_usual_walks_keep_their_speed(hz):
    """The spider has steps as high as its hips."""
    mine = [row for row in ROWS if row["hz"] == hz and row["asked"] < 1.5 and row["ground"] != "directions"]
    assert min(row["speed"] for row in mine if row["character"] != "spider") > 85.0


@pytest.mark.parametrize("hz", RATES)
def test_walks_make_the_speed_that_they_report_as_allowed(hz):
    assert min(row["kept"] for row in ROWS if row["hz"] == hz and row["ground"] != "directions") > 85.0


@pytest.mark.parametrize(("key", "bar"), [("rotation", 25.0), ("depth", 4.0), ("flips", 0.5), ("slide", 0.01)])
def test_characters_that_nothing_was_tuned_on_walk_as_well(key, bar):
    """One sole is 3% deep on rocks: see the document."""
    assert max(row[key] for row in MORE_ROWS) < bar


def test_characters_that_nothing_was_tuned_on_keep_their_soles_out_of_stairs():
    assert max(row["depth"] for row in MORE_ROWS if row["ground"].startswith("stairs")) < 2.0


def test_only_a_spider_lower_than_the_steps_falls_short_of_the_allowed_speed():
    mine = [row for row in MORE_ROWS if row["character"] != "m2m_spider" and row["ground"] != "directions"]
    assert min(row["kept"] for row in mine) > 85.0


def test_heights_between_the_rows_of_a_mesh_are_those_of_its_triangles():
    course = course_of("rocks", 0.84)
    draw = np.random.default_rng(0)
    points = np.column_stack((draw.uniform(-1.5, 1.5, 200), np.full(200, 5.0), draw.uniform(2.0, 10.0, 200)))
    hits = course.ground().cast(points, np.tile((0.0, -1.0, 0.0), (200, 1)), 10.0)
    np.testing.assert_allclose(course.height_at(points), hits.point[:, 1], atol=1e-6)


@pytest.mark.slow_uncompiled
def test_the_committed_figures_are_those_of_this_version():
    """One walk again. Rounding may differ between machines, and with it single steps; the speed does not."""
    fresh = rows_of("fox", "slope12", 60, measure(walked("fox", "slope12")))
    kept = [row for row in ROWS if (row["character"], row["ground"], row["hz"]) == ("fox", "slope12", 60)]
    for now, then in zip(fresh, kept, strict=True):
        assert now["speed"] == pytest.approx(then["speed"], abs=3.0)
        assert now["rotation"] == pytest.approx(then["rotation"], abs=4.0)
