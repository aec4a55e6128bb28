"""Heights on a regular grid, joined by bilinear patches.

In one cell the surface is y = c0 + c1 a + c2 b + c3 a b, with a and b from 0 to 1 along x and z. The height of a ray
above it is therefore a quadratic in the distance along the ray. A ray is followed from cell to cell. On a shared edge
both cells compute its height above the surface to the same bits, so it cannot slip through between them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel
from kinema.constants import THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.math import vec
from kinema.world.grids import box, cell_of, cell_sizes, next_wall
from kinema.world.ground import Ground
from kinema.world.rays import Hits, RayHit, Rays, cast_all, face_ray, load_ray, miss, point_along, store_hit

HEIGHT_MARGIN = 1e-6
"""Fraction of its height by which the box around a height field is thicker than the field: a flat one has a box too."""

_NONE = 2.0
"""Instead of a fraction of the way across a cell, 0 to 1: the ray does not hit the patch."""


class HeightGrid(NamedTuple):
    """What the kernels read."""

    heights: Any
    """(nx, nz), metres."""
    holes: Any
    """(nx - 1, nz - 1): cells without ground."""
    low: Any
    """The lowest corner of a box around the surface, metres."""
    high: Any
    """The highest corner of that box."""
    size: Any
    """The size of a cell along x and z, metres."""
    two_sided: bool


# --- one patch -------------------------------------------------------------------------------------------------


@kernel
def _corners(heights, i, j):
    """Return the heights at (a, b) = (0, 0), (1, 0), (0, 1), (1, 1) of a cell."""
    return heights[i, j], heights[i + 1, j], heights[i, j + 1], heights[i + 1, j + 1]


@kernel
def _height(corners, a, b):
    """Return the height at (a, b): exact at the corners, and on an edge the same bits from both cells."""
    h00, h10, h01, h11 = corners
    return (h00 * (1.0 - a) + h10 * a) * (1.0 - b) + (h01 * (1.0 - a) + h11 * a) * b


@kernel
def _up(corners, a, b, size):
    """Return the unit normal that points up: (-dh/dx, 1, -dh/dz), scaled down first so that its square is finite."""
    h00, h10, h01, h11 = corners
    x = ((h10 - h00) * (1.0 - b) + (h11 - h01) * b) / size[0]
    z = ((h01 - h00) * (1.0 - a) + (h11 - h10) * a) / size[1]
    steepest = max(abs(x), abs(z))
    scale = 1.0 / steepest if steepest > 1.0 else 1.0
    return vec.unit_or((-x * scale, scale, -z * scale), (0.0, 1.0, 0.0))


@kernel
def _roots(start, slope, bend):
    """Return the s at which start + slope s + bend s^2, start > 0, falls to zero, and at which it rises again.

    _NONE for a root that is not between 0 and 1.
    """
    square = slope * slope - 4.0 * bend * start
    if square <= 0.0 or (slope >= 0.0 and bend >= 0.0):
        return _NONE, _NONE
    # Compare before dividing: a root far beyond the cell may overflow.
    root = math.sqrt(square)
    if slope >= 0.0:
        return (slope + root) / (-2.0 * bend) if slope + root < -2.0 * bend else _NONE, _NONE
    down = root - slope
    return (
        2.0 * start / down if 2.0 * start < down else _NONE,
        down / (2.0 * bend) if down < 2.0 * bend else _NONE,
    )


@kernel
def _meet_patch(start, end, bend, speed, two_sided):
    """Return where a ray hits a patch, as a fraction of its way across the cell, or _NONE.

    start, end: its height above the patch where it enters and leaves the cell. bend: the quadratic's s^2 term.
    speed: its initial speed away from the patch, used if it starts on the surface; on a short way the other numbers
    do not tell.
    """
    slope = end - start - bend
    if start == 0.0:  # It starts on the surface.
        if speed < 0.0 or (speed > 0.0 and two_sided):
            return 0.0
        return min(-slope / bend, 1.0) if slope > 0.0 and end <= 0.0 else _NONE
    side = 1.0 if start > 0.0 else -1.0
    falls, rises = _roots(side * start, side * slope, side * bend)
    if side * end <= 0.0:  # It ends on the other side, so it has crossed, whatever the rounding.
        falls, rises = min(falls, 1.0), _NONE
    return falls if side > 0.0 or two_sided else rises


# --- one ray ---------------------------------------------------------------------------------------------------


@kernel
def _meet_vertical(ray, grid):
    """Cast a vertical ray, which stays in one cell."""
    nx, nz = grid.heights.shape
    origin, unit, low, size = ray.origin, ray.unit, grid.low, grid.size
    a, b = (origin[0] - low[0]) / size[0], (origin[2] - low[2]) / size[1]
    if a < 0.0 or b < 0.0 or a > nx - 1.0 or b > nz - 1.0:
        return miss(ray)
    i, j = int(min(a, nx - 2.0)), int(min(b, nz - 2.0))
    a, b = a - i, b - j
    corners = _corners(grid.heights, i, j)
    distance = (_height(corners, a, b) - origin[1]) * unit[1]
    if distance < 0.0 or distance > ray.reach or grid.holes[i, j] or (unit[1] > 0.0 and not grid.two_sided):
        return miss(ray)
    return RayHit(True, distance, face_ray(_up(corners, a, b, size), unit))


@kernel
def _facing(normal, unit):
    """Return the normal on the side that a ray came from.

    A ray that hits only the edge of a patch may be moving away from that patch. Then the part of the normal across the
    ray is returned, which lies between the normals of the two patches.
    """
    away = vec.dot(normal, unit) > 0.0
    return vec.select(away, vec.unit_or(vec.reject(normal, unit), vec.scale(unit, -1.0)), normal)


@kernel
def _fraction(position, low, size, cell):
    """Return a coordinate as a fraction of a cell, 0 to 1."""
    return min(max((position - (low + size * cell)) / size, 0.0), 1.0)


@kernel
def _meet_slanted(ray, grid):
    """Cast a ray from cell to cell.

    Only the final comparison depends on the ray's reach, so a ray that ends exactly at its hit still hits.
    """
    nx, nz = grid.heights.shape
    origin, unit, low, size = ray.origin, ray.unit, grid.low, grid.size
    t, last = box(origin, unit, low, grid.high)
    t = max(t, 0.0)
    if t > last:
        return miss(ray)
    x, y, z = point_along(ray, t)
    i, j = cell_of(x, low[0], size[0], nx - 1), cell_of(z, low[2], size[1], nz - 1)
    a, b = _fraction(x, low[0], size[0], i), _fraction(z, low[2], size[1], j)
    for _ in range(nx + nz):
        wall_x = next_wall(origin[0], unit[0], low[0], size[0], i)
        wall_z = next_wall(origin[2], unit[2], low[2], size[1], j)
        leaves = max(t, min(wall_x, wall_z, last))
        through_x, through_z = wall_x <= wall_z and wall_x <= last, wall_z < wall_x and wall_z <= last
        x, y_leaves, z = point_along(ray, leaves)
        a_leaves = (1.0 if unit[0] > 0.0 else 0.0) if through_x else _fraction(x, low[0], size[0], i)
        b_leaves = (1.0 if unit[2] > 0.0 else 0.0) if through_z else _fraction(z, low[2], size[1], j)
        if not grid.holes[i, j]:
            corners = _corners(grid.heights, i, j)
            bend = -(corners[0] - corners[1] - corners[2] + corners[3]) * (a_leaves - a) * (b_leaves - b)
            start, end = y - _height(corners, a, b), y_leaves - _height(corners, a_leaves, b_leaves)
            speed = vec.dot(_up(corners, a, b, size), unit) if start == 0.0 else 0.0
            share = _meet_patch(start, end, bend, speed, grid.two_sided)
            if share != _NONE:
                t += (leaves - t) * share
                if t > ray.reach:
                    break
                up = _up(corners, a + (a_leaves - a) * share, b + (b_leaves - b) * share, size)
                from_above = start > 0.0 or speed < 0.0 or not grid.two_sided
                return RayHit(True, t, _facing(up if from_above else vec.scale(up, -1.0), unit))
        t, y, a, b = leaves, y_leaves, a_leaves, b_leaves
        if through_x:
            i, a = (i + 1, 0.0) if unit[0] > 0.0 else (i - 1, 1.0)
        elif through_z:
            j, b = (j + 1, 0.0) if unit[2] > 0.0 else (j - 1, 1.0)
        else:
            break
        if t > ray.reach or i < 0 or i >= nx - 1 or j < 0 or j >= nz - 1:
            break
    return miss(ray)


@kernel
def meet_height_field(ray, grid):
    """Cast one ray. grid: a `HeightGrid`."""
    vertical = ray.unit[0] == 0.0 and ray.unit[2] == 0.0
    return _meet_vertical(ray, grid) if vertical else _meet_slanted(ray, grid)


@batch
def _cast_range(start, stop, rays, hits, grid):
    for i in range(start, stop):
        ray = load_ray(rays, i)
        store_hit(hits, i, ray, meet_height_field(ray, grid))


class HeightField(Ground):
    """Heights on a regular grid, joined by bilinear patches. The front is above. Beside the grid there is no ground.

    Parameters
    ----------
    heights
        (nx, nz), metres, at least 2 by 2.
    origin
        (x, z) of heights[0, 0], metres; or (x, y, z), where y is added to all heights.
    spacing
        Metres from one height to the next: one number, or (2,) for x and z.
    holes
        (nx - 1, nz - 1), booleans: cells without ground. Default: none.
    two_sided
        Whether rays hit the surface from below as well.

    Raises
    ------
    InputError
        If a shape is wrong, a number is not finite, or a spacing is not above zero.

    Examples
    --------
    >>> float(km.HeightField([[0.0, 0.0], [1.0, 1.0]]).cast((0.5, 3, 0.5), (0, -1, 0), 10).distance)
    2.5
    """

    def __init__(
        self,
        heights: ArrayLike,
        origin: ArrayLike = (0.0, 0.0),
        spacing: ArrayLike = 1.0,
        *,
        holes: ArrayLike | None = None,
        two_sided: bool = True,
    ) -> None:
        corner = _corner(origin)
        levels = _levels(heights)
        cells = (levels.shape[0] - 1, levels.shape[1] - 1)
        missing = validation.booleans("holes", np.zeros(cells, bool) if holes is None else holes, cells)
        size = cell_sizes("spacing", spacing, 2)
        levels = np.ascontiguousarray(levels + corner[1])
        bottom, top = float(levels.min()), float(levels.max())
        margin = (top - bottom) + float(size.max()) + HEIGHT_MARGIN * (abs(top) + abs(bottom))
        end = corner[[0, 2]] + (np.array(levels.shape) - 1) * size
        low = (float(corner[0]), bottom - margin, float(corner[2]))
        high = (float(end[0]), top + margin, float(end[1]))
        both = validation.flag("two_sided", two_sided)
        self._shape = HeightGrid(levels, np.array(missing, order="C"), low, high, tuple(size.tolist()), both)

    def __repr__(self) -> str:
        (columns, rows), (x, z) = self._shape.heights.shape, self._shape.size
        return f"HeightField({columns} by {rows} heights, spacing {x:g} by {z:g})"

    def _cast(self, rays: Rays) -> Hits:
        return cast_all(rays, _cast_range, (self._shape,), THREADS_FROM_ITERATIVE)


def _corner(origin: ArrayLike) -> Any:
    """Validate the origin, (x, z) or (x, y, z). Return (x, y, z)."""
    corner = validation.real("origin", origin).astype(np.float64)
    if corner.shape not in ((2,), (3,)):
        raise InputError(f"origin must have shape (2,) or (3,), got {corner.shape}")
    validation.check_finite("origin", corner)
    return corner if corner.size == 3 else np.array((corner[0], 0.0, corner[1]))


def _levels(heights: ArrayLike) -> Any:
    """Validate the heights, (nx, nz)."""
    levels = validation.real("heights", heights).astype(np.float64)
    if levels.ndim != 2 or min(levels.shape) < 2:
        raise InputError(f"heights must have shape (nx, nz), both at least 2, got {levels.shape}")
    try:
        validation.check_finite("heights", levels)
    except InputError as problem:
        raise InputError(f"{problem}; to leave out ground, mark the cell in `holes`") from None
    return levels
