"""Solid cubes on a regular grid.

Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing (1987), with the distance to each wall computed
from the wall's own place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel
from kinema.constants import THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.world.grids import cell_of, cell_sizes, next_wall, slab
from kinema.world.ground import Ground
from kinema.world.rays import Hits, Rays, at, each, miss, record

_INSIDE, _OUTSIDE = -1, -2
"""In place of the axis (0, 1, 2) whose wall a ray came through: it starts inside; it never comes in."""


@kernel
def _within(start, low, high):
    """A cell owns its lower walls, not its upper ones, and so does the grid."""
    return start >= low and start < high


@kernel
def _come_in(origin, unit, low, high):
    """Where a ray comes into the grid, and the axis of the wall it comes through."""
    in_x = _within(origin[0], low[0], high[0])
    in_y = _within(origin[1], low[1], high[1])
    in_z = _within(origin[2], low[2], high[2])
    if in_x and in_y and in_z:
        return 0.0, _INSIDE
    if (unit[0] == 0.0 and not in_x) or (unit[1] == 0.0 and not in_y) or (unit[2] == 0.0 and not in_z):
        return 0.0, _OUTSIDE
    enter_x, leave_x = slab(origin[0], unit[0], low[0], high[0])
    enter_y, leave_y = slab(origin[1], unit[1], low[1], high[1])
    enter_z, leave_z = slab(origin[2], unit[2], low[2], high[2])
    enter = max(enter_x, enter_y, enter_z)
    if enter < 0.0 or enter > min(leave_x, leave_y, leave_z):
        return 0.0, _OUTSIDE
    return enter, 0 if enter == enter_x else 1 if enter == enter_y else 2


@kernel
def _normal(axis, unit):
    """Of the wall a ray came through; its own direction reversed where it came through none."""
    if axis == _INSIDE:
        return (-unit[0], -unit[1], -unit[2])
    side = -1.0 if unit[axis] > 0.0 else 1.0
    return (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)


@kernel
def meet(origin, unit, reach, filled, counts, low, size):
    """One ray: into the grid, then from cell to cell through their walls until one is filled."""
    nx, ny, nz = counts
    high = (low[0] + nx * size[0], low[1] + ny * size[1], low[2] + nz * size[2])
    t, axis = _come_in(origin, unit, low, high)
    if axis == _OUTSIDE or t > reach:
        return miss(reach)
    x = cell_of(origin[0] + unit[0] * t, low[0], size[0], nx)
    y = cell_of(origin[1] + unit[1] * t, low[1], size[1], ny)
    z = cell_of(origin[2] + unit[2] * t, low[2], size[2], nz)
    wall_x = next_wall(origin[0], unit[0], low[0], size[0], x)
    wall_y = next_wall(origin[1], unit[1], low[1], size[1], y)
    wall_z = next_wall(origin[2], unit[2], low[2], size[2], z)
    for _ in range(nx + ny + nz):
        if filled[(x * nz + z) * ny + y]:
            return True, t, _normal(axis, unit)
        if wall_x <= wall_y and wall_x <= wall_z:
            axis, t = 0, max(t, wall_x)
            x += 1 if unit[0] > 0.0 else -1
            wall_x = next_wall(origin[0], unit[0], low[0], size[0], x)
        elif wall_y <= wall_z:
            axis, t = 1, max(t, wall_y)
            y += 1 if unit[1] > 0.0 else -1
            wall_y = next_wall(origin[1], unit[1], low[1], size[1], y)
        else:
            axis, t = 2, max(t, wall_z)
            z += 1 if unit[2] > 0.0 else -1
            wall_z = next_wall(origin[2], unit[2], low[2], size[2], z)
        if t > reach or x < 0 or x >= nx or y < 0 or y >= ny or z < 0 or z >= nz:
            break
    return miss(reach)


@batch
def _cast_range(start, stop, origins, units, reaches, filled, counts, low, size, hits, points, normals, distances):
    for i in range(start, stop):
        origin, unit = at(origins, i), at(units, i)
        answer = meet(origin, unit, reaches[i], filled, at(counts, 0), at(low, 0), at(size, 0))
        record(i, origin, unit, answer, hits, points, normals, distances)


class VoxelGrid(Ground):
    """Filled cells of a regular grid, solid.

    filled: (nx, ny, nz), booleans. origin: (3,), the lowest corner of cell [0, 0, 0]. size: metres, of a cell; one
    number or (3,).

    A ray that starts inside a filled cell hits at distance 0 with its own direction, reversed, for a normal. A cell
    owns its lower walls: a ray along the wall between two cells runs in the upper one. Rays go from cell to cell,
    through one wall at a time, x before y before z where they pass an edge or a corner, and so never between two cells
    that share a wall.
    """

    def __init__(self, filled: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0), size: ArrayLike = 1.0) -> None:
        cells = np.asarray(filled)
        if cells.dtype != np.bool_:
            raise InputError(f"filled must be an array of booleans, got {cells.dtype}")
        if cells.ndim != 3 or cells.size == 0:
            raise InputError(f"filled must have shape (nx, ny, nz), none of them 0, got {cells.shape}")
        low = validation.vectors("origin", origin, 3, np.float64)
        if low.ndim != 1:
            raise InputError(f"origin must have shape (3,), got {low.shape}")
        counts = np.array(cells.shape, np.int64)
        # Columns in one piece: most rays go down.
        self._shape = (cells.transpose(0, 2, 1).flatten(), counts, low.copy(), cell_sizes("size", size, 3))

    def _cast(self, rays: Rays) -> Hits:
        return each(rays, _cast_range, self._shape, THREADS_FROM_ITERATIVE)
