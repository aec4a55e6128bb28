"""What `kinema bake` prints: a table for each clip, then the files that were skipped and those that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from kinema.bake.report import rows
from kinema.io.other_formats import hint

SHORTER = 0.97
"""Share of the clip's way below which it is said that strides are shorter."""


def print_reports(reports: list[dict[str, Any]]) -> None:
    """Print what became of each file. The failure of an only file is left to the caller."""
    screen, errors = Console(), Console(stderr=True, style="red")
    for report in reports:
        if report["status"] == "baked":
            _print_baked(screen, report)
    skipped = [report for report in reports if report["status"] == "skipped"]
    if skipped:
        screen.print(f"{len(skipped)} of {len(reports)} done before, skipped.")
    failed = [report for report in reports if report["status"] == "failed"]
    if failed and len(reports) > 1:
        errors.print(f"{len(failed)} of {len(reports)} failed:")
        for report in failed:
            errors.print(f"  {report['file']}: {report['problem']}", markup=False)


def print_skipped(paths: list[Path]) -> None:
    """Print the files of folders that were skipped because their format is not read, and how to convert the first."""
    if not paths:
        return
    errors = Console(stderr=True, style="yellow")
    errors.print(f"{len(paths)} skipped, their format is not read: {', '.join(map(str, paths))}", markup=False)
    errors.print(f"  {paths[0].name}: {hint(b'', paths[0])}", markup=False, soft_wrap=True)


def _print_baked(screen: Console, report: dict[str, Any]) -> None:
    unit = (report["rig"] or {}).get("unit", "units")
    for clip in report["clips"]:
        screen.print(_table(report, clip))
        made = f"{clip['frames']} frames at {clip['fps']:g} fps{_walked(clip, unit)}{_strides(clip)}"
        for note in (made, *clip["problems"]):
            screen.print(f"  {note}", markup=False, highlight=False, soft_wrap=True)
    for doubt in (report["rig"] or {}).get("doubts", ()):
        screen.print(f"  {report['file']}: {doubt}", markup=False, style="yellow", soft_wrap=True)
    screen.print(f"written to {report['output']}", markup=False, highlight=False, soft_wrap=True)


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
