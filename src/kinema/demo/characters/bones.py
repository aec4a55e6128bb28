"""Bones as an artist lays them out, and the skeleton that they make."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.limits import Hinge, Limit, SwingTwist
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Bone:
    """A bone at rest, in metres in the character's space.

    Its joint is at the start; the joint's +Y runs along the bone, and its +Z leans towards `facing`.
    """

    name: str
    parent: str | None
    start: Point
    end: Point
    facing: Point = (0.0, 0.0, 1.0)
    limit: Limit | None = None

    @property
    def axes(self) -> Any:
        """(3, 3): the joint's axes as columns, in the character's space."""
        along = arrays.unit(np.subtract(self.end, self.start))
        ahead = np.array(self.facing, float)
        ahead = arrays.unit(ahead - along * (ahead @ along))
        return np.column_stack((np.cross(along, ahead), along, ahead))


def socket(swing: float, twist: float) -> Limit:
    """Make the limit of a ball joint: largest swing, and largest twist about the bone either way, degrees."""
    return SwingTwist(math.radians(swing), -math.radians(twist), math.radians(twist))


def hinge(low: float, high: float) -> Limit:
    """Make the limit of a joint that rotates about its +X only, degrees from rest."""
    return Hinge((1.0, 0.0, 0.0), math.radians(low), math.radians(high))


def build(bones: Sequence[Bone]) -> Skeleton:
    """Make a skeleton, float32, whose rest pose is how the bones lie. Parents come before their children."""
    names = [bone.name for bone in bones]
    parents = [-1 if bone.parent is None else names.index(bone.parent) for bone in bones]
    world_rotations = arrays.from_matrix(np.array([bone.axes for bone in bones]))
    starts = np.array([bone.start for bone in bones], float)
    translations, rotations = starts.copy(), world_rotations.copy()
    for j, parent in enumerate(parents):
        if parent >= 0:
            back = arrays.conj(world_rotations[parent])
            translations[j] = arrays.rotate(back, starts[j] - starts[parent])
            rotations[j] = arrays.mul(back, world_rotations[j])
    rest = Pose(translations.astype(np.float32), rotations.astype(np.float32))
    return Skeleton(names, parents, rest, [bone.limit for bone in bones])


def mirrored(bones: Sequence[Bone]) -> list[Bone]:
    """Mirror bones at x = 0; names that end in _l end in _r.

    A joint's +Y and +Z are mirrored and its +X is opposite, so a hinge about +X bends the same way. Limits are kept:
    ranges of twist must be symmetric.
    """
    return [
        Bone(_other_side(b.name), _other_side(b.parent), _across(b.start), _across(b.end), _across(b.facing), b.limit)
        for b in bones
    ]


def _other_side(name: Any) -> Any:
    return name[:-2] + "_r" if name and name.endswith("_l") else name


def _across(point: Point) -> Point:
    return (-point[0], point[1], point[2])
