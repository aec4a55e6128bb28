"""The eye: where it looks from, and where on the picture it sees what. Parallel lines stay parallel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.render.axes import along, axes_looking
from kinema.render.constants import MARGIN

VIEWS = {
    "front": (0.0, 4.0),
    "three-quarter": (38.0, 14.0),
    "side": (90.0, 6.0),
    "top": (0.0, 90.0),
    "back": (180.0, 4.0),
}
"""Views by name: degrees from the front round to the character's right, and degrees above the ground."""


def axes_seen(view: tuple[float, float]) -> Any:
    """(3, 3): right, down and away of a view in degrees as in `VIEWS`."""
    azimuth, elevation = math.radians(view[0]), math.radians(view[1])
    level = math.cos(elevation)
    return axes_looking((math.sin(azimuth) * level, -math.sin(elevation), -math.cos(azimuth) * level))


@dataclass(frozen=True)
class Camera:
    """axes: (3, 3), right, down and away. centre: (3,), what is seen in the middle. scale: pixels a body size.

    size: width and height of the picture, pixels.
    """

    axes: Any
    centre: Any
    scale: float
    size: tuple[int, int]

    @classmethod
    def fitted(cls, points: Any, view: tuple[float, float], size: tuple[int, int]) -> Camera:
        """The eye that sees all points (n, 3) of the stage, from a view in degrees as in `VIEWS`."""
        axes = axes_seen(view)
        seen = along(axes, points)
        low, high = seen.min(axis=0), seen.max(axis=0)
        free = np.array(size) - 2 * MARGIN * min(size)
        scale = float((free / np.maximum(high - low, np.finfo(float).tiny)[:2]).min())
        return cls(axes, 0.5 * (low + high) @ axes, scale, size)

    def project(self, points: Any) -> Any:
        """(..., 3): pixels to the right and down, and depth, of points (..., 3)."""
        seen = along(self.axes, points - self.centre)
        return seen * (self.scale, self.scale, 1.0) + (self.size[0] / 2, self.size[1] / 2, 0.0)

    def pixels(self) -> Any:
        """(height, width, 3): the middle of each pixel, at the depth of the centre, on the stage."""
        x = (np.arange(self.size[0]) + 0.5 - self.size[0] / 2) / self.scale
        y = (np.arange(self.size[1]) + 0.5 - self.size[1] / 2) / self.scale
        return self.centre + x[:, np.newaxis] * self.axes[0] + y[:, np.newaxis, np.newaxis] * self.axes[1]

    def finer(self, times: int) -> Camera:
        """The same view with so many times the pixels, in each direction."""
        return replace(self, scale=self.scale * times, size=(self.size[0] * times, self.size[1] * times))
