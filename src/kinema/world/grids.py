"""Following a ray through a regular grid, one axis at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import kernel
from kinema.errors import InputError
from kinema.world.rays import RAY_FAR, crossing

SMALLEST_CELL = 1e-100
"""Metres. Smallest cell of a grid: the largest coordinate divided by it is still finite."""


@kernel
def slab(start, speed, low, high):
    """Return the distances at which a ray enters and leaves the space between two planes; an empty span for a miss."""
    to_low, to_high = low - start, high - start
    furthest = max(abs(to_low), abs(to_high))
    if furthest >= RAY_FAR * abs(speed):  # Parallel to the planes.
        return (-RAY_FAR, RAY_FAR) if to_low <= 0.0 and to_high >= 0.0 else (RAY_FAR, -RAY_FAR)
    a, b = to_low / speed, to_high / speed
    return (a, b) if a < b else (b, a)


@kernel
def box(origin, unit, low, high):
    """Return the distances at which a ray enters and leaves a box; enter > leave if it misses. Both may be negative."""
    x_in, x_out = slab(origin[0], unit[0], low[0], high[0])
    y_in, y_out = slab(origin[1], unit[1], low[1], high[1])
    z_in, z_out = slab(origin[2], unit[2], low[2], high[2])
    return max(x_in, y_in, z_in), min(x_out, y_out, z_out)


@kernel
def cell_of(position, low, size, count):
    """Return the cell that contains a coordinate; the first or the last cell if it is outside the grid."""
    return int(min(max((position - low) / size, 0.0), count - 1.0))


@kernel
def next_wall(start, speed, low, size, cell):
    """Return the distance along a ray to the wall through which it leaves its cell, along one axis.

    Computed from the wall's own position each time: adding up steps would add up their rounding.
    """
    return crossing(low + size * (cell + 1 if speed > 0.0 else cell) - start, speed)


def cell_sizes(name: str, value: ArrayLike, axes: int) -> Any:
    """Validate the size of a cell: one number, or one for each axis. Return (axes,)."""
    sizes = validation.real(name, value).astype(np.float64)
    if sizes.shape not in ((), (axes,)):
        raise InputError(f"{name} must be one number or have shape ({axes},), got {sizes.shape}")
    validation.check_finite(name, sizes)
    wrong = sizes < SMALLEST_CELL
    if wrong.any():
        which, index = validation.first(name, wrong)
        raise InputError(f"{which} is {sizes[index]}; allowed are numbers above zero, from {SMALLEST_CELL:g}")
    return np.broadcast_to(sizes, (axes,)).copy()
