"""Pictures of a character: still, as a strip of poses, or frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema import validation
from kinema.character import Character
from kinema.clip import Clip
from kinema.errors import InputError
from kinema.render.axes import along
from kinema.render.body import Body
from kinema.render.camera import Camera, axes_seen
from kinema.render.constants import (
    FILM_SIZE,
    FINE_MOVING,
    FINE_STILL,
    FIT_SAMPLES,
    FIT_SKINS,
    MARGIN,
    MOST_FILM_PIXELS,
    MOST_FRAMES,
    MOST_POSES,
    STRIP_GAP,
    STRIP_HEIGHTS,
    STRIP_OVERLAP,
    STRIP_WIDTH,
    USUAL_SIZE,
)
from kinema.render.look import Look
from kinema.render.staged import Staged


def still(character: Character, clip: Clip | None, time: float, look: Look) -> Any:
    """(height, width, 3), uint8: one moment of a clip, seconds; at rest without one."""
    return _drawn_together(character, clip, np.array([time]), look, "three-quarter", look.size or USUAL_SIZE)


def strip(character: Character, clip: Clip | None, span: tuple[float, float], count: int, look: Look) -> Any:
    """(height, width, 3), uint8: several poses, evenly from the first to the last moment of a span in seconds.

    Where the clip travels they stand along its way; where that is not far enough, they are moved apart, unless a ground
    is given: that they would leave.
    """
    _check_poses(count)
    return _drawn_together(character, clip, np.linspace(*span, count), look, "side", look.size)


def poses_that_fit(character: Character, clip: Clip | None, span: tuple[float, float], count: int, look: Look) -> int:
    """How many poses of a strip, `count` at most, can be told apart. Without a ground all: they are moved apart. On one
    they stay where they are, and each has to be at least half its width from the next.
    """
    _check_poses(count)
    if look.ground is None:
        return count
    staged = Staged.of(character, clip, np.linspace(*span, count), look)
    across = along(axes_seen(look.angles("side"))[:1], staged.points)[..., 0]
    gap = STRIP_OVERLAP * float(np.median(np.ptp(across, axis=1)))
    return min(count, 1 + int(np.ptp(across.mean(axis=1)) / max(gap, np.finfo(float).tiny)))


def film(character: Character, clip: Clip, span: tuple[float, float], fps: float, look: Look) -> Iterator[Any]:
    """(height, width, 3), uint8, each: the frames of a span of a clip, seconds, seen from one place."""
    fps = validation.number("fps", fps, 0.0)
    count = max(1, round((span[1] - span[0]) * fps))
    width, height = look.size or FILM_SIZE
    if count > MOST_FRAMES or count * width * height > MOST_FILM_PIXELS:
        raise InputError(
            f"{span[1] - span[0]:g} s at {fps:g} frames a second are {count} frames; allowed are {MOST_FRAMES}, of "
            f"{MOST_FILM_PIXELS:,} pixels all together: draw a shorter span, fewer frames a second or a smaller size"
        )
    samples = np.linspace(*span, FIT_SAMPLES if look.show == "bones" else FIT_SKINS)
    staged = Staged.of(character, clip, samples, look)
    camera = Camera.fitted(staged.points.reshape(-1, 3), look.angles("three-quarter"), (width, height))
    scene = staged.scene(staged.points, camera, FINE_MOVING)
    return (scene.picture(staged.body(time)) for time in span[0] + np.arange(count) / fps)


def _check_poses(count: int) -> None:
    if not 1 <= count <= MOST_POSES:
        raise InputError(f"a strip of {count} poses; allowed are 1 to {MOST_POSES}")


def _drawn_together(
    character: Character, clip: Clip | None, times: Any, look: Look, view: str, size: tuple[int, int] | None
) -> Any:
    """One picture of all these moments. size: if not given as wide as a strip is, and as high as it needs to be."""
    staged = Staged.of(character, clip, times, look)
    angles = look.angles(view)
    axes = axes_seen(angles)
    offsets = np.zeros((len(times), 3)) if look.ground is not None else _apart(staged.points, axes[0])
    points = staged.points + offsets[:, np.newaxis]
    camera = Camera.fitted(points.reshape(-1, 3), angles, size or _strip_size(along(axes, points)))
    scene = staged.scene(points, camera, FINE_STILL)
    bodies = [staged.body(time).moved(offset) for time, offset in zip(times, offsets, strict=True)]
    return scene.picture(Body.joined(bodies))


def _apart(points: Any, right: Any) -> Any:
    """(n, 3): how far to move each of n poses, with points (n, k, 3), along the ground and across the picture, so that
    none stands before another.
    """
    across = along(right[np.newaxis], points)[..., 0]
    middle = across.mean(axis=1)
    width = STRIP_GAP * float(np.ptp(across, axis=1).max())
    way = 1.0 if middle[-1] >= middle[0] else -1.0
    missing = np.maximum(width - way * np.diff(middle), 0.0)
    return np.concatenate(((0.0,), way * np.cumsum(missing)))[:, np.newaxis] * right


def _strip_size(seen: Any) -> tuple[int, int]:
    """Width and height of a strip that shows points (..., 3), right and down."""
    wide, high = np.ptp(seen.reshape(-1, 3), axis=0)[:2]
    height = STRIP_WIDTH * high / max(wide, np.finfo(float).tiny) * (1 + 2 * MARGIN)
    return STRIP_WIDTH, int(np.clip(round(height), *STRIP_HEIGHTS))
