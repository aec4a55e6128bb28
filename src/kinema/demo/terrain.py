"""Uneven ground to walk on, along +Z: slopes, stairs, rocks, voxels, and a course with all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.world.terrain import HALF_WIDTH, PIECE, STONE, Terrain
from kinema.world.voxel_grid import VoxelGrid

APPROACH = 2.0
"""Metres of level ground before and after each obstacle."""


class TerrainBuilder:
    """Lay a terrain piece by piece along +Z, each piece starting where the last one ended."""

    def __init__(self) -> None:
        self._z = 0.0
        self._height = 0.0
        self._pieces: list[tuple[float, float, float]] = []
        self._stones: list[Any] = [np.zeros(0, STONE)]

    def level(self, length: float) -> TerrainBuilder:
        """Add level ground of this length, metres."""
        return self.ramp(0.0, length)

    def ramp(self, degrees: float, length: float) -> TerrainBuilder:
        """Add a slope. length: metres along z, not along the slope."""
        slope = math.tan(math.radians(degrees))
        self._pieces.append((self._z, self._height, slope))
        self._z += length
        self._height += slope * length
        return self

    def steps(self, rise: float, run: float, count: int) -> TerrainBuilder:
        """Add steps, each starting with a riser."""
        for _ in range(count):
            self._height += rise
            self.level(run)
        return self

    def rocks(self, seed: int, length: float) -> TerrainBuilder:
        """Add level ground with stones on it."""
        self._stones.append(_scatter_stones(np.random.default_rng(seed), self._z, length))
        return self.level(length)

    def build(self) -> Terrain:
        return Terrain(np.array(self._pieces, PIECE), np.concatenate(self._stones), self._z)


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
    return TerrainBuilder().level(APPROACH).ramp(degrees, length).level(APPROACH).build()


def stairs(rise: float = 0.18, run: float = 0.29, count: int = 8) -> Terrain:
    """Make level ground, stairs (down if the rise is negative), and a landing."""
    return TerrainBuilder().level(APPROACH).steps(rise, run, count).level(APPROACH).build()


def rocks(seed: int = 0, length: float = 8.0) -> Terrain:
    """Make level ground, stones and swells up to 0.15 m high, and level ground."""
    return TerrainBuilder().level(APPROACH).rocks(seed, length).level(APPROACH).build()


def course(seed: int = 0) -> Terrain:
    """Make a 20 m walk: level ground, slopes up to 25 degrees, stairs up and down, rocks, level ground."""
    path = TerrainBuilder().level(2.0)
    path.ramp(12.0, 1.6).level(0.8).ramp(25.0, 1.4).level(1.0).ramp(-25.0, 1.4).ramp(-12.0, 1.6).level(1.0)
    path.steps(0.18, 0.29, 5).level(0.9).steps(-0.18, 0.30, 5).level(0.6)
    return path.rocks(seed, 3.5).level(1.5).build()


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
