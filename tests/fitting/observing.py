"""Points that a detector or a marker system would see of a take, by plain forward kinematics.

Nothing of the product's geometry is used: only a rig says which joint is what. Where heads and feet have no joints, the
points lie where they do on people, by anthropometry.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.retargeting.variants import matrix_of

LEG = 0.86
"""Metres from hip to ankle of every body here, whatever the unit of its file."""

FACE = {
    "nose": (0.0, 0.045, 0.118),
    "left_eye_inner": (0.017, 0.088, 0.086),
    "left_eye": (0.032, 0.09, 0.082),
    "left_eye_outer": (0.046, 0.089, 0.074),
    "left_ear": (0.074, 0.072, -0.004),
    "mouth_left": (0.026, 0.01, 0.092),
    "head_top": (0.0, 0.205, 0.0),
}
"""Metres from the top of the neck: left, up, ahead."""

FOOT = {"heel": (0.0, -0.068, -0.052), "toe": (0.015, -0.072, 0.165), "small_toe": (0.058, -0.076, 0.12)}
"""Metres from the ankle: outwards, up, ahead."""

HAND = {
    "index": (0.092, 0.0, 0.026),
    "little": (0.08, 0.0, -0.035),
    "thumb": (0.05, -0.01, 0.05),
    "hand": (0.085, 0.0, 0.0),
}
"""Metres from the wrist: along the forearm, up and ahead in the T-pose."""

SIDES = ("left", "right")


def both(*names: str) -> list[str]:
    return [f"{side}_{name}" for name in names for side in SIDES]


ORDERS: dict[str, list[str]] = {
    "coco17": ["nose", *both("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")],
    "h36m17": [
        *("pelvis", "right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle", "spine", "neck"),
        *("nose", "head_top", "left_shoulder", "left_elbow", "left_wrist", "right_shoulder", "right_elbow"),
        "right_wrist",
    ],
    "mediapipe33": [
        *("nose", "left_eye_inner", "left_eye", "left_eye_outer", "right_eye_inner", "right_eye", "right_eye_outer"),
        *("left_ear", "right_ear", "mouth_left", "mouth_right"),
        *both("shoulder", "elbow", "wrist", "little", "index", "thumb", "hip", "knee", "ankle", "heel", "toe"),
    ],
    "smpl24": [
        *("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle"),
        *("right_ankle", "spine3", "left_ball", "right_ball", "neck", "left_collar", "right_collar", "head"),
        *both("shoulder", "elbow", "wrist", "hand"),
    ],
}


@dataclass(frozen=True, eq=False)
class Truth:
    """A take as it really was, metres, left, up and ahead."""

    points: dict[str, Any]
    """(F, 3) by name."""
    rotations: Any
    """(F, J, 3, 3): of all joints."""
    at: Any
    """(F, J, 3): of all joints."""
    fps: float
    joints: dict[str, int]
    """Of limbs, by name."""
    soles: Any
    """(F, L, 3, 3): heel, ball and tip of each leg."""
    floor: float


def world_of(character: Any, poses: Any) -> tuple[Any, Any]:
    """Rotations (F, J, 3, 3), scales within, and positions (F, J, 3), with plain matrices."""
    parents, count = character.skeleton.parents, len(poses.rotations)
    turn, at = np.empty((count, len(parents), 3, 3)), np.empty((count, len(parents), 3))
    for j, p in enumerate(parents):
        own = matrix_of(poses.rotations[:, j]) * poses.scales[:, j, np.newaxis]
        way = poses.translations[:, j].astype(float)
        turn[:, j] = own if p < 0 else turn[:, p] @ own
        at[:, j] = way if p < 0 else at[:, p] + np.einsum("frc,fc->fr", turn[:, p], way)
    return turn, at


def truth_of(character: Any, poses: Any, fps: float) -> Truth:
    """Compute every point of every layout for the frames of a take."""
    rig = character.rig
    up, ahead = np.array(rig.up), np.array(rig.forward)
    axes = np.stack((np.cross(up, ahead), up, ahead), -1)
    turn, at = world_of(character, poses)
    full = turn
    turn = turn / np.linalg.norm(turn, axis=-2, keepdims=True)
    rest = rig.standing_world[:, :3, :3].astype(float)
    rest = rest / np.linalg.norm(rest, axis=-2, keepdims=True)
    at_rest = rig.standing_world[:, :3, 3] @ axes
    size = LEG / rig.leg_length

    def carried(joint: Any, offset: Any) -> Any:
        """A point that a joint carries, by its offset in the stance, in metres."""
        own = rest[int(joint)].T @ (axes @ np.array(offset)) / size
        return at[:, int(joint)] + turn[:, int(joint)] @ own

    found = {
        f"{limb.name}_{name}": at[:, int(joint)]
        for limbs, names in ((rig.legs, ("hip", "knee", "ankle")), (rig.arms, ("shoulder", "elbow", "wrist")))
        for limb in limbs
        for name, joint in zip(names, limb.joints, strict=True)
    }
    for name, offset in FACE.items():
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            theirs = name.replace("left", side)
            found[theirs] = carried(rig.head, np.array(offset) * (sign, 1.0, 1.0))
    for leg in rig.legs:
        sign, ankle = (1.0 if leg.name == "left" else -1.0), int(leg.joints[-1])
        flat = np.array((0.0, 0.0, 1.0))
        if leg.toe is not None:
            flat = (at_rest[int(leg.toe)] - at_rest[ankle]) * (1.0, 0.0, 1.0)
            flat = flat / np.linalg.norm(flat)
            found[f"{leg.name}_ball"] = at[:, int(leg.toe)]
        out = np.array((flat[2], 0.0, -flat[0])) * sign
        for name, (side, height, along) in FOOT.items():
            found[f"{leg.name}_{name}"] = carried(ankle, out * side + (0.0, height, 0.0) + flat * along)
        found.setdefault(f"{leg.name}_ball", found[f"{leg.name}_toe"])
    for arm in rig.arms:
        hand, before = int(arm.joints[-1]), int(arm.joints[-2])
        along = at_rest[hand] - at_rest[before]
        along = along / np.linalg.norm(along)
        front = np.array((0.0, 0.0, 1.0)) - along * along[2]
        front = front / np.linalg.norm(front)
        high = np.cross(front, along) * (1.0 if arm.name == "left" else -1.0)
        for name, (far, height, side) in HAND.items():
            found[f"{arm.name}_{name}"] = carried(hand, along * far + high * height + front * side)
        found[f"{arm.name}_collar"] = (
            found[f"{arm.name}_shoulder"] if arm.shoulder is None else at[:, int(arm.shoulder)]
        )
    found["pelvis"] = 0.5 * (found["left_hip"] + found["right_hip"])
    neck = int(rig.neck[0]) if rig.neck else int(rig.head)
    found["neck"], found["head"] = at[:, neck], at[:, int(rig.head)]
    trunk = [found["pelvis"], *(at[:, int(joint)] for joint in rig.spine), found["neck"]]
    steps = np.array([0.0, *np.cumsum([np.linalg.norm(b - a, axis=-1).mean() for a, b in itertools.pairwise(trunk)])])
    for name, share in (("spine1", 0.22), ("spine2", 0.45), ("spine3", 0.58), ("spine", 0.5)):
        along = share * steps[-1]
        k = min(int(np.searchsorted(steps, along, side="right")) - 1, len(trunk) - 2)
        part = (along - steps[k]) / (steps[k + 1] - steps[k])
        found[name] = trunk[k] * (1 - part) + trunk[k + 1] * part
    points = {name: value @ axes * size for name, value in found.items()}
    limbs = {
        f"{limb.name}_{name}": int(joint)
        for some, names in ((rig.legs, ("hip", "knee", "ankle")), (rig.arms, ("shoulder", "elbow", "wrist")))
        for limb in some
        for name, joint in zip(names, limb.joints, strict=True)
    }
    soles = []
    for leg in rig.legs:
        joints, offsets = rig.sole_points(leg)
        soles.append([at[:, j] + full[:, j] @ offset for j, offset in zip(joints, offsets, strict=True)])
    return Truth(
        points,
        np.einsum("ra,fjrc->fjac", axes, turn),
        at @ axes * size,
        fps,
        limbs,
        np.moveaxis(np.array(soles), 2, 0) @ axes * size,
        rig.floor * size,
    )


@dataclass(frozen=True)
class Noise:
    """What a detector gets wrong."""

    deviation: float = 0.01
    """Metres, in each axis."""
    missing: float = 0.05
    """Share of the points that are not seen, half of them in gaps of 0.2 s."""
    depth: float | None = None
    """Metres along the view; default: as the others."""
    swapped: float = 0.0
    """Share of the frames in which left and right are swapped, in stretches of up to 6 frames."""
    lost_arm: float = 0.0
    """Seconds in the middle in which one arm is not seen."""
    drift: float = 0.0
    """Share of the noise that changes slowly (half a second), as that of detectors does."""


def observe(truth: Truth, layout: str, noise: Noise, seed: int) -> tuple[Any, Any]:
    """Return the points of a layout with noise, (F, K, 3), NaN where missing, and in which frames sides are swapped."""
    rng = np.random.default_rng(seed)
    names = ORDERS[layout]
    points = np.stack([truth.points[name] for name in names], 1)
    frames, count = points.shape[:2]
    deviations = np.full(3, noise.deviation)
    if noise.depth is not None:
        deviations[2] = noise.depth
    white = rng.normal(size=points.shape)
    if noise.drift:
        slow = rng.normal(size=points.shape)
        keep = np.exp(-1.0 / (0.5 * truth.fps))
        for f in range(1, frames):
            slow[f] = keep * slow[f - 1] + np.sqrt(1 - keep * keep) * slow[f]
        white = np.sqrt(1 - noise.drift) * white + np.sqrt(noise.drift) * slow
    points = points + white * deviations
    gone = rng.random((frames, count)) < 0.5 * noise.missing
    gap = max(round(0.2 * truth.fps), 1)
    for k in range(count):
        for start in np.flatnonzero(rng.random(frames) < 0.5 * noise.missing / gap):
            gone[start : start + gap, k] = True
    swapped = np.zeros(frames, bool)
    while swapped.mean() < noise.swapped:
        start = int(rng.integers(1, frames))
        swapped[start : start + int(rng.integers(1, 7))] = True
    others = [names.index(other_side(name)) for name in names]
    points[swapped] = points[swapped][:, others]
    if noise.lost_arm:
        middle, half = frames // 2, round(0.5 * noise.lost_arm * truth.fps)
        arm = [
            names.index(f"left_{name}")
            for name in ("elbow", "wrist", "hand", "index", "little", "thumb")
            if f"left_{name}" in names
        ]
        gone[np.ix_(np.arange(middle - half, middle + half), arm)] = True
    points[gone] = np.nan
    return points, swapped


def other_side(name: str) -> str:
    return "_".join({"left": "right", "right": "left"}.get(word, word) for word in name.split("_"))
