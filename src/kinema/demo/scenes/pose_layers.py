"""What users lay over a clip: limbs that bend the other way, single bones that are rotated, stored poses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinema.demo.scenes.scene import finite
from kinema.errors import InputError
from kinema.math import arrays
from kinema.math.arrays import smoothstep
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.layers import Layer

EASE = 0.25
"""Seconds in which a stored pose comes and goes, at most half of its time."""
OWN = 0.02
"""Quaternion distance from the clip from which a joint of a stored pose is the user's, about 2.3 degrees."""
SHORTEST = 0.1
"""Seconds of a layer, at least."""


class BendStage(Layer):
    """Bends limbs the other way, after feet and body, which keep knees and elbows on their side."""

    order: ClassVar[int] = 38


class TurnStage(Layer):
    """Rotates single bones, after everything else."""

    order: ClassVar[int] = 90


@dataclass(frozen=True, eq=False)
class PoseLayer:
    """A stored pose over a part of the clip.

    joints: those that follow it. start, end: seconds of the clip; a layer whose end is before its start goes on over
    the end of the clip.
    """

    pose: Pose
    joints: Any
    start: float
    end: float

    def weight(self, times: Any, duration: float) -> Any:
        """Return how much of it is seen at some times of the clip."""
        length = (self.end - self.start) % duration if duration else 0.0
        length = length or duration
        since = (np.asarray(times, float) - self.start) % duration if duration else np.zeros(np.shape(times))
        ease = min(EASE, length / 2) or 1.0
        return smoothstep(np.clip(np.minimum(since, length - since) / ease, 0.0, 1.0))


class PoseLayers:
    """What is laid over the clip of one character.

    bent: the joints (first, middle, last) of limbs that bend the other way, by the handles of their middle joints.
    turned: rotations (4,) that single joints keep relative to their parents, by joint. layers: by the number of the
    stored pose.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self.bent: dict[str, tuple[int, int, int]] = {}
        self.turned: dict[int, Any] = {}
        self.layers: dict[int, PoseLayer] = {}

    def __bool__(self) -> bool:
        return bool(self.bent or self.turned or self.layers)

    def take(self, other: PoseLayers) -> None:
        """Lay over the clip what another one does now."""
        self.bent, self.turned, self.layers = dict(other.bent), dict(other.turned), dict(other.layers)

    def over(self, pose: Pose, times: Any, duration: float) -> Pose:
        """Return poses of the clip with stored poses over them. times: of each pose, seconds of the clip."""
        if not self.layers:
            return pose
        rotations = pose.rotations.copy()
        for layer in self.layers.values():
            share = layer.weight(times, duration)[..., np.newaxis, np.newaxis]
            then, now = layer.pose.rotations[layer.joints], rotations[..., layer.joints, :]
            sign = np.where((then * now).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
            rotations[..., layer.joints, :] = arrays.unit(now + share * (sign * then - now))
        return Pose.of(pose.translations, rotations, pose.scales)

    def bend(self, pose: Pose, time: Any = None, dt: float = 0.0) -> Pose:
        """Return poses with the limbs of `bent` bent the other way."""
        return bend_all(self._skeleton, pose, self.bent)

    def turn(self, pose: Pose, time: Any = None, dt: float = 0.0) -> Pose:
        """Return poses with the joints of `turned` rotated."""
        return turn_all(pose, self.turned)

    def lay(self, number: int, pose: Pose, joints: Any, span: Any, duration: float) -> None:
        """Lay a stored pose over a part of the clip. Raises InputError for other numbers."""
        start, end = np.clip(finite("span", span, 2), 0.0, duration).tolist()
        if abs(end - start) < SHORTEST:
            raise InputError(f"span is {span!r:.40}; a layer lasts {SHORTEST} s at least")
        self.layers[number] = PoseLayer(pose, np.asarray(joints, int), start, end)

    def spans(self, numbers: Iterable[int]) -> list[list[float] | None]:
        """Return start and end of the layer of each stored pose, None for those without one."""
        found = [self.layers.get(number) for number in numbers]
        return [None if layer is None else [layer.start, layer.end] for layer in found]


def own_joints(stored: Pose, clip: Pose, rig: Rig | None) -> list[int]:
    """Return the joints of a stored pose that a user has rotated: those that differ from the clip, but for legs and
    hips; all of them but those if none does.
    """
    off = 1.0 - np.abs((np.asarray(stored.rotations, float) * np.asarray(clip.rotations, float)).sum(axis=-1))
    everything = set(range(len(off)))
    below = everything if rig is None else everything - _lower_body(rig)
    own = {int(joint) for joint in np.flatnonzero(np.sqrt(2.0 * np.maximum(off, 0.0)) > OWN)} & below
    return sorted(own or below)


def _lower_body(rig: Rig) -> set[int]:
    """Return hips, everything above them, and all below the roots of the legs."""
    parents = rig.skeleton.parents.tolist()
    found, joint = set(), int(rig.hips)
    while joint >= 0:
        found.add(joint)
        joint = parents[joint]
    legs = {int(leg.joints[0]) for leg in rig.legs}
    for j, parent in enumerate(parents):
        if j in legs or parent in legs:
            legs.add(j)
    return found | legs


def turn_all(pose: Pose, turned: Mapping[int, Any]) -> Pose:
    """Return poses with some joints rotated relative to their parents."""
    if not turned:
        return pose
    rotations = pose.rotations.copy()
    for joint, rotation in turned.items():
        rotations[..., joint, :] = rotation
    return Pose.of(pose.translations, rotations, pose.scales)


def bend_all(skeleton: Skeleton, pose: Pose, bent: Mapping[str, tuple[int, int, int]]) -> Pose:
    """Return poses with some limbs bent the other way. bent: their joints, by any names."""
    for limb in bent.values():
        pose = bend_other_way(skeleton, pose, limb)
    return pose


def bend_other_way(skeleton: Skeleton, pose: Pose, limb: tuple[int, int, int]) -> Pose:
    """Mirror the middle joint of a limb at the line from its first to its last joint. Its end keeps its place.

    pose: of any batch (...). limb: first, middle and last joint.
    """
    first, middle, last = limb
    world = np.asarray(skeleton.world(pose), float)
    a, m, e = (world[..., joint, :3, 3] for joint in limb)
    line, upper = arrays.unit(e - a), m - a
    across = np.cross(upper, e - m)
    size = np.linalg.norm(across, axis=-1, keepdims=True)
    axis = np.where(size > 0.0, across / np.maximum(size, np.finfo(float).tiny), (1.0, 0.0, 0.0))
    mirrored = 2.0 * line * (line * upper).sum(axis=-1, keepdims=True) - upper
    turns = (_turn(axis, upper, mirrored), _turn(axis, e - m, e - a - mirrored))
    own = np.asarray(skeleton.world_rotations(pose), float)
    rotations, parents = pose.rotations.copy(), skeleton.parents.tolist()
    turned = {first: turns[0], middle: turns[1], last: np.broadcast_to((0.0, 0.0, 0.0, 1.0), turns[0].shape)}
    above = {first: None, middle: turns[0], last: turns[1]}
    for joint in limb:
        parent, before = parents[joint], above[joint]
        space = own[..., parent, :] if parent >= 0 else np.broadcast_to((0.0, 0.0, 0.0, 1.0), own[..., joint, :].shape)
        space = space if before is None else arrays.mul(before, space)
        rotations[..., joint, :] = arrays.mul(arrays.conj(space), arrays.mul(turned[joint], own[..., joint, :]))
    return Pose.of(pose.translations, rotations, pose.scales)


def _turn(axis: Any, before: Any, after: Any) -> Any:
    """Return the rotation about an axis from one direction to another one, across the axis."""
    sine, cosine = (np.cross(before, after) * axis).sum(axis=-1), (before * after).sum(axis=-1)
    return arrays.from_axis_angle(axis, np.arctan2(sine, cosine))
