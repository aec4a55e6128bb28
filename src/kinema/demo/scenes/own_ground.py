"""`OwnGround`: a mesh from a file as ground for a scene, where our own grounds would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.bake.grounds import mesh_of
from kinema.demo.scenes.actor import LONGEST_NAME
from kinema.errors import InputError
from kinema.io.robot.parts import RobotSource
from kinema.model.character import Character

LEAST = 1.5
"""Smallest width and depth, metres for a person: there is a round to walk on it."""
MOST_TRIANGLES = 300_000
"""Triangles that a page draws as ground."""
RIGID = 0.999
"""Weight of a vertex on one joint from which on nothing bends there."""


@dataclass(frozen=True, eq=False)
class OwnGround:
    """The triangles of a file. Metres for a person: like our grounds, it is scaled to the legs of who walks on it."""

    file: str
    shift: Any
    """(3,): where its middle lies in the file, at its lowest point and nearest end."""
    vertices: Any
    """(V, 3), from x = 0 on either side and from z = 0 on, at height 0 and above."""
    triangles: Any
    """(T, 3)."""

    @property
    def label(self) -> str:
        """Its name among the grounds."""
        return f"{self.file[:LONGEST_NAME]} (file)"

    def __str__(self) -> str:
        return self.file

    @property
    def half_width(self) -> float:
        return float(self.vertices[:, 0].max())

    @property
    def length(self) -> float:
        return float(self.vertices[:, 2].max())

    def script(self, size: float) -> list[str]:
        """Return lines of a script that make the ground, at a size relative to a person."""
        shift = ", ".join(f"{x:.9g}" for x in self.shift.tolist())
        return [
            f"mesh = km.load({self.file!r}, rig=False)",
            "palette = mesh.skeleton.palette(mesh.skeleton.rest)",
            "corners = np.concatenate([s.deform(palette)[s.triangles].reshape(-1, 3) for s in mesh.skins])",
            f"vertices = (corners - ({shift})) * {size:.9g}",
            "ground = km.TriangleMesh(vertices, np.arange(len(vertices)).reshape(-1, 3))",
        ]


def is_ground(character: Character) -> bool:
    """Return whether a file has surfaces and nothing that moves: no body, no clips, no bones that bend a skin."""
    if character.rig is not None or character.clips or isinstance(character.source, RobotSource):
        return False
    skins = [skin for skin in character.skins if len(skin.triangles)]
    return bool(skins) and all(bool((skin.weights.max(axis=-1) > RIGID).all()) for skin in skins)


def own_ground(file: str, character: Character) -> OwnGround:
    """Return the surfaces of a file as ground. Raises InputError if no character can walk on them."""
    vertices, triangles = mesh_of(character, file).arrays
    if len(triangles) > MOST_TRIANGLES:
        raise InputError(f"{file} has {len(triangles):,} triangles; ground may have {MOST_TRIANGLES:,}")
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    width, _, depth = (high - low).tolist()
    if not LEAST <= min(width, depth) <= max(width, depth) < np.inf:
        raise InputError(f"{file} is {width:.3g} m by {depth:.3g} m; ground needs {LEAST:g} m at least in x and z")
    shift = np.array(((low[0] + high[0]) / 2, low[1], low[2]))
    return OwnGround(file, shift, vertices - shift, triangles)
