"""`kinema bench`: measure this machine. The work is done in `kinema.bench`, imported when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinema.bench.sections import SECTIONS
from kinema.cli.errors import one_line_errors

EXAMPLES = """Examples:

kinema bench --quick --only chains

kinema bench --json results/

kinema bench --plot pictures/"""


def bench(
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the figures to a file, or into a folder (named after the machine)."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="SECTION", help=f"One of {', '.join(SECTIONS)}.", autocompletion=lambda: list(SECTIONS)),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Draw how cost grows with bones, chains, characters and threads, instead (needs kinema[plot]).",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repetitions: a rough look.")] = False,
) -> None:
    """Measure the speed of this machine and of the installed peer libraries, in one run."""
    with one_line_errors("bench"):
        from kinema.bench.run import draw, run

        if plot is not None:
            draw(plot, quick)
        else:
            run(only, quick, json)
