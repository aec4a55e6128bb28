"""Shadow maps: depth as seen from the sun, with soft edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.render.camera import along, axes_looking
from kinema.render.raster import fill

SHADOW_SIDE = 2048
"""Pixels: longest side of the shadow map. Larger scenes get less detail."""

PENUMBRA = (2, 7)
"""Pixels of the shadow map over which a shadow on the ground is blurred, to either side: of what is on the ground, and
of what is high above it."""

PENUMBRA_HEIGHT = 0.4
"""Body sizes above the ground from which a shadow is softest."""

_SAMPLES = 5
"""Samples of the map in each direction per point: enough for a smooth soft edge."""


class ShadowMap(NamedTuple):
    """Distance of the first surface as seen from the sun."""

    axes: Any
    """(3, 3): right, down and forward of the sun's view."""
    detail: float
    """Pixels per unit of length."""
    low: Any
    """(2,): the corner of the map, in pixels."""
    depth: Any
    """(height, width): depths, infinite where there is nothing."""

    @classmethod
    def of(cls, vertices: Any, triangles: Any, sun: Any, detail: float) -> ShadowMap:
        """Make the map of triangles (T, 3) of vertices (V, 3).

        sun: (3,), direction towards the sun. detail: pixels per unit of length; fewer if the map would get larger than
        `SHADOW_SIDE`.
        """
        axes = axes_looking(-np.asarray(sun))
        points = along(axes, vertices)
        detail = min(detail, SHADOW_SIDE / max(np.ptp(points[:, :2], axis=0).max(), SHADOW_SIDE / detail))
        points *= (detail, detail, 1.0)
        low = np.floor(points[:, :2].min(axis=0))
        width, height = (np.ceil(points[:, :2].max(axis=0) - low) + 1).astype(int)
        points[:, :2] -= low
        return cls(axes, detail, low, fill(points, triangles, (height, width)).depth)

    def lit(self, points: Any, soft: float, bias: float) -> Any:
        """Return (n,): how much sun points (n, 3) get, 0 to 1.

        soft: pixels of the map over which edges are blurred, to either side. bias: how far in front of a point
        something must be to shade it.
        """
        at = along(self.axes, points)
        x, y = (at[:, axis] * self.detail - self.low[axis] for axis in (0, 1))
        light = np.ones(len(points))
        near = np.flatnonzero(self._reaches(x, y, soft))
        light[near] = self._share(x[near], y[near], at[near, 2] - bias, soft)
        return light

    def _reaches(self, x: Any, y: Any, soft: float) -> Any:
        """Return (n,): whether positions lie on the map, soft edges included."""
        height, width = self.depth.shape
        return (x > -soft) & (x < width + soft) & (y > -soft) & (y < height + soft)

    def _share(self, x: Any, y: Any, depth: Any, soft: float) -> Any:
        """Return (n,): the fraction of samples around each position that find nothing in front."""
        bordered = np.pad(self.depth, 1, constant_values=np.inf)  # There is nothing beside the map.
        height, width = bordered.shape
        free = np.zeros(len(x))
        for dy in np.linspace(-soft, soft, _SAMPLES):
            row = np.clip(np.floor(y + dy).astype(np.int64) + 1, 0, height - 1) * width
            for dx in np.linspace(-soft, soft, _SAMPLES):
                column = np.clip(np.floor(x + dx).astype(np.int64) + 1, 0, width - 1)
                free += bordered.reshape(-1)[row + column] > depth
        return free / _SAMPLES**2

    def under(self, points: Any, bias: float) -> Any:
        """Return (n,): how much sun points (n, 3) on the ground get, 0 to 1.

        Shadows are sharp where their caster is near the ground, and soft where it is high above. bias: distance behind
        the ground at which a caster still counts, so that bodies that touch the ground shade it.
        """
        at = along(self.axes, points)
        border = 2 * max(PENUMBRA)
        x, y = (at[:, axis] * self.detail - self.low[axis] + border - 0.5 for axis in (0, 1))
        dark, depth = self._softened(border)
        height, width = dark.shape
        reached = np.flatnonzero((x > 0) & (x < width - 1) & (y > 0) & (y < height - 1))
        shade, in_front = (_between(image, x[reached], y[reached]) for image in (dark, depth))
        light = np.ones(len(points))
        light[reached] -= np.where((at[reached, 2] + bias) * shade >= in_front, shade, 0.0)
        return light

    def _softened(self, border: int) -> tuple[Any, Any]:
        """Return two blurred maps with a border: darkness on the ground, 0 to 1, and caster depth times darkness."""
        row, column = np.nonzero(np.isfinite(self.depth))
        depth = self.depth[row, column]
        point = np.stack(((column + self.low[0]) / self.detail, (row + self.low[1]) / self.detail, depth), axis=-1)
        above = along(self.axes.T[1:2], point)[:, 0]
        high = np.clip((above - above.min(initial=np.inf)) / PENUMBRA_HEIGHT, 0.0, 1.0)
        shape = (self.depth.shape[0] + 2 * border, self.depth.shape[1] + 2 * border)
        dark, in_front = np.zeros(shape), np.zeros(shape)
        for share, radius in zip((1.0 - high, high), PENUMBRA, strict=True):
            for total, values in ((dark, share), (in_front, share * depth)):
                part = np.zeros(shape)
                part[row + border, column + border] = values
                for axis in (0, 1, 0, 1):  # Two box blurs make a tent: no visible edge remains.
                    part = _box(part, radius, axis)
                total += part
        return dark, in_front


def _box(image: Any, radius: int, axis: int) -> Any:
    """Average 2 radius + 1 neighbours along an axis; values beyond the border are 0."""
    sums = np.cumsum(np.pad(image, [(radius + 1, radius) if k == axis else (0, 0) for k in (0, 1)]), axis=axis)
    ahead, behind = np.split(sums, [2 * radius + 1], axis=axis)[1], np.split(sums, [-2 * radius - 1], axis=axis)[0]
    return (ahead - behind) / (2 * radius + 1)


def _between(image: Any, x: Any, y: Any) -> Any:
    """Return (n,): values of an image between its pixels, by bilinear interpolation."""
    column, row = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    right, down = x - column, y - row
    upper = image[row, column] * (1 - right) + image[row, column + 1] * right
    lower = image[row + 1, column] * (1 - right) + image[row + 1, column + 1] * right
    return upper * (1 - down) + lower * down
