"""Bakes of short clips keep the figures that are committed: whatever changes them in any room is seen here."""

import json
import math

import pytest

from tests.assets import FOLDER
from tests.bake.canary import CLIPS, FIGURES, GROUNDS, figures_of
from tests.missing import missing

COMMITTED = json.loads(FIGURES.read_text(encoding="utf-8"))

SHARE, LEAST = 0.01, {"beyond": 0.2, "yaw": 0.2, "keys": 1.0}
"""Share of a figure that it may be off, and how far at least: degrees, keys. On another CPU with another NumPy the last
bits differ, and with them the moment of the worst frame: that one is not compared."""

CLOSE = 0.002
"""The same of all others: leg lengths and ratios. Two machines differed by 0.0014."""


def test_the_canary_holds_what_is_committed():
    assert {name: tuple(grounds) for name, grounds in COMMITTED.items()} == dict.fromkeys(CLIPS, GROUNDS)


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_bake_keeps_its_figures(name, ground):
    make = CLIPS[name].make
    if isinstance(make, str) and not (FOLDER / make).exists():
        missing("assets", make)
    found, expected = figures_of(name, ground), COMMITTED[name][ground]
    off = {
        key: (expected[key], round(found[key], 5))
        for key in expected
        if key != "when" and not math.isclose(found[key], expected[key], rel_tol=SHARE, abs_tol=LEAST.get(key, CLOSE))
    }
    assert found.keys() == expected.keys()
    assert not off, f"figures, committed and found; if the change is meant: python -m tests.bake.canary\n{off}"
