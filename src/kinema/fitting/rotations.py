"""Rotations of all parts of a body from points on it.

Every part has a frame by the points around it; its rotation is the one from the same frame of the target's stance. The
bones of limbs point exactly where the points are. Their twist is that of the bend of elbow or knee where it is bent,
and else the least that brings the bone where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinema.fitting.bones import (
    AHEAD_LEFT,
    LEFT_AHEAD,
    LEFT_UP,
    frame_parts,
    limb_records,
    point_parts,
    show_twists,
    slerp_parts,
    twist_limbs,
)
from kinema.fitting.gaps import CARRIERS
from kinema.fitting.layouts import LIMBS, SIDES
from kinema.fitting.person import PHALANGES, Stance
from kinema.fitting.rests import IDENTITY, NOSE_TO_TOP_REST, T_POSE, trunk_lines
from kinema.math import arrays
from kinema.math.smoothing import smooth
from kinema.model.rig import FINGERS

TWIST_TIME = 0.06
"""Seconds, over 2 pi, of what is smoothed out of the twist of limbs."""

LEAST_TWIST = 0.02
"""Weight of the least twist, beside that of the bend of a joint, which is its squared sine."""

FOOT_TWIST = 0.15
"""Weight of where a foot points for the twist of its leg."""

PELVIS_LEANS = 0.6
"""Share of the lean of the trunk that the pelvis follows, where no point of the spine shows more."""

LOWEST, LOW, FEWEST = 0.05, 0.03, 5
"""Quantile of an ankle's height, leg lengths above that up to which its foot is flat, and frames of that at least."""

FLAT_BELOW, MOST_PITCH = 0.15, 0.2
"""Leg lengths that an ankle is lifted, at which a foot without points hangs on its shin; below that it stands on its
ball, pitched by so many radians at most."""

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
    found = _trunk_and_head(at, stance)
    limbs = [name for name, roles in LIMBS.items() if roles[1] in at]
    upper, lower = _limbs(at, stance, found, limbs, fps)
    for name, high, low in zip(limbs, upper, lower, strict=True):
        (start, middle, end), rest = LIMBS[name], stance.limb_rests[name][1]
        found[start] = high
        if end in at:
            found[middle] = arrays.mul(low, arrays.conj(rest))
    ends = {name: low for name, low in zip(limbs, lower, strict=True) if LIMBS[name][2] in at}
    _hands(at, stance, ends, found)
    _feet(at, stance, ends, ground, found)
    rotations = arrays.continuous(np.stack(list(found.values()), axis=1))
    return {role: rotations[:, k] for k, role in enumerate(found)}


# --- trunk and head ----------------------------------------------------------------------------------------------


def _trunk_and_head(at: Points, stance: Stance) -> dict[str, Any]:
    """The pelvis, spine, chest, neck and head."""
    hips, shoulders, trunk = trunk_lines(at)
    up = np.broadcast_to((0.0, 1.0, 0.0), trunk.shape)
    head = _head_frame(at)
    parts = [(hips, up), (hips, trunk), (shoulders, trunk), *([] if head is None else [head[:2]])]
    own = [*stance.trunk_rests, *([] if head is None else [head[2]])]
    upright, lean, chest, *seen = _framed(parts, [LEFT_UP] * len(parts), own)
    raised = seen[0] if seen else _head_on_neck(at, stance, chest)
    pairs = [(upright, lean, PELVIS_LEANS), (lean, chest, 0.5), (chest, raised, 0.5)]
    starts, ends, shares = (np.array(each, np.float64) for each in zip(*pairs, strict=True))
    out = np.empty_like(starts)
    slerp_parts(starts, ends, shares, out)
    return {"pelvis": out[0], "chest": chest, "spine": out[1], "head": raised, "neck": out[2]}


def _head_frame(at: Points) -> tuple[Any, Any, Any] | None:
    """Left and up axes of the head by the ears, the eyes and the nose, and what it is in the stance, inverted; None if
    they do not show it.
    """
    across = [at[f"left_{name}"] - at[f"right_{name}"] for name in ("ear", "eye") if f"left_{name}" in at]
    if across and "nose" in at:
        left, nose = sum(across), at["nose"]
        if "left_ear" not in at:  # Eyes and nose lie in the face: up is from the nose to the eyes.
            return left, 0.5 * (at["left_eye"] + at["right_eye"]) - nose, IDENTITY
        ears = 0.5 * (at["left_ear"] + at["right_ear"])
        ahead = nose - ears
        if "left_eye" in at:  # As far above the ears as the nose is below them.
            ahead = ahead + 0.5 * (at["left_eye"] + at["right_eye"]) - ears
        return left, arrays.cross(ahead, left), IDENTITY
    if all(role in at for role in ("head_top", "nose", "neck")):  # Both move with the head; the neck is below it.
        left = arrays.cross(at["head_top"] - at["neck"], at["nose"] - at["neck"])
        return left, at["head_top"] - at["nose"], NOSE_TO_TOP_REST
    return None


def _head_on_neck(at: Points, stance: Stance, chest: Any) -> Any:
    """The head by where it is above the neck; else as the chest."""
    top = "head" if "head" in at else "head_top"
    if "neck" not in at or top not in at:
        return chest
    way = stance.at[top if top in stance.at else "head"] - stance.at["neck"]
    return _on_top([chest], [way], [at[top] - at["neck"]])[0]


# --- limbs -------------------------------------------------------------------------------------------------------


def _limbs(at: Points, stance: Stance, trunk: Mapping[str, Any], names: list[str], fps: float) -> tuple[Any, Any]:
    """Rotations of upper bones from the stance and of lower ones from the T-pose, (L, T, 4) each.

    A limb whose end is not known is straight.
    """
    if not names:
        return (), ()
    bones, feet, shows = [], [], []
    for name in names:
        a, b, c = LIMBS[name]
        upper = at[b] - at[a]
        bones.append(np.stack((upper, at[c] - at[b] if c in at else upper), axis=1))
        side, _, words = name.partition("_")
        foot = _foot_way(at, side) if words == "leg" and c in at else None
        shows.append(foot is not None)
        feet.append(np.zeros_like(upper) if foot is None else foot)
    ways = np.array([T_POSE[name] for name in names])
    limbs = limb_records(ways[:, 0], ways[:, 1], [stance.limb_rests[name][0] for name in names], shows)
    base = np.stack([trunk["chest" if name.endswith("arm") else "pelvis"] for name in names])
    both, shown = np.stack(bones), np.empty((*base.shape[:2], 3))
    show_twists(limbs, both, np.stack(feet), np.array((LEAST_TWIST, FOOT_TWIST)), base, shown)
    twists = shown[..., :2] / shown[..., 2:]
    if shown.shape[1] > 3:
        stiffness = (TWIST_TIME * fps) ** 6
        twists = np.stack([smooth(*each, stiffness) for each in zip(twists, shown[..., 2], strict=True)])
    upper, lower = np.empty_like(base), np.empty_like(base)
    twist_limbs(limbs, both, base, np.ascontiguousarray(twists), upper, lower)
    return upper, lower


# --- hands and feet ----------------------------------------------------------------------------------------------


def _hands(at: Points, stance: Stance, ends: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Hands by their knuckles, by a point of the hand, or as their forearms; and fingers."""
    for side in SIDES:
        name, wrist = f"{side}_arm", f"{side}_wrist"
        if name not in ends:
            continue
        straight = np.array(T_POSE[name][0])
        across, along = [f"{side}_{finger}_1" for finger in ("index", "little")], f"{side}_hand"
        if all(role in at for role in across):
            knuckles = 0.5 * (at[across[0]] + at[across[1]]) - at[wrist]
            parts = [(straight[0] * knuckles, at[across[0]] - at[across[1]])]
            found[wrist] = _framed(parts, [LEFT_AHEAD], [stance.hand_rests[side]])[0]
        elif along in at or f"{side}_middle_1" in at:
            tip = at[along if along in at else f"{side}_middle_1"]
            hand = _on_top([ends[name]], [straight], [tip - at[wrist]])[0]
            found[wrist] = arrays.mul(hand, arrays.conj(stance.limb_rests[name][1]))
        else:
            found[wrist] = found[f"{side}_elbow"]
        for finger in FINGERS:
            if f"{side}_{finger}_2" in at:
                found |= _finger(at, stance, found[wrist], side, finger)


def _finger(at: Points, stance: Stance, hand: Any, side: str, name: str) -> dict[str, Any]:
    """The phalanges of a finger: each points where its points are, on top of the one before."""
    chain, found, above = stance.fingers(side).get(name), dict[str, Any](), hand
    for number in range(1, PHALANGES + 1):
        ends = f"{side}_{name}_{number}", f"{side}_{name}_{number + 1}"
        if chain is None or number >= len(chain) or not all(role in at for role in ends):
            break
        above = _on_top([above], [chain[number] - chain[number - 1]], [at[ends[1]] - at[ends[0]]])[0]
        found[ends[0]] = above
    return found


def _feet(at: Points, stance: Stance, ends: Mapping[str, Any], ground: Footing, found: dict[str, Any]) -> None:
    """Feet by their points, or else where they belong."""
    left = np.array((1.0, 0.0, 0.0))
    for side in SIDES:
        name = f"{side}_leg"
        if name not in ends:
            continue
        rest, ahead = stance.limb_rests[name][1], _foot_way(at, side)
        if ahead is None:
            foot = _foot_without_points(at, found[f"{side}_knee"], stance, side, ground)
        else:
            own = _foot_way(stance.at, side, f"{side}_heel" in at, f"{side}_toe" in at)
            if side in ground.slopes:
                level = arrays.unit(own * (1.0, 0.0, 1.0))
                own = np.cos(ground.slopes[side]) * level + (0.0, np.sin(ground.slopes[side]), 0.0)
            x = arrays.rotate(ends[name], left)
            if f"{side}_small_toe" in at and f"{side}_toe" in at:
                out = at[f"{side}_small_toe"] - at[f"{side}_toe"]
                x = x + arrays.unit(out if side == "left" else -out)
            still = _framed([(own[np.newaxis], arrays.rotate(rest, left)[np.newaxis])], [AHEAD_LEFT], [IDENTITY])[0, 0]
            foot = _framed([(ahead, x)], [AHEAD_LEFT], [arrays.conj(still)])[0]
        found[f"{side}_ankle"] = found[f"{side}_ball"] = foot


def _foot_way(at: Points, side: str, heel: bool = True, toe: bool = True) -> Any:
    """Where a foot points: from the heel, or else the ankle, to the toes, or else the ball; None if it is not known."""
    tip = at.get(f"{side}_toe") if toe else None
    tip = at.get(f"{side}_ball") if tip is None else tip
    start = at.get(f"{side}_heel") if heel else None
    start = at[f"{side}_ankle"] if start is None else start
    return None if tip is None else tip - start


def _foot_without_points(at: Points, hanging: Any, stance: Stance, side: str, ground: Footing) -> Any:
    """A foot that no point shows: on the floor ahead of its knee, pitched by how high its ankle is above its ball; or,
    when it is lifted higher, as its shin has it.
    """
    ahead = arrays.rotate(hanging, np.array((0.0, 0.0, 1.0))) * (1.0, 0.0, 1.0)
    up = np.broadcast_to((0.0, 1.0, 0.0), ahead.shape)
    lifted = at[f"{side}_ankle"][:, 1] - ground.ankle
    reach = float(np.linalg.norm((stance.at[f"{side}_ball"] - stance.at[f"{side}_ankle"])[::2]))
    reach = max(reach * ground.leg / float(stance.body.rig.leg_length), 1e-9)
    pitch = np.arcsin(np.clip(lifted / reach, 0.0, np.sin(MOST_PITCH)))
    flat = _framed([(arrays.cross(up, ahead), up)], [LEFT_UP], [IDENTITY])[0]
    rolled = arrays.mul(flat, arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), pitch))
    lifted = arrays.smoothstep(np.clip(lifted / (FLAT_BELOW * ground.leg), 0.0, 1.0))
    return arrays.slerp(rolled, hanging, lifted)


# --- many at once ------------------------------------------------------------------------------------------------


def _framed(parts: list[tuple[Any, Any]], kinds: list[int], own: list[Any]) -> Any:
    """(N, T, 4): rotations from the stance of parts by two directions each; `own` are those of the stance, inverted."""
    first, second = (np.array(each, np.float64) for each in zip(*parts, strict=True))
    out = np.empty((*first.shape[:2], 4))
    frame_parts(first, second, np.array(kinds), np.array(own, np.float64), out)
    return out


def _on_top(above: list[Any], straight: list[Any], ways: list[Any]) -> Any:
    """(N, T, 4): rotations on top of others that point directions along ways."""
    bones, out = np.array(ways, np.float64), np.array(above, np.float64)
    point_parts(out, arrays.unit(np.array(straight, np.float64)), bones, out)
    return out
