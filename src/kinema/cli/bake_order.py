"""`kinema bake`: convert options to an order and carry it out."""

import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from kinema.bake.job import BakeOrder
from kinema.bake.report import rows
from kinema.bake.settings import BakeSettings, MovingPoint
from kinema.cli.bake import BakeOptions
from kinema.cli.file_reports import say
from kinema.cli.many_files import run_files
from kinema.cli.options import parse_numbers
from kinema.errors import InputError
from kinema.io.files import load
from kinema.jobs.order import choose_clips

SHORTER = 0.97
"""Share of the clip's way below which it is said that strides are shorter."""


def run(options: BakeOptions) -> int:
    """Run the command. Returns how many of several files failed; raises the problem of an only file."""
    order = order_of(options)
    _check_something_asked(options)
    return run_files(options, options.files, order, print_baked)


def _check_something_asked(options: BakeOptions) -> None:
    moved = options.ground or options.lock_feet or options.travel or options.in_place or options.at != "0,0"
    timed = options.fps is not None or options.loops != 1 or options.start is not None or options.end is not None
    aimed = options.look_at or options.reach or options.pull or options.pin
    if not (moved or timed or aimed or options.heading is not None):
        file = Path(options.files[0])
        if options.clip and file.is_file():  # A mistake in --clip says more than that no change is asked for.
            choose_clips(load(file, rig=False), options.clip)
        raise InputError(
            "no change is asked for; give at least one of --ground, --lock-feet, --look-at, --reach, --pull, --travel, "
            "--in-place, --at, --heading, --loops, --fps, --start, --end"
        )


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
    targets = [text.partition("=")[2] for text in (*options.reach, *options.pull)]
    named = [options.ground, options.look_at, options.roles, *targets]
    return BakeOrder(
        settings=settings,
        ground=options.parsed_ground(),
        clips=tuple(options.clip),
        roles=options.overrides(),
        fingerprint=options.fingerprint(named),
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


def print_baked(report: dict[str, Any]) -> None:
    """Print what became of a file that was baked."""
    unit = (report["rig"] or {}).get("unit", "units")
    for clip in report["clips"]:
        table = Table(title=f"{report['file']}: {clip['clip']} → {clip['name']}", title_justify="left")
        table.add_column("lengths in % of a leg")
        table.add_column("before", justify="right")
        table.add_column("after", justify="right")
        for row in rows(clip):
            table.add_row(*row)
        Console().print(table)
        strides = f", strides {clip['strides']:.0%} as long as in the clip" if clip["strides"] < SHORTER else ""
        made = f"{clip['frames']} frames at {clip['fps']:g} fps{_walked(clip, unit)}{strides}"
        for note in (made, *clip["problems"]):
            say(f"  {note}")
    for doubt in (report["rig"] or {}).get("doubts", ()):
        say(f"  {report['file']}: {doubt}", "yellow")
    say(f"written to {report['output']}")


def _walked(clip: dict[str, Any], unit: str) -> str:
    """What happens to a clip whose feet slide back under a body that stays."""
    if not clip["in_place"]:
        return ""
    speed = f"{clip['feet_speed']:.3g} {unit} per second"
    return f", moves at {speed} by its planted feet" if clip["travels"] else f", walks in place at {speed}"
