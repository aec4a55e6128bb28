"""Measure soles: the heights of ankle and toe joint above the sole, its extent, and the height of the floor.

With a skin, the sole is the lowest part of the foot; without, the lowest joints and end markers are on the ground. The
floor is the level of the lowest sole most of the time in clips: a rest pose may float, or have its origin at the hips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.skin import Skin
from kinema.roles.evidence import Evidence, Moving
from kinema.roles.legs import FoundLeg, strays
from kinema.roles.stance import Stance

FOOT_SKIN = 0.5
"""Skin belongs to a foot if more than this share of it follows the ankle and what is below."""

SOLE_BAND = 0.2
"""Skin that is this close above the lowest of it, in heights of the ankle, is the sole: heel and tip are its ends."""

LEVEL_BAND = 0.01
"""Levels of the floor, of rest and of several clips, that agree within this share of a leg are one."""

THICKEST_SOLE = 0.07
"""Leg lengths that the lowest joints of a foot are above the ground, at most: the ball of a foot."""

THINNEST_SOLE = 0.01
"""Leg lengths that they are above it, at least, where the file's height 0 does not tell: joints are inside the foot."""

USUAL_SOLE = 0.04
"""Leg lengths that they are above it where a body stands on something higher than 0 and never comes down."""

FARTHEST_ZERO = 0.12
"""Leg lengths: captured feet stand at most this far above the height 0 that the file means to be its floor."""

STILL = 0.15
"""Leg lengths a second up or down below which the lowest sole stands."""

LEVEL_DEPTH = 0.06
"""Leg lengths of what counts as one level: captured feet stand up to 5 cm above each other on a flat floor."""

LEVEL_FOOT = 0.4
"""Foot lengths that the ankle of a standing foot may be higher or lower than in the stance: 24 degrees."""

FLAT_BAND = 0.14
"""Foot lengths within which rises of the ankle above the toe are those of flat feet: 8 degrees. The densest counts."""

FEWEST_STANDING = 5
"""Moments, of thirty a second, that a foot must stand for clips to show how."""

FEET_DIFFER = 0.04
"""Leg lengths between the ankles of the two feet of a pair, as they stand, from which their difference is a doubt."""

FEET_ALIKE = 0.02
"""Leg lengths that the two may differ to be measured each by itself: bones of captured feet differ by up to a tenth.
Where they differ by more, a foot did not stand flat."""

LEVEL_SHARE = 0.12
"""Share of the moments with a still sole that a level needs to be one: a hop off a box ends on the floor."""


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
) -> tuple[dict[str, Sole], float, list[str]]:
    """The sole of each leg, the height of the floor, and doubts about soles."""
    if not legs:
        return {}, 0.0, []
    surface = _surface(evidence, stance, skins)
    soles = {}
    for name, leg in legs.items():
        skin = _of_foot(evidence, surface, leg)
        soles[name] = (
            _by_skin(stance, leg, skin, evidence.length(leg.joints)) if len(skin[0]) else _by_joints(stance, leg)
        )
        if strays(evidence, leg.joints[-1]):  # A foot that rotates on its own has no length along this leg.
            soles[name] = replace(soles[name], toe_sole=soles[name].sole, heel=0.0, tip=0.0)
    if any(sole.skinned for sole in soles.values()):
        return soles, _floor(evidence, stance, legs, soles)[0], []
    soles, doubts = _from_clips(evidence, stance, legs, soles)
    level, lowest = _floor(evidence, stance, legs, soles)
    return *_down_to_zero(evidence, legs, soles, level, lowest), doubts


def _down_to_zero(
    evidence: Evidence, legs: Mapping[str, FoundLeg], soles: dict[str, Sole], level: float, lowest: float
) -> tuple[dict[str, Sole], float]:
    """Extend soles without a skin down to the ground: joints are inside the foot, above its sole.

    level: height of the lowest joints while they stand. lowest: height that they come down to at all. Files have the
    ground at 0: it is there if joints stand just above, or if they stand on something higher but come down that far.
    """
    size = min(evidence.length(leg.joints) for leg in legs.values())
    if level > FARTHEST_ZERO * size and -LEVEL_DEPTH * size < lowest <= FARTHEST_ZERO * size:
        level = max(lowest, 0.0)
    above_zero = 0.0 < level <= FARTHEST_ZERO * size
    if above_zero:
        thick = min(level, THICKEST_SOLE * size)
    elif level < -LEVEL_BAND * size:
        thick = THINNEST_SOLE * size
    else:
        thick = USUAL_SOLE * size if level > 0.0 and evidence.clips else 0.0
    for name, sole in soles.items():
        soles[name] = replace(sole, sole=sole.sole + thick, toe_sole=sole.toe_sole + thick)
    return soles, level - thick


# --- one sole --------------------------------------------------------------------------------------------------


def _by_joints(stance: Stance, leg: FoundLeg) -> Sole:
    ankle = leg.joints[-1]
    ahead = stance.level(stance.positions[leg.tip] - stance.positions[ankle])
    tip = ahead if leg.tip != leg.toe else ahead * 4 / 3  # A last joint is the ball of the foot, a mark its end.
    toe_sole = _above_lowest(stance, leg)
    return Sole(toe_sole + _rise(stance, leg), toe_sole, tip / 4, tip, False)


def _from_clips(
    evidence: Evidence, stance: Stance, legs: Mapping[str, FoundLeg], soles: dict[str, Sole]
) -> tuple[dict[str, Sole], list[str]]:
    """Measure soles without a skin over all moments at which feet stand flat, both feet of a pair alike but for what
    their bones differ.

    One moment may show a foot in the middle of a step. Returns doubts about pairs whose feet stand differently too.
    """
    made, doubts = dict(soles), []
    for name, leg in legs.items():
        pair = [other for other in legs if _unsided(other) == _unsided(name)]
        if name != pair[0]:
            continue
        size = evidence.length(leg.joints)
        length = float(np.mean([_foot_length(evidence, legs[each]) for each in pair]))
        shown = [_flat_rises(evidence, stance, legs[each]) for each in pair]
        rise = _commonest(np.concatenate(shown), length)
        each_rise = [_commonest(rises, length) for rises in shown]
        own = [each for each in each_rise if each is not None]
        apart = max(own, default=0.0) - min(own, default=0.0)
        if apart > FEET_DIFFER * size:
            names = " and ".join(map(repr, pair))
            doubts.append(f"The feet of legs {names} stand differently in clips, by {apart / size:.0%} of a leg.")
        if rise is None:
            rise = float(np.mean([_rise(stance, legs[each]) for each in pair]))
        toe_sole = float(np.mean([_above_lowest(stance, legs[each]) for each in pair]))
        heel, tip = (float(np.mean([getattr(soles[each], what) for each in pair])) for what in ("heel", "tip"))
        for each, its_own in zip(pair, each_rise, strict=True):
            its_rise = rise if its_own is None or len(own) < 2 or apart > FEET_ALIKE * size else its_own
            made[each] = Sole(toe_sole + (0.0 if legs[each].toe is None else its_rise), toe_sole, heel, tip, False)
    return made, doubts


def _unsided(name: str) -> str:
    return name.replace("left", "").replace("right", "")


def _foot_length(evidence: Evidence, leg: FoundLeg) -> float:
    return evidence.length((leg.joints[-1], leg.tip if leg.toe is None else leg.toe))


def _rise(stance: Stance, leg: FoundLeg) -> float:
    """How much higher the ankle is than the toe joint in the stance; 0 without a toe."""
    return 0.0 if leg.toe is None else stance.height(leg.joints[-1]) - stance.height(leg.toe)


def _above_lowest(stance: Stance, leg: FoundLeg) -> float:
    """How high the toe joint, or the ankle without one, is above the lowest joint of the foot in the stance."""
    joint = leg.joints[-1] if leg.toe is None else leg.toe
    return stance.height(joint) - min(stance.height(each) for each in (joint, leg.joints[-1], leg.tip))


def _flat_rises(evidence: Evidence, stance: Stance, leg: FoundLeg) -> Any:
    """(n,): how much higher the ankle is than the toe joint at the moments of clips at which the foot stands."""
    if leg.toe is None:
        return np.zeros(0)
    size, usual = evidence.length(leg.joints), _rise(stance, leg)
    shown: list[Any] = [np.zeros(0)]
    for moving in evidence.clips:
        heights = moving.positions[:, [leg.joints[-1], leg.toe]] @ stance.up
        low = heights[:, 1] - heights[:, 1].min() < LEVEL_DEPTH * size
        still = (np.abs(moving.velocity(heights)) < STILL * size).all(axis=1)
        shown.append((heights[:, 0] - heights[:, 1])[low & still])
    found = np.concatenate(shown)
    return found[np.abs(found - usual) < LEVEL_FOOT * _foot_length(evidence, leg)]


def _commonest(rises: Any, length: float) -> float | None:
    """Return the median of the densest window of rises; None of too few. length: of the foot."""
    if len(rises) < FEWEST_STANDING:
        return None
    rises = np.sort(rises)
    ends = np.searchsorted(rises, rises + FLAT_BAND * length, side="right")
    first = int(np.argmax(ends - np.arange(len(rises))))
    return float(np.median(rises[first : ends[first]]))


def _by_skin(stance: Stance, leg: FoundLeg, skin: tuple[Any, Any], size: float) -> Sole:
    """skin: where the foot's skin is, (n, 3), and how much of it follows the toe, (n,). size: of the leg."""
    positions, of_toe = skin
    ankle = leg.joints[-1]
    heights = positions @ stance.up
    high = stance.height(ankle)
    bottom = float(heights.min())
    under_toe = of_toe > FOOT_SKIN
    sole = high - float(heights[~under_toe].min(initial=np.inf) if (~under_toe).any() else bottom)
    toe_sole = sole
    if leg.toe is not None:
        toe_sole = stance.height(leg.toe) - float(heights[under_toe].min() if under_toe.any() else bottom)
    flat = heights <= bottom + max(SOLE_BAND * (high - bottom), THINNEST_SOLE * size)
    along = (positions[flat] - stance.positions[ankle]) @ _along(stance, leg)
    return Sole(sole, toe_sole, max(-float(along.min()), 0.0), max(float(along.max()), 0.0), True)


def _along(stance: Stance, leg: FoundLeg) -> Any:
    """Return the direction of the foot: forward, unless its toe points elsewhere."""
    if leg.toe is None:
        return stance.forward
    way = stance.positions[leg.toe] - stance.positions[leg.joints[-1]]
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
    joints, weights, positions = surface
    foot, toe = np.zeros(len(evidence.skeleton), bool), np.zeros(len(evidence.skeleton), bool)
    foot[evidence.skeleton.below([leg.joints[-1], *strays(evidence, leg.joints[-1])])] = True
    if leg.toe is not None:
        toe[evidence.skeleton.below([leg.toe])] = True
    of_foot = (weights * foot[joints]).sum(axis=1)
    chosen = of_foot > FOOT_SKIN
    return positions[chosen], (weights * toe[joints]).sum(axis=1)[chosen]


# --- the floor -------------------------------------------------------------------------------------------------


def _floor(
    evidence: Evidence, stance: Stance, legs: Mapping[str, FoundLeg], soles: Mapping[str, Sole]
) -> tuple[float, float]:
    """Return the height of the ground under the feet in clips, or at rest without clips; and the lowest height of
    soles."""
    joints, points = [], []
    for name, leg in legs.items():
        joints += [leg.joints[-1], leg.joints[-1], leg.joints[-1] if leg.toe is None else leg.toe]
        points += _touching(stance, leg, soles[name])
    levels = [min(float(point @ stance.up) for point in points)]
    inverse = np.linalg.pinv(stance.world[joints])
    own = np.einsum("nrc,nc->nr", inverse, np.concatenate((points, np.ones((len(points), 1))), axis=1))
    size = min(evidence.length(leg.joints) for leg in legs.values())
    lowest = levels[0] if not evidence.clips else np.inf
    for moving in evidence.clips:
        heights = np.einsum("fnrc,nc->fnr", moving.world[:, joints], own)[..., :3] @ stance.up
        levels.append(_level(moving, heights, size))
        lowest = min(lowest, float(heights.min()))
    return _agreed(levels, LEVEL_BAND * size), lowest


def _level(moving: Moving, heights: Any, leg: float) -> float:
    """The lowest level on which soles stand in a clip. heights: (F, n), of points of soles.

    Feet also stand on boxes, steps and rocks, so it is the lowest level that counts, not the commonest.
    """
    which = np.argmin(heights, axis=1)[:, np.newaxis]
    speed = np.abs(np.take_along_axis(moving.velocity(heights), which, axis=1))[:, 0]
    height = np.take_along_axis(heights, which, axis=1)[:, 0]
    standing = np.sort(height[speed < STILL * leg])
    if not standing.size:
        return float(np.percentile(height, 25.0))
    ends = np.searchsorted(standing, standing + LEVEL_DEPTH * leg, side="right")
    counts = ends - np.arange(standing.size)
    # The lowest level that is one; on long stairs none is, and the commonest counts.
    first = int(np.argmax(counts >= min(LEVEL_SHARE * standing.size, counts.max())))
    return float(np.median(standing[first : ends[first]]))


def _agreed(levels: Sequence[float], band: float) -> float:
    """Return the level that rest and most clips agree on; that of the clips if all differ."""
    if len(levels) == 1:
        return levels[0]
    near = np.abs(np.subtract.outer(levels, levels)) <= band
    best = int(np.argmax(near.sum(axis=1)))
    chosen = near[best] if near[best].sum() > 1 else np.arange(len(levels)) > 0
    return float(np.median(np.array(levels)[chosen]))


def _touching(stance: Stance, leg: FoundLeg, sole: Sole) -> list[Any]:
    """Heel, and the ball with the ankle and with the toe, where they touch the ground."""
    ankle, along = stance.positions[leg.joints[-1]], _along(stance, leg)
    under = ankle - stance.up * sole.sole
    ball = under + along * sole.tip * 0.75
    if leg.toe is not None:
        ball = stance.positions[leg.toe] - stance.up * sole.toe_sole
    return [under - along * sole.heel, under, ball]
