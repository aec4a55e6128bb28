"""Heights on a regular grid, joined by bilinear patches.

Over one cell the surface is y = c0 + c1 a + c2 b + c3 a b, a and b from 0 to 1 along x and z: how high a ray runs above
it is a quadratic in the distance along the ray. A ray is followed from cell to cell; where two meet, both compute the
same bits for its height above the surface, so that it cannot slip through between them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel
from kinema.constants import HEIGHT_MARGIN, THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.math import vec
from kinema.world.grids import box, cell_of, cell_sizes, next_wall
from kinema.world.ground import Ground
from kinema.world.rays import Hits, Rays, against, at, each, miss, record

_NONE = 2.0
"""In place of a share of a cell's crossing, 0 to 1: the ray does not meet the patch."""


# --- one patch -------------------------------------------------------------------------------------------------


@kernel
def _corners(heights, nz, i, j):
    """Heights at (a, b) = (0, 0), (1, 0), (0, 1), (1, 1) of a cell."""
    k = i * nz + j
    return heights[k], heights[k + nz], heights[k + 1], heights[k + nz + 1]


@kernel
def _height(corners, a, b):
    """Exact at the corners, and the same bits from both cells along an edge."""
    h00, h10, h01, h11 = corners
    return (h00 * (1.0 - a) + h10 * a) * (1.0 - b) + (h01 * (1.0 - a) + h11 * a) * b


@kernel
def _up(corners, a, b, size):
    """The patch's unit normal, upwards: (-dh/dx, 1, -dh/dz) scaled before it is squared."""
    h00, h10, h01, h11 = corners
    x = ((h10 - h00) * (1.0 - b) + (h11 - h01) * b) / size[0]
    z = ((h01 - h00) * (1.0 - a) + (h11 - h10) * a) / size[1]
    scale = 1.0 / max(abs(x), abs(z), 1.0)
    return vec.unit_or((-x * scale, scale, -z * scale), (0.0, 1.0, 0.0))


@kernel
def _roots(start, slope, bend):
    """Where start + slope s + bend s^2, start > 0, first falls to zero, and where it next rises; _NONE where not."""
    square = slope * slope - 4.0 * bend * start
    if square <= 0.0 or (slope >= 0.0 and bend >= 0.0):
        return _NONE, _NONE
    # Compared before it is divided: what lies beyond the cell may lie beyond all numbers.
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
    """Where a ray meets a patch, as a share of its way across the cell.

    start, end: its height above the patch where it enters and where it leaves the cell; bend: the quadratic's s^2 term.
    speed: how fast it rises off the patch at first, which the others do not tell where the way is short.
    """
    slope = end - start - bend
    if start == 0.0:  # It begins on the surface.
        if speed < 0.0 or (speed > 0.0 and two_sided):
            return 0.0
        return min(-slope / bend, 1.0) if slope > 0.0 and end <= 0.0 else _NONE
    side = 1.0 if start > 0.0 else -1.0
    falls, rises = _roots(side * start, side * slope, side * bend)
    if side * end <= 0.0:  # It ends on the other side: whatever the rounding, it has crossed.
        falls, rises = min(falls, 1.0), _NONE
    return falls if side > 0.0 or two_sided else rises


# --- one ray ---------------------------------------------------------------------------------------------------


@kernel
def _meet_upright(origin, unit, reach, heights, holes, counts, low, size, two_sided):
    """A vertical ray stays in one cell."""
    nx, nz = counts
    a, b = (origin[0] - low[0]) / size[0], (origin[2] - low[2]) / size[1]
    if a < 0.0 or b < 0.0 or a > nx - 1.0 or b > nz - 1.0:
        return miss(reach)
    i, j = int(min(a, nx - 2.0)), int(min(b, nz - 2.0))
    a, b = a - i, b - j
    corners = _corners(heights, nz, i, j)
    distance = (_height(corners, a, b) - origin[1]) * unit[1]
    if distance < 0.0 or distance > reach or holes[i * (nz - 1) + j] or (unit[1] > 0.0 and not two_sided):
        return miss(reach)
    return True, distance, against(_up(corners, a, b, size), unit)


@kernel
def _facing(normal, unit):
    """The normal of the side a ray came from. A ray that meets only the edge of a patch may be leaving that patch: then
    the part of the normal across the ray, which is one of those between the two patches.
    """
    away = vec.dot(normal, unit) > 0.0
    return vec.select(away, vec.unit_or(vec.reject(normal, unit), vec.scale(unit, -1.0)), normal)


@kernel
def _share(position, low, size, cell):
    """Place within a cell, 0 to 1, along one axis."""
    return min(max((position - (low + size * cell)) / size, 0.0), 1.0)


@kernel
def _meet_slanted(origin, unit, reach, heights, holes, counts, low, high, size, two_sided):
    """From cell to cell. Nothing but the last comparison depends on the reach: a ray that ends at its hit hits."""
    nx, nz = counts
    t, last = box(origin, unit, low, high)
    t = max(t, 0.0)
    if t > last:
        return miss(reach)
    x, y, z = vec.add(origin, vec.scale(unit, t))
    i, j = cell_of(x, low[0], size[0], nx - 1), cell_of(z, low[2], size[1], nz - 1)
    a, b = _share(x, low[0], size[0], i), _share(z, low[2], size[1], j)
    for _ in range(nx + nz):
        wall_x = next_wall(origin[0], unit[0], low[0], size[0], i)
        wall_z = next_wall(origin[2], unit[2], low[2], size[1], j)
        leaves = max(t, min(wall_x, wall_z, last))
        through_x, through_z = wall_x <= wall_z and wall_x <= last, wall_z < wall_x and wall_z <= last
        x, y_leaves, z = vec.add(origin, vec.scale(unit, leaves))
        a_leaves = (1.0 if unit[0] > 0.0 else 0.0) if through_x else _share(x, low[0], size[0], i)
        b_leaves = (1.0 if unit[2] > 0.0 else 0.0) if through_z else _share(z, low[2], size[1], j)
        if not holes[i * (nz - 1) + j]:
            corners = _corners(heights, nz, i, j)
            bend = -(corners[0] - corners[1] - corners[2] + corners[3]) * (a_leaves - a) * (b_leaves - b)
            start, end = y - _height(corners, a, b), y_leaves - _height(corners, a_leaves, b_leaves)
            speed = vec.dot(_up(corners, a, b, size), unit) if start == 0.0 else 0.0
            share = _meet_patch(start, end, bend, speed, two_sided)
            if share != _NONE:
                t += (leaves - t) * share
                if t > reach:
                    break
                up = _up(corners, a + (a_leaves - a) * share, b + (b_leaves - b) * share, size)
                from_above = start > 0.0 or speed < 0.0 or not two_sided
                return True, t, _facing(up if from_above else vec.scale(up, -1.0), unit)
        t, y, a, b = leaves, y_leaves, a_leaves, b_leaves
        if through_x:
            i, a = (i + 1, 0.0) if unit[0] > 0.0 else (i - 1, 1.0)
        elif through_z:
            j, b = (j + 1, 0.0) if unit[2] > 0.0 else (j - 1, 1.0)
        else:
            break
        if t > reach or i < 0 or i >= nx - 1 or j < 0 or j >= nz - 1:
            break
    return miss(reach)


@batch
def _cast_range(
    start, stop, origins, units, reaches, heights, holes, counts, low, high, size, two_sided,
    hits, points, normals, distances,
):  # fmt: skip
    n, s, lowest, highest = (counts[0], counts[1]), (size[0], size[1]), at(low, 0), at(high, 0)
    for i in range(start, stop):
        origin, unit, reach = at(origins, i), at(units, i), reaches[i]
        if unit[0] == 0.0 and unit[2] == 0.0:
            answer = _meet_upright(origin, unit, reach, heights, holes, n, lowest, s, two_sided)
        else:
            answer = _meet_slanted(origin, unit, reach, heights, holes, n, lowest, highest, s, two_sided)
        record(i, origin, unit, answer, hits, points, normals, distances)


class HeightField(Ground):
    """Heights on a regular grid, joined by bilinear patches; its front is above, and beside it there is nothing.

    heights: (nx, nz), at least 2 each, metres. origin: (x, z) of heights[0, 0], or (x, y, z), y added to all heights.
    spacing: metres from one height to the next; one number or one along x and one along z. holes: (nx - 1, nz - 1),
    booleans, cells without ground.
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
        missing = _holes(holes, (levels.shape[0] - 1, levels.shape[1] - 1))
        size = cell_sizes("spacing", spacing, 2)
        levels = levels + corner[1]
        counts = np.array(levels.shape, np.int64)
        bottom, top = float(levels.min()), float(levels.max())
        margin = (top - bottom) + float(size.max()) + HEIGHT_MARGIN * (abs(top) + abs(bottom))
        end = corner[[0, 2]] + (counts - 1) * size
        low = np.array((corner[0], bottom - margin, corner[2]))
        high = np.array((end[0], top + margin, end[1]))
        self._shape = (levels.reshape(-1), missing.reshape(-1), counts, low, high, size, bool(two_sided))

    def _cast(self, rays: Rays) -> Hits:
        return each(rays, _cast_range, self._shape, THREADS_FROM_ITERATIVE)


def _corner(origin: ArrayLike) -> Any:
    """(x, y, z) from that or from (x, z)."""
    corner = validation.real("origin", origin).astype(np.float64)
    if corner.shape not in ((2,), (3,)):
        raise InputError(f"origin must have shape (2,) or (3,), got {corner.shape}")
    validation.check_finite("origin", corner)
    return corner if corner.size == 3 else np.array((corner[0], 0.0, corner[1]))


def _levels(heights: ArrayLike) -> Any:
    levels = validation.real("heights", heights).astype(np.float64)
    if levels.ndim != 2 or min(levels.shape) < 2:
        raise InputError(f"heights must have shape (nx, nz), both at least 2, got {levels.shape}")
    try:
        validation.check_finite("heights", levels)
    except InputError as problem:
        raise InputError(f"{problem}; where there is no ground, mark the cell in `holes`") from None
    return levels


def _holes(holes: ArrayLike | None, cells: tuple[int, int]) -> Any:
    if holes is None:
        return np.zeros(cells, np.bool_)
    missing = np.asarray(holes)
    if missing.dtype != np.bool_ or missing.shape != cells:
        raise InputError(f"holes must be booleans of shape {cells}, got {missing.dtype} of shape {missing.shape}")
    return missing.copy()
