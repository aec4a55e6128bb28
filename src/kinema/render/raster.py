"""Triangles into pixels: which triangle is nearest in each, in parallel projection, with NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kinema.render.constants import RASTER_PIECE, SMALL_TRIANGLE


class Fragments(NamedTuple):
    """What is seen in each pixel of a picture (height, width)."""

    owner: Any
    """(height, width): the nearest triangle, -1 where there is none."""
    depth: Any
    """(height, width): how far away it is, infinite where there is none."""
    shares: Any
    """(n, 3): of each pixel that has one, row by row: how much each corner of its triangle has to say there."""

    @property
    def seen(self) -> Any:
        """(height, width): where there is any."""
        return self.owner >= 0

    def of(self, triangles: Any, values: Any) -> Any:
        """(n, ...): values given by vertex, (V, ...), where they are seen. triangles: (T, 3)."""
        return np.einsum("nk,nk...->n...", self.shares, values[triangles[self.owner[self.seen]]])


def fill(points: Any, triangles: Any, shape: tuple[int, int]) -> Fragments:
    """The nearest triangle of each pixel; of equally near ones any, always the same.

    points: (V, 3): x to the right and y down, in pixels, and depth, away from the eye. triangles: (T, 3), seen from
    either side. shape: height and width.
    """
    owner, depth = np.full(shape, -1, np.int32), np.full(shape, np.inf)
    corners = np.asarray(points, np.float64)[triangles]
    low = np.maximum(np.ceil(corners[..., :2].min(axis=1) - 0.5), 0).astype(np.int64)
    high = np.minimum(np.floor(corners[..., :2].max(axis=1) - 0.5), (shape[1] - 1, shape[0] - 1)).astype(np.int64)
    drawn = np.flatnonzero((low <= high).all(axis=1) & (_area(corners) != 0.0))
    sides = (high - low).max(axis=1)[drawn] + 1
    for size, some in _batches(drawn, sides):
        _fill_batch(some, size, corners[some], low[some], high[some], owner, depth)
    for k in drawn[sides > SMALL_TRIANGLE]:
        _fill_one(k, corners[k], low[k], high[k], owner, depth)
    y, x = np.nonzero(owner >= 0)
    return Fragments(owner, depth, np.stack(_shares(corners[owner[y, x]], x + 0.5, y + 0.5), axis=-1))


def facing(points: Any, triangles: Any) -> Any:
    """The triangles (T, 3) that show their fronts: counter-clockwise as seen, which is clockwise with y down.

    points: (V, 3), as in `fill`. Of a closed body the others are never seen.
    """
    return triangles[_area(points[triangles]) < 0.0]


def _area(corners: Any) -> Any:
    """(n,): twice the area of triangles (n, 3, 2 or 3), negative for those that turn the other way."""
    a, b, c = (corners[:, k] for k in range(3))
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def _shares(corners: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """How much each corner has to say at x, y: all within 0 to 1 inside. corners: (n, 3, 3); x, y: (n, ...)."""
    lead = (slice(None), *(np.newaxis,) * (np.ndim(x) - 1))
    (ax, ay), (bx, by), (cx, cy) = ((corners[:, k, 0][lead], corners[:, k, 1][lead]) for k in range(3))
    area = _area(corners)[lead]
    first = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
    second = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
    return first, second, 1.0 - first - second


def _batches(drawn: Any, sides: Any) -> Iterator[tuple[int, Any]]:
    """Small triangles of about one size, and that size, a piece at a time."""
    size = 1
    while size <= SMALL_TRIANGLE:
        alike = drawn[(sides <= size) & (sides > size // 2)]
        step = max(1, RASTER_PIECE // size**2)
        for first in range(0, len(alike), step):
            yield size, alike[first : first + step]
        size *= 2


def _fill_batch(which: Any, size: int, corners: Any, low: Any, high: Any, owner: Any, depth: Any) -> None:
    """Draw triangles into squares of this size from their lowest pixels on, all at once."""
    step = np.arange(size)
    x, y = (low[:, axis, np.newaxis] + step for axis in (0, 1))
    in_box = (x <= high[:, :1])[:, np.newaxis, :] & (y <= high[:, 1:])[:, :, np.newaxis]
    first, second, third = _shares(corners, x[:, np.newaxis, :] + 0.5, y[:, :, np.newaxis] + 0.5)
    inside = np.nonzero(in_box & (first >= 0) & (second >= 0) & (third >= 0))
    k, row, column = inside
    far = first[inside] * corners[k, 0, 2] + second[inside] * corners[k, 1, 2] + third[inside] * corners[k, 2, 2]
    pixel = y[k, row] * owner.shape[1] + x[k, column]
    # The last one written to a pixel stays: the nearest, and of equals the first triangle.
    order = np.lexsort((-k, -far))
    order = order[far[order] < depth.reshape(-1)[pixel[order]]]
    depth.reshape(-1)[pixel[order]] = far[order]
    owner.reshape(-1)[pixel[order]] = which[k[order]]


def _fill_one(which: int, corners: Any, low: Any, high: Any, owner: Any, depth: Any) -> None:
    """Draw one large triangle."""
    x = np.arange(low[0], high[0] + 1) + 0.5
    y = np.arange(low[1], high[1] + 1)[:, np.newaxis] + 0.5
    first, second, third = (
        share[0] for share in _shares(corners[np.newaxis], x[np.newaxis, np.newaxis], y[np.newaxis])
    )
    far = first * corners[0, 2] + second * corners[1, 2] + third * corners[2, 2]
    window = (slice(low[1], high[1] + 1), slice(low[0], high[0] + 1))
    nearer = (first >= 0) & (second >= 0) & (third >= 0) & (far < depth[window])
    depth[window][nearer], owner[window][nearer] = far[nearer], which
