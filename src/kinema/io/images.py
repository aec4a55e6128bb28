"""Image files, through Pillow: PNG pictures, animated GIFs, captions, and grey pictures read as numbers.

Pillow is optional. Without it, these functions raise `MissingPackageError`.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import FileError, InputError, MissingPackageError

MAX_PIXELS = 8192 * 8192
"""Largest picture that `read_grey` loads, in pixels. Checked before anything is decompressed."""

GIF_COLOURS = 255
"""Colours of a GIF: one of the format's 256 stands for "as in the frame before"."""

GIF_MAX_SIDE = 65_535
"""Pixels. The format stores sides in 16 bits."""

GIF_SHORTEST_DELAY = 2
"""Hundredths of a second. Browsers slow frames with a shorter delay down to ten per second."""

PALETTE_FRAMES = 32
"""Most frames whose colours are looked at for the palette: evenly spaced, they show what the others do."""


def png_bytes(image: Any) -> bytes:
    """Encode an image as PNG: (height, width), (height, width, 3) or (height, width, 4), uint8; or (height, width),
    uint16.

    >>> Path("grey.png").write_bytes(png_bytes(np.zeros((4, 4), np.uint8)))
    """
    pixels = np.asarray(image)
    allowed = pixels.dtype == np.uint16 and pixels.ndim == 2
    allowed |= pixels.dtype == np.uint8 and (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4)))
    if not allowed or not pixels.size:
        raise InputError(
            f"image is {pixels.dtype} {pixels.shape}; allowed are uint8 (height, width), (height, width, 3 or 4), "
            "and uint16 (height, width)"
        )
    file = io.BytesIO()
    _pillow().fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif_bytes(frames: Sequence[Any], fps: float) -> bytes:
    """Encode frames, (height, width, 3), uint8, all of one shape, as an animated GIF that repeats for ever.

    All frames share one palette. The format counts in hundredths of a second, so some frames last longer than others;
    the overall speed is right up to 50 frames per second. Identical frames that follow each other become one.
    """
    pixels = [np.ascontiguousarray(frame) for frame in frames]
    if not pixels:
        raise InputError("there are no frames; a GIF needs one or more")
    for i, frame in enumerate(pixels):
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or frame.shape != pixels[0].shape:
            raise InputError(f"frames[{i}] is {frame.dtype} {frame.shape}; all must be uint8 of one (height, width, 3)")
    if not pixels[0].size or max(pixels[0].shape) > GIF_MAX_SIDE:
        raise InputError(f"frames are {pixels[0].shape}; sides are 1 to {GIF_MAX_SIDE} pixels")
    delays = _delays(len(pixels), validation.number("fps", fps, 0.0))
    pictures = _indexed(pixels)
    file = io.BytesIO()
    options = {"duration": [10 * delay for delay in delays], "loop": 0, "disposal": 1, "optimize": True}
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], **options)
    return file.getvalue()


def captioned(image: Any, text: str, height: int, paper: Any, ink: Any) -> Any:
    """Return an image (height, width, 3), uint8, with a line of text below it, cut off at its width.

    height: of the line, pixels. paper, ink: colours (3,), 0 to 1.
    """
    _pillow()
    from PIL import Image, ImageDraw, ImageFont

    colours = [tuple(int(255 * value) for value in colour) for colour in (paper, ink)]
    line = Image.new("RGB", (image.shape[1], height), colours[0])
    font = ImageFont.load_default(size=0.7 * height)
    ImageDraw.Draw(line).text((0.3 * height, 0.5 * height), text, fill=colours[1], font=font, anchor="lm")
    return np.concatenate((image, np.array(line)))


def read_grey(path: str | Path) -> Any:
    """Read a grey picture, such as a height map: (height, width), uint8, or uint16 for 16 bits per pixel.

    Raises FileError if the file cannot be read, is no picture, is too large, or has colours.
    """
    path = Path(path)
    image = _pillow()
    try:
        with image.open(path) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise FileError(f"the picture has more than {MAX_PIXELS} pixels, the most that is read", path.name)
            if picture.mode in ("1", "LA"):
                picture = picture.convert("L")
            pixels = np.array(picture)
    except FileError:
        raise
    # Pillow raises all of these for damaged or hostile files.
    except (OSError, SyntaxError, ValueError, EOFError, image.DecompressionBombError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise FileError(f"the file cannot be read: {reason}", str(path)) from None
    if pixels.ndim != 2 or picture.mode == "P":
        raise FileError("the picture has colours; a height map is grey, with 8 or 16 bits per pixel", path.name)
    return pixels.astype(np.uint8 if pixels.dtype == np.uint8 else np.uint16)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingPackageError("pictures need Pillow: pip install pillow") from None
    return Image


def _delays(count: int, fps: float) -> list[int]:
    """Return the duration of each frame in hundredths of a second, rounded so that errors do not add up."""
    if fps <= 0:
        raise InputError(f"fps is {fps}; allowed are numbers above 0")
    ends = np.rint(100.0 * np.arange(count + 1) / fps)
    return [int(min(max(delay, GIF_SHORTEST_DELAY), 0xFFFF)) for delay in np.diff(ends)]


def _indexed(frames: Sequence[Any]) -> list[Any]:
    """Return the frames as Pillow images that share one palette, without dithering, which keeps still areas still."""
    image = _pillow()
    sheet = image.fromarray(np.concatenate(frames[:: -(-len(frames) // PALETTE_FRAMES)]))
    # Maximum coverage spreads the colours over all that occur: a large background leaves a small figure its own.
    palette = sheet.quantize(GIF_COLOURS, image.Quantize.MAXCOVERAGE)
    return [image.fromarray(frame).quantize(palette=palette, dither=image.Dither.NONE) for frame in frames]
