"""Pictures and films as arrays, decoded by Pillow and FFmpeg."""

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


def read_video(path):
    """Frames (F, height, width, 3) and frames per second of an .mp4 or .webm, as FFmpeg plays it."""
    import imageio_ffmpeg

    frames = imageio_ffmpeg.read_frames(str(path))
    about = next(frames)
    width, height = about["size"]
    return np.array([np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in frames]), about["fps"]


def read_picture(path):
    """(height, width, channels), uint8."""
    return np.array(Image.open(path))
