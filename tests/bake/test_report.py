"""Reports: the same figures for people and for programs."""

import json
from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings, bake
from kinema.bake.report import FIGURES, clip_report, rig_report, rows
from kinema.demo import humanoid, slope


@pytest.fixture(scope="module")
def baked():
    return bake(humanoid(), "walk", BakeSettings(ground=slope(10), fps=30))


def test_a_clips_report_is_json_and_holds_every_figure_in_both_units(baked):
    report = json.loads(json.dumps(clip_report("walk", baked)))
    for when in ("before", "after"):
        assert set(report[when]) == {f.key for f in FIGURES if f.key != "reach_error"} | {"in_leg_lengths"}
        for key, share in report[when]["in_leg_lengths"].items():
            assert share * report["leg_length"] == pytest.approx(report[when][key])
    assert report["before"]["depth"] == pytest.approx(baked.before.worst_penetration)
    assert report["frames"] == baked.keys
    assert report["fps"] == pytest.approx(30, rel=0.05)


def test_rows_for_people_are_the_same_numbers(baked):
    report = clip_report("walk", baked)
    table = {what: (before, after) for what, before, after in rows(report)}
    assert len(table) == len(FIGURES) - 1
    assert table["knee flips"] == ("0", "0")
    assert table["any sole below the ground"][0] == f"{100 * report['before']['in_leg_lengths']['depth']:.2f} %"


def test_what_was_not_measured_is_not_perfect():
    """A walk off the end of its ground, and a body that never stands."""
    person = humanoid()
    short = km.HeightField(np.zeros((2, 2)), (-0.5, -0.6), 1.0)
    away = bake(person, "walk", BakeSettings(ground=short, loops=3, fps=30))
    report = clip_report("walk", away)
    assert report["after"]["no_ground"] > 0
    assert report["after"]["planted_hover"] is not None
    assert any("% of the planted soles found no ground" in reported for reported in report["problems"])
    floating = replace(away, after=replace(away.after, planted=np.zeros_like(away.after.planted)))
    report = json.loads(json.dumps(clip_report("walk", floating)))
    table = {what: after for what, _, after in rows(report)}
    assert table["planted sole above the ground"] == table["farthest slide of a planted foot"] == "n/a"
    assert report["after"]["slide"] is None
    assert report["after"]["in_leg_lengths"]["mean_slide"] is None


def test_a_foot_that_swings_high_is_not_without_ground():
    """Short legs lift a heel by more than their length: missing ground near it is not reported."""
    person = humanoid()
    baked = bake(person, "walk", BakeSettings(ground=km.Plane(), fps=30))
    missed = np.where(baked.after.planted, 0, 3)
    report = clip_report("walk", replace(baked, after=replace(baked.after, missed=missed)))
    assert report["after"]["no_ground"] == 0
    assert not report["problems"]


def test_roles_are_named():
    report = rig_report(humanoid().rig)
    assert set(report["legs"]) == {"left", "right"}
    assert all(isinstance(j, str) for j in report["legs"]["left"])
    assert rig_report(None) is None
