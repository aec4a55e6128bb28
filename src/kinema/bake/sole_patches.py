"""Where the soles of a character are, as a viewer sees them: points of its skin, or of its rig where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.bake.foot_skin import SkinPoints, foot_skins
from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.roles.handles import handles

LAYER, NEAR_LOWEST = 0.012, 0.1
"""Leg lengths above the lowest vertex of a foot up to which others are part of its sole; and above the lowest place of
that one in most frames, up to which a frame shows a foot that may stand."""

LOWEST_SHARE = 0.05
"""Share of the frames in which a foot is lower than what counts as its lowest place."""

FRAMES, POINTS = 24, 12
"""Frames in which the skin is looked at, and points that are kept of each sole."""


@dataclass(frozen=True, eq=False)
class SolePatches:
    """Points of each sole and the joints that carry them. L legs, P points."""

    skin: SkinPoints
    """(L, P)"""
    seen: bool
    """Whether they are points of a skin; else heel, ball and tip of the rig, whose heights are guessed."""

    def points(self, world: Any) -> Any:
        """Compute where the points are, (F, L, P, 3), from world matrices, (F, J, 4, 4)."""
        return self.skin.points(world)


def sole_patches(character: Character, rig: Rig, world: Any) -> SolePatches:
    """Find the soles of a character by the frames of a clip, (F, J, 4, 4): they are what is lowest of its feet at any
    time. Shoes show how wide they are, and which part of a curved sole stands when.
    """
    feet = foot_skins(rig, character.skins, handles(rig)) if character.skins else []
    seen = [foot for foot in feet if foot is not None]
    if not seen or len(seen) < len(rig.legs):
        joints, offsets = rig.sole_table
        line = SkinPoints(joints[..., np.newaxis], np.ones((*joints.shape, 1)), offsets[..., np.newaxis, :])
        return SolePatches(line, False)
    some = world[np.unique(np.linspace(0, len(world) - 1, FRAMES).astype(int))]
    kept = [_spread_over_sole(foot, some, np.array(rig.up), rig.leg_length) for foot in seen]
    return SolePatches(SkinPoints(*(np.stack(parts) for parts in zip(*kept, strict=True))), True)


def _spread_over_sole(foot: SkinPoints, world: Any, up: Any, leg: float) -> SkinPoints:
    """Return some points of the sole of a foot, as far from each other as they can be."""
    at = foot.points(world)
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
    return foot.chosen(chosen)
