"""Writing a glTF file: `save` is the list of its steps."""

from __future__ import annotations

import os

from kinema.character import Character
from kinema.clip import Clip
from kinema.errors import InputError
from kinema.io import atomic, names
from kinema.io.gltf.append import add_clip
from kinema.io.gltf.document import Document
from kinema.io.gltf.fresh import fresh
from kinema.io.gltf.self_contained import self_contained


def save(path: str | os.PathLike[str], character: Character) -> None:
    """Write a character to a binary glTF file.

    One that came from a glTF file (its `source`): that file, with the clips added that it does not have yet. Everything
    else stays as it was, also clips that are no longer among the character's. A new clip with a name that the file has
    already is called `Walk_2`. Any other character becomes a file from nothing; it holds neither events nor limits.
    """
    document = character.source if isinstance(character.source, Document) else None
    clips = _new_clips(character, document)
    output = fresh(character) if document is None else self_contained(document)
    node_of_joint = _nodes(character, document)
    for name, clip in clips.items():
        add_clip(output, name, clip, node_of_joint)
    atomic.write(path, output.glb())


def _new_clips(character: Character, document: Document | None) -> dict[str, Clip]:
    """Clips that the file does not have, by names that it does not have either."""
    known = () if document is None else document.clips
    new = {name: clip for name, clip in character.clips.items() if not any(clip is old for old in known)}
    for name, clip in new.items():
        if clip.skeleton.names != character.skeleton.names:
            raise InputError(f"clip {name!r} is of another skeleton than {character.name!r}")
    named = names.unique([*(clip.name for clip in known), *new])[len(known) :]
    return dict(zip(named, new.values(), strict=True))


def _nodes(character: Character, document: Document | None) -> list[int]:
    """For each joint, its node."""
    if document is None:
        return list(range(len(character.skeleton)))
    joints = document.joint_of_node
    if len(joints) != len(character.skeleton):
        raise InputError(
            f"{character.name!r} has {len(character.skeleton)} joints, but its source, {document.name}, has "
            f"{len(joints)} nodes; with source=None it becomes a file of its own"
        )
    return sorted(range(len(joints)), key=joints.__getitem__)
