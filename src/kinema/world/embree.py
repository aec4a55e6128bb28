"""Embree, by way of the package embreex, as the one that names a triangle for each ray.

Embree computes in float32, so it is asked about a mesh moved to its middle and scaled to size 1, with rays that start
where they come into its box, and its triangles are a little larger than they are: within that rounding it names one of
the triangles at an edge, but never none. What it names is checked in float64; see `triangle_tree.cast_range`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from kinema._jit import batch
from kinema.constants import EMBREE_MARGIN, EMBREE_SHARPEST
from kinema.world.grids import box
from kinema.world.rays import Rays, at


@batch
def _shrink(order, origins, units, reaches, low, high, scale, margin, starts, directions, lengths):
    """Rays cut to the box around the mesh, in its own scale and float32; those that pass it by get a length of -1."""
    lowest, highest = at(low, 0), at(high, 0)
    for j in range(order.size):
        i = order[j]
        origin, unit = at(origins, i), at(units, i)
        first, last = box(origin, unit, lowest, highest)
        first, last = max(first, 0.0), min(last, reaches[i])
        lengths[j] = (last - first) * scale + 2.0 * margin if first <= last else -1.0
        back = first - margin / scale if first <= last else 0.0
        for c in range(3):
            middle = 0.5 * (lowest[c] + highest[c])
            starts[3 * j + c] = (origin[c] - middle + unit[c] * back) * scale if first <= last else 0.0
            directions[3 * j + c] = unit[c]


class Embree:
    """A mesh inside Embree."""

    def __init__(self, corners: Any) -> None:
        """corners: (T, 3, 3), T at least 1."""
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        self._scale = 1.0 / float(np.max(high - low))
        room = EMBREE_MARGIN / self._scale
        self._low, self._high = low - room, high + room
        self._scene = import_module("embreex.rtcore_scene").EmbreeScene()
        mesh = _grown((corners - 0.5 * (low + high)) * self._scale)
        self._mesh = import_module("embreex.mesh_construction").TriangleMesh(self._scene, mesh)

    def name(self, rays: Rays, order: Any) -> Any:
        """For each ray, in this order, the triangle it meets first, or -1."""
        count = rays.reaches.size
        starts, directions = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
        lengths, around = np.empty(count, np.float32), (self._low, self._high, self._scale)
        _shrink(order, *rays, *around, EMBREE_MARGIN, starts.reshape(-1), directions.reshape(-1), lengths)
        return self._scene.run(starts, directions, dists=lengths)


def _grown(corners: Any) -> Any:
    """Every edge moved outwards by a margin: corners pushed out along both edges that end there; float32."""
    sides = corners[:, (1, 2, 0)] - corners
    lengths = np.linalg.norm(sides, axis=-1, keepdims=True)
    sides /= np.where(lengths > 0.0, lengths, 1.0)  # An edge may be nothing next to the size of the mesh.
    before = sides[:, (2, 0, 1)]
    sharpness = np.linalg.norm(np.cross(before, sides), axis=-1, keepdims=True)
    pushed = corners + (before - sides) * (EMBREE_MARGIN / np.maximum(sharpness, EMBREE_SHARPEST))
    return np.ascontiguousarray(pushed, np.float32)
