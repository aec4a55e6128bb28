"""`Terrain`: ground made of straight pieces along z, level, sloping or stepped, with stones on top.

A ray is followed from piece to piece. Above a piece without stones its height changes evenly, so the hit has a closed
form; where there are stones the ray goes in steps, and the step that crosses the surface is bisected.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.compile.jit import batch, kernel
from kinema.constants import THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.math import vec
from kinema.math.rows import store3
from kinema.world.grids import box
from kinema.world.ground import Ground
from kinema.world.rays import (
    RAY_FAR,
    Hits,
    RayHit,
    Rays,
    cast_all,
    crossing,
    face_ray,
    load_ray,
    miss,
    point_along,
    store_hit,
)
from kinema.world.triangle_mesh import TriangleMesh

PIECE = np.dtype([("start", float), ("height", float), ("slope", float)])
"""A straight piece: z where it starts, its height there (metres), its slope (metres up per metre ahead)."""

STONE = np.dtype([("x", float), ("z", float), ("radius", float), ("height", float), ("rim", float)])
"""A round stone with a flat top, in metres. rim: fraction of the radius over which it rises to its top."""

HALF_WIDTH = 2.0
"""Metres to either side of x = 0 that meshes cover."""

STONE_STEP = 0.02
"""Metres per step of a slanted ray among stones: less than the rim of the smallest stone that a foot feels."""

MOST_STONE_STEPS = 1024
"""Most steps of a ray among stones; where there are stones along a longer way, the steps are longer."""

HALVINGS = 53
"""How often the step that crosses the surface is halved: down to one rounding of float64."""


class TerrainShape(NamedTuple):
    """What the kernels read."""

    pieces: Any
    """(K,) of `PIECE`."""
    stones: Any
    """(S,) of `STONE`, ordered by z."""
    widest: float
    """The largest radius of a stone, metres."""
    low: Any
    """The lowest corner of a box around all stones, metres; it extends upwards and downwards without end."""
    high: Any


# --- the surface -----------------------------------------------------------------------------------------------


@kernel
def _first_from(stones, z):
    """Return the index of the first stone whose middle is not before z."""
    low, high = 0, stones.size
    while low < high:
        middle = (low + high) // 2
        if stones[middle].z < z:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _piece_at(pieces, z):
    """Return the index of the piece below z; the one ahead where a piece starts."""
    low, high = 0, pieces.size
    while low < high:
        middle = (low + high) // 2
        if pieces[middle].start <= z:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, 0)


@kernel
def _stones_at(terrain, x, z):
    """Return the height of the stones at a point, and their slopes along x and z."""
    height, along_x, along_z = 0.0, 0.0, 0.0
    for n in range(_first_from(terrain.stones, z - terrain.widest), terrain.stones.size):
        stone = terrain.stones[n]
        if stone.z > z + terrain.widest:
            break
        off_x, off_z = x - stone.x, z - stone.z
        # Compare before multiplying: the square of a coordinate far away overflows.
        near = max(abs(off_x), abs(off_z)) < stone.radius
        distance = math.sqrt(off_x * off_x + off_z * off_z) if near else stone.radius
        if distance < stone.radius:
            rim = stone.rim * stone.radius
            share = min((stone.radius - distance) / rim, 1.0)
            height += stone.height * share * share * (3.0 - 2.0 * share)
            fall = -stone.height * 6.0 * share * (1.0 - share) / rim / (distance if distance > 0.0 else 1.0)
            along_x, along_z = along_x + fall * off_x, along_z + fall * off_z
    return height, along_x, along_z


@kernel
def _surface(terrain, i, x, z):
    """Return the height and the unit normal, pointing up, of piece i at a point."""
    piece = terrain.pieces[i]
    height, along_x, along_z = _stones_at(terrain, x, z)
    normal = vec.unit_or((-along_x, 1.0, -piece.slope - along_z), (0.0, 1.0, 0.0))
    return piece.height + piece.slope * (z - piece.start) + height, normal


@batch
def _read(x, z, terrain, heights, normals):
    """Read heights and normals at positions (n,)."""
    for k in range(x.size):
        heights[k], normal = _surface(terrain, _piece_at(terrain.pieces, z[k]), x[k], z[k])
        store3(normals[k], normal)


# --- one ray ---------------------------------------------------------------------------------------------------


@kernel
def _above(ray, distance, terrain, i):
    """Return how far a ray is above the surface of piece i."""
    x, y, z = point_along(ray, distance)
    return y - _surface(terrain, i, x, z)[0]


@kernel
def _side(above):
    """Return 1 above the surface, -1 below it, 0 on it."""
    return 1.0 if above > 0.0 else -1.0 if above < 0.0 else 0.0


@kernel
def _meet_vertical(ray, terrain):
    """Cast a vertical ray, which stays above one point."""
    x, y, z = ray.origin
    height, normal = _surface(terrain, _piece_at(terrain.pieces, z), x, z)
    distance = (height - y) * ray.unit[1]
    if distance < 0.0 or distance > ray.reach:
        return miss(ray)
    return RayHit(True, distance, face_ray(normal, ray.unit))


@kernel
def _crossing_on(ray, terrain, i, low, high, side, straight):
    """Return where a ray that changes sides between two distances crosses piece i."""
    if straight:
        piece = terrain.pieces[i]
        gap = ray.origin[1] - piece.height - piece.slope * (ray.origin[2] - piece.start)
        return min(max(crossing(-gap, ray.unit[1] - piece.slope * ray.unit[2]), low), high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if side * _above(ray, middle, terrain, i) > 0.0:
            low = middle
        else:
            high = middle
    return high


@kernel
def _meet_slanted(ray, terrain):
    """Cast a ray from piece to piece, and in steps among stones.

    Only the final comparison depends on the ray's reach, so a ray that ends exactly at its hit still hits.
    """
    origin, unit, pieces = ray.origin, ray.unit, terrain.pieces
    i, way = _piece_at(pieces, origin[2]), 1 if unit[2] > 0.0 else -1
    among, beyond = box(origin, unit, terrain.low, terrain.high)
    among = max(among, 0.0)
    step = max(STONE_STEP, (beyond - among) / MOST_STONE_STEPS)
    distance, side = 0.0, _side(_above(ray, 0.0, terrain, i))
    normal = _surface(terrain, i, origin[0], origin[2])[1]
    if side == 0.0 and vec.dot(normal, unit) != 0.0:
        return RayHit(True, 0.0, face_ray(normal, unit))
    for _ in range(pieces.size + MOST_STONE_STEPS + 4):
        edge = i + 1 if way > 0 else i
        ends = unit[2] != 0.0 and 0 < edge < pieces.size
        wall = max(crossing(pieces[edge].start - origin[2], unit[2]), distance) if ends else RAY_FAR
        straight = distance < among or distance >= beyond
        ahead = (
            min(distance + step, beyond) if not straight else among if among < beyond and distance < among else RAY_FAR
        )
        stop = min(wall, ahead)
        after = _side(_above(ray, stop, terrain, i))
        if side * after <= 0.0 and side != 0.0:
            distance = _crossing_on(ray, terrain, i, distance, stop, side, straight)
            x, _, z = point_along(ray, distance)
            normal = face_ray(_surface(terrain, i, x, z)[1], unit)
            return RayHit(True, distance, normal) if distance <= ray.reach else miss(ray)
        distance, side = stop, after
        if distance > ray.reach or distance >= RAY_FAR:
            break
        if distance == wall:
            i += way
            side = _side(_above(ray, distance, terrain, i))
            if side * after < 0.0:  # It meets the riser.
                return RayHit(True, distance, (0.0, 0.0, -1.0 * way)) if distance <= ray.reach else miss(ray)
    return miss(ray)


@kernel
def meet(ray, terrain):
    """Cast one ray."""
    vertical = ray.unit[0] == 0.0 and ray.unit[2] == 0.0
    return _meet_vertical(ray, terrain) if vertical else _meet_slanted(ray, terrain)


@batch
def _cast_range(start, stop, rays, hits, terrain):
    for i in range(start, stop):
        ray = load_ray(rays, i)
        store_hit(hits, i, ray, meet(ray, terrain))


class Terrain(Ground):
    """Ground made of straight pieces along z, the same for all x, with stones on top. Lengths in metres.

    Besides casting rays, a terrain can be read as heights and normals (`height_and_normal`) and as a mesh (`mesh`,
    `triangles`).

    Parameters
    ----------
    pieces
        (K,) of `PIECE`, at least one, ordered by `start`. The first and the last extend without end. A piece that
        starts at a different height than the one before it ends makes an upright riser.
    stones
        (S,) of `STONE`; may be empty. Where stones overlap, their heights add up.
    length
        The mesh covers z from 0 to `length`.

    Raises
    ------
    InputError
        If pieces or stones have another type, a number is not finite, or pieces are not in order.
    """

    def __init__(self, pieces: Any, stones: Any, length: float) -> None:
        self.pieces, self.stones, self.length = (
            _records("pieces", pieces, PIECE),
            _records("stones", stones, STONE),
            length,
        )
        if not self.pieces.size or (np.diff(self.pieces["start"]) < 0).any():
            raise InputError("pieces must be one or more, ordered by start")
        if (self.stones["radius"] <= 0).any() or (self.stones["rim"] <= 0).any():
            raise InputError("the radius and the rim of stones must be above zero")
        stones = self.stones[np.argsort(self.stones["z"], kind="stable")]
        radius, far = stones["radius"], RAY_FAR
        (x0, x1), (z0, z1) = (
            (np.min(stones[axis] - radius, initial=far), np.max(stones[axis] + radius, initial=-far)) for axis in "xz"
        )
        self._shape = TerrainShape(
            self.pieces.view(np.recarray),
            stones.view(np.recarray),
            float(np.max(radius, initial=0.0)),
            (float(x0), -far, float(z0)),
            (float(x1), far, float(z1)),
        )

    def __repr__(self) -> str:
        return f"Terrain({len(self.pieces)} pieces, {len(self.stones)} stones, {self.length:g} long)"

    def _cast(self, rays: Rays) -> Hits:
        return cast_all(rays, _cast_range, (self._shape,), THREADS_FROM_ITERATIVE)

    def height_and_normal(self, x: Any, z: Any) -> tuple[Any, Any]:
        """Return heights (...) and unit normals (..., 3) at positions x and z (...), which broadcast.

        At a riser they are those of the piece ahead.
        """
        x, z = np.broadcast_arrays(np.asarray(x, float), np.asarray(z, float))
        heights, normals = np.empty(x.size), np.empty((x.size, 3))
        _read(x.reshape(-1).copy(), z.reshape(-1).copy(), self._shape, heights, normals)
        return heights.reshape(x.shape)[()], normals.reshape(*x.shape, 3)

    def mesh(self, spacing: float = 0.08) -> tuple[Any, Any]:
        """Return vertices (V, 3) and triangles (T, 3) of the surface, facing up, with upright risers.

        spacing: distance between vertices where there are stones, metres.
        """
        x = np.linspace(-HALF_WIDTH, HALF_WIDTH, 2 + (round(2 * HALF_WIDTH / spacing) if len(self.stones) else 0))
        z, before = self._lines(spacing)
        read = np.where(before, np.nextafter(z, -np.inf), z)
        heights, _ = self.height_and_normal(x[:, np.newaxis], read)
        vertices = np.stack((*np.broadcast_arrays(x[:, np.newaxis], heights, z),), axis=-1).reshape(-1, 3)
        corner = (np.arange(len(x) - 1)[:, np.newaxis] * len(z) + np.arange(len(z) - 1)).reshape(-1)
        a, b, c, d = corner, corner + 1, corner + len(z) + 1, corner + len(z)
        return vertices, np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))

    def _lines(self, spacing: float) -> tuple[Any, Any]:
        """Return the z of the mesh's rows, and whether each row belongs to the piece that ends there.

        Where a piece starts there are two rows: the end of the piece before, and the start of this one.
        """
        starts = self.pieces["start"]
        starts = starts[(starts > 0) & (starts < self.length)]
        lines = [np.array((0.0, self.length))]
        if len(self.stones):
            low, high = ((self.stones["z"] + sign * self.stones["radius"]) for sign in (-1, 1))
            lines.append(np.linspace(low.min(), high.max(), 2 + round((high.max() - low.min()) / spacing)))
        between = np.setdiff1d(np.concatenate(lines), starts)
        z = np.concatenate((between, starts, starts))
        before = np.concatenate((np.zeros(len(between) + len(starts), bool), np.ones(len(starts), bool)))
        order = np.lexsort((~before, z))
        return z[order], before[order]

    def triangles(self, spacing: float = 0.08) -> TriangleMesh:
        """Return the mesh as a ground, which is faster to cast rays at."""
        return TriangleMesh(*self.mesh(spacing))


def _records(name: str, value: Any, kind: np.dtype[Any]) -> Any:
    """Validate records, (n,) of this type."""
    records = np.array(value)
    if records.dtype != kind or records.ndim != 1:
        raise InputError(f"{name} must be an array (n,) of {kind}, got {records.dtype} of shape {records.shape}")
    for field in kind.names or ():
        validation.check_finite(f"{name}['{field}']", np.ascontiguousarray(records[field]))
    return records
