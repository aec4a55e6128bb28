"""What commands over many files print: the report of each, then those that were skipped and those that failed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from kinema.io.other_formats import hint


def say(text: str, style: str | None = None) -> None:
    """Print a line as it is: nothing in it is markup, and a long one is left to the terminal to wrap."""
    Console().print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def print_clips(report: dict[str, Any], described: Callable[[dict[str, Any]], str]) -> None:
    """Print a line for each new clip of a file, its warnings, and where the file was written."""
    for clip in report["clips"]:
        say(described(clip))
        for warning in clip["warnings"]:
            say(f"  {warning}", "yellow")
    say(f"written to {report['output']}")


def print_reports(reports: list[dict[str, Any]], done: str, show: Callable[[dict[str, Any]], None]) -> None:
    """Print what became of each file. The failure of an only file is left to the caller.

    done: the status of a file that is done. show: prints its report.
    """
    screen, errors = Console(), Console(stderr=True, style="red")
    for report in reports:
        if report["status"] == done:
            show(report)
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
