"""`Look`: settings of a picture."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.render.camera import VIEWS


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


def _theme(colours: str, shade: float) -> Theme:
    """Make a theme of colours "rrggbb", in the order of its fields."""
    return Theme._make([*(np.array(list(bytes.fromhex(colour))) / 255 for colour in colours.split()), shade])


THEMES = {
    "light": _theme("f6f7f9 e9ebef c3c8d1 e8833a 3f86d6 8b93a1 c9bfb2", 0.42),
    "dark": _theme("14171c 22272f 3a424e ff9a4d 5aa2f2 b8c0cc c9bfb2", 0.55),
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
