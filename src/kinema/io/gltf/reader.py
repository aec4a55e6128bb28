"""Reading a glTF file: `read` is the list of its steps."""

from __future__ import annotations

import os
from pathlib import Path

from kinema.character import Character
from kinema.errors import FileError
from kinema.io.constants import GLTF_LARGEST_FILE
from kinema.io.gltf.accessors import Accessors
from kinema.io.gltf.animations import read_clips
from kinema.io.gltf.document import Document, parse
from kinema.io.gltf.extensions import check_required
from kinema.io.gltf.nodes import read_skeleton
from kinema.io.gltf.skins import bound, read_bindings, read_skins
from kinema.io.gltf.vrm import read_humanoid


def load(path: str | os.PathLike[str]) -> Character:
    """The character of a .glb, .gltf or .vrm file; its `source` is the `Document`."""
    path = Path(path)
    with path.open("rb") as file:
        data = file.read(GLTF_LARGEST_FILE + 1)
    if len(data) > GLTF_LARGEST_FILE:
        raise FileError(f"the file is larger than {GLTF_LARGEST_FILE // 2**20} MiB, the most that is read", path.name)
    return read(parse(data, path.name, path.parent), path.stem)


def read(document: Document, name: str = "character") -> Character:
    """The character of a document. name: what it is called.

    Sets what the document knows of the character: `joint_of_node`, `clips`, `humanoid`, `problems`.
    """
    check_required(document)
    accessors = Accessors(document)
    skeleton = read_skeleton(document)
    document.humanoid = read_humanoid(document)
    bindings = read_bindings(document, accessors)
    skeleton = bound(document, skeleton, bindings)
    skins = read_skins(document, skeleton, bindings, accessors)
    clips = read_clips(document, skeleton, accessors)
    document.clips = tuple(clips.values())
    return Character(skeleton, clips, skins=skins, name=name, source=document)
