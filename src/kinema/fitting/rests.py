"""How the parts of a stance are rotated from the canonical axes or the T-pose, by where its points are.

Rotations that points show are compared to these: a body in its stance has none.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinema.fitting.layouts import LIMBS
from kinema.math import arrays

BENT_STANCE = 0.1, 0.3
"""Sines of the bend of a limb in the stance from which on it begins to show the axis of its joint, and fully does."""

NOSE_TO_TOP = (0.0, 0.16, -0.12)
"""Metres from the nose to the top of the head, left, up and ahead."""

T_POSE = {
    "left_arm": ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    "right_arm": ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "left_leg": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
    "right_leg": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
}
"""Where limbs point in the T-pose, and the axes about which elbows and knees bend: from the upper to the lower bone."""

IDENTITY = np.array((0.0, 0.0, 0.0, 1.0))


def trunk_lines(points: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The lines of hips and shoulders, from right to left, and the trunk from between these to between those."""
    hips, shoulders = (points[f"left_{name}"] - points[f"right_{name}"] for name in ("hip", "shoulder"))
    middles = [0.5 * (points[f"left_{name}"] + points[f"right_{name}"]) for name in ("hip", "shoulder")]
    return hips, shoulders, middles[1] - middles[0]


def trunk_rests(still: Mapping[str, Any]) -> list[Any]:
    """(4,) each: inverse rotations of the pelvis upright and leaning as the trunk, and of the chest, in a stance."""
    hips, shoulders, trunk = trunk_lines(still)
    return [
        arrays.conj(frame(*each)) for each in ((hips, np.array((0.0, 1.0, 0.0))), (hips, trunk), (shoulders, trunk))
    ]


def limb_rests(still: Mapping[str, Any], hinges: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Rotations of both bones of limbs from the T-pose in a stance, (4,) each, by "left_arm" and so on."""
    found = {}
    for name, roles in LIMBS.items():
        straight, axis = (np.array(each) for each in T_POSE[name])
        own = [still[b] - still[a] for a, b in itertools.pairwise(roles)]
        first = _point(IDENTITY, straight, own[0])
        bend, sine = _bend(*own)
        share = float(np.clip((sine - BENT_STANCE[0]) / (BENT_STANCE[1] - BENT_STANCE[0]), 0.0, 1.0))
        if name in hinges:
            bend, share = hinges[name], 1.0
        turn = arrays.from_axis_angle(arrays.unit(own[0]), _angle(arrays.rotate(first, axis), bend, own[0]) * share)
        first = arrays.mul(turn, first)
        found[name] = first, _point(first, straight, own[1])
    return found


def hand_rest(palm: Any, side: str, forearm: Any) -> Any:
    """(4,): the inverse rotation of a hand in the stance, as its knuckles or else its forearm show it."""
    if palm is None:
        return arrays.conj(forearm)
    x = T_POSE[f"{side}_arm"][0][0] * arrays.unit(palm[0])
    return arrays.conj(of_axes(x, arrays.unit(palm[1] - x * (palm[1] * x).sum())))


def _bend(upper: Any, lower: Any) -> tuple[Any, Any]:
    """The axis of the bend between two bones, (3,), and its sine."""
    axis = arrays.cross(arrays.unit(upper), arrays.unit(lower))
    return arrays.unit(axis), np.linalg.norm(axis, axis=-1)


def _angle(start: Any, end: Any, about: Any) -> Any:
    """The angle from one direction to another about a bone."""
    axis = arrays.unit(about)
    return np.arctan2(
        (arrays.cross(start, end) * axis).sum(-1), (start * end).sum(-1) - (start * axis).sum(-1) * (end * axis).sum(-1)
    )


def _point(rotation: Any, straight: Any, way: Any) -> Any:
    """The rotation on top of one that brings a direction of the T-pose where a bone points."""
    return arrays.mul(arrays.swing(arrays.rotate(rotation, straight), way), rotation)


def frame(left: Any, up: Any) -> Any:
    """The rotation from the canonical axes to this left axis and an up axis near this one."""
    x = arrays.unit(left)
    return of_axes(x, arrays.unit(arrays.cross(x, up)))


def of_axes(x: Any, z: Any) -> Any:
    return arrays.from_matrix(np.stack((x, arrays.cross(z, x), z), axis=-1))


NOSE_TO_TOP_REST = arrays.conj(frame(np.array((1.0, 0.0, 0.0)), np.array(NOSE_TO_TOP)))
"""The inverse rotation of a head that is upright, by its nose and its top."""
