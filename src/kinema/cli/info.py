"""`kinema info`: its options. What it tells is in `kinema.info`, which is loaded when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinema.cli.loading import loaded, told


def info(
    file: Annotated[Path, typer.Argument(help="A character: .glb .gltf .vrm .bvh.")],
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON, for programs.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every joint and every problem.")] = False,
    roles: Annotated[Path | None, typer.Option(help="A file that says which joint is what.")] = None,
    role: Annotated[list[str], typer.Option(metavar="ROLE=JOINT", help="One such role, in words.")] = [],  # noqa: B006
) -> None:
    """Say what is in a file: joints and what they are, clips, skins, size and unit, problems.

    Roles marked with a question mark are doubtful. (+3) stands for joints that no clip moves and no skin follows.
    """
    with told("info"):
        from kinema.info.facts import facts

        found = facts(loaded(file, roles, role), file)
    if as_json:
        import json

        typer.echo(json.dumps(found, indent=2))
        return
    from rich.console import Console

    from kinema.info.report import report

    console = Console(highlight=False)
    console.print(report(found, everything, console.width))
