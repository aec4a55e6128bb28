"""Twenty poses for any body with arms and legs: directions of its limbs, bends of its trunk, curls of its fingers.

Directions are (out, up, ahead): out is away from the middle of the body on the limb's own side, so that one line serves
both sides. Limbs that a pose does not name hang or stand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Limb, Rig
from kinema.motion.soles import sole_points

Way = tuple[float, float, float]

HANGS: tuple[Way, Way] = ((0.12, -1.0, 0.0), (0.06, -1.0, 0.15))
STANDS: tuple[Way, Way] = ((0.06, -1.0, 0.03), (0.04, -1.0, -0.03))
MOST_CURL = 1.3
"""Radians that each joint of a finger bends in a fist."""


@dataclass(frozen=True)
class LibraryPose:
    """A pose. left, right: upper arm and forearm. left_leg, right_leg: thigh and shin."""

    left: tuple[Way, Way] = HANGS
    right: tuple[Way, Way] = HANGS
    left_leg: tuple[Way, Way] = STANDS
    right_leg: tuple[Way, Way] = STANDS
    lean: float = 0.0
    """Degrees that the trunk leans ahead."""
    twist: float = 0.0
    """Degrees that the trunk twists to the left."""
    nod: float = 0.0
    """Degrees that the head nods."""
    curl: float = 0.15
    """How far the fingers are curled: 1 is a fist."""


def _both(arm: tuple[Way, Way], **other: Any) -> LibraryPose:
    return LibraryPose(left=arm, right=arm, **other)


_SIT: tuple[Way, Way] = ((0.15, -0.05, 1.0), (0.02, -1.0, 0.05))
_SQUAT: tuple[Way, Way] = ((0.35, -0.2, 1.0), (0.1, -1.0, -0.45))

LIBRARY: dict[str, LibraryPose] = {
    "Stand": LibraryPose(),
    "T pose": _both(((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)), curl=0.0),
    "A pose": _both(((0.7, -0.7, 0.0), (0.7, -0.7, 0.0)), curl=0.0),
    "Wave": LibraryPose(left=((0.8, 0.25, 0.2), (0.25, 1.0, 0.1)), curl=0.0),
    "Point ahead": LibraryPose(right=((0.1, 0.05, 1.0), (0.0, 0.05, 1.0))),
    "Hands up": _both(((0.35, 1.0, 0.05), (0.15, 1.0, 0.1)), curl=0.0),
    "Salute": LibraryPose(right=((0.9, 0.1, 0.35), (-0.75, 0.6, 0.15)), curl=0.0),
    "Think": LibraryPose(
        right=((0.1, -0.9, 0.45), (-0.25, 0.85, 0.45)), left=((0.1, -1.0, 0.2), (-0.8, -0.1, 0.6)), nod=12
    ),
    "Hands on hips": _both(((0.75, -0.7, -0.25), (-0.75, -0.5, 0.35)), curl=0.3),
    "Shrug": _both(((0.35, -0.95, 0.1), (0.85, 0.05, 0.5)), nod=-4, curl=0.0),
    "Clap": _both(((0.25, -0.6, 0.75), (-0.45, 0.25, 0.85)), curl=0.0),
    "Bow": _both(((0.12, -0.75, 0.6), (0.05, -0.75, 0.65)), lean=50, nod=20),
    "Squat": _both(((0.15, -0.1, 1.0), (0.05, 0.0, 1.0)), left_leg=_SQUAT, right_leg=_SQUAT, lean=25),
    "Sit": _both(((0.15, -0.95, 0.3), (0.0, -0.25, 1.0)), left_leg=_SIT, right_leg=_SIT),
    "Lunge": LibraryPose(
        left_leg=((0.05, -0.35, 1.0), (0.0, -1.0, 0.0)), right_leg=((0.05, -0.9, -0.5), (0.0, -0.7, -0.75)), lean=8
    ),
    "Kick": LibraryPose(
        left=((0.7, -0.5, -0.3), (0.5, -0.3, 0.6)),
        right=((0.5, -0.6, 0.5), (0.1, 0.2, 0.9)),
        lean=-12,
        right_leg=((0.05, 0.05, 1.0), (0.0, 0.1, 1.0)),
        curl=0.8,
    ),
    "Jump": _both(
        ((0.6, 0.75, 0.2), (0.3, 1.0, 0.1)),
        lean=5,
        left_leg=((0.15, -0.75, 0.65), (0.05, -0.75, -0.65)),
        right_leg=((0.15, -0.95, -0.3), (0.05, -0.5, -0.85)),
    ),
    "Run": LibraryPose(
        left=((0.2, -0.85, -0.5), (0.05, -0.25, 0.95)),
        right=((0.15, -0.75, 0.6), (-0.1, 0.55, 0.8)),
        lean=12,
        curl=0.6,
        left_leg=((0.04, -0.6, 0.8), (0.0, -0.95, -0.35)),
        right_leg=((0.04, -0.95, -0.3), (0.0, -0.35, -0.95)),
    ),
    "Guard": LibraryPose(
        left=((0.25, -0.7, 0.65), (-0.15, 0.8, 0.6)),
        right=((0.35, -0.85, 0.35), (-0.25, 0.85, 0.45)),
        lean=8,
        twist=-20,
        left_leg=((0.12, -0.95, 0.35), (0.05, -1.0, -0.15)),
        right_leg=((0.15, -0.95, -0.25), (0.05, -0.9, -0.4)),
        curl=1.0,
    ),
    "Throw": LibraryPose(
        left=((0.35, 0.15, 0.95), (0.1, 0.1, 1.0)),
        right=((0.75, 0.35, -0.6), (0.15, 0.95, -0.3)),
        lean=-8,
        twist=-35,
        left_leg=((0.08, -0.85, 0.5), (0.02, -1.0, 0.1)),
        right_leg=((0.08, -0.95, -0.3), (0.02, -0.85, -0.5)),
        curl=0.5,
    ),
}
"""Poses by the names that the page shows."""


def library_pose(name: str, rig: Rig) -> Pose:
    """Return a pose of the library on a body, its lowest sole on the floor of its rest pose.

    Raises InputError for a body without a pair of arms or legs, and for an unknown name.
    """
    if name not in LIBRARY:
        raise InputError(f"there is no pose {name!r:.40}; there are {', '.join(LIBRARY)}")
    if not rig.arms or len(rig.legs) != 2:
        raise InputError("the poses are for bodies with arms and two legs")
    wanted, body = LIBRARY[name], _Body(rig)
    body.bend(wanted)
    for arm in rig.arms[:2]:
        body.point(arm, wanted.left if body.is_left(arm) else wanted.right)
        for finger in arm.fingers:
            body.curl(finger, wanted.curl, arm)
    for leg in rig.legs:
        body.point(leg, wanted.left_leg if body.is_left(leg) else wanted.right_leg)
        body.level(int(leg.joints[-1]))
    return body.grounded()


class _Body:
    """A body that is posed from its rest pose, joints above first."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.skeleton = rig, rig.skeleton
        self.up, self.ahead = np.array(rig.up, float), np.array(rig.forward, float)
        self.left = np.cross(self.up, self.ahead)
        self.translations, self.rotations, self.scales = (np.array(a) for a in self.skeleton.rest.arrays())

    @property
    def pose(self) -> Pose:
        return Pose.of(self.translations, self.rotations, self.scales)

    def positions(self) -> Any:
        return np.asarray(self.skeleton.world(self.pose)[:, :3, 3], float)

    def is_left(self, limb: Limb) -> bool:
        limb_at, middle = (self.skeleton.rest_world[int(j), :3, 3] @ self.left for j in (limb.joints[0], self.rig.hips))
        return bool(limb_at >= middle)

    def rotate(self, joint: int, turn: Any) -> None:
        """Rotate a joint, and all below it, about its position. turn: (4,), in the character's space."""
        world = np.asarray(self.skeleton.world_rotations(self.pose), float)
        parent = int(self.skeleton.parents[joint])
        above = world[parent] if parent >= 0 else np.array((0.0, 0.0, 0.0, 1.0))
        self.rotations[joint] = arrays.mul(arrays.conj(above), arrays.mul(turn, world[joint]))

    def bend(self, wanted: LibraryPose) -> None:
        """Lean and twist the trunk, spread over its joints, and nod."""
        spine = [int(joint) for joint in self.rig.spine] or [int(self.rig.hips)]
        for joint in spine:
            self.rotate(joint, arrays.from_axis_angle(self.up, np.radians(wanted.twist) / len(spine)))
            self.rotate(joint, arrays.from_axis_angle(self.left, np.radians(wanted.lean) / len(spine)))
        if self.rig.head is not None:
            self.rotate(int(self.rig.head), arrays.from_axis_angle(self.left, np.radians(wanted.nod)))

    def point(self, limb: Limb, ways: Sequence[Way]) -> None:
        """Point the upper and the lower bone of a limb."""
        side = 1.0 if self.is_left(limb) else -1.0
        joints = [int(joint) for joint in limb.joints]
        bones = [(joints[0], joints[len(joints) // 2]), (joints[len(joints) // 2], joints[-1])]
        for (start, end), (out, up, ahead) in zip(bones, ways, strict=True):
            goal = arrays.unit(side * out * self.left + up * self.up + ahead * self.ahead)
            at = self.positions()
            self.rotate(start, arrays.swing(arrays.unit(at[end] - at[start]), goal))

    def level(self, joint: int) -> None:
        """Give a foot the rotation it has at rest."""
        world = np.asarray(self.skeleton.world_rotations(self.pose), float)[joint]
        rest = np.asarray(self.skeleton.world_rotations(self.skeleton.rest), float)[joint]
        self.rotate(joint, arrays.mul(rest, arrays.conj(world)))

    def curl(self, finger: Sequence[Any], share: float, arm: Any) -> None:
        """Curl a finger towards the palm."""
        palm, hand, joints = self.rig.palm(arm), int(arm.joints[-1]), [int(joint) for joint in finger]
        if palm is None:
            return
        rest, now = (
            np.asarray(self.skeleton.world_rotations(pose)[hand], float) for pose in (self.skeleton.rest, self.pose)
        )
        across = arrays.rotate(arrays.mul(now, arrays.conj(rest)), palm[1]) * (-1.0 if self.is_left(arm) else 1.0)
        for joint in joints[-3:]:
            self.rotate(joint, arrays.from_axis_angle(across, share * MOST_CURL))

    def grounded(self) -> Pose:
        """Move the hips, or what carries them, so that the lowest sole is as high as at rest."""
        world = self.skeleton.world(self.pose)
        low, at_rest = (sole_points(self.rig, w[np.newaxis]) @ self.up for w in (world, self.skeleton.rest_world))
        hips = int(self.rig.hips)
        parent = int(self.skeleton.parents[hips])
        shift = (float(np.min(at_rest)) - float(np.min(low))) * self.up
        frame = np.asarray(world[parent, :3, :3], float) if parent >= 0 else np.eye(3)
        self.translations[hips] += np.linalg.solve(frame, shift)
        return self.pose
