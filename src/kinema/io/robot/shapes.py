"""What a robot looks like: boxes, balls, cylinders, and meshes (STL, OBJ) that lie beside its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kinema.constants import LARGEST_FLOAT32
from kinema.io.surfaces import unit_normals
from kinema.math import arrays
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

LARGEST_MESH = 64 * 2**20
"""Bytes of all meshes of a robot together."""

MOST_TRIANGLES = 1_000_000
"""Triangles of a robot; detailed ones have a few hundred thousand. A mesh counts again wherever it is shown."""

_LONGEST_LINE = 100_000
"""Bytes of a line of an OBJ file: a polygon of ten thousand corners."""

_SIDES = 16
"""Corners of a circle."""

_FLAT = 1e-9
"""Share of the largest triangle below which one is a rounded point."""


@dataclass(frozen=True)
class Shape:
    """Triangles in the space of a link."""

    corners: Any
    """(T, 3, 3)."""
    colour: tuple[float, ...]


class Shapes:
    """Makes the shapes of one robot. problems: told of what is left out. missing: whether a mesh is."""

    def __init__(self, folder: Path | None, problems: list[str]) -> None:
        self._folder, self._problems, self._left = folder, problems, LARGEST_MESH
        self._triangles = 0
        self._meshes: dict[str, Any] = {}
        self.missing = False

    def made(
        self, kind: str, size: Any, place: tuple[Any, Any], colour: tuple[float, ...], mesh: str = ""
    ) -> list[Shape]:
        """Return a shape, or nothing where it is unknown or its mesh is not read.

        size: (3,), half of it along each axis; for a mesh, by its name in the file, its scale. Cylinders and capsules,
        longer by half a ball at each end, stand along z. place: position and rotation.
        """
        if self.missing:  # None is drawn then.
            return []
        if kind == "mesh":
            if mesh not in self._meshes:
                self._meshes[mesh] = self._read(mesh)
            corners = self._meshes[mesh]
        elif kind == "capsule":
            along = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _SIDES // 2 + 2)
            corners = _turned(np.cos(along), np.sin(along) + np.sign(along) * size[2] / (size[0] or 1.0))
            size = size[[0, 0, 0]]
        else:
            corners = _SOLIDS[kind]() if kind in _SOLIDS else None
        if corners is None:
            return []
        self._triangles += len(corners)
        if self._triangles > MOST_TRIANGLES:
            self._without(mesh or kind, f"all shapes have more than {MOST_TRIANGLES:,} triangles")
            return []
        return [Shape(arrays.rotate(arrays.unit(place[1]), corners * size) + place[0], colour)]

    def _read(self, name: str) -> Any:
        path = self._beside(name)
        if path is None:
            return self._without(name, "it is not beside the file")
        try:
            with path.open("rb") as stream:
                data = stream.read(self._left + 1)
            self._left -= len(data)
            if self._left < 0:
                return self._without(name, f"meshes have more than {LARGEST_MESH:,} bytes")
            corners = _stl(data) if path.suffix.lower() == ".stl" else _obj(data)
        except (OSError, ValueError, IndexError) as problem:
            return self._without(name, f"it is damaged: {str(problem)[:80]}")
        if not len(corners) or not (np.abs(corners) <= LARGEST_FLOAT32).all():
            return self._without(name, "it has no usable triangles")
        return corners

    def _without(self, name: str, why: str) -> None:
        if not self.missing:
            self._problems.append(f"shape {name[-80:]!r} is not drawn: {why}. Bones are drawn instead of shapes")
        self.missing = True

    def _beside(self, name: str) -> Path | None:
        """Find a mesh inside the file's folder: by its path, or the end of it after `package://`."""
        parts = [part for part in name.rpartition("://")[2].replace("\\", "/").split("/") if part]
        if self._folder is None or ".." in parts or "\0" in name or not name.lower().endswith((".stl", ".obj")):
            return None
        home = self._folder.resolve()
        with suppress(OSError):  # A name that no file can have.
            for first in range(len(parts)):
                path = home.joinpath(*parts[first:]).resolve()
                if path.is_relative_to(home) and path.is_file():
                    return path
        return None


def _turned(radii: Any, heights: Any, sides: int = _SIDES) -> Any:
    """(T, 3, 3): the surface that a line of (radius, height) makes when it is rotated about z."""
    angles = (np.arange(sides) + 0.5) * (2.0 * np.pi / sides)
    ring = np.stack([np.cos(angles), np.sin(angles), np.ones(sides)], axis=-1)
    points = ring[np.newaxis] * np.stack([radii, radii, heights], axis=-1)[:, np.newaxis]
    after = np.roll(points, -1, axis=1)
    a, b, c, d = points[:-1], after[:-1], after[1:], points[1:]
    corners = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)]).reshape(-1, 3, 3)
    size = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return corners[size > _FLAT * size.max(initial=0.0)]


def _ball() -> Any:
    along = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _SIDES // 2 + 1)
    return _turned(np.cos(along), np.sin(along))


_SOLIDS: dict[str, Callable[[], Any]] = {
    "box": lambda: _turned(np.array((0, 1, 1, 0)) * np.sqrt(2.0), np.array((-1, -1, 1, 1)), 4),
    "sphere": _ball,
    "ellipsoid": _ball,
    "cylinder": lambda: _turned(np.array((0, 1, 1, 0)), np.array((-1, -1, 1, 1))),
}
"""Solids of half size 1."""


def _stl(data: bytes) -> Any:
    """(T, 3, 3): the triangles of an STL file, binary or text."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 and len(data) == 84 + 50 * count:
        rows = np.frombuffer(data, np.uint8, count * 50, 84).reshape(count, 50)
        return rows[:, 12:48].copy().view("<f4").reshape(count, 3, 3).astype(np.float64)
    if data.count(b"vertex") > 3 * MOST_TRIANGLES:
        raise ValueError("it has too many triangles")
    lines = (line.split() for line in data.decode("latin-1").splitlines())
    numbers = [words[1:4] for words in lines if words[:1] == ["vertex"]]
    return np.array(numbers, np.float64).reshape(-1, 3, 3)


def _obj(data: bytes) -> Any:
    """(T, 3, 3): the triangles of an OBJ file; polygons become fans."""
    points: list[list[str]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in data.decode("latin-1").splitlines():
        if len(line) > _LONGEST_LINE or len(triangles) > MOST_TRIANGLES:
            raise ValueError("it has too many triangles, or a line that is too long")
        words = line.split()
        if words[:1] == ["v"]:
            points.append(words[1:4])
        elif words[:1] == ["f"]:
            corners = [int(word.partition("/")[0]) for word in words[1:]]
            corners = [corner - 1 if corner > 0 else len(points) + corner for corner in corners]
            triangles += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    faces = np.array(triangles, np.int64).reshape(-1, 3)
    if faces.size and (faces.min() < 0 or faces.max() >= len(points)):
        raise ValueError("a face has a corner that is not there")
    return np.array(points, np.float64).reshape(-1, 3)[faces]


def skin_of(skeleton: Skeleton, shapes: Iterable[list[Shape]]) -> Skin | None:
    """Return one skin of the shapes of all joints; None if there are none."""
    corners, joints, colours = [], [], []
    world = skeleton.rest_world
    for j, some in enumerate(shapes):
        for shape in some:
            points = shape.corners.reshape(-1, 3) @ world[j, :3, :3].T + world[j, :3, 3]
            corners.append(points)
            joints.append(np.full(len(points), j))
            colours.append(np.tile(shape.colour, (len(points), 1)))
    if not corners:
        return None
    vertices = np.concatenate(corners)
    triangles = np.arange(len(vertices)).reshape(-1, 3)
    slots = np.zeros((len(vertices), 4), np.int64)
    slots[:, 0] = np.concatenate(joints)
    weights = np.tile((1.0, 0.0, 0.0, 0.0), (len(vertices), 1))
    return Skin(vertices, triangles, slots, weights, unit_normals(vertices, triangles, None), np.concatenate(colours))
