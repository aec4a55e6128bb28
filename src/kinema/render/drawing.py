"""Pictures of a character: still, as a strip of poses, or frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema import edge
from kinema.character import Character
from kinema.clip import Clip
from kinema.errors import InputError
from kinema.render.axes import along
from kinema.render.body import Body, Sculptor
from kinema.render.camera import VIEWS, Camera, axes_seen
from kinema.render.constants import (
    FILM_SIZE,
    FINE_GROUND,
    FINE_MOVING,
    FINE_STILL,
    FIT_SAMPLES,
    FIT_SKINS,
    FLESH,
    MARGIN,
    MOST_FILM_PIXELS,
    MOST_FRAMES,
    MOST_PIXELS,
    MOST_POSES,
    STRIP_GAP,
    STRIP_HEIGHTS,
    STRIP_WIDTH,
    USUAL_SIZE,
)
from kinema.render.floor import Floor
from kinema.render.scene import Scene, sun_for
from kinema.render.stage import Stage
from kinema.render.themes import THEMES
from kinema.world.function_ground import FunctionGround
from kinema.world.ground import Ground
from kinema.world.plane import Plane


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a character is drawn.

    view: one of `VIEWS`, or degrees from the front round to the character's right and degrees above the ground; if not
    given three-quarter, and from the side for a strip. size: width and height, pixels; if not given 640 by 480, a film
    480 by 360, a strip 960 wide. theme: "light" or "dark". show: "bones", "skin" or "both". ground: rays can be cast
    at it, in the file's space; the floor the character stands on if not given.
    """

    view: Any = None
    size: tuple[int, int] | None = None
    theme: str = "light"
    show: str = "bones"
    ground: Any = None

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise InputError(f"theme is {self.theme!r}; allowed are {', '.join(map(repr, THEMES))}")
        width, height = self.size or USUAL_SIZE
        if min(width, height) < 1 or width * height > MOST_PIXELS:
            raise InputError(f"size is {width} by {height}; allowed are up to {MOST_PIXELS:,} pixels")
        self.angles("front")

    def angles(self, otherwise: str) -> tuple[float, float]:
        """The view in degrees; if none is given the one of this name."""
        view = otherwise if self.view is None else self.view
        if isinstance(view, str):
            if view not in VIEWS:
                raise InputError(f"view is {view!r}; allowed are {', '.join(map(repr, VIEWS))} and two angles")
            return VIEWS[view]
        azimuth, elevation = view
        return edge.number("view[0]", azimuth, -360.0, 360.0), edge.number("view[1]", elevation, -90.0, 90.0)


def still(character: Character, clip: Clip | None, time: float, look: Look) -> Any:
    """(height, width, 3), uint8: one moment of a clip, seconds; at rest without one."""
    return _drawn_together(character, clip, np.array([time]), look, "three-quarter", look.size or USUAL_SIZE)


def strip(character: Character, clip: Clip | None, span: tuple[float, float], count: int, look: Look) -> Any:
    """(height, width, 3), uint8: several poses, evenly from the first to the last moment of a span in seconds.

    Where the clip travels they stand along its way; where that is not far enough, they are moved apart, unless a ground
    is given: that they would leave.
    """
    if not 1 <= count <= MOST_POSES:
        raise InputError(f"a strip of {count} poses; allowed are 1 to {MOST_POSES}")
    return _drawn_together(character, clip, np.linspace(*span, count), look, "side", look.size)


def film(character: Character, clip: Clip, span: tuple[float, float], fps: float, look: Look) -> Iterator[Any]:
    """(height, width, 3), uint8, each: the frames of a span of a clip, seconds, seen from one place."""
    fps = edge.number("fps", fps, 0.0)
    count = max(1, round((span[1] - span[0]) * fps))
    width, height = look.size or FILM_SIZE
    if count > MOST_FRAMES or count * width * height > MOST_FILM_PIXELS:
        raise InputError(
            f"{span[1] - span[0]:g} s at {fps:g} frames a second are {count} frames; allowed are {MOST_FRAMES}, of "
            f"{MOST_FILM_PIXELS:,} pixels all together: draw a shorter span, fewer frames a second or a smaller size"
        )
    samples = np.linspace(*span, FIT_SAMPLES if look.show == "bones" else FIT_SKINS)
    shown = _Shown.of(character, clip, samples, look)
    camera = Camera.fitted(shown.points(samples).reshape(-1, 3), look.angles("three-quarter"), (width, height))
    scene = shown.scene(shown.points(samples), camera, FINE_MOVING)
    return (scene.picture(shown.body(time)) for time in span[0] + np.arange(count) / fps)


def _drawn_together(
    character: Character, clip: Clip | None, times: Any, look: Look, view: str, size: tuple[int, int] | None
) -> Any:
    """One picture of all these moments. size: if not given as wide as a strip is, and as high as it needs to be."""
    shown = _Shown.of(character, clip, times, look)
    angles = look.angles(view)
    points = shown.points(times)
    axes = axes_seen(angles)
    offsets = np.zeros((len(times), 3)) if look.ground is not None else _apart(points, axes[0])
    points = points + offsets[:, np.newaxis]
    camera = Camera.fitted(points.reshape(-1, 3), angles, size or _strip_size(along(axes, points)))
    scene = shown.scene(points, camera, FINE_STILL)
    bodies = [shown.body(time).moved(offset) for time, offset in zip(times, offsets, strict=True)]
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


@dataclass(frozen=True)
class _Shown:
    """A character, one of its clips, and how both are drawn."""

    sculptor: Sculptor
    clip: Clip
    stage: Stage
    look: Look

    @classmethod
    def of(cls, character: Character, clip: Clip | None, times: Any, look: Look) -> _Shown:
        sculptor = Sculptor(character, THEMES[look.theme], look.show)
        clip = Clip("rest", character.skeleton, ()) if clip is None else clip
        return cls(sculptor, clip, Stage.of(character, sculptor.joints(clip.sample(times))), look)

    def body(self, time: float) -> Body:
        return self.sculptor.body(self.clip.sample(time), self.stage)

    def points(self, times: Any) -> Any:
        """(times, k, 3): points that a picture of each moment has to show."""
        if self.look.show != "bones":
            return np.stack(
                [_outermost(self.sculptor.skin(self.clip.sample(time), self.stage).vertices) for time in times]
            )
        joints = self.stage.points(self.sculptor.joints(self.clip.sample(times)))
        return np.concatenate((joints - FLESH, joints + FLESH), axis=1)

    def scene(self, points: Any, camera: Camera, fine: int) -> Scene:
        """Where all moves within these points (..., 3), as this camera sees it."""
        points = points.reshape(-1, 3)
        sun, stage, theme = sun_for(camera), self.stage, THEMES[self.look.theme]
        ground = self.look.ground
        if ground is None:
            ground = Plane(stage.points_back(np.zeros(3)), stage.axes[1])
        motion = np.stack((points.min(axis=0), points.max(axis=0)))
        floor = Floor.seen(ground, stage, camera, _ground_detail(ground), sun, motion, theme)
        return Scene(camera, floor, sun, theme, fine)


def _ground_detail(ground: Any) -> int:
    """Pixels of a ground drawn for each one kept: a plane has no edges, and functions take long to find."""
    edged = isinstance(ground, Ground) and not isinstance(ground, (Plane, FunctionGround))
    return FINE_GROUND if edged else 1


def _outermost(points: Any) -> Any:
    """(26, 3): of points (n, 3) those that go furthest in many directions: about what decides whether all fit."""
    ways = [(x, y, z) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) for z in (-1.0, 0.0, 1.0) if x or y or z]
    return points[np.argmax(along(np.array(ways), points), axis=0)]
