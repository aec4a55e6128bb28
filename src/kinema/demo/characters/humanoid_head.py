"""The head of the humanoid: skull, face, brows, mouth and eyes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import blobs_of, surface
from kinema.demo.characters.sheet import Sheet
from kinema.demo.characters.shells import Detail, Section, ball, shell
from kinema.demo.characters.skins import SkinPart, ramp
from kinema.render.meshes import Mesh, globe, half_ball, tube

_EYE, _LID = 0.0200, 0.0213
"""Radii of the eyes and of the lids over them, metres."""
_COVERED = math.radians(64)
"""How far the lids cover an eye from its top and bottom. Together with a blink of 48 degrees they close it."""
_WITH_EYES = 0.4
"""Least detail at which there are eyes and brows: with less, the head is a few pixels high."""
_WITH_FACE = 0.2
"""Least detail at which the head has a face: with less, skull and hair are two balls."""
_EAR = (Section(-0.027, 0, 0), Section(-0.020, 0.006, 0.011), Section(0.008, 0.009, 0.018), Section(0.026, 0, 0))


def head(own: Sheet, palette: Mapping[str, Any], detail: Detail) -> list[SkinPart]:
    """Make skull, face and hair."""
    skin, hair = palette["skin"], palette["hair"]
    if detail.share < _WITH_FACE:
        balls = (((0.0, 1.632, 0.014), 0.086, skin), ((0.0, 1.668, -0.020), 0.090, hair))
        return [
            SkinPart(ball(at, size, (0.0, 1.0, 0.0), colour, sides=6, rings=3), ["head"]) for at, size, colour in balls
        ]
    blobs = {name: blobs_of(rows) for name, rows in own.data["blobs"].items()}
    skull = surface(blobs["skull"], 0.0125 / detail.share, skin, melt=0.010, carve=blobs["sockets"])
    locks = surface(blobs["hair"], 0.0140 / detail.share, hair, melt=0.008, carve=blobs["hairline"])
    parts = [_jawed(skull), SkinPart(locks, ["head"])]
    brow, mouth = (np.array(own.data["face"][line]) for line in ("brow", "mouth"))
    if detail.share >= _WITH_EYES:
        brows = [tube(line, (0.0025, 0.0036, 0.0034, 0.0016), 7, hair) for line in (brow, brow * (-1.0, 1.0, 1.0))]
        parts += [SkinPart(mesh, ["head"]) for mesh in brows]
    if not detail.small:
        return parts
    widths = 0.0019 * np.sqrt(np.clip(1.02 - np.linspace(-1.0, 1.0, len(mouth)) ** 2, 0.0, 1.0))
    return [*parts, *(_ear(sign, skin) for sign in (1.0, -1.0)), _jawed(tube(mouth, widths, 6, hair))]


def _jawed(mesh: Mesh) -> SkinPart:
    """Make a part of the face: its lower front follows the jaw."""
    _, y, z = mesh.vertices.T
    jaw = 0.6 * ramp(-y, -1.630, -1.555) * ramp(z, -0.035, 0.060)
    return SkinPart(mesh, ["head", "jaw"], shares=np.column_stack((1.0 - jaw, jaw)))


def _ear(sign: float, colour: Any) -> SkinPart:
    axes = np.column_stack(((0.94, 0.0, sign * -0.34), (0.0, 1.0, 0.0), (sign * 0.34, 0.0, 0.94)))
    return SkinPart(shell((sign * 0.078, 1.638, -0.010), axes, _EAR, colour, sides=10, rings=6), ["head"])


def eye(own: Sheet, side: str, palette: Mapping[str, Any], detail: Detail) -> list[SkinPart]:
    """Make an eye and its lids."""
    if detail.share < _WITH_EYES:
        return []
    centre, ahead = own.bones[f"eye_{side}"].start, (0.0, 0.0, 1.0)
    white, black, iris = (0.95, 0.95, 0.94), (0.03, 0.03, 0.04), palette["iris"]
    bands = [(0.24, black), (0.50, iris), (0.56, tuple(0.4 * c for c in iris)), (math.pi, white)]
    lid = tuple(0.93 * c for c in palette["skin"])
    above, below = ((0.0, sign * math.sin(_COVERED), -math.cos(_COVERED)) for sign in (1.0, -1.0))
    eyeball = SkinPart(globe(centre, _EYE, ahead, bands, detail.size(14, 1)["sides"]), [f"eye_{side}"])
    if not detail.small:
        return [eyeball]
    return [
        eyeball,
        SkinPart(half_ball(centre, _LID, above, lid, 16), [f"lid_{side}"]),
        SkinPart(half_ball(centre, _LID - 0.0003, below, lid, 16), ["head"]),
    ]
