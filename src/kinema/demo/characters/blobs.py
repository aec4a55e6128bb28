"""Blobs: rounded solids that melt into each other, and their common surface.

Where blobs meet, their fields add up, so shoulders, hips and jaws come out round. The surface comes from naive surface
nets, one vertex per grid cell that it crosses, which are then moved onto the field's zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.characters.bones import Point
from kinema.render.meshes import Mesh, smoothed

_REACH = 8.0
"""Reach of a blob, in melt widths. Beyond it, a blob moves a surface by microns."""

_DRAWS = 3
"""Steps that move vertices onto the surface and even them out. The third moves them by less than 0.1 mm."""

_EVEN = 0.4
"""Fraction of the way to the mean of its neighbours that a vertex moves in each step."""


@dataclass(frozen=True)
class Blob:
    """A solid around a line through `points`, (K, 3), with `radii`, (K,), metres; a single point gives an ellipsoid.

    stretch: factors of the radius along the character's axes.
    """

    points: Any
    radii: Any
    stretch: Point = (1.0, 1.0, 1.0)

    def distance(self, points: Any) -> tuple[Any, Any]:
        """Return distances from the surface, (V,), negative inside, to first order, and directions out, (V, 3)."""
        pieces = range(max(1, len(self.radii) - 1))
        found = [self._from_piece(points, n, min(n + 1, len(self.radii) - 1)) for n in pieces]
        distance, out = found[0]
        for other, other_out in found[1:]:
            nearer = other < distance
            distance = np.where(nearer, other, distance)
            out = np.where(nearer[:, np.newaxis], other_out, out)
        return distance, out

    def _from_piece(self, points: Any, first: int, last: int) -> tuple[Any, Any]:
        """Return distances and directions from one piece of the line."""
        line = np.subtract(self.points[last], self.points[first])
        off = points - np.array(self.points[first])
        square = line @ line
        along = np.clip(off @ line / square, 0.0, 1.0) if square > 0 else np.zeros(len(points))
        off = off - along[:, np.newaxis] * line
        radius = self.radii[first] + along * (self.radii[last] - self.radii[first])
        radii = radius[:, np.newaxis] * np.array(self.stretch)
        once = off / radii
        twice = once / radii
        size, slope = (np.sqrt(np.einsum("vc,vc->v", each, each)) for each in (once, twice))
        middle = slope == 0
        safe = np.where(middle, 1.0, slope)
        distance = np.where(middle, -radius * min(self.stretch), size * (size - 1) / safe)
        return distance, twice / safe[:, np.newaxis]

    def box(self, margin: float) -> tuple[Any, Any]:
        """Return the lowest and highest corner of a box around it."""
        around = max(self.radii) * max(self.stretch) + margin
        return np.min(self.points, axis=0) - around, np.max(self.points, axis=0) + around


def lump(centre: Point, radii: Point) -> Blob:
    """Make an ellipsoid."""
    mean = sum(radii) / 3
    return Blob((centre,), (mean,), (radii[0] / mean, radii[1] / mean, radii[2] / mean))


def limb(stations: Sequence[Sequence[float]], stretch: Point = (1.0, 1.0, 1.0)) -> Blob:
    """Make a limb through stations, round at both ends. stations: x, y, z and radius of each."""
    return Blob([station[:3] for station in stations], [station[3] for station in stations], stretch)


def blobs_of(rows: Sequence[Mapping[str, Any]]) -> list[Blob]:
    """Return the blobs of a table: rows of the arguments of `lump` and `limb`."""
    return [
        lump(row["lump"], row["radii"]) if "lump" in row else limb(row["limb"], row.get("stretch", (1.0, 1.0, 1.0)))
        for row in rows
    ]


# --- surface ---------------------------------------------------------------------------------------------------


def surface(
    blobs: Sequence[Blob],
    spacing: float,
    colour: Any,
    *,
    melt: float = 0.012,
    carve: Sequence[Blob] = (),
    floor: float | None = None,
) -> Mesh:
    """The surface of blobs that melt into each other over `melt` metres, about one point per `spacing` metres.

    carve: blobs that are taken away. floor: height below which all is pressed flat, metres.
    """
    vertices, triangles = _nets(*_field_on_grid(blobs, carve, spacing, melt), spacing)
    # Every edge in both directions, (E, 2).
    both = np.concatenate([triangles[:, pair] for pair in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2))])
    count = int(triangles.max()) + 1
    edges = np.stack(np.divmod(np.unique(both[:, 0] * count + both[:, 1]), count), axis=1)
    for _ in range(_DRAWS):
        vertices += _EVEN * (_neighbour_mean(vertices, edges) - vertices)
        value, out = _field(blobs, carve, vertices, melt)
        vertices -= value[:, np.newaxis] * out
    if floor is not None:
        vertices[:, 1] = np.maximum(vertices[:, 1], floor)
    return smoothed(vertices, triangles, colour)


def _field(blobs: Sequence[Blob], carve: Sequence[Blob], points: Any, melt: float) -> tuple[Any, Any]:
    """Metres from the common surface, (V,), and the way out, (V, 3): a smooth minimum over blobs."""
    value, out = _smooth_minimum([blob.distance(points) for blob in blobs], melt)
    if not carve:
        return value, out
    hollow, into = _smooth_minimum([blob.distance(points) for blob in carve], melt)
    value, out = _smooth_minimum([(-value, -out), (hollow, into)], melt)
    return -value, -out


def _smooth_minimum(fields: Sequence[tuple[Any, Any]], melt: float) -> tuple[Any, Any]:
    """-melt log(sum exp(-d / melt)), and its gradient: each one's by its share."""
    distances = np.array([distance for distance, _ in fields])
    nearest = distances.min(axis=0)
    shares = np.exp((nearest - distances) / melt)
    total = shares.sum(axis=0)
    gradient = np.einsum("bv,bvc->vc", shares / total, np.array([out for _, out in fields]))
    return nearest - melt * np.log(total), gradient


def _field_on_grid(blobs: Sequence[Blob], carve: Sequence[Blob], spacing: float, melt: float) -> tuple[Any, Any]:
    """Values (X, Y, Z) of the field at a grid, and the position of its first point."""
    boxes = [blob.box(2 * spacing) for blob in blobs]
    low = np.floor(np.min([low for low, _ in boxes], axis=0) / spacing)
    shape = (np.ceil(np.max([high for _, high in boxes], axis=0) / spacing) - low).astype(int) + 1
    solid = _sum_on_grid(blobs, low, shape, spacing, melt)
    hollow = _sum_on_grid(carve, low, shape, spacing, melt)
    # Inside where the sum of exp(-d / melt) is above 1 and nothing is taken away.
    tiny = np.exp(-_REACH)
    value = np.maximum(-melt * np.log(solid + tiny), melt * np.log(hollow + tiny))
    return value, low * spacing


def _sum_on_grid(blobs: Sequence[Blob], low: Any, shape: Any, spacing: float, melt: float) -> Any:
    total = np.zeros(shape)
    for blob in blobs:
        box = blob.box(_REACH * melt)
        first = np.clip(np.floor(box[0] / spacing) - low, 0, shape).astype(int)
        last = np.clip(np.ceil(box[1] / spacing) - low + 1, 0, shape).astype(int)
        if (last <= first).any():
            continue
        axes = [(np.arange(a, b) + origin) * spacing for a, b, origin in zip(first, last, low, strict=True)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        distance, _ = blob.distance(points.reshape(-1, 3))
        part = tuple(slice(a, b) for a, b in zip(first, last, strict=True))
        total[part] += np.exp(-np.maximum(distance, -_REACH * melt) / melt).reshape(points.shape[:3])
    return total


_CELL_EDGES = [(a, b) for a in range(8) for b in range(a) if (a ^ b) in (1, 2, 4)]
"""Edges of a grid cell as pairs of corners, numbered by x, y and z as binary digits."""


def _nets(value: Any, origin: Any, spacing: float) -> tuple[Any, Any]:
    """Return naive surface nets: a vertex per grid cell with corners on both sides, a quad across each such edge."""
    inside = value < 0
    corner = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    cells = tuple(n - 1 for n in value.shape)
    count = sum(inside[i : i + cells[0], j : j + cells[1], k : k + cells[2]].astype(np.int8) for i, j, k in corner)
    cell = np.argwhere((count > 0) & (count < 8))
    at = cell[:, np.newaxis] + corner
    values = value[at[..., 0], at[..., 1], at[..., 2]]
    point, crossed = np.zeros((len(cell), 3)), np.zeros(len(cell))
    for a, b in _CELL_EDGES:
        change = (values[:, a] < 0) != (values[:, b] < 0)
        share = np.where(change, values[:, a] / np.where(change, values[:, a] - values[:, b], 1.0), 0.0)
        point += np.where(change[:, np.newaxis], corner[a] + share[:, np.newaxis] * (corner[b] - corner[a]), 0.0)
        crossed += change
    number = np.full(cells, -1)
    number[tuple(cell.T)] = np.arange(len(cell))
    return origin + (cell + point / crossed[:, np.newaxis]) * spacing, _quads(inside, number)


def _quads(inside: Any, number: Any) -> Any:
    """Return (T, 3): two triangles across each edge of the grid whose ends lie on different sides."""
    triangles = []
    for axis in range(3):
        b, c = np.eye(3, dtype=int)[[(axis + 1) % 3, (axis + 2) % 3]]
        low, high = np.moveaxis(inside, axis, 0)[:-1], np.moveaxis(inside, axis, 0)[1:]
        edge = np.argwhere(np.moveaxis(low != high, 0, axis))
        corners = [number[tuple((edge - shift).T)] for shift in (b + c, c, 0 * b, b)]
        leaves = inside[tuple(edge.T)]
        quad = np.stack([np.where(leaves, corners[n], corners[-1 - n]) for n in range(4)], axis=1)
        triangles += [quad[:, (0, 1, 2)], quad[:, (0, 2, 3)]]
    return np.concatenate(triangles)


def _neighbour_mean(values: Any, edges: Any) -> Any:
    count = np.bincount(edges[:, 0], minlength=len(values))
    total = np.stack([np.bincount(edges[:, 0], column[edges[:, 1]], len(values)) for column in values.T], axis=1)
    return total / count[:, np.newaxis]
