"""The README's figures are those of the committed results."""

from pathlib import Path

import pytest

from kinema.bench import readme

ROOT = Path(__file__).parents[2]


def test_the_speed_table_is_that_of_the_committed_results():
    text = (ROOT / "README.md").read_text()
    assert readme.BEGIN in text
    assert readme.END in text
    assert readme.replaced(text, readme.current(ROOT / "benchmarks" / "results")) == text


@pytest.mark.parametrize(
    ("value", "unit", "expected"), [(8.246, "ns", "8.2 ns"), (245.4, "ns", "245 ns"), (202500.0, "ns", "202 us")]
)
def test_times_are_short(value, unit, expected):
    assert readme.time(value, unit) == expected
