"""The grounds that scenes offer: as a ground to walk on, at any size, and as a solid mesh to draw."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from kinema.demo.scenes.own_ground import OwnGround
from kinema.demo.scenes.walk_round import Round
from kinema.demo.terrain import course, rocks, slope, stairs, voxel_cells
from kinema.world.ground import Ground
from kinema.world.terrain import Terrain
from kinema.world.triangle_mesh import TriangleMesh
from kinema.world.voxel_grid import VoxelGrid

TURNING = 1.35
"""Radius of the half circles at both ends of a walk, metres: wide enough for a person at walking pace."""
MARGIN = 0.25
"""Distance from there to the end of the ground, metres."""
BASE = -0.3
"""Height of the lower edge of a ground's mesh, metres."""
STEEP, LEVEL = 15.0, 6.0
"""Angle of the slope, degrees, and length of the level ground, metres."""

TERRAINS: dict[str, tuple[Callable[[], Terrain], str]] = {
    "course": (course, "demo.course()"),
    "slope": (lambda: slope(STEEP), f"demo.slope({STEEP:g})"),
    "stairs": (stairs, "demo.stairs()"),
    "rocks": (rocks, "demo.rocks()"),
    "level": (lambda: slope(0.0, LEVEL), f"demo.slope(0, {LEVEL:g})"),
}
"""Functions that make each terrain, and how a script calls them."""

NAMES = ("course", "slope", "stairs", "rocks", "voxels", "level")
LABELS = ("Course", "Slope", "Stairs", "Rocks", "Blocks", "Level ground")
"""What the page calls them."""


@lru_cache(maxsize=8)
def ground_of(name: str | OwnGround, size: float) -> Ground:
    """Return a ground by name, or one from a file, scaled by `size` relative to a person."""
    if isinstance(name, OwnGround):
        return TriangleMesh(name.vertices * size, name.triangles)
    if name == "voxels":
        filled, origin, block = voxel_cells()
        return VoxelGrid(filled, origin * size, block * size)
    vertices, triangles = TERRAINS[name][0]().mesh()
    return TriangleMesh(vertices * size, triangles)


def script_of(name: str | OwnGround, size: float) -> list[str]:
    """Return lines of a script that make the ground."""
    if isinstance(name, OwnGround):
        return name.script(size)
    if name == "voxels":
        lines = ["filled, origin, block = demo.terrain.voxel_cells()"]
        return [*lines, f"ground = km.VoxelGrid(filled, origin * {size:.9g}, block * {size:.9g})"]
    lines = [f"vertices, triangles = {TERRAINS[name][1]}.mesh()"]
    return [*lines, f"ground = km.TriangleMesh(vertices * {size:.9g}, triangles)"]


@lru_cache(maxsize=8)
def round_of(name: str | OwnGround) -> Round:
    """Return the path over a ground, metres."""
    if isinstance(name, OwnGround):
        radius = min(TURNING, name.half_width - MARGIN, name.length / 2 - MARGIN)
        return Round(radius + MARGIN, name.length - radius - MARGIN, radius)
    if name == "voxels":
        filled, _, block = voxel_cells()
        length = filled.shape[2] * block
    else:
        length = TERRAINS[name][0]().length
    return Round(TURNING + MARGIN, length - TURNING - MARGIN, TURNING)


# --- meshes ------------------------------------------------------------------------------------------------------


def bounds_of(name: str | OwnGround, margin: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the lowest and the highest x and z of a ground, less a margin, metres."""
    if isinstance(name, OwnGround):
        return (margin - name.half_width, margin), (name.half_width - margin, name.length - margin)
    way, wide = round_of(name), TURNING + MARGIN - margin
    return (-wide, way.near - wide), (wide, way.far + wide)


def body_of(name: str | OwnGround) -> tuple[Any, Any]:
    """Return vertices (V, 3), metres, and triangles (T, 3) of a ground as a solid down to `BASE`, open below; of one
    from a file, as it is.
    """
    if isinstance(name, OwnGround):
        return name.vertices, name.triangles
    return _blocks(*voxel_cells()) if name == "voxels" else _slab(TERRAINS[name][0]())


def _slab(terrain: Terrain) -> tuple[Any, Any]:
    """Return the surface with walls all around."""
    vertices, triangles = terrain.mesh()
    grid = np.arange(len(vertices)).reshape(len(np.unique(vertices[:, 0])), -1)
    parts, faces, count = [vertices], [triangles], len(vertices)
    for rim in (grid[0], grid[-1][::-1], grid[:, 0][::-1], grid[:, -1]):
        below = vertices[rim] * (1.0, 0.0, 1.0) + (0.0, BASE, 0.0)
        low = count + np.arange(len(rim))
        faces += [np.stack((rim[:-1], low[:-1], low[1:]), 1), np.stack((rim[:-1], low[1:], rim[1:]), 1)]
        parts.append(below)
        count += len(below)
    return np.concatenate(parts), np.concatenate(faces)


_FACES = {  # Of a unit block: the normal, and the corners counter-clockwise as seen from outside.
    (0, 1, 0): ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
    (1, 0, 0): ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
    (-1, 0, 0): ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)),
    (0, 0, 1): ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
    (0, 0, -1): ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)),
}


def _blocks(filled: Any, origin: Any, block: float) -> tuple[Any, Any]:
    """Return the visible faces of blocks; the lowest blocks extend down to the base."""
    padded = np.pad(filled, 1)
    squares = []
    for out, corners in _FACES.items():
        beyond = np.roll(padded, [-step for step in out], axis=(0, 1, 2))
        at = np.argwhere(padded & ~beyond) - 1
        squares.append(at[:, np.newaxis] + np.array(corners))
    vertices = np.concatenate(squares).reshape(-1, 3) * block + origin
    vertices[vertices[:, 1] < origin[1] + block / 2, 1] = BASE
    first = 4 * np.arange(len(vertices) // 4)[:, np.newaxis]
    return vertices, np.concatenate((first + (0, 1, 2), first + (0, 2, 3)))
