"""Joint values as .pkl: the dict of the .npz file as a pickle, and the two keys that GMR's files have without a value.

Kinema writes pickles and never reads them: reading one can run code.
"""

from __future__ import annotations

import pickle

from kinema.io.joint_values.values import LARGEST_FILE as LARGEST_FILE
from kinema.io.joint_values.values import decode as decode
from kinema.io.joint_values.values import detect as detect
from kinema.io.joint_values.values import joint_values
from kinema.model.character import Character
from kinema.model.clip import Clip


def encode(character: Character, clip: str | Clip | None = None, fps: float | None = None) -> list[bytes]:
    """Return the bytes of a file."""
    found = joint_values(character, clip, fps).by_name()
    return [pickle.dumps({**found, "local_body_pos": None, "link_body_list": None}, protocol=4)]
