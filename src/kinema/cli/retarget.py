"""`kinema retarget`: its options. The work is done in `kinema.cli.retarget_order` and `kinema.retargeting`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions
from kinema.cli.options import GroundOptions, RoleOptions, panel
from kinema.io.formats import READ

_clips, _motion, _roles = panel("Clips"), panel("Motion"), panel("Roles")

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
        list[str], _clips("Name or pattern of the clips; repeatable. Default: the only clip in the file.")
    ] = field(default_factory=list)
    name: Annotated[str | None, _clips("Name of the new clip. Default: that of the old one.")] = None
    fps: Annotated[float | None, _clips("Frames per second. Default: the clip's own.")] = None
    contacts: Annotated[bool, _motion("Keep standing feet on the floor.")] = True
    lock: Annotated[bool, _motion("Keep standing feet from sliding.")] = True
    hands: Annotated[float, _motion("0 to 1: how much hands that touch go on to touch, on another shape.")] = 0.0
    arm_space: Annotated[float, _motion("0 to 1: how much arms keep clear of a broader body.")] = 0.0
    mirror: Annotated[bool, _motion("Swap left and right.", "--mirror")] = False
    scale: Annotated[
        float | None, _motion("Length of the character per length of the motion. Default: the ratio of their legs.")
    ] = None
    facing: Annotated[float | None, _motion("Initial heading, degrees from +Z towards +X. Default: as captured.")] = (
        None
    )
    onto_role: Annotated[list[str], _roles("Like --role, for the character. Repeatable.", metavar="ROLE=JOINT,...")] = (
        field(default_factory=list)
    )
    onto_roles: Annotated[Path | None, _roles("A file with the character's roles.", metavar="TOML")] = None
    map: Annotated[Path | None, _roles("Joints that follow other ones than found; see --save-map.", metavar="TOML")] = (
        None
    )
    save_map: Annotated[Path | None, _roles("Write which joint follows which, to correct it.", metavar="TOML")] = None
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
