"""How high ankles and toes are above the sole, how far the sole goes, and how high the floor is that it stands on.

With a skin the sole is what is lowest of the foot; without, the lowest joints and marks of ends are on the ground. The
floor is where the lowest sole is most of the time in clips: a rest pose may float, or have its origin at the hips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.roles.constants import FOOT_SKIN, LEVEL_BAND, PLANTED_PART, SOLE_BAND, THICKEST_SOLE
from kinema.roles.evidence import Evidence
from kinema.roles.legs import FoundLeg, strays
from kinema.roles.stance import Stance
from kinema.skin import Skin


@dataclass(frozen=True)
class Sole:
    """Heights of ankle and toe joint above the sole, and how far it goes behind and ahead of the ankle; see `Leg`.

    skinned: whether a skin was measured.
    """

    sole: float
    toe_sole: float
    heel: float
    tip: float
    skinned: bool


def measure(
    evidence: Evidence, stance: Stance, legs: Mapping[str, FoundLeg], skins: Sequence[Skin]
) -> tuple[dict[str, Sole], float]:
    """The sole of each leg, and the height of the floor."""
    if not legs:
        return {}, 0.0
    surface = _surface(evidence, stance, skins)
    lowest = min(stance.height(joint) for leg in legs.values() for joint in (*leg.joints, leg.tip))
    soles = {}
    for name, leg in legs.items():
        skin = _of_foot(evidence, surface, leg)
        soles[name] = _by_skin(stance, leg, skin) if len(skin[0]) else _by_joints(stance, leg, lowest)
        if strays(evidence, leg.joints[-1]):  # A foot that turns by itself has no length along this leg.
            soles[name] = replace(soles[name], toe_sole=soles[name].sole, heel=0.0, tip=0.0)
    floor = _floor(evidence, stance, legs, soles)
    if not any(sole.skinned for sole in soles.values()):
        return _down_to_zero(evidence, legs, soles, floor)
    return soles, floor


def _down_to_zero(
    evidence: Evidence, legs: Mapping[str, FoundLeg], soles: dict[str, Sole], floor: float
) -> tuple[dict[str, Sole], float]:
    """Joints alone end above the ground, inside the foot. Files put the ground at 0: where that is just below, soles
    reach down to it.
    """
    thick = THICKEST_SOLE * min(evidence.length(leg.joints) for leg in legs.values())
    if not 0.0 < floor <= thick:
        return soles, floor
    deeper = {
        name: replace(sole, sole=sole.sole + floor, toe_sole=sole.toe_sole + floor) for name, sole in soles.items()
    }
    return deeper, 0.0


# --- one sole --------------------------------------------------------------------------------------------------


def _by_joints(stance: Stance, leg: FoundLeg, lowest: float) -> Sole:
    ankle = leg.joints[-1]
    ahead = stance.level(stance.places[leg.tip] - stance.places[ankle])
    tip = ahead if leg.tip != leg.toe else ahead * 4 / 3  # A last joint is the ball of the foot, a mark its end.
    toe_sole = stance.height(ankle if leg.toe is None else leg.toe) - lowest
    return Sole(stance.height(ankle) - lowest, toe_sole, tip / 4, tip, False)


def _by_skin(stance: Stance, leg: FoundLeg, skin: tuple[Any, Any]) -> Sole:
    """skin: where the foot's skin is, (n, 3), and how much of it follows the toe, (n,)."""
    places, of_toe = skin
    ankle = leg.joints[-1]
    heights = places @ stance.up
    high = stance.height(ankle)
    bottom = float(heights.min())
    under_toe = of_toe > FOOT_SKIN
    sole = high - float(heights[~under_toe].min(initial=np.inf) if (~under_toe).any() else bottom)
    toe_sole = sole
    if leg.toe is not None:
        toe_sole = stance.height(leg.toe) - float(heights[under_toe].min() if under_toe.any() else bottom)
    flat = heights <= bottom + SOLE_BAND * max(high - bottom, 0.0)
    along = (places[flat] - stance.places[ankle]) @ _along(stance, leg)
    return Sole(sole, toe_sole, max(-float(along.min()), 0.0), max(float(along.max()), 0.0), True)


def _along(stance: Stance, leg: FoundLeg) -> Any:
    """Which way the foot points: ahead, unless its toe says otherwise."""
    if leg.toe is None:
        return stance.forward
    way = stance.places[leg.toe] - stance.places[leg.joints[-1]]
    flat = way - stance.up * (way @ stance.up)
    return arrays.unit(flat) if stance.ahead(flat) > FOOT_SKIN * np.linalg.norm(flat) else stance.forward


# --- skin ------------------------------------------------------------------------------------------------------


def _surface(evidence: Evidence, stance: Stance, skins: Sequence[Skin]) -> tuple[Any, Any, Any]:
    """All skin: joints and weights, (V, 4), and where it is as it stands, (V, 3)."""
    if not skins:
        return np.zeros((0, 4), int), np.zeros((0, 4)), np.zeros((0, 3))
    skeleton = evidence.skeleton
    palette = skeleton.palette(skeleton.rest if stance.pose is None else stance.pose)
    known = [skin for skin in skins if skin.joints.size and skin.joints.max() < len(skeleton)]
    if not known:
        return _surface(evidence, stance, ())
    at = [skin.deform(palette).astype(np.float64) for skin in known]
    return np.concatenate([s.joints for s in known]), np.concatenate([s.weights for s in known]), np.concatenate(at)


def _of_foot(evidence: Evidence, surface: tuple[Any, Any, Any], leg: FoundLeg) -> tuple[Any, Any]:
    """Where a foot's skin is, (n, 3), and how much of it follows the toe, (n,)."""
    joints, weights, places = surface
    foot, toe = np.zeros(len(evidence.skeleton), bool), np.zeros(len(evidence.skeleton), bool)
    foot[evidence.skeleton.below([leg.joints[-1], *strays(evidence, leg.joints[-1])])] = True
    if leg.toe is not None:
        toe[evidence.skeleton.below([leg.toe])] = True
    of_foot = (weights * foot[joints]).sum(axis=1)
    chosen = of_foot > FOOT_SKIN
    return places[chosen], (weights * toe[joints]).sum(axis=1)[chosen]


# --- the floor -------------------------------------------------------------------------------------------------


def _floor(evidence: Evidence, stance: Stance, legs: Mapping[str, FoundLeg], soles: Mapping[str, Sole]) -> float:
    """Height of the ground under the feet in clips; at rest where there are none."""
    joints, points = [], []
    for name, leg in legs.items():
        joints += [leg.joints[-1], leg.joints[-1], leg.joints[-1] if leg.toe is None else leg.toe]
        points += _touching(stance, leg, soles[name])
    levels = [min(float(point @ stance.up) for point in points)]
    inverse = np.linalg.pinv(stance.world[joints])
    own = np.einsum("nrc,nc->nr", inverse, np.concatenate((points, np.ones((len(points), 1))), axis=1))
    for clip in evidence.clips:
        heights = np.einsum("fnrc,nc->fnr", clip.world[:, joints], own)[..., :3] @ stance.up
        levels.append(float(np.percentile(heights.min(axis=1), PLANTED_PART)))
    return _agreed(levels, LEVEL_BAND * min(evidence.length(leg.joints) for leg in legs.values()))


def _agreed(levels: Sequence[float], band: float) -> float:
    """The level that most agree on, of rest and of clips; clips alone where all differ, since they are what plays."""
    if len(levels) == 1:
        return levels[0]
    near = np.abs(np.subtract.outer(levels, levels)) <= band
    best = int(np.argmax(near.sum(axis=1)))
    chosen = near[best] if near[best].sum() > 1 else np.arange(len(levels)) > 0
    return float(np.median(np.array(levels)[chosen]))


def _touching(stance: Stance, leg: FoundLeg, sole: Sole) -> list[Any]:
    """Heel, and the ball with the ankle and with the toe, where they touch the ground."""
    ankle, along = stance.places[leg.joints[-1]], _along(stance, leg)
    under = ankle - stance.up * sole.sole
    ball = under + along * sole.tip * 0.75
    if leg.toe is not None:
        ball = stance.places[leg.toe] - stance.up * sole.toe_sole
    return [under - along * sole.heel, under, ball]
