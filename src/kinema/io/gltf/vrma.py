"""VRM animations (.vrma): one clip of a character with a table of human bones, for any VRM character.

A file is glTF with the bones alone. They stand as in the character's rest pose, which VRM requires to be a T-pose that
looks towards +z, with world-aligned axes. Only the hips move; what a clip does with other joints is left out.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinema import validation
from kinema.constants import LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import InputError
from kinema.io.gltf.document import Document
from kinema.io.gltf.document import detect as detect
from kinema.io.gltf.fresh import add_nodes
from kinema.io.gltf.limits import LARGEST_FILE as LARGEST_FILE
from kinema.io.gltf.output import Output, add_clip
from kinema.io.gltf.reader import decode as decode
from kinema.io.upright import Bones, clip_to_write, own_rate, upright
from kinema.model.character import Character
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

EYES = ("leftEye", "rightEye")
"""Bones that the format does not animate."""

MOST_FRAMES = 1_000_000
"""Frames of a file: nine hours at 30 a second."""

TURNED = np.array((-1.0, 1.0, -1.0))
"""Half a turn about y, for positions and axes of rotations: version 0 looks towards -z."""


def encode(character: Character, clip: str | Clip | None = None, fps: float | None = None) -> Iterator[bytes]:
    """Return the bytes of a VRM animation of one clip, in pieces. fps: frames per second; default: the clip's own rate.

    Raises `InputError` for a character without a table of human bones, and for one without clips.
    """
    document = character.source
    humanoid = dict(document.humanoid) if isinstance(document, Document) else {}
    joints = {joint: bone for bone, joint in humanoid.items() if bone not in EYES}
    if "hips" not in joints.values():
        raise InputError(
            f"{character.name!r} has no table of human bones; a .vrma file is written for VRM characters. Retarget the "
            "clip onto one first"
        )
    moving = clip_to_write(character, clip)
    if moving is None:
        raise InputError(f"{character.name!r} has no clips, and a .vrma file holds one")
    bones = Bones.of(character.skeleton, joints)
    bones = replace(bones, names=tuple(joints[joint] for joint in bones.joints))
    turned = TURNED if "VRM" in document.json.get("extensions", {}) else np.ones(3)
    made = _clip(bones, moving, turned, fps)
    output = Output({"asset": {"version": "2.0", "generator": "Kinema"}, "scene": 0})
    output.add("scenes", {"nodes": add_nodes(output, made.skeleton)})
    add_clip(output, made.name, made, range(len(bones.names)))
    table = {bone: {"node": node} for node, bone in enumerate(bones.names)}
    extension = {"specVersion": "1.0", "humanoid": {"humanBones": table}}
    output.json["extensionsUsed"] = ["VRMC_vrm_animation"]
    output.json["extensions"] = {"VRMC_vrm_animation": extension}
    return output.glb()


def _clip(bones: Bones, clip: Clip, turned: np.ndarray, fps: float | None) -> Clip:
    """Return a clip of the bones alone: frames of all rotations, and of the position of the hips."""
    rate = validation.number("fps", own_rate(clip) if fps is None else fps, 1 / LONGEST_FRAME, 1 / SHORTEST_FRAME)
    frames = float(clip.duration or 0.0) * rate
    if frames >= MOST_FRAMES:
        raise InputError(f"clip {clip.name!r} has {frames:,.0f} frames; a file holds up to {MOST_FRAMES:,}")
    times = np.arange(round(frames) + 1) / rate
    motion = upright(clip.skeleton, bones, clip.sample(times).astype(np.float64))
    rotations = motion.rotations * np.append(turned, 1.0)
    count = len(bones.joints)
    rest = Pose.of(motion.offsets * turned, np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)), np.ones((count, 3)))
    skeleton = Skeleton(bones.names, bones.parents.tolist(), rest)
    hips = bones.names.index("hips")
    tracks = [Track(n, "rotation", times, rotations[:, n]) for n in range(count)]
    tracks.append(Track(hips, "translation", times, (motion.positions * turned)[:, hips]))
    return Clip(clip.name, skeleton, tracks, duration=float(times[-1]))
