"""The table of docs/bake.md, from the committed figures: `python -m tests.motion.table` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "motion.json"
DOCUMENT = ROOT / "docs" / "bake.md"
BEGIN, END = "<!-- table: python -m tests.motion.table -->", "<!-- end of the table -->"
"""The lines between which the table stands."""

TITLES = {
    "flat": "flat",
    "slope12": "slope of 12 degrees",
    "slope25": "slope of 25 degrees",
    "stairs": "stairs up",
    "stairs_down": "stairs down",
    "rocks": "rocks",
    "all": "all",
}

HEAD = """
| ground | clean, given | clean, aside | knee flips | rotation beyond the clip: median, worst | jerk | of takes |
| --- | --- | --- | --- | --- | --- | --- |
"""


def lines(summary: dict[str, Any]) -> str:
    """The table of a summary, as `motion.json` has it."""
    return HEAD + "".join(_line(title, summary, ground) for ground, title in TITLES.items()) + "\n"


def _line(title: str, summary: dict[str, Any], ground: str) -> str:
    given, aside = summary["given"][ground], summary["aside"][ground]
    both = (given, aside)
    clean = " | ".join(f"{row['clean']:.0%} ({row['clean_takes']:.0%}, {row['clean_rigs']:.0%})" for row in both)
    median, worst = (" / ".join(f"{row['beyond'][key]:.0f}" for row in both) for key in ("median", "worst"))
    jerk = " / ".join(f"{row['jerk']['median']:.2f}" for row in both)
    takes = " / ".join(f"{row['jerk_takes']:.2f}" for row in both)
    flips = " / ".join(str(row["flips"]) for row in both)
    return f"| {title} | {clean} | {flips} | {median}, {worst} degrees | {jerk} | {takes} |\n"


def with_table(document: Path, begin: str, end: str, table: str) -> str:
    """A document with a table between two lines."""
    before, rest = document.read_text(encoding="utf-8").split(begin)
    return f"{before}{begin}\n\n{table.strip()}\n\n{end}{rest.split(end)[1]}"


def main() -> None:
    summary = json.loads(RESULTS.read_text(encoding="utf-8"))["summary"]
    DOCUMENT.write_text(with_table(DOCUMENT, BEGIN, END, lines(summary)), encoding="utf-8")


if __name__ == "__main__":
    main()
