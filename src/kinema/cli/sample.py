"""`kinema sample`: write example files. They are made in `kinema.demo.samples`, imported when the command runs."""

from pathlib import Path
from typing import Annotated

import typer

from kinema.cli.errors import one_line_errors

SAMPLES = {
    "person.glb": "a person with 60 joints, a skin and the clips idle, walk and run",
    "fox.glb": "a fox: four legs, a tail, the clips idle, walk and run",
    "spider.glb": "a spider: eight legs, the clips idle, walk and run",
    "capture.bvh": "a walk as a motion capture has it: it travels, and its feet slide",
    "stairs.glb": "a mesh: ten steps along +Z, each 17 cm high and 29 cm deep",
    "hills.npy": "a height map: 20 m by 20 m of gentle hills, a height every 25 cm",
    "webcam.json": "points of a walk as MediaPipe would see them, with its noise",
    "ball.csv": "a moving point: rows t,x,y,z of a ball that passes in front of a person",
}
"""The files, and what is in them."""

EXAMPLES = """kinema sample person.glb stairs.glb
kinema sample --all -o samples/"""


def sample(
    names: Annotated[
        list[str] | None, typer.Argument(help="Files to write.", autocompletion=lambda: list(SAMPLES))
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write them.")] = Path(),
    everything: Annotated[bool, typer.Option("--all", help="Write all of them.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List the files and leave.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Write example files to try the other commands with: characters, a capture, grounds. Without names, list them."""
    wanted = list(SAMPLES) if everything else names or []
    if show or not wanted:
        width = max(map(len, SAMPLES))
        for name, content in SAMPLES.items():
            typer.echo(f"{name:{width}}  {content}")
        return
    with one_line_errors("sample"):
        from kinema.demo.samples import write

        for path in write(wanted, output, force=force):
            typer.echo(f"written to {path}")
