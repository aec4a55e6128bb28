"""Where the soles of a character are, as a viewer sees them: points of its skin, or of its rig where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.roles.handles import handles

FOOT_SKIN, FEWEST = 0.5, 3
"""Share of its weight with which a vertex follows the joints of a foot to be part of it, and vertices that show one."""

LAYER, NEAR_LOWEST = 0.012, 0.1
"""Leg lengths above the lowest vertex of a foot up to which others are part of its sole; and above the lowest place of
that one in most frames, up to which a frame shows a foot that may stand."""

LOWEST_SHARE = 0.05
"""Share of the frames in which a foot is lower than what counts as its lowest place."""

FRAMES, POINTS = 24, 12
"""Frames in which the skin is looked at, and points that are kept of each sole."""

Carried = tuple[Any, Any, Any]
"""Joints, (V, n), weights, (V, n), and offsets, (V, n, 3), of points."""


@dataclass(frozen=True, eq=False)
class SolePatches:
    """Points of each sole and the joints that carry them. L legs, P points, n joints each."""

    joints: Any
    """(L, P, n)"""
    weights: Any
    """(L, P, n): shares that add up to 1."""
    offsets: Any
    """(L, P, n, 3): in the space of each joint."""
    seen: bool
    """Whether they are points of a skin; else heel, ball and tip of the rig, whose heights are guessed."""

    def points(self, world: Any) -> Any:
        """Compute where the points are, (F, L, P, 3), from world matrices, (F, J, 4, 4)."""
        return _moved(world, (self.joints, self.weights, self.offsets))


def sole_patches(character: Character, rig: Rig, world: Any) -> SolePatches:
    """Find the soles of a character by the frames of a clip, (F, J, 4, 4): they are what is lowest of its feet at any
    time. Shoes show how wide they are, and which part of a curved sole stands when.
    """
    feet = _feet(character, rig)
    if not feet or any(len(weights) < FEWEST for _, weights, _ in feet):
        joints, offsets = rig.sole_table
        return SolePatches(joints[..., np.newaxis], np.ones((*joints.shape, 1)), offsets[..., np.newaxis, :], False)
    some = world[np.unique(np.linspace(0, len(world) - 1, FRAMES).astype(int))]
    kept = [_spread_over_sole(foot, some, np.array(rig.up), rig.leg_length) for foot in feet]
    joints, weights, offsets = (np.stack(parts) for parts in zip(*kept, strict=True))
    return SolePatches(joints, weights, offsets, True)


def _feet(character: Character, rig: Rig) -> list[Carried]:
    """The skin of each foot; empty without any skin."""
    skins = [skin for skin in character.skins if skin.joints.size and skin.joints.max() < len(rig.skeleton)]
    instead = handles(rig) if skins else {}
    bind, feet = rig.skeleton.inverse_bind[:, :3].astype(np.float64), []
    for leg in rig.legs if skins else ():
        ankle, parts = int(leg.joints[-1]), []
        foot = rig.skeleton.below([ankle, *instead.get(ankle, ())])
        for skin in skins:
            mine = (skin.weights * np.isin(skin.joints, foot)).sum(axis=1) > FOOT_SKIN
            matrices = bind if skin.rebind is None else _after(bind, skin.rebind.astype(np.float64))
            each = matrices[skin.joints[mine]]
            offsets = np.einsum("vjrc,vc->vjr", each[..., :3], skin.vertices[mine].astype(np.float64)) + each[..., 3]
            parts.append((skin.joints[mine], skin.weights[mine].astype(np.float64), offsets))
        feet.append(_joined(parts))
    return feet


def _after(bind: Any, rebind: Any) -> Any:
    """(J, 3, 4): transforms, one after the other."""
    linear = bind[..., :3] @ rebind
    linear[..., 3] += bind[..., 3]
    return linear


def _joined(parts: Sequence[Carried]) -> Carried:
    joints, weights, offsets = (np.concatenate(each) for each in zip(*parts, strict=True))
    return joints, weights, offsets


def _spread_over_sole(foot: Carried, world: Any, up: Any, leg: float) -> Carried:
    """Return some points of the sole of a foot, as far from each other as they can be."""
    at = _moved(world, foot)
    heights = at @ up
    lowest = heights.min(axis=1)
    low = lowest <= np.quantile(lowest, LOWEST_SHARE) + NEAR_LOWEST * leg
    often = (heights < lowest[:, np.newaxis] + LAYER * leg)[low].sum(axis=0)
    sole = np.flatnonzero(often)
    chosen = [int(sole[np.argmax(often[sole])])]
    away = np.full(len(sole), np.inf)
    while len(chosen) < POINTS:
        away = np.minimum(away, np.linalg.norm(at[0, sole] - at[0, chosen[-1]], axis=-1))
        chosen.append(int(sole[np.argmax(away)]))
    joints, weights, offsets = foot
    return joints[chosen], weights[chosen], offsets[chosen]


def _moved(world: Any, carried: Carried) -> Any:
    """(F, ..., 3): where points carried by joints, (..., n), are, from world matrices, (F, J, 4, 4)."""
    joints, weights, offsets = carried
    points = np.zeros((len(world), *joints.shape[:-1], 3))
    for k in range(joints.shape[-1]):
        used = weights[..., k] > 0.0
        matrices = world[:, joints[..., k][used]]
        moved = (matrices[..., :3, :3] * offsets[..., k, :][used][:, np.newaxis]).sum(axis=-1) + matrices[..., :3, 3]
        points[:, used] += weights[..., k][used][:, np.newaxis] * moved
    return points
