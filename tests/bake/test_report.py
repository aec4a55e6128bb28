"""Reports: the same figures for people and for programs."""

import json

import pytest

from kinema.bake import Settings, bake
from kinema.bake.report import FIGURES, clip_report, rig_report, rows
from kinema.scenes import humanoid, slope


@pytest.fixture(scope="module")
def baked():
    return bake(humanoid(), "walk", Settings(ground=slope(10), fps=30))


def test_a_clips_report_is_json_and_holds_every_figure_in_both_units(baked):
    report = json.loads(json.dumps(clip_report("walk", baked)))
    for when in ("before", "after"):
        assert set(report[when]) == {f.key for f in FIGURES if f.key != "reach_error"} | {"in_leg_lengths"}
        for key, share in report[when]["in_leg_lengths"].items():
            assert share * report["leg_length"] == pytest.approx(report[when][key])
    assert report["before"]["depth"] == pytest.approx(baked.before.worst_penetration)
    assert report["frames"] == len(baked.after.planted) and report["fps"] == pytest.approx(30, rel=0.05)


def test_rows_for_people_are_the_same_numbers(baked):
    report = clip_report("walk", baked)
    table = {what: (before, after) for what, before, after in rows(report)}
    assert len(table) == len(FIGURES) - 1
    assert table["knee flips"] == ("0", "0")
    assert table["any sole below the ground"][0] == f"{100 * report['before']['in_leg_lengths']['depth']:.2f} %"


def test_roles_are_named():
    report = rig_report(humanoid().rig)
    assert set(report["legs"]) == {"left", "right"} and all(isinstance(j, str) for j in report["legs"]["left"])
    assert rig_report(None) is None
