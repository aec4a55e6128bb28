"""The committed figures of `Locomotion`: those of the document, and good enough."""

import json

import numpy as np
import pytest

from tests.locomotion.figures import measure, rows_of
from tests.locomotion.table import BEGIN, DOCUMENT, END, RESULTS, updated
from tests.locomotion.walks import CHARACTERS, GROUNDS, RATES, SPEEDS, course_of, walked

ROWS = [row for row in json.loads(RESULTS.read_text())["rows"] if row["character"] in CHARACTERS]


def test_the_tables_are_those_of_the_committed_figures():
    text = DOCUMENT.read_text()
    assert BEGIN in text
    assert END in text
    assert updated() == text


def test_every_character_walked_every_ground_at_every_speed_and_rate():
    found = {tuple(row[key] for key in ("character", "ground", "hz", "asked", "turns")) for row in ROWS}
    assert len(found) == len(ROWS) == len(CHARACTERS) * len(GROUNDS) * len(RATES) * 2 * len(SPEEDS)


@pytest.mark.parametrize("hz", RATES)
@pytest.mark.parametrize(
    ("key", "bar", "share"), [("rotation", 25.0, 1.0), ("depth", 2.0, 0.99), ("flips", 0.5, 1.0), ("slide", 0.01, 1.0)]
)
def test_walks_are_within_the_bars_at_every_rate(hz, key, bar, share):
    """The walks that are not are listed in the document."""
    within = [row[key] < bar for row in ROWS if row["hz"] == hz]
    assert np.mean(within) >= share


@pytest.mark.parametrize("hz", RATES)
def test_feet_do_not_cross(hz):
    assert np.mean([row["apart"] > 0.0 for row in ROWS if row["hz"] == hz]) > 0.99


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
    """The walks that do not are listed in the document."""
    kept = [row["kept"] for row in ROWS if row["hz"] == hz and row["ground"] != "directions"]
    assert np.mean([share > 85.0 for share in kept]) > 0.94
    assert min(kept) > 75.0


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
