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
    joints, nodes = document.joint_of_node, document.root.each("nodes")
    bound = {
        joints[node.as_whole(0, len(joints) - 1)]
        for skin in document.root.each("skins")
        for node in skin.each("joints")
    }
    if not bound:
        return None
    ways = [set(skeleton.above([joint]).tolist()) for joint in bound]
    common, found = set.intersection(*ways), set.union(*ways)
    if common:
        found &= set(skeleton.below([max(common)]).tolist())
    bare = {joint for node, joint in zip(nodes, joints, strict=True) if not HOLDS & node.value.keys()}
    return sorted(found | {joint for joint in bare if skeleton.parents[joint] in found})
