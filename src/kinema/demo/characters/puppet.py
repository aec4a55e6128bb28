"""`Puppet`: all frames of a clip at once, posed by turns about the character's own axes.

However the joints' own axes lie, a turn here is about the character's: x to its left, y up, z ahead, as the body
stands at rest. What a joint does, everything below it follows. Double precision throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kinema.clip import Clip, Event
from kinema.math import arrays
from kinema.pose import Pose
from kinema.skeleton import Joint, Skeleton

X, Y, Z = np.eye(3)


def turn(axis: Any, angle: Any) -> Any:
    """(..., 4): the turn about an axis (any length but 0), radians."""
    return arrays.from_axis_angle(arrays.unit(np.asarray(axis, float)), np.asarray(angle, float))


def together(*turns: Any) -> Any:
    """Turns one after the other, the last one first, as they are written in a product."""
    result = turns[0]
    for each in turns[1:]:
        result = arrays.mul(result, each)
    return result


def framed(ahead: Any, side: Any) -> Any:
    """(..., 3, 3): axes as columns: ahead, side as far as it is at right angles to it, and the third."""
    ahead = arrays.unit(ahead)
    side = arrays.unit(side - ahead * np.sum(ahead * side, axis=-1, keepdims=True))
    return np.stack((ahead, side, np.cross(ahead, side)), axis=-1)


class Puppet:
    """`frames` poses of a skeleton that are being made.

    turns: (F, J, 4), each joint's turn away from rest relative to its parent, about the character's axes.
    moves: (F, J, 3), how far each joint is moved from its place at rest, metres, along the character's axes.
    """

    def __init__(self, skeleton: Skeleton, frames: int) -> None:
        self.skeleton = skeleton
        self.rest = np.asarray(skeleton.rest_world[:, :3, 3], float)
        self.turns = np.tile((0.0, 0.0, 0.0, 1.0), (frames, len(skeleton), 1))
        self.moves = np.zeros((frames, len(skeleton), 3))

    def turn(self, joint: Joint, by: Any) -> None:
        """Turn a joint, besides what it does already. by: (4,) or (F, 4), about the character's axes."""
        j = self.skeleton.index(joint)
        self.turns[:, j] = arrays.unit(arrays.mul(by, self.turns[:, j]))

    def share(self, joints: Any, by: Any) -> None:
        """Turn a row of joints, each by the same part, so that the last one ends up turned by all of it."""
        part = arrays.slerp(np.array((0.0, 0.0, 0.0, 1.0)), by, 1 / len(joints))
        for joint in joints:
            self.turn(joint, part)

    def placed(self, joint: Joint) -> tuple[Any, Any]:
        """A joint's turn away from rest, (F, 4), and its place, (F, 3), in the character's space."""
        path = self.skeleton.above([joint])
        whole, at = self.turns[:, path[0]], self.moves[:, path[0]] + self.rest[path[0]]
        for above, j in pairwise(path):
            at = at + arrays.rotate(whole, self.moves[:, j] + self.rest[j] - self.rest[above])
            whole = arrays.mul(whole, self.turns[:, j])
        return whole, at

    def reach(self, joints: Sequence[Joint], target: Any, hinge: Any, aside: Any) -> None:
        """Bend two bones so that the joint at their end, the last of three, comes to a target.

        target: (F, 3). hinge: (3,), the middle joint's axis at rest, at right angles to both bones; bending is a turn
        by more than 0 about it. aside: (F, 3) or (3,), where that axis is to point, as far as the target allows.
        """
        start, middle, end = (self.skeleton.index(joint) for joint in joints)
        upper, lower = self.rest[middle] - self.rest[start], self.rest[end] - self.rest[middle]
        above, _ = self.placed(int(self.skeleton.parents[start]))
        to_target = target - self.placed(start)[1]
        bend = _bend(upper, lower, np.linalg.norm(to_target, axis=-1)) - _angle(upper, lower, hinge)
        bent = turn(hinge, bend)
        chord = upper + arrays.rotate(bent, lower)
        axes = framed(to_target, np.broadcast_to(aside, to_target.shape))
        aimed = arrays.from_matrix(axes @ np.swapaxes(framed(chord, np.broadcast_to(hinge, chord.shape)), -1, -2))
        self.turns[:, start] = arrays.mul(arrays.conj(above), aimed)
        self.turns[:, middle] = bent

    def reach_on(self, joints: Sequence[Joint], target: Any, hinge: Any, last: Any) -> None:
        """Bend three bones, all in one plane, so that the joint at their end, the last of four, comes to a target.

        last: (F,), the turn about +X away from rest of the third bone in that plane, radians. The rest as in `reach`,
        with the hinge along x, at rest as in the end.
        """
        third, end = self.skeleton.index(joints[2]), self.skeleton.index(joints[3])
        to_target = target - self.placed(joints[0])[1]
        side = framed(to_target, np.broadcast_to(X, to_target.shape))[..., 1]
        ahead = arrays.unit(Z - side * side[..., 2:])
        leaned = arrays.from_matrix(np.stack((side, np.cross(ahead, side), ahead), axis=-1))
        whole = arrays.mul(leaned, turn(X, last))
        knee = target - arrays.rotate(whole, self.rest[end] - self.rest[third])
        self.reach(joints[:3], knee, hinge, side * (hinge @ X))
        self.hold(third, whole)

    def hold(self, joint: Joint, whole: Any) -> None:
        """Turn a joint so that, whatever its parents do, it is turned by `whole`, (F, 4), away from rest."""
        j = self.skeleton.index(joint)
        above, _ = self.placed(int(self.skeleton.parents[j]))
        self.turns[:, j] = arrays.unit(arrays.mul(arrays.conj(above), whole))

    def pose(self) -> Pose:
        """The frames as a batch of poses, (F,), float32."""
        parents = self.skeleton.parents
        own = arrays.from_matrix(np.asarray(self.skeleton.rest_world[:, :3, :3], float))
        rooted = np.where(parents < 0, len(parents), parents)
        above = np.concatenate((own, ((0.0, 0.0, 0.0, 1.0),)))[rooted]
        origin = np.concatenate((self.rest, np.zeros((1, 3))))[rooted]
        rotations = arrays.unit(together(arrays.conj(above), self.turns, own))
        rotations = arrays.continuous(np.where(rotations[:1, :, 3:] < 0, -rotations, rotations))
        translations = arrays.rotate(arrays.conj(above), self.moves + self.rest - origin)
        return Pose(translations.astype(np.float32), rotations.astype(np.float32))

    def clip(self, name: str, duration: float, events: Sequence[Event] = ()) -> Clip:
        """The frames as a clip of so many seconds, keys at even times."""
        times = np.linspace(0.0, duration, len(self.turns))
        return Clip.from_poses(name, self.skeleton, self.pose(), times=times, events=events)


def _angle(a: Any, b: Any, axis: Any) -> float:
    """Radians from a to b, both at right angles to a unit axis."""
    return math.atan2(float(np.cross(a, b) @ axis), float(a @ b))


def _bend(upper: Any, lower: Any, distance: Any) -> Any:
    """The angle between two bones whose ends are this far apart: 0 is straight. Law of cosines."""
    a, b = np.linalg.norm(upper), np.linalg.norm(lower)
    cosine = (distance * distance - a * a - b * b) / (2 * a * b)
    return np.arccos(np.clip(cosine, -1.0, 1.0))
