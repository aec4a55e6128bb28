"""Accessors: the arrays of a document, each decoded once, within the limits of the file and of memory.

Their bytes are in the file, in a data: URI, or in a file beside it. Files beside it are opened only in the document's
own folder and below, whatever a URI says.
"""

import base64
import binascii
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import numpy as np

from kinema.io.gltf.cursor import Cursor, Cursors
from kinema.io.gltf.document import Document
from kinema.io.gltf.limits import FREE_NUMBERS, LARGEST_FILE, MOST_NUMBERS, NUMBERS_A_BYTE
from kinema.io.surfaces import Place

_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|.*[\\\0]", re.DOTALL)
"""URIs that lead elsewhere: schemes and Windows drives, absolute paths, backslashes, null characters."""


COMPONENTS: dict[int, np.dtype[Any]] = {
    5120: np.dtype("i1"),
    5121: np.dtype("u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
"""Number types by their codes."""

INDICES = (5121, 5123, 5125)
"""Codes of the types that may be indices."""

SHAPES = {
    "SCALAR": (1, 1),
    "VEC2": (1, 2),
    "VEC3": (1, 3),
    "VEC4": (1, 4),
    "MAT2": (2, 2),
    "MAT3": (3, 3),
    "MAT4": (4, 4),
}
"""Columns of an element, and numbers per column."""

_STRIDES = (4, 252)
"""Bytes between elements that a buffer view may declare, by the specification."""

_COLUMN = 4
"""Bytes: each column of a matrix starts at a multiple of this."""

NO_VIEW = -1
"""Marks an accessor without a buffer view, which is all zeros."""


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


class Accessors:
    """The arrays of a document by index.

    An array is (count, width), in its stored type, or float32 if it is normalised. It may be a view into the file's
    bytes, unaligned: it is never modified, and copied before it is computed with.
    """

    cursors: Cursors

    def __init__(self, document: Document) -> None:
        self.cursors = document.root.each("accessors")
        self._views = Views(document)
        self._counts = self.cursors.wholes("count", 1, MOST_NUMBERS)
        self._types = self.cursors.texts("type")
        self._codes = self.cursors.wholes("componentType", 0, max(COMPONENTS))
        self._view = self.cursors.wholes("bufferView", 0, len(self._views) - 1, NO_VIEW)
        self._offset = self.cursors.wholes("byteOffset", 0, LARGEST_FILE, 0)
        self._decoded: dict[int, Any] = {}
        self._used = 0

    def read(self, user: Cursor, key: str) -> Any:
        """Return the array of the accessor that the member `key` refers to, (count, width); matrices by column."""
        return self.array(user.index(key, len(self.cursors)))

    def array(self, index: int) -> Any:
        if index not in self._decoded:
            self._decoded[index] = self._decode(index, self.cursors[index])
        return self._decoded[index]

    def charge(self, numbers: int, cursor: Place) -> None:
        """Count numbers about to be allocated; raise if there are too many in total."""
        self._used += numbers
        most = min(MOST_NUMBERS, FREE_NUMBERS + NUMBERS_A_BYTE * self._views.buffers.size)
        if self._used > most:
            cursor.fail(f"needs {numbers:,} numbers; together more than the {most:,} allowed for a file of this size")

    def _decode(self, index: int, cursor: Cursor) -> Any:
        kind, shape = COMPONENTS.get(self._codes[index]), SHAPES.get(self._types[index])
        count = self._counts[index]
        if kind is None:
            cursor.at("componentType").wrong(f"one of {', '.join(map(str, COMPONENTS))}")
        if shape is None:
            cursor.at("type").wrong(f"one of {', '.join(SHAPES)}")
        size = count * shape[0] * shape[1]
        if self._view[index] == NO_VIEW:
            self.charge(size, cursor)
            array = np.zeros((count, shape[0] * shape[1]), kind)
        else:
            array = self._views.elements(cursor, self._view[index], self._offset[index], kind, shape, count)
            self.charge(size, cursor)
        if "sparse" in cursor.value:
            array = self._replaced(cursor.at("sparse"), array, shape)
        return normalised(array) if "normalized" in cursor.value and cursor.flag("normalized") else array

    def _replaced(self, sparse: Cursor, array: Any, shape: tuple[int, int]) -> Any:
        """Return a copy of an array with the elements of a sparse accessor in it."""
        count = sparse.whole("count", 1, len(array))
        indices_at, values_at = sparse.at("indices"), sparse.at("values")
        code = indices_at.whole("componentType", 0, max(COMPONENTS))
        if code not in INDICES:
            indices_at.at("componentType").wrong(f"one of {', '.join(map(str, INDICES))}")
        self.charge(count * (1 + array.shape[1]), sparse)
        indices = self._part(indices_at, COMPONENTS[code], SHAPES["SCALAR"], count)[:, 0].astype(np.int64)
        if indices.max() >= len(array) or (np.diff(indices) <= 0).any():
            indices_at.fail(f"must increase and stay below {len(array)}")
        array = array.copy()
        array[indices] = self._part(values_at, array.dtype, shape, count)
        return array

    def _part(self, cursor: Cursor, kind: Any, shape: tuple[int, int], count: int) -> Any:
        """(count, numbers): the indices or the values of a sparse accessor."""
        view, offset = cursor.index("bufferView", len(self._views)), cursor.whole("byteOffset", 0, LARGEST_FILE, 0)
        return self._views.elements(cursor, view, offset, kind, shape, count)


class Views:
    """The buffer views of a document: which bytes of which buffer, and the distance between elements."""

    buffers: DocumentBuffers

    def __init__(self, document: Document) -> None:
        self.buffers = DocumentBuffers(document)
        self._cursors = document.root.each("bufferViews")
        self._buffer = self._cursors.wholes("buffer", 0, len(self.buffers) - 1)
        self._start = self._cursors.wholes("byteOffset", 0, LARGEST_FILE, 0)
        self._length = self._cursors.wholes("byteLength", 1, LARGEST_FILE)
        self._stride = self._cursors.wholes("byteStride", *_STRIDES, 0)

    def __len__(self) -> int:
        return len(self._cursors)

    def elements(self, user: Cursor, view: int, offset: int, kind: Any, shape: tuple[int, int], count: int) -> Any:
        """Return the elements of a view from an offset, (count, numbers). shape: columns, and numbers per column.

        user: the accessor, or the part of one, for errors.
        """
        columns, rows = shape
        column = rows * kind.itemsize
        column_stride = column if columns == 1 else -(-column // _COLUMN) * _COLUMN
        element = column_stride * (columns - 1) + column
        stride = self._stride[view] or column_stride * columns
        end = offset + stride * (count - 1) + element
        if stride < element:
            self._cursors[view].fail(f"has a byteStride of {stride}; {user.path} has elements of {element} bytes")
        if end > self._length[view]:
            user.fail(f"reaches {end:,} bytes into {self._cursors[view].path}, which has {self._length[view]:,}")
        data, start = self.buffers.read(self._buffer[view]), self._start[view] + offset
        if (last := self._start[view] + self._length[view]) > len(data):
            self._cursors[view].fail(f"reaches to byte {last:,} of a buffer that has {len(data):,}")
        if columns == 1:
            return np.ndarray((count, rows), kind, data, start, (stride, kind.itemsize))
        matrices = np.ndarray((count, columns, rows), kind, data, start, (stride, column_stride, kind.itemsize))
        return matrices.reshape(count, columns * rows)


def normalised(array: Any) -> Any:
    """Convert whole numbers to float32 from 0 to 1, or -1 to 1, as the specification defines."""
    if array.dtype.kind == "f":
        return array
    shares = array.astype(np.float32) / np.float32(np.iinfo(array.dtype).max)
    return np.maximum(shares, np.float32(-1.0))


def float64(*arrays: Any) -> Any:
    """Concatenate arrays into a new float64 array; NaN is kept, to be found later."""
    with np.errstate(invalid="ignore"):  # Signalling NaN would warn.
        return np.concatenate(arrays, dtype=np.float64)
