"""GIF: moving pictures of up to 256 colours that every browser and chat shows (GIF89a).

All frames share one palette. A frame holds only the rectangle that changed since the one before, and within it what
did not change is transparent, which packs into almost nothing.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.images import lzw
from kinema.images.constants import GIF_LONGEST_SIDE, GIF_SHORTEST_DELAY
from kinema.images.palette import palette_of

TRANSPARENT = 255
"""The place in the palette that stands for what was there before."""

_FOREVER = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
_KEEP = 1 << 2
"""How a frame is left when the next one comes: as it is."""


def write_gif(path: str | os.PathLike[str], frames: Any, fps: float) -> None:
    """Write frames as an animated GIF that runs for ever, over whatever is there. frames, fps: as in `gif_bytes`."""
    Path(path).write_bytes(gif_bytes(frames, fps))


def gif_bytes(frames: Any, fps: float) -> bytes:
    """An animated GIF that runs for ever. frames: one or more, all (height, width, 3), uint8. fps: frames a second.

    The format counts in hundredths of a second, so some frames last a hundredth longer than others: on the whole the
    speed is right, up to 50 frames a second.
    """
    frames = [np.asarray(frame) for frame in frames]
    _check(frames)
    height, width, _ = frames[0].shape
    palette = palette_of(frames, TRANSPARENT)
    table = np.zeros((256, 3), np.uint8)
    table[: len(palette.colours)] = palette.colours
    # 0xF7: there is a palette, of 8 bits a colour, 256 of them.
    parts = [b"GIF89a", struct.pack("<HHBBB", width, height, 0xF7, 0, 0), table.tobytes(), _FOREVER]
    before = None
    for frame, delay in zip(frames, _delays(len(frames), validation.number("fps", fps, 0.0)), strict=True):
        indices = palette.indices(frame)
        parts.append(_frame(indices, before, delay))
        before = indices
    return b"".join((*parts, b"\x3b"))


def _check(frames: Sequence[Any]) -> None:
    if not frames:
        raise InputError("there are no frames; a GIF needs one or more")
    for i, frame in enumerate(frames):
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or frame.shape != frames[0].shape:
            raise InputError(f"frames[{i}] is {frame.dtype} {frame.shape}; all must be uint8 of one (height, width, 3)")
    if not frames[0].size or max(frames[0].shape) > GIF_LONGEST_SIDE:
        raise InputError(f"frames are {frames[0].shape}; sides are 1 to {GIF_LONGEST_SIDE} pixels")


def _delays(count: int, fps: float) -> list[int]:
    """Hundredths of a second of each frame, rounded so that errors do not add up."""
    if fps <= 0:
        raise InputError(f"fps is {fps}; allowed are numbers above 0")
    ends = np.rint(100.0 * np.arange(count + 1) / fps)
    return [int(min(max(delay, GIF_SHORTEST_DELAY), 0xFFFF)) for delay in np.diff(ends)]


def _frame(indices: Any, before: Any, delay: int) -> bytes:
    """One frame: how it is shown, where it goes, and its pixels."""
    rows, columns = slice(0, len(indices)), slice(0, indices.shape[1])
    if before is not None:
        changed = indices != before
        rows, columns = _around(changed.any(axis=1)), _around(changed.any(axis=0))
        indices = np.where(changed, indices, TRANSPARENT).astype(np.uint8)
    part = indices[rows, columns]
    control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, _KEEP | (before is not None), delay, TRANSPARENT, 0)
    place = struct.pack("<BHHHHB", 0x2C, columns.start, rows.start, part.shape[1], part.shape[0], 0)
    data = lzw.packed(part.tobytes())
    blocks = (data[i : i + 255] for i in range(0, len(data), 255))
    return control + place + b"\x08" + b"".join(bytes((len(block),)) + block for block in blocks) + b"\x00"


def _around(changed: Any) -> slice:
    """From the first to the last that changed; just the first place where nothing did."""
    at = np.flatnonzero(changed)
    return slice(int(at[0]), int(at[-1]) + 1) if at.size else slice(0, 1)
