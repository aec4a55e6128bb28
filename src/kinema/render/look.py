"""`Look`: how a character is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinema import validation
from kinema.errors import InputError
from kinema.render.body import SHOWS
from kinema.render.camera import VIEWS
from kinema.render.constants import MOST_PIXELS, USUAL_SIZE
from kinema.render.themes import THEMES


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a character is drawn.

    view: one of `VIEWS`, or degrees from the front round to the character's right and degrees above the ground; if not
    given three-quarter, and from the side for a strip or where a ground is given. size: width and height, pixels; if
    not given 640 by 480, a film 480 by 360, a strip 960 wide. theme: "light" or "dark". show: "bones", "skin" or
    "both". ground: anything rays can be cast at, in the file's space; the floor the character stands on if not given.
    """

    view: Any = None
    size: tuple[int, int] | None = None
    theme: str = "light"
    show: str = "bones"
    ground: Any = None

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise InputError(f"theme is {self.theme!r}; allowed are {', '.join(map(repr, THEMES))}")
        if self.show not in SHOWS:
            raise InputError(f"show is {self.show!r}; allowed are {', '.join(map(repr, SHOWS))}")
        width, height = self.size or USUAL_SIZE
        if min(width, height) < 1 or width * height > MOST_PIXELS:
            raise InputError(f"size is {width} by {height}; allowed are up to {MOST_PIXELS:,} pixels")
        self.angles("front")

    def angles(self, otherwise: str) -> tuple[float, float]:
        """The view in degrees; if none is given the one of this name, and on a given ground the one from the side."""
        view = self.view or (otherwise if self.ground is None else "side")
        if isinstance(view, str):
            if view not in VIEWS:
                raise InputError(f"view is {view!r}; allowed are {', '.join(map(repr, VIEWS))} and two angles")
            return VIEWS[view]
        azimuth, elevation = view
        return validation.number("view[0]", azimuth, -360.0, 360.0), validation.number(
            "view[1]", elevation, -90.0, 90.0
        )
