"""Turn a document into the beginning of a binary file that needs no other file.

The first buffer becomes the binary chunk, as the format requires; its content keeps its offsets. Other buffers beside
the file become data: URIs, because there is only one chunk and anything may refer to them by index. Pictures beside the
file move to the end of the chunk.
"""

from __future__ import annotations

import base64
import logging
import struct
from pathlib import Path
from typing import Any

from kinema.errors import FileError
from kinema.io.gltf.buffers import DocumentBuffers, beside
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document, parse
from kinema.io.gltf.limits import LARGEST_FILE
from kinema.io.gltf.output import Output

log: logging.Logger = logging.getLogger("kinema")

PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "image/webp",
    b"\xabKTX 20\xbb": "image/ktx2",
}
"""MIME types of pictures by the first bytes of their files."""


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
