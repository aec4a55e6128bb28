"""The meshes that are drawn of a character in a pose: its bones, its skin, or both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.render.bones import DrawnBones
from kinema.render.camera import DrawingSpace, along
from kinema.render.look import Theme
from kinema.render.meshes import Mesh, joined, smoothed


@dataclass(frozen=True)
class DrawnBody:
    """What is drawn of one pose, in drawing space: bones, a skin, or bones that show through a skin."""

    bones: Mesh | None = None
    skin: Mesh | None = None

    def moved(self, offset: Any) -> DrawnBody:
        return DrawnBody(_moved(self.bones, offset), _moved(self.skin, offset))

    @classmethod
    def joined(cls, bodies: list[DrawnBody]) -> DrawnBody:
        bones, skins = (
            [mesh for mesh in each if mesh is not None]
            for each in zip(*((body.bones, body.skin) for body in bodies), strict=True)
        )
        return cls(joined(bones) if bones else None, joined(skins) if skins else None)


@dataclass(frozen=True)
class Sculptor:
    """Build bodies from a character's poses. show: "bones", "skin" or "both"."""

    character: Character
    theme: Theme
    show: str

    def __post_init__(self) -> None:
        if self.show != "bones" and not self.character.skins:
            raise InputError(f"show is {self.show!r}, but {self.character.name!r} has no skin; allowed is 'bones'")

    def body(self, pose: Pose, space: DrawingSpace) -> DrawnBody:
        return DrawnBody(
            None if self.show == "skin" else self._bones.mesh(space.points(self._joints(pose))),
            None if self.show == "bones" else self._skin(pose, space),
        )

    def outline(self, pose: Pose) -> Any:
        """Return (k, 3): points that a picture of the pose must show, in the character's space."""
        if self.show == "bones":
            return self._joints(pose)
        palette = self.character.skeleton.palette(pose)
        points = np.concatenate([skin.deform(palette) for skin in self.character.skins]).astype(np.float64)
        # The farthest in 26 directions are enough to fit a picture around them.
        ways = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])
        return points[np.argmax(along(ways, points), axis=0)]

    @cached_property
    def _bones(self) -> DrawnBones:
        return DrawnBones.of(self.character, self.theme, skull=self.show == "bones")

    def _joints(self, pose: Pose) -> Any:
        """Return (n, 3): positions of the joints that are drawn, in the character's space."""
        return self.character.skeleton.world(pose)[self._bones.joints, :3, 3].astype(np.float64)

    def _skin(self, pose: Pose, space: DrawingSpace) -> Mesh:
        """Return all skins as the pose deforms them, with new normals."""
        palette = self.character.skeleton.palette(pose)
        return joined(
            [
                smoothed(
                    space.points(skin.deform(palette).astype(np.float64)),
                    skin.triangles,
                    self.theme.skin if skin.colours is None else skin.colours,
                )
                for skin in self.character.skins
            ]
        )


def _moved(mesh: Mesh | None, offset: Any) -> Mesh | None:
    if mesh is None:
        return None
    return Mesh(mesh.vertices + offset, mesh.triangles, mesh.normals, mesh.colours)
