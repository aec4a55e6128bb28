"""`load` and `save`: read and write characters, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from kinema.errors import FileError, InputError
from kinema.io import atomic, bvh, gltf
from kinema.io.bvh.format import LARGEST_FILE as LARGEST_BVH
from kinema.io.gltf.document import MAGIC
from kinema.io.gltf.limits import LARGEST_FILE as LARGEST_GLTF
from kinema.io.other_formats import FBX_MAGIC, advice
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.roles import Overrides, find, read_overrides

_BOM = b"\xef\xbb\xbf"


def load(
    path: str | os.PathLike[str],
    *,
    roles: Overrides | str | os.PathLike[str] | None = None,
    rig: bool = True,
    max_bytes: int | None = None,
) -> Character:
    """Load a character from a .glb, .gltf, .vrm or .bvh file. The format is detected from the content.

    The unit and the axes of the file are kept, and every node becomes a joint.

    Parameters
    ----------
    path
        The file.
    roles
        Roles that override those that are found: `kinema.roles.Overrides`, or the path of a TOML file.
    rig
        Whether to find hips, legs, arms and so on (`character.rig`).
    max_bytes
        Refuse larger files. None: 256 MiB for glTF, 128 MiB for BVH.

    Returns
    -------
    Character
        Skeleton, clips, skins and rig; `source` is the glTF document.

    Raises
    ------
    FileError
        If the file is damaged, too large or of another format.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> character = km.load("person.glb")
    >>> pose = character.clips["walk"].sample(0.4)
    """
    path = Path(path)
    most = max(LARGEST_GLTF, LARGEST_BVH) if max_bytes is None else max_bytes
    with path.open("rb") as file:
        data = file.read(most + 1)
    return load_bytes(data, path.name, folder=path.parent, roles=roles, rig=rig, max_bytes=max_bytes)


def load_bytes(
    data: bytes,
    name: str,
    *,
    folder: Path | None = None,
    roles: Overrides | str | os.PathLike[str] | None = None,
    rig: bool = True,
    max_bytes: int | None = None,
) -> Character:
    """Load a character from the bytes of a file, as `load` does.

    name: of the file, for errors; without its suffix, the name of the character. folder: where buffers beside a .gltf
    are looked for; None: nowhere.
    """
    if format_of(data, name, folder) == "bvh":
        character = bvh.parse(data, name, max_bytes=LARGEST_BVH if max_bytes is None else max_bytes)
    else:
        character = gltf.load_bytes(data, name, folder, LARGEST_GLTF if max_bytes is None else max_bytes)
    return _with_rig(character, roles) if rig else character


def format_of(data: bytes, name: str, folder: Path | None = None) -> Literal["glb", "gltf", "bvh"]:
    """Detect the format of a file from its first bytes. name, folder: of the file, for the error."""
    if data.startswith(MAGIC):
        return "glb"
    text = data[:_HEAD].removeprefix(_BOM).lstrip()
    if text.startswith(b"{"):
        return "gltf"
    if text[:9].upper() == b"HIERARCHY":
        return "bvh"
    suffix = ".fbx" if data.startswith(FBX_MAGIC) else Path(name).suffix.lower()
    raise FileError(
        advice((folder or Path()) / name, suffix) or "the file is neither glTF (.glb, .gltf, .vrm) nor BVH", name
    )


_HEAD = 1_024
"""Bytes from which the format is detected; blank lines may come first."""


def _with_rig(character: Character, given: Overrides | str | os.PathLike[str] | None) -> Character:
    """Find the roles of the joints, starting from those that are given or named by a VRM file."""
    overrides = given if given is None or isinstance(given, Overrides) else read_overrides(given)
    search = partial(find, character.skeleton, character.clips, overrides=overrides, skins=character.skins)
    document = character.source
    if not isinstance(document, gltf.Document) or not document.humanoid:
        return replace(character, rig=search())
    try:
        return replace(character, rig=search(known=document.humanoid))
    except InputError as problem:
        found = search()  # Raises again if the given roles are at fault, not the file's.
        document.problems.append(f"the file's own table of bones is ignored: {problem}")
        return replace(character, rig=found)


def save(
    path: str | os.PathLike[str],
    character: Character,
    *,
    clip: str | Clip | None = None,
    fps: float | None = None,
) -> None:
    """Write a character to a .glb or .bvh file, all of it or nothing.

    A .glb holds everything. If the character was loaded from glTF, the new file is the old one with the new clips
    added. A .bvh holds the joints and one clip.

    Parameters
    ----------
    path
        The file; its suffix chooses the format.
    character
        What to write.
    clip
        For .bvh: the clip or its name. Optional if there is at most one.
    fps
        For .bvh: frames per second. None keeps the clip's own rate.

    Returns
    -------
    None

    Raises
    ------
    InputError
        For another suffix, and for `clip` or `fps` with .glb.
    FileError
        If the folder does not exist.

    Examples
    --------
    >>> character = km.load("person.glb")
    >>> km.save("walk.bvh", character, clip="walk", fps=60)
    """
    atomic.write(path, encode(Path(path).suffix.lower(), character, clip=clip, fps=fps))


def encode(
    suffix: str, character: Character, *, clip: str | Clip | None = None, fps: float | None = None
) -> Iterable[bytes]:
    """Return what `save` writes, in pieces. suffix: ".glb" or ".bvh"."""
    if not isinstance(character, Character):
        raise InputError(f"character must be a Character, got {type(character).__name__}")
    if suffix not in (".glb", ".bvh"):
        raise InputError(f"path ends in {suffix!r}; allowed are '.glb' and '.bvh'")
    if suffix == ".bvh":
        source = character.source
        joints = gltf.bones(source, character.skeleton) if isinstance(source, gltf.Document) else None
        return [bvh.dumps(character, clip, fps, joints).encode("utf-8")]
    if clip is not None or fps is not None:
        raise InputError("clip and fps are for .bvh files; a .glb file holds all clips with their own keys")
    return gltf.encode(character)
