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

from kinema.bake import grounds
from kinema.bake.cluster import on_dask
from kinema.bake.job import Order
from kinema.bake.listing import items
from kinema.bake.many import Runner, bake_many, in_processes, one_by_one
from kinema.bake.moving_point import MovingPoint
from kinema.bake.report_file import ReportFile
from kinema.bake.settings import Settings
from kinema.bake.telling import tell
from kinema.bake.words import numbers
from kinema.errors import InputError
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
    """All of the command. Returns how many of several files failed; raises what is wrong with an only one."""
    order = order_of(options)
    _check_something_asked(options)
    listed = items(options.files, options.output)
    folder = None if len(listed) == 1 and listed[0].output == options.output else options.output
    figures = None if options.report is None else ReportFile(options.report, order.fingerprint, force=options.force)
    with _progress(len(listed)) as (share, done):
        reports = bake_many(listed, order, folder, _runner(options, share), force=options.force, done=done)
    tell(reports)
    if figures is not None:
        asked = {name: value for name, value in asdict(options).items() if value not in (None, [], False)}
        figures.write(reports, options.kinema, asked)
    failed = [report for report in reports if report["status"] == "failed"]
    if failed and len(reports) == 1:
        raise InputError(f"{failed[0]['file']}: {failed[0]['problem']}")
    return len(failed)


def _check_something_asked(options: Options) -> None:
    moved = options.ground or options.lock_feet or options.travel or options.in_place or options.at != "0,0"
    timed = options.fps is not None or options.loops != 1
    if not (moved or timed or options.look_at or options.reach or options.heading is not None):
        raise InputError(
            "nothing is asked for; say what to do: --ground, --lock-feet, --look-at, --reach, --travel, --in-place"
        )


# --- from words to an order ------------------------------------------------------------------------------------


def order_of(options: Options) -> Order:
    """What is asked for, with every file that it names read."""
    settings = Settings(
        lock_feet=options.lock_feet,
        at=numbers("--at", options.at, 2, 3),
        heading=_heading(options.heading),
        travel=options.travel,
        in_place=options.in_place,
        look_at=None if options.look_at is None else _point("--look-at", options.look_at),
        reach=_reach(options.reach),
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


def _heading(degrees: float | None) -> float | None:
    """Radians, of as many turns as one likes."""
    if degrees is None:
        return None
    if not math.isfinite(degrees):
        raise InputError(f"--heading is {degrees}; expected degrees, as 90")
    return math.radians(math.fmod(degrees, 360.0))


def _reach(texts: list[str]) -> dict[str, MovingPoint]:
    """What each hand is to reach for, by the name of its arm."""
    found: dict[str, MovingPoint] = {}
    for text in texts:
        hand, equals, where = text.partition("=")
        if not equals or not hand:
            raise InputError(f"--reach is {text!r:.60}; expected HAND=X,Y,Z, as left_hand=0.4,1.2,0.5")
        arm = hand.removesuffix("_hand")
        if arm in found:
            raise InputError(f"--reach names {hand} twice; a hand reaches for one thing, which may move: HAND=way.csv")
        found[arm] = _point(f"--reach {hand}", where)
    return found


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
