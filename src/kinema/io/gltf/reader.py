"""Read glTF files: `read` is the list of steps."""

from pathlib import Path

from kinema.io.gltf.accessors import Accessors
from kinema.io.gltf.animations import read_clips
from kinema.io.gltf.document import Document, check_required, parse
from kinema.io.gltf.nodes import read_skeleton
from kinema.io.gltf.skins import read_bindings, read_skins
from kinema.io.gltf.vrm import read_constraints, read_humanoid, read_springs
from kinema.io.surfaces import bound
from kinema.model.character import Character


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> Character:
    """Read a character from the bytes of a file. name: of the file. folder: where buffers beside it are looked for."""
    return read(parse(data, name, folder), Path(name).stem)


def read(document: Document, name: str = "character") -> Character:
    """Read the character of a document. name: of the character.

    Also sets the document's data about the character: `joint_of_node`, `clips`, `humanoid`, `problems`.
    """
    check_required(document)
    accessors = Accessors(document)
    skeleton = read_skeleton(document)
    document.humanoid = read_humanoid(document)
    bindings = read_bindings(document, accessors)
    skeleton = bound(skeleton, bindings, document.root.at("nodes"))
    skins = read_skins(document, skeleton, bindings, accessors)
    clips = read_clips(document, skeleton, accessors)
    document.clips = tuple(clips.values())
    return Character(
        skeleton,
        clips,
        skins=skins,
        name=name,
        source=document,
        springs=read_springs(document, skeleton),
        constraints=read_constraints(document, skeleton),
    )
