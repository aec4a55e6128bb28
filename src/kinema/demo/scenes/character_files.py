"""Files of the character's scene: what is dropped on it, and what its page draws with."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

import numpy as np

from kinema.character import Character
from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import Actor
from kinema.errors import FileError
from kinema.io import files
from kinema.io.gltf import Document

_ANY = "dropped"
"""What a file is called here, whatever it was called where it came from."""


def loaded(name: str, data: bytes) -> Character:
    """The character of a file. What is wrong with it is said of the name it came by, which is no path here."""
    stem = PurePosixPath(name).stem or "file"
    with tempfile.TemporaryDirectory(prefix="kinema-") as folder:
        path = Path(folder) / _ANY
        path.write_bytes(data)
        try:
            character = files.load(path)
        except FileError as problem:
            raise FileError(problem.problem, name, problem.line) from problem
    # The clip of a BVH is called by its file.
    clips = {stem if clip == _ANY else clip: value for clip, value in character.clips.items()}
    return replace(character, name=stem, clips=clips)


def model(actor: Actor) -> bytes:
    """The file it came from, as it came; of one of ours, a file without clips. Nothing of one that has only bones."""
    if not actor.has_surface:
        return b""
    source = actor.original.source
    return source.original if isinstance(source, Document) else saved(replace(actor.original, clips={}))


def saved(character: Character) -> bytes:
    with tempfile.TemporaryDirectory(prefix="kinema-") as folder:
        path = Path(folder) / "model.glb"
        files.save(path, character)
        return path.read_bytes()


@cache
def packed(ground: str) -> bytes:
    """A ground as the page draws it: the numbers of vertices and triangles, then both, 32 bits each, little-endian."""
    vertices, triangles = grounds.body_of(ground)
    counts = np.array((len(vertices), len(triangles)), "<u4")
    return counts.tobytes() + vertices.astype("<f4").tobytes() + triangles.astype("<u4").tobytes()
