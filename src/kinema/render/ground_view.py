"""What the camera sees of a ground: by rays, or, for a ground given by a function, by a mesh of its heights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.render.camera import PictureCamera, along
from kinema.render.raster import facing, fill
from kinema.render.space import FLESH, DrawingSpace
from kinema.world.function_ground import FunctionGround
from kinema.world.ground import Ground

HEIGHTS = 256
"""Samples along each side of the visible box, for ground given by a function."""

MAX_WALLS, WALL_STEP = 4, 1e-4
"""Surfaces to look through or to count when testing whether a point is inside the ground: fronts and backs of two
walls; and the distance from one surface, in body sizes, at which the search for the next begins."""


class GroundView(NamedTuple):
    """The ground in each pixel, in drawing space."""

    hit: Any
    """(height, width): whether there is ground."""
    point: Any
    """(height, width, 3): the point that is seen."""
    normal: Any
    """(height, width, 3): the unit normal there."""


def view_ground(ground: Any, space: DrawingSpace, camera: PictureCamera, box: Any, poses: Any) -> GroundView:
    """Return what a camera sees of a ground within a box (2, 3), given by its lower and upper corner.

    poses: (n, k, 3), points of the characters on it. Walls in front of them are cut away. From below, the ground is
    invisible, because it would hide everything.
    """
    if camera.axes[2, 1] >= 0.0:
        shape = (camera.size[1], camera.size[0])
        return GroundView(np.zeros(shape, bool), np.zeros((*shape, 3)), np.zeros((*shape, 3)))
    quick = isinstance(ground, Ground) and not isinstance(ground, FunctionGround)
    return _by_rays(ground, space, camera, box, poses) if quick else _by_heights(ground, space, camera, box)


def _by_rays(ground: Any, space: DrawingSpace, camera: PictureCamera, box: Any, poses: Any) -> GroundView:
    way = camera.axes[2]
    corners = np.array([(x, y, z) for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    depths = _depth(way, corners)
    pixels = camera.pixels()
    first = pixels + (depths.min() - _depth(way, camera.centre)) * way
    sight = _cast(ground, space, first, way, np.ptp(depths))
    _cut_away(ground, space, way, sight, poses, (depths.max(), box[1, 1]))
    return sight


def _cut_away(
    ground: Any, space: DrawingSpace, way: Any, sight: GroundView, poses: Any, ends: tuple[float, float]
) -> None:
    """Look through walls in front of the poses: surfaces that are higher than the ground under the feet.

    ends: the largest visible depth, and a height above everything.
    """
    feet, limit = poses[..., 1].min(axis=1), _depth(way, poses).min(axis=1).max()
    cut = np.nonzero(_hides(sight, way, feet.max() + 2 * FLESH, limit))
    beyond = GroundView(*(each[cut] for each in sight))
    for _ in range(MAX_WALLS):
        more = np.nonzero(_hides(beyond, way, feet.max() + 2 * FLESH, limit))
        on = beyond.point[more] + WALL_STEP * way
        for whole, part in zip(beyond, _cast(ground, space, on, way, ends[0] - _depth(way, on)), strict=True):
            whole[more] = part
    # A look-through that ends inside the ground met no wall but the ground itself, such as stairs beside the way.
    reached = np.where(beyond.hit, np.minimum(_depth(way, beyond.point) - WALL_STEP, limit), limit)
    at = sight.point[cut] + (reached - _depth(way, sight.point[cut]))[:, np.newaxis] * way
    clear = ((reached < limit) | (at[:, 1] > feet.min() - 2 * FLESH)) & ~_buried(ground, space, at, ends[1])
    for whole, part in zip(sight, beyond, strict=True):
        whole[tuple(axis[clear] for axis in cut)] = part[clear]


def _depth(way: Any, points: Any) -> Any:
    """Return the depth (...) of points (..., 3) along a direction."""
    return along(way[np.newaxis], points)[..., 0]


def _hides(sight: GroundView, way: Any, floor: float, limit: float) -> Any:
    """Return whether the visible point is above the floor and nearer than the limit."""
    return sight.hit & (sight.point[..., 1] > floor) & (_depth(way, sight.point) < limit)


def _cast(ground: Any, space: DrawingSpace, origins: Any, way: Any, reach: Any) -> GroundView:
    """Cast rays from origins (..., 3) in one direction, up to distances (...), all in drawing space."""
    hits = ground.cast(space.points_back(origins), space.directions_back(way), np.maximum(reach, 0.0) * space.size)
    normal = space.directions(hits.normal)
    return GroundView(hits.hit & (normal[..., 1] >= 0.0), space.points(hits.point), normal)


def _buried(ground: Any, space: DrawingSpace, points: Any, top: float) -> Any:
    """Return (n,): whether points (n, 3) are inside the ground.

    A point is inside if a ray down from the top crosses an odd number of surfaces; a roof is crossed twice.
    """
    down, met = np.array((0.0, -1.0, 0.0)), np.zeros(len(points), np.int64)
    left, heights = np.arange(len(points)), np.full(len(points), top)
    for _ in range(MAX_WALLS):
        above = np.stack((points[left, 0], heights, points[left, 2]), axis=-1)
        hit, point, _ = _cast(ground, space, above, down, heights - points[left, 1])
        left, heights = left[hit], point[hit, 1] - WALL_STEP
        met[left] += 1
    return met % 2 == 1


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
