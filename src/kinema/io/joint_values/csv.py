"""Joint values as .csv: a row per frame of base position, base rotation (x, y, z, w) and joint values.

The names of the columns and the frame rate stand in a first line that begins with `#`, which `numpy.loadtxt` skips.
"""

import io

import numpy as np

from kinema.io.joint_values.values import LARGEST_FILE as LARGEST_FILE
from kinema.io.joint_values.values import decode as decode
from kinema.io.joint_values.values import detect as detect
from kinema.io.joint_values.values import joint_values
from kinema.model.character import Character
from kinema.model.clip import Clip

_BASE = ("root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw")


def encode(character: Character, clip: str | Clip | None = None, fps: float | None = None) -> list[bytes]:
    """Return the bytes of a file."""
    found = joint_values(character, clip, fps)
    rows = np.concatenate([found.base_positions, found.base_rotations, found.values], axis=1)
    names = [name.replace(",", "_").replace("\n", " ") for name in (*_BASE, *found.names)]
    stream = io.StringIO()
    np.savetxt(stream, rows, "%.9g", ",", header=f"fps={found.fps:g} " + ",".join(names), comments="# ")
    return [stream.getvalue().encode()]
