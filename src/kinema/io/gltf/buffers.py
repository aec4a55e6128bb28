"""Buffers: the bytes that a document's arrays lie in."""

from __future__ import annotations

from kinema.io.constants import GLTF_LARGEST_FILE
from kinema.io.gltf.document import Document
from kinema.io.gltf.place import Place


class Buffers:
    """The buffers of a document by their indices, each read once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._places = document.root.each("buffers")
        self._read: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._places)

    def read(self, index: int) -> bytes:
        if index not in self._read:
            self._read[index] = self._checked(index, self._places[index])
        return self._read[index]

    def _checked(self, index: int, place: Place) -> bytes:
        """A buffer's bytes, at least as many as it declares."""
        length = place.whole("byteLength", 1, GLTF_LARGEST_FILE)
        data = self._bytes(index, place)
        if len(data) < length:
            place.at("byteLength").fail(f"is {length:,}; there are {len(data):,} bytes")
        return data

    def _bytes(self, index: int, place: Place) -> bytes:
        if place.has("uri"):
            place.at("uri").fail("leads out of the file, which is not read yet")
        if index > 0 or self._document.binary is None:
            place.fail("has no 'uri'; only the first buffer of a binary file may leave it out")
        return self._document.binary
