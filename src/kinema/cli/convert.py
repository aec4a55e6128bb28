"""`kinema convert`: its options. The work is done in `kinema.jobs.convert`, imported when the command runs."""

from dataclasses import dataclass
from typing import Any

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions, run_files
from kinema.cli.options import argument, option, panel
from kinema.io.formats import READ, WRITTEN

_clips, _space = panel("Clips"), panel("Space")

EXAMPLES = """kinema convert capture.bvh -o capture.glb
kinema convert person.glb -o walk.bvh --clip walk --fps 60
kinema convert captures/ -o converted/ --to glb --unit m --jobs 4"""


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(ManyFilesOptions):
    """The options of `kinema convert`, as they were typed."""

    files: list[str] = argument(f"Files ({' '.join(READ)}), folders or patterns.")
    to: str | None = option(
        "Format of the new files in a folder. Default: that of each file if it is written, else glb.",
        metavar="|".join(suffix[1:] for suffix in WRITTEN),
    )
    clip: list[str] = _clips(
        "Name or pattern of the clips to keep; repeatable. Default: all that the format holds.", default_factory=list
    )
    start: float | None = _clips("Second of the clips at which to begin.")
    end: float | None = _clips("Second of the clips at which to end.")
    fps: float | None = _clips("Frames per second. Default: the clips' own keys.")
    unit: str | None = _space(
        "Unit of the new file: m, cm, mm, dm, ft or in. That of the old one is estimated from the body."
    )
    up: str | None = _space("Direction of up in the new file.", metavar="y|z")


def convert(options: ConvertOptions) -> None:
    """Write characters and captures in another format: skins and clips to .glb, a skeleton and a clip to .bvh.

    Files that are done are skipped when you run the same command again.
    """
    with one_line_errors("convert"):
        from kinema import validation
        from kinema.constants import LONGEST_FRAME, SHORTEST_FRAME
        from kinema.io.formats import writer
        from kinema.jobs.convert import UPS, ConvertOrder
        from kinema.roles.unit import SYMBOLS

        if options.unit is not None:
            validation.choice("--unit", options.unit, SYMBOLS)
        if options.up is not None:
            validation.choice("--up", options.up, UPS)
        if options.fps is not None:
            validation.number("--fps", options.fps, 1 / LONGEST_FRAME, 1 / SHORTEST_FRAME)
        for name, value in (("--start", options.start), ("--end", options.end)):
            if value is not None:
                validation.number(name, value, 0.0)
        kind = None if options.to is None else writer(f".{options.to.lstrip('.')}").written
        order = ConvertOrder(
            clips=tuple(options.clip),
            start=options.start,
            end=options.end,
            fps=options.fps,
            unit=options.unit,
            up=options.up,
            fingerprint=options.fingerprint(()),
        )
        failed = run_files(options, options.files, order, _print_converted, kind)
    raise typer.Exit(FAILED if failed else 0)


def _print_converted(report: dict[str, Any]) -> None:
    from kinema.cli.file_reports import say

    clips = len(report["clips"])
    counted = f"{report['joints']} joints, {clips} {'clip' if clips == 1 else 'clips'}, {report['skins']} skins"
    say(f"{report['file']}: {counted}, written to {report['output']}")
