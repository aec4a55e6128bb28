"""`load` and `save`: characters from files and back, whatever the format."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from kinema.character import Character
from kinema.clip import Clip
from kinema.errors import FileError, InputError
from kinema.io import bvh, gltf
from kinema.io.constants import FILE_HEAD
from kinema.io.gltf.document import MAGIC
from kinema.roles import Overrides, find, read_overrides


def load(
    path: str | os.PathLike[str], *, roles: Overrides | str | os.PathLike[str] | None = None, rig: bool = True
) -> Character:
    """The character of a .glb, .gltf, .vrm or .bvh file; which of them it is, its content says.

    The world is the file's: its unit, its axes, every node above the skeleton counted. rig: whether to look for which
    joint is what. roles: what is known of that already, over what is found: `kinema.roles.Overrides`, or the path of a
    small TOML file.
    """
    path = Path(path)
    character = (gltf.load if format_of(path) in ("glb", "gltf") else bvh.load)(path)
    return _with_rig(character, roles) if rig else character


def format_of(path: Path) -> Literal["glb", "gltf", "bvh"]:
    """What a file is, by how it begins, whatever it is called."""
    with path.open("rb") as file:
        head = file.read(FILE_HEAD)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(MAGIC):
        return "glb"
    if text.startswith(b"{"):
        return "gltf"
    if text[:9].upper() == b"HIERARCHY":
        return "bvh"
    raise FileError("the file is neither glTF (.glb, .gltf, .vrm) nor BVH", path.name)


def _with_rig(character: Character, given: Overrides | str | os.PathLike[str] | None) -> Character:
    """The character with its joints' roles, as far as they are found or given."""
    overrides = given if given is None or isinstance(given, Overrides) else read_overrides(given)
    look = partial(find, character.skeleton, character.clips, overrides=overrides, skins=character.skins)
    document = character.source
    if not isinstance(document, gltf.Document) or not document.humanoid:
        return replace(character, rig=look())
    try:
        return replace(character, rig=look(known=document.humanoid))
    except InputError as problem:
        found = look()  # If it is what was given that cannot be, this says so.
        document.problems.append(f"the file's own table of bones is left out: {problem}")
        return replace(character, rig=found)


def save(
    path: str | os.PathLike[str],
    character: Character,
    *,
    clip: str | Clip | None = None,
    fps: float | None = None,
) -> None:
    """Write a character to a file, by the path's ending: .glb with all it has, .bvh with one clip of its joints.

    A .glb of a character that came from glTF is its file with the new clips added, see `kinema.io.gltf.save`.
    clip: the clip of a .bvh, or its name; may be left out where there is at most one. fps: frames a second of a .bvh.
    The file is written whole or not at all.
    """
    if not isinstance(character, Character):
        raise InputError(f"character must be a Character, got {type(character).__name__}")
    kind = Path(path).suffix.lower()
    if kind not in (".glb", ".bvh"):
        raise InputError(f"path ends in {kind!r}; allowed are '.glb' and '.bvh'")
    if kind == ".bvh":
        source = character.source
        joints = gltf.bones(source, character.skeleton) if isinstance(source, gltf.Document) else None
        bvh.save(path, character, clip, fps, joints)
    elif clip is not None or fps is not None:
        raise InputError("clip and fps are for .bvh files; a .glb holds all clips, with the keys they have")
    else:
        gltf.save(path, character)
