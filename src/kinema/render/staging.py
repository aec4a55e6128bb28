"""A clip prepared for drawing: its bodies, how far they move, and the renderer that draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.render.body import DrawnBody, Sculptor
from kinema.render.camera import PictureCamera
from kinema.render.ground_image import GroundImage
from kinema.render.look import Look
from kinema.render.renderer import Renderer, sun_for
from kinema.render.space import FLESH, DrawingSpace
from kinema.render.themes import THEMES
from kinema.world.plane import Plane

GROUND_SAMPLES = 2
"""Samples per pixel of uneven ground, in each direction. A plane has no edges and needs one."""


@dataclass(frozen=True)
class Staging:
    """A clip of a character, prepared for drawing."""

    sculptor: Sculptor
    clip: Clip
    look: Look
    space: DrawingSpace
    points: Any
    """(times, k, 3): what a picture of each time must show, in drawing space."""

    @classmethod
    def of(cls, character: Character, clip: Clip | None, times: Any, look: Look) -> Staging:
        """Prepare a clip, or None for the rest pose. times: seconds, enough of them to tell how far it moves."""
        sculptor = Sculptor(character, THEMES[look.theme], look.show)
        clip = Clip("rest", character.skeleton, ()) if clip is None else clip
        outline = np.stack([sculptor.outline(clip.sample(time)) for time in times])
        space = DrawingSpace.of(character, outline)
        points = space.points(outline)
        return cls(sculptor, clip, look, space, np.concatenate((points - FLESH, points + FLESH), axis=1))

    def body(self, time: float) -> DrawnBody:
        return self.sculptor.body(self.clip.sample(time), self.space)

    def renderer(self, points: Any, camera: PictureCamera, fine: int) -> Renderer:
        """Make a renderer for motion within these points (n, k, 3). fine: samples per pixel in each direction."""
        sun, theme, ground = sun_for(camera), THEMES[self.look.theme], self.look.ground
        if ground is None:
            ground = Plane(self.space.points_back(np.zeros(3)), self.space.axes[1])
        floor = GroundImage.seen(ground, self.space, camera, _detail(ground), sun, points, theme)
        return Renderer(camera, floor, sun, theme, fine)


def _detail(ground: Any) -> int:
    """Return the samples per pixel of a ground."""
    return 1 if isinstance(ground, Plane) else GROUND_SAMPLES
