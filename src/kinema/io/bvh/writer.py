"""Write one clip of a character as BVH."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kinema import validation
from kinema.constants import LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import InputError
from kinema.io import names
from kinema.io.bvh.reader import BYTES_A_NUMBER, END_SUFFIX, LARGEST_FILE, MOST_FRAMES, MOST_JOINTS
from kinema.io.source import Source
from kinema.io.upright import Bones, Upright, clip_to_write, own_rate, upright
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint

_STILL = 1e-9
"""Share of the skeleton's size by which a joint may move without needing position channels."""

_DECIMALS = 6
"""Decimals of degrees and lengths in the motion: 1e-8 rad, and a micrometre in a file in metres."""

_TAB = "\t"


def encode(character: Character, clip: str | Clip | None = None, fps: float | None = None) -> list[bytes]:
    """Return one clip of a character as a BVH file: of the bones, if its source tells them from other joints."""
    joints = character.source.bones(character.skeleton) if isinstance(character.source, Source) else None
    return [dumps(character, clip, fps, joints).encode("utf-8")]


def dumps(
    character: Character,
    clip: str | Clip | None = None,
    fps: float | None = None,
    joints: Sequence[Joint] | None = None,
) -> str:
    """Return one clip of a character as the text of a BVH file.

    clip: the clip or its name; optional if there is at most one (without any, the rest pose is written).
    fps: frames per second; default: the clip's own rate. joints: the joints to write, default all; each is parented to
    its nearest ancestor that is written.

    All rotations are zero in the rest pose of a BVH file, so joints get world-aligned axes at rest; the position of
    every joint stays the same in every frame. Whitespace and braces in names become underscores. A limb whose last
    joint has no child named `..._end` gets an End Site of length zero, because the format requires one.

    Raises `InputError` for a clip of another skeleton, and for one too long to be read back with the default limits.
    """
    skeleton = character.skeleton
    moving = clip_to_write(character, clip)
    rate = validation.number("fps", own_rate(moving) if fps is None else fps, 1 / LONGEST_FRAME, 1 / SHORTEST_FRAME)
    bones = Bones.of(skeleton, range(len(skeleton)) if joints is None else map(skeleton.index, joints))
    times = _frame_times(0.0 if moving is None else float(moving.duration or 0.0), rate, len(bones.joints))
    if moving is None:
        pose = Pose.of(*(array[np.newaxis] for array in skeleton.rest.arrays()))
    else:
        pose = moving.sample(times)
    motion = upright(skeleton, bones, pose.astype(np.float64))
    layout = _layout(bones, motion)
    rows = _rows(layout, motion)
    text = "\n".join(
        [*_header(bones, layout, motion.offsets), f"Frames: {len(rows)}", f"Frame Time: {_text([1 / rate])}", *rows, ""]
    )
    if len(text) > LARGEST_FILE:
        raise InputError(f"the BVH file would have {len(text):,} bytes; at most {LARGEST_FILE:,} can be read back")
    return text


def _frame_times(duration: float, rate: float, joints: int) -> Any:
    """(F,): seconds of each frame, few enough for the file to be read back."""
    count = round(duration * rate) + 1
    most = min(MOST_FRAMES, LARGEST_FILE // BYTES_A_NUMBER // (6 * joints))
    if joints > MOST_JOINTS or count > most:
        raise InputError(
            f"{duration:g} seconds at {rate:g} frames per second are {count:,} frames of {joints:,} joints; "
            f"a BVH file holds up to {MOST_JOINTS:,} joints, and with {joints:,} of them {most:,} frames"
        )
    return np.arange(count) / rate


@dataclass(frozen=True)
class _Layout:
    """How bones are written."""

    order: list[int]
    """Bones, depth first."""
    depths: list[int]
    """Depth of each bone in `order`."""
    ends: Any
    """(B,): whether a bone is written as an End Site."""
    moved: Any
    """(B,): whether a bone has position channels."""


def _layout(bones: Bones, motion: Upright) -> _Layout:
    offsets, positions, rotations = motion
    parents = bones.parents.tolist()
    children: list[list[int]] = [[] for _ in parents]
    for joint, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(joint)
    order, depths = [], []
    waiting = [(root, 0) for root, parent in enumerate(parents) if parent < 0][::-1]
    while waiting:
        joint, depth = waiting.pop()
        order.append(joint)
        depths.append(depth)
        waiting += [(child, depth + 1) for child in reversed(children[joint])]
    moved = np.abs(positions - offsets).max(axis=(0, 2)) > _STILL * np.abs(offsets).sum(axis=-1).max()
    rotated = (np.abs(rotations[..., :3]) > _STILL).any(axis=(0, 2))
    ends = np.array(
        [
            parent >= 0 and not children[joint] and _is_end(bones.names[joint], bones.names[parent])
            for joint, parent in enumerate(parents)
        ]
    )
    return _Layout(order, depths, ends & ~moved & ~rotated, moved | (bones.parents < 0))


def _is_end(name: str, parent: str) -> bool:
    """Whether reading an End Site below this parent gives this name."""
    return re.fullmatch(re.escape(parent + END_SUFFIX) + r"(_\d+)?", name) is not None


def _header(bones: Bones, layout: _Layout, offsets: Any) -> list[str]:
    written = names.unique([re.sub(r"[\s{}]+", "_", name) or "_" for name in bones.names])
    lines = ["HIERARCHY"]
    for (joint, depth), (_, next_depth) in pairwise([*zip(layout.order, layout.depths, strict=True), (-1, 0)]):
        kind = "End Site" if layout.ends[joint] else f"{'JOINT' if depth else 'ROOT'} {written[joint]}"
        inner = [f"OFFSET {_text(offsets[joint])}"]
        if not layout.ends[joint]:
            position = "Xposition Yposition Zposition " if layout.moved[joint] else ""
            inner.append(f"CHANNELS {6 if position else 3} {position}Zrotation Xrotation Yrotation")
            if next_depth <= depth:
                inner += ["End Site", "{", _TAB + "OFFSET 0 0 0", "}"]
        lines += [_TAB * depth + line for line in (kind, "{", *(_TAB + line for line in inner))]
        lines += [_TAB * level + "}" for level in range(depth, next_depth - 1, -1)]
    return [*lines, "MOTION"]


def _degrees(rotations: Any) -> Any:
    """(F, J, 3): the angles about z, x and y of these rotations, as continuous from frame to frame as possible.

    Each angle is taken from what the one before leaves, so that the product is right even where the first angle is
    noise: at 90 degrees about x, where z and y are the same axis.
    """
    m = arrays.to_matrix(rotations)
    z = np.arctan2(-m[..., 0, 1], m[..., 1, 1])
    rest = arrays.to_matrix(arrays.from_axis_angle((0.0, 0.0, 1.0), -z)) @ m
    x = np.arctan2(rest[..., 2, 1], rest[..., 1, 1])
    y = np.arctan2(rest[..., 0, 2], rest[..., 0, 0])
    angles = np.stack((z, x, y), axis=-1)
    # The other set of angles of the same rotation.
    others = np.stack((z + np.pi, np.pi - x, y + np.pi), axis=-1)
    for frame in range(1, len(angles)):
        before = angles[frame - 1]
        near, far = (at + 2 * np.pi * np.round((before - at) / (2 * np.pi)) for at in (angles[frame], others[frame]))
        nearer = np.abs(near - before).sum(-1, keepdims=True) <= np.abs(far - before).sum(-1, keepdims=True)
        angles[frame] = np.where(nearer, near, far)
    return np.degrees(angles)


def _rows(layout: _Layout, motion: Upright) -> list[str]:
    """One line of text per frame."""
    degrees = np.round(_degrees(motion.rotations), _DECIMALS)
    positions = np.round(motion.positions, _length_decimals(motion.offsets))
    columns = []
    for joint in layout.order:
        if layout.ends[joint]:
            continue
        if layout.moved[joint]:
            columns.append(positions[:, joint])
        columns.append(degrees[:, joint])
    return [_text(row) for row in np.concatenate(columns, axis=1) + 0.0]  # No -0.


def _length_decimals(offsets: Any) -> int:
    """Decimals of lengths: six, or more where the whole skeleton is smaller than 1."""
    size = float(np.abs(offsets).sum(axis=-1).max())
    smaller = 0 if size == 0.0 else max(0, -math.floor(math.log10(size)))
    return _DECIMALS + min(smaller, 300)


def _text(values: Sequence[float] | Any) -> str:
    return " ".join(format(value, ".12g") for value in np.asarray(values).tolist())
