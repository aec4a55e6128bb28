"""A motion as the judges see it: joints in the axes of the body and in leg lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

LOW, SLOW, SHORTEST = 0.03, 0.2, 0.07
"""Leg lengths above its lowest, leg lengths a second, and seconds for which a point of a sole stands."""

HEEL, BALL, TIP = range(3)
"""Of a sole: toes roll, the others stand."""


class Seen:
    """A motion in the axes of its body (x left, y up, z ahead) and in leg lengths."""

    def __init__(self, character: Any, poses: Any) -> None:
        self.rig = rig = character.rig
        up, ahead = np.array(rig.up), np.array(rig.forward)
        axes = np.stack((np.cross(up, ahead), up, ahead), -1)
        world = character.skeleton.world(poses.astype(np.float64))
        self.rotations = poses.rotations.astype(np.float64)
        self.hips = world[:, int(rig.hips), :3, :3]
        self.leg = rig.leg_length
        self.at = world[..., :3, 3] @ axes / self.leg
        self.stance = rig.standing_world[:, :3, 3].astype(np.float64) @ axes / self.leg
        self.soles = np.stack([self._sole(leg, world) for leg in rig.legs], 1) @ axes / self.leg if rig.legs else None
        self.floor = rig.floor / self.leg

    def _sole(self, leg: Any, world: Any) -> Any:
        joints, offsets = self.rig.sole_points(leg)
        points = [world[:, j, :3, :3] @ offset + world[:, j, :3, 3] for j, offset in zip(joints, offsets, strict=True)]
        return np.stack(points, 1)

    def limbs(self, kind: str) -> dict[str, list[int]]:
        return {limb.name: [int(joint) for joint in limb.joints] for limb in getattr(self.rig, kind)}


def pairs(ours: Seen, theirs: Seen, kind: str) -> list[tuple[list[int], list[int]]]:
    known = ours.limbs(kind)
    both = [(known[name], joints) for name, joints in theirs.limbs(kind).items() if name in known]
    return [(a, b) for a, b in both if len(a) == len(b)]


def across(seen: Seen, kind: str) -> Any:
    limbs = seen.limbs(kind)
    if not {"left", "right"} <= set(limbs):
        return None
    return seen.at[:, limbs["left"][0]] - seen.at[:, limbs["right"][0]]


def contacts(stands: Any, dt: float) -> Any:
    """First frame of each contact and the one after its last, (n, 2). stands: (F,)."""
    edges = np.flatnonzero(np.diff(np.pad(stands.astype(int), 1))).reshape(-1, 2)
    return edges[edges[:, 1] - edges[:, 0] >= max(3, SHORTEST / dt)]


def unit(v: Any) -> Any:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)
