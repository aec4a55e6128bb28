"""`kinema bake`: its options. The work is done in `kinema.cli.bake_order` and `kinema.bake`, imported when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions
from kinema.cli.options import GroundOptions, RoleOptions
from kinema.io.formats import READ

_CLIPS, _START, _CHANGES = "Clips", "Start", "Changes"

EXAMPLES = """Examples:

kinema bake person.glb -o out.glb --clip walk --ground stairs.glb --loops 4

kinema bake person.glb -o out.glb --clip idle --look-at 1,1.6,2 --reach left_hand=0.3,1.1,0.4

kinema bake person.glb -o out.glb --clip idle --pull left_hand=0.6,0.4,0.7 --pin left_foot --pin right_foot

kinema bake captures/ -o clean/ --lock-feet --jobs 4 --report figures.json"""


@dataclass(frozen=True, kw_only=True)
class BakeOptions(GroundOptions, RoleOptions, ManyFilesOptions):
    """The options of `kinema bake`, as they were typed."""

    files: Annotated[list[str], typer.Argument(help=f"Files ({' '.join(READ)}), folders or patterns.")]
    clip: Annotated[
        list[str],
        typer.Option(
            help="Name or pattern of the clips to bake; repeatable. Default: the only clip in the file.",
            rich_help_panel=_CLIPS,
        ),
    ] = field(default_factory=list)
    name: Annotated[
        str | None, typer.Option(help="Name of the new clip. Default: '<clip> baked'.", rich_help_panel=_CLIPS)
    ] = None
    loops: Annotated[int, typer.Option(help="Number of times to repeat the clip.", rich_help_panel=_CLIPS)] = 1
    fps: Annotated[
        float | None, typer.Option(help="Frames per second. Default: the clip's own.", rich_help_panel=_CLIPS)
    ] = None
    start: Annotated[
        float | None, typer.Option(help="Second of the clip at which to begin.", rich_help_panel=_CLIPS)
    ] = None
    end: Annotated[float | None, typer.Option(help="Second of the clip at which to end.", rich_help_panel=_CLIPS)] = (
        None
    )
    at: Annotated[
        str,
        typer.Option(
            metavar="X,Z|X,Y,Z",
            help="Where the origin of the clip is put; with Y, on the ground below that height.",
            rich_help_panel=_START,
        ),
    ] = "0,0"
    heading: Annotated[
        float | None,
        typer.Option(
            help="Initial heading, degrees from +Z towards +X. Default: 0 on slopes and stairs, else that of the clip.",
            rich_help_panel=_START,
        ),
    ] = None
    lock_feet: Annotated[
        bool, typer.Option("--lock-feet", help="Keep planted feet from sliding.", rich_help_panel=_CHANGES)
    ] = False
    travel: Annotated[
        bool | None,
        typer.Option(
            help="Move the character by its planted feet. Default: if it is on a ground and the clip walks in place.",
            rich_help_panel=_CHANGES,
        ),
    ] = None
    in_place: Annotated[bool, typer.Option("--in-place", help="Remove the travel.", rich_help_panel=_CHANGES)] = False
    keep_strides: Annotated[
        bool,
        typer.Option(
            "--keep-strides",
            help="Keep the length of strides on slopes and stairs. Default: people take shorter ones, and lean.",
            rich_help_panel=_CHANGES,
        ),
    ] = False
    look_at: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z|CSV",
            help="Target of head and eyes: a point, or a file of rows t,x,y,z.",
            rich_help_panel=_CHANGES,
        ),
    ] = None
    reach: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE=X,Y,Z|CSV",
            help="Target of a hand or foot: left_hand=0.4,1.2,0.5. Only the limb moves. Once per limb.",
            rich_help_panel=_CHANGES,
        ),
    ] = field(default_factory=list)
    pull: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE=X,Y,Z|CSV",
            help="Pull a part, such as left_hand, head or hips; the whole body follows. Once per part.",
            rich_help_panel=_CHANGES,
        ),
    ] = field(default_factory=list)
    pin: Annotated[
        list[str],
        typer.Option(
            metavar="ROLE",
            help="Keep a part, such as left_foot, where the clip has it while others are pulled; repeatable.",
            rich_help_panel=_CHANGES,
        ),
    ] = field(default_factory=list)


def bake(options: BakeOptions) -> None:
    """Adapt clips to a ground, to targets for the body, head and eyes, and add them to the file as new clips.

    Lengths are in the unit of the file. Files that are done are skipped when you run the same command again.
    """
    with one_line_errors("bake"):
        from kinema.cli.bake_order import run

        failed = run(options)
    raise typer.Exit(FAILED if failed else 0)
