"""`kinema info`: what is in a file. The work is done in `kinema.info`, which is imported when the command runs."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from kinema.cli.conversion_offer import offer_conversion
from kinema.cli.errors import one_line_errors
from kinema.cli.options import RoleOptions, argument, option
from kinema.io.formats import READ

EXAMPLES = """kinema info person.glb
kinema info fox.glb --json
kinema info rig.glb --role head=Bip01_Head"""


@dataclass(frozen=True, kw_only=True)
class InfoOptions(RoleOptions):
    """The options of `kinema info`."""

    file: Path = argument(f"A character: {' '.join(READ)}.")
    json: bool = option("Print everything as JSON.", "--json", default=False)
    all: bool = option("List every joint and every problem.", "--all", default=False)


def info(options: InfoOptions) -> None:
    """Show what is in a file: joints and their roles, clips, skins, size, unit, problems.

    Uncertain roles are marked with a question mark. (+3) stands for three joints that no clip moves and no skin uses.
    """
    _run_uncompiled()
    with one_line_errors("info"):
        import numpy as np

        from kinema.info.facts import facts

        with np.errstate(all="ignore"):  # Kernels that run as plain Python would warn where compiled ones do not.
            file = offer_conversion(options.file)
            found = facts(options.load(file), file)
    if options.json:
        import json

        typer.echo(json.dumps(found, indent=2))
        return
    from rich.console import Console

    from kinema.info.report import report

    console = Console(highlight=False)
    console.print(report(found, options.all, console.width))


def _run_uncompiled() -> None:
    """Run kernels as plain Python in this process: for one look at one file, compiling takes longer than running.

    Does nothing if numba is imported already, and leaves the environment of child processes alone.
    """
    if "numba" in sys.modules or "NUMBA_DISABLE_JIT" in os.environ:
        return
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    try:
        import kinema.compile.numba_version  # noqa: F401  # Reads the variable once.
    finally:
        del os.environ["NUMBA_DISABLE_JIT"]
