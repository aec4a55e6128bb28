"""Uneven ground to walk on, along +Z: slopes, stairs, rocks, voxels, and a course with all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.world.terrain import HALF_WIDTH, PIECE, STONE, Terrain
from kinema.world.voxel_grid import VoxelGrid

APPROACH = 2.0
"""Metres of level ground before and after each obstacle."""

_APPROACH = (0.0, 0.0, APPROACH)


Part = tuple[float, float, float] | tuple[float, float, float, int]
"""A part of a terrain: metres of the riser that it starts with, degrees of its slope, and metres along z, not along the
slope; and the seed of the stones on it, if there are any."""


def lay(*parts: Part) -> Terrain:
    """Lay a terrain part by part along +Z, each starting where the last one ended."""
    z, height, pieces, stones = 0.0, 0.0, [], [np.zeros(0, STONE)]
    for riser, degrees, length, *seeds in parts:
        stones += [_scatter_stones(np.random.default_rng(seed), z, length) for seed in seeds]
        slope = math.tan(math.radians(degrees))
        height += riser
        pieces.append((z, height, slope))
        z, height = z + length, height + slope * length
    return Terrain(np.array(pieces, PIECE), np.concatenate(stones), z)


def _scatter_stones(draw: np.random.Generator, start: float, length: float) -> Any:
    """Return (S,) of `STONE`: stones up to 0.12 m high that do not overlap, and broad swells below them."""
    kept: list[tuple[float, ...]] = []
    tries = int(60 * length)
    for x, z, size, height in draw.random((tries, 4)):
        radius = 0.12 + 0.16 * size
        at = ((2 * x - 1) * (HALF_WIDTH - radius), start + radius + z * (length - 2 * radius))
        if all(math.hypot(at[0] - other[0], at[1] - other[1]) > radius + other[2] + 0.02 for other in kept):
            kept.append((*at, radius, 0.03 + 0.09 * height, 0.45))
    for x, z, height in draw.random((int(2 * length), 3)):
        radius = 0.5
        kept.append(((2 * x - 1) * HALF_WIDTH, start + radius + z * (length - 2 * radius), radius, 0.03 * height, 1.0))
    return np.array(kept, STONE)


def slope(degrees: float, length: float = 4.0) -> Terrain:
    """Make level ground, a slope (down if negative) of `length` metres, and level ground."""
    return lay(_APPROACH, (0.0, degrees, length), _APPROACH)


def stairs(rise: float = 0.18, run: float = 0.29, count: int = 8) -> Terrain:
    """Make level ground, stairs (down if the rise is negative), and a landing."""
    return lay(_APPROACH, *[(rise, 0.0, run)] * count, _APPROACH)


def rocks(seed: int = 0, length: float = 8.0) -> Terrain:
    """Make level ground, stones and swells up to 0.15 m high, and level ground."""
    return lay(_APPROACH, (0.0, 0.0, length, seed), _APPROACH)


def course(seed: int = 0) -> Terrain:
    """Make a 20 m walk: level ground, slopes up to 25 degrees, stairs up and down, rocks, level ground."""
    slopes = [(12.0, 1.6), (0.0, 0.8), (25.0, 1.4), (0.0, 1.0), (-25.0, 1.4), (-12.0, 1.6), (0.0, 1.0)]
    up, down = [(0.18, 0.0, 0.29)] * 5, [(-0.18, 0.0, 0.30)] * 5
    flights = (*up, (0.0, 0.0, 0.9), *down, (0.0, 0.0, 0.6))
    return lay(_APPROACH, *((0.0, *part) for part in slopes), *flights, (0.0, 0.0, 3.5, seed), (0.0, 0.0, 1.5))


def voxels(seed: int = 0, size: float = 0.12) -> VoxelGrid:
    """Make ground of blocks, 4 m wide and 10 m long: first level at height 0, then up to four blocks high.

    Neighbouring columns differ by at most one block. size: side of a block, metres.
    """
    return VoxelGrid(*voxel_cells(seed, size))


def voxel_cells(seed: int = 0, size: float = 0.12) -> tuple[Any, Any, float]:
    """Return the arguments of `voxels`' grid: filled (nx, ny, nz), the lowest corner (3,), the side of a block."""
    draw = np.random.default_rng(seed)
    wide, long, top = round(2 * HALF_WIDTH / size), round(10.0 / size), 4
    levels = _walkable_levels(draw, (wide, long), top, round(APPROACH / size))
    filled = np.arange(top + 1)[np.newaxis, :, np.newaxis] <= levels[:, np.newaxis, :]
    return filled, np.array((-wide * size / 2, -size, 0.0)), size


def _walkable_levels(draw: np.random.Generator, shape: tuple[int, int], top: int, approach: int) -> Any:
    """Return (wide, long): heights 0 to `top` whose neighbours, corners included, differ by at most one.

    The first `approach` rows along z are 0.
    """
    cell = 6
    wide, long = shape
    coarse = draw.integers(0, top + 1, (wide // cell + 2, long // cell + 2)).astype(float)
    at_x, at_z = np.arange(wide) / cell, np.arange(long) / cell
    i, j = at_x.astype(int), at_z.astype(int)
    u, v = (at_x - i)[:, np.newaxis], at_z - j
    low = coarse[i][:, j] * (1 - u) * (1 - v) + coarse[i + 1][:, j] * u * (1 - v)
    levels = np.rint(low + coarse[i][:, j + 1] * (1 - u) * v + coarse[i + 1][:, j + 1] * u * v).astype(int)
    levels[:, :approach] = 0
    for _ in range(top):
        padded = np.pad(levels, 1, mode="edge")
        around = [padded[a : a + wide, b : b + long] for a in range(3) for b in range(3)]
        levels = np.minimum(levels, np.min(around, axis=0) + 1)
    return levels
