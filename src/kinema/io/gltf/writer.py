"""Write glTF files: `encode` is the list of steps."""

from __future__ import annotations

from collections.abc import Iterator

from kinema.errors import InputError
from kinema.io import names
from kinema.io.gltf.append import add_clip
from kinema.io.gltf.document import Document
from kinema.io.gltf.fresh import fresh
from kinema.io.gltf.output import Output
from kinema.io.gltf.self_contained import self_contained
from kinema.model.character import Character
from kinema.model.clip import Clip


def encode(character: Character) -> Iterator[bytes]:
    """Return the bytes of a binary glTF file of a character, in pieces.

    A character that was loaded from glTF (its `source`) becomes its old file with the new clips added. Everything else
    stays unchanged, including clips that the character no longer has. A new clip whose name is taken becomes `Walk_2`.
    Any other character becomes a new file, which holds neither events nor limits.

    Raises `InputError` for a clip of another skeleton, and if the number of joints no longer matches the source.
    """
    return output_of(character).glb()


def output_of(character: Character) -> Output:
    """Return what `encode` writes, to add to."""
    document = character.source if isinstance(character.source, Document) else None
    clips = _new_clips(character, document)
    output = fresh(character) if document is None else self_contained(document)
    node_of_joint = _nodes(character, document)
    for name, clip in clips.items():
        add_clip(output, name, clip, node_of_joint)
    return output


def _new_clips(character: Character, document: Document | None) -> dict[str, Clip]:
    """Clips that the file does not have yet, under names that it does not use yet."""
    known = () if document is None else document.clips
    new = {name: clip for name, clip in character.clips.items() if not any(clip is old for old in known)}
    for name, clip in new.items():
        if clip.skeleton.names != character.skeleton.names:
            raise InputError(f"clip {name!r} belongs to another skeleton than that of {character.name!r}")
    named = names.unique([*(clip.name for clip in known), *new])[len(known) :]
    return dict(zip(named, new.values(), strict=True))


def _nodes(character: Character, document: Document | None) -> list[int]:
    """(J,): the node of each joint."""
    if document is None:
        return list(range(len(character.skeleton)))
    joints = document.joint_of_node
    if len(joints) != len(character.skeleton):
        raise InputError(
            f"{character.name!r} has {len(character.skeleton)} joints, but its source, {document.name}, has "
            f"{len(joints)} nodes; set source=None to write a new file"
        )
    return sorted(range(len(joints)), key=joints.__getitem__)
