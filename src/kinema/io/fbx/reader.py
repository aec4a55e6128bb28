"""Read FBX files: `read` is the list of steps."""

from __future__ import annotations

from pathlib import Path

from kinema.io.fbx.clips import read_clips
from kinema.io.fbx.document import FbxDocument, parse
from kinema.io.fbx.nodes import read_nodes, read_skeleton
from kinema.io.fbx.settings import read_space
from kinema.io.fbx.skins import bind, read_shown, read_skins
from kinema.io.fbx.takes import read_takes
from kinema.model.character import Character


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> Character:
    """Read a character from the bytes of a file. name: of the file. folder, max_bytes: unused."""
    return read(parse(data, name), Path(name).stem)


def read(document: FbxDocument, name: str = "character") -> Character:
    """Read the character of a document, in metres, y up. name: of the character."""
    space = read_space(document)
    takes = read_takes(document)
    nodes = read_nodes(document, takes)
    skeleton = read_skeleton(document, nodes, space)
    shown = read_shown(document, nodes, space)
    skeleton = bind(skeleton, shown, document)
    skins = read_skins(document, shown, skeleton, space)
    clips = read_clips(document, takes, nodes, skeleton, space)
    return Character(skeleton, clips, skins=skins, name=name, source=document)
