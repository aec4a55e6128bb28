"""The parts of a robot, and the character that they make: a joint for each link, limited by what moves it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io import names
from kinema.io.robot.shapes import Shape, skin_of
from kinema.io.source import Source
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.limits import Hinge, Limit, Slider
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

MOST_PARTS = 4_096
"""As in other formats: a skeleton keeps a table of joints by joints."""

_FULL = 2.0 * math.pi
"""Radians beyond which the range of a hinge says nothing."""

NO_ROTATION = (0.0, 0.0, 0.0, 1.0)
RIGID = Hinge((0.0, 0.0, 1.0), 0.0, 0.0)
"""The limit of a link that is fixed to the one above."""


@dataclass(frozen=True)
class Mimic:
    """A joint whose value follows that of another one: multiplier times it, plus offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(eq=False, kw_only=True)
class RobotSource(Source):
    """What a robot's file says beside its skeleton. Joints are those of the file, by name."""

    in_metres: bool = True
    joints: dict[str, str] = field(default_factory=dict)
    """{joint of the skeleton: joint of the file} of all that move, in the file's order."""
    at_rest: dict[str, float] = field(default_factory=dict)
    """Value of a joint at rest, where that is not 0."""
    velocities: dict[str, float] = field(default_factory=dict)
    """Top speed, radians or metres per second."""
    mimics: dict[str, Mimic] = field(default_factory=dict)
    """Joints that follow others. Solvers move them on their own; written values follow."""


@dataclass
class Part:
    """A link, and the joint that carries it."""

    name: str
    parent: int
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = NO_ROTATION
    """(4,): x, y, z, w, relative to the parent."""
    limit: Limit | None = RIGID
    joint: str = ""
    """Name of the joint in the file; empty if it does not move by itself."""
    at_rest: float = 0.0
    velocity: float = math.inf
    shapes: list[Shape] = field(default_factory=list)


def moving(kind: str, axis: Any, low: float, high: float) -> Limit:
    """Return the limit of a hinge or a slider. A range in the wrong order is sorted."""
    axis = np.asarray(axis, np.float64)
    axis = axis / np.abs(axis).max()  # However short: the square of 1e-200 would be 0.
    axis /= np.linalg.norm(axis)
    low, high = min(low, high), max(low, high)
    if kind == "slider":
        return Slider(axis, low, high)
    return Hinge(axis, max(low, -_FULL), min(high, _FULL))


def character(parts: list[Part], file: str, source: RobotSource, drawn: bool) -> Character:
    """Make the character of some parts, parents before children. drawn: whether their shapes are complete."""
    if not 0 < len(parts) <= MOST_PARTS:
        raise FileError(f"the robot has {len(parts):,} parts; allowed are 1 to {MOST_PARTS:,}", file)
    known = names.unique([names.readable(part.name) for part in parts])
    positions = np.array([part.position for part in parts], np.float64)
    rotations = arrays.unit(np.array([part.rotation for part in parts], np.float64))
    limits = [part.limit for part in parts]
    limits[0] = parts[0].limit if _stands(parts) else None
    skeleton = Skeleton(known, [part.parent for part in parts], Pose(positions, rotations), limits)
    for name, part in zip(known, parts, strict=True):
        if part.joint:
            source.joints[name] = part.joint
            if part.at_rest:
                source.at_rest[part.joint] = part.at_rest
            if math.isfinite(part.velocity) and part.velocity > 0.0:
                source.velocities[part.joint] = part.velocity
    skin = skin_of(skeleton, [part.shapes for part in parts]) if drawn else None
    return Character(skeleton, {}, None, [] if skin is None else [skin], file.rpartition(".")[0] or file, source)


def _stands(parts: list[Part]) -> bool:
    """Whether the first link cannot rotate: something below it is free, or one chain hangs on it, as on an arm's base.

    Several chains are legs or wheels: the base moves, as it does on two sliders without a shape, which stand for that.
    """
    if any(part.limit is None for part in parts[1:]):
        return True
    rigid, moved = {0}, list[int]()
    for i, part in enumerate(parts[1:], 1):
        if part.parent in rigid:
            still = isinstance(part.limit, Hinge | Slider) and part.limit.low == part.limit.high
            rigid.update([i] if still else [])
            moved += [] if still else [i]
    if len(moved) != 1:
        return False
    below = [part for part in parts if part.parent == moved[0]]
    row = [parts[moved[0]], *below]
    return len(below) != 1 or any(part.shapes or not isinstance(part.limit, Slider) for part in row)
