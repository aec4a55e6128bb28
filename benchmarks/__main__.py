"""The command line of the benchmarks: `python -m benchmarks`, which is also `kinema bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.sections import SECTIONS
from kinema.cli.bench import EXAMPLES
from kinema.cli.errors import one_line_errors

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXAMPLES,
)


@app.command()
def bench(
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the figures to a file, or into a folder (named after the machine)."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="SECTION", help=f"One of {', '.join(SECTIONS)}."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Draw how cost grows with bones, chains, characters and threads, instead (needs Matplotlib).",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repetitions: a rough look.")] = False,
) -> None:
    """Measure the speed of this machine and of the installed peer libraries, in one run."""
    with one_line_errors("bench"):
        from benchmarks.run import draw, run

        if plot is not None:
            draw(plot, quick)
        else:
            run(only, quick, json)


if __name__ == "__main__":
    app(prog_name="kinema bench")
