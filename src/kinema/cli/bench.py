"""`kinema bench`: its options. What they do is in `kinema.bench`, which is loaded when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinema.bench.sections import SECTIONS
from kinema.cli.loading import told


def bench(
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the figures go: a file, or a folder (then named after the machine)."),
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="SECTION", help=f"One of {', '.join(SECTIONS)}.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few repetitions: a look, not a measurement.")] = False,
) -> None:
    """Measure this machine, and the peers that are installed, in one run."""
    with told("bench"):
        from kinema.bench.run import run

        run(only, quick, json)
