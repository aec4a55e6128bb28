"""Which way is up in a file of points, and how long its unit is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.fitting.layouts import SIDES
from kinema.fitting.take import Take

UPS = ("+x", "-x", "+y", "-y", "+z", "-z")
"""What `up` may be."""

CLEAR = 0.8
"""Cosine of the angle between up and where bodies point from feet to shoulders, at least, for no doubt to be left."""

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "foot": 0.3048}
"""Metres of units that files have."""

HEIGHTS = 1.3, 2.1
"""Heights of people, metres."""

OF_LEG, OF_TRUNK = 2.05, 3.4
"""Height of a person by the length of a leg from hip to ankle, and by that from the hips to the shoulders."""


@dataclass(frozen=True)
class Axes:
    """How points become left, up and ahead in metres."""

    up: str
    turn: Any
    """(3, 3): from the file's axes to canonical ones."""
    unit: float
    """Metres of the file's unit."""
    doubts: tuple[str, ...]


def find_axes(take: Take, up: str | None, unit: float | None) -> Axes:
    """Find the up axis and the unit of a take, or take what is given."""
    doubts = list[str]()
    if up is None:
        up, cosine = _up_of(take)
        if cosine < CLEAR:
            doubts.append(f"up seems to be {up}, but bodies point elsewhere most of the time (give up=, or --up)")
    if unit is None:
        height = height_of(take)
        fitting = [name for name, size in UNITS.items() if HEIGHTS[0] < height * size < HEIGHTS[1]]
        unit = UNITS[fitting[0]] if fitting else 1.75 / height
        if not fitting:
            doubts.append(
                f"the person would be {height:.3g} m, cm or mm tall: taken as 1.75 m (give unit=, or --unit, in metres)"
            )
    return Axes(up, _turn(up), unit, tuple(doubts))


def height_of(take: Take) -> float:
    """Estimate how tall a person is, in the file's unit."""
    legs = [
        _median(take, f"{side}_hip", f"{side}_knee") + _median(take, f"{side}_knee", f"{side}_ankle")
        for side in SIDES
        if {f"{side}_knee", f"{side}_ankle"} <= take.columns.keys()
    ]
    if legs and np.isfinite(legs).any():
        return float(np.nanmean(legs)) * OF_LEG
    trunks = [_median(take, f"{side}_hip", f"{side}_shoulder") for side in SIDES]
    return float(np.nanmean(trunks)) * OF_TRUNK if np.isfinite(trunks).any() else 1.0


def _median(take: Take, first: str, second: str) -> float:
    lengths = np.linalg.norm(take.at(second) - take.at(first), axis=-1)
    seen = lengths[np.isfinite(lengths)]
    return float(np.median(seen)) if seen.size and np.median(seen) > 0 else float("nan")


def _up_of(take: Take) -> tuple[str, float]:
    """The axis along which bodies point from their feet to their shoulders, and the cosine of the angle to that."""
    high = 0.5 * (take.at("left_shoulder") + take.at("right_shoulder"))
    hips = 0.5 * (take.at("left_hip") + take.at("right_hip"))
    ways = [high - hips]
    if {"left_knee", "right_knee"} <= take.columns.keys():
        ways.append(hips - 0.5 * (take.at("left_knee") + take.at("right_knee")))
    ways = [way[np.isfinite(way).all(-1)] for way in ways]
    size = [np.linalg.norm(way, axis=-1, keepdims=True) for way in ways]
    found = [
        np.median(way / np.where(each > 0, each, 1.0), axis=0) for way, each in zip(ways, size, strict=True) if len(way)
    ]
    mean = np.sum(found, axis=0) if found else np.array((0.0, 1.0, 0.0))
    mean = mean / max(float(np.linalg.norm(mean)), 1e-12)
    axis = int(np.argmax(np.abs(mean)))
    return ("+" if mean[axis] >= 0 else "-") + "xyz"[axis], float(abs(mean[axis]))


def _turn(up: str) -> Any:
    """The rotation that brings an axis up and, where the file's other axes allow it, leaves z ahead."""
    y = np.zeros(3)
    y["xyz".index(up[1])] = 1.0 if up[0] == "+" else -1.0
    z = np.array({"y": (0.0, 0.0, y[1]), "z": (0.0, -y[2], 0.0), "x": (0.0, 0.0, 1.0)}[up[1]])
    return np.stack((np.cross(y, z), y, z))
