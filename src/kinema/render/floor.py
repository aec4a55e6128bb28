"""The ground of a picture: any ground that rays can be cast at, with a grid on it, fading out beyond the motion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.render.axes import along
from kinema.render.camera import Camera
from kinema.render.constants import GRID_CELLS, GRID_LINE, GROUND_FADES, GROUND_RELIEF
from kinema.render.sight import sight_of
from kinema.render.stage import Stage
from kinema.render.themes import Theme


@dataclass(frozen=True)
class Floor:
    """What an eye sees of the ground, in each pixel (height, width).

    colour: (height, width, 3), without any shadow. depth: from the eye's centre, infinite where there is no ground.
    shown: (n,), the pixels where it has not faded out, row by row; place: (n, 3), what is seen there, on the stage;
    presence: (n,), above 0, 1 where it is all there. fine: pixels for each one kept, in each direction.
    """

    colour: Any
    depth: Any
    shown: Any
    place: Any
    presence: Any
    fine: int

    @classmethod
    def seen(cls, ground: Any, stage: Stage, camera: Camera, fine: int, sun: Any, poses: Any, theme: Theme) -> Floor:
        """poses: (n, k, 3), points on the stage that what moves stays within, at some moments."""
        camera, (near, far) = camera.finer(fine), GROUND_FADES
        motion = np.stack((poses.min(axis=(0, 1)), poses.max(axis=(0, 1))))
        hit, place, normal = sight_of(ground, stage, camera, motion + np.array([[-far], [far]]), poses)
        beyond = np.linalg.norm(np.maximum(np.maximum(motion[0] - place, place - motion[1]), 0.0)[..., ::2], axis=-1)
        share = np.clip((far - beyond) / (far - near), 0.0, 1.0)
        presence = np.where(hit, share * share * (3 - 2 * share), 0.0)
        # What has faded out hides nothing.
        depth = np.where(presence > 0.0, along(camera.axes[2:], place - camera.centre)[..., 0], np.inf)
        lines = _lines(place, cell(stage.size), camera)
        colour = theme.ground + (theme.line - theme.ground) * lines[..., np.newaxis]
        towards_sun = np.clip(along(sun[np.newaxis], normal), 0.0, 1.0)
        colour = colour * (1.0 + GROUND_RELIEF * (towards_sun - sun[1]))
        colour = theme.background + (colour - theme.background) * presence[..., np.newaxis]
        shown = np.flatnonzero(presence)
        return cls(colour, depth, shown, place.reshape(-1, 3)[shown], presence.reshape(-1)[shown], fine)


def cell(size: float) -> float:
    """Body sizes between two lines of the grid: in the file's unit 1, 2 or 5 times a power of ten."""
    wanted = size / GRID_CELLS
    power = 10.0 ** math.floor(math.log10(wanted))
    return min((power * k for k in (1, 2, 5, 10)), key=lambda each: abs(math.log(each / wanted))) / size


def _lines(place: Any, spacing: float, camera: Camera) -> Any:
    """(height, width): how much of a line of the grid each pixel shows, 0 to 1."""
    covered = np.zeros(place.shape[:-1])
    for axis in (0, 2):
        along = place[..., axis]
        # How much one pixel to the right and one down take us across the lines: the width of a soft edge.
        soft = sum(np.abs(np.gradient(along, axis=k)) for k in (0, 1)) + 0.5 / camera.scale
        off = np.abs(along - spacing * np.rint(along / spacing))
        covered = np.maximum(covered, np.clip((GRID_LINE / 2 - off) / soft + 0.5, 0.0, 1.0))
    return covered
