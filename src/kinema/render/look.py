"""`Look`: settings of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.render.camera import VIEWS


def _colour(text: str) -> Any:
    """Parse "rrggbb" into (3,), 0 to 1."""
    return np.array([int(text[k : k + 2], 16) for k in (0, 2, 4)]) / 255


class Theme(NamedTuple):
    """Colours, (3,), red, green and blue from 0 to 1."""

    background: Any
    ground: Any
    line: Any
    left: Any
    right: Any
    middle: Any
    skin: Any
    shade: float
    """How much darker the ground is in shadow, 0 to 1."""


THEMES = {
    "light": Theme(
        background=_colour("f6f7f9"),
        ground=_colour("e9ebef"),
        line=_colour("c3c8d1"),
        left=_colour("e8833a"),
        right=_colour("3f86d6"),
        middle=_colour("8b93a1"),
        skin=_colour("c9bfb2"),
        shade=0.42,
    ),
    "dark": Theme(
        background=_colour("14171c"),
        ground=_colour("22272f"),
        line=_colour("3a424e"),
        left=_colour("ff9a4d"),
        right=_colour("5aa2f2"),
        middle=_colour("b8c0cc"),
        skin=_colour("c9bfb2"),
        shade=0.55,
    ),
}


SHOWS = ("bones", "skin", "both")

MIN_SIDE = 8
"""Pixels: shortest side of a picture."""

MAX_PIXELS = 2**22
"""Pixels of one picture: 2560 by 1600. Nine samples each take about 1.5 GB of memory."""

PICTURE_SIZE = (640, 480)
"""Default width and height of a picture, pixels."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a character is drawn. Raises InputError for a value that is not allowed."""

    view: str | tuple[float, float] | None = None
    """One of `VIEWS`, or azimuth (degrees from the front towards the character's right) and elevation (degrees above
    the ground). Default: three-quarter; from the side for a strip or if a ground is given."""
    size: tuple[int, int] | None = None
    """Width and height, pixels. Default: 640 by 480; a film 480 by 360; a strip 960 wide."""
    theme: str = "light"
    """"light" or "dark"."""
    show: str = "bones"
    """"bones", "skin" or "both"."""
    ground: Any = None
    """Anything rays can be cast at, in the character's space. Default: the floor it stands on."""

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise InputError(f"theme is {self.theme!r}; allowed are {', '.join(map(repr, THEMES))}")
        if self.show not in SHOWS:
            raise InputError(f"show is {self.show!r}; allowed are {', '.join(map(repr, SHOWS))}")
        width, height = self.size or PICTURE_SIZE
        if min(width, height) < MIN_SIDE or width * height > MAX_PIXELS:
            raise InputError(
                f"size is {width} by {height}; allowed are sides of {MIN_SIDE} or more and up to {MAX_PIXELS:,} pixels"
            )
        self.angles("front")

    def angles(self, otherwise: str) -> tuple[float, float]:
        """Return the view in degrees. Default: the view named `otherwise`, or from the side if a ground is given."""
        view = self.view or (otherwise if self.ground is None else "side")
        if isinstance(view, str):
            if view not in VIEWS:
                raise InputError(f"view is {view!r}; allowed are {', '.join(map(repr, VIEWS))} and two angles")
            return VIEWS[view]
        azimuth, elevation = view
        azimuth = validation.number("view[0]", azimuth, -360.0, 360.0)
        return azimuth, validation.number("view[1]", elevation, -90.0, 90.0)
