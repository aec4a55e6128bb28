"""VRM: a glTF file that says which of its nodes is which bone of a human, in a table of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document

THUMBS = {
    f"{side}Thumb{before}": f"{side}Thumb{now}"
    for side in ("left", "right")
    for before, now in (("Proximal", "Metacarpal"), ("Intermediate", "Proximal"), ("Distal", "Distal"))
}
"""What version 0 calls the thumb's bones, by the names of version 1. All other bones kept theirs."""

NO_NODE = -1
"""What version 0 has for a bone that is not there."""


def read_humanoid(document: Document) -> dict[str, int]:
    """{bone: joint} by the file's own table, with the names of VRM 1 (`hips`, `leftUpperLeg`); empty without one.

    The character stays as it lies in the file: one of VRM 0 looks towards -z.
    """
    extensions = document.root.maybe("extensions")
    if extensions is None:
        return {}
    humanoid: dict[str, int] = {}
    for bone, cursor in _bones(extensions):
        node = cursor.index("node", len(document.joint_of_node))
        humanoid.setdefault(bone, document.joint_of_node[node])
    return humanoid


def _bones(extensions: Cursor) -> Iterator[tuple[str, Cursor]]:
    """Each bone's name and the object that names its node; an animation of VRM 1 has the same table as a character."""
    for version in ("VRMC_vrm", "VRMC_vrm_animation"):
        if extensions.has(version):
            table = extensions.at(version).at("humanoid").at("humanBones")
            for bone in table.members():
                yield bone, table.at(bone)
            return
    if extensions.has("VRM"):
        for cursor in extensions.at("VRM").at("humanoid").each("humanBones"):
            if cursor.members().get("node") == NO_NODE:
                continue
            bone = cursor.text("bone")
            yield THUMBS.get(bone, bone), cursor
