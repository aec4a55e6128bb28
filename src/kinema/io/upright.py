"""What files of one clip share: which clip, at which rate, and bones whose axes are world-aligned at rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character, chosen_clip
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

FRAME_RATE = 30.0
"""Frames per second of clips without a frame rate of their own."""

EVEN = 1e-2
"""Relative difference up to which the steps between keys count as equal: times are often rounded."""


@dataclass(frozen=True)
class Bones:
    """The B joints of a skeleton that are written."""

    joints: list[int]
    names: tuple[str, ...]
    parents: Any
    """(B,): index among the written joints, -1 for a root."""

    @classmethod
    def of(cls, skeleton: Skeleton, joints: Iterable[int]) -> Bones:
        written = sorted(set(joints))
        if not written:
            raise InputError("joints is empty; a file has at least one joint")
        number = {joint: k for k, joint in enumerate(written)}
        parents = [
            max((number[above] for above in skeleton.above([joint]).tolist()[:-1] if above in number), default=-1)
            for joint in written
        ]
        return cls(written, tuple(skeleton.names[joint] for joint in written), np.array(parents))


class Upright(NamedTuple):
    """Motion of B bones whose axes are world-aligned at rest, over F frames."""

    offsets: Any
    """(B, 3): positions relative to the parent at rest."""
    positions: Any
    """(F, B, 3): positions relative to the parent."""
    rotations: Any
    """(F, B, 4)."""


def clip_to_write(character: Character, clip: str | Clip | None) -> Clip | None:
    """Return the clip to write, given itself or by name; None for a character without clips, if none is given."""
    if clip is not None:
        found = chosen_clip(character, clip)
        if found.skeleton is not character.skeleton:  # Its rest pose may be another one.
            raise InputError(f"clip {found.name!r} belongs to another skeleton than that of {character.name!r}")
        return found
    if len(character.clips) > 1:
        known = ", ".join(map(repr, character.clips))
        raise InputError(f"the file holds one clip; choose one with clip=: there are {known}")
    return next(iter(character.clips.values()), None)


def own_rate(clip: Clip | None) -> float:
    """Frames per second of the track with the most keys, if they are evenly spaced."""
    tracks = () if clip is None else clip.tracks
    times = max((track.times for track in tracks), key=len, default=np.zeros(1))
    steps = np.diff(times)
    if steps.size == 0 or not np.allclose(steps, steps.mean(), rtol=EVEN, atol=0.0):
        return FRAME_RATE
    return float(1 / steps.mean())


def upright(skeleton: Skeleton, bones: Bones, pose: Pose) -> Upright:
    """Express poses (F,) by bones whose axes are world-aligned at rest."""
    rest = skeleton.rest.astype(np.float64)
    away = arrays.mul(skeleton.world_rotations(pose), arrays.conj(skeleton.world_rotations(rest)))[:, bones.joints]
    world, world_at_rest = (skeleton.world(each)[..., :3, 3][..., bones.joints, :] for each in (pose, rest))
    parents = bones.parents
    below = parents >= 0
    rotations, positions, offsets = away.copy(), world.copy(), world_at_rest.copy()
    back = arrays.conj(away[:, parents[below]])
    rotations[:, below] = arrays.unit(arrays.mul(back, away[:, below]))
    positions[:, below] = arrays.rotate(back, world[:, below] - world[:, parents[below]])
    offsets[below] -= world_at_rest[parents[below]]
    return Upright(offsets, positions, rotations)
