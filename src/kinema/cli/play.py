"""`kinema play`: open the playground. The server is imported when the command runs."""

import os
import sys
from typing import Annotated

import typer

from kinema.cli.errors import one_line_errors

SCENES = {
    "character": "a character on uneven ground, or one from your own file",
    "creature": "a creature that steps without a clip",
    "planar": "limbs in the plane",
    "arm": "an arm that sorts balls",
    "crowd": "many characters at once",
    "lab": "all solvers on the same problem",
}
"""The scenes, and what they show."""

EXAMPLES = """kinema play --list
kinema play character --port 9000 --no-browser"""


def play(
    scene: Annotated[
        str, typer.Argument(help=f"The scene to open first: {', '.join(SCENES)}.", autocompletion=lambda: list(SCENES))
    ] = "character",
    host: Annotated[
        str, typer.Option(help="Address to listen on. Other machines can reach anything but loopback.")
    ] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port; if it is taken, the next free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    show: Annotated[bool, typer.Option("--list", help="List the scenes and exit.")] = False,
) -> None:
    """Open the interactive playground in the browser."""
    if show:
        width = max(map(len, SCENES))
        for name, content in SCENES.items():
            typer.echo(f"{name:{width}}  {content}")
        return
    from kinema.errors import InputError
    from kinema.playground.requirements import require

    with one_line_errors("play"):
        if scene not in SCENES:
            raise InputError(f"there is no scene {scene!r:.40}; there are {', '.join(SCENES)}")
        require()
        from kinema.playground.server import play as serve

        serve(scene, host, port, browser)
    sys.stdout.flush()
    os._exit(0)  # Python would free all compiled kernels one by one, which takes seconds.
