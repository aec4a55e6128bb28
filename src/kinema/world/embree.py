"""Embree, through the package embreex: finds a candidate triangle for each ray.

Embree computes in float32. To keep its rounding small, the mesh is centred and scaled to size 1, and rays start where
they enter its box. Triangles are slightly enlarged, so that a ray through a shared edge finds one of the triangles
there, never none. Each candidate is then checked in float64; see `triangle_tree.cast_range`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch
from kinema.world.grids import box
from kinema.world.rays import Rays, load_ray

EMBREE_MARGIN = 1e-5
"""How much triangles are enlarged for Embree, in sizes of the mesh: many roundings of float32 (6e-8), which slanted
rays multiply. Rays that pass an edge within this margin are cast again without Embree."""

EMBREE_SHARPEST = 0.01
"""Sine of the angle below which a triangle's corner moves out no farther: a sharp corner would go on forever."""


class MeshBox(NamedTuple):
    """The box around a mesh, and the scale that makes its largest side 1."""

    low: Any
    high: Any
    scale: float


class EmbreeRays(NamedTuple):
    """N rays in Embree's scale, float32."""

    starts: Any
    """(N, 3)."""
    directions: Any
    """(N, 3): unit vectors."""
    lengths: Any
    """(N,): -1 for a ray that misses the box."""


@batch
def _clip_to_box(rays, order, mesh, out):
    """Clip rays to the box around the mesh and write them, in this order, in Embree's scale."""
    for j in range(order.size):
        ray = load_ray(rays, order[j])
        first, last = box(ray.origin, ray.unit, mesh.low, mesh.high)
        first, last = max(first, 0.0), min(last, ray.reach)
        out.lengths[j] = (last - first) * mesh.scale + 2.0 * EMBREE_MARGIN if first <= last else -1.0
        back = first - EMBREE_MARGIN / mesh.scale if first <= last else 0.0
        for c in range(3):
            middle = 0.5 * (mesh.low[c] + mesh.high[c])
            start = (ray.origin[c] - middle + ray.unit[c] * back) * mesh.scale
            out.starts[j, c] = start if first <= last else 0.0
            out.directions[j, c] = ray.unit[c]


def clip_rays(rays: Rays, order: Any, mesh: MeshBox) -> EmbreeRays:
    """Clip rays to the box around a mesh, in this order."""
    count = rays.reaches.size
    starts, directions = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
    clipped = EmbreeRays(starts, directions, np.empty(count, np.float32))
    _clip_to_box(rays, order, mesh, clipped)
    return clipped


class Embree:
    """A mesh that Embree holds."""

    def __init__(self, corners: Any) -> None:
        """corners: (T, 3, 3), T at least 1."""
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        scale = 1.0 / float(np.max(high - low))
        room = EMBREE_MARGIN / scale
        self._box = MeshBox(tuple((low - room).tolist()), tuple((high + room).tolist()), scale)
        self._scene = import_module("embreex.rtcore_scene").EmbreeScene()
        mesh = _enlarged((corners - 0.5 * (low + high)) * scale)
        self._mesh = import_module("embreex.mesh_construction").TriangleMesh(self._scene, mesh)

    def candidates(self, rays: Rays, order: Any) -> Any:
        """Return (N,): for each ray, in this order, the index of the first triangle that it hits, or -1."""
        clipped = clip_rays(rays, order, self._box)
        return self._scene.run(clipped.starts, clipped.directions, dists=clipped.lengths)


def _enlarged(corners: Any) -> Any:
    """Move every edge of the triangles outwards by the margin. Return their corners as float32.

    Each corner moves out along the two edges that end there.
    """
    sides = corners[:, (1, 2, 0)] - corners
    lengths = np.linalg.norm(sides, axis=-1, keepdims=True)
    sides /= np.where(lengths > 0.0, lengths, 1.0)  # An edge may vanish at the scale of the mesh.
    before = sides[:, (2, 0, 1)]
    sharpness = np.linalg.norm(np.cross(before, sides), axis=-1, keepdims=True)
    pushed = corners + (before - sides) * (EMBREE_MARGIN / np.maximum(sharpness, EMBREE_SHARPEST))
    return np.ascontiguousarray(pushed, np.float32)
