"""`kinema retarget`: its options. The work is done in `kinema.cli.retarget_order` and `kinema.retargeting`."""

from dataclasses import MISSING, dataclass
from pathlib import Path

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions
from kinema.cli.options import GroundOptions, RoleOptions, argument, option, panel
from kinema.io.formats import READ

_clips, _motion, _roles = panel("Clips"), panel("Motion"), panel("Roles")

FLOORS = ("auto", "keep", "level")
"""What `--ground` takes besides a ground."""

EXAMPLES = """kinema retarget walk.bvh --onto hero.glb -o hero_walks.glb
kinema retarget walk.bvh --onto hero.glb -o climbs.glb --ground stairs:0.17,0.29,8 --ground-unit m
kinema retarget captures/ --onto hero.glb -o hero/ --jobs 4 --report figures.json
kinema retarget dance.bvh --onto hero.glb -o dance.glb --strip compare.png"""


@dataclass(frozen=True, kw_only=True)
class RetargetOptions(GroundOptions, RoleOptions, ManyFilesOptions):
    """The options of `kinema retarget`, as they were typed."""

    files: list[str] = argument(f"Motions ({' '.join(READ)}), folders or patterns.")
    onto: Path = option("The character that is to move.", default=MISSING)
    clip: list[str] = _clips(
        "Name or pattern of the clips; repeatable. Default: the only clip in the file.", default_factory=list
    )
    name: str | None = _clips("Name of the new clip. Default: that of the old one.")
    fps: float | None = _clips("Frames per second. Default: the clip's own.")
    contacts: bool = _motion("Keep standing feet on the floor.", default=True)
    lock: bool = _motion("Keep standing feet from sliding.", default=True)
    hands: float = _motion("0 to 1: how much hands that touch go on to touch, on another shape.", default=0.0)
    arm_space: float = _motion("0 to 1: how much arms keep clear of a broader body.", default=0.0)
    mirror: bool = _motion("Swap left and right.", "--mirror", default=False)
    scale: float | None = _motion("Length of the character per length of the motion. Default: the ratio of their legs.")
    facing: float | None = _motion(
        "Initial heading, degrees from +Z towards +X. Default: 0 on slopes and stairs, else as captured.",
        "--facing",
        "--heading",
    )
    at: str = _motion(
        "Where the origin of the motion is put, in the unit of the character's file; with Y, on the ground below that "
        "height.",
        metavar="X,Z|X,Y,Z",
        default="0,0",
    )
    onto_role: list[str] = _roles(
        "Like --role, for the character. Repeatable.", metavar="ROLE=JOINT,...", default_factory=list
    )
    onto_roles: Path | None = _roles("A file with the character's roles.", metavar="TOML")
    map: Path | None = _roles("Joints that follow other ones than found; see --save-map.", metavar="TOML")
    save_map: Path | None = _roles("Write which joint follows which, to correct it.", metavar="TOML")
    strip: Path | None = option("Draw the motion and the result, one below the other.", metavar="PNG")


def retarget(options: RetargetOptions) -> None:
    """Move motions onto a character: any body onto any body with as many legs. Adds them to the character's file.

    `--ground` takes a ground to bake the result onto, or auto, keep or level: what becomes of the heights of footholds.
    """
    with one_line_errors("retarget"):
        from kinema.cli.retarget_order import run

        failed = run(options)
    raise typer.Exit(FAILED if failed else 0)
