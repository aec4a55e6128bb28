"""The tables of figures in the documents, written from the committed results: `python -m benchmarks.readme`.

Run it in the repository's root. Tests compare the documents with the results.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- speed table: python -m benchmarks.readme -->", "<!-- end of the speed table -->"
"""The lines between which a table stands."""

ROWS = {
    "two_bone_batch": "two-bone, 10,000 from `(N, 3)` float32",
    "two_bone_single": "two-bone, one call from Python",
    "fabrik_batch": "FABRIK, 10 bones, 10,000 targets, to 1e-3",
    "fabrik_single": "FABRIK, one call from Python",
    "ccd_batch": "CCD, 10 bones, 10,000 targets, to 1e-3",
    "frame_crowd": "whole frame, 60 joints, per character of 10,000",
    "frame_single": "whole frame, one character alone",
    "full_body_single": "whole body, 60 joints, 5 effectors with rotations, one call from Python",
}
"""Rows of a CPU's results, and what the README calls them."""

PEERS = {"numpy": "NumPy", "python": "bare arithmetic without checks", "roboticstoolbox": "Robotics Toolbox"}
"""Peers by the names that they are known by, where that is not their package's."""

BODY_ROWS = {
    "Kinema, {count} at once": ("full_body_batch", "arm_batch"),
    "Kinema, one call from Python": ("full_body_single", "arm_single"),
    "Kinema, {count} at once, from the frame before": ("full_body_warm", None),
    "Kinema, one call from the frame before": ("full_body_warm_single", None),
}
"""Rows of the full body's results, of the person and of the arm."""

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


def body_table(results: dict[str, Any]) -> str:
    """Return the table of the full body in Markdown, from the contents of its result file."""
    lines = ["| library | person: reached | time | arm: reached | time |", "| --- | --- | --- | --- | --- |"]
    rows = {row["name"]: row for row in results["rows"]}
    for label, names in BODY_ROWS.items():
        figures = [rows[name]["kinema"] if name in rows else None for name in names]
        if figures[0] is not None:
            lines.append(_body_line(label.format(count=figures[0]["count"]), figures))
    people, arms = rows["full_body_batch"]["peers"], rows["arm_batch"]["peers"]
    for peer in dict.fromkeys((*people, *arms)):
        figures = [people.get(peer), arms.get(peer)]
        known = [figure for figure in figures if figure is not None and figure["min"] is not None]
        if known:
            lines.append(_body_line(f"{PEERS.get(peer, peer)} {known[0]['version']}", figures))
    return "\n".join(lines)


def _body_line(label: str, figures: list[Any]) -> str:
    cells = [label]
    for figure in figures:
        known = figure is not None and figure["min"] is not None
        cells += [f"{figure['arrived']:.1%}", time(figure["min"], "us")] if known else ["", ""]
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


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
    """Return the README's table of the results committed in a folder."""
    files = ("amd-epyc-2.json", "nvidia-h200.json")
    cpu, gpu = (json.loads((results / name).read_text()) for name in files)
    return table(cpu, gpu)


def current_body(results: Path) -> str:
    """Return the full body's table of the results committed in a folder."""
    return body_table(json.loads((results / "full_body.json").read_text()))


DOCUMENTS = {"README.md": current, "docs/full_body.md": current_body}
"""Documents with a table, and what makes it from a folder of results."""


def updated(root: Path, document: str) -> str:
    """Return a document of the repository at `root` with its table as the committed results have it."""
    return replaced((root / document).read_text(), DOCUMENTS[document](root / "benchmarks" / "results"))


if __name__ == "__main__":
    for document in DOCUMENTS:
        Path(document).write_text(updated(Path(), document))
