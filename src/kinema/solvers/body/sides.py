"""Elbows and knees keep their side: which way the middle joints of limbs bend."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.math import arrays
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton

CLEARLY_BENT = math.radians(3.0)
"""Bend at rest from which it says which way a limb bends. A straighter one bends as a person's: elbows back, knees
ahead."""


class Side(NamedTuple):
    """Which way one joint bends."""

    joint: int
    lower: NDArray[np.float64]
    """(3,): the direction of the limb below it, in its own space."""
    side: NDArray[np.float64]
    """(3,): where that goes as the limb bends, across the limb above it, in the space of its parent."""


def find_sides(skeleton: Skeleton, rig: Rig | None) -> list[Side]:
    """The sides of all elbows and knees of a rig."""
    if rig is None:
        return []
    ahead = np.array(rig.forward, np.float64)
    limbs = [(arm.joints, ahead) for arm in rig.arms] + [(leg.joints, -ahead) for leg in rig.legs]
    return [side for joints, way in limbs for side in _of_limb(skeleton, [int(j) for j in joints], way)]


def _of_limb(skeleton: Skeleton, joints: list[int], straight: Any) -> Iterator[Side]:
    """The sides of a limb's middle joints. straight: where the lower part of one that is straight at rest goes."""
    world = skeleton.rest_world.astype(np.float64)
    for before, joint, after in zip(joints, joints[1:], joints[2:], strict=False):
        parent = int(skeleton.parents[joint])
        frame = world[parent, :3, :3]
        if parent < 0 or abs(np.linalg.det(frame)) == 0.0:
            continue
        into = np.linalg.inv(frame)
        upper = _unit(into @ (world[joint, :3, 3] - world[before, :3, 3]))
        below = _unit(into @ (world[after, :3, 3] - world[joint, :3, 3]))
        across = below - upper * (upper @ below)
        if len(joints) == 3 and math.atan2(float(np.linalg.norm(across)), float(upper @ below)) < CLEARLY_BENT:
            way = _unit(into @ straight)
            across = way - upper * (upper @ way)
        if np.linalg.norm(across) < math.sin(CLEARLY_BENT):
            continue
        rotation = skeleton.rest.rotations[joint].astype(np.float64)
        yield Side(joint, arrays.rotate(arrays.conj(rotation), below), _unit(across))


def _unit(v: Any) -> Any:
    size = np.linalg.norm(v)
    return v / size if size > 0 else v
