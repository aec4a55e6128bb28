"""Accessors: the arrays of a document, each decoded once, within what the file and memory have room for."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.io.constants import GLTF_ELEMENT_STRIDE, GLTF_LARGEST_FILE, GLTF_MOST_NUMBERS
from kinema.io.gltf.buffers import Buffers
from kinema.io.gltf.document import Document
from kinema.io.gltf.place import Place

COMPONENTS = {
    5120: np.dtype("i1"),
    5121: np.dtype("u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
"""The types of numbers by their codes."""

INDICES = (5121, 5123, 5125)
"""Those that may be indices."""

SHAPES = {
    "SCALAR": (1, 1),
    "VEC2": (1, 2),
    "VEC3": (1, 3),
    "VEC4": (1, 4),
    "MAT2": (2, 2),
    "MAT3": (3, 3),
    "MAT4": (4, 4),
}
"""Columns of an element, and numbers in each."""

_COLUMN = 4
"""Bytes: each column of a matrix starts at a multiple of it."""


class Accessors:
    """The arrays of a document by their indices.

    An array is (count, width), in the type it is stored in, or as float32 where it is normalised. Nobody changes one:
    whoever reads the same accessor gets the same array.
    """

    def __init__(self, document: Document) -> None:
        self.places = document.root.each("accessors")
        self._views = document.root.each("bufferViews")
        self._buffers = Buffers(document)
        self._decoded: dict[int, Any] = {}
        self._left = GLTF_MOST_NUMBERS

    def __len__(self) -> int:
        return len(self.places)

    def read(self, index: int) -> Any:
        """The array of this accessor, (count, width); a matrix's columns one after another."""
        if index not in self._decoded:
            self._decoded[index] = self._decode(self.places[index])
        return self._decoded[index]

    def charge(self, numbers: int, place: Place) -> None:
        """Count numbers that memory is about to be set aside for; raise where they are too many by now."""
        self._left -= numbers
        if self._left < 0:
            place.fail(
                f"needs {numbers:,} numbers; with what came before, more than the {GLTF_MOST_NUMBERS:,} that are read"
            )

    def _decode(self, place: Place) -> Any:
        code = place.whole("componentType", min(COMPONENTS), max(COMPONENTS))
        if code not in COMPONENTS:
            place.at("componentType").wrong(f"one of {', '.join(map(str, COMPONENTS))}")
        columns, rows = SHAPES[place.one_of("type", SHAPES)]
        count = place.whole("count", 1, GLTF_MOST_NUMBERS)
        self.charge(count * columns * rows, place.at("count"))
        if place.has("bufferView"):
            array = self._elements(place, COMPONENTS[code], columns, rows, count)
        else:
            array = np.zeros((count, columns * rows), COMPONENTS[code])
        sparse = place.maybe("sparse")
        if sparse is not None:
            self._replace(sparse, array, columns, rows)
        return normalised(array) if place.flag("normalized") else array

    def _elements(self, place: Place, kind: Any, columns: int, rows: int, count: int) -> Any:
        """(count, columns * rows): an own copy of what a buffer view holds from an offset on."""
        view = self._views[place.index("bufferView", len(self._views))]
        data, start, length = self._span(view)
        column = rows * kind.itemsize
        column_stride = column if columns == 1 else -(-column // _COLUMN) * _COLUMN
        element = column_stride * (columns - 1) + column
        stride = view.whole("byteStride", *GLTF_ELEMENT_STRIDE, otherwise=column_stride * columns)
        if stride < element:
            view.at("byteStride").fail(f"is {stride}; {place.path} has elements of {element} bytes")
        offset = place.whole("byteOffset", 0, GLTF_LARGEST_FILE, otherwise=0)
        if offset + stride * (count - 1) + element > length:
            place.fail(
                f"reaches {offset + stride * (count - 1) + element:,} bytes into {view.path}, which has {length:,}"
            )
        strides = (stride, column_stride, kind.itemsize)
        return (
            np.ndarray((count, columns, rows), kind, data, start + offset, strides)
            .reshape(count, columns * rows)
            .copy()
        )

    def _span(self, view: Place) -> tuple[bytes, int, int]:
        """A buffer view's buffer, where in it the view starts, and its bytes."""
        data = self._buffers.read(view.whole("buffer", 0, len(self._buffers) - 1))
        start = view.whole("byteOffset", 0, GLTF_LARGEST_FILE, otherwise=0)
        length = view.whole("byteLength", 1, GLTF_LARGEST_FILE)
        if start + length > len(data):
            view.fail(f"reaches to byte {start + length:,} of a buffer that has {len(data):,}")
        return data, start, length

    def _replace(self, sparse: Place, array: Any, columns: int, rows: int) -> None:
        """Put a sparse accessor's own elements into the array."""
        count = sparse.whole("count", 1, len(array))
        where, what = sparse.at("indices"), sparse.at("values")
        code = where.whole("componentType", min(INDICES), max(INDICES))
        if code not in INDICES:
            where.at("componentType").wrong(f"one of {', '.join(map(str, INDICES))}")
        self.charge(count * (1 + columns * rows), sparse.at("count"))
        indices = self._elements(where, COMPONENTS[code], 1, 1, count)[:, 0].astype(np.int64)
        if indices.max() >= len(array) or (np.diff(indices) <= 0).any():
            where.fail(f"must increase and stay below {len(array)}")
        array[indices] = self._elements(what, array.dtype, columns, rows, count)


def normalised(array: Any) -> Any:
    """Whole numbers as shares of the largest, float32: 0 to 1, or -1 to 1, as the specification has it."""
    if array.dtype.kind == "f":
        return array
    shares = array.astype(np.float32) / np.float32(np.iinfo(array.dtype).max)
    return np.maximum(shares, np.float32(-1.0))
