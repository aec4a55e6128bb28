"""The problems of the full-body benchmark: a person with five effectors, and a KUKA iiwa with one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import kinema as km
from benchmarks.problems import SEED
from kinema.demo import humanoid
from kinema.math import arrays

BENT, MOVED = 0.6, 0.06
"""Radians about each axis by which a person's joints are bent, and body sizes by which the hips are moved."""

WARM_BENT = 0.03
"""The same from one frame to the next, radians."""

IIWA = (
    ((0.0, 0.0, 0.1575), (0.0, 0.0, 0.0), 2.96705972839),
    ((0.0, 0.0, 0.2025), (np.pi / 2, 0.0, np.pi), 2.09439510239),
    ((0.0, 0.2045, 0.0), (np.pi / 2, 0.0, np.pi), 2.96705972839),
    ((0.0, 0.0, 0.2155), (np.pi / 2, 0.0, 0.0), 2.09439510239),
    ((0.0, 0.1845, 0.0), (-np.pi / 2, np.pi, 0.0), 2.96705972839),
    ((0.0, 0.0, 0.2155), (np.pi / 2, 0.0, 0.0), 2.09439510239),
    ((0.0, 0.081, 0.0), (-np.pi / 2, np.pi, 0.0), 3.05432619099),
)
"""Hinges of a KUKA LBR iiwa, about their z axes: position in metres, roll, pitch and yaw, and range, radians."""


@dataclass(frozen=True, eq=False)
class BodyPoses:
    """Poses of the tips of a body, each made by forward kinematics from a pose that exists."""

    skeleton: km.Skeleton
    """Without limits, or with hinges."""
    tips: tuple[int, ...]
    """Joints with effectors."""
    free: bool
    """Whether the root moves."""
    position: Any
    """(M, E, 3): metres."""
    rotation: Any
    """(M, E, 4)."""
    start: Any = None
    """Poses to start from, (M,); None: from rest."""
    tolerance: float = 1e-3
    """Metres."""
    rotation_tolerance: float = np.radians(1.0)
    """Radians."""

    @property
    def count(self) -> int:
        return len(self.position)

    @cached_property
    def nodes(self) -> list[int]:
        """Joints above the tips, parents first: those that a peer's model has."""
        return self.skeleton.above(list(self.tips)).tolist()

    @cached_property
    def hinges(self) -> dict[int, km.Hinge]:
        """Joints that are hinges, about their z axes."""
        return {j: limit for j, limit in enumerate(self.skeleton.limits) if isinstance(limit, km.Hinge)}

    @property
    def hinged(self) -> bool:
        return bool(self.hinges)

    def first(self, count: int) -> BodyPoses:
        """Return the problem with fewer poses, for slow libraries."""
        rest = (self.skeleton, self.tips, self.free)
        start = None if self.start is None else self.start[:count]
        return BodyPoses(*rest, self.position[:count], self.rotation[:count], start)

    def matrices(self, i: int) -> list[Any]:
        """4x4 matrices of the tips' poses in problem i."""
        found = np.tile(np.eye(4), (len(self.tips), 1, 1))
        found[:, :3, :3] = arrays.to_matrix(self.rotation[i])
        found[:, :3, 3] = self.position[i]
        return list(found)


def arrivals(answers: Any, problem: BodyPoses) -> float:
    """The share of answers in which all tips are within tolerance. answers: (M, E, 4, 4), NaN for none."""
    found = np.asarray(answers, np.float64)
    error = np.linalg.norm(found[..., :3, 3] - problem.position, axis=-1)
    wanted = arrays.to_matrix(problem.rotation)
    trace = np.einsum("meij,meij->me", found[..., :3, :3], wanted)
    # By the chord, which is exact where the angle is small.
    angle = 2.0 * np.arcsin(np.clip(np.sqrt(np.maximum(3.0 - trace, 0.0) / 4.0), 0.0, 1.0))
    near = (error <= problem.tolerance) & (angle <= problem.rotation_tolerance)
    return float(near.all(axis=-1).mean())


def person(count: int) -> BodyPoses:
    """Make a person of 60 joints, free to move, with poses for hands, feet and head."""
    character = humanoid()
    old = character.skeleton
    skeleton = km.Skeleton(old.names, old.parents, old.rest)
    rig = character.rig
    assert rig is not None
    assert rig.head is not None
    ends = [arm.joints[-1] for arm in rig.arms] + [leg.joints[-1] for leg in rig.legs] + [rig.head]
    tips, hips = tuple(int(joint) for joint in ends), int(rig.hips)
    rng = np.random.default_rng(SEED)
    t, r, s = (np.tile(array.astype(np.float64), (count, 1, 1)) for array in skeleton.rest.arrays())
    moving = [j for j in range(len(skeleton)) if j not in skeleton.above([hips])[:-1]]
    r[:, moving] = _bent(rng, r[:, moving], BENT)
    t[:, hips] += rng.uniform(-MOVED, MOVED, (count, 3)) * km.FullBody(skeleton).size
    return _posed(skeleton, tips, True, km.Pose(t, r, s))


def next_frame(problem: BodyPoses, solved: km.Pose) -> BodyPoses:
    """Make the problem of the frame after: from the poses that were found, to others nearby."""
    t, r, s = (array.astype(np.float64) for array in solved.arrays())
    moved = km.Pose(t, _bent(np.random.default_rng(SEED + 1), r, WARM_BENT), s)
    made = _posed(problem.skeleton, problem.tips, problem.free, moved)
    return BodyPoses(made.skeleton, made.tips, made.free, made.position, made.rotation, solved)


def iiwa(count: int) -> BodyPoses:
    """Make a KUKA iiwa with poses of its last link, its joints anywhere in their ranges."""
    rest = [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))]
    limits: list[Any] = [km.Hinge((0, 0, 1), 0.0, 0.0)]
    for position, angles, widest in IIWA:
        rest.append((position, _from_angles(*angles)))
        limits.append(km.Hinge((0, 0, 1), -widest, widest))
    pose = km.Pose(np.array([t for t, _ in rest]), np.array([q for _, q in rest]))
    names = [f"link_{k}" for k in range(len(rest))]
    skeleton = km.Skeleton(names, range(-1, len(rest) - 1), pose, limits)
    rng = np.random.default_rng(SEED)
    r = np.tile(pose.rotations, (count, 1, 1))
    for j in range(1, len(rest)):
        angle = rng.uniform(limits[j].low, limits[j].high, count)
        zero = np.zeros(count)
        away = np.stack([zero, zero, np.sin(angle / 2), np.cos(angle / 2)], axis=-1)
        r[:, j] = arrays.mul(r[:, j], away)
    return _posed(skeleton, (len(rest) - 1,), False, km.Pose(np.tile(pose.translations, (count, 1, 1)), r))


def _posed(skeleton: km.Skeleton, tips: tuple[int, ...], free: bool, poses: km.Pose) -> BodyPoses:
    at = list(tips)
    rotation = skeleton.world_rotations(poses)[:, at]
    return BodyPoses(skeleton, tips, free, skeleton.world(poses)[:, at][..., :3, 3], rotation)


def _bent(rng: Any, rotations: Any, amount: float) -> Any:
    """Rotations, each rotated on by up to an angle about each axis."""
    by = rng.uniform(-amount, amount, (*rotations.shape[:-1], 3))
    angle = np.linalg.norm(by, axis=-1, keepdims=True)
    return arrays.mul(rotations, np.concatenate([by / angle * np.sin(angle / 2), np.cos(angle / 2)], axis=-1))


def _from_angles(roll: float, pitch: float, yaw: float) -> Any:
    """A rotation from roll, pitch and yaw, as URDF has them."""
    halves = [(np.sin(angle / 2), np.cos(angle / 2)) for angle in (roll, pitch, yaw)]
    x, y, z = (np.array([s if k == axis else 0.0 for k in range(3)] + [c]) for axis, (s, c) in enumerate(halves))
    return arrays.mul(z, arrays.mul(y, x))
