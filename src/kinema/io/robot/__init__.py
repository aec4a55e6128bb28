"""Robots: URDF and the kinematic part of MJCF. They are not written; their joint values are, see `io/joint_values`.

`xml` makes a tree of elements, `urdf` and `mjcf` list the parts in it, `parts` makes a character of them, and `shapes`
what it looks like.
"""

from __future__ import annotations

import re
from pathlib import Path

from kinema.io.robot import mjcf, urdf
from kinema.io.robot.parts import RobotSource as RobotSource
from kinema.io.robot.xml import LARGEST_FILE as LARGEST_FILE
from kinema.io.robot.xml import parsed
from kinema.model.character import Character

_ROOT = re.compile(rb"<(?:robot|mujoco)[\s>]")


def detect(head: bytes) -> bool:
    """Whether a file begins like a robot. head: its first bytes, without a byte order mark and leading blanks."""
    return head[:1] == b"<" and _ROOT.search(head) is not None


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> Character:
    """Read a robot. folder: where its meshes are looked for; None: nowhere."""
    tree = parsed(data, name)
    return (mjcf if tree.tag == "mujoco" else urdf).read(tree, name, folder)
