"""Real files that judges are asked about, and what is done to them."""

from dataclasses import replace

import numpy as np

from kinema.clip import Clip
from kinema.math import arrays
from kinema.pose import Pose
from tests.assets import FOLDER


def _files(*folders, endings=(".glb", ".gltf", ".vrm", ".vrma")):
    """Paths in the folder of assets; none where there is no such folder."""
    found = (path for folder in folders for path in sorted((FOLDER / folder).rglob("*")))
    return [path.relative_to(FOLDER).as_posix() for path in found if path.suffix in endings]


GLTF = _files("gltf", "torture", "vrm", "terrain")
BVH = _files("bvh", endings=(".bvh",))


REFUSED = {"torture/Fox_gt_meshopt.glb"}
"""Its keys are compressed, and it says that a reader must know how."""

ROUGH = {"torture/Animation_SamplerType/Animation_SamplerType_01.gltf": 1 / 127}
"""Turns stored in bytes are not of length 1: we make them so, three.js takes them as they are."""


def turned(character):
    """A new clip: the first one, or the rest pose, at 30 frames a second, with the root and the topmost node turned.

    Not one that has a skin: its surface goes by the bones alone, and the validator warns who moves it.
    """
    document, first = character.source, next(iter(character.clips.values()), None)
    times = np.arange(31) / 30
    pose = Clip("rest", character.skeleton, ()).sample(times) if first is None else first.sample(times)
    rotations = pose.rotations.copy()
    turns = arrays.from_axis_angle((0.0, 1.0, 0.0), 0.7 * np.sin(times * 3)).astype(rotations.dtype)
    skinned = {
        joint for node, joint in zip(document.json["nodes"], document.joint_of_node, strict=True) if "skin" in node
    }
    topmost = min(set(range(len(character.skeleton))) - skinned)
    for joint in {topmost, first.root if first else topmost} - skinned:
        rotations[:, joint] = arrays.mul(rotations[:, joint], turns)
    return Clip.from_poses("turned", character.skeleton, Pose(pose.translations, rotations, pose.scales), fps=30.0)


def with_clip(character, clip):
    return replace(character, clips={**character.clips, clip.name: clip})
