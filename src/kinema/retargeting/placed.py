"""`Placed`: poses of a body, and where it stands in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.soles import sole_points
from kinema.retargeting.footing import Soles
from kinema.retargeting.parts import Body


@dataclass(frozen=True, eq=False)
class Placed:
    """Poses of a body, by frame, and where it stands."""

    rig: Rig
    poses: Pose
    transforms: Any
    """(F, 4, 4): of the character."""

    @cached_property
    def world(self) -> Any:
        """(F, J, 4, 4)."""
        return self.transforms[:, np.newaxis] @ self.rig.skeleton.world(self.poses)

    def soles(self, body: Body) -> Soles:
        """Where the soles are, in the canonical axes of the body."""
        ankles = [int(leg.joints[-1]) for leg in self.rig.legs]
        toes = [ankle if leg.toe is None else int(leg.toe) for ankle, leg in zip(ankles, self.rig.legs, strict=True)]
        found = [sole_points(self.rig, self.world), self.world[:, ankles][..., :3, 3], self.world[:, toes][..., :3, 3]]
        return Soles(*(points @ body.axes - (0.0, self.rig.floor, 0.0) for points in found))

    def raised(self, height: float) -> Placed:
        """Return the body higher by so many metres."""
        rig, poses = self.rig, self.poses
        hips = int(rig.hips)
        parent = int(rig.skeleton.parents[hips])
        way = np.array(rig.up) * height
        if parent >= 0:
            way = np.linalg.pinv(rig.standing_world[parent, :3, :3].astype(np.float64)) @ way
        translations = poses.translations.copy()
        translations[:, hips] += way
        return Placed(rig, Pose.of(translations, poses.rotations, poses.scales, names=poses.names), self.transforms)


def seen_from(axes: Any, rotations: Any) -> Any:
    """Rotations, (F, 4), as they are seen from axes, (F, 3, 3), which may be mirrored."""
    axes = arrays.unit(axes.swapaxes(-1, -2))
    vector = np.einsum("frc,fc->fr", axes, rotations[:, :3]) * np.sign(np.linalg.det(axes))[:, np.newaxis]
    return np.concatenate((vector, rotations[:, 3:]), axis=-1)


def rotations_of(world: Any) -> Any:
    """(F, 4): rotations of matrices, (F, 4, 4), whatever their scales and mirrors."""
    axes = arrays.unit(world[:, :3, :3].swapaxes(-1, -2)).swapaxes(-1, -2)
    return arrays.from_matrix(np.where(np.linalg.det(axes)[:, np.newaxis, np.newaxis] < 0, -axes, axes))
