"""The ground in a picture: any ground that rays can be cast at, with a grid, fading out beyond the motion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math.arrays import smoothstep
from kinema.render.camera import PictureCamera, along
from kinema.render.ground_view import view_ground
from kinema.render.space import DrawingSpace
from kinema.render.themes import Theme

GRID_CELLS = 4.0
"""About how many grid cells a body size has; the cell is rounded to 1, 2 or 5 times a power of ten."""

GRID_LINE = 0.0035
"""Body sizes: width of the grid's lines."""

GROUND_FADES = (0.75, 2.1)
"""Body sizes beyond the motion where the ground begins to fade, and where it is gone."""

GROUND_RELIEF = 0.6
"""How strongly a slope towards or away from the sun is brighter or darker than level ground."""


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
        hit, point, normal = view_ground(ground, space, camera, motion + np.array([[-far], [far]]), poses)
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
