"""Shells: closed surfaces through elliptic cross sections, for bodies of rigid pieces."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinema.demo.characters.bones import Point
from kinema.math import arrays
from kinema.render.meshes import Mesh, capped

_SAMPLES = 24
"""Points between two sections of a profile, from which rings are spaced evenly."""


class Detail(NamedTuple):
    """How finely a body is made."""

    share: float = 1.0
    """Factor of the number of vertices around and along each piece."""
    small: bool = True
    """Whether it has its smallest parts: fingers, lids, ears and a mouth."""

    def size(self, sides: int, rings: int) -> dict[str, int]:
        """Return the numbers of sides and rings of a piece, as arguments for `shell`, `rod` or `ball`."""
        return {"sides": max(4, round(self.share * sides)), "rings": max(2, round(self.share * rings))}


FULL = Detail()


class Section(NamedTuple):
    """A cross section of a shell: an ellipse across its axis, metres."""

    along: float
    """Position along the axis."""
    wide: float
    """Half its width; 0 at an end of the shell."""
    deep: float
    """Half its depth; 0 at an end of the shell."""
    ahead: float = 0.0
    """Distance of its middle from the axis, along the depth."""


def shell(
    origin: Point, axes: Any, sections: Sequence[Section], colour: Any, *, sides: int, rings: int, square: float = 2.0
) -> Mesh:
    """Make a smooth surface through cross sections, in order along the axis.

    origin, axes: position (3,), and columns (3, 3), the directions of width, axis and depth. The first and last section
    have no width: there the shell closes, round. sides, rings: vertices around a ring, and rings. square: exponent of
    the cross sections, 2 for ellipses, more for rounded rectangles.
    """
    profile = _evenly(_smooth(np.array(sections, float)), rings)
    angle = np.linspace(0.0, 2 * np.pi, sides, endpoint=False)
    across, ahead = (np.sign(part) * np.abs(part) ** (2 / square) for part in (np.cos(angle), -np.sin(angle)))
    along, wide, deep, shift = (profile[:, n, np.newaxis] for n in range(4))
    local = np.stack((wide * across, along + 0 * across, shift + deep * ahead), axis=-1)
    rows = np.array(origin) + local @ np.transpose(axes)
    return capped(rows[1:-1], rows[0, 0], rows[-1, 0], colour)


def rod(start: Point, end: Point, radii: tuple[float, float], colour: Any, *, sides: int, rings: int) -> Mesh:
    """Make a limb between two points, with a ball of its own radius around each of them. rings: of each ball."""
    origin, line = np.array(start, float), np.subtract(end, start)
    length = float(np.linalg.norm(line))
    axes = frame(line)
    slope = np.arcsin((radii[0] - radii[1]) / length)  # From each ball, leave where the limb is tangent to both.
    angles = [*np.linspace(0.0, np.pi / 2 + slope, rings + 1), *np.linspace(np.pi / 2 + slope, np.pi, rings + 1)]
    at, radius = (np.repeat(each, rings + 1) for each in ((0.0, length), radii))
    circle = np.linspace(0.0, 2 * np.pi, sides, endpoint=False)
    rows = [
        origin + (a - r * np.cos(angle)) * axes[:, 1] + r * np.sin(angle) * _circle(axes, circle)
        for a, r, angle in zip(at, radius, angles, strict=True)
    ]
    return capped(rows[1:-1], rows[0][0], rows[-1][0], colour)


def ball(centre: Point, radius: float, axis: Any, colour: Any, *, sides: int = 14, rings: int = 5) -> Mesh:
    """Make a ball whose rings run around an axis."""
    axes, circle = frame(axis), np.linspace(0.0, 2 * np.pi, sides, endpoint=False)
    angles = np.linspace(0.0, np.pi, rings + 2)
    rows = [
        np.array(centre) - radius * np.cos(a) * axes[:, 1] + radius * np.sin(a) * _circle(axes, circle) for a in angles
    ]
    return capped(rows[1:-1], rows[0][0], rows[-1][0], colour)


def frame(along: Any) -> Any:
    """Return (3, 3): columns are across, along and ahead for a direction, with ahead near +Z, or near +Y along it."""
    along = arrays.unit(np.asarray(along, float))
    ahead = np.array((0.0, 0.0, 1.0)) if abs(along[2]) < 0.9 else np.array((0.0, 1.0, 0.0))
    ahead = arrays.unit(ahead - along * (ahead @ along))
    return np.column_stack((np.cross(along, ahead), along, ahead))


def _circle(axes: Any, angles: Any) -> Any:
    """Return (S, 3): unit vectors around the second of three axes, counter-clockwise as seen from its tip."""
    return np.cos(angles)[:, np.newaxis] * axes[:, 0] - np.sin(angles)[:, np.newaxis] * axes[:, 2]


def _smooth(sections: Any) -> Any:
    """Return (N, 4): a curve through sections (K, 4), smooth across both ends.

    A cubic Hermite curve by distance between sections. Beyond an end it goes on with the widths negated, so it meets
    the axis at a right angle.
    """
    mirror = np.array((1.0, -1.0, -1.0, 1.0))
    knots = np.concatenate((sections[1:2] * mirror, sections, sections[-2:-1] * mirror))
    gaps = np.linalg.norm(np.diff(knots, axis=0), axis=1)
    slopes = np.diff(knots, axis=0) / gaps[:, np.newaxis]
    before, after = gaps[:-1, np.newaxis], gaps[1:, np.newaxis]
    tangents = (slopes[:-1] * after + slopes[1:] * before) / (before + after)
    t = np.linspace(0.0, 1.0, _SAMPLES, endpoint=False)[:, np.newaxis]
    pieces = []
    for n, gap in enumerate(gaps[1:-1]):
        start, end = sections[n], sections[n + 1]
        pieces.append(
            (1 + 2 * t) * (1 - t) ** 2 * start
            + t * t * (3 - 2 * t) * end
            + gap * (t * (1 - t) ** 2 * tangents[n] - t * t * (1 - t) * tangents[n + 1])
        )
    return np.concatenate((*pieces, sections[-1:]))


def _evenly(curve: Any, rings: int) -> Any:
    """Return (rings + 2, 4): both ends of a curve and points between them, closer together where it bends."""
    steps = np.diff(curve, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    directions = steps / lengths[:, np.newaxis]
    bends = np.linalg.norm(np.diff(directions, axis=0), axis=1)
    bends = np.concatenate((bends[:1], bends)) / 2 + np.concatenate((bends, bends[-1:])) / 2
    effort = np.concatenate(((0.0,), np.cumsum(lengths / lengths.sum() + bends / bends.sum())))
    at = np.linspace(0.0, effort[-1], rings + 2)
    return np.stack([np.interp(at, effort, column) for column in curve.T], axis=1)
