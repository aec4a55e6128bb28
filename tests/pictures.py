"""Pictures and films as arrays, decoded by Pillow."""

import io
from typing import NamedTuple

import numpy as np
from PIL import Image


class Film(NamedTuple):
    """The content of a GIF file."""

    frames: np.ndarray
    """(F, height, width, 3), uint8, as a viewer shows them."""
    milliseconds: np.ndarray
    """(F,)."""
    loops: bool
    """Whether it repeats for ever."""


def decode_gif(data):
    image = Image.open(io.BytesIO(data))
    frames, milliseconds = [], []
    for k in range(image.n_frames):
        image.seek(k)
        frames.append(np.array(image.convert("RGB")))
        milliseconds.append(image.info["duration"])
    return Film(np.array(frames), np.array(milliseconds), image.n_frames == 1 or image.info.get("loop") == 0)


def read_picture(path):
    """(height, width, channels), uint8."""
    return np.array(Image.open(path))
