"""Write glTF files: `encode` is the list of steps.

An old file becomes one that needs no other: the first buffer becomes the binary chunk, as the format requires, and its
content keeps its offsets. Other buffers beside the file become data: URIs, because there is only one chunk and anything
may refer to them by index. Pictures beside the file move to the end of the chunk.
"""

import base64
import logging
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinema.errors import FileError, InputError
from kinema.io import names
from kinema.io.gltf.accessors import DocumentBuffers, beside
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document, parse
from kinema.io.gltf.fresh import fresh
from kinema.io.gltf.limits import LARGEST_FILE
from kinema.io.gltf.output import Output, add_clip
from kinema.model.character import Character
from kinema.model.clip import Clip

log: logging.Logger = logging.getLogger("kinema")

PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "image/webp",
    b"\xabKTX 20\xbb": "image/ktx2",
}
"""MIME types of pictures by the first bytes of their files."""


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
    if document is not None:
        output.shaped = document.shaped
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


def pack(data: bytes, path: Path) -> bytes:
    """Return the bytes of a file with those beside it that it refers to, as one binary file."""
    if b'"uri"' not in data:
        return data
    return b"".join(self_contained(parse(data, path.name, path.parent)).glb())


def self_contained(document: Document) -> Output:
    """Return an output that starts with the document's JSON and bytes."""
    buffers, cursors = DocumentBuffers(document), document.root.each("buffers")
    binary = buffers.read(0) if cursors else document.binary or b""
    output = Output(document.json, binary, _further_chunks(document))
    for i, buffer in enumerate(cursors):
        if not buffer.has("uri"):
            continue
        if i == 0:
            output.listed("buffers")[0] = _without(buffer.value, "uri")
        elif not buffer.text("uri").startswith("data:"):
            output.listed("buffers")[i] = {**buffer.value, "uri": _data_uri(buffers.read(i))}
    for i, image in enumerate(document.root.each("images")):
        if image.has("uri") and not image.text("uri").startswith("data:"):
            output.listed("images")[i] = _embedded(output, document.folder, image)
    return output


def _embedded(output: Output, folder: Path | None, image: Cursor) -> dict[str, Any]:
    """Move a picture into the output. One that cannot be read stays a reference: clips do not need it."""
    room = LARGEST_FILE - output.length
    try:
        data = beside(image.at("uri"), image.text("uri"), folder, room + 1)
        if len(data) > room:
            image.at("uri").fail(f"is too large: the new file may have {LARGEST_FILE:,} bytes to be read again")
    except FileError as problem:
        log.warning("the saved file still refers to a picture outside: %s", problem)
        return image.value
    kind = image.text("mimeType", next((kind for start, kind in PICTURES.items() if data.startswith(start)), ""))
    if not kind or not data:
        return {**image.value, "uri": _data_uri(data)}
    return {**_without(image.value, "uri"), "bufferView": output.add_view(data), "mimeType": kind}


def _without(thing: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in thing.items() if name != key}


def _data_uri(data: bytes) -> str:
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode("ascii")


def _further_chunks(document: Document) -> bytes:
    """Return the unknown chunks at the end of a binary file."""
    if document.container != "glb":
        return b""
    data, at = document.original, 12
    end = struct.unpack_from("<I", data, 8)[0]
    for kind in (b"JSON", b"BIN\0"):
        if data[at + 4 : at + 8] == kind:
            at += 8 + struct.unpack_from("<I", data, at)[0]
    return data[at:end]
