"""Pictures of a character as arrays: one pose, a strip of poses, or the frames of a film."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.render.body import DrawnBody
from kinema.render.camera import MARGIN, PictureCamera, along, axes_seen
from kinema.render.look import PICTURE_SIZE, Look
from kinema.render.staging import Staging

STILL_SAMPLES, FILM_SAMPLES = 3, 2
"""Samples per pixel in each direction, of a picture and of a film frame: smooth edges, and half the work for frames
that are shown only briefly."""

MAX_FRAMES = 600
"""Frames of a film in memory: 20 seconds at 30 per second. Longer ones are better kept in a video format."""

MAX_STREAMED_FRAMES = 36_000
"""Frames of a film that is written as it is drawn: ten minutes at 60 per second."""

MAX_FILM_PIXELS = 2**27
"""Pixels of all frames together: 600 frames of 480 by 360. They take 400 MB while the file is written."""

MAX_POSES = 32
"""Most poses of a strip. More cannot be distinguished."""

FILM_SIZE = (480, 360)
"""Default width and height of a film, pixels."""

STRIP_WIDTH, STRIP_HEIGHTS = 960, (200, 720)
"""Pixels: width of a strip, and its smallest and largest height."""

STRIP_GAP = 1.05
"""Smallest distance between the poses of a strip that may be moved apart, in widths of a pose."""

STRIP_OVERLAP = 0.5
"""Smallest distance between the poses of a strip that stay where they are, in widths of a pose."""

FIT_SAMPLES = 64
"""Times of a clip at which its joints are looked at to find how far it moves."""

FIT_SKINS = 8
"""Times at which its skin is looked at for that, which takes longer."""


def still(character: Character, clip: Clip | None, time: float, look: Look) -> Any:
    """Draw one pose.

    Parameters
    ----------
    character
        The character.
    clip, time
        The clip, or None for the rest pose, and the time in it, seconds.
    look
        View, size, theme and ground.

    Returns
    -------
    (height, width, 3), uint8.

    Example
    -------
    >>> image = still(person, person.clips["walk"], 0.3, Look(size=(320, 240)))
    """
    return _drawn_together(character, clip, np.array([time]), look, "three-quarter", look.size or PICTURE_SIZE)


def strip(character: Character, clip: Clip | None, span: tuple[float, float], count: int, look: Look) -> Any:
    """Draw `count` poses in one picture, evenly spaced over a time span in seconds.

    A clip that travels spreads them along its way. Where they would be too close they are moved apart, unless a ground
    is given: on that they stay where they are.

    Returns
    -------
    (height, width, 3), uint8.
    """
    _check_poses(count)
    return _drawn_together(character, clip, np.linspace(*span, count), look, "side", look.size)


def poses_that_fit(character: Character, clip: Clip | None, span: tuple[float, float], count: int, look: Look) -> int:
    """Return how many poses of a strip, at most `count`, can be distinguished.

    Without a ground these are all, because poses are moved apart. On a ground, neighbours must be at least half the
    width of a pose apart.
    """
    _check_poses(count)
    if look.ground is None:
        return count
    staging = Staging.of(character, clip, np.linspace(*span, count), look)
    across = along(axes_seen(look.angles("side"))[:1], staging.points)[..., 0]
    gap = STRIP_OVERLAP * float(np.median(np.ptp(across, axis=1)))
    return min(count, 1 + int(np.ptp(across.mean(axis=1)) / max(gap, np.finfo(float).tiny)))


def film(
    character: Character, clip: Clip, span: tuple[float, float], fps: float, look: Look, *, streamed: bool = False
) -> Iterator[Any]:
    """Yield the frames of a clip over a time span in seconds, each (height, width, 3), uint8, from a fixed camera.

    streamed: the frames are not kept, so there may be more of them.
    """
    fps = validation.number("fps", fps, 0.0)
    count = max(1, round((span[1] - span[0]) * fps))
    width, height = look.size or FILM_SIZE
    what = f"{span[1] - span[0]:g} s at {fps:g} frames per second are {count} frames"
    if streamed and count > MAX_STREAMED_FRAMES:
        raise InputError(f"{what}; allowed are {MAX_STREAMED_FRAMES}")
    if not streamed and (count > MAX_FRAMES or count * width * height > MAX_FILM_PIXELS):
        raise InputError(
            f"{what}; allowed are {MAX_FRAMES}, of {MAX_FILM_PIXELS:,} pixels all together: draw a shorter span, fewer "
            "frames per second or a smaller size, or write an .mp4"
        )
    samples = np.linspace(*span, FIT_SAMPLES if look.show == "bones" else FIT_SKINS)
    staging = Staging.of(character, clip, samples, look)
    camera = PictureCamera.fitted(staging.points.reshape(-1, 3), look.angles("three-quarter"), (width, height))
    renderer = staging.renderer(staging.points, camera, FILM_SAMPLES)
    return (renderer.picture(staging.body(time)) for time in span[0] + np.arange(count) / fps)


def _check_poses(count: int) -> None:
    if not 1 <= count <= MAX_POSES:
        raise InputError(f"a strip of {count} poses; allowed are 1 to {MAX_POSES}")


def _drawn_together(
    character: Character, clip: Clip | None, times: Any, look: Look, view: str, size: tuple[int, int] | None
) -> Any:
    """Draw the poses at these times in one picture. size: None for a strip, as high as it needs to be."""
    staging = Staging.of(character, clip, times, look)
    angles = look.angles(view)
    axes = axes_seen(angles)
    offsets = np.zeros((len(times), 3)) if look.ground is not None else _apart(staging.points, axes[0])
    points = staging.points + offsets[:, np.newaxis]
    camera = PictureCamera.fitted(points.reshape(-1, 3), angles, size or _strip_size(along(axes, points)))
    renderer = staging.renderer(points, camera, STILL_SAMPLES)
    bodies = [staging.body(time).moved(offset) for time, offset in zip(times, offsets, strict=True)]
    return renderer.picture(DrawnBody.joined(bodies))


def _apart(points: Any, right: Any) -> Any:
    """Return (n, 3): offsets across the picture that keep n poses with points (n, k, 3) from hiding each other."""
    across = along(right[np.newaxis], points)[..., 0]
    middle = across.mean(axis=1)
    width = STRIP_GAP * float(np.ptp(across, axis=1).max())
    way = 1.0 if middle[-1] >= middle[0] else -1.0
    missing = np.maximum(width - way * np.diff(middle), 0.0)
    return np.concatenate(((0.0,), way * np.cumsum(missing)))[:, np.newaxis] * right


def _strip_size(seen: Any) -> tuple[int, int]:
    """Return width and height of a strip that shows points (..., 3), given as right and down."""
    wide, high = np.ptp(seen.reshape(-1, 3), axis=0)[:2]
    height = STRIP_WIDTH * high / max(wide, np.finfo(float).tiny) * (1 + 2 * MARGIN)
    return STRIP_WIDTH, int(np.clip(round(height), *STRIP_HEIGHTS))
