"""Find the joints of a file that are bones: every node is a joint, but cameras, meshes and floors are not bones."""

from __future__ import annotations

from kinema.io.gltf.document import Document
from kinema.model.skeleton import Skeleton

HOLDS = {"mesh", "camera", "children", "extensions"}
"""Members that make a node more than a position."""


def bones(document: Document, skeleton: Skeleton) -> list[int] | None:
    """Return the joints that the file's skins are bound to and those between them; None without skins.

    They start at the lowest joint above all of them, if there is one, and include bare nodes at their ends, which give
    the length of the last bone.
    """
    joints, nodes = document.joint_of_node, document.root.each("nodes")
    bound = {
        joints[node.as_whole(0, len(joints) - 1)]
        for skin in document.root.each("skins")
        for node in skin.each("joints")
    }
    if not bound:
        return None
    paths = [set(skeleton.above([joint]).tolist()) for joint in bound]
    common, found = set.intersection(*paths), set.union(*paths)
    if common:
        found &= set(skeleton.below([max(common)]).tolist())
    bare = {joint for node, joint in zip(nodes, joints, strict=True) if not HOLDS & node.value.keys()}
    return sorted(found | {joint for joint in bare if skeleton.parents[joint] in found})
