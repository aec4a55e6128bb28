"""The joints that a stage works on, numbered anew: a thread keeps only those in its own memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.compile.jit import kernel
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math.rows import load3, load4, store3, store4
from kinema.model.skeleton import Skeleton
from kinema.solvers.joints import CharacterPose
from kinema.stages.device.tiles import TILE


def pose_record(joints: int) -> Record:
    """Room for so many joints of one character, as `CharacterPose` has them."""
    return Record(
        translations=(REAL, (joints, 3)),
        rotations=(REAL, (joints, 4)),
        scales=(REAL, (joints, 3)),
        world=(REAL, (joints, 12)),
        transform=(REAL, 12),
    )


@kernel
def pose_in(room, weight):
    """The `CharacterPose` in this room, a `pose_record`."""
    return CharacterPose(room.translations, room.rotations, room.scales, room.world, room.transform, weight)


@kernel
def load_joints(tiles, i, joints, pose):
    """Copy the local transforms of some joints of character i, and its transform, to a `CharacterPose` of its own."""
    tile, lane = i // TILE, i % TILE
    for k in range(joints.size):
        j = joints[k]
        store3(pose.t[k], load3(tiles.t[tile, 3 * j : 3 * j + 3, lane]))
        store4(pose.r[k], load4(tiles.r[tile, 4 * j : 4 * j + 4, lane]))
        store3(pose.s[k], load3(tiles.s[tile, 3 * j : 3 * j + 3, lane]))
    for c in range(12):
        pose.transform[c] = tiles.transform[tile, c, lane]


@kernel
def store_rotations(tiles, i, joints, pose):
    """Copy the rotations of these joints back."""
    tile, lane = i // TILE, i % TILE
    for k in range(joints.size):
        j = joints[k]
        store4(tiles.r[tile, 4 * j : 4 * j + 4, lane], load4(pose.r[k]))


@kernel
def store_rotated(tiles, i, joints, rotated, pose):
    """Copy the rotations of some of these joints back. rotated: their numbers among the joints."""
    tile, lane = i // TILE, i % TILE
    for n in range(rotated.size):
        k = rotated[n]
        j = joints[k]
        store4(tiles.r[tile, 4 * j : 4 * j + 4, lane], load4(pose.r[k]))


@kernel
def store_translation(tiles, i, joints, k, pose):
    """Copy the translation of joint k of the subset back."""
    tile, lane, j = i // TILE, i % TILE, joints[k]
    store3(tiles.t[tile, 3 * j : 3 * j + 3, lane], load3(pose.t[k]))


class JointSubset:
    """Some joints of a skeleton, with all above them, parents before children."""

    def __init__(self, skeleton: Skeleton, joints: Any) -> None:
        self.joints = np.array(skeleton.above(joints), np.int64)
        self._number = np.full(len(skeleton) + 1, -1)
        self._number[self.joints] = np.arange(self.joints.size)
        self.parents = self.number(skeleton.parents[self.joints])

    def number(self, joints: Any) -> Any:
        """The numbers of joints in the subset; -1 for none, and negative marks stay as they are."""
        joints = np.asarray(joints)
        return np.where(joints < 0, joints, self._number[np.maximum(joints, 0)])

    def renumbered(self, records: Any, *fields: str) -> Any:
        """A copy of records in which these fields name joints by their numbers in the subset."""
        copied = records.copy()
        for field in fields:
            copied[field] = self.number(copied[field])
        return kernel_views(copied)[0]
