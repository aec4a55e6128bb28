"""Buffers: the bytes of a document's arrays: inside the file, in a data: URI, or in a file beside it.

Files beside it are opened only in the document's own folder and below, whatever a URI says.
"""

import base64
import binascii
import re
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document
from kinema.io.gltf.limits import LARGEST_FILE

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|.*[\\\0]", re.DOTALL)
"""URIs that lead elsewhere: schemes and Windows drives, absolute paths, backslashes, null characters."""


class DocumentBuffers:
    """The buffers of a document by index, each read once. size: total bytes read so far."""

    size: int

    def __init__(self, document: Document) -> None:
        self._document = document
        self._cursors = document.root.each("buffers")
        self._read: dict[int, bytes] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._cursors)

    def read(self, index: int) -> bytes:
        """Return the bytes of a buffer, at least as many as it declares."""
        if index not in self._read:
            self._read[index] = self._checked(index, self._cursors[index])
        return self._read[index]

    def _checked(self, index: int, cursor: Cursor) -> bytes:
        length = cursor.whole("byteLength", 1, LARGEST_FILE)
        if self.size + length > LARGEST_FILE:
            cursor.at("byteLength").fail(f"is {length:,}; all buffers together may have at most {LARGEST_FILE:,} bytes")
        if cursor.has("uri"):
            where, uri, folder = cursor.at("uri"), cursor.text("uri"), self._document.folder
            data = inline(where, uri) if uri.startswith("data:") else beside(where, uri, folder, length)
        elif index > 0 or self._document.binary is None:
            cursor.fail("has no 'uri'; only the first buffer of a binary file may leave it out")
        else:
            data = self._document.binary
        if len(data) < length:
            cursor.at("byteLength").fail(f"is {length:,}; there are {len(data):,} bytes")
        self.size += length
        return data


def inline(cursor: Cursor, uri: str) -> bytes:
    """Decode a data: URI."""
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
    """Read up to `most` bytes of a file in the document's folder."""
    path = _inside(cursor, uri, folder)
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as problem:
        cursor.fail(f"is {uri[:60]!r}, which cannot be read: {problem.strerror}")


def _inside(cursor: Cursor, uri: str, folder: Path | None) -> Path:
    """Resolve a relative URI to a file in the folder or below, following links."""
    if folder is None:
        cursor.fail(f"is {uri[:60]!r}, a file beside this one, which was not loaded from a folder")
    name = unquote(uri, errors="replace")
    if _ELSEWHERE.match(uri) or _ELSEWHERE.match(name) or ".." in name.split("/"):
        cursor.fail(f"is {uri[:60]!r}; allowed are files in the document's own folder and below")
    try:
        path, home = (folder / name).resolve(strict=True), folder.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # Missing, an invalid name, or a loop of links.
        cursor.fail(f"is {uri[:60]!r}; there is no such file beside this one")
    if not path.is_relative_to(home):
        cursor.fail(f"is {uri[:60]!r}, a link that leads out of the document's folder")
    if not path.is_file():
        cursor.fail(f"is {uri[:60]!r}, which is not a file")
    return path
