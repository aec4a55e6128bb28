"""Colours of pictures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


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
