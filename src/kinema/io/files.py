"""`load` and `save`: read and write characters, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from kinema import validation
from kinema.errors import FileError, InputError
from kinema.io import atomic
from kinema.io.formats import FORMATS, detect, writer
from kinema.io.source import Source
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.roles import Overrides, find, read_overrides


def load(
    path: str | os.PathLike[str],
    *,
    roles: Overrides | str | os.PathLike[str] | None = None,
    rig: bool = True,
    max_bytes: int | None = None,
) -> Character:
    """Load a character from a .glb, .gltf, .vrm, .fbx, .bvh, .npz (SMPL), .usd, .urdf or .xml (MJCF) file.

    The format is detected from the content. Every node becomes a joint. The unit and the axes of the file are kept; FBX
    and USD are converted to metres, y up, and SMPL motion to y up.

    Parameters
    ----------
    path
        The file.
    roles
        Roles that override those that are found: `kinema.roles.Overrides`, or the path of a TOML file.
    rig
        Whether to find hips, legs, arms and so on. Without, `character.rig` is None, enough for `solve` and `FullBody`.
    max_bytes
        Refuse larger files. None: what the format allows: 256 MiB for glTF, SMPL and USD, 512 MiB for FBX, 128 MiB for
        BVH, 32 MiB for robots.

    Returns
    -------
    Character
        Skeleton, clips, skins and rig; `source` is what else the file says.

    Raises
    ------
    FileError
        If the file cannot be opened, is damaged, too large or of another format.

    Examples
    --------
    >>> character = km.load("person.glb")
    >>> pose = character.clips["walk"].sample(0.4)
    """
    validation.instance("path", path, str, os.PathLike)
    path, max_bytes = Path(path), None if max_bytes is None else validation.whole("max_bytes", max_bytes, 1)
    most = max(format.codec.LARGEST_FILE for format in FORMATS) if max_bytes is None else max_bytes
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as problem:  # A zero in the name is a ValueError.
        raise FileError(getattr(problem, "strerror", None) or str(problem), os.fspath(path)) from None
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
    codec = detect(data, name, folder).codec
    most = codec.LARGEST_FILE if max_bytes is None else max_bytes
    if len(data) > most:
        raise FileError(f"the file is larger than {most:,} bytes; pass max_bytes to read larger files", name)
    character = codec.decode(data, name, folder, most)
    return _with_rig(character, roles) if rig else character


def _with_rig(character: Character, given: Overrides | str | os.PathLike[str] | None) -> Character:
    """Find the roles of the joints, starting from those that are given or named by a VRM file."""
    overrides = given if given is None or isinstance(given, Overrides) else read_overrides(given)
    search = partial(find, character.skeleton, character.clips, overrides=overrides, skins=character.skins)
    source = character.source
    if isinstance(source, Source) and source.directions is not None:
        stated = Overrides(up=source.directions[0], forward=source.directions[1])
        search = partial(search, overrides=stated if overrides is None else overrides.over(stated))
    if not isinstance(source, Source) or not source.humanoid:
        return replace(character, rig=search())
    try:
        return replace(character, rig=search(known=source.humanoid))
    except InputError as problem:
        found = search()  # Raises again if the given roles are at fault, not the file's.
        source.problems.append(f"the file's own table of bones is ignored: {problem}")
        return replace(character, rig=found)


def save(
    path: str | os.PathLike[str], character: Character, *, clip: str | Clip | None = None, fps: float | None = None
) -> None:
    """Write a character to a .glb or .bvh file, or the motion of a robot to .npz, .csv or .pkl; all or nothing.

    A .glb holds everything. If the character was loaded from glTF, the new file is the old one with the new clips
    added. A .bvh holds the joints and one clip; .npz, .csv and .pkl hold the base pose and the joint values of a clip.

    Parameters
    ----------
    path
        The file; its suffix chooses the format.
    character
        What to write.
    clip
        For all but .glb: the clip or its name. Optional if there is at most one.
    fps
        For all but .glb: frames per second. None keeps the clip's own rate.

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
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a path, got {type(path).__name__}; the character comes second")
    atomic.write(path, encode(Path(path).suffix.lower(), character, clip=clip, fps=fps))


def encode(
    suffix: str, character: Character, *, clip: str | Clip | None = None, fps: float | None = None
) -> Iterable[bytes]:
    """Return what `save` writes, in pieces. suffix: of a format that is written, such as ".glb"."""
    if not isinstance(character, Character):
        raise InputError(f"character must be a Character, got {type(character).__name__}")
    format = writer(suffix)
    if format.one_clip:
        return format.codec.encode(character, clip, fps)
    if clip is not None or fps is not None:
        raise InputError(f"clip and fps are for files of one clip; a {suffix} file holds all clips with their own keys")
    return format.codec.encode(character)
