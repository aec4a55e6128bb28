"""`kinema retarget`: its options. The work is done in `kinema.cli.retarget_order` and `kinema.retargeting`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions
from kinema.cli.options import GroundOptions, RoleOptions
from kinema.io.formats import READ

_CLIPS, _MOTION, _ROLES = "Clips", "Motion", "Roles"

FLOORS = ("auto", "keep", "level")
"""What `--ground` takes besides a ground."""

EXAMPLES = """Examples:

kinema retarget walk.bvh --onto hero.glb -o hero_walks.glb

kinema retarget walk.bvh --onto hero.glb -o climbs.glb --ground stairs:0.17,0.29,8 --ground-unit m

kinema retarget captures/ --onto hero.glb -o hero/ --jobs 4 --report figures.json

kinema retarget dance.bvh --onto hero.glb -o dance.glb --strip compare.png"""


@dataclass(frozen=True, kw_only=True)
class RetargetOptions(GroundOptions, RoleOptions, ManyFilesOptions):
    """The options of `kinema retarget`, as they were typed."""

    files: Annotated[list[str], typer.Argument(help=f"Motions ({' '.join(READ)}), folders or patterns.")]
    onto: Annotated[Path, typer.Option(help="The character that is to move.")]
    clip: Annotated[
        list[str],
        typer.Option(
            help="Name or pattern of the clips; repeatable. Default: the only clip in the file.", rich_help_panel=_CLIPS
        ),
    ] = field(default_factory=list)
    name: Annotated[
        str | None, typer.Option(help="Name of the new clip. Default: that of the old one.", rich_help_panel=_CLIPS)
    ] = None
    fps: Annotated[
        float | None, typer.Option(help="Frames per second. Default: the clip's own.", rich_help_panel=_CLIPS)
    ] = None
    contacts: Annotated[bool, typer.Option(help="Keep standing feet on the floor.", rich_help_panel=_MOTION)] = True
    lock: Annotated[bool, typer.Option(help="Keep standing feet from sliding.", rich_help_panel=_MOTION)] = True
    hands: Annotated[
        float,
        typer.Option(
            help="0 to 1: how much hands that touch go on to touch, on another shape.", rich_help_panel=_MOTION
        ),
    ] = 0.0
    arm_space: Annotated[
        float, typer.Option(help="0 to 1: how much arms keep clear of a broader body.", rich_help_panel=_MOTION)
    ] = 0.0
    mirror: Annotated[bool, typer.Option("--mirror", help="Swap left and right.", rich_help_panel=_MOTION)] = False
    scale: Annotated[
        float | None,
        typer.Option(
            help="Length of the character per length of the motion. Default: the ratio of their legs.",
            rich_help_panel=_MOTION,
        ),
    ] = None
    facing: Annotated[
        float | None,
        typer.Option(
            help="Initial heading, degrees from +Z towards +X. Default: as captured.", rich_help_panel=_MOTION
        ),
    ] = None
    onto_role: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE=JOINT,...", help="Like --role, for the character. Repeatable.", rich_help_panel=_ROLES
        ),
    ] = field(default_factory=list)
    onto_roles: Annotated[
        Path | None, typer.Option(metavar="TOML", help="A file with the character's roles.", rich_help_panel=_ROLES)
    ] = None
    map: Annotated[
        Path | None,
        typer.Option(
            metavar="TOML",
            help="Joints that follow other ones than found; see --save-map.",
            rich_help_panel=_ROLES,
        ),
    ] = None
    save_map: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help="Write which joint follows which, to correct it.", rich_help_panel=_ROLES),
    ] = None
    strip: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the motion and the result, one below the other.")
    ] = None


def retarget(options: RetargetOptions) -> None:
    """Move motions onto a character: any body onto any body with as many legs. Adds them to the character's file.

    `--ground` takes a ground to bake the result onto, or auto, keep or level: what becomes of the heights of footholds.
    """
    with one_line_errors("retarget"):
        from kinema.cli.retarget_order import run

        failed = run(options)
    raise typer.Exit(FAILED if failed else 0)
