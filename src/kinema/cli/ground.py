"""The options that say what a character stands on, the same for every command that has them."""

from __future__ import annotations

from typing import Annotated

import typer

_PANEL = "The ground"

Ground = Annotated[
    str | None,
    typer.Option(
        help="A height, slope:DEGREES, stairs:RISE,RUN[,COUNT], a mesh (.glb) or a map of heights (.png .npy).",
        rich_help_panel=_PANEL,
    ),
]
GroundSize = Annotated[
    str | None, typer.Option(metavar="X,Z", help="Extent of a map of heights.", rich_help_panel=_PANEL)
]
GroundHeight = Annotated[
    str | None, typer.Option(metavar="LOW,HIGH", help="Heights of its extremes.", rich_help_panel=_PANEL)
]
