"""A document as the beginning of a binary file that needs no other."""

from __future__ import annotations

from kinema.io.gltf.document import Document
from kinema.io.gltf.output import Output


def self_contained(document: Document) -> Output:
    return Output(document.json, document.binary or b"")
