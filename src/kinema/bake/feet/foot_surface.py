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
from kinema.model.rig import Leg, Rig
from kinema.model.skin import Skin
from kinema.motion.soles import BALL, HEEL

OF_FOOT = 0.5
"""Share of a vertex that follows the joints of a foot from which on it belongs to it."""

DIRECTIONS = 48
"""Directions in which the outermost vertex of each part is kept: on a round foot they miss less than 1% of its size."""

FEWEST = 3
"""Vertices that show a foot, at least."""


UNDER_FOOT = (1 / 3, 2 / 3)
"""Shares of the way from heel to ball at which a sole is looked at, too: where the heel hangs over the edge of a step,
the sole in front of it comes down on that.
"""


class FootSurface(NamedTuple):
    """Points of one foot, P of them, that follow up to four joints each."""

    joints: Any
    """(P, 4)"""
    weights: Any
    """(P, 4)"""
    offsets: Any
    """(P, 4, 3): in the space of each joint, weighted."""

    def points(self, world: Any) -> Any:
        """(F, P, 3): where they are, from world matrices (F, J, 4, 4)."""
        used, which = np.unique(self.joints, return_inverse=True)
        table = np.zeros((len(self.joints), len(used), 4))
        rows = np.repeat(np.arange(len(self.joints)), self.joints.shape[1])
        homogeneous = np.concatenate((self.offsets, self.weights[..., np.newaxis]), axis=-1)
        np.add.at(table, (rows, which.reshape(-1)), homogeneous.reshape(-1, 4))
        return np.einsum("fjrc,pjc->fpr", world[:, used, :3], table)


class FeetSurface(NamedTuple):
    """The surfaces of all feet of a rig."""

    rig: Rig
    feet: list[FootSurface | None]
    """For each leg; None where there is no skin."""

    def points(self, world: Any) -> list[Any]:
        """For each leg (F, P, 3): its points, from world matrices (F, J, 4, 4); where no skin shows it, heel, ball and
        tip, and what is between heel and ball.
        """
        lines = whole_soles(metrics.sole_points(self.rig, world))
        return [lines[:, n] if foot is None else foot.points(world) for n, foot in enumerate(self.feet)]


def feet_surface(rig: Rig, skins: Sequence[Skin]) -> FeetSurface:
    """Find the surfaces of the feet of a rig in the skins of its character."""
    return FeetSurface(rig, [_of_skins(rig, leg, skins) if skins else None for leg in rig.legs])


def _of_skins(rig: Rig, leg: Leg, skins: Sequence[Skin]) -> FootSurface | None:
    """The outermost vertices of a foot; None where too few show it."""
    skeleton = rig.skeleton
    foot = np.zeros(len(skeleton), bool)
    foot[skeleton.below([leg.joints[-1]])] = True
    palette, inverse = skeleton.palette(skeleton.rest), np.linalg.inv(skeleton.rest_world.astype(np.float64))
    parts = []
    for skin in skins:
        if not skin.joints.size or skin.joints.max() >= len(skeleton):
            continue
        joints, weights = np.asarray(skin.joints, np.int64), np.asarray(skin.weights, np.float64)
        mine = (weights * foot[joints]).sum(axis=1) > OF_FOOT
        at = np.asarray(skin.deform(palette), np.float64)[mine]
        parts.append((joints[mine], weights[mine], at))
    if not parts or sum(len(at) for _, _, at in parts) < FEWEST:
        return None
    joints, weights, at = (np.concatenate(each) for each in zip(*parts, strict=True))
    kept = _outermost(at, joints[np.arange(len(joints)), weights.argmax(axis=1)])
    joints, weights, at = joints[kept], weights[kept], at[kept]
    own = np.einsum("pjrc,pc->pjr", inverse[joints][..., :3, :3], at) + inverse[joints][..., :3, 3]
    return FootSurface(joints, weights, own * weights[..., np.newaxis])


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
