"""Joint values as .npz: `fps`, `root_pos` (T, 3), `root_rot` (T, 4) x y z w, `dof_pos` (T, N), `joint_names` (N)."""

import io
from typing import Any

import numpy as np

from kinema.io.joint_values.values import LARGEST_FILE as LARGEST_FILE
from kinema.io.joint_values.values import decode as decode
from kinema.io.joint_values.values import detect as detect
from kinema.io.joint_values.values import frame_times, joint_values, one_clip
from kinema.io.smpl import SmplSource, motion_of
from kinema.model.character import Character
from kinema.model.clip import Clip


def encode(character: Character, clip: str | Clip | None = None, fps: float | None = None) -> list[bytes]:
    """Return the bytes of a file: of joint values, or of SMPL rotations if the body was loaded from such a file."""
    if isinstance(character.source, SmplSource):
        chosen = one_clip(character, clip)
        times, rate = frame_times(chosen, fps, 10 * len(character.skeleton))
        arrays: dict[str, Any] = motion_of(character, chosen, times, rate)
    else:
        arrays = joint_values(character, clip, fps).by_name()
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return [stream.getvalue()]
