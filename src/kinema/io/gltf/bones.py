"""Which joints of a file are bones, where every node is a joint: cameras, meshes and the floor are none."""

from __future__ import annotations

from kinema.io.gltf.document import Document
from kinema.skeleton import Skeleton

HOLDS = {"mesh", "camera", "children", "extensions"}
"""What makes a node more than a place."""


def bones(document: Document, skeleton: Skeleton) -> list[int] | None:
    """The joints that the file's skins are bound to, with all between them, down from the one that is above all of
    them if there is one, and bare nodes at their ends, which tell the length of the last bone. None without skins.
    """
    nodes = document.json.get("nodes", [])
    bound = {node for skin in document.json.get("skins", ()) for node in skin["joints"]}
    if not bound:
        return None
    ways = [set(skeleton.above([document.joint_of_node[node]]).tolist()) for node in bound]
    common, found = set.intersection(*ways), set.union(*ways)
    if common:
        found &= set(skeleton.below([max(common)]).tolist())
    bare = [joint for node, joint in zip(nodes, document.joint_of_node, strict=True) if not HOLDS & node.keys()]
    return sorted(found | {joint for joint in bare if skeleton.parents[joint] in found})
