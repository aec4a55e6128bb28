"""The ground in a picture: any ground that rays can be cast at, with a grid, fading out beyond the motion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.math.arrays import smoothstep
from kinema.render.camera import DrawingSpace, PictureCamera, along
from kinema.render.look import Theme
from kinema.render.raster import facing, fill
from kinema.world.function_ground import FunctionGround
from kinema.world.ground import Ground

GRID_CELLS = 4.0
"""About how many grid cells a body size has; the cell is rounded to 1, 2 or 5 times a power of ten."""

GRID_LINE = 0.0035
"""Body sizes: width of the grid's lines."""

GROUND_FADES = (0.75, 2.1)
"""Body sizes beyond the motion where the ground begins to fade, and where it is gone."""

GROUND_RELIEF = 0.6
"""How strongly a slope towards or away from the sun is brighter or darker than level ground."""


HEIGHTS = 256
"""Samples along each side of the visible box, for ground given by a function."""


@dataclass(frozen=True)
class GroundImage:
    """The ground as the camera sees it."""

    colour: Any
    """(height, width, 3): colour without shadows."""
    depth: Any
    """(height, width): depth from the camera's centre, infinite where there is no ground."""
    shown: Any
    """(n,): flat indices of the pixels where the ground has not faded out."""
    point: Any
    """(n, 3): the point that each of them shows, in drawing space."""
    presence: Any
    """(n,): opacity of the ground there, above 0 and up to 1."""
    fine: int
    """Samples per pixel in each direction."""

    @classmethod
    def seen(
        cls, ground: Any, space: DrawingSpace, camera: PictureCamera, fine: int, sun: Any, poses: Any, theme: Theme
    ) -> GroundImage:
        """Draw a ground. poses: (n, k, 3), points in drawing space that enclose the motion at some times."""
        camera, (near, far) = camera.finer(fine), GROUND_FADES
        motion = np.stack((poses.min(axis=(0, 1)), poses.max(axis=(0, 1))))
        hit, point, normal = view_ground(ground, space, camera, motion + np.array([[-far], [far]]))
        beyond = np.linalg.norm(np.maximum(np.maximum(motion[0] - point, point - motion[1]), 0.0)[..., ::2], axis=-1)
        share = np.clip((far - beyond) / (far - near), 0.0, 1.0)
        presence = np.where(hit, smoothstep(share), 0.0)
        # Ground that has faded out hides nothing.
        depth = np.where(presence > 0.0, along(camera.axes[2:], point - camera.centre)[..., 0], np.inf)
        lines = _lines(point, cell(space.size), camera)
        colour = theme.ground + (theme.line - theme.ground) * lines[..., np.newaxis]
        towards_sun = np.clip(along(sun[np.newaxis], normal), 0.0, 1.0)
        colour = colour * (1.0 + GROUND_RELIEF * (towards_sun - sun[1]))
        colour = theme.background + (colour - theme.background) * presence[..., np.newaxis]
        shown = np.flatnonzero(presence)
        return cls(colour, depth, shown, point.reshape(-1, 3)[shown], presence.reshape(-1)[shown], fine)


def cell(size: float) -> float:
    """Return the grid's spacing in body sizes: 1, 2 or 5 times a power of ten in the character's unit."""
    wanted = size / GRID_CELLS
    power = 10.0 ** math.floor(math.log10(wanted))
    return min((power * k for k in (1, 2, 5, 10)), key=lambda each: abs(math.log(each / wanted))) / size


def _lines(point: Any, spacing: float, camera: PictureCamera) -> Any:
    """Return (height, width): how much of each pixel is covered by a line of the grid, 0 to 1."""
    covered = np.zeros(point.shape[:-1])
    for axis in (0, 2):
        along = point[..., axis]
        # How far one pixel to the right and one down lead across the lines: the width of a soft edge.
        soft = sum(np.abs(np.gradient(along, axis=k)) for k in (0, 1)) + 0.5 / camera.scale
        off = np.abs(along - spacing * np.rint(along / spacing))
        covered = np.maximum(covered, np.clip((GRID_LINE / 2 - off) / soft + 0.5, 0.0, 1.0))
    return covered


class GroundView(NamedTuple):
    """The ground in each pixel, in drawing space."""

    hit: Any
    """(height, width): whether there is ground."""
    point: Any
    """(height, width, 3): the point that is seen."""
    normal: Any
    """(height, width, 3): the unit normal there."""


def view_ground(ground: Any, space: DrawingSpace, camera: PictureCamera, box: Any) -> GroundView:
    """Return what a camera sees of a ground within a box (2, 3), given by its lower and upper corner.

    From below, the ground is invisible, because it would hide everything.
    """
    if camera.axes[2, 1] >= 0.0:
        shape = (camera.size[1], camera.size[0])
        return GroundView(np.zeros(shape, bool), np.zeros((*shape, 3)), np.zeros((*shape, 3)))
    if isinstance(ground, FunctionGround) or not isinstance(ground, Ground):
        return _by_heights(ground, space, camera, box)
    way = camera.axes[2]
    corners = np.array([(x, y, z) for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    depths = (corners - camera.centre) @ way
    origins = camera.pixels() + depths.min() * way
    hits = ground.cast(space.points_back(origins), space.directions_back(way), np.ptp(depths) * space.size)
    normal = space.directions(hits.normal)
    return GroundView(hits.hit & (normal[..., 1] >= 0.0), space.points(hits.point), normal)


def _by_heights(ground: Any, space: DrawingSpace, camera: PictureCamera, box: Any) -> GroundView:
    """Draw ground given by a function as a mesh. Rays that march along it are slow, except straight down."""
    x, z = (np.linspace(box[0, axis], box[1, axis], HEIGHTS) for axis in (0, 2))
    above = np.stack(np.broadcast_arrays(x[:, np.newaxis], box[1, 1], z), axis=-1).reshape(-1, 3)
    down, drop = np.array((0.0, -1.0, 0.0)), float(box[1, 1] - box[0, 1])
    hits = ground.cast(space.points_back(above), space.directions_back(down), drop * space.size)
    points = space.points(hits.point)
    corner = (np.arange(HEIGHTS - 1)[:, np.newaxis] * HEIGHTS + np.arange(HEIGHTS - 1)).reshape(-1)
    a, b, c, d = corner, corner + 1, corner + HEIGHTS + 1, corner + HEIGHTS
    triangles = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    triangles = triangles[hits.hit[triangles].all(axis=1)]
    projected = camera.project(points)
    triangles = facing(projected, triangles)
    seen = fill(projected, triangles, (camera.size[1], camera.size[0]))
    point, normal = np.zeros((*seen.owner.shape, 3)), np.zeros((*seen.owner.shape, 3))
    point[seen.seen] = seen.of(triangles, points)
    p, q, r = (points[triangles[:, k]] for k in range(3))
    normal[seen.seen] = arrays.unit(np.cross(q - p, r - p))[seen.owner[seen.seen]]
    return GroundView(seen.seen, point, normal)
