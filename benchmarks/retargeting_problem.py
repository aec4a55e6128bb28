"""The problem of the retargeting benchmark: a walk of a person, for a person with other proportions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

import kinema as km
from kinema.demo import humanoid

FPS = 60.0

LEGS, ARMS, TRUNK = 0.8, 1.25, 1.1
"""How much longer the bones of the target are than those of the source."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Frames of a walk, and what of it is compared."""

    source: km.Character
    target: km.Character
    clip: km.Clip

    @property
    def count(self) -> int:
        return round(float(self.clip.duration or 0.0) * FPS) + 1

    @cached_property
    def poses(self) -> km.Pose:
        """(F,): of the source."""
        return self.clip.sample(np.arange(self.count) / FPS)

    @cached_property
    def limbs(self) -> list[list[int]]:
        """The joints of arms and legs, from hip or shoulder to the end."""
        assert self.source.rig is not None
        legs, arms = self.source.rig.legs, self.source.rig.arms
        chains = [*(leg.joints for leg in legs), *(arm.joints for arm in arms)]
        return [[int(joint) for joint in chain] for chain in chains]

    @cached_property
    def hips(self) -> int:
        assert self.source.rig is not None
        return int(self.source.rig.hips)

    @cached_property
    def feet(self) -> list[int]:
        return [limb[-1] for limb in self.limbs[:2]]

    @cached_property
    def parts(self) -> list[int]:
        """Joints that have a task: hips, chest, and those of arms and legs, 14 as in GMR."""
        return [self.hips, self.source.skeleton.index("chest"), *(joint for limb in self.limbs for joint in limb)]

    @cached_property
    def moving(self) -> set[int]:
        """Joints that rotate: the parts and those above them."""
        return set(self.source.skeleton.above(self.parts).tolist())

    @cached_property
    def world(self) -> Any:
        """(F, J, 4, 4): of the source."""
        return self.source.skeleton.world(self.poses)

    @cached_property
    def targets(self) -> Any:
        """(F, P, 4, 4): where the parts of the target are wanted: rotations of the source, and positions whose way from
        the hips has the target's length.
        """
        ours, theirs = self.source.skeleton.rest_world, self.target.skeleton.rest_world
        found = self.world[:, self.parts].astype(np.float64)
        hips = found[:, 0, :3, 3].copy()
        scale = theirs[self.hips, 1, 3] / ours[self.hips, 1, 3]
        for k, joint in enumerate(self.parts[1:], start=1):
            lengths = [np.linalg.norm(rest[joint, :3, 3] - rest[self.hips, :3, 3]) for rest in (theirs, ours)]
            found[:, k, :3, 3] = scale * hips + (found[:, k, :3, 3] - hips) * lengths[0] / lengths[1]
        found[:, 0, :3, 3] = scale * hips
        return found

    def errors(self, positions: Any) -> Any:
        """(F, B): degrees between the bones of limbs and those of the source. positions: (F, P, 3), of the parts."""
        own, found = self.world[..., :3, 3][:, self.parts], []
        for limb in self.limbs:
            at = [self.parts.index(joint) for joint in limb]
            for a, b in pairwise(at):
                ways = [points[:, b] - points[:, a] for points in (own, np.asarray(positions))]
                ways = [way / np.linalg.norm(way, axis=-1, keepdims=True) for way in ways]
                found.append(np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(axis=-1), -1.0, 1.0))))
        return np.stack(found, axis=-1)


def walk(seconds: float) -> Walk:
    """Make some seconds of walking, straight ahead."""
    person = humanoid()
    own = person.clips["walk"]
    length = float(own.duration or 0.0)
    times = np.arange(round(seconds * FPS) + 1) / FPS
    poses = own.sample(times, loop=True)
    way = own.sample(length).translations[0] - own.sample(0.0).translations[0]
    poses.translations[:, 0] += np.floor(times / length)[:, np.newaxis] * way
    return Walk(person, other_person(person), km.Clip.from_poses("walk", person.skeleton, poses, fps=FPS))


def other_person(person: km.Character) -> km.Character:
    """Return the person with shorter legs, longer arms and a longer trunk."""
    skeleton, rig = person.skeleton, person.rig
    assert rig is not None
    t = skeleton.rest.translations.copy()
    for limbs, factor in ((rig.legs, LEGS), (rig.arms, ARMS)):
        for limb in limbs:
            t[[int(joint) for joint in limb.joints[1:]]] *= factor
    t[[int(joint) for joint in rig.spine]] *= TRUNK
    hips = int(rig.hips)
    t[hips, 1] -= (1.0 - LEGS) * sum(float(skeleton.length(leg.joints)) for leg in rig.legs) / len(rig.legs)
    rest = km.Pose(t, skeleton.rest.rotations, skeleton.rest.scales)
    other = km.Skeleton(skeleton.names, skeleton.parents, rest)
    return km.Character(other, rig=replace(rig, skeleton=other, stance=None), name="other person")
