"""Grounds from what a person types: a height, a slope, stairs, a picture or table of heights, a mesh in a file."""

from __future__ import annotations

import math
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinema.bake.constants import MOST_HEIGHTS, MOST_STEPS, MOST_TRIANGLES, STEPS
from kinema.bake.words import numbers
from kinema.errors import FileError, InputError
from kinema.images import read_grey
from kinema.io import files
from kinema.world.height_field import HeightField
from kinema.world.plane import Plane
from kinema.world.terrain import PIECE, STONE, Terrain
from kinema.world.triangle_mesh import TriangleMesh

ALLOWED = "a height (0.25), slope:DEGREES, stairs:RISE,RUN or stairs:RISE,RUN,COUNT, or a file: .glb, .gltf, .png, .npy"
_UP = np.array((0.0, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class GroundPlan:
    """A ground as plain numbers, which can be sent to where it is built.

    kind: "plane" (height), "slope" (radians), "stairs" (rise, run, count), "heights" (x and z of the first one,
    spacing along x and z; arrays: heights (nx, nz)) or "mesh" (arrays: vertices (V, 3), triangles (T, 3)).
    """

    kind: str
    numbers: tuple[float, ...] = ()
    arrays: tuple[Any, ...] = ()

    def build(self, up: Any = _UP) -> Any:
        """The ground, for a character whose up this is."""
        if self.kind == "plane":
            return Plane(np.array(up) * self.numbers[0], up)
        if np.dot(up, _UP) < math.cos(math.radians(1.0)):
            raise InputError(f"this ground is for characters whose up is +Y, and here it is {tuple(up)}")
        if self.kind == "slope":
            return Plane((0.0, 0.0, 0.0), (0.0, math.cos(self.numbers[0]), -math.sin(self.numbers[0])))
        if self.kind == "stairs":
            return _stairs(self.numbers[0], self.numbers[1], int(self.numbers[2]))
        if self.kind == "heights":
            return HeightField(self.arrays[0], self.numbers[:2], self.numbers[2:])
        return TriangleMesh(*self.arrays)


def typed(ground: str | None, size: str | None, heights: str | None) -> GroundPlan | None:
    """The ground that a command's options mean, `--ground`, `--ground-size` and `--ground-height`; None without one."""
    extent = None if size is None else numbers("--ground-size", size, 2)
    extremes = None if heights is None else numbers("--ground-height", heights, 2)
    if ground is None:
        return None
    return parse(ground, extent, extremes)


def parse(text: str, size: tuple[float, float] | None = None, heights: tuple[float, float] | None = None) -> GroundPlan:
    """The ground that is meant. size: extent along x and z of a grid of heights, its middle at the origin; one unit
    from each to the next if not given. heights: of the darkest and the brightest pixel, or of the least and the
    greatest number of a table; 0 and 1, or the numbers themselves, if not given.
    """
    kind, _, rest = text.partition(":")
    suffix = Path(text).suffix.lower()
    if kind == "slope":
        (degrees,) = _numbers(text, rest, (1,))
        if abs(degrees) >= 90.0:
            raise InputError(f"ground is {text!r}; a slope has less than 90 degrees")
        return GroundPlan("slope", (math.radians(degrees),))
    if kind == "stairs":
        rise, run, *count = _numbers(text, rest, (2, 3))
        if run <= 0.0 or (count and not 1 <= count[0] <= MOST_STEPS):
            raise InputError(f"ground is {text!r}; stairs have a run above 0 and 1 to {MOST_STEPS} steps")
        return GroundPlan("stairs", (rise, run, *(count or [STEPS])))
    if suffix in (".png", ".npy"):
        read = _from_picture if suffix == ".png" else _from_table
        return _grid(read(Path(text), heights), size)
    if suffix in (".glb", ".gltf", ".vrm"):
        return _from_mesh(Path(text))
    return GroundPlan("plane", _numbers(text, text, (1,)))


def _numbers(text: str, part: str, counts: tuple[int, ...]) -> tuple[float, ...]:
    try:
        numbers = tuple(float(cell) for cell in part.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in counts or not all(math.isfinite(number) for number in numbers):
        raise InputError(f"ground is {text!r:.80}; allowed are {ALLOWED}")
    return numbers


def _stairs(rise: float, run: float, count: int) -> Terrain:
    """Level ground, then steps along +Z from z = 0, then level ground."""
    steps = [(run * k, rise * (k + 1), 0.0) for k in range(count)]
    return Terrain(np.array([(-run, 0.0, 0.0), *steps], PIECE), np.zeros(0, STONE), run * count)


def _from_picture(path: Path, heights: tuple[float, float] | None) -> Any:
    """(rows, columns): heights from the greys of a picture."""
    pixels = read_grey(path)
    low, high = heights or (0.0, 1.0)
    return low + (high - low) * (pixels.astype(np.float64) / np.iinfo(pixels.dtype).max)


def _from_table(path: Path, heights: tuple[float, float] | None) -> Any:
    """(rows, columns): heights from numbers."""
    try:
        if os.path.getsize(path) > 16 * MOST_HEIGHTS:
            raise FileError(f"the file is too large; allowed are {MOST_HEIGHTS} heights", path.name)
        table = np.load(path, allow_pickle=False)
    except FileError:
        raise
    except OSError as wrong:
        raise _unreadable(path, wrong) from None
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile) as wrong:
        raise FileError(f"the file is no table of numbers: {wrong}", path.name) from None
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "iuf":
        raise FileError("expected one table of numbers of two axes, (rows, columns)", path.name)
    table = table.astype(np.float64)
    if not np.isfinite(table).all():
        raise FileError("there are numbers in it that are not finite", path.name)
    if heights is None or np.ptp(table) == 0:
        return table
    return heights[0] + (heights[1] - heights[0]) * (table - table.min()) / np.ptp(table)


def _grid(rows: Any, size: tuple[float, float] | None) -> GroundPlan:
    """A map of heights around the origin: its columns go along +X, its rows along +Z."""
    nz, nx = rows.shape
    if nx < 2 or nz < 2 or nx * nz > MOST_HEIGHTS:
        raise InputError(f"a map of heights has 2 by 2 to {MOST_HEIGHTS} of them; got {nx} by {nz}")
    wide, long = size or (nx - 1.0, nz - 1.0)
    if not (wide > 0 and long > 0 and math.isfinite(wide * long)):
        raise InputError(f"the ground's size is {wide:g} by {long:g}; allowed are numbers above 0")
    spacing = wide / (nx - 1), long / (nz - 1)
    return GroundPlan("heights", (-wide / 2, -long / 2, *spacing), (np.ascontiguousarray(rows.T),))


def _from_mesh(path: Path) -> GroundPlan:
    """All triangles of a file, where its nodes put them at rest."""
    try:
        scene = files.load(path, rig=False)
    except OSError as wrong:
        raise _unreadable(path, wrong) from None
    palette = scene.skeleton.palette(scene.skeleton.rest)
    vertices, triangles, count = [], [], 0
    for skin in scene.skins:
        points = skin.deform(palette)
        vertices.append(points)
        triangles.append(skin.triangles + count)
        count += len(points)
    if not count:
        raise FileError("there are no triangles in it to stand on", path.name)
    if sum(map(len, triangles)) > MOST_TRIANGLES:
        raise FileError(f"there are more than {MOST_TRIANGLES} triangles in it", path.name)
    return GroundPlan("mesh", (), (np.concatenate(vertices).astype(np.float64), np.concatenate(triangles)))


def _unreadable(path: Path, wrong: OSError) -> FileError:
    # An OSError of NumPy's own, for a file that is empty or broken, has a text but no number and no reason.
    return FileError(f"the file cannot be read: {wrong.strerror or wrong}", str(path))
