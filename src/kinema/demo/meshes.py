"""Meshes for skins: the type, and tubes, balls and lids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.demo.bones import Point
from kinema.math import arrays

_FLAT = 1e-9
"""Area, for a ball of radius 1, below which a triangle is one between two rings in the same place, or at a pole."""


@dataclass(frozen=True)
class Mesh:
    """Part of a body before it has weights. vertices, normals, colours: (V, 3). triangles: (T, 3)."""

    vertices: Any
    triangles: Any
    normals: Any
    colours: Any


def tube(points: Any, radii: Any, sides: int, colour: Any, *, bulge: float = 0.5) -> Mesh:
    """A closed tube through points (K, 3) with radii (K,): fingers, sleeves, legs of insects.

    bulge: how far its ends stand out, as a share of the radius there.
    """
    points, radii = np.asarray(points, float), np.asarray(radii, float)
    along = arrays.unit(np.gradient(points, axis=0))
    side = _across(along[0])
    rings = []
    for point, radius, ahead in zip(points, radii, along, strict=True):
        side = arrays.unit(side - ahead * (side @ ahead))  # Carried along, so that the tube does not twist.
        rings.append(point + radius * _ring(ahead, side, sides))
    first, last = len(points) * sides, len(points) * sides + 1
    caps = points[:1] - along[:1] * radii[0] * bulge, points[-1:] + along[-1:] * radii[-1] * bulge
    vertices = np.concatenate((*rings, *caps))
    around = np.arange(sides)
    after, n = (around + 1) % sides, (len(points) - 1) * sides
    ends = [
        np.stack((np.full(sides, first), after, around), 1),
        np.stack((np.full(sides, last), n + around, n + after), 1),
    ]
    return smoothed(vertices, np.concatenate((_between_rings(len(points), sides), *ends)), colour)


def globe(centre: Point, radius: float, ahead: Point, bands: Sequence[tuple[float, Any]], sides: int = 14) -> Mesh:
    """A ball with rings of colour about the way `ahead`: (angle from there at which it ends, radians, colour) each."""
    along = arrays.unit(np.array(ahead, float))
    ring = _ring(along, _across(along), sides)
    angles, colours, start = [0.0], [bands[0][1]], 0.0
    for end, colour in bands:  # A ring on both sides of each border, so that it is sharp.
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


def half_ball(centre: Point, radius: float, towards: Point, colour: Any) -> Mesh:
    """The half of a ball on one side, closed by a flat: an eyelid."""
    whole = globe(centre, radius, towards, [(np.pi, colour)], 10)
    along = arrays.unit(np.array(towards, float))
    off = whole.vertices - np.array(centre)
    behind = np.minimum(off @ along, 0.0)
    return replace(whole, vertices=np.array(centre) + off - behind[:, np.newaxis] * along)


def _across(along: Any) -> Any:
    """(3,): a direction at right angles to a unit one."""
    return arrays.unit(np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))]))


def _ring(along: Any, side: Any, sides: int) -> Any:
    """(sides, 3): directions around a unit one, from `side` on, counter-clockwise seen from where it points."""
    angle = np.linspace(0.0, 2 * np.pi, sides, endpoint=False)[:, np.newaxis]
    return np.cos(angle) * side + np.sin(angle) * np.cross(along, side)


def _between_rings(rings: int, sides: int) -> Any:
    """(T, 3): triangles between rings that follow each other the way they turn about; fronts outside."""
    around = np.arange(sides)
    after = (around + 1) % sides
    quads = []
    for k in range(rings - 1):
        a, b, c, d = k * sides + around, k * sides + after, (k + 1) * sides + after, (k + 1) * sides + around
        quads += [np.stack((a, b, c), 1), np.stack((a, c, d), 1)]
    return np.concatenate(quads)


def smoothed(vertices: Any, triangles: Any, colour: Any) -> Mesh:
    """With normals that are the mean of the triangles around, by their size."""
    a, b, c = (vertices[triangles[:, n]] for n in range(3))
    flat = np.cross(b - a, c - a)
    normals = np.stack(
        [sum(np.bincount(triangles[:, n], flat[:, axis], len(vertices)) for n in range(3)) for axis in range(3)], axis=1
    )
    return Mesh(vertices, triangles, arrays.unit(normals), np.tile(np.asarray(colour, float), (len(vertices), 1)))
