"""`Terrain`: ground made of straight pieces along z, level, sloping or stepped, with stones on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.world.ground import Ground
from kinema.world.rays import Hits
from kinema.world.triangle_mesh import TriangleMesh

PIECE = np.dtype([("start", float), ("height", float), ("slope", float)])
"""A straight piece: z where it starts, its height there (metres), its slope (metres up per metre ahead)."""

STONE = np.dtype([("x", float), ("z", float), ("radius", float), ("height", float), ("rim", float)])
"""A round stone with a flat top, in metres. rim: fraction of the radius over which it rises to its top."""

HALF_WIDTH = 2.0
"""Metres to either side of x = 0 that meshes cover."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """Ground made of straight pieces along z, the same for all x, with stones on top. Lengths in metres.

    A terrain is plain data that can be read in two ways: as heights and normals at any position (`height_and_normal`,
    `cast`), and as a mesh (`mesh`, `triangles`).

    Parameters
    ----------
    pieces
        (K,) of `PIECE`, ordered by `start`. The first and the last extend without end. A piece that starts at a
        different height than the one before it ends makes an upright riser.
    stones
        (S,) of `STONE`; may be empty. Where stones overlap, their heights add up.
    length
        The mesh covers z from 0 to `length`.
    """

    pieces: Any
    stones: Any
    length: float

    def height_and_normal(self, x: Any, z: Any) -> tuple[Any, Any]:
        """Return heights (...) and unit normals (..., 3) at positions x and z (...), which broadcast.

        At a riser they are those of the piece ahead.
        """
        x, z = np.broadcast_arrays(np.asarray(x, float), np.asarray(z, float))
        piece = self.pieces[np.maximum(np.searchsorted(self.pieces["start"], z, side="right") - 1, 0)]
        top, top_x, top_z = self._stones_at(x, z)
        normals = np.stack((-top_x, np.ones_like(top), -piece["slope"] - top_z), axis=-1)
        return piece["height"] + piece["slope"] * (z - piece["start"]) + top, arrays.unit(normals)

    def _stones_at(self, x: Any, z: Any) -> tuple[Any, Any, Any]:
        """Return the height of the stones at positions (...) and their slopes along x and z."""
        total, along_x, along_z = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        for stone in self.stones:
            off_x, off_z = x - stone["x"], z - stone["z"]
            distance, rim = np.hypot(off_x, off_z), stone["rim"] * stone["radius"]
            share = np.clip((stone["radius"] - distance) / rim, 0.0, 1.0)
            total = total + stone["height"] * share * share * (3 - 2 * share)
            fall = -stone["height"] * 6 * share * (1 - share) / rim / np.where(distance > 0, distance, 1.0)
            along_x, along_z = along_x + fall * off_x, along_z + fall * off_z
        return total, along_x, along_z

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

    def cast(self, origins: Any, directions: Any, max_distance: Any) -> Hits:
        """Cast rays at the exact surface, as every ground does. See `kinema.Ground.cast`."""
        return Ground.from_function(self.height_and_normal).cast(origins, directions, max_distance)

    def triangles(self, spacing: float = 0.08) -> TriangleMesh:
        """Return the mesh as a ground, which is faster to cast rays at."""
        return TriangleMesh(*self.mesh(spacing))
