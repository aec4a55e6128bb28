"""Rotations of all parts of a body from points on it.

Every part has a frame by the points around it; its rotation is the one from the same frame of the target's stance. The
bones of limbs point exactly where the points are. Their twist is that of the bend of elbow or knee where it is bent,
and else the least that brings the bone where it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinema.fitting.gaps import CARRIERS
from kinema.fitting.layouts import SIDES
from kinema.fitting.person import LIMBS, PHALANGES, Stance
from kinema.math import arrays
from kinema.math.smoothing import smooth
from kinema.model.rig import FINGERS

TWIST_TIME = 0.06
"""Seconds, over 2 pi, of what is smoothed out of the twist of limbs."""

LEAST_TWIST = 0.02
"""Weight of the least twist, beside that of the bend of a joint, which is its squared sine."""

FOOT_TWIST = 0.15
"""Weight of where a foot points for the twist of its leg."""

BENT_STANCE = 0.1, 0.3
"""Sines of the bend of a limb in the stance from which on it begins to show the axis of its joint, and fully does."""

PELVIS_LEANS = 0.6
"""Share of the lean of the trunk that the pelvis follows, where no point of the spine shows more."""

LOWEST, LOW, FEWEST = 0.05, 0.03, 5
"""Quantile of an ankle's height, leg lengths above that up to which its foot is flat, and frames of that at least."""

FLAT_BELOW, MOST_PITCH = 0.15, 0.2
"""Leg lengths that an ankle is lifted, at which a foot without points hangs on its shin; below that it stands on its
ball, pitched by so many radians at most."""

NOSE_TO_TOP = (0.0, 0.16, -0.12)
"""Metres from the nose to the top of the head, left, up and ahead."""

T_POSE = {
    "left_arm": ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    "right_arm": ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "left_leg": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
    "right_leg": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
}
"""Where limbs point in the T-pose, and the axes about which elbows and knees bend: from the upper to the lower bone."""

NEEDS = {
    **{role: (carrier,) for role, carrier in CARRIERS.items()},
    **{
        f"{side}_{name}": (f"{other}_{name}", "nose") for side, other in (SIDES, SIDES[::-1]) for name in ("ear", "eye")
    },
    **dict.fromkeys(("head", "head_top"), ("neck",)),
}
"""Without which points a point shows no rotation, by role words, from the trunk outwards."""

Points = Mapping[str, Any]


@dataclass(frozen=True)
class Footing:
    """How the feet of the points stand, in their unit."""

    ankle: float
    """Height of ankles that stand."""
    leg: float
    """Length of a leg."""
    slopes: Mapping[str, float] = field(default_factory=dict)
    """Radians that the way from ankle to ball goes up while a foot is flat, by side; default: as in the stance."""


def showing(at: Points) -> dict[str, Any]:
    """Return the points that show how parts are rotated: those without the others that it takes are left out."""
    lost = set[str]()
    for role, needed in NEEDS.items():
        if any(each not in at or each in lost for each in needed):
            lost.add(role)
    return {role: value for role, value in at.items() if role not in lost}


def flat_slopes(at: Points, leg: float) -> dict[str, float]:
    """Measure how flat feet slope from ankle to ball, radians, by side: every body model has its ball elsewhere.

    Feet with points of heel and toe show their sole and are left out. leg: its length, in the unit of the points.
    """
    found, at = {}, showing(at)
    for side in SIDES:
        if f"{side}_ball" in at and not (f"{side}_heel" in at and f"{side}_toe" in at):
            height = at[f"{side}_ankle"][:, 1]
            low = height < np.quantile(height, LOWEST) + LOW * leg
            way = arrays.unit(at[f"{side}_ball"] - at[f"{side}_ankle"])
            if low.sum() >= FEWEST:
                found[side] = float(np.arcsin(np.clip(np.median(way[low, 1]), -1.0, 1.0)))
    return found


def body_rotations(at: Points, stance: Stance, fps: float, ground: Footing) -> dict[str, Any]:
    """Compute the rotations of all joints of a `Person` from the target's stance, (T, 4), canonical axes.

    at: (T, 3) by role word. Parts that no point shows have no rotation of their own.
    """
    at = showing(at)
    still = {role: value[np.newaxis] for role, value in stance.at.items()}
    found: dict[str, Any] = {}
    found["pelvis"], lean, found["chest"] = _trunk(at, still)
    found["spine"] = arrays.slerp(lean, found["chest"], np.array(0.5))
    found["head"] = _head(at, still, found["chest"])
    found["neck"] = arrays.slerp(found["chest"], found["head"], np.array(0.5))
    for side in SIDES:
        if f"{side}_elbow" in at:
            found |= _arm(at, stance, found["chest"], side, fps)
        if f"{side}_knee" in at:
            found |= _leg(at, stance, found["pelvis"], side, fps, ground)
    return {role: arrays.continuous(value) for role, value in found.items()}


# --- trunk and head ----------------------------------------------------------------------------------------------


def _trunk(at: Points, still: Points) -> tuple[Any, Any, Any]:
    """The pelvis, the same if it leaned as far as the trunk, and the chest: by the lines of hips and shoulders and by
    where the trunk points.
    """
    both = []
    for points in (at, still):
        hips, shoulders = (points[f"left_{name}"] - points[f"right_{name}"] for name in ("hip", "shoulder"))
        middles = [0.5 * (points[f"left_{name}"] + points[f"right_{name}"]) for name in ("hip", "shoulder")]
        both.append((hips, shoulders, middles[1] - middles[0]))
    (hips, shoulders, trunk), (own_hips, own_shoulders, own_trunk) = both
    lean = _frame(hips, trunk)
    upright = _frame(hips, np.broadcast_to((0.0, 1.0, 0.0), trunk.shape))
    upright = arrays.mul(upright, arrays.conj(_frame(own_hips, np.array((0.0, 1.0, 0.0)))))
    lean = arrays.mul(lean, arrays.conj(_frame(own_hips, own_trunk)))
    pelvis = arrays.slerp(upright, lean, np.array(PELVIS_LEANS))
    return pelvis, lean, arrays.mul(_frame(shoulders, trunk), arrays.conj(_frame(own_shoulders, own_trunk)))


def _head(at: Points, still: Points, chest: Any) -> Any:
    """The head: by the ears, the eyes and the nose; else by where it is above the neck; else as the chest."""
    across = [at[f"left_{name}"] - at[f"right_{name}"] for name in ("ear", "eye") if f"left_{name}" in at]
    if across and "nose" in at:
        left, nose = sum(across), at["nose"]
        if "left_ear" not in at:  # Eyes and nose lie in the face: up is from the nose to the eyes.
            return _frame(left, 0.5 * (at["left_eye"] + at["right_eye"]) - nose)
        ears = 0.5 * (at["left_ear"] + at["right_ear"])
        ahead = nose - ears
        if "left_eye" in at:  # As far above the ears as the nose is below them.
            ahead = ahead + 0.5 * (at["left_eye"] + at["right_eye"]) - ears
        return _frame(left, arrays.cross(ahead, left))
    if "neck" not in at:
        return chest
    if "head_top" in at and "nose" in at:  # Both move with the head; the neck only says where its sides are.
        left = arrays.cross(at["head_top"] - at["neck"], at["nose"] - at["neck"])
        return arrays.mul(
            _frame(left, at["head_top"] - at["nose"]), arrays.conj(_frame(np.array((1.0, 0.0, 0.0)), NOSE_TO_TOP))
        )
    top, own = ("head", still["head"]) if "head" in at else ("head_top", still["head"])
    if top not in at:
        return chest
    way = own - still["neck"]
    return arrays.mul(arrays.swing(arrays.rotate(chest, way), at[top] - at["neck"]), chest)


# --- limbs -------------------------------------------------------------------------------------------------------


def _arm(at: Points, stance: Stance, chest: Any, side: str, fps: float) -> dict[str, Any]:
    shoulder, elbow, wrist = LIMBS[f"{side}_arm"]
    upper, lower, rests = _limb(at, stance, chest, f"{side}_arm", fps, None)
    if wrist not in at:
        return {shoulder: arrays.mul(upper, arrays.conj(rests[0]))}
    hand, own_hand = lower, rests[1]
    across, along = [f"{side}_{name}_1" for name in ("index", "little")], f"{side}_hand"
    outwards = 1.0 if side == "left" else -1.0
    if all(role in at for role in across):
        knuckles = 0.5 * (at[across[0]] + at[across[1]])
        hand = _palm(knuckles - at[wrist], at[across[0]] - at[across[1]], outwards)
        palm = stance.palm(side)
        own_hand = own_hand if palm is None else _palm(palm[0][np.newaxis], palm[1][np.newaxis], outwards)
    elif along in at or f"{side}_middle_1" in at:
        tip = at[along if along in at else f"{side}_middle_1"]
        hand = _point(lower, T_POSE[f"{side}_arm"][0], tip - at[wrist])
    found = {
        shoulder: arrays.mul(upper, arrays.conj(rests[0])),
        elbow: arrays.mul(lower, arrays.conj(rests[1])),
        wrist: arrays.mul(hand, arrays.conj(own_hand)),
    }
    for name in FINGERS:
        found |= _finger(at, stance, found[wrist], side, name)
    return found


def _finger(at: Points, stance: Stance, hand: Any, side: str, name: str) -> dict[str, Any]:
    """The phalanges of a finger: each points where its points are, on top of the one before."""
    chain, found, above = stance.fingers(side).get(name), dict[str, Any](), hand
    for number in range(1, PHALANGES + 1):
        ends = f"{side}_{name}_{number}", f"{side}_{name}_{number + 1}"
        if chain is None or number >= len(chain) or not all(role in at for role in ends):
            break
        way = arrays.rotate(above, chain[number] - chain[number - 1])
        above = found[ends[0]] = arrays.mul(arrays.swing(way, at[ends[1]] - at[ends[0]]), above)
    return found


def _leg(at: Points, stance: Stance, pelvis: Any, side: str, fps: float, ground: Footing) -> dict[str, Any]:
    hip, knee, ankle = LIMBS[f"{side}_leg"]
    ahead = _foot_way(at, side) if ankle in at else None
    upper, lower, rests = _limb(at, stance, pelvis, f"{side}_leg", fps, ahead)
    if ankle not in at:
        return {hip: arrays.mul(upper, arrays.conj(rests[0]))}
    still = {role: value[np.newaxis] for role, value in stance.at.items()}
    if ahead is None:
        foot = _foot_without_points(at, lower, rests[1], stance, side, ground)
    else:
        own = _foot_way(still, side, f"{side}_heel" in at, f"{side}_toe" in at)
        if side in ground.slopes:
            level = arrays.unit(own * (1.0, 0.0, 1.0))
            own = np.cos(ground.slopes[side]) * level + (0.0, np.sin(ground.slopes[side]), 0.0)
        x = arrays.rotate(lower, np.array((1.0, 0.0, 0.0)))
        if f"{side}_small_toe" in at and f"{side}_toe" in at:
            out = at[f"{side}_small_toe"] - at[f"{side}_toe"]
            x = x + arrays.unit(arrays.unit(out if side == "left" else -out))
        foot = arrays.mul(
            _frame_ahead(x, ahead), arrays.conj(_frame_ahead(arrays.rotate(rests[1], np.array((1.0, 0.0, 0.0))), own))
        )
    return {
        hip: arrays.mul(upper, arrays.conj(rests[0])),
        knee: arrays.mul(lower, arrays.conj(rests[1])),
        ankle: foot,
        f"{side}_ball": foot,
    }


def _foot_way(at: Points, side: str, heel: bool = True, toe: bool = True) -> Any:
    """Where a foot points: from the heel, or else the ankle, to the toes, or else the ball; None if it is not known."""
    tip = at.get(f"{side}_toe") if toe else None
    tip = at.get(f"{side}_ball") if tip is None else tip
    start = at.get(f"{side}_heel") if heel else None
    start = at[f"{side}_ankle"] if start is None else start
    return None if tip is None else tip - start


def _foot_without_points(at: Points, lower: Any, rest: Any, stance: Stance, side: str, ground: Footing) -> Any:
    """A foot that no point shows: on the floor ahead of its knee, pitched by how high its ankle is above its ball; or,
    when it is lifted higher, as its shin has it.
    """
    hanging = arrays.mul(lower, arrays.conj(rest))
    ahead = arrays.rotate(hanging, np.array((0.0, 0.0, 1.0))) * (1.0, 0.0, 1.0)
    flat = _frame(arrays.cross(np.array((0.0, 1.0, 0.0)), ahead), np.array((0.0, 1.0, 0.0)))
    lifted = at[f"{side}_ankle"][:, 1] - ground.ankle
    reach = float(np.linalg.norm((stance.at[f"{side}_ball"] - stance.at[f"{side}_ankle"])[::2]))
    reach = max(reach * ground.leg / float(stance.body.rig.leg_length), 1e-9)
    pitch = np.arcsin(np.clip(lifted / reach, 0.0, np.sin(MOST_PITCH)))
    rolled = arrays.mul(flat, arrays.from_axis_angle(np.tile((1.0, 0.0, 0.0), (len(pitch), 1)), pitch))
    lifted = arrays.smoothstep(np.clip(lifted / (FLAT_BELOW * ground.leg), 0.0, 1.0))
    return arrays.slerp(rolled, hanging, lifted)


def _limb(at: Points, stance: Stance, above: Any, name: str, fps: float, foot: Any) -> tuple[Any, Any, tuple[Any, Any]]:
    """Rotations of both bones from the T-pose, (T, 4), and those of the stance, (1, 4) each.

    above: rotation of what the limb hangs on. foot: where its foot points, None if it is not known. A limb whose end
    is not known is straight.
    """
    roles, (straight, axis) = LIMBS[name], (np.array(each) for each in T_POSE[name])
    upper = at[roles[1]] - at[roles[0]]
    lower = at[roles[2]] - at[roles[1]] if roles[2] in at else upper
    own = [stance.at[b][np.newaxis] - stance.at[a] for a, b in itertools.pairwise(roles)]
    first = _point(np.array((0.0, 0.0, 0.0, 1.0)), straight, own[0])
    bend, sine = _bend(*own)
    share = np.clip((sine - BENT_STANCE[0]) / (BENT_STANCE[1] - BENT_STANCE[0]), 0.0, 1.0)
    if name in stance.hinges:
        bend, share = stance.hinges[name][np.newaxis], np.ones(1)
    first = arrays.mul(
        arrays.from_axis_angle(arrays.unit(own[0]), _angle(arrays.rotate(first, axis), bend, own[0]) * share), first
    )
    rests = first, _point(first, straight, own[1])
    rotation = _point(above, straight, upper)
    bend, sine = _bend(upper, lower)
    shown, weight = _angle(arrays.rotate(rotation, axis), bend, upper), sine**2
    sines, cosines = np.sin(shown) * weight, np.cos(shown) * weight
    if foot is not None:
        across = arrays.unit(arrays.cross(-lower, foot))
        shown = _angle(arrays.rotate(rotation, axis), across, upper)
        weight = weight + FOOT_TWIST
        sines, cosines = sines + FOOT_TWIST * np.sin(shown), cosines + FOOT_TWIST * np.cos(shown)
    twist = _smooth_angle(sines, cosines, weight, fps)
    rotation = arrays.mul(arrays.from_axis_angle(arrays.unit(upper), twist), rotation)
    return rotation, _point(rotation, straight, lower), rests


def _smooth_angle(sines: Any, cosines: Any, weight: Any, fps: float) -> Any:
    """Smooth angles over time, (T,), by their weighted sines and cosines; towards 0 where they weigh nothing."""
    total = weight + LEAST_TWIST
    values = np.stack((sines, cosines + LEAST_TWIST), axis=-1) / total[:, np.newaxis]
    if len(values) > 3:
        values = smooth(values, total, (TWIST_TIME * fps) ** 6)
    return np.arctan2(values[:, 0], values[:, 1])


def _bend(upper: Any, lower: Any) -> tuple[Any, Any]:
    """The axis of the bend between two bones, (T, 3), and its sine, (T,)."""
    axis = arrays.cross(arrays.unit(upper), arrays.unit(lower))
    return arrays.unit(axis), np.linalg.norm(axis, axis=-1)


def _angle(start: Any, end: Any, about: Any) -> Any:
    """The angle from one direction to another about a bone, (T,)."""
    axis = arrays.unit(about)
    return np.arctan2(
        (arrays.cross(start, end) * axis).sum(-1), (start * end).sum(-1) - (start * axis).sum(-1) * (end * axis).sum(-1)
    )


def _point(rotation: Any, straight: Any, way: Any) -> Any:
    """The rotation on top of one that brings a direction of the T-pose where a bone points."""
    return arrays.mul(arrays.swing(arrays.rotate(rotation, np.asarray(straight, np.float64)), way), rotation)


# --- frames ------------------------------------------------------------------------------------------------------


def _frame(left: Any, up: Any) -> Any:
    """The rotation from the canonical axes to this left axis and an up axis near this one, (T, 4)."""
    x = arrays.unit(left)
    return _of_axes(x, arrays.unit(arrays.cross(x, np.broadcast_to(up, x.shape))))


def _frame_ahead(left: Any, ahead: Any) -> Any:
    """The rotation from the canonical axes to this axis ahead and a left axis near this one, (T, 4)."""
    z = arrays.unit(ahead)
    return _of_axes(arrays.unit(left - (left * z).sum(-1, keepdims=True) * z), z)


def _palm(along: Any, across: Any, outwards: float) -> Any:
    """The rotation from the T-pose to a hand that points along a direction, its index finger across it."""
    x = outwards * arrays.unit(along)
    return _of_axes(x, arrays.unit(across - x * (across * x).sum(-1, keepdims=True)))


def _of_axes(x: Any, z: Any) -> Any:
    return arrays.from_matrix(np.stack((x, arrays.cross(z, x), z), axis=-1))
