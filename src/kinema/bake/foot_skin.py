"""The skin of feet: points that follow joints, and where they are in each frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinema.model.rig import Rig
from kinema.model.skin import Skin

OF_FOOT = 0.5
"""Share of its weight with which a vertex follows the joints of a foot, at least, to be part of it."""

FEWEST = 3
"""Vertices that show a foot, at least."""


class SkinPoints(NamedTuple):
    """Points of a skin, each of which follows n joints."""

    joints: Any
    """(..., n)"""
    weights: Any
    """(..., n): shares that add up to 1."""
    offsets: Any
    """(..., n, 3): in the space of each joint."""

    def points(self, world: Any) -> Any:
        """Compute where the points are, (F, ..., 3), from world matrices, (F, J, 4, 4)."""
        used, which = np.unique(self.joints, return_inverse=True)
        count, each = self.weights[..., 0].size, self.joints.shape[-1]
        shares = self.weights.reshape(count, each, 1)
        follows = np.concatenate((self.offsets.reshape(count, each, 3) * shares, shares), axis=-1)
        table = np.zeros((count, len(used), 4))
        np.add.at(table, (np.repeat(np.arange(count), each), which.reshape(-1)), follows.reshape(-1, 4))
        at = np.einsum("fjrc,pjc->fpr", world[:, used, :3], table)
        return at.reshape(len(world), *self.joints.shape[:-1], 3)

    def chosen(self, which: Any) -> SkinPoints:
        """Return some of the points."""
        return SkinPoints(self.joints[which], self.weights[which], self.offsets[which])


def foot_skins(
    rig: Rig, skins: Sequence[Skin], instead: Mapping[int, Sequence[int]] | None = None
) -> list[SkinPoints | None]:
    """Find the skin of each foot; None where too few vertices show it.

    instead: by ankle, other joints that carry its foot.
    """
    usable = [skin for skin in skins if skin.joints.size and skin.joints.max() < len(rig.skeleton)]
    return [_of_foot(rig, int(leg.joints[-1]), usable, instead or {}) for leg in rig.legs]


def _of_foot(rig: Rig, ankle: int, skins: Sequence[Skin], instead: Mapping[int, Sequence[int]]) -> SkinPoints | None:
    foot, bind = rig.skeleton.below([ankle, *instead.get(ankle, ())]), rig.skeleton.inverse_bind[:, :3]
    parts = []
    for skin in skins:
        mine = (skin.weights * np.isin(skin.joints, foot)).sum(axis=1) > OF_FOOT
        matrices = bind.astype(np.float64)
        if skin.rebind is not None:
            matrices = matrices[..., :3] @ skin.rebind.astype(np.float64)
            matrices[..., 3] += bind[..., 3]
        each = matrices[skin.joints[mine]]
        offsets = np.einsum("vjrc,vc->vjr", each[..., :3], skin.vertices[mine].astype(np.float64)) + each[..., 3]
        parts.append(SkinPoints(skin.joints[mine], skin.weights[mine].astype(np.float64), offsets))
    if sum(len(part.joints) for part in parts) < FEWEST:
        return None
    return SkinPoints(*(np.concatenate(each) for each in zip(*parts, strict=True)))
