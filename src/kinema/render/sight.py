"""What an eye sees of a ground: what rays from it meet, or, where those take long to find, a mesh of heights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.render.axes import along
from kinema.render.camera import Camera
from kinema.render.constants import HEIGHTS
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


def sight_of(ground: Any, stage: Stage, camera: Camera, box: Any) -> Sight:
    """What a camera sees of a ground within a box, (2, 3), its lower and upper corners on the stage.

    From below, ground is of glass: all of it would be in the way.
    """
    if camera.axes[2, 1] >= 0.0:
        shape = (camera.size[1], camera.size[0])
        return Sight(np.zeros(shape, bool), np.zeros((*shape, 3)), np.zeros((*shape, 3)))
    quick = isinstance(ground, Ground) and not isinstance(ground, FunctionGround)
    return (_by_rays if quick else _by_heights)(ground, stage, camera, box)


def _by_rays(ground: Any, stage: Stage, camera: Camera, box: Any) -> Sight:
    way = camera.axes[2]
    corners = np.array([(x, y, z) for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    depths = along(way[np.newaxis], corners - camera.centre)
    origins = stage.points_back(camera.pixels() + depths.min() * way)
    hits = ground.cast(origins, stage.directions_back(way), np.ptp(depths) * stage.size)
    normal = stage.directions(hits.normal)
    return Sight(hits.hit & (normal[..., 1] >= 0.0), stage.points(hits.point), normal)


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
