"""`Placed`: poses of a body, and where it stands in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.moving import moving_world
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
    def legs(self) -> dict[int, Any]:
        """(F, 4, 4): world matrices of ankles, toes and what toes hang on, by joint."""
        rig = self.rig
        joints = {int(leg.joints[-1]) for leg in rig.legs}
        for leg in rig.legs:
            if leg.toe is not None:
                joints |= {int(leg.toe), int(rig.skeleton.parents[int(leg.toe)])}
        found = moving_world(rig.skeleton, self.poses, self.transforms, sorted(joints))
        return {joint: found[:, k] for k, joint in enumerate(sorted(joints))}

    def sole_points(self, body: Body) -> Any:
        """(F, L, 3, 3): heel, ball and tip of each sole in the world, of a body that stands in this way."""
        carriers, _ = self.rig.sole_table
        matrices = np.stack([self.legs[joint] for joint in carriers.reshape(-1).tolist()], axis=1)
        matrices = matrices.reshape(-1, *carriers.shape, 4, 4)
        return (matrices[..., :3, :3] * body.sole_offsets[..., np.newaxis, :]).sum(axis=-1) + matrices[..., :3, 3]

    def soles(self, body: Body) -> Soles:
        """Where the soles are, in the canonical axes of the body."""
        ankles = [int(leg.joints[-1]) for leg in self.rig.legs]
        toes = [ankle if leg.toe is None else int(leg.toe) for ankle, leg in zip(ankles, self.rig.legs, strict=True)]
        found = [self.sole_points(body)]
        found += [np.stack([self.legs[joint][:, :3, 3] for joint in each], axis=1) for each in (ankles, toes)]
        return Soles(*(np.einsum("...r,rc->...c", at, body.axes) - (0.0, self.rig.floor, 0.0) for at in found))

    def raised(self, height: float) -> Placed:
        """Return the body higher by so many metres."""
        return self._with_hips_moved(np.array(self.rig.up) * height)

    def hips(self, transforms: Any) -> Any:
        """(F, 3): where the hips are, if the character stands like this, (F, 4, 4)."""
        return moving_world(self.rig.skeleton, self.poses, transforms, [int(self.rig.hips)])[:, 0, :3, 3]

    def travelling(self, share: float, in_place: bool) -> Placed:
        """Return the body on its way along the ground times a share. in_place: the character moves, not its hips."""
        up, transforms = np.array(self.rig.up), self.transforms.copy()
        transforms[:, :3, 3] += (share - 1.0) * arrays.across(transforms[:, :3, 3], up)
        found = Placed(self.rig, self.poses, transforms)
        still = np.broadcast_to(np.eye(4), transforms.shape)
        return found if in_place else found._with_hips_moved((share - 1.0) * arrays.across(self.hips(still), up))

    def _with_hips_moved(self, ways: Any) -> Placed:
        """The body with its hips moved by ways, (F, 3) or (3,), in the character's space."""
        rig, poses = self.rig, self.poses
        hips = int(rig.hips)
        parent = int(rig.skeleton.parents[hips])
        if parent >= 0:
            ways = ways @ np.linalg.pinv(rig.standing_world[parent, :3, :3].astype(np.float64)).T
        translations = poses.translations.copy()
        translations[:, hips] += ways
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
