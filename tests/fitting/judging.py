"""How well a fitted clip shows what a body really did, from joints alone, with plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fitting.observing import LEG, SIDES, Truth, truth_of

JOINTS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
BONES = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))
LOW, SLOW = 0.02, 0.1
"""Metres above its lowest and metres a second up to which a point of a foot stands."""

BENT = 0.35
"""Sine of the bend of a limb from which on its twist shows: 20 degrees."""


def judge(truth: Truth, character: Any, poses: Any, *, same: bool) -> dict[str, float]:
    """Return figures of poses at the moments of a truth. Angles are degrees, lengths are centimetres of a person.

    same: the character is the body of the truth.
    """
    seen = truth_of(character, poses, truth.fps)
    found: dict[str, Any] = {}
    if same:
        ways = [seen.points[f"{s}_{j}"] - truth.points[f"{s}_{j}"] for s in SIDES for j in JOINTS]
        found["positions"] = np.linalg.norm(ways, axis=-1).mean() * 100
        found |= twists(truth, seen)
    angles = np.array([angle(bone(truth, s, *b), bone(seen, s, *b)) for s in SIDES for b in BONES])
    found["directions"], found["directions_p95"] = angles.mean(), np.quantile(angles, 0.95)
    found["jerk"] = jerk(seen) / max(jerk(truth), 1e-9)
    found["trunk"] = angle(trunk(truth), trunk(seen)).mean() if same else leaning(truth, seen)
    found["shoulders"] = angle(across(truth, "shoulder"), across(seen, "shoulder")).mean()
    found["heading"] = angle(across(truth, "hip") * (1, 0, 1), across(seen, "hip") * (1, 0, 1)).mean()
    found["head"] = turned(truth, seen, character.rig.head) if same else np.nan
    found["feet"] = np.mean([foot_angle(truth, seen, side) for side in SIDES])
    found |= sliding(truth, seen)
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def bone(body: Truth, side: str, a: str, b: str) -> Any:
    return body.points[f"{side}_{b}"] - body.points[f"{side}_{a}"]


def trunk(body: Truth) -> Any:
    p = body.points
    return p["left_shoulder"] + p["right_shoulder"] - p["left_hip"] - p["right_hip"]


def leaning(truth: Truth, seen: Truth) -> float:
    """How far trunks lean apart, compared to how they lean in their upright moments."""
    ways = [unit(trunk(body)) for body in (truth, seen)]
    upright = np.argsort(-ways[0][:, 1])[: max(len(ways[0]) // 5, 1)]
    offset = np.degrees(np.arcsin(np.clip(ways[1][upright, 1].mean() - ways[0][upright, 1].mean(), -1, 1)))
    return float(max(angle(*ways).mean() - abs(offset), 0.0))


def across(body: Truth, name: str) -> Any:
    return body.points[f"left_{name}"] - body.points[f"right_{name}"]


def turned(truth: Truth, seen: Truth, joint: Any) -> float:
    between = np.einsum("frc,fra->fca", truth.rotations[:, int(joint)], seen.rotations[:, int(joint)])
    return float(np.degrees(np.arccos(np.clip((np.trace(between, axis1=1, axis2=2) - 1) / 2, -1, 1))).mean())


def foot_angle(truth: Truth, seen: Truth, side: str) -> float:
    """Between where the feet point, each from ankle to toes compared to how it stands flat."""
    ways = []
    for body in (truth, seen):
        way = unit(body.points[f"{side}_toe"] - body.points[f"{side}_heel"])
        ways.append(way)
    return float(angle(*ways).mean())


def jerk(body: Truth) -> float:
    ways = [unit(bone(body, s, *b)) for s in SIDES for b in BONES]
    return float(np.linalg.norm(np.diff(ways, 3, axis=1), axis=-1).mean())


def twists(truth: Truth, seen: Truth) -> dict[str, float]:
    """Twist of upper arms, forearms and thighs about themselves, where the limb is bent."""
    found = {}
    limbs = (("twist_arm", JOINTS[3:], 0), ("twist_forearm", JOINTS[3:], 1), ("twist_leg", JOINTS[:3], 0))
    for name, roles, part in limbs:
        off = []
        for side in SIDES:
            bends = []
            for body in (truth, seen):
                ways = [unit(bone(body, side, roles[k], roles[k + 1])) for k in (0, 1)]
                bends.append((np.cross(*ways), ways[part]))
            size = np.linalg.norm(bends[0][0], axis=-1)
            clear = size > BENT
            if clear.any():
                own = _rotated_axis(truth, seen, f"{side}_{roles[part]}", bends)
                off.append(own[clear])
        if off:
            found[name] = float(np.concatenate(off).mean())
    return found


def _rotated_axis(truth: Truth, seen: Truth, role: str, bends: Any) -> Any:
    """How far the real joint axis, carried by the fitted bone's rotation, is from the real one about the bone."""
    joint = truth.joints[role]
    turn = np.einsum("frc,fac->fra", seen.rotations[:, joint], truth.rotations[:, joint])
    axis, along = unit(bends[0][0]), bends[1][1]
    carried = np.einsum("frc,fc->fr", turn, axis)
    carried = carried - (carried * along).sum(-1, keepdims=True) * along
    level = axis - (axis * along).sum(-1, keepdims=True) * along
    return angle(carried, level)


def sliding(truth: Truth, seen: Truth) -> dict[str, float]:
    """Slides of heel and ball while those of the truth stand, percent of a leg: the largest of a take, the mean of all
    contacts, and the speed of all that stand, a second. How far soles are below the floor.
    """
    found = {}
    stands = standing(truth)
    for name, body in (("", seen), ("source_", truth)):
        points = body.soles[..., :2, :]
        speed = np.linalg.norm(np.gradient(points, 1 / truth.fps, axis=0)[..., [0, 2]], axis=-1)
        slides = [100 * each / LEG for each in contact_slides(points, stands)]
        found[f"{name}slide"] = max(slides, default=0.0)
        found[f"{name}slide_mean"] = float(np.mean(slides)) if slides else 0.0
        found[f"{name}skate"] = float(speed[stands].mean() / LEG * 100) if stands.any() else 0.0
    heights = seen.soles[..., 1].min(-1) - seen.floor
    return {**found, "sink": max(0.0, -float(np.quantile(heights, 0.02))) * 100}


def contact_slides(points: Any, stands: Any) -> list[float]:
    """How far heels and balls slide in each contact of three frames or more.

    points: (F, L, 2, 3). stands: (F, L, 2).
    """
    found = []
    flat, columns = points[..., ::2].reshape(len(points), -1, 2), stands.reshape(len(points), -1)
    for k in range(columns.shape[1]):
        edges = np.flatnonzero(np.diff(np.pad(columns[:, k].astype(int), 1)))
        for start, stop in edges.reshape(-1, 2):
            if stop - start >= 3:
                at = flat[start:stop, k]
                found.append(float(np.linalg.norm(at - np.median(at, 0), axis=-1).max()))
    return found


def standing(truth: Truth) -> Any:
    """(F, L, 2): which heels and balls stand: low above where they are lowest, and slow, for a tenth of a second."""
    points = truth.soles[..., :2, :]
    above = points[..., 1] - np.quantile(points[..., 1], 0.03, axis=0)
    speed = np.linalg.norm(np.gradient(points, 1 / truth.fps, axis=0)[..., [0, 2]], axis=-1)
    return (above < LOW) & (speed < SLOW)


def unit(v: Any) -> Any:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def angle(a: Any, b: Any) -> Any:
    return np.degrees(np.arccos(np.clip((unit(a) * unit(b)).sum(-1), -1.0, 1.0)))
