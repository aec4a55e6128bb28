"""The tables of docs/locomotion.md, from the committed figures: `python -m tests.locomotion.table` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.locomotion.figures import LEAST
from tests.locomotion.walks import CHARACTERS, GROUNDS, MORE, RATES, SPEEDS

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "locomotion.json"
DOCUMENT = ROOT / "docs" / "locomotion.md"
BEGIN, END = "<!-- table: python -m tests.locomotion.table -->", "<!-- end of the table -->"
"""The lines between which the tables stand."""

TITLES = {
    "slope12": "slope, 12 degrees",
    "slope25": "slope, 25 degrees",
    "stairs_up": "stairs up",
    "stairs_down": "stairs down",
}


def worst(rows: list[dict[str, Any]], key: str) -> Any:
    """The worst of a figure; None without any."""
    values = [row[key] for row in rows if row[key] is not None]
    return None if not values else min(values) if key in LEAST else max(values)


def tables(rows: list[dict[str, Any]]) -> str:
    """Return both tables in Markdown: by character and ground, and by frame rate."""
    lines = ["| character | ground | rotation | depth | apart | slow | usual | fast | hips |", "| --- |" + " --- |" * 8]
    for name in (*CHARACTERS, *MORE):
        for ground in GROUNDS:
            mine = [row for row in rows if (row["character"], row["ground"]) == (name, ground)]
            if mine:
                lines.append(_line(name, ground, mine))
    lines += ["", "| frames per second | rotation | depth | apart | kept | hips |", "| --- |" + " --- |" * 5]
    for hz in RATES:
        mine = [row for row in rows if row["hz"] == hz and row["character"] in CHARACTERS]
        steady = [row for row in mine if row["ground"] != "directions"]
        cells = [f"{worst(mine, key):.0f}" for key in ("rotation", "depth", "apart")]
        lines.append(f"| {hz} | {' | '.join(cells)} | {worst(steady, 'kept'):.0f} | {worst(mine, 'hips'):.0f} |")
    return "\n".join(lines)


def _line(name: str, ground: str, rows: list[dict[str, Any]]) -> str:
    cells = [name, TITLES.get(ground, ground)]
    cells += [f"{worst(rows, key):.0f}" for key in ("rotation", "depth", "apart")]
    for speed in SPEEDS:
        mine = [row for row in rows if row["asked"] == speed]
        allowed = worst(mine, "allowed")
        limit = f" ({allowed:.0f})" if allowed < 99.5 else ""
        cells.append("" if ground == "directions" else f"{worst(mine, 'speed'):.0f}{limit}")
    cells.append(f"{worst(rows, 'hips'):.0f}")
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def updated() -> str:
    """Return the document with its tables as the committed figures have them."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    return f"{before}{BEGIN}\n\n{tables(rows)}\n\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(updated(), encoding="utf-8")
