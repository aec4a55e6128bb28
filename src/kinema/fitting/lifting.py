"""Depth of points that one camera shows in the plane, from how long their bones are: a rougher mode.

A bone that looks shorter than it is points towards the camera or away from it. Which of the two is decided for each
limb over the whole take (Viterbi): knees and elbows bend one way, and bones move little from frame to frame. How far
away a person is goes by how large the trunk and the limbs look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kinema import validation
from kinema.fitting.gaps import CARRIERS, TRUNK
from kinema.fitting.layouts import SIDES
from kinema.math.smoothing import smooth_gaussian

FIELD_OF_VIEW = math.radians(60.0)
"""Of a camera of which nothing is known, along the longer side of its picture."""

LARGEST_QUANTILE = 0.9
"""Quantile of the lengths of bones in the picture at which they are not shortened."""

CHANGE, KNEES, ELBOWS = 30.0, 0.6, -0.3
"""Cost of the squared way of a limb's joints from frame to frame, limb lengths; of a shin that goes ahead of its thigh;
and of a forearm that goes behind its upper arm, which shoulders allow more of."""

UNDER = 3.0
"""Cost of the squared distance in depth between both ends of a limb, limb lengths: people stand over their feet, and
arms hang."""

SIDEWAYS = 0.1
"""Shoulder widths by which nose and toes are to one side, together, of a body that surely faces there."""

SIGNS = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
"""Ways in which the two bones of a limb go away from the camera."""

STEADY = 0.15
"""Seconds, deviation, over which the distance from the camera is smoothed."""

CHAINS = tuple(
    (f"{side}_{a}", f"{side}_{b}", f"{side}_{c}")
    for side in SIDES
    for a, b, c in (("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"))
)


@dataclass(frozen=True)
class Camera:
    """The camera that saw points in the plane.

    Parameters
    ----------
    width, height
        Of the picture, in the unit of the points: pixels, or 1 for points from 0 to 1.
    field_of_view
        Radians along the longer side.

    Examples
    --------
    >>> km.Camera(1280, 720, field_of_view=1.1).width
    1280.0
    """

    width: float
    height: float
    field_of_view: float = FIELD_OF_VIEW

    def __post_init__(self) -> None:
        for name, low, high in (("width", 1e-6, 1e9), ("height", 1e-6, 1e9), ("field_of_view", 0.02, 3.0)):
            object.__setattr__(self, name, validation.number(name, getattr(self, name), low, high))

    @property
    def focal_length(self) -> float:
        """In the unit of the points."""
        return 0.5 * max(self.width, self.height) / math.tan(0.5 * self.field_of_view)


def lift(points: Any, columns: Mapping[str, int], lengths: Mapping[Any, float], camera: Camera, fps: float) -> Any:
    """Return points in space, (T, K, 3): x right, y down, z away from the camera, in the unit of the lengths.

    points: (T, K, 2), without gaps. lengths: of the bones of limbs, of ("left_shoulder", "right_shoulder"),
    ("left_hip", "right_hip") and ("pelvis", "shoulders").
    """
    rays = (points - (0.5 * camera.width, 0.5 * camera.height)) / camera.focal_length
    at = {role: rays[:, column] for role, column in columns.items()}
    distance = _distance(at, lengths, fps)
    flat = np.concatenate((rays * distance[:, np.newaxis, np.newaxis], np.zeros((*rays.shape[:2], 1))), axis=-1)
    width = lengths["left_shoulder", "right_shoulder"]
    side = _faces(flat, columns, width, fps)
    _lift_trunk(flat, columns, lengths, side)
    across = flat[:, columns["left_shoulder"]] - flat[:, columns["right_shoulder"]]
    ahead = np.stack((across[:, 2], np.zeros(len(flat)), -across[:, 0]), axis=-1) / width
    for chain in CHAINS:
        if all(role in columns for role in chain):
            own = [lengths[pair] for pair in pairwise(chain)]
            _lift_chain(flat, [columns[role] for role in chain], own, ahead, KNEES if "hip" in chain[0] else ELBOWS)
    _carry_rest(flat, columns)
    depth = flat[..., 2] + distance[:, np.newaxis]
    return np.concatenate((rays * depth[..., np.newaxis], depth[..., np.newaxis]), axis=-1)


def _distance(at: Mapping[str, Any], lengths: Mapping[Any, float], fps: float) -> Any:
    """(T,): how far the trunk is: the bone that looks longest, for its length, is the one that is shortened least."""
    pairs = [pair for pair in lengths if pair[0] in at and pair[1] in at]
    sizes = np.stack([np.linalg.norm(at[b] - at[a], axis=-1) / lengths[a, b] for a, b in pairs], axis=1)
    middle = [0.5 * (at[f"left_{name}"] + at[f"right_{name}"]) for name in ("hip", "shoulder")]
    trunk = np.linalg.norm(middle[1] - middle[0], axis=-1) / lengths["pelvis", "shoulders"]
    sizes = np.concatenate((sizes, trunk[:, np.newaxis]), axis=1)
    size = np.quantile(sizes, LARGEST_QUANTILE, axis=1)
    size = np.maximum(size, 1e-3 * max(float(size.max()), 1e-9))
    return smooth_gaussian((1.0 / size)[:, np.newaxis], STEADY * fps, "edge")[:, 0] if len(size) > 3 else 1.0 / size


def _shortened(way: Any, length: float) -> Any:
    """(T,): how deep a bone goes that looks like this, (T, 2)."""
    return np.sqrt(np.maximum(length**2 - (way**2).sum(-1), 0.0))


def _lift_trunk(flat: Any, columns: Mapping[str, int], lengths: Mapping[Any, float], side: Any) -> None:
    """Give hips and shoulders their depth. side: (T,), -1 to 1: how far the body faces the right of the picture; then
    its left side is farther away.
    """
    for name in ("shoulder", "hip"):
        left, right = columns[f"left_{name}"], columns[f"right_{name}"]
        deep = 0.5 * side * _shortened(flat[:, left, :2] - flat[:, right, :2], lengths[f"left_{name}", f"right_{name}"])
        flat[:, left, 2], flat[:, right, 2] = deep, -deep


def _faces(flat: Any, columns: Mapping[str, int], width: float, fps: float) -> Any:
    """(T,): how far a body faces the right of the picture, -1 to 1, by its nose and its feet."""
    shown = np.zeros(len(flat))
    if "nose" in columns:
        chest = 0.5 * (flat[:, columns["left_shoulder"], 0] + flat[:, columns["right_shoulder"], 0])
        shown = flat[:, columns["nose"], 0] - chest
    for side in SIDES:
        start = columns.get(f"{side}_heel", columns.get(f"{side}_ankle"))
        tip = columns.get(f"{side}_toe", columns.get(f"{side}_ball"))
        if start is not None and tip is not None:
            shown = shown + 0.5 * (flat[:, tip, 0] - flat[:, start, 0])
    if len(shown) > 3:
        shown = smooth_gaussian(shown[:, np.newaxis], STEADY * fps, "edge")[:, 0]
    return np.clip(shown / (SIDEWAYS * width), -1.0, 1.0)


def _lift_chain(flat: Any, columns: Sequence[int], lengths: Sequence[float], ahead: Any, bends: float) -> None:
    """Give both bones of a limb their depth. ahead: (T, 3), of the body. bends: the cost of a lower bone that goes
    ahead of the upper one; below 0: of one that goes behind it.
    """
    ways = [flat[:, b, :2] - flat[:, a, :2] for a, b in pairwise(columns)]
    upper, lower = (
        _shortened(way, length)[:, np.newaxis] * SIGNS[:, k]
        for k, (way, length) in enumerate(zip(ways, lengths, strict=True))
    )
    ends = np.stack((upper, upper + lower), axis=-1) / sum(lengths)
    level = (ways[1] / lengths[1] - ways[0] / lengths[0]) @ (1.0, 0.0) * ahead[:, 0]
    bend = level[:, np.newaxis] + (lower / lengths[1] - upper / lengths[0]) * ahead[:, 2:]
    state = cheapest_way(np.maximum(bends * bend, 0.0) + UNDER * ends[..., 1] ** 2, ends)
    at = np.arange(len(flat))
    flat[:, columns[1:], 2] = flat[:, columns[:1], 2] + ends[at, state] * sum(lengths)


def cheapest_way(cost: Any, ends: Any) -> Any:
    """Return the states, (T,), whose cost, (T, S), and whose squared ways from frame to frame, of ends, (T, S, n), are
    least together.
    """
    total, back = cost[0].copy(), np.zeros(cost.shape, np.int64)
    for t in range(1, len(cost)):
        way = ends[t][:, np.newaxis] - ends[t - 1][np.newaxis]
        both = CHANGE * (way**2).sum(-1) + total
        back[t] = both.argmin(axis=1)
        total = both.min(axis=1) + cost[t]
    states = np.empty(len(cost), np.int64)
    states[-1] = total.argmin()
    for t in range(len(cost) - 1, 0, -1):
        states[t - 1] = back[t, states[t]]
    return states


def _carry_rest(flat: Any, columns: Mapping[str, int]) -> None:
    """Put all other points as deep as what they hang on."""
    chest = 0.5 * (flat[:, columns["left_shoulder"], 2] + flat[:, columns["right_shoulder"], 2])
    placed = {role for chain in CHAINS if all(each in columns for each in chain) for role in chain} | set(TRUNK)
    for role, column in columns.items():
        if role not in placed:
            carrier = CARRIERS.get(role, "")
            flat[:, column, 2] = flat[:, columns[carrier], 2] if carrier in columns else chest
