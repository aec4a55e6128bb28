"""The joint tree of SMPL bodies, with the bones of an average person.

Names and parents are those that Loper et al. 2015 (SMPL), Romero et al. 2017 (SMPL-H) and Pavlakos et al. 2019 (SMPL-X)
publish. Bone lengths come from no model: they are the shares of stature of Drillis and Contini 1966, as Winter,
"Biomechanics and Motor Control of Human Movement", lists them. The rest pose is a T-pose, y up, looking along +z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

STATURE = 1.7
"""Metres: between the means of women and men."""

ORIGIN = {22: -0.23, 24: -0.23, 52: -0.23, 55: -0.35}
"""Metres along y from the model's origin, which `trans` moves, to the pelvis, by the number of joints."""

_MIDDLE = (
    ("pelvis", "", (0.0, 0.555, 0.0)),
    ("spine1", "pelvis", (0.0, 0.62, -0.01)),
    ("spine2", "spine1", (0.0, 0.69, -0.01)),
    ("spine3", "spine2", (0.0, 0.73, 0.0)),
    ("neck", "spine3", (0.0, 0.85, -0.015)),
    ("head", "neck", (0.0, 0.9, 0.0)),
)
"""Name, parent, and position in shares of stature; heights of hip, knee, ankle and shoulder are the source's."""

_LEFT = (
    ("hip", "pelvis", (0.05, 0.53, 0.0)),
    ("knee", "hip", (0.05, 0.285, 0.0)),
    ("ankle", "knee", (0.05, 0.039, -0.012)),
    ("foot", "ankle", (0.055, 0.008, 0.065)),
    ("collar", "spine3", (0.045, 0.815, -0.01)),
    ("shoulder", "collar", (0.115, 0.818, -0.015)),
    ("elbow", "shoulder", (0.301, 0.818, -0.02)),
    ("wrist", "elbow", (0.447, 0.818, -0.015)),
    ("hand", "wrist", (0.5, 0.815, -0.01)),
)

_FINGERS = {
    "index": (0.503, 0.816, 0.0),
    "middle": (0.506, 0.817, -0.014),
    "pinky": (0.495, 0.812, -0.038),
    "ring": (0.501, 0.815, -0.027),
    "thumb": (0.465, 0.808, 0.004),
}
"""Where the first joint of each finger is; the others follow at the lengths of phalanges, straight on."""

_PHALANX = {"thumb": (0.013, -0.004, 0.012)}
_OTHER_PHALANX = (0.017, 0.0, 0.0)

_FACE = (
    ("jaw", "head", (0.0, 0.9, 0.01)),
    ("left_eye_smplhf", "head", (0.018, 0.935, 0.045)),
    ("right_eye_smplhf", "head", (-0.018, 0.935, 0.045)),
)

_ORDER = (
    *("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle"),
    *("spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder"),
    *("right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist"),
)
"""The 22 joints that all bodies begin with."""


def names(count: int) -> tuple[str, ...]:
    """Return the joints of a body with 22, 24, 52 or 55 of them, in the order of their rotations."""
    if count == 22:
        return _ORDER
    if count == 24:
        return (*_ORDER, "left_hand", "right_hand")
    fingers = [f"{side}_{finger}{k}" for side in ("left", "right") for finger in _FINGERS for k in (1, 2, 3)]
    return (*_ORDER, *(name for name, _, _ in _FACE if count == 55), *fingers)


def skeleton(count: int) -> Skeleton:
    """Return the average person with so many joints, standing on y = 0."""
    parent, at = _tree()
    known = names(count)
    index = {name: i for i, name in enumerate(known)}
    parents = [index.get(parent[name], -1) for name in known]
    places = np.array([at[name] for name in known]) * STATURE
    offsets = places - np.where(np.array(parents)[:, np.newaxis] < 0, 0.0, places[parents])
    return Skeleton(known, parents, Pose(offsets, np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))))


def _tree() -> tuple[dict[str, str], dict[str, Any]]:
    """Return the parent and the position of every joint there is."""
    parent = {name: above for name, above, _ in (*_MIDDLE, *_FACE)}
    at = {name: np.array(place) for name, _, place in (*_MIDDLE, *_FACE)}
    middle = set(at)
    for side, mirror in (("left", 1.0), ("right", -1.0)):
        across = np.array((mirror, 1.0, 1.0))
        for name, above, place in _LEFT:
            parent[f"{side}_{name}"] = above if above in middle else f"{side}_{above}"
            at[f"{side}_{name}"] = np.array(place) * across
        for finger, first in _FINGERS.items():
            above = f"{side}_wrist"
            for k in range(3):
                name = f"{side}_{finger}{k + 1}"
                parent[name] = above
                at[name] = (np.array(first) + k * np.array(_PHALANX.get(finger, _OTHER_PHALANX))) * across
                above = name
    return parent, at
