"""What `kinema bake` says when it is done: a table of each clip, then what was skipped and what failed."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from kinema.bake.report import rows


def tell(reports: list[dict[str, Any]]) -> None:
    """All there is to say of the files, on the screen. The failure of an only one is left to who asked for it."""
    screen, errors = Console(), Console(stderr=True, style="red")
    for report in reports:
        if report["status"] == "baked":
            _tell_baked(screen, report)
    skipped = [report for report in reports if report["status"] == "skipped"]
    if skipped:
        screen.print(f"{len(skipped)} of {len(reports)} done before, skipped.")
    failed = [report for report in reports if report["status"] == "failed"]
    if failed and len(reports) > 1:
        errors.print(f"{len(failed)} of {len(reports)} failed:")
        for report in failed:
            errors.print(f"  {report['file']}: {report['problem']}", markup=False)


def _tell_baked(screen: Console, report: dict[str, Any]) -> None:
    for clip in report["clips"]:
        screen.print(_table(report, clip))
    for doubt in (report["rig"] or {}).get("doubts", ()):
        screen.print(f"  {report['file']}: {doubt}", markup=False, style="yellow")
    screen.print(f"written to {report['output']}", markup=False, highlight=False, soft_wrap=True)


def _table(report: dict[str, Any], clip: dict[str, Any]) -> Table:
    """Before and after of one clip."""
    table = Table(title=f"{report['file']}: {clip['clip']} → {clip['name']}", title_justify="left")
    table.add_column("lengths in % of a leg")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right")
    for row in rows(clip):
        table.add_row(*row)
    walked = f", walks in place at {clip['feet_speed']:.3g} a second" if clip["in_place"] else ""
    notes = [f"{clip['frames']} frames, {clip['fps']:g} a second{walked}", *clip["problems"]]
    table.caption, table.caption_justify = "\n".join(notes), "left"
    return table
