"""Pictures of a character as arrays: one pose, a strip of poses, or the frames of a film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.io.images import captioned
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.render.body import DrawnBody, Sculptor
from kinema.render.camera import FLESH, MARGIN, DrawingSpace, PictureCamera, along, axes_seen
from kinema.render.ground_image import GroundImage
from kinema.render.look import PICTURE_SIZE, THEMES, Look
from kinema.render.renderer import Renderer, sun_for
from kinema.world.plane import Plane

GROUND_SAMPLES = 2
"""Samples per pixel of uneven ground, in each direction. A plane has no edges and needs one."""


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

CELL_SIZE = (160, 120)
"""Default width and height of one moment, pixels."""

CAPTION = 16
"""Height of the line below a moment, pixels."""

MAX_MOMENTS = 32
"""Most moments of a clip."""

MAX_SHEET_PIXELS = 2**25
"""Pixels of a sheet: 8192 by 4096. They are 100 MB."""


@dataclass(frozen=True)
class Staging:
    """A clip of a character, prepared for drawing."""

    sculptor: Sculptor
    clip: Clip
    look: Look
    space: DrawingSpace
    points: Any
    """(times, k, 3): what a picture of each time must show, in drawing space."""

    @classmethod
    def of(cls, character: Character, clip: Clip | None, times: Any, look: Look) -> Staging:
        """Prepare a clip, or None for the rest pose. times: seconds, enough of them to tell how far it moves."""
        sculptor = Sculptor(character, THEMES[look.theme], look.show)
        clip = Clip("rest", character.skeleton, ()) if clip is None else clip
        outline = np.stack([sculptor.outline(clip.sample(time)) for time in times])
        space = DrawingSpace.of(character, outline)
        points = space.points(outline)
        return cls(sculptor, clip, look, space, np.concatenate((points - FLESH, points + FLESH), axis=1))

    def body(self, time: float) -> DrawnBody:
        return self.sculptor.body(self.clip.sample(time), self.clip.shape_weights(time), self.space)

    def renderer(self, points: Any, camera: PictureCamera, fine: int) -> Renderer:
        """Make a renderer for motion within these points (n, k, 3). fine: samples per pixel in each direction."""
        sun, theme, ground = sun_for(camera), THEMES[self.look.theme], self.look.ground
        if ground is None:
            ground = Plane(self.space.points_back(np.zeros(3)), self.space.axes[1])
        detail = 1 if isinstance(ground, Plane) else GROUND_SAMPLES
        floor = GroundImage.seen(ground, self.space, camera, detail, sun, points, theme)
        return Renderer(camera, floor, sun, theme, fine)


def still(character: Character, clip: Clip | None, time: float, look: Look) -> Any:
    """Draw one pose: (height, width, 3), uint8. clip: None for the rest pose. time: in the clip, seconds."""
    return _drawn_together(character, clip, np.array([time]), look, "three-quarter", look.size or PICTURE_SIZE)


def strip(character: Character, clip: Clip | None, span: tuple[float, float], count: int, look: Look) -> Any:
    """Draw `count` poses in one picture, (height, width, 3), uint8, evenly spaced over a time span in seconds.

    A clip that travels spreads them along its way. Where they would be too close they are moved apart, unless a ground
    is given: on that they stay where they are.
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


def sheet(character: Character, clips: Sequence[Clip], moments: int, look: Look) -> Any:
    """Draw some moments of each clip, evenly spaced over it, each with its time: (height, width, 3), uint8.

    A row for each clip, from above; the first and the last of its moments are its ends. look: `look.size` is the size
    of one moment. The camera of a row shows the whole clip.
    """
    if not 1 <= moments <= MAX_MOMENTS:
        raise InputError(f"a sheet of {moments} moments; allowed are 1 to {MAX_MOMENTS}")
    if not clips:
        raise InputError(f"{character.name!r} has no clip, which a sheet needs")
    look = replace(look, size=look.size or CELL_SIZE)
    width, height = look.size or CELL_SIZE
    pixels = len(clips) * moments * width * (height + CAPTION)
    if pixels > MAX_SHEET_PIXELS:
        raise InputError(
            f"{moments} moments of {len(clips)} clips are {pixels:,} pixels; allowed are {MAX_SHEET_PIXELS:,}: draw "
            "fewer moments, one clip or a smaller size"
        )
    return np.concatenate([_row(character, clip, moments, look) for clip in clips])


def _row(character: Character, clip: Clip, moments: int, look: Look) -> Any:
    """Draw one clip: (height, width, 3)."""
    times = np.linspace(0.0, clip.duration or 0.0, moments)
    staging = Staging.of(character, clip, times, look)
    camera = PictureCamera.fitted(staging.points.reshape(-1, 3), look.angles("three-quarter"), look.size or CELL_SIZE)
    renderer = staging.renderer(staging.points, camera, FILM_SAMPLES)
    theme = THEMES[look.theme]
    cells = []
    for k, time in enumerate(times):
        text = f"{clip.name}  {time:.2f} s" if k == 0 else f"{time:.2f} s"
        cells.append(captioned(renderer.picture(staging.body(time)), text, CAPTION, theme.background, theme.middle))
    return np.concatenate(cells, axis=1)
