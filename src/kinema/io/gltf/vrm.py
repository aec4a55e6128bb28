"""VRM: glTF with a table of the bones of a human."""

from __future__ import annotations

from collections.abc import Iterator

from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document

THUMBS = {
    f"{side}Thumb{before}": f"{side}Thumb{now}"
    for side in ("left", "right")
    for before, now in (("Proximal", "Metacarpal"), ("Intermediate", "Proximal"), ("Distal", "Distal"))
}
"""Names of the thumb bones in version 0, and in version 1. The names of all other bones are the same."""

NO_NODE = -1
"""The node of a missing bone in version 0."""


def read_humanoid(document: Document) -> dict[str, int]:
    """Read the table of bones as {bone: joint}, with the names of VRM 1 (`hips`, `leftUpperLeg`); empty without one.

    Axes are not changed: a VRM 0 character looks towards -z.
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
    """Yield each bone's name and the object that refers to its node. VRM 1 animations have the same table."""
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
