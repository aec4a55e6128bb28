"""Uneven ground to walk on, along +Z: slopes, stairs, rocks, voxels, and a course of all of them.

A `Terrain` is plain data, read in two ways: as heights and normals at any place, and as a mesh of triangles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.world.ground import Ground
from kinema.world.rays import Hits
from kinema.world.triangle_mesh import TriangleMesh
from kinema.world.voxel_grid import VoxelGrid

_HALF_WIDTH = 2.0
"""Metres to either side that meshes and rocks cover."""

_APPROACH = 2.0
"""Metres of level ground before and after what is to be climbed."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """Ground made of straight pieces along z, the same for all x, with stones on top. Metres.

    pieces: (K, 3): where each starts, its height there, its slope (metres up a metre ahead), in order; the first and
    the last go on without end. Where a piece starts at another height than the one before ends, there is a riser.
    stones: (S, 5): x, z, radius, height, and over how much of the radius, from outside, it rises to its flat top.
    length: metres from z = 0 that its mesh covers.
    """

    pieces: Any
    stones: Any
    length: float

    def height_and_normal(self, x: Any, z: Any) -> tuple[Any, Any]:
        """Heights (...) and unit normals (..., 3) at places (...); at a riser, those of the piece ahead."""
        x, z = np.broadcast_arrays(np.asarray(x, float), np.asarray(z, float))
        start, height, slope = self.pieces[np.maximum(np.searchsorted(self.pieces[:, 0], z, side="right") - 1, 0)].T
        start, height, slope = start.T, height.T, slope.T
        top, top_x, top_z = self._stones_at(x, z)
        normals = np.stack((-top_x, np.ones_like(top), -slope - top_z), axis=-1)
        return height + slope * (z - start) + top, arrays.unit(normals)

    def _stones_at(self, x: Any, z: Any) -> tuple[Any, Any, Any]:
        """How high the stones are at places (...), and how much they rise a metre along x and along z."""
        total, along_x, along_z = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        for at_x, at_z, radius, height, edge in self.stones:
            off_x, off_z = x - at_x, z - at_z
            distance = np.hypot(off_x, off_z)
            share = np.clip((radius - distance) / (edge * radius), 0.0, 1.0)
            total = total + height * share * share * (3 - 2 * share)
            fall = -height * 6 * share * (1 - share) / (edge * radius) / np.where(distance > 0, distance, 1.0)
            along_x, along_z = along_x + fall * off_x, along_z + fall * off_z
        return total, along_x, along_z

    def mesh(self, spacing: float = 0.08) -> tuple[Any, Any]:
        """Vertices (V, 3) on the ground, about `spacing` metres apart where there are stones, and triangles (T, 3),
        their fronts up; risers are upright.
        """
        x = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, 2 + (round(2 * _HALF_WIDTH / spacing) if len(self.stones) else 0))
        z, before = self._lines(spacing)
        read = np.where(before, np.nextafter(z, -np.inf), z)
        heights, _ = self.height_and_normal(x[:, np.newaxis], read)
        vertices = np.stack((*np.broadcast_arrays(x[:, np.newaxis], heights, z),), axis=-1).reshape(-1, 3)
        corner = (np.arange(len(x) - 1)[:, np.newaxis] * len(z) + np.arange(len(z) - 1)).reshape(-1)
        a, b, c, d = corner, corner + 1, corner + len(z) + 1, corner + len(z)
        return vertices, np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))

    def _lines(self, spacing: float) -> tuple[Any, Any]:
        """Where the mesh has points along z, and whether each one belongs to what is before it: twice at a start."""
        starts = self.pieces[(self.pieces[:, 0] > 0) & (self.pieces[:, 0] < self.length), 0]
        lines = [np.array((0.0, self.length))]
        if len(self.stones):
            low, high = ((self.stones[:, 1] + sign * self.stones[:, 2]) for sign in (-1, 1))
            lines.append(np.linspace(low.min(), high.max(), 2 + round((high.max() - low.min()) / spacing)))
        between = np.setdiff1d(np.concatenate(lines), starts)
        z = np.concatenate((between, starts, starts))
        before = np.concatenate((np.zeros(len(between) + len(starts), bool), np.ones(len(starts), bool)))
        order = np.lexsort((~before, z))
        return z[order], before[order]

    def cast(self, origins: Any, directions: Any, max_distance: Any) -> Hits:
        """As `kinema.Ground` has it, so that a terrain can be walked on as it is."""
        return Ground.from_function(self.height_and_normal).cast(origins, directions, max_distance)

    def triangles(self, spacing: float = 0.08) -> TriangleMesh:
        """The mesh as ground."""
        return TriangleMesh(*self.mesh(spacing))


@dataclass
class _Path:
    """A terrain being laid piece by piece; z, y: where it has come to."""

    z: float = 0.0
    y: float = 0.0

    def __post_init__(self) -> None:
        self.pieces: list[tuple[float, float, float]] = []
        self.stones: list[Any] = [np.zeros((0, 5))]

    def level(self, length: float) -> _Path:
        return self.ramp(0.0, length)

    def ramp(self, degrees: float, length: float) -> _Path:
        """length: metres ahead, not along the slope."""
        slope = math.tan(math.radians(degrees))
        self.pieces.append((self.z, self.y, slope))
        self.z += length
        self.y += slope * length
        return self

    def steps(self, rise: float, run: float, count: int) -> _Path:
        for _ in range(count):
            self.y += rise
            self.level(run)
        return self

    def rocks(self, seed: int, length: float) -> _Path:
        self.stones.append(_scattered(np.random.default_rng(seed), self.z, length))
        return self.level(length)

    def done(self) -> Terrain:
        return Terrain(np.array(self.pieces), np.concatenate(self.stones), self.z)


def _scattered(draw: np.random.Generator, start: float, length: float) -> Any:
    """(S, 5): flat-topped stones that do not overlap, up to 0.12 m, and broad swells between and below them."""
    kept: list[tuple[float, ...]] = []
    tries = int(60 * length)
    for x, z, size, height in draw.random((tries, 4)):
        radius = 0.12 + 0.16 * size
        at = ((2 * x - 1) * (_HALF_WIDTH - radius), start + radius + z * (length - 2 * radius))
        if all(math.hypot(at[0] - other[0], at[1] - other[1]) > radius + other[2] + 0.02 for other in kept):
            kept.append((*at, radius, 0.03 + 0.09 * height, 0.45))
    for x, z, height in draw.random((int(2 * length), 3)):
        radius = 0.5
        kept.append(((2 * x - 1) * _HALF_WIDTH, start + radius + z * (length - 2 * radius), radius, 0.03 * height, 1.0))
    return np.array(kept)


def slope(degrees: float, length: float = 4.0) -> Terrain:
    """Level, a slope up (down, if less than 0) of so many metres ahead, level again."""
    return _Path().level(_APPROACH).ramp(degrees, length).level(_APPROACH).done()


def stairs(rise: float = 0.18, run: float = 0.29, count: int = 8) -> Terrain:
    """Level, stairs up (down, if the rise is less than 0), a landing."""
    return _Path().level(_APPROACH).steps(rise, run, count).level(_APPROACH).done()


def rocks(seed: int = 0, length: float = 8.0) -> Terrain:
    """Level ground, then stones and swells, up to 0.15 m, then level ground."""
    return _Path().level(_APPROACH).rocks(seed, length).level(_APPROACH).done()


def course(seed: int = 0) -> Terrain:
    """One walk of 20 m: level, slopes up and down to 25 degrees, stairs up and down, rocks, level again."""
    path = _Path().level(2.0).ramp(12.0, 1.6).level(0.8).ramp(25.0, 1.4).level(1.0).ramp(-25.0, 1.4).ramp(-12.0, 1.6)
    path.level(1.0).steps(0.18, 0.29, 5).level(0.9).steps(-0.18, 0.30, 5).level(0.6)
    return path.rocks(seed, 3.5).level(1.5).done()


def voxels(seed: int = 0, size: float = 0.12) -> VoxelGrid:
    """Blocks 4 m wide and 10 m long, level at first, then in steps of one block from each to the next, four at most.

    size: of a block, metres. The level part's top is at height 0.
    """
    return VoxelGrid(*voxel_cells(seed, size))


def voxel_cells(seed: int = 0, size: float = 0.12) -> tuple[Any, Any, float]:
    """What `voxels` is made of: which blocks are filled, (nx, ny, nz), the lowest corner, (3,), the size of a block."""
    draw = np.random.default_rng(seed)
    wide, long, top = round(2 * _HALF_WIDTH / size), round(10.0 / size), 4
    levels = _walkable(draw, wide, long, top, round(_APPROACH / size))
    filled = np.arange(top + 1)[np.newaxis, :, np.newaxis] <= levels[:, np.newaxis, :]
    return filled, np.array((-wide * size / 2, -size, 0.0)), size


def _walkable(draw: np.random.Generator, wide: int, long: int, top: int, level: int) -> Any:
    """(wide, long): whole heights from 0 to top whose neighbours, also corner to corner, differ by one at most."""
    cell = 6
    coarse = draw.integers(0, top + 1, (wide // cell + 2, long // cell + 2)).astype(float)
    at_x, at_z = np.arange(wide) / cell, np.arange(long) / cell
    i, j = at_x.astype(int), at_z.astype(int)
    u, v = (at_x - i)[:, np.newaxis], at_z - j
    low = coarse[i][:, j] * (1 - u) * (1 - v) + coarse[i + 1][:, j] * u * (1 - v)
    levels = np.rint(low + coarse[i][:, j + 1] * (1 - u) * v + coarse[i + 1][:, j + 1] * u * v).astype(int)
    levels[:, :level] = 0
    for _ in range(top):
        padded = np.pad(levels, 1, mode="edge")
        around = [padded[a : a + wide, b : b + long] for a in range(3) for b in range(3)]
        levels = np.minimum(levels, np.min(around, axis=0) + 1)
    return levels
