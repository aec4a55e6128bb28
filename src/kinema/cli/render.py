"""`kinema render`: its options. What they do is in `kinema.render`, which is loaded when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinema.cli.ground import Ground, GroundHeight, GroundSize
from kinema.cli.loading import loaded, told

_WHEN, _LOOK = "What is drawn", "How it looks"


def render(
    file: Annotated[Path, typer.Argument(help="A character: .glb .gltf .vrm .bvh.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file: a picture (.png) or a film (.gif).")],
    clip: Annotated[str | None, typer.Option(help="The clip, by name. The first if not said.")] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="T|FROM:TO", help="Seconds: a moment, or a part of the clip.", rich_help_panel=_WHEN),
    ] = None,
    strip: Annotated[
        int | None, typer.Option(metavar="N", help="So many poses in one picture.", rich_help_panel=_WHEN)
    ] = None,
    fps: Annotated[float, typer.Option(help="Frames a second of a film.", rich_help_panel=_WHEN)] = 25.0,
    show: Annotated[
        str,
        typer.Option(metavar="bones|skin|both", help="Bones, skin, or bones through the skin.", rich_help_panel=_LOOK),
    ] = "bones",
    view: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|AZ,EL",
            help="three-quarter, front, side, back, top; or degrees from the front round to its right, and upwards.",
            rich_help_panel=_LOOK,
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="WxH", help="Pixels. If not said 640x480; a film 480x360, a strip 960 wide.", rich_help_panel=_LOOK
        ),
    ] = None,
    theme: Annotated[str, typer.Option(metavar="light|dark", help="Colours.", rich_help_panel=_LOOK)] = "light",
    ground: Ground = None,
    ground_size: GroundSize = None,
    ground_height: GroundHeight = None,
    roles: Annotated[Path | None, typer.Option(help="A file that says which joint is what.")] = None,
    role: Annotated[list[str], typer.Option(metavar="ROLE=JOINT", help="One such role, in words.")] = [],  # noqa: B006
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Draw a character without a browser: a picture, a strip of poses, or a film of a clip.

    Left limbs are orange, right ones blue, where it is known which is which.
    """
    with told("render"):
        from kinema.bake.grounds import typed
        from kinema.render import files
        from kinema.render.look import Look

        character = loaded(file, roles, role)
        plan = typed(ground, ground_size, ground_height)
        look = Look(
            view=None if view is None else files.view(view),
            size=None if size is None else files.size(size),
            theme=theme,
            show=show,
            ground=None if plan is None else plan.build(*([character.rig.up] if character.rig else [])),
        )
        said = files.render(character, output, look, clip=clip, time=time, poses=strip, fps=fps, force=force)
    typer.echo(said)
