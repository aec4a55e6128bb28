"""The shadow of a body on its ground: its silhouette as seen from the sun, with a soft edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.render.camera import along, axes_looking
from kinema.render.meshes import Mesh
from kinema.render.raster import fill

DETAIL = 220
"""Pixels of the silhouette per body size."""

LONGEST_SIDE = 2048
"""Pixels: longest side of the silhouette. Larger scenes get less detail."""

SOFT = 4
"""Pixels of the silhouette over which each of two passes blurs its edge, to either side."""


def shade_ground(mesh: Mesh, sun: Any, points: Any) -> Any:
    """Return (n,): how dark the shadow of a mesh is at points (n, 3) of the ground, 0 to 1.

    sun: (3,), direction towards the sun. Ground above the mesh is shaded as ground below it is.
    """
    axes, border = axes_looking(-np.asarray(sun))[:2], 2 * SOFT
    outline, at = along(axes, mesh.vertices), along(axes, points)
    corner = outline.min(axis=0)
    detail = min(DETAIL, LONGEST_SIDE / max(float((outline.max(axis=0) - corner).max()), LONGEST_SIDE / DETAIL))
    outline, at = ((each - corner) * detail + border for each in (outline, at))
    width, height = np.ceil(outline.max(axis=0)).astype(int) + 1 + border
    flat = np.concatenate((outline, np.zeros((len(outline), 1))), axis=1)
    dark = fill(flat, mesh.triangles, (height, width)).seen.astype(float)
    for axis in (0, 1, 0, 1):  # Two box blurs make a tent: no visible edge remains.
        dark = sum(np.roll(dark, k, axis) for k in range(-SOFT, SOFT + 1)) / (2 * SOFT + 1)
    column, row = np.floor(at).astype(np.int64).T
    reached = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    shade = np.zeros(len(points))
    shade[reached] = dark[row[reached], column[reached]]
    return shade
