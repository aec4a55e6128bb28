"""The head of the humanoid: skull, face, brows, mouth and eyes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import Blob, both, front, limb, lump, surface
from kinema.demo.characters.bones import Bone
from kinema.demo.characters.shells import Detail, Section, ball, shell
from kinema.demo.characters.skins import Part, ramp
from kinema.render.meshes import Mesh, globe, half_ball, tube

_MELT = 0.010
_EYE, _LID = 0.0200, 0.0213
"""Radii of the eyes and of the lids over them, metres."""

_UPPER, _LOWER = math.radians(64), math.radians(64)
"""How far the lids cover an eye from its top and bottom. Together with a blink of 48 degrees they close it."""


_UP = (0.0, 1.0, 0.0)

_WITH_EYES = 0.4
"""Least detail at which there are eyes and brows: with less, the head is a few pixels high."""


_WITH_FACE = 0.2
"""Least detail at which the head has a face: with less, skull and hair are two balls."""


def _skull() -> list[Blob]:
    return [
        lump((0.0, 1.662, -0.012), (0.072, 0.078, 0.088)),
        limb(((0.0, 1.652, 0.020), 0.065), ((0.0, 1.605, 0.028), 0.056), ((0.0, 1.566, 0.040), 0.035)),  # face, chin
        limb(((0.0, 1.652, 0.086), 0.004), ((0.0, 1.632, 0.094), 0.007), ((0.0, 1.6185, 0.099), 0.009)),  # nose
        *both(limb(((0.018, 1.566, 0.040), 0.028), ((0.044, 1.604, -0.004), 0.028))),  # jaw
        *both(lump((0.034, 1.620, 0.052), (0.030, 0.024, 0.022))),  # cheek
    ]


def head(skin: Any, hair: Any, detail: Detail) -> list[Part]:
    """Make skull, face and hair. skin, hair: their colours."""
    if detail.share < _WITH_FACE:
        balls = (((0.0, 1.632, 0.014), 0.086, skin), ((0.0, 1.668, -0.020), 0.090, hair))
        return [Part(ball(at, radius, _UP, colour, sides=6, rings=3), ["head"]) for at, radius, colour in balls]
    sockets = both(lump((0.033, 1.647, 0.097), (0.021, 0.010, 0.013)))
    mesh = surface(_skull(), 0.0125 / detail.share, skin, melt=_MELT, carve=sockets)
    parts = [_jawed(mesh), _hair(hair, detail)]
    if detail.share >= _WITH_EYES:
        parts += _brows(hair)
    return [*parts, *_ears(skin), _mouth(hair)] if detail.small else parts


def _jawed(mesh: Mesh) -> Part:
    """Make a part of the face: its lower front follows the jaw."""
    _, y, z = mesh.vertices.T
    jaw = 0.6 * ramp(-y, -1.630, -1.555) * ramp(z, -0.035, 0.060)
    return Part(mesh, ["head", "jaw"], shares=np.column_stack((1.0 - jaw, jaw)))


def _hair(colour: Any, detail: Detail) -> Part:
    locks = [
        lump((0.0, 1.670, -0.020), (0.081, 0.080, 0.093)),
        lump((0.0, 1.630, -0.058), (0.066, 0.060, 0.046)),  # nape
        limb(((-0.040, 1.722, 0.040), 0.020), ((0.004, 1.732, 0.056), 0.022), ((0.044, 1.716, 0.046), 0.018)),  # quiff
    ]
    face = lump((0.0, 1.610, 0.100), (0.100, 0.094, 0.096))
    sides = both(lump((0.090, 1.600, 0.000), (0.040, 0.058, 0.044)))
    return Part(surface(locks, 0.0140 / detail.share, colour, melt=0.008, carve=[face, *sides]), ["head"])


def _ears(colour: Any) -> list[Part]:
    sections = [
        Section(-0.027, 0, 0),
        Section(-0.020, 0.006, 0.011),
        Section(0.008, 0.009, 0.018),
        Section(0.026, 0, 0),
    ]
    parts = []
    for sign in (1.0, -1.0):
        axes = np.column_stack(((sign * 0.94, 0.0, -0.34), (0.0, 1.0, 0.0), (sign * 0.34, 0.0, 0.94)))
        axes[:, 0] *= sign
        axes[:, 2] *= 1.0
        parts.append(Part(shell((sign * 0.078, 1.638, -0.010), axes, sections, colour, sides=10, rings=6), ["head"]))
    return parts


def _brows(colour: Any) -> list[Part]:
    line = _on_face((0.014, 1.672), (0.024, 1.6765), (0.036, 1.6765), (0.050, 1.670))
    widths = (0.0025, 0.0036, 0.0034, 0.0016)
    return [Part(tube(row, widths, 7, colour), ["head"]) for row in (line, line * (-1.0, 1.0, 1.0))]


def _mouth(colour: Any) -> Part:
    """Make the mouth: a thin line with raised corners."""
    line = _on_face(*((x, 1.5860 + 9.0 * x * x) for x in np.linspace(-0.022, 0.022, 9)))
    widths = 0.0019 * np.sqrt(np.clip(1.02 - np.linspace(-1.0, 1.0, 9) ** 2, 0.0, 1.0))
    return _jawed(tube(line, widths, 6, colour))


def _on_face(*points: tuple[float, float]) -> Any:
    """Return (K, 3): points on the face, given by x and y."""
    return np.array([(x, y, front(_skull(), x, y, _MELT)) for x, y in points])


def eye(at: dict[str, Bone], side: str, lid: Any, iris: Any, detail: Detail) -> list[Part]:
    """Make an eye and its lids. lid, iris: their colours."""
    if detail.share < _WITH_EYES:
        return []
    centre, ahead = at[f"eye_{side}"].start, (0.0, 0.0, 1.0)
    white, black = (0.95, 0.95, 0.94), (0.03, 0.03, 0.04)
    bands = [(0.24, black), (0.50, iris), (0.56, tuple(0.4 * c for c in iris)), (math.pi, white)]
    lid = tuple(0.93 * c for c in lid)
    above, below = (0.0, math.sin(_UPPER), -math.cos(_UPPER)), (0.0, -math.sin(_LOWER), -math.cos(_LOWER))
    eyeball = Part(globe(centre, _EYE, ahead, bands, detail.size(14, 1)["sides"]), [f"eye_{side}"])
    if not detail.small:
        return [eyeball]
    return [
        eyeball,
        Part(half_ball(centre, _LID, above, lid, 16), [f"lid_{side}"]),
        Part(half_ball(centre, _LID - 0.0003, below, lid, 16), ["head"]),
    ]
