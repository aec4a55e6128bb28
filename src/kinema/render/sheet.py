"""Contact sheets: moments of all clips of a character in one picture, a row for each clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io.images import captioned
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.render.camera import PictureCamera
from kinema.render.look import Look
from kinema.render.staging import Staging
from kinema.render.themes import THEMES

CELL_SIZE = (160, 120)
"""Default width and height of one moment, pixels."""

CAPTION = 16
"""Height of the line below a moment, pixels."""

SAMPLES = 2
"""Samples per pixel in each direction."""

MAX_MOMENTS = 32
"""Most moments of a clip."""

MAX_PIXELS = 2**25
"""Pixels of a sheet: 8192 by 4096. They are 100 MB."""


def sheet(character: Character, clips: Sequence[Clip], moments: int, look: Look) -> Any:
    """Draw some moments of each clip, evenly spaced over it, each with its time.

    Parameters
    ----------
    character
        The character.
    clips
        Its clips, a row for each, from above.
    moments
        Moments of a clip. The first and the last of them are its ends.
    look
        Appearance; `look.size` is the size of one moment. The camera of a row shows the whole clip.

    Returns
    -------
    (height, width, 3), uint8.
    """
    if not 1 <= moments <= MAX_MOMENTS:
        raise InputError(f"a sheet of {moments} moments; allowed are 1 to {MAX_MOMENTS}")
    if not clips:
        raise InputError(f"{character.name!r} has no clip, which a sheet needs")
    look = replace(look, size=look.size or CELL_SIZE)
    width, height = look.size or CELL_SIZE
    pixels = len(clips) * moments * width * (height + CAPTION)
    if pixels > MAX_PIXELS:
        raise InputError(
            f"{moments} moments of {len(clips)} clips are {pixels:,} pixels; allowed are {MAX_PIXELS:,}: draw fewer "
            "moments, one clip or a smaller size"
        )
    return np.concatenate([_row(character, clip, moments, look) for clip in clips])


def _row(character: Character, clip: Clip, moments: int, look: Look) -> Any:
    """Draw one clip: (height, width, 3)."""
    times = np.linspace(0.0, clip.duration or 0.0, moments)
    staging = Staging.of(character, clip, times, look)
    camera = PictureCamera.fitted(staging.points.reshape(-1, 3), look.angles("three-quarter"), look.size or CELL_SIZE)
    renderer = staging.renderer(staging.points, camera, SAMPLES)
    theme = THEMES[look.theme]
    cells = []
    for k, time in enumerate(times):
        text = f"{clip.name}  {time:.2f} s" if k == 0 else f"{time:.2f} s"
        cells.append(captioned(renderer.picture(staging.body(time)), text, CAPTION, theme.background, theme.middle))
    return np.concatenate(cells, axis=1)
