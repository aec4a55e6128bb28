"""A character in one of its clips, on the stage: its bodies, how far they reach, and the scene they are seen in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.character import Character
from kinema.clip import Clip
from kinema.render.body import Body, Sculptor
from kinema.render.camera import Camera
from kinema.render.constants import FINE_GROUND, FLESH
from kinema.render.floor import Floor
from kinema.render.look import Look
from kinema.render.scene import Scene, sun_for
from kinema.render.stage import Stage
from kinema.render.themes import THEMES
from kinema.world.plane import Plane


@dataclass(frozen=True)
class Staged:
    """points: (times, k, 3), on the stage: what a picture of each of some moments has to show."""

    sculptor: Sculptor
    clip: Clip
    look: Look
    stage: Stage
    points: Any

    @classmethod
    def of(cls, character: Character, clip: Clip | None, times: Any, look: Look) -> Staged:
        """times: the moments that are drawn, or so many of them that they tell where it goes."""
        sculptor = Sculptor(character, THEMES[look.theme], look.show)
        clip = Clip("rest", character.skeleton, ()) if clip is None else clip
        outline = np.stack([sculptor.outline(clip.sample(time)) for time in times])
        stage = Stage.of(character, outline)
        points = stage.points(outline)
        return cls(sculptor, clip, look, stage, np.concatenate((points - FLESH, points + FLESH), axis=1))

    def body(self, time: float) -> Body:
        return self.sculptor.body(self.clip.sample(time), self.stage)

    def scene(self, points: Any, camera: Camera, fine: int) -> Scene:
        """Where all that moves stays within these points (n, k, 3), at some moments. fine: as in `Scene`."""
        sun, theme, ground = sun_for(camera), THEMES[self.look.theme], self.look.ground
        if ground is None:
            ground = Plane(self.stage.points_back(np.zeros(3)), self.stage.axes[1])
        floor = Floor.seen(ground, self.stage, camera, _detail(ground), sun, points, theme)
        return Scene(camera, floor, sun, theme, fine)


def _detail(ground: Any) -> int:
    """Pixels of a ground drawn for each one kept: a plane has no edges."""
    return 1 if isinstance(ground, Plane) else FINE_GROUND
