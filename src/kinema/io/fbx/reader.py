"""Read FBX files: `read` is the list of steps."""

from __future__ import annotations

from pathlib import Path

from kinema.io.fbx.blend_shapes import read_channels
from kinema.io.fbx.clips import read_clips
from kinema.io.fbx.document import FbxDocument, parse
from kinema.io.fbx.instances import add_instances
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
    joints, copies = add_instances(document, nodes, takes, skeleton, space)
    if copies:
        skeleton = read_skeleton(document, joints, space)
    shown = read_shown(document, nodes, copies, space)
    skeleton = bind(skeleton, shown, document)
    channels = read_channels(document)
    skins = read_skins(document, shown, channels, skeleton, space)
    driven = [channel for each in channels.values() for channel in each]
    clips = read_clips(document, takes, joints, driven, skeleton, space)
    return Character(skeleton, clips, skins=skins, name=name, source=document)
