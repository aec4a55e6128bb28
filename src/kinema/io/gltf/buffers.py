"""Buffers: the bytes that a document's arrays lie in: inside the file, in a data: URI, or in a file beside it.

A file beside it is only ever one in the document's own folder or below; nothing else is opened, whatever a URI says.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document
from kinema.io.gltf.limits import LARGEST_FILE

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|.*[\\\0]", re.DOTALL)
"""http:, file:, and the drives of Windows, C:; the root folder; what other systems take for a folder, or an end."""


class Buffers:
    """The buffers of a document by their indices, each read once. size: bytes of those read so far."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._cursors = document.root.each("buffers")
        self._read: dict[int, bytes] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._cursors)

    def read(self, index: int) -> bytes:
        """The bytes of a buffer, at least as many as it declares."""
        if index not in self._read:
            self._read[index] = self._checked(index, self._cursors[index])
        return self._read[index]

    def _checked(self, index: int, cursor: Cursor) -> bytes:
        length = cursor.whole("byteLength", 1, LARGEST_FILE)
        if self.size + length > LARGEST_FILE:
            cursor.at("byteLength").fail(f"is {length:,}; all buffers together may have {LARGEST_FILE:,} bytes")
        data = self._bytes(index, cursor, length)
        if len(data) < length:
            cursor.at("byteLength").fail(f"is {length:,}; there are {len(data):,} bytes")
        self.size += length
        return data

    def _bytes(self, index: int, cursor: Cursor, length: int) -> bytes:
        if cursor.has("uri"):
            where, uri = cursor.at("uri"), cursor.text("uri")
            return inline(where, uri) if uri.startswith("data:") else beside(where, uri, self._document.folder, length)
        if index > 0 or self._document.binary is None:
            cursor.fail("has no 'uri'; only the first buffer of a binary file may leave it out")
        return self._document.binary


def inline(cursor: Cursor, uri: str) -> bytes:
    """The bytes in a data: URI."""
    head, comma, body = uri.partition(",")
    if not comma:
        cursor.fail("is a data: URI without a comma")
    if not head.endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(unquote(body) if "%" in body else body, validate=True)
    except (binascii.Error, ValueError):
        cursor.fail("is a data: URI that is not base64")


def beside(cursor: Cursor, uri: str, folder: Path | None, most: int) -> bytes:
    """The first bytes of a file in a document's folder, as many as there are and no more than `most`."""
    path = _inside(cursor, uri, folder)
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as problem:
        cursor.fail(f"is {uri[:60]!r}, which cannot be read: {problem.strerror}")


def _inside(cursor: Cursor, uri: str, folder: Path | None) -> Path:
    """The file a relative URI names, links followed, if it is in the folder or below."""
    if folder is None:
        cursor.fail(f"is {uri[:60]!r}, a file beside this one; this one was not read from a folder")
    name = unquote(uri, errors="replace")
    if _ELSEWHERE.match(uri) or _ELSEWHERE.match(name) or ".." in name.split("/"):
        cursor.fail(f"is {uri[:60]!r}; allowed are files in the document's own folder and below")
    try:
        path, home = (folder / name).resolve(strict=True), folder.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # Not there, a name too long or of no characters, links in a ring.
        cursor.fail(f"is {uri[:60]!r}; there is no such file beside this one")
    if not path.is_relative_to(home):
        cursor.fail(f"is {uri[:60]!r}, a link that leads out of the document's folder")
    if not path.is_file():
        cursor.fail(f"is {uri[:60]!r}, which is not a file")
    return path
