"""A mesh of triangles."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.constants import SMALLEST_CELL, SORTED_FROM, THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.world import triangle_tree
from kinema.world.embree import Embree
from kinema.world.ground import Ground
from kinema.world.rays import Hits, Rays, each

_ACCELERATORS = ("auto", "kernel", "embree")


class TriangleMesh(Ground):
    """Triangles; seen from the front of one, its corners run counter-clockwise.

    vertices: (V, 3), metres. triangles: (T, 3), indices into vertices. Triangles without an area are left out. A ray
    through an edge or a corner that triangles share meets one of them.

    accelerator: "kernel", a tree of boxes in float64; "embree", the package embreex (the extra `mesh`), where within
    a millionth of the mesh's size surfaces may be taken for one another, and a ray may pass the free edge of one;
    "auto", embree where it is installed. The attribute `accelerator` says which one it is.
    """

    def __init__(
        self, vertices: ArrayLike, triangles: ArrayLike, *, accelerator: str = "auto", two_sided: bool = True
    ) -> None:
        corners = _corners(vertices, triangles)
        self.accelerator = _chosen(accelerator)
        tree, order = triangle_tree.build(corners)
        self._shape = (*tree, bool(two_sided))
        self._low, self._high = np.zeros(3), np.zeros(3)
        if len(corners):
            self._low, self._high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        # Embree gets the triangles in the order of the tree, so that what it names is a triangle of the tree.
        self._embree = Embree(corners[order]) if self.accelerator == "embree" and len(corners) else None

    def _cast(self, rays: Rays) -> Hits:
        order = self._neighbours(rays)
        guesses = self._embree.name(rays, order) if self._embree else np.full(order.size, -1, np.int32)
        return each(rays, triangle_tree.cast_range, (*self._shape, order, guesses), THREADS_FROM_ITERATIVE)

    def _neighbours(self, rays: Rays) -> Any:
        """An order in which rays to the same part of the mesh, which find it in the cache, follow each other: by where
        they cross the middle of its thinnest axis, in 256 by 256 places.
        """
        if rays.reaches.size < SORTED_FROM:
            return np.arange(rays.reaches.size)
        origins, units, size = rays.origins.reshape(-1, 3), rays.units.reshape(-1, 3), self._high - self._low
        thin, *wide = np.argsort(size)
        gap, speed = 0.5 * (self._low + self._high)[thin] - origins[:, thin], units[:, thin]
        crosses = (gap * speed > 0.0) & (np.abs(gap) < np.abs(speed) * rays.reaches)
        along = gap / np.where(crosses, speed, 1.0) * crosses
        x, z = (
            np.clip((origins[:, c] + units[:, c] * along - self._low[c]) / max(size[c], SMALLEST_CELL), 0.0, 1.0)
            for c in wide
        )
        return np.argsort((255.0 * x).astype(np.uint16) * np.uint16(256) + (255.0 * z).astype(np.uint16), kind="stable")


def _corners(vertices: ArrayLike, triangles: ArrayLike) -> Any:
    """Corners, (T, 3, 3), of every triangle that has an area."""
    points = validation.vectors("vertices", vertices, 3, np.float64)
    if points.ndim != 2:
        raise InputError(f"vertices must have shape (V, 3), got {points.shape}")
    indices = np.asarray(triangles)
    if indices.dtype.kind not in "iu":
        raise InputError(f"triangles must be whole numbers, got {indices.dtype}")
    if indices.ndim != 2 or indices.shape[1] != 3:
        raise InputError(f"triangles must have shape (T, 3), got {indices.shape}")
    wrong = (indices < 0) | (indices >= len(points))
    if wrong.any():
        place, at = validation.first("triangles", wrong)
        raise InputError(f"{place} is {indices[at]}; allowed are 0 to {len(points) - 1}, one for each of the vertices")
    corners = points[indices]
    return corners[np.any(triangle_tree.normals_of(corners) != 0.0, axis=1)]


def _chosen(accelerator: str) -> str:
    if accelerator not in _ACCELERATORS:
        raise InputError(f"accelerator is {accelerator!r:.60}; allowed are {', '.join(map(repr, _ACCELERATORS))}")
    installed = find_spec("embreex") is not None
    if accelerator == "embree" and not installed:
        raise InputError("accelerator is 'embree', and embreex is not installed: pip install embreex, or use 'kernel'")
    return "embree" if installed and accelerator != "kernel" else "kernel"
