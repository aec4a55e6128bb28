"""Files of the character scene: dropped characters, and what the page draws."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import Actor
from kinema.demo.scenes.own_ground import OwnGround
from kinema.io import files
from kinema.io.gltf import Document
from kinema.model.character import Character


def loaded(name: str, data: bytes) -> Character:
    """Load a character from the content of a file. Errors use the file's name, which is never a path here."""
    return files.load_bytes(data, PurePosixPath(name).name or "file")


def model(actor: Actor) -> bytes:
    """Return the glTF to draw: the original file, or one of our characters without clips; empty without a skin."""
    if not actor.has_surface:
        return b""
    source = actor.original.source
    return source.original if isinstance(source, Document) else saved(replace(actor.original, clips={}))


def saved(character: Character) -> bytes:
    """Return a character as the content of a GLB file."""
    return b"".join(files.encode(".glb", character))


@lru_cache(maxsize=8)
def packed(ground: str | OwnGround) -> bytes:
    """Return a ground for the page, as `packed_mesh` packs it."""
    return packed_mesh(*grounds.body_of(ground))


def packed_mesh(vertices: Any, triangles: Any) -> bytes:
    """Return a mesh for the page: vertex and triangle counts, then both arrays, 32-bit little-endian numbers."""
    counts = np.array((len(vertices), len(triangles)), "<u4")
    return counts.tobytes() + vertices.astype("<f4").tobytes() + triangles.astype("<u4").tobytes()
