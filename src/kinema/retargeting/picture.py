"""A picture of a motion and of what it became on another body."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.render import drawing
from kinema.render.look import Look

POSES, SIZE = 7, (1120, 260)
"""Poses side by side, and pixels of each of the two rows."""


def draw_both(source: Character, clip: Clip, target: Character, new: Clip, ground: Any = None) -> Any:
    """Draw a clip above the one that was made of it, at the same moments, (height, width, 3), uint8.

    ground: what the new clip is on.
    """
    start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    length = float(new.duration or 0.0)
    rows = [
        drawing.strip(source, clip, (start, start + length), POSES, Look(size=SIZE)),
        drawing.strip(
            target, new, (0.0, length), POSES, Look(size=SIZE, show="both" if target.skins else "bones", ground=ground)
        ),
    ]
    return np.concatenate(rows)
