"""Settings of a whole file: its axes, its unit and its frame rate, and the way from there to our conventions.

A file names the axes of its up, its front (towards the viewer, where a character looks) and its right. They become +Y,
+Z and +X: a rotation, and for a left-handed file a mirror before it. The mirror, about x, is applied to every local
transform and every vertex, the rotation to the roots alone. Lengths become metres.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.io.fbx.document import FbxDocument, Properties, scene_properties
from kinema.math import arrays

TICKS = 46_186_158_000
"""Units of time in a second."""

LATEST = 2**60
"""Ticks, ten months. Later times are taken for this: sums and differences of times have 64 bits."""

_CENTIMETRE = 0.01

_UNITS = (1e-6, 1e9)
"""Centimetres: the smallest and largest unit that is believed."""

_RATES = {
    1: 120.0,
    2: 100.0,
    3: 60.0,
    4: 50.0,
    5: 48.0,
    6: 30.0,
    7: 30.0,
    8: 30_000 / 1001,
    9: 30_000 / 1001,
    10: 25.0,
    11: 24.0,
    12: 1000.0,
    13: 24_000 / 1001,
    15: 96.0,
    16: 72.0,
    17: 60_000 / 1001,
    18: 120_000 / 1001,
}
"""Frames per second by the codes of TimeMode."""

_CUSTOM, _DEFAULT_RATE = 14, 30.0

_ALLOWED_RATES = (1.0, 1000.0)

_AXES = (("Coord", 0), ("Up", 1), ("Front", 2))
"""Names of the axes that become x, y and z, and which they are unless the file says so."""


@dataclass(frozen=True)
class Space:
    """The way from the file's space to ours."""

    metres: float
    """Metres of its unit."""
    mirrored: bool
    """Whether it is left-handed."""
    rotation: Any
    """(4,): rotates the roots, after the mirror."""

    def vectors(self, vectors: Any) -> Any:
        """Convert positions of any local space, (..., 3)."""
        return self.normals(vectors) * self.metres

    def normals(self, normals: Any) -> Any:
        """Convert directions of any local space, (..., 3)."""
        return normals * np.array((-1.0, 1.0, 1.0)) if self.mirrored else normals

    def rotations(self, rotations: Any) -> Any:
        """Convert rotations of any local space, (..., 4)."""
        return rotations * np.array((1.0, -1.0, -1.0, 1.0)) if self.mirrored else rotations

    def matrices(self, matrices: Any) -> Any:
        """Convert transforms between local spaces, (..., 4, 4)."""
        signs = self.normals(np.ones(3))
        linear = matrices[..., :3, :3] * signs[:, np.newaxis] * signs
        made = np.zeros_like(matrices)
        made[..., :3, :3], made[..., :3, 3], made[..., 3, 3] = linear, self.vectors(matrices[..., :3, 3]), 1.0
        return made


def read_space(document: FbxDocument) -> Space:
    """Read the unit and the axes. Sets the document's `metres` and `fps`."""
    settings = scene_properties(document)
    scale = settings.number("UnitScaleFactor", 1.0)
    if not _UNITS[0] <= scale <= _UNITS[1]:
        document.problems.append(f"the unit of the file is {scale:g} centimetres; centimetres are used")
        scale = 1.0
    document.metres, document.fps = scale * _CENTIMETRE, _rate(document, settings)
    axes = _axes(document, settings)
    mirrored = bool(np.linalg.det(axes) < 0)
    proper = axes * np.array((-1.0, 1.0, 1.0)) if mirrored else axes
    return Space(document.metres, mirrored, arrays.from_matrix(proper))


def _axes(document: FbxDocument, settings: Properties) -> Any:
    """(3, 3): the matrix from the file's axes to ours."""
    rows = np.zeros((3, 3))
    for row, (name, usual) in enumerate(_AXES):
        axis, sign = settings.whole(f"{name}Axis", usual), settings.whole(f"{name}AxisSign", 1)
        rows[row, axis if axis in (0, 1, 2) else usual] = -1.0 if sign < 0 else 1.0
    if abs(np.linalg.det(rows)) < 1.0:
        document.problems.append("the axes of the file are not three different ones; +Y is taken for up")
        return np.eye(3)
    return rows


def _rate(document: FbxDocument, settings: Properties) -> float:
    """Return the frames per second."""
    mode, rate = settings.maybe_whole("TimeMode"), 0.0
    if mode == _CUSTOM:
        rate = settings.number("CustomFrameRate", 0.0)
    elif mode is None:  # Older files tell it elsewhere, if at all.
        five = document.root.maybe("Version5")
        inside = five.maybe("Settings") if five is not None else None
        written = inside.maybe("FrameRate") if inside is not None else None
        word = written.text() if written is not None and isinstance((written.values or [0])[0], bytes) else ""
        rate = float(word) if word.replace(".", "", 1).isdigit() and word.isascii() else 0.0
    rate = _RATES.get(mode, rate) if mode is not None else rate
    return rate if _ALLOWED_RATES[0] <= rate <= _ALLOWED_RATES[1] else _DEFAULT_RATE
