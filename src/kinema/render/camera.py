"""The camera: its view direction, and the parallel projection onto the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.character import Character

MARGIN = 0.08
"""Fraction of the picture's shorter side that stays free around the motion."""

VIEWS = {
    "front": (0.0, 4.0),
    "three-quarter": (38.0, 14.0),
    "side": (90.0, 6.0),
    "top": (0.0, 90.0),
    "back": (180.0, 4.0),
}
"""Azimuth, in degrees from the front towards the character's right, and elevation above the ground, in degrees."""


FLESH = 0.03
"""Body sizes that are visible around a joint."""


def axes_looking(way: Any) -> Any:
    """Return (3, 3): rows are right, down and forward of a camera that looks along `way`; +Y is up."""
    way = arrays.unit(np.asarray(way, np.float64))
    right = np.cross(way, (0.0, 1.0, 0.0))
    if not right.any():  # Straight down or up: +Z points to the lower edge.
        right = np.array((1.0, 0.0, 0.0))
    right = arrays.unit(right)
    return np.stack((right, np.cross(way, right), way))


def along(axes: Any, vectors: Any) -> Any:
    """Return (..., n): components of vectors (..., 3) along axes (n, 3).

    This does not use matrix multiplication, which starts threads: on a busy machine these take forty times as long.
    """
    return np.einsum("...k,nk->...n", vectors, axes)


def axes_seen(view: tuple[float, float]) -> Any:
    """Return (3, 3): right, down and forward of a view in degrees, as in `VIEWS`."""
    azimuth, elevation = math.radians(view[0]), math.radians(view[1])
    level = math.cos(elevation)
    return axes_looking((math.sin(azimuth) * level, -math.sin(elevation), -math.cos(azimuth) * level))


@dataclass(frozen=True)
class PictureCamera:
    """A camera with parallel projection, in drawing space."""

    axes: Any
    """(3, 3): rows are right, down and forward."""
    centre: Any
    """(3,): the point in the middle of the picture."""
    scale: float
    """Pixels per body size."""
    size: tuple[int, int]
    """Width and height of the picture, pixels."""

    @classmethod
    def fitted(cls, points: Any, view: tuple[float, float], size: tuple[int, int]) -> PictureCamera:
        """Make a camera that shows all points (n, 3) from a view in degrees, as in `VIEWS`."""
        axes = axes_seen(view)
        seen = along(axes, points)
        low, high = seen.min(axis=0), seen.max(axis=0)
        free = np.array(size) - 2 * MARGIN * min(size)
        scale = float((free / np.maximum(high - low, np.finfo(float).tiny)[:2]).min())
        return cls(axes, 0.5 * (low + high) @ axes, scale, size)

    def project(self, points: Any) -> Any:
        """Project points (..., 3): x and y in pixels, right and down, and depth."""
        seen = along(self.axes, points - self.centre)
        return seen * (self.scale, self.scale, 1.0) + (self.size[0] / 2, self.size[1] / 2, 0.0)

    def pixels(self) -> Any:
        """Return (height, width, 3): the middle of each pixel in drawing space, at the depth of the centre."""
        x = (np.arange(self.size[0]) + 0.5 - self.size[0] / 2) / self.scale
        y = (np.arange(self.size[1]) + 0.5 - self.size[1] / 2) / self.scale
        return self.centre + x[:, np.newaxis] * self.axes[0] + y[:, np.newaxis, np.newaxis] * self.axes[1]

    def finer(self, times: int) -> PictureCamera:
        """Return the same view with `times` as many pixels in each direction."""
        return replace(self, scale=self.scale * times, size=(self.size[0] * times, self.size[1] * times))


@dataclass(frozen=True)
class DrawingSpace:
    """Conversion between a character's space and drawing space."""

    axes: Any
    """(3, 3): rows are the character's left, up and forward."""
    size: float
    """One body size, in the character's unit."""
    floor: float
    """Height of the floor along up, in the character's unit."""

    @classmethod
    def of(cls, character: Character, points: Any) -> DrawingSpace:
        """Make the space for a character that covers points (..., n, 3) over time, in its own space.

        The floor is the rig's, or without a rig the lowest of the points.
        """
        rig = character.rig
        up, ahead = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) if rig is None else (rig.up, rig.forward)
        axes = np.stack((np.cross(up, ahead), up, ahead))
        across = along(axes, points)
        size = float(np.median(np.ptp(across, axis=-2).max(axis=-1)))
        floor = float(across[..., 1].min()) if rig is None else rig.floor
        return cls(axes, size or 1.0, floor)

    def points(self, points: Any) -> Any:
        """Convert points (..., 3) to drawing space."""
        return (along(self.axes, points) - (0.0, self.floor, 0.0)) / self.size

    def points_back(self, points: Any) -> Any:
        """Convert points (..., 3) back to the character's space."""
        return along(self.axes.T, points * self.size + (0.0, self.floor, 0.0))

    def directions(self, directions: Any) -> Any:
        """Convert directions (..., 3) to drawing space."""
        return along(self.axes, directions)

    def directions_back(self, directions: Any) -> Any:
        """Convert directions (..., 3) back to the character's space."""
        return along(self.axes.T, directions)
