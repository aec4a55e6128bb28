"""`Output`: a binary glTF file while it is put together: JSON that grows, and bytes that grow."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io.gltf.accessors import COMPONENTS, SHAPES
from kinema.io.gltf.document import MAGIC

ALIGNMENT = 4
"""Bytes: chunks, buffer views and what they hold start at multiples of it."""

VERTICES, INDICES = 34962, 34963
"""What a buffer view may say it is for."""

_LARGEST_GLB = 2**32 - 1
"""Bytes of a binary glTF file: its length is stored in 32 bits."""

_CODES = {dtype: code for code, dtype in COMPONENTS.items()}
_TYPES = {columns * rows: name for name, (columns, rows) in SHAPES.items() if name != "MAT2"}


@dataclass(frozen=True)
class Stored:
    """An array for the file, (count, width), in one of the format's own types. bounded: tell its least and greatest."""

    array: Any
    bounded: bool = False


class Output:
    """A file that begins as some JSON and some bytes; both are left as they are, and added to.

    tree: the JSON. binary: what the first buffer holds. chunks: what stands behind it in the file, of no known kind.
    """

    def __init__(self, tree: Mapping[str, Any], binary: bytes = b"", chunks: bytes = b"") -> None:
        self.json = dict(tree)
        self._own: set[str] = set()
        self._pieces, self._length = [binary], len(binary)
        self._before = len(binary)
        self._chunks = chunks

    @property
    def length(self) -> int:
        """Bytes in the first buffer by now."""
        return self._length

    # --- adding ------------------------------------------------------------------------------------------------

    def listed(self, key: str) -> list[Any]:
        """An array of the JSON, to be added to. Elements may be replaced, not changed: they are the source's own."""
        if key not in self._own:
            self.json[key] = list(self.json.get(key, ()))
            self._own.add(key)
        return self.json[key]

    def add(self, key: str, thing: Mapping[str, Any]) -> int:
        """Add to an array of the JSON; the index of what was added. Members that are None are left out."""
        things = self.listed(key)
        things.append({name: value for name, value in thing.items() if value is not None})
        return len(things) - 1

    def add_view(self, data: bytes, target: int | None = None) -> int:
        """Add bytes, and a buffer view of them."""
        self._pad()
        start = self._length
        self._put(data)
        return self.add(
            "bufferViews", {"buffer": 0, "byteOffset": start or None, "byteLength": len(data), "target": target}
        )

    def add_arrays(self, arrays: Iterable[Stored], target: int | None = None) -> list[int]:
        """Add arrays, one after another in one buffer view; an accessor for each."""
        view, data, accessors = len(self.listed("bufferViews")), bytearray(), []
        for stored in arrays:
            accessors.append(self.add("accessors", _accessor(stored, view, len(data))))
            data += stored.array.tobytes()
            data += bytes(-len(data) % ALIGNMENT)
        self.add_view(bytes(data), target)
        return accessors

    def _put(self, data: bytes) -> None:
        self._pieces.append(data)
        self._length += len(data)

    def _pad(self) -> None:
        self._put(bytes(-self._length % ALIGNMENT))

    # --- the file ----------------------------------------------------------------------------------------------

    def glb(self) -> Iterator[bytes]:
        """The bytes of the file, piece by piece."""
        if self._length > self._before:
            buffers = self.listed("buffers")
            buffers[:1] = [{**(buffers[0] if buffers else {}), "byteLength": self._length}]
        text = self._text()
        self._pad()
        binary = 8 + self._length if self._length else 0
        size = 12 + 8 + len(text) + binary + len(self._chunks)
        if size > _LARGEST_GLB:
            raise InputError(f"the file would have {size:,} bytes; the format allows {_LARGEST_GLB:,}")
        yield struct.pack("<4sII", MAGIC, 2, size)
        yield struct.pack("<I4s", len(text), b"JSON") + text
        if self._length:
            yield struct.pack("<I4s", self._length, b"BIN\0")
            yield from self._pieces
        yield self._chunks

    def _text(self) -> bytes:
        """The JSON, padded with spaces."""
        try:
            text = json.dumps(self.json, separators=(",", ":"), allow_nan=False).encode("ascii")
        except (ValueError, RecursionError) as problem:  # What nobody reads may still say 1e999.
            raise InputError(f"the file's JSON cannot be written again: {problem}") from None
        return text + b" " * (-len(text) % ALIGNMENT)


def _accessor(stored: Stored, view: int, offset: int) -> dict[str, Any]:
    array = stored.array
    return {
        "bufferView": view,
        "byteOffset": offset or None,
        "componentType": _CODES[array.dtype],
        "count": len(array),
        "type": _TYPES[array.shape[1]],
        "min": array.min(axis=0).tolist() if stored.bounded else None,
        "max": array.max(axis=0).tolist() if stored.bounded else None,
    }


def float32(array: Any, what: str) -> Any:
    """As the format stores real numbers. what: what they are, for the error where one is too large for it."""
    with np.errstate(over="ignore"):
        small = np.ascontiguousarray(array, "<f4")
    if not np.isfinite(small).all():
        raise InputError(f"{what} has numbers beyond {np.finfo(np.float32).max:.3g}, the largest that glTF can store")
    return small
