"""`poles`: the bend axis of each limb's middle joint, and its direction: knees forward, elbows back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.rig import Rig
from kinema.roles.evidence import looked_at

BENT = 0.1
"""Sine of the angle from which a limb is clearly bent: six degrees. Arms modelled straight are off by up to half of
it."""


@dataclass(frozen=True)
class Pole:
    """joint: the middle one of a limb, its knee or elbow. axis: (3,), unit, what it bends about, in its own space; a
    positive rotation bends it further. direction: (3,), unit, the way it points at rest, in the character's space.
    seen: whether a bend was found, at rest or in clips; otherwise limbs bend as people's do.
    """

    joint: int
    axis: tuple[float, ...]
    direction: tuple[float, ...]
    seen: bool


def poles(rig: Rig, clips: Sequence[Clip] | Mapping[str, Clip] = ()) -> dict[str, Pole]:
    """Return the pole of every leg and arm, by role ("legs.left"). clips: used for limbs that are straight at rest."""
    poses = [rig.skeleton.rest_world[np.newaxis].astype(np.float64)]
    poses += [moving.world for moving in looked_at(rig.skeleton, clips)]
    return {role: _pole(rig, joints, poses, sign) for role, joints, sign in _limbs(rig)}


def _limbs(rig: Rig) -> Iterator[tuple[str, tuple[int, int, int], float]]:
    """Return each limb with its first, middle and last joint, and whether it bends forward (1) or back (-1) by
    default."""
    for leg in rig.legs:
        joints = [int(joint) for joint in leg.joints]
        halves = [
            abs(rig.skeleton.length(joints[:k]) - rig.skeleton.length(joints[k - 1 :])) for k in range(2, len(joints))
        ]
        yield f"legs.{leg.name}", (joints[0], joints[1 + int(np.argmin(halves))], joints[-1]), 1.0
    for arm in rig.arms:
        upper, fore, hand = (int(arm.joints[k]) for k in (0, 1, -1))
        yield f"arms.{arm.name}", (upper, fore, hand), -1.0


def _pole(rig: Rig, joints: tuple[int, int, int], poses: list[Any], nature: float) -> Pole:
    rest = poses[0][0]
    for world in poses:  # Rest first, then clips.
        axes = _bend(world, joints)
        if np.linalg.norm(axes, axis=-1).max() > BENT:
            axis = arrays.unit(axes.sum(axis=0))
            return Pole(joints[1], _tuple(axis), _points(rest, joints, axis), True)
    upper = rest[joints[1], :3, 3] - rest[joints[0], :3, 3]
    ways = [nature * np.array(way) for way in (rig.forward, rig.up)]  # An arm stretched ahead bends upwards.
    direction = next((way for way in ways if np.linalg.norm(np.cross(way, arrays.unit(upper))) > BENT), ways[0])
    across = arrays.unit(np.cross(direction, upper))
    own = rig.own_axes(joints[1])
    return Pole(joints[1], _tuple(arrays.rotate(arrays.conj(own), across)), _tuple(direction), False)


def _bend(world: Any, joints: tuple[int, int, int]) -> Any:
    """Return a limb's bend axes, (F, 3), in its middle joint's own space; their length is the sine of the angle."""
    first, middle, last = (world[:, joint, :3, 3] for joint in joints)
    upper, lower = arrays.unit(middle - first), arrays.unit(last - middle)
    frames = world[:, joints[1], :3, :3]
    frames = frames / np.maximum(np.linalg.norm(frames, axis=1, keepdims=True), np.finfo(float).tiny)
    axis = np.cross(upper, lower)
    return np.einsum("fcr,fc->fr", frames, axis) * np.sign(np.linalg.det(frames))[:, np.newaxis]


def _points(rest: Any, joints: tuple[int, int, int], axis: Any) -> tuple[float, ...]:
    """Return the direction of the middle joint at rest if it bends about this axis in its own space."""
    frame = rest[joints[1], :3, :3] / np.linalg.norm(rest[joints[1], :3, :3], axis=0)
    about = frame @ axis * np.sign(np.linalg.det(frame))
    line = rest[joints[2], :3, 3] - rest[joints[0], :3, 3]
    return _tuple(arrays.unit(np.cross(line, about)))


def _tuple(v: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in v)
