"""The speed table of the README, written from the committed results: `python -m kinema.bench.readme README.md`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- speed table: python -m kinema.bench.readme -->", "<!-- end of the speed table -->"
"""The lines between which the table stands."""

ROWS = {
    "two_bone_batch": "two-bone, 10,000 from `(N, 3)` float32",
    "two_bone_single": "two-bone, one call from Python",
    "fabrik_batch": "FABRIK, 10 bones, 10,000 targets, to 1e-3",
    "fabrik_single": "FABRIK, one call from Python",
    "ccd_batch": "CCD, 10 bones, 10,000 targets, to 1e-3",
    "frame_crowd": "whole frame, 60 joints, per character of 10,000",
    "frame_single": "whole frame, one character alone",
}
"""Rows of a CPU's results, and what the README calls them."""

PEERS = {"numpy": "NumPy", "python": "bare arithmetic without checks", "roboticstoolbox": "Robotics Toolbox"}
"""Peers by the names that they are known by, where that is not their package's."""

LARGER = {"ns": "us", "us": "ms", "ms": "s"}


def table(cpu: dict[str, Any], gpu: dict[str, Any]) -> str:
    """Return the table in Markdown, from the contents of two result files."""
    lines = ["| work | Kinema | bar | peers |", "| --- | --- | --- | --- |"]
    rows = {row["name"]: row for row in cpu["rows"]}
    for name, work in ROWS.items():
        if name in rows:
            row = rows[name]
            bar = "" if row["bar"] is None else time(row["bar"], row["unit"])
            peers = ", ".join(
                f"{PEERS.get(peer, peer)} {time(figure['min'], row['unit'])}"
                for peer, figure in row["peers"].items()
                if figure["min"] is not None
            )
            lines.append(f"| {work} | {time(row['kinema']['min'], row['unit'])} | {bar} | {peers} |")
    for row in gpu["rows"]:
        took, share = time(row["milliseconds"]["min"], "ms"), f"{row['share_of_copy']:.0%} of a copy's speed"
        if row["name"] == "two_bone":
            lines.append(f"| H200: two-bone, 16.8 million, public call | {took}, {share} | {row['bar']:.0%} | |")
        else:
            lines.append(f"| H200: FABRIK, 1 million chains of 10 bones | {took} | 1 ms | |")
    return "\n".join(lines)


def time(value: float, unit: str) -> str:
    """Return a time in the largest unit of at least 1, two digits below 100 and whole above."""
    while value >= 1000 and unit in LARGER:
        value, unit = value / 1000, LARGER[unit]
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.2g} {unit}"


def replaced(text: str, new: str) -> str:
    """Return a text with the table between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{new}\n{END}{after}"


def current(results: Path) -> str:
    """Return the table of the results committed in a folder."""
    files = ("intel-xeon-processor-2.80ghz-2.json", "nvidia-h200.json")
    cpu, gpu = (json.loads((results / name).read_text()) for name in files)
    return table(cpu, gpu)


if __name__ == "__main__":
    readme = Path(sys.argv[1])
    readme.write_text(replaced(readme.read_text(), current(readme.parent / "benchmarks" / "results")))
