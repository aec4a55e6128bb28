"""Nodes: the tree of a document as a skeleton. Every node is a joint."""

from typing import Any

import numpy as np

from kinema.constants import LARGEST_FLOAT64
from kinema.errors import InputError
from kinema.io import names
from kinema.io.gltf.cursor import Cursor, Cursors
from kinema.io.gltf.document import Document
from kinema.io.gltf.limits import MOST_NODES
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

_SHEAR = 1e-4
"""Cosine between the axes of a node's matrix above which it counts as sheared; matrices are often written with five
digits."""

NO_MATRIX = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def read_skeleton(document: Document) -> Skeleton:
    """Read all nodes, of every scene and of none, as a skeleton. Sets the document's `joint_of_node`.

    Parents come before their children, which keep the order of the file.
    """
    nodes = document.root.each("nodes")
    if not nodes:
        document.root.fail("the file has no nodes, and so no skeleton")
    if len(nodes) > MOST_NODES:
        document.root.at("nodes").fail(f"has {len(nodes):,} elements; at most {MOST_NODES:,} are allowed")
    order, parents = _order(nodes)
    joint_of_node = [0] * len(nodes)
    for joint, node in enumerate(order):
        joint_of_node[node] = joint
    locals_ = [_local(nodes[node], document.problems) for node in order]
    try:
        rest = Pose(*(np.array(part) for part in zip(*locals_, strict=True)))
        named = [names.readable(nodes[node].text("name", "") or f"node_{node}") for node in order]
        skeleton = Skeleton(names.unique(named), [joint_of_node[p] if p >= 0 else -1 for p in parents], rest)
    except InputError as problem:
        document.root.at("nodes").fail(f"do not make a skeleton: {problem}")
    if not (np.abs(skeleton.rest_world) <= LARGEST_FLOAT64).all():
        document.root.at("nodes").fail(f"give a joint a position or scale above {LARGEST_FLOAT64:g}")
    document.joint_of_node = tuple(joint_of_node)
    return skeleton


def _order(nodes: Cursors) -> tuple[list[int], list[int]]:
    """Order nodes with parents first. Returns the nodes, and their parent nodes, -1 for a root."""
    children = [[child.as_whole(0, len(nodes) - 1) for child in node.each("children")] for node in nodes]
    parent_of = [-1] * len(nodes)
    for node, below in enumerate(children):
        for child in below:
            if parent_of[child] >= 0:
                nodes[child].fail(
                    f"is a child of nodes[{parent_of[child]}] and of nodes[{node}]; a node has one parent"
                )
            parent_of[child] = node
    order: list[int] = []
    waiting = [node for node in reversed(range(len(nodes))) if parent_of[node] < 0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(children[node]))
    if len(order) < len(nodes):
        nodes[min(set(range(len(nodes))) - set(order))].fail("is its own descendant; nodes must form a tree")
    return order, [parent_of[node] for node in order]


def _local(node: Cursor, problems: list[str]) -> tuple[Any, Any, Any]:
    if node.has("matrix"):
        matrix = np.array(node.numbers("matrix", NO_MATRIX)).reshape(4, 4).T
        *parts, sheared = decomposed(matrix)
        if sheared:
            problems.append(f"{node.path}.matrix is sheared; the nearest translation, rotation and scale are used")
        return parts[0], parts[1], parts[2]
    rotation = node.numbers("rotation", (0.0, 0.0, 0.0, 1.0))
    if not any(rotation):
        node.at("rotation").fail("is zero; a rotation is a quaternion x, y, z, w of length 1")
    return node.numbers("translation", (0.0, 0.0, 0.0)), rotation, node.numbers("scale", (1.0, 1.0, 1.0))


def decomposed(matrices: Any) -> tuple[Any, Any, Any, Any]:
    """Decompose matrices, (..., 4, 4), into translation, rotation and scale. Also returns whether they are sheared.

    Of sheared matrices they are the nearest ones, as in other programs.
    """
    scale = np.linalg.norm(matrices[..., :3, :3], axis=-2)
    axes = matrices[..., :3, :3] / np.where(scale == 0, 1.0, scale)[..., np.newaxis, :]
    mirror = np.where(np.linalg.det(axes) < 0, -1.0, 1.0)  # As a negative scale.
    scale[..., 0] *= mirror
    axes[..., 0] *= mirror[..., np.newaxis]
    # The nearest rotation: exact for perpendicular axes; completes axes that a scale of 0 removed.
    u, _, v = np.linalg.svd(axes)
    u[..., 2] *= np.sign(np.linalg.det(u @ v))[..., np.newaxis]
    rotation = u @ v
    off = np.abs(rotation * np.where(scale == 0, 0.0, 1.0)[..., np.newaxis, :] - axes).max(axis=(-2, -1))
    return matrices[..., :3, 3], arrays.from_matrix(rotation), scale, off > _SHEAR
