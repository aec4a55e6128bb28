"""Grounds described by a text: a height, a slope, stairs, a height map or a mesh in a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kinema.errors import FileError, InputError
from kinema.io import files
from kinema.io.formats import READ
from kinema.io.images import read_grey
from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.roles import unit
from kinema.roles.unit import SYMBOLS
from kinema.world.height_field import HeightField
from kinema.world.plane import Plane
from kinema.world.terrain import PIECE, STONE, Terrain
from kinema.world.triangle_mesh import TriangleMesh

ALLOWED = "a height (0.25), slope:DEGREES, stairs:RISE,RUN or stairs:RISE,RUN,COUNT, or a file: .glb, .gltf, .npy, .png"

MOST_TRIANGLES = 5_000_000
"""Triangles of a mesh: a search tree of more takes gigabytes."""

MOST_HEIGHTS = 64_000_000
"""Heights of a map: 8000 by 8000, half a gigabyte."""

STEPS, MOST_STEPS = 50, 10_000
"""Steps of stairs: the default, and the most."""


SMALLEST_RUN, LARGEST_RUN = 0.05, 20.0
"""Leg lengths of the smallest and the largest tread that is not doubted."""

_UP = np.array((0.0, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class GroundSpec:
    """A ground as plain numbers, which can be sent to the process that builds it.

    The numbers depend on the kind: "plane" (height), "slope" (radians), "stairs" (rise, run, count), "heights" (x and z
    of the first height, spacing along x and z). "heights" has one array, heights (nx, nz); "mesh" has two, vertices
    (V, 3) and triangles (T, 3).
    """

    kind: str
    numbers: tuple[float, ...] = ()
    arrays: tuple[Any, ...] = ()
    unit: str = ""
    """Unit of its lengths, one of `SYMBOLS`; "": that of the character's file."""

    @property
    def heading(self) -> float | None:
        """Heading of its way, up or down, radians from +Z towards +X; None where it has none."""
        return 0.0 if self.kind in ("slope", "stairs") else None

    @property
    def is_level(self) -> bool:
        """Whether it has one height everywhere."""
        heights = self.arrays[0] if self.kind == "heights" else self.arrays[0][:, 1] if self.kind == "mesh" else None
        return not self.numbers[0] if self.kind in ("slope", "stairs") else heights is None or not np.ptp(heights)

    def doubts(self, leg: float) -> Iterator[str]:
        """Describe what is odd about the ground for a character whose legs have this length."""
        if self.kind == "stairs" and not SMALLEST_RUN * leg < self.numbers[1] < LARGEST_RUN * leg:
            run = f"{self.numbers[1]:g}"
            yield (
                f"the treads are {run} deep and a leg is {leg:.3g} long: lengths are in the unit of the file, "
                "or in that of --ground-unit"
            )

    def in_unit(self, metres: float) -> GroundSpec:
        """Return the ground with its lengths in a unit of so many metres, that of a file."""
        if not self.unit:
            return self
        size = SYMBOLS[self.unit] / metres
        lengths = {"slope": 0, "stairs": 2}.get(self.kind, len(self.numbers))
        numbers = tuple(size * number for number in self.numbers[:lengths]) + self.numbers[lengths:]
        scaled = (size * self.arrays[0], *self.arrays[1:]) if self.arrays else ()
        return replace(self, numbers=numbers, arrays=scaled, unit="")

    def build(self, up: Any = _UP) -> Any:
        """Build the ground for a character. up: (3,), its up direction; only a plane supports others than +Y."""
        if self.kind == "plane":
            return Plane(np.array(up) * self.numbers[0], up)
        if np.dot(up, _UP) < math.cos(math.radians(1.0)):
            raise InputError(f"this ground needs a character whose up direction is +Y; here it is {tuple(up)}")
        if self.kind == "slope":
            return Plane((0.0, 0.0, 0.0), (0.0, math.cos(self.numbers[0]), -math.sin(self.numbers[0])))
        if self.kind == "stairs":
            return _stairs(self.numbers[0], self.numbers[1], int(self.numbers[2]))
        if self.kind == "heights":
            return HeightField(self.arrays[0], self.numbers[:2], self.numbers[2:])
        return TriangleMesh(*self.arrays)


def build_for(spec: GroundSpec, rig: Rig | None) -> tuple[GroundSpec, Any]:
    """Return a ground with its lengths in the unit of a character's file, and build it; once for all files alike."""
    return _built(spec, tuple(_UP) if rig is None else tuple(rig.up), 1.0 if rig is None else unit(rig).metres)


@lru_cache(maxsize=2)
def _built(spec: GroundSpec, up: tuple[float, ...], metres: float) -> tuple[GroundSpec, Any]:
    spec = spec.in_unit(metres)
    return spec, spec.build(up)


def parse(
    text: str,
    size: tuple[float, float] | None = None,
    heights: tuple[float, float] | None = None,
    unit: str = "",
) -> GroundSpec:
    """Parse the description of a ground, and read the file it may name.

    text: see `ALLOWED`. size: extent along x and z of a height map, centred at the origin; default: one unit between
    heights. heights: lowest and highest point of a height map; default: 0 and 1 for a picture, the numbers themselves
    for a table. unit: of all lengths, one of `SYMBOLS`; "": that of the character's file.

    Raises `InputError` for any other text, `FileError` for a file that cannot be used.
    """
    if unit and unit not in SYMBOLS:
        raise InputError(f"the unit of the ground is {unit!r:.30}; allowed are {', '.join(SYMBOLS)}")
    return replace(_parsed(text, size, heights), unit=unit)


def _parsed(text: str, size: tuple[float, float] | None, heights: tuple[float, float] | None) -> GroundSpec:
    kind, _, rest = text.partition(":")
    suffix = Path(text).suffix.lower()
    if kind == "slope":
        (degrees,) = _numbers(text, rest, (1,))
        if abs(degrees) >= 90.0:
            raise InputError(f"ground is {text!r}; a slope must be less than 90 degrees")
        return GroundSpec("slope", (math.radians(degrees),))
    if kind == "stairs":
        rise, run, *count = _numbers(text, rest, (2, 3))
        if run <= 0.0 or (count and not 1 <= count[0] <= MOST_STEPS):
            raise InputError(f"ground is {text!r}; stairs need a run above 0 and 1 to {MOST_STEPS} steps")
        return GroundSpec("stairs", (rise, run, *(count or [STEPS])))
    if suffix in (".png", ".npy"):
        read = _from_picture if suffix == ".png" else _from_table
        return _grid(read(Path(text), heights), size)
    if suffix in READ:
        return mesh_of(files.load(Path(text), rig=False), Path(text).name)
    return GroundSpec("plane", _numbers(text, text, (1,)))


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
    """(rows, columns): heights from the grey levels of a picture."""
    pixels = read_grey(path)
    low, high = heights or (0.0, 1.0)
    return low + (high - low) * (pixels.astype(np.float64) / np.iinfo(pixels.dtype).max)


def _from_table(path: Path, heights: tuple[float, float] | None) -> Any:
    """(rows, columns): heights from an .npy file."""
    table = _load_table(path)
    if table.ndim != 2 or table.dtype.kind not in "iuf":
        raise FileError(
            f"expected numbers in two dimensions, (rows, columns); got {table.dtype} of shape {table.shape}", path.name
        )
    if table.size > MOST_HEIGHTS:
        raise FileError(f"there are {table.size:,} heights; at most {MOST_HEIGHTS:,} are allowed", path.name)
    table = table.astype(np.float64)
    if not np.isfinite(table).all():
        raise FileError("there are heights that are not finite", path.name)
    if heights is None or np.ptp(table) == 0:
        return table
    return heights[0] + (heights[1] - heights[0]) * (table - table.min()) / np.ptp(table)


def _load_table(path: Path) -> Any:
    """Map an .npy file into memory: a damaged header cannot ask for more than the file holds."""
    try:
        if os.path.getsize(path) == 0:
            raise FileError("the file is empty; expected a table of numbers (.npy)", path.name)
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileError:
        raise
    except OSError as problem:
        raise _unreadable(path, problem) from None
    except Exception as problem:  # NumPy evaluates the header: a damaged one raises almost anything.
        raise FileError(f"the file is not a table of numbers (.npy): {problem}", path.name) from None
    if not isinstance(table, np.ndarray):
        raise FileError("the file holds several arrays (.npz); expected one (.npy)", path.name)
    return table


def _grid(rows: Any, size: tuple[float, float] | None) -> GroundSpec:
    """A height map centred at the origin: its columns run along +X, its rows along +Z."""
    nz, nx = rows.shape
    if nx < 2 or nz < 2 or nx * nz > MOST_HEIGHTS:
        raise InputError(f"a height map needs 2 by 2 to {MOST_HEIGHTS:,} heights; got {nx} by {nz}")
    width, depth = size or (nx - 1.0, nz - 1.0)
    if not (width > 0 and depth > 0 and math.isfinite(width * depth)):
        raise InputError(f"the size of the ground is {width:g} by {depth:g}; allowed are numbers above 0")
    spacing = width / (nx - 1), depth / (nz - 1)
    return GroundSpec("heights", (-width / 2, -depth / 2, *spacing), (np.ascontiguousarray(rows.T),))


def mesh_of(scene: Character, name: str) -> GroundSpec:
    """Return all triangles of a file in its rest pose. name: of the file, for errors."""
    palette = scene.skeleton.palette(scene.skeleton.rest)
    vertices, triangles, count = [], [], 0
    for skin in scene.skins:
        points = skin.deform(palette)
        vertices.append(points)
        triangles.append(skin.triangles + count)
        count += len(points)
    if not count:
        raise FileError("there are no triangles in it to stand on", name)
    if sum(map(len, triangles)) > MOST_TRIANGLES:
        raise FileError(f"there are more than {MOST_TRIANGLES:,} triangles in it", name)
    return GroundSpec("mesh", (), (np.concatenate(vertices).astype(np.float64), np.concatenate(triangles)))


def _unreadable(path: Path, problem: OSError) -> FileError:
    # An OSError raised by NumPy itself has a text, but neither a number nor a reason.
    return FileError(f"the file cannot be read: {problem.strerror or problem}", str(path))
