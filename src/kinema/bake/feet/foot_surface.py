"""The surface of feet: what of a foot may touch the ground, on whatever side it lies.

A sole is a line from heel to tip, which is enough for a foot that stands. Feet of bodies that fall, lie or dance are on
their side, on their edge or on their back; and wide feet roll over an edge. Where the file has a skin, the foot is its
outermost vertices. Where it has none, the line is all that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.foot_skin import SkinPoints, foot_skins
from kinema.model.rig import Rig
from kinema.model.skin import Skin
from kinema.motion.soles import BALL, HEEL

DIRECTIONS = 48
"""Directions in which the outermost vertex of each part is kept: on a round foot they miss less than 1% of its size."""

UNDER_FOOT = (1 / 3, 2 / 3)
"""Shares of the way from heel to ball at which a sole is looked at, too: where the heel hangs over the edge of a step,
the sole in front of it comes down on that.
"""


class FeetSurface(NamedTuple):
    """The surfaces of all feet of a rig."""

    rig: Rig
    feet: list[SkinPoints | None]
    """For each leg; None where there is no skin."""

    def points(self, world: Any) -> list[Any]:
        """For each leg (F, P, 3): its points, from world matrices (F, J, 4, 4); where no skin shows it, heel, ball and
        tip, and what is between heel and ball.
        """
        lines = whole_soles(metrics.sole_points(self.rig, world))
        return [lines[:, n] if foot is None else foot.points(world) for n, foot in enumerate(self.feet)]


def feet_surface(rig: Rig, skins: Sequence[Skin]) -> FeetSurface:
    """Find the surfaces of the feet of a rig in the skins of its character."""
    return FeetSurface(rig, [None if foot is None else _outer(rig, foot) for foot in foot_skins(rig, skins)])


def _outer(rig: Rig, foot: SkinPoints) -> SkinPoints:
    """The outermost vertices of a foot."""
    carriers = foot.joints[np.arange(len(foot.joints)), foot.weights.argmax(axis=1)]
    return foot.chosen(_outermost(foot.points(rig.skeleton.rest_world[np.newaxis].astype(np.float64))[0], carriers))


def _outermost(points: Any, carriers: Any) -> Any:
    """Indices of the points, (V, 3), of each part of a foot that are farthest in some direction. carriers: (V,), the
    joint that carries each most.
    """
    ways = _all_around(DIRECTIONS)
    parts = [np.flatnonzero(carriers == joint) for joint in np.unique(carriers)]
    return np.unique(np.concatenate([part[(points[part] @ ways.T).argmax(axis=0)] for part in parts]))


def _all_around(count: int) -> Any:
    """(count, 3): unit vectors spread evenly over a sphere, on a spiral."""
    height = 1.0 - 2.0 * (np.arange(count) + 0.5) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    wide = np.sqrt(1.0 - height * height)
    return np.stack((wide * np.cos(angle), height, wide * np.sin(angle)), axis=-1)


def whole_soles(points: Any) -> Any:
    """(..., P + 2, 3): points of soles, (..., P, 3), and after them those between heel and ball."""
    heel, ball = points[..., HEEL, :], points[..., BALL, :]
    between = [(heel + share * (ball - heel))[..., np.newaxis, :] for share in UNDER_FOOT]
    return np.concatenate((points, *between), axis=-2)
