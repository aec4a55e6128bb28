"""What an eye sees of a ground: what rays from it meet, or, where those take long to find, a mesh of heights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.render.axes import along
from kinema.render.camera import Camera
from kinema.render.constants import FLESH, HEIGHTS, MOST_WALLS, WALL_STEP
from kinema.render.raster import facing, fill
from kinema.render.stage import Stage
from kinema.world.function_ground import FunctionGround
from kinema.world.ground import Ground


class Sight(NamedTuple):
    """Of each pixel (height, width), on the stage."""

    hit: Any
    """(height, width): whether there is ground."""
    place: Any
    """(height, width, 3): where."""
    normal: Any
    """(height, width, 3): which way it faces."""


def sight_of(ground: Any, stage: Stage, camera: Camera, box: Any, poses: Any) -> Sight:
    """What a camera sees of a ground within a box, (2, 3), its lower and upper corners on the stage. poses: (n, k, 3),
    points of what stands on it: what would hide them is cut away.

    From below, ground is of glass: all of it would be in the way.
    """
    if camera.axes[2, 1] >= 0.0:
        shape = (camera.size[1], camera.size[0])
        return Sight(np.zeros(shape, bool), np.zeros((*shape, 3)), np.zeros((*shape, 3)))
    quick = isinstance(ground, Ground) and not isinstance(ground, FunctionGround)
    return _by_rays(ground, stage, camera, box, poses) if quick else _by_heights(ground, stage, camera, box)


def _by_rays(ground: Any, stage: Stage, camera: Camera, box: Any, poses: Any) -> Sight:
    way = camera.axes[2]
    corners = np.array([(x, y, z) for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    depths = _depth(way, corners)
    pixels = camera.pixels()
    first = pixels + (depths.min() - _depth(way, camera.centre)) * way
    sight = _cast(ground, stage, first, way, np.ptp(depths))
    _cut_away(ground, stage, way, sight, poses, (depths.max(), box[1, 1]))
    return sight


def _cut_away(ground: Any, stage: Stage, way: Any, sight: Sight, poses: Any, ends: tuple[float, float]) -> None:
    """Look on through what stands before poses and is higher than the ground under them: walls, not floors. ends: the
    depth to which one sees, and the height under which all is.
    """
    feet, limit = poses[..., 1].min(axis=1), _depth(way, poses).min(axis=1).max()
    cut = np.nonzero(_hides(sight, way, feet.max() + 2 * FLESH, limit))
    beyond = Sight(*(each[cut] for each in sight))
    for _ in range(MOST_WALLS):
        more = np.nonzero(_hides(beyond, way, feet.max() + 2 * FLESH, limit))
        on = beyond.place[more] + WALL_STEP * way
        for whole, part in zip(beyond, _cast(ground, stage, on, way, ends[0] - _depth(way, on)), strict=True):
            whole[more] = part
    # Where that leads inside of ground, it was no wall but the ground itself, like stairs beside the way.
    reached = np.where(beyond.hit, np.minimum(_depth(way, beyond.place) - WALL_STEP, limit), limit)
    at = sight.place[cut] + (reached - _depth(way, sight.place[cut]))[:, np.newaxis] * way
    clear = ((reached < limit) | (at[:, 1] > feet.min() - 2 * FLESH)) & ~_buried(ground, stage, at, ends[1])
    for whole, part in zip(sight, beyond, strict=True):
        whole[tuple(axis[clear] for axis in cut)] = part[clear]


def _depth(way: Any, points: Any) -> Any:
    """(...): how far points (..., 3) are along the way."""
    return along(way[np.newaxis], points)[..., 0]


def _hides(sight: Sight, way: Any, floor: float, limit: float) -> Any:
    """Whether what is seen is above the floor and nearer than the limit."""
    return sight.hit & (sight.place[..., 1] > floor) & (_depth(way, sight.place) < limit)


def _cast(ground: Any, stage: Stage, origins: Any, way: Any, reach: Any) -> Sight:
    """What is seen from origins (..., 3) one way, no further than reach (...), all on the stage."""
    hits = ground.cast(stage.points_back(origins), stage.directions_back(way), np.maximum(reach, 0.0) * stage.size)
    normal = stage.directions(hits.normal)
    return Sight(hits.hit & (normal[..., 1] >= 0.0), stage.points(hits.point), normal)


def _buried(ground: Any, stage: Stage, points: Any, top: float) -> Any:
    """(n,): whether points (n, 3) are inside of ground, by how often one meets it on the way down from the top; a roof
    is met twice, where it comes and where it ends.
    """
    down, met = np.array((0.0, -1.0, 0.0)), np.zeros(len(points), np.int64)
    left, heights = np.arange(len(points)), np.full(len(points), top)
    for _ in range(MOST_WALLS):
        above = np.stack((points[left, 0], heights, points[left, 2]), axis=-1)
        hit, place, _ = _cast(ground, stage, above, down, heights - points[left, 1])
        left, heights = left[hit], place[hit, 1] - WALL_STEP
        met[left] += 1
    return met % 2 == 1


def _by_heights(ground: Any, stage: Stage, camera: Camera, box: Any) -> Sight:
    """Ground that is a function of a place is marched along, slowly; straight down there is least of it."""
    x, z = (np.linspace(box[0, axis], box[1, axis], HEIGHTS) for axis in (0, 2))
    above = np.stack(np.broadcast_arrays(x[:, np.newaxis], box[1, 1], z), axis=-1).reshape(-1, 3)
    down, drop = np.array((0.0, -1.0, 0.0)), float(box[1, 1] - box[0, 1])
    hits = ground.cast(stage.points_back(above), stage.directions_back(down), drop * stage.size)
    points = stage.points(hits.point)
    corner = (np.arange(HEIGHTS - 1)[:, np.newaxis] * HEIGHTS + np.arange(HEIGHTS - 1)).reshape(-1)
    a, b, c, d = corner, corner + 1, corner + HEIGHTS + 1, corner + HEIGHTS
    triangles = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    triangles = triangles[hits.hit[triangles].all(axis=1)]
    projected = camera.project(points)
    triangles = facing(projected, triangles)
    seen = fill(projected, triangles, (camera.size[1], camera.size[0]))
    place, normal = np.zeros((*seen.owner.shape, 3)), np.zeros((*seen.owner.shape, 3))
    place[seen.seen] = seen.of(triangles, points)
    p, q, r = (points[triangles[:, k]] for k in range(3))
    normal[seen.seen] = arrays.unit(np.cross(q - p, r - p))[seen.owner[seen.seen]]
    return Sight(seen.seen, place, normal)
