"""The surface of all characters of an animator as one triangle mesh, which viewers draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.model.character import Character
from kinema.model.skin import Skin
from kinema.stages.animator import Animator, Frame

GREY = (0.62, 0.65, 0.7)
"""Colour of skins that have none."""

BONE_WIDTH, BONE_WAIST = 0.09, 0.2
"""Of a character without skin: width of a bone and where it is widest, as shares of its length."""

Z_UP = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)), np.float32)
"""From y up, facing +z, to z up, facing -y."""


@dataclass(frozen=True, eq=False)
class Surface:
    """The skins of a character, as often as an animator has characters."""

    skins: tuple[Skin, ...]
    triangles: Any
    """(T, 3), int32: of all characters."""
    colours: Any
    """(V, 3), 0 to 1: of all characters."""
    count: int

    @classmethod
    def of(cls, animator: Animator) -> Surface:
        """Return the surface of all characters; of those without skin their bones."""
        if not isinstance(animator, Animator):
            raise InputError(f"animator must be an Animator, got {type(animator).__name__}")
        character = animator.character
        skins = tuple(skin for skin in character.skins if len(skin.vertices)) or (_bones(character),)
        count, vertices = animator.count or 1, sum(len(skin.vertices) for skin in skins)
        starts = np.cumsum([0, *(len(skin.vertices) for skin in skins)])
        one = np.concatenate([skin.triangles + start for skin, start in zip(skins, starts, strict=False)])
        each = [np.full((len(skin.vertices), 3), GREY) if skin.colours is None else skin.colours for skin in skins]
        triangles = one + vertices * np.arange(count)[:, np.newaxis, np.newaxis]
        colours = np.tile(np.concatenate(each), (count, 1))
        return cls(skins, triangles.reshape(-1, 3).astype(np.int32), colours.astype(np.float32), count)

    def points(self, frame: Frame, z_up: bool = False) -> Any:
        """Return (V, 3), float32: the vertices of all characters in a frame, in world space."""
        palette = self._palette(frame, z_up)
        return _joined([skin.deform(palette) for skin in self.skins])

    def normals(self, frame: Frame, z_up: bool = False) -> Any:
        """Return (V, 3), float32: the normals of all vertices in a frame."""
        palette = self._palette(frame, z_up)
        return _joined([skin.deform_normals(palette) for skin in self.skins])

    def _palette(self, frame: Frame, z_up: bool) -> Any:
        palette = np.asarray(frame.palette, np.float32)
        palette = palette.reshape(self.count, *palette.shape[-3:])
        return Z_UP @ palette if z_up else palette

    def bytes_of_colours(self) -> Any:
        """Return (V, 4), uint8: red, green, blue and opaque."""
        opaque = np.ones((len(self.colours), 1), np.float32)
        return np.round(255 * np.clip(np.concatenate((self.colours, opaque), axis=1), 0, 1)).astype(np.uint8)


def _joined(parts: list[Any]) -> Any:
    """(V, 3): the vertices of all skins of one character after the other. parts: (N, V, 3) of each skin."""
    return (parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)).reshape(-1, 3)


def _bones(character: Character) -> Skin:
    """A skin of spindles, one from each joint to each of its children."""
    skeleton = character.skeleton
    world = skeleton.world(skeleton.rest).astype(np.float64)
    at, vertices, joints = world[:, :3, 3], [], []
    for joint, parent in enumerate(skeleton.parents):
        way = at[joint] - at[parent]
        length = float(np.linalg.norm(way))
        if parent >= 0 and length > 0.0:
            aside = np.cross(way, np.eye(3)[np.argmin(np.abs(way))])
            aside *= 0.5 * BONE_WIDTH * length / np.linalg.norm(aside)
            other = np.cross(way, aside) / length
            waist = at[parent] + BONE_WAIST * way
            vertices += [at[parent], waist + aside, waist + other, waist - aside, waist - other, at[joint]]
            joints += [parent] * 6
    if not vertices:
        raise InputError(f"{character.name} has neither a skin nor bones to draw")
    spindle = np.array([(k, (k + 1) % 4, end) for k in range(4) for end in (-1, 4)])
    faces = [(0, 1 + b, 1 + a) if end < 0 else (5, 1 + a, 1 + b) for a, b, end in spindle]
    count = len(vertices)
    triangles = (np.array(faces) + 6 * np.arange(count // 6)[:, np.newaxis, np.newaxis]).reshape(-1, 3)
    points = np.array(vertices)
    outwards = points - np.repeat(points.reshape(-1, 6, 3).mean(axis=1), 6, axis=0)
    outwards /= np.linalg.norm(outwards, axis=-1, keepdims=True)
    slots = np.stack((np.array(joints), *(np.zeros(count, int),) * 3), axis=-1)
    weights = np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))
    return Skin(points, triangles, slots, weights, outwards)
