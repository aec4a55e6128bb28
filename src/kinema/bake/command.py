"""What `kinema bake` does: from words to an order, through the files, to tables on the screen and figures in a file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from kinema.bake import grounds
from kinema.bake.cluster import on_dask
from kinema.bake.job import Order
from kinema.bake.listing import items
from kinema.bake.many import Runner, bake_many, in_processes, one_by_one
from kinema.bake.moving_point import MovingPoint
from kinema.bake.report import FORMAT, VERSION, rows
from kinema.bake.settings import Settings
from kinema.bake.words import numbers
from kinema.errors import InputError
from kinema.io import atomic
from kinema.roles import Overrides, parse_override, read_overrides


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command's options, as they were typed. kinema: its version."""

    kinema: str
    files: list[str]
    output: Path
    clip: list[str]
    name: str | None
    ground: str | None
    ground_size: str | None
    ground_height: str | None
    at: str
    heading: float | None
    lock_feet: bool
    travel: bool | None
    in_place: bool
    look_at: str | None
    reach: list[str]
    loops: int
    fps: float | None
    role: list[str]
    roles: Path | None
    jobs: int
    dask: str | None
    report: Path | None
    force: bool


def run(options: Options) -> int:
    """All of the command. Returns how many files failed."""
    order = order_of(options)
    listed = items(options.files, options.output)
    folder = None if len(listed) == 1 and listed[0].output == options.output else options.output
    if options.report is not None and options.report.exists() and not options.force:
        raise InputError(f"{options.report} is there already; --force replaces it")
    with _progress(len(listed)) as (share, done):
        reports = bake_many(listed, order, folder, _runner(options, share), force=options.force, done=done)
    _print(reports)
    if options.report is not None:
        _write_report(options, reports)
    return sum(report["status"] == "failed" for report in reports)


# --- from words to an order ------------------------------------------------------------------------------------


def order_of(options: Options) -> Order:
    """What is asked for, with every file that it names read."""
    settings = Settings(
        lock_feet=options.lock_feet,
        at=numbers("--at", options.at, 2, 3),
        heading=None if options.heading is None else math.radians(options.heading),
        travel=options.travel,
        in_place=options.in_place,
        look_at=None if options.look_at is None else _point("--look-at", options.look_at),
        reach=dict(_reach(text) for text in options.reach),
        fps=options.fps,
        loops=options.loops,
        name=options.name,
    )
    plan = grounds.typed(options.ground, options.ground_size, options.ground_height)
    return Order(settings, plan, tuple(options.clip), _roles(options), _fingerprint(options))


def _point(name: str, text: str) -> MovingPoint:
    """A point that stays, or a file of one that moves."""
    if text.lower().endswith(".csv"):
        return MovingPoint.load(Path(text))
    return MovingPoint.fixed(numbers(name, text, 3))


def _reach(text: str) -> tuple[str, MovingPoint]:
    hand, equals, where = text.partition("=")
    if not equals or not hand:
        raise InputError(f"--reach is {text!r:.60}; expected HAND=X,Y,Z, as left_hand=0.4,1.2,0.5")
    return hand.removesuffix("_hand"), _point(f"--reach {hand}", where)


def _roles(options: Options) -> Overrides:
    """What is said of roles: the words go before the file."""
    said = Overrides() if options.roles is None else read_overrides(options.roles)
    for text in options.role:
        said = parse_override(text).over(said)
    return said


def _fingerprint(options: Options) -> str:
    """The same for the same order: every option that matters to the result, and what is in the files they name."""
    beside = ("files", "output", "jobs", "dask", "report", "force")
    asked = {name: value for name, value in asdict(options).items() if name not in beside}
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode())
    named = [options.ground, options.look_at, options.roles, *(text.partition("=")[2] for text in options.reach)]
    for path in (Path(text) for text in named if text):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


# --- the work --------------------------------------------------------------------------------------------------


def _runner(options: Options, share: Any) -> Runner:
    if options.dask is not None:
        return on_dask(options.dask)
    return one_by_one(share) if options.jobs == 1 else in_processes(options.jobs)


@contextmanager
def _progress(count: int) -> Iterator[tuple[Any, Any]]:
    """A bar on the terminal, if there is one. Gives two functions: one for the share of the file that is baked here,
    one for a file that is done.
    """
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn()
    finished = 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"0 of {count}", total=count)

        def share(part: float) -> None:
            bar.update(task, completed=finished + part)

        def done(report: dict[str, Any]) -> None:
            nonlocal finished
            finished += 1
            bar.update(task, completed=finished, description=f"{finished} of {count}")

        yield share, done


# --- what is said ----------------------------------------------------------------------------------------------


def _print(reports: list[dict[str, Any]]) -> None:
    """A table of each clip, on the screen; then what was skipped and what failed."""
    screen, errors = Console(), Console(stderr=True, style="red")
    for report in reports:
        for clip in report.get("clips", ()) if report["status"] == "baked" else ():
            screen.print(_table(report, clip))
        for doubt in (report.get("rig") or {}).get("doubts", ()) if report["status"] == "baked" else ():
            screen.print(f"  {report['file']}: {doubt}", markup=False, style="yellow")
    skipped = [report for report in reports if report["status"] == "skipped"]
    if skipped:
        screen.print(f"{len(skipped)} of {len(reports)} done before, skipped.")
    failed = [report for report in reports if report["status"] == "failed"]
    if failed:
        errors.print(f"{len(failed)} of {len(reports)} failed:")
        for report in failed:
            errors.print(f"  {report['file']}: {report['problem']}", markup=False)


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


def _write_report(options: Options, reports: list[dict[str, Any]]) -> None:
    assert options.report is not None
    asked = {name: value for name, value in asdict(options).items() if value not in (None, [], False)}
    made = {"format": FORMAT, "version": VERSION, "kinema": options.kinema, "options": asked, "files": reports}
    atomic.write(options.report, [json.dumps(made, indent=1, default=str).encode()])
