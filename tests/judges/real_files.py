"""Real files that the other programs check, and the clips that are added to them."""

from dataclasses import replace

import numpy as np

from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from tests.assets import FOLDER


def _files(*folders, endings=(".glb", ".gltf", ".vrm", ".vrma")):
    """Paths in the folder of assets; none if it is missing."""
    found = (path for folder in folders for path in sorted((FOLDER / folder).rglob("*")))
    return [path.relative_to(FOLDER).as_posix() for path in found if path.suffix in endings]


GLTF = _files("gltf", "torture", "vrm", "terrain")
BVH = _files("bvh", endings=(".bvh",))


REFUSED = {"torture/Fox_gt_meshopt.glb"}
"""Files with required extensions that are not supported: compressed keys."""

DOUBLED = [path for path in BVH if path.startswith("bvh/bandai/")]
"""Files whose joints all have channels for their position. three.js adds these to the offsets that they replace, which
doubles the bones. Blender reads them as we do."""

ROUGH = {"torture/Animation_SamplerType/Animation_SamplerType_01.gltf": 1 / 127}
"""Tolerance of files whose rotations are stored in bytes: we normalise them, three.js does not."""


def rotated_clip(character):
    """Make a new clip: the first clip or the rest pose, 30 frames per second, with the root and the top node rotated.

    Nodes with a skin are left alone: their surface follows the bones only, and the validator warns if they move.
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
    return Clip.from_poses(
        "rotated_clip", character.skeleton, Pose(pose.translations, rotations, pose.scales), fps=30.0
    )


def with_clip(character, clip):
    return replace(character, clips={**character.clips, clip.name: clip})
