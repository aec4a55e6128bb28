"""Coloured triangle meshes: the type, and tubes and balls to build bodies and pictures from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays

Point = tuple[float, float, float]

_FLAT = 1e-9
"""Twice the area, on a ball of radius 1, below which a triangle is degenerate: at a pole or between equal rings."""


@dataclass(frozen=True)
class Mesh:
    """A mesh with a colour at each vertex. vertices, normals, colours: (V, 3). triangles: (T, 3), indices."""

    vertices: Any
    triangles: Any
    normals: Any
    colours: Any


def tube(points: Any, radii: Any, sides: int, colour: Any, *, bulge: float = 0.5) -> Mesh:
    """Make a closed tube through points (K, 3) with radii (K,) and `sides` vertices in each ring.

    bulge: height of the cap at each end, as a fraction of the radius there.
    """
    points, radii = np.asarray(points, float), np.asarray(radii, float)
    along = arrays.unit(np.gradient(points, axis=0))
    side = _across(along[0])
    rings = []
    for point, radius, ahead in zip(points, radii, along, strict=True):
        side = arrays.unit(side - ahead * (side @ ahead))  # Carried from ring to ring, so that the tube does not twist.
        rings.append(point + radius * _ring(ahead, side, sides))
    caps = points[0] - along[0] * radii[0] * bulge, points[-1] + along[-1] * radii[-1] * bulge
    return capped(rings, *caps, colour)


def capped(rings: Any, first: Any, last: Any, colour: Any) -> Mesh:
    """Make a closed mesh from rings of vertices (K, sides, 3) and a point (3,) in the middle of each end.

    Rings run counter-clockwise as seen from the last point.
    """
    rings = np.asarray(rings, float)
    count, sides, _ = rings.shape
    around = np.arange(sides)
    after, n, end = (around + 1) % sides, (count - 1) * sides, np.full(sides, count * sides)
    ends = (np.stack((end, after, around), 1), np.stack((end + 1, n + around, n + after), 1))
    vertices = np.concatenate((rings.reshape(-1, 3), np.array((first, last), float)))
    return smoothed(vertices, np.concatenate((_between_rings(count, sides), *ends)), colour)


def globe(centre: Point, radius: float, ahead: Point, bands: Sequence[tuple[float, Any]], sides: int = 14) -> Mesh:
    """Make a ball with bands of colour around the direction `ahead`.

    bands: for each, the angle from `ahead` at which it ends (radians, the last one pi) and its colour.
    """
    along = arrays.unit(np.array(ahead, float))
    ring = _ring(along, _across(along), sides)
    angles, colours, start = [0.0], [bands[0][1]], 0.0
    for end, colour in bands:  # Two rings at each border, so that it is sharp.
        rings = max(1, round((end - start) / 0.6))
        angles += [start + (end - start) * n / rings for n in range(rings + 1)]
        colours += [colour] * (rings + 1)
        start = end
    angle = np.array(angles[1:])[:, np.newaxis, np.newaxis]
    out = (np.cos(angle) * along + np.sin(angle) * ring).reshape(-1, 3)
    triangles = _between_rings(len(angles) - 1, sides)[:, ::-1]
    a, b, c = (out[corner] for corner in triangles.T)
    triangles = triangles[np.linalg.norm(np.cross(b - a, c - a), axis=1) > _FLAT]
    tinted = np.repeat(np.array(colours[1:], float), sides, axis=0)
    return Mesh(np.array(centre) + radius * out, triangles, out, tinted)


def half_ball(centre: Point, radius: float, towards: Point, colour: Any, sides: int = 10) -> Mesh:
    """Make half a ball, on the side `towards`, closed by a flat disc."""
    along = arrays.unit(np.array(towards, float))
    ring = _ring(along, _across(along), sides)
    count = max(2, sides // 4)
    angles = (np.arange(count) * np.pi / 2 / count)[:, np.newaxis, np.newaxis]
    rings = np.array(centre) + radius * (np.sin(angles) * along + np.cos(angles) * ring)
    return capped(rings, centre, np.array(centre) + radius * along, colour)


def _across(along: Any) -> Any:
    """Return a unit vector (3,) perpendicular to a unit vector."""
    return arrays.unit(np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))]))


def _ring(along: Any, side: Any, sides: int) -> Any:
    """Return (sides, 3): unit vectors around `along`, counter-clockwise as seen from its tip, starting at `side`."""
    angle = np.linspace(0.0, 2 * np.pi, sides, endpoint=False)[:, np.newaxis]
    return np.cos(angle) * side + np.sin(angle) * np.cross(along, side)


def _between_rings(rings: int, sides: int) -> Any:
    """Return (T, 3): triangles between consecutive rings of vertices, facing out."""
    around = np.arange(sides)
    after = (around + 1) % sides
    quads = []
    for k in range(rings - 1):
        a, b, c, d = k * sides + around, k * sides + after, (k + 1) * sides + after, (k + 1) * sides + around
        quads += [np.stack((a, b, c), 1), np.stack((a, c, d), 1)]
    return np.concatenate(quads)


def smoothed(vertices: Any, triangles: Any, colour: Any) -> Mesh:
    """Make a mesh with smooth normals: the mean of the adjacent triangles, weighted by area. colour: (3,) or (V, 3)."""
    a, b, c = (vertices[triangles[:, n]] for n in range(3))
    flat = np.cross(b - a, c - a)
    normals = np.stack(
        [sum(np.bincount(triangles[:, n], flat[:, axis], len(vertices)) for n in range(3)) for axis in range(3)], axis=1
    )
    return Mesh(vertices, triangles, arrays.unit(normals), np.array(np.broadcast_to(colour, (len(vertices), 3)), float))


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Join several meshes into one."""
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + offset for mesh, offset in zip(meshes, offsets, strict=True)]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.colours for mesh in meshes]),
    )
