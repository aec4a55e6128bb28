"""`load` and `save`: characters from files and back, whatever the format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kinema.character import Character
from kinema.errors import FileError, InputError
from kinema.io import bvh, gltf
from kinema.io.constants import FILE_HEAD
from kinema.io.gltf.document import MAGIC


def load(path: str | os.PathLike[str], *, roles: Any = None, rig: bool = True) -> Character:
    """The character of a .glb, .gltf, .vrm or .bvh file; which of them it is, its content says.

    The world is the file's: its unit, its axes, every node above the skeleton counted. rig: whether to look for which
    joint is what. roles: what is known of that already, over what is found.
    """
    path = Path(path)
    with path.open("rb") as file:
        head = file.read(FILE_HEAD)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(MAGIC) or text.startswith(b"{"):
        return gltf.load(path)
    if text[:9].upper() == b"HIERARCHY":
        return bvh.load(path)
    raise FileError("the file is neither glTF (.glb, .gltf, .vrm) nor BVH", path.name)


def save(
    path: str | os.PathLike[str], character: Character, *, clip: str | None = None, fps: float | None = None
) -> None:
    """Write a character to a .bvh file, by the path's ending. clip, fps: as in `kinema.io.bvh.save`."""
    path = Path(path)
    if path.suffix.lower() != ".bvh":
        raise InputError(f"path ends in {path.suffix!r}; allowed is .bvh")
    bvh.save(path, character, clip, fps)
