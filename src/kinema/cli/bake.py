"""`kinema bake`: its options. What they do is in `kinema.bake`, which is loaded when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from kinema.cli.ground import Ground, GroundHeight, GroundSize

_WHERE, _WHAT, _HOW = "Where it is put", "What is done to it", "Many files"


def bake(
    files: Annotated[list[str], typer.Argument(help="Files (.glb .gltf .vrm .bvh), folders or patterns.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file, or a folder for the new files.")],
    clip: Annotated[
        list[str], typer.Option(help="Clips to bake: names or patterns, any number of times. The only one if not said.")
    ] = [],  # noqa: B006
    name: Annotated[str | None, typer.Option(help="Name of the new clip. '<clip> baked' if not said.")] = None,
    ground: Ground = None,
    ground_size: GroundSize = None,
    ground_height: GroundHeight = None,
    at: Annotated[
        str,
        typer.Option(
            metavar="X,Z|X,Y,Z", help="Where it starts; on the ground below Y, if that is said.", rich_help_panel=_WHERE
        ),
    ] = "0,0",
    heading: Annotated[
        float | None, typer.Option(help="Degrees from +Z towards +X that it faces at first.", rich_help_panel=_WHERE)
    ] = None,
    lock_feet: Annotated[
        bool, typer.Option("--lock-feet", help="Planted feet do not slide.", rich_help_panel=_WHAT)
    ] = False,
    travel: Annotated[
        bool | None,
        typer.Option(
            help="Move it by its planted feet. On a ground, clips that walk in place are, if not said.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Take its travel out.", rich_help_panel=_WHAT)] = False,
    look_at: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z|CSV", help="What head and eyes follow: a point, or rows t,x,y,z.", rich_help_panel=_WHAT
        ),
    ] = None,
    reach: Annotated[
        list[str],
        typer.Option(
            metavar="HAND=X,Y,Z|CSV", help="What a hand reaches for: left_hand=0.4,1.2,0.5.", rich_help_panel=_WHAT
        ),
    ] = [],  # noqa: B006
    loops: Annotated[int, typer.Option(help="How often the clip is repeated.", rich_help_panel=_WHAT)] = 1,
    fps: Annotated[
        float | None, typer.Option(help="Frames a second. The clip's own if not said.", rich_help_panel=_WHAT)
    ] = None,
    role: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE=JOINT,...",
            help="Which joint is what, where it is not found: leg.left=thigh_l,calf_l,foot_l.",
            rich_help_panel=_WHAT,
        ),
    ] = [],  # noqa: B006
    roles: Annotated[
        Path | None, typer.Option(help="A file of roles, as `kinema.roles` reads it.", rich_help_panel=_WHAT)
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes side by side.", rich_help_panel=_HOW)] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to work on.", rich_help_panel=_HOW)
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write all figures to this file, as JSON.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Put clips onto a ground, make hands reach and heads turn, and write them as new clips beside the old ones.

    Lengths are in the unit of the file. A file that is done is skipped when the same is asked again.
    """
    given = dict(locals())
    from kinema import __version__
    from kinema.bake.command import Options, run
    from kinema.errors import KinemaError

    try:
        failed = run(Options(kinema=__version__, **given))
    except KinemaError as wrong:
        _stop(str(wrong))
    except OSError as wrong:  # A path that the system will not even look at: too long, or not ours to see.
        _stop(f"{wrong.filename}: {wrong.strerror}")
    raise typer.Exit(1 if failed else 0)


def _stop(problem: str) -> NoReturn:
    typer.secho(f"kinema bake: {problem}", fg="red", err=True)
    raise typer.Exit(2) from None
