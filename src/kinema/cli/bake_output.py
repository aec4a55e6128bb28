"""What `kinema bake` prints for each file."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from kinema.bake.report import rows
from kinema.cli.file_reports import say

SHORTER = 0.97
"""Share of the clip's way below which it is said that strides are shorter."""


def print_baked(report: dict[str, Any]) -> None:
    """Print what became of a file that was baked."""
    unit = (report["rig"] or {}).get("unit", "units")
    for clip in report["clips"]:
        Console().print(_table(report, clip))
        made = f"{clip['frames']} frames at {clip['fps']:g} fps{_walked(clip, unit)}{_strides(clip)}"
        for note in (made, *clip["problems"]):
            say(f"  {note}")
    for doubt in (report["rig"] or {}).get("doubts", ()):
        say(f"  {report['file']}: {doubt}", "yellow")
    say(f"written to {report['output']}")


def _table(report: dict[str, Any], clip: dict[str, Any]) -> Table:
    """Figures before and after baking one clip."""
    table = Table(title=f"{report['file']}: {clip['clip']} → {clip['name']}", title_justify="left")
    table.add_column("lengths in % of a leg")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right")
    for row in rows(clip):
        table.add_row(*row)
    return table


def _strides(clip: dict[str, Any]) -> str:
    """How much shorter strides are on this ground."""
    return f", strides {clip['strides']:.0%} as long as in the clip" if clip["strides"] < SHORTER else ""


def _walked(clip: dict[str, Any], unit: str) -> str:
    """What happens to a clip whose feet slide back under a body that stays."""
    if not clip["in_place"]:
        return ""
    speed = f"{clip['feet_speed']:.3g} {unit} per second"
    return f", moves at {speed} by its planted feet" if clip["travels"] else f", walks in place at {speed}"
