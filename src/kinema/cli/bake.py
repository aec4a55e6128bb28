"""`kinema bake`: its options. The work is done in `kinema.cli.bake_order` and `kinema.bake`, imported when it runs."""

from dataclasses import dataclass

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions
from kinema.cli.options import GroundOptions, RoleOptions, argument, panel
from kinema.io.formats import READ

_clips, _start, _changes = panel("Clips"), panel("Start"), panel("Changes")

EXAMPLES = """kinema bake person.glb -o out.glb --clip walk --ground stairs.glb --loops 4
kinema bake person.glb -o out.glb --clip idle --look-at 1,1.6,2 --reach left_hand=0.3,1.1,0.4
kinema bake person.glb -o out.glb --clip idle --pull left_hand=0.6,0.4,0.7 --pin left_foot --pin right_foot
kinema bake captures/ -o clean/ --lock-feet --jobs 4 --report figures.json"""


@dataclass(frozen=True, kw_only=True)
class BakeOptions(GroundOptions, RoleOptions, ManyFilesOptions):
    """The options of `kinema bake`, as they were typed."""

    files: list[str] = argument(f"Files ({' '.join(READ)}), folders or patterns.")
    clip: list[str] = _clips(
        "Name or pattern of the clips to bake; repeatable. Default: the only clip in the file.", default_factory=list
    )
    name: str | None = _clips("Name of the new clip. Default: '<clip> baked'.")
    loops: int = _clips("Number of times to repeat the clip.", default=1)
    fps: float | None = _clips("Frames per second. Default: the clip's own.")
    start: float | None = _clips("Second of the clip at which to begin.")
    end: float | None = _clips("Second of the clip at which to end.")
    at: str = _start(
        "Where the origin of the clip is put; with Y, on the ground below that height.",
        metavar="X,Z|X,Y,Z",
        default="0,0",
    )
    heading: float | None = _start(
        "Initial heading, degrees from +Z towards +X. Default: 0 on slopes and stairs, else that of the clip."
    )
    lock_feet: bool = _changes("Keep planted feet from sliding.", "--lock-feet", default=False)
    travel: bool | None = _changes(
        "Move the character by its planted feet. Default: if it is on a ground and the clip walks in place."
    )
    in_place: bool = _changes("Remove the travel.", "--in-place", default=False)
    keep_strides: bool = _changes(
        "Keep the length of strides on slopes and stairs. Default: people take shorter ones, and lean.",
        "--keep-strides",
        default=False,
    )
    look_at: str | None = _changes("Target of head and eyes: a point, or a file of rows t,x,y,z.", metavar="X,Y,Z|CSV")
    reach: list[str] = _changes(
        "Target of a hand or foot: left_hand=0.4,1.2,0.5. Only the limb moves. Once per limb.",
        metavar="ROLE=X,Y,Z|CSV",
        default_factory=list,
    )
    pull: list[str] = _changes(
        "Pull a part, such as left_hand, head or hips; the whole body follows. Once per part.",
        metavar="ROLE=X,Y,Z|CSV",
        default_factory=list,
    )
    pin: list[str] = _changes(
        "Keep a part, such as left_foot, where the clip has it while others are pulled; repeatable.",
        metavar="ROLE",
        default_factory=list,
    )


def bake(options: BakeOptions) -> None:
    """Adapt clips to a ground, to targets for the body, head and eyes, and add them to the file as new clips.

    Lengths are in the unit of the file. Files that are done are skipped when you run the same command again.
    """
    with one_line_errors("bake"):
        from kinema.cli.bake_order import run

        failed = run(options)
    raise typer.Exit(FAILED if failed else 0)
