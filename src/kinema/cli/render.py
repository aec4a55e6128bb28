"""`kinema render`: pictures and films. The work is done in `kinema.render`, imported when the command runs."""

from dataclasses import MISSING, dataclass
from pathlib import Path

import typer

from kinema.cli.conversion_offer import offer_conversion
from kinema.cli.errors import one_line_errors
from kinema.cli.options import GroundOptions, RoleOptions, argument, option, panel
from kinema.io.formats import READ

_what, _look = panel("What to draw"), panel("Appearance")

VIEWS, SHOWN, THEMES = ["three-quarter", "front", "side", "back", "top"], ["bones", "skin", "both"], ["light", "dark"]

EXAMPLES = """kinema render person.glb -o walk.png --clip walk --strip 7
kinema render spider.glb -o walk.gif --clip walk --theme dark
kinema render fox.glb -o run.mp4 --clip run --fps 60
kinema render person.glb -o clips.png --sheet 6
kinema render fox.glb -o fox.png --clip run --time 0.3 --show both"""


@dataclass(frozen=True, kw_only=True)
class RenderOptions(GroundOptions, RoleOptions):
    """The options of `kinema render`."""

    file: Path = argument(f"A character: {' '.join(READ)}.")
    output: Path = option(
        "The new file: a picture (.png) or a film (.gif, .mp4, .webm).", "--output", "-o", default=MISSING
    )
    clip: str | None = _what("Name of the clip. Default: the first.")
    time: str | None = _what("Seconds: a moment or a range.", metavar="T|FROM:TO")
    strip: int | None = _what("Draw N poses in one picture.", metavar="N")
    sheet: int | None = _what("Draw N moments of each clip, a row for each, or of --clip.", metavar="N")
    fps: float = _what("Frames per second of a film.", default=25.0)
    show: str = _look(
        "Bones, skin, or bones through the skin.", metavar="|".join(SHOWN), autocompletion=SHOWN.copy, default="bones"
    )
    view: str | None = _look(
        f"{', '.join(VIEWS)}; or degrees from the front towards its right, and upwards.",
        metavar="NAME|AZ,EL",
        autocompletion=VIEWS.copy,
    )
    size: str | None = _look(
        "Pixels. Default: 640x480; film 480x360, strip 960 wide, one of a sheet 160x120.", metavar="WxH"
    )
    theme: str = _look("Colours.", metavar="|".join(THEMES), autocompletion=THEMES.copy, default="light")
    force: bool = option("Replace an existing file.", "--force", default=False)


def render(options: RenderOptions) -> None:
    """Draw a character without a browser: a picture, a strip of poses, a sheet of all clips, or a film of a clip.

    Left limbs are orange and right limbs blue, where the sides are known.
    """
    with one_line_errors("render"):
        from kinema.bake.grounds import build_for
        from kinema.render import files
        from kinema.render.look import Look

        character = options.load(offer_conversion(options.file))
        ground = options.parsed_ground()
        look = Look(
            view=None if options.view is None else files.view(options.view),
            size=None if options.size is None else files.size(options.size),
            theme=options.theme,
            show=options.show,
            ground=None if ground is None else build_for(ground, character.rig)[1],
        )
        drawn = files.render(
            character,
            options.output,
            look,
            clip=options.clip,
            time=options.time,
            poses=options.strip,
            moments=options.sheet,
            fps=options.fps,
            force=options.force,
        )
    typer.echo(drawn)
