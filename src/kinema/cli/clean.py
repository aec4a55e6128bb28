"""`kinema clean`: its options, and how results are printed. The work is done in `kinema.retargeting.clean_job`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions, run_files
from kinema.cli.options import RoleOptions, argument, option, panel
from kinema.io.formats import READ, WRITTEN

_clips, _motion = panel("Clips"), panel("Motion")

NOWHERE = Path("-")
"""The output of a command that writes none."""

EXAMPLES = """kinema clean capture.bvh -o clean.bvh
kinema clean hero.glb -o hero_clean.glb --clip "Walk*"
kinema clean generated/ -o clean/ --jobs 4 --report figures.json
kinema clean captures/ --check"""


@dataclass(frozen=True, kw_only=True)
class CleanOptions(RoleOptions, ManyFilesOptions):
    """The options of `kinema clean`, as they were typed."""

    files: list[str] = argument(f"Motions ({' '.join(READ)}), folders or patterns.")
    output: Path = option(
        f"The new file ({' '.join(WRITTEN)}), or a folder. Not with --check.",
        "--output",
        "-o",
        show_default=False,
        default=NOWHERE,
    )
    check: bool = option(
        "Only say what is wrong; exit status 1 if something is above its limit.", "--check", default=False
    )
    json: bool = option("Print the figures as JSON.", "--json", default=False)
    clip: list[str] = _clips("Name or pattern of the clips; repeatable. Default: all.", default_factory=list)
    beside: bool = _clips("Keep the old clips; new ones are called 'NAME clean'.", "--beside", default=False)
    floor: str = _motion("Bring feet to one level floor.", metavar="level|keep", default="level")
    lock: bool = _motion("Keep standing feet in place.", default=True)
    repair: bool = _motion("Take out pops, noise and poses of calibration.", default=True)
    loop: bool | None = _motion("Close the seam of loops. Default: where feet end as they begin.")


def clean(options: CleanOptions) -> None:
    """Take sliding, hovering and sinking feet, drift, pops and open seams out of motions.

    In a glTF file, clean clips take the places of the old ones; the rest of the file stays as it is.
    """
    with one_line_errors("clean"):
        from kinema import validation
        from kinema.errors import InputError
        from kinema.retargeting.clean import FLOORS
        from kinema.retargeting.clean_job import CheckOrder, CleanOrder

        validation.choice("--floor", options.floor, FLOORS)
        if options.check and options.output != NOWHERE:
            raise InputError("--check writes nothing; leave out --output")
        if not options.check and options.output == NOWHERE:
            raise InputError("give --output, or --check to look only")
        order = (CheckOrder if options.check else CleanOrder)(
            settings={name: getattr(options, name) for name in ("floor", "lock", "repair", "loop")},
            clips=tuple(options.clip),
            beside=options.beside,
            roles=options.overrides(),
            fingerprint=options.fingerprint([options.roles]),
        )
        seen: list[dict[str, Any]] = []
        failed = run_files(options, options.files, order, seen.append)
        if options.json:
            typer.echo(json.dumps(seen, indent=1))
        else:
            for report in seen:
                _print(report)
        wrong = any(clip.get("wrong") for report in seen for clip in report["clips"])
    raise typer.Exit(FAILED if failed or wrong else 0)


def _print(report: dict[str, Any]) -> None:
    """Print a table of the faults of a file's clips: before and after, or found and allowed."""
    from rich.console import Console
    from rich.table import Table

    from kinema.cli.file_reports import say
    from kinema.retargeting.clean import LIMITS, Fault, amount_of

    checked = "limits" in report
    table = Table(title=report["file"], title_justify="left")
    for column in ("clip", "fault", *(("found", "at", "limit") if checked else ("before", "after"))):
        table.add_column(column)
    for clip in report["clips"]:
        before = clip["faults"] if checked else clip["before"]
        for name in (name for name, fault in before.items() if fault["amount"] > LIMITS[name]):
            shown = amount_of(name, Fault(**before[name]))
            if checked:
                limit = amount_of(name, Fault(LIMITS[name], 0.0))
                table.add_row(clip["clip"], name, shown, f"{before[name]['at']:.2f} s", limit)
            else:
                table.add_row(clip["clip"], name, shown, amount_of(name, Fault(**clip["after"][name])))
    if table.row_count:
        Console().print(table)
    else:
        say(f"{report['file']}: nothing is wrong")
    for clip in report["clips"]:
        for warning in clip.get("warnings", ()):
            say(f"  {clip['clip']}: {warning}", "yellow")
    if not checked:
        say(f"written to {report['output']}")
