"""A rasteriser in NumPy: the nearest triangle of each pixel, in parallel projection."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

SMALL_TRIANGLE = 32
"""Pixels. Triangles up to this side are filled in batches; larger ones one by one."""

RASTER_BATCH = 2**20
"""Pixels of small triangles that are filled at once: fits the cache and bounds the memory."""


class Fragments(NamedTuple):
    """What each pixel shows."""

    owner: Any
    """(height, width): index of the nearest triangle, -1 where there is none."""
    depth: Any
    """(height, width): its depth, infinite where there is none."""
    shares: Any
    """(n, 3): barycentric coordinates of each pixel that shows a triangle, row by row."""

    @property
    def seen(self) -> Any:
        """(height, width): whether a pixel shows a triangle."""
        return self.owner >= 0

    def of(self, triangles: Any, values: Any) -> Any:
        """Interpolate values given per vertex (V, ...) at the n pixels that show a triangle. triangles: (T, 3)."""
        return np.einsum("nk,nk...->n...", self.shares, values[triangles[self.owner[self.seen]]])


def fill(points: Any, triangles: Any, shape: tuple[int, int]) -> Fragments:
    """Find the nearest triangle of each pixel. Ties are broken the same way every time.

    points: (V, 3), x to the right and y down in pixels, and depth. triangles: (T, 3), visible from both sides. shape:
    height and width in pixels.
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
    """Return the triangles (T, 3) whose front is visible: counter-clockwise as seen, which is clockwise with y down.

    points: (V, 3), as in `fill`. The other triangles of a closed body are never visible.
    """
    return triangles[_area(points[triangles]) < 0.0]


def _area(corners: Any) -> Any:
    """Return (n,): twice the signed area of triangles (n, 3, 2 or 3)."""
    a, b, c = (corners[:, k] for k in range(3))
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def _shares(corners: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return barycentric coordinates at x, y (n, ...) of triangles with corners (n, 3, 3)."""
    lead = (slice(None), *(np.newaxis,) * (np.ndim(x) - 1))
    (ax, ay), (bx, by), (cx, cy) = ((corners[:, k, 0][lead], corners[:, k, 1][lead]) for k in range(3))
    area = _area(corners)[lead]
    first = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
    second = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
    return first, second, 1.0 - first - second


def _batches(drawn: Any, sides: Any) -> Iterator[tuple[int, Any]]:
    """Yield batches of small triangles of about one size, with that size."""
    size = 1
    while size <= SMALL_TRIANGLE:
        alike = drawn[(sides <= size) & (sides > size // 2)]
        step = max(1, RASTER_BATCH // size**2)
        for first in range(0, len(alike), step):
            yield size, alike[first : first + step]
        size *= 2


def _fill_batch(which: Any, size: int, corners: Any, low: Any, high: Any, owner: Any, depth: Any) -> None:
    """Draw triangles at once, each within a square of this size."""
    step = np.arange(size)
    x, y = (low[:, axis, np.newaxis] + step for axis in (0, 1))
    in_box = (x <= high[:, :1])[:, np.newaxis, :] & (y <= high[:, 1:])[:, :, np.newaxis]
    first, second, third = _shares(corners, x[:, np.newaxis, :] + 0.5, y[:, :, np.newaxis] + 0.5)
    inside = np.nonzero(in_box & (first >= 0) & (second >= 0) & (third >= 0))
    k, row, column = inside
    far = first[inside] * corners[k, 0, 2] + second[inside] * corners[k, 1, 2] + third[inside] * corners[k, 2, 2]
    pixel = y[k, row] * owner.shape[1] + x[k, column]
    # The last value written to a pixel stays: the nearest, and of equals the first triangle.
    order = np.lexsort((-k, -far))
    order = order[far[order] < depth.reshape(-1)[pixel[order]]]
    depth.reshape(-1)[pixel[order]] = far[order]
    owner.reshape(-1)[pixel[order]] = which[k[order]]


def _fill_one(which: int, corners: Any, low: Any, high: Any, owner: Any, depth: Any) -> None:
    x = np.arange(low[0], high[0] + 1) + 0.5
    y = np.arange(low[1], high[1] + 1)[:, np.newaxis] + 0.5
    first, second, third = (
        share[0] for share in _shares(corners[np.newaxis], x[np.newaxis, np.newaxis], y[np.newaxis])
    )
    far = first * corners[0, 2] + second * corners[1, 2] + third * corners[2, 2]
    window = (slice(low[1], high[1] + 1), slice(low[0], high[0] + 1))
    nearer = (first >= 0) & (second >= 0) & (third >= 0) & (far < depth[window])
    depth[window][nearer], owner[window][nearer] = far[nearer], which
