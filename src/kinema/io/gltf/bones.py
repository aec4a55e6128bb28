"""Which joints of a file are bones, where every node is a joint: cameras, meshes and the floor are none."""

from __future__ import annotations

from kinema.io.gltf.document import Document
from kinema.skeleton import Skeleton


def bones(document: Document, skeleton: Skeleton) -> list[int] | None:
    """The joints that the file's skins are bound to, with all between them, down from the one that is above all of
    them if there is one; None for a file without skins.
    """
    nodes = {node for skin in document.json.get("skins", ()) for node in skin["joints"]}
    if not nodes:
        return None
    ways = [set(skeleton.above([document.joint_of_node[node]]).tolist()) for node in nodes]
    common, all_ways = set.intersection(*ways), set.union(*ways)
    top = set(skeleton.below([max(common)]).tolist()) if common else all_ways
    return sorted(all_ways & top)
