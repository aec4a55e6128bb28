"""Solid cubes on a regular grid.

Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing (1987), except that the distance to
each wall is computed from the wall's own position instead of added up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel
from kinema.constants import THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.world.grids import cell_of, cell_sizes, next_wall, slab
from kinema.world.ground import Ground
from kinema.world.rays import Hits, RayHit, Rays, cast_all, load_ray, miss, point_along, store_hit

_INSIDE, _OUTSIDE = -1, -2
"""Instead of the axis (0, 1, 2) of the wall that a ray entered through: it starts inside; it never enters."""


class VoxelCells(NamedTuple):
    """What the kernels read."""

    filled: Any
    """(nx, nz, ny): columns are contiguous in memory, because most rays go down."""
    low: Any
    """The lowest corner of the grid, metres."""
    size: Any
    """The size of a cell along x, y and z, metres."""


@kernel
def _within(start, low, high):
    """Return whether a coordinate is inside. A cell owns its lower wall but not its upper one; so does the grid."""
    return start >= low and start < high


@kernel
def _enter_grid(origin, unit, low, high):
    """Return the distance at which a ray enters the grid, and the axis of the wall that it enters through."""
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
    """Return the normal of the wall that a ray came through, or the reversed ray if it started inside."""
    if axis == _INSIDE:
        return (-unit[0], -unit[1], -unit[2])
    side = -1.0 if unit[axis] > 0.0 else 1.0
    return (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)


@kernel
def meet(ray, cells):
    """Cast one ray: enter the grid, then go from cell to cell until one is filled."""
    nx, nz, ny = cells.filled.shape
    origin, unit, low, size = ray.origin, ray.unit, cells.low, cells.size
    high = (low[0] + nx * size[0], low[1] + ny * size[1], low[2] + nz * size[2])
    t, axis = _enter_grid(origin, unit, low, high)
    if axis == _OUTSIDE or t > ray.reach:
        return miss(ray)
    entry = point_along(ray, t)
    x = cell_of(entry[0], low[0], size[0], nx)
    y = cell_of(entry[1], low[1], size[1], ny)
    z = cell_of(entry[2], low[2], size[2], nz)
    wall_x = next_wall(origin[0], unit[0], low[0], size[0], x)
    wall_y = next_wall(origin[1], unit[1], low[1], size[1], y)
    wall_z = next_wall(origin[2], unit[2], low[2], size[2], z)
    for _ in range(nx + ny + nz):
        if cells.filled[x, z, y]:
            return RayHit(True, t, _normal(axis, unit))
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
        if t > ray.reach or x < 0 or x >= nx or y < 0 or y >= ny or z < 0 or z >= nz:
            break
    return miss(ray)


@batch
def _cast_range(start, stop, rays, hits, cells):
    for i in range(start, stop):
        ray = load_ray(rays, i)
        store_hit(hits, i, ray, meet(ray, cells))


class VoxelGrid(Ground):
    """Solid cells of a regular grid.

    Parameters
    ----------
    filled
        (nx, ny, nz), booleans: which cells are solid.
    origin
        (3,), metres: the lowest corner of cell [0, 0, 0].
    size
        Size of a cell, metres: one number, or (3,) for x, y and z.

    Raises
    ------
    InputError
        If a shape or a type is wrong, a number is not finite, or a size is not above zero.

    Notes
    -----
    A ray that starts inside a filled cell hits at distance 0, and the normal is its reversed direction. A cell owns its
    lower walls: a ray along the wall between two cells belongs to the upper one. A ray passes one wall at a time; at an
    edge or a corner x comes first, then y, then z. So no ray slips through between two cells that share a wall.

    Examples
    --------
    >>> float(km.VoxelGrid([[[True]]]).cast((0.5, 3, 0.5), (0, -1, 0), 10).distance)
    2.0
    """

    def __init__(self, filled: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0), size: ArrayLike = 1.0) -> None:
        cells = validation.booleans("filled", filled)
        if cells.ndim != 3 or cells.size == 0:
            raise InputError(f"filled must have shape (nx, ny, nz), none of them 0, got {cells.shape}")
        low = validation.vector("origin", origin)
        columns = np.array(cells.transpose(0, 2, 1), order="C")
        self._shape = VoxelCells(columns, tuple(low.tolist()), tuple(cell_sizes("size", size, 3).tolist()))

    def __repr__(self) -> str:
        (x, z, y), sizes = self._shape.filled.shape, " by ".join(f"{size:g}" for size in self._shape.size)
        return f"VoxelGrid({x} by {y} by {z} cells of {sizes}, {int(self._shape.filled.sum())} filled)"

    def _cast(self, rays: Rays) -> Hits:
        return cast_all(rays, _cast_range, (self._shape,), THREADS_FROM_ITERATIVE)
