"""The figures in the documents are those of the committed results."""

from pathlib import Path

import pytest

from benchmarks import readme

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("document", readme.DOCUMENTS)
def test_the_tables_are_those_of_the_committed_results(document):
    text = (ROOT / document).read_text()
    assert readme.BEGIN in text
    assert readme.END in text
    assert readme.updated(ROOT, document) == text


def test_the_full_body_table_shows_who_was_measured_on_what():
    ours = {"min": 99.44, "median": 120.0, "arrived": 1.0, "count": 100}
    peer = {"min": 2051.0, "median": 2434.0, "arrived": 0.9949, "count": 20, "version": "1.2"}
    missing = {"min": None, "median": None, "note": "not installed"}
    rows = [
        {"name": "full_body_batch", "kinema": ours, "peers": {"mink": peer, "placo": missing}},
        {"name": "full_body_warm", "kinema": ours, "peers": {}},
        {"name": "arm_batch", "kinema": ours, "peers": {"mink": peer, "roboticstoolbox": peer}},
    ]
    lines = readme.body_table({"rows": rows}).splitlines()
    assert lines[2:] == [
        "| Kinema, 100 at once | 100.0% | 99 us | 100.0% | 99 us |",
        "| Kinema, 100 at once, from the frame before | 100.0% | 99 us | | |",
        "| mink 1.2 | 99.5% | 2.1 ms | 99.5% | 2.1 ms |",
        "| Robotics Toolbox 1.2 | | | 99.5% | 2.1 ms |",
    ]


@pytest.mark.parametrize(
    ("value", "unit", "expected"), [(8.246, "ns", "8.2 ns"), (245.4, "ns", "245 ns"), (202500.0, "ns", "202 us")]
)
def test_times_are_short(value, unit, expected):
    assert readme.time(value, unit) == expected
