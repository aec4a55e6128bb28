"""The tables of docs/fitting.md, from the committed figures: `python -m tests.fitting.table` writes them."""

from __future__ import annotations

import json
from typing import Any

from tests.motion.table import ROOT, with_table

RESULTS, DOCUMENT = ROOT / "benchmarks" / "results" / "fitting.json", ROOT / "docs" / "fitting.md"
BEGIN, END = "<!-- tables: python -m tests.fitting.table -->", "<!-- end of the tables -->"

SEEN = {
    "1 cm, 5%": "1 cm of noise, 5% of the points missing",
    "3 cm, 20%": "3 cm, 20% missing",
    "depth 6 cm": "1 cm, in depth 6 cm",
    "swapped": "left and right swapped in 10% of the frames",
    "arm lost": "an arm is not seen for a second",
    "standing": "1 cm, feet on the floor of the same body",
    "other bodies": "1 cm, onto other bodies, feet on their floors",
    "live": "1 cm, live, two frames late",
}
OWN = {"directions": "°", "directions_p95": "°", "positions": " cm", "jerk": "", "slide_mean": "%", "slide": "%"}
"""Figures of a row and their units. Feet stand in rows of `STANDING` alone; joints of other bodies are elsewhere."""

PARTS = (
    ("twist of upper arms, forearms, thighs", "1 cm, 5%", ("twist_arm", "twist_forearm", "twist_leg"), "°"),
    ("the arm that is not seen", "arm lost", ("lost",), "°"),
    ("frames with sides swapped that are not found", "swapped", ("swaps_missed",), ""),
    ("trunks of other bodies", "other bodies", ("trunk",), "°"),
)
"""Single figures: the title, the row, the figures and their unit."""

LAYOUTS = ("coco17", "h36m17", "mediapipe33", "smpl24")

STANDING = ("standing", "other bodies")
HEAD = """| what is seen | limbs off | 95% below | joints off | jerk | standing feet slide | at worst |
| --- | --- | --- | --- | --- | --- | --- |
"""
MORE = """
| of these | given | aside |
| --- | --- | --- |
"""
BY_LAYOUT = """
| 1 cm of noise | limbs off | trunk off | head off | feet off |
| --- | --- | --- | --- | --- |
"""
PEERS = """
| given the same points | limbs off | joints off | jerk | frames a second, one core |
| --- | --- | --- | --- | --- |
"""


def tables(found: dict[str, Any]) -> str:
    """All tables: what is seen with which noise, parts of it, layouts, and what others make of the same points."""
    given, aside = (found[split]["summary"] for split in ("given", "aside"))
    text = HEAD
    for key, title in SEEN.items():
        if f"{key} / all" in given:
            text += _line(key, title, given[f"{key} / all"], aside[f"{key} / all"])
    text += MORE
    for title, key, names, unit in PARTS:
        cells = [", ".join(f"{half[f'{key} / all'][name]:.1f}{unit}" for name in names) for half in (given, aside)]
        text += f"| {title} | {' | '.join(cells)} |\n"
    text += BY_LAYOUT
    for layout in LAYOUTS:
        both = [half[f"1 cm, 5% / {layout}"] for half in (given, aside)]
        cells = [" / ".join(f"{row[name]:.1f}" for row in both) for name in ("directions", "trunk", "head", "feet")]
        text += f"| `{layout}` |{''.join(f' {cell}° |' for cell in cells)}\n"
    text += PEERS
    for name, row in found["beside"].items():
        rate = f"{row['frames_a_second']:,.{0 if row['frames_a_second'] > 10 else 1}f}"
        off = f"{row['directions_degrees']:.1f}° | {row['positions_cm']:.1f} cm"
        text += f"| {name} | {off} | {row['jerk']:,.1f} | {rate} |\n"
    return text


def _line(key: str, title: str, given: dict[str, float], aside: dict[str, float]) -> str:
    left_out = {"slide", "slide_mean"} if key not in STANDING else {"positions"} if key == "other bodies" else set()
    cells = ["" if name in left_out else f"{given[name]:.1f} / {aside[name]:.1f}{unit}" for name, unit in OWN.items()]
    return f"| {title} |{''.join(f' {cell} |' if cell else ' |' for cell in cells)}\n"


def page() -> str:
    """Return the document with the committed figures."""
    return with_table(DOCUMENT, BEGIN, END, tables(json.loads(RESULTS.read_text("utf-8"))))


if __name__ == "__main__":
    DOCUMENT.write_text(page(), "utf-8")
