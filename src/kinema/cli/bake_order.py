"""`kinema bake`: convert options to an order, bake the files, print and write the figures."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kinema.bake.job import BakeOrder
from kinema.bake.settings import BakeSettings, MovingPoint
from kinema.cli.bake import BakeOptions
from kinema.cli.bake_output import print_reports, print_skipped
from kinema.cli.conversion_offer import offer_conversion
from kinema.cli.options import parse_numbers
from kinema.errors import InputError
from kinema.io import atomic
from kinema.jobs.listing import Item, items, skipped_formats
from kinema.jobs.many import Runner, in_processes, on_dask, one_by_one, run_many
from kinema.jobs.report_file import ReportFile
from kinema.version import __version__

_NOT_IN_FINGERPRINT = ("files", "output", "jobs", "dask", "report", "force")
"""Options that do not change what is written into a file."""


def run(options: BakeOptions) -> int:
    """Run the command. Returns how many of several files failed; raises the problem of an only file."""
    order = order_of(options)
    _check_something_asked(options)
    files = [_readable(text) for text in options.files]
    listed = items(files, options.output)
    folder = _output_folder(listed, options.output)
    figures = None if options.report is None else ReportFile(options.report, order.fingerprint, force=options.force)
    with _progress(len(listed)) as (share, done):
        reports = run_many(listed, order, folder, _runner(options, share), force=options.force, done=done)
    print_reports(reports)
    print_skipped(skipped_formats(files))
    if figures is not None:
        asked = {name: value for name, value in asdict(options).items() if value not in (None, [], False)}
        figures.write(reports, __version__, asked)
    failed = [report for report in reports if report["status"] == "failed"]
    if failed and len(reports) == 1:
        raise InputError(f"{failed[0]['file']}: {failed[0]['problem']}")
    return len(failed)


def _readable(text: str) -> str:
    """An input as it was typed, or the file that it was converted to."""
    converted = offer_conversion(Path(text))
    return text if converted == Path(text) else str(converted)


def _output_folder(listed: list[Item], output: Path) -> Path | None:
    """The folder of the new files; None if there is a single new file, whose folder must be writable."""
    if len(listed) > 1 or listed[0].output != output:
        return output
    if output.parent.is_dir():
        atomic.check_writable(output)
    return None


def _check_something_asked(options: BakeOptions) -> None:
    moved = options.ground or options.lock_feet or options.travel or options.in_place or options.at != "0,0"
    timed = options.fps is not None or options.loops != 1 or options.start is not None or options.end is not None
    aimed = options.look_at or options.reach or options.pull or options.pin
    if not (moved or timed or aimed or options.heading is not None):
        raise InputError(
            "no change is asked for; give at least one of --ground, --lock-feet, --look-at, --reach, --pull, --travel, "
            "--in-place, --at, --heading, --loops, --fps, --start, --end"
        )


# --- from options to an order ----------------------------------------------------------------------------------


def order_of(options: BakeOptions) -> BakeOrder:
    """Parse the options and read every file that they name."""
    settings = BakeSettings(
        lock_feet=options.lock_feet,
        at=parse_numbers("--at", options.at, 2, 3),
        heading=_heading(options.heading),
        travel=options.travel,
        in_place=options.in_place,
        keep_strides=options.keep_strides,
        look_at=None if options.look_at is None else _point("--look-at", options.look_at),
        reach=_targets("--reach", options.reach),
        pull=_targets("--pull", options.pull),
        pin=options.pin,
        fps=options.fps,
        start=options.start,
        end=options.end,
        loops=options.loops,
        name=options.name,
    )
    return BakeOrder(
        settings=settings,
        ground=options.parsed_ground(),
        clips=tuple(options.clip),
        roles=options.overrides(),
        fingerprint=_fingerprint(options),
    )


def _point(name: str, text: str) -> MovingPoint:
    """Parse a fixed point, or read the file of a moving one."""
    if text.lower().endswith(".csv"):
        return MovingPoint.load(Path(text))
    return MovingPoint.fixed(parse_numbers(name, text, 3))


def _heading(degrees: float | None) -> float | None:
    """Convert to radians, less than a full revolution."""
    if degrees is None:
        return None
    if not math.isfinite(degrees):
        raise InputError(f"--heading is {degrees}; expected degrees, such as 90")
    return math.radians(math.fmod(degrees, 360.0))


def _targets(option: str, texts: list[str]) -> dict[str, MovingPoint]:
    """Parse the target of each part of the body, by its role."""
    found: dict[str, MovingPoint] = {}
    for text in texts:
        role, equals, target = text.partition("=")
        if not equals or not role:
            raise InputError(f"{option} is {text!r:.60}; expected ROLE=X,Y,Z, such as left_hand=0.4,1.2,0.5")
        if role in found:
            raise InputError(f"{option} names {role} twice; it has one target, which may move: {role}=path.csv")
        found[role] = _point(f"{option} {role}", target)
    return found


def _fingerprint(options: BakeOptions) -> str:
    """Hash every option that affects the result, and the files that the options name."""
    asked = {name: value for name, value in asdict(options).items() if name not in _NOT_IN_FINGERPRINT}
    digest = hashlib.sha256(json.dumps({"kinema": __version__, **asked}, sort_keys=True, default=str).encode())
    targets = [text.partition("=")[2] for text in (*options.reach, *options.pull)]
    named = [options.ground, options.look_at, options.roles, *targets]
    for path in (Path(text) for text in named if text):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


# --- the work --------------------------------------------------------------------------------------------------


def _runner(options: BakeOptions, share: Callable[[float], None]) -> Runner:
    if options.dask is not None:
        return on_dask(options.dask)
    return one_by_one(share) if options.jobs == 1 else in_processes(options.jobs)


@contextmanager
def _progress(count: int) -> Iterator[tuple[Callable[[float], None], Callable[[dict[str, Any]], None]]]:
    """Show a progress bar if stderr is a terminal.

    Gives two functions: one to call with the finished share of the current file, one to call after each file. Until
    the first call the bar says what a first run does: compile.
    """
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn()
    finished = 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing (the first run compiles)", total=None)

        def show(completed: float) -> None:
            bar.update(task, completed=completed, total=count, description=f"{finished} of {count}")

        def share(part: float) -> None:
            show(finished + part)

        def done(report: dict[str, Any]) -> None:
            nonlocal finished
            finished += 1
            show(finished)

        yield share, done
