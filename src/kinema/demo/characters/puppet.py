"""`Puppet`: pose all frames of a clip at once by rotations about the character's axes.

Rotations are about the character's axes at rest (x to its left, y up, z ahead), whatever the joints' own axes are.
Everything below a joint follows it. Double precision throughout.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.clip import Clip, Event
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint, Skeleton

X, Y, Z = np.eye(3)


def rotation(axis: Any, angle: Any) -> Any:
    """Return (..., 4): the rotation by an angle in radians about an axis of any length but 0."""
    return arrays.from_axis_angle(arrays.unit(np.asarray(axis, float)), np.asarray(angle, float))


def compose(*factors: Any) -> Any:
    """Return the product of rotations: the last one applies first."""
    result = factors[0]
    for each in factors[1:]:
        result = arrays.mul(result, each)
    return result


def framed(ahead: Any, side: Any) -> Any:
    """Return (..., 3, 3), columns: ahead, the part of side perpendicular to it, and their cross product."""
    ahead = arrays.unit(ahead)
    side = arrays.unit(side - ahead * np.sum(ahead * side, axis=-1, keepdims=True))
    return np.stack((ahead, side, np.cross(ahead, side)), axis=-1)


class Puppet:
    """The frames of a clip in the making.

    rotations: (F, J, 4), each joint's rotation from rest relative to its parent, about the character's axes.
    offsets: (F, J, 3), each joint's displacement from rest, metres along the character's axes.
    """

    def __init__(self, skeleton: Skeleton, frames: int) -> None:
        self.skeleton = skeleton
        self.rest = np.asarray(skeleton.rest_world[:, :3, 3], float)
        self.rotations = np.tile((0.0, 0.0, 0.0, 1.0), (frames, len(skeleton), 1))
        self.offsets = np.zeros((frames, len(skeleton), 3))

    def rotate(self, joint: Joint, by: Any) -> None:
        """Rotate a joint in addition to its rotation so far. by: (4,) or (F, 4), about the character's axes."""
        j = self.skeleton.index(joint)
        self.rotations[:, j] = arrays.unit(arrays.mul(by, self.rotations[:, j]))

    def rotate_along(self, joints: Any, by: Any) -> None:
        """Rotate a chain of joints by equal parts, so that the last one is rotated by all of it."""
        part = arrays.slerp(np.array((0.0, 0.0, 0.0, 1.0)), by, 1 / len(joints))
        for joint in joints:
            self.rotate(joint, part)

    def transform(self, joint: Joint) -> tuple[Any, Any]:
        """Return a joint's rotation from rest, (F, 4), and its position, (F, 3), in the character's space."""
        path = self.skeleton.above([joint])
        whole, at = self.rotations[:, path[0]], self.offsets[:, path[0]] + self.rest[path[0]]
        for above, j in pairwise(path):
            at = at + arrays.rotate(whole, self.offsets[:, j] + self.rest[j] - self.rest[above])
            whole = arrays.mul(whole, self.rotations[:, j])
        return whole, at

    def reach(self, joints: Sequence[Joint], target: Any, hinge: Any, aside: Any) -> None:
        """Bend two bones so that the last of three joints reaches a target.

        target: (F, 3). hinge: (3,), the middle joint's axis at rest, perpendicular to both bones; bending is a positive
        rotation about it. aside: (F, 3) or (3,), where that axis should point, as far as the target allows.
        """
        start, middle, end = (self.skeleton.index(joint) for joint in joints)
        upper, lower = self.rest[middle] - self.rest[start], self.rest[end] - self.rest[middle]
        above, _ = self.transform(int(self.skeleton.parents[start]))
        to_target = target - self.transform(start)[1]
        start_bend = math.atan2(float(np.cross(upper, lower) @ hinge), float(upper @ lower))
        a, b, distance = np.linalg.norm(upper), np.linalg.norm(lower), np.linalg.norm(to_target, axis=-1)
        cosine = (distance * distance - a * a - b * b) / (2 * a * b)  # Law of cosines; a bend of 0 is straight.
        bent = rotation(hinge, np.arccos(np.clip(cosine, -1.0, 1.0)) - start_bend)
        chord = upper + arrays.rotate(bent, lower)
        axes = framed(to_target, np.broadcast_to(aside, to_target.shape))
        aimed = arrays.from_matrix(axes @ np.swapaxes(framed(chord, np.broadcast_to(hinge, chord.shape)), -1, -2))
        self.rotations[:, start] = arrays.mul(arrays.conj(above), aimed)
        self.rotations[:, middle] = bent

    def reach_on(self, joints: Sequence[Joint], target: Any, hinge: Any, last: Any) -> None:
        """Bend three bones in one plane so that the last of four joints reaches a target.

        last: (F,), rotation of the third bone from rest about +X within that plane, radians. The other parameters are
        those of `reach`, with the hinge along x.
        """
        third, end = self.skeleton.index(joints[2]), self.skeleton.index(joints[3])
        to_target = target - self.transform(joints[0])[1]
        side = framed(to_target, np.broadcast_to(X, to_target.shape))[..., 1]
        ahead = arrays.unit(Z - side * side[..., 2:])
        leaned = arrays.from_matrix(np.stack((side, np.cross(ahead, side), ahead), axis=-1))
        whole = arrays.mul(leaned, rotation(X, last))
        knee = target - arrays.rotate(whole, self.rest[end] - self.rest[third])
        self.reach(joints[:3], knee, hinge, side * (hinge @ X))
        self.hold(third, whole)

    def hold(self, joint: Joint, whole: Any) -> None:
        """Rotate a joint so that it is rotated by `whole`, (F, 4), from rest, whatever its parents do."""
        j = self.skeleton.index(joint)
        above, _ = self.transform(int(self.skeleton.parents[j]))
        self.rotations[:, j] = arrays.unit(arrays.mul(arrays.conj(above), whole))

    def pose(self) -> Pose:
        """Return the frames as a batch of poses, (F,), float32."""
        parents = self.skeleton.parents
        own = arrays.from_matrix(np.asarray(self.skeleton.rest_world[:, :3, :3], float))
        rooted = np.where(parents < 0, len(parents), parents)
        above = np.concatenate((own, ((0.0, 0.0, 0.0, 1.0),)))[rooted]
        origin = np.concatenate((self.rest, np.zeros((1, 3))))[rooted]
        rotations = arrays.unit(compose(arrays.conj(above), self.rotations, own))
        rotations = arrays.continuous(np.where(rotations[:1, :, 3:] < 0, -rotations, rotations))
        translations = arrays.rotate(arrays.conj(above), self.offsets + self.rest - origin)
        return Pose(translations.astype(np.float32), rotations.astype(np.float32))

    def clip(self, name: str, duration: float, events: Sequence[Event] = ()) -> Clip:
        """Return the frames as a clip with evenly spaced keys. duration: seconds."""
        times = np.linspace(0.0, duration, len(self.rotations))
        return Clip.from_poses(name, self.skeleton, self.pose(), times=times, events=events)
