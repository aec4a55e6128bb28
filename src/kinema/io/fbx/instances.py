"""Instances: a skin that several nodes show, once for each of them.

Such a skin moves with its joints and with its node: the node takes it from where it was when it was bound to where it
is now. Joints alone do the same if there are copies of them: below the node, a joint that inverts the node's bind
transform, and below that all nodes from the root to the joints of the skin. A node that stays where it was bound needs
none. A skin on one node follows its joints alone, wherever the node is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.io.fbx.document import FbxDocument, Key, Object, Properties
from kinema.io.fbx.element import Element
from kinema.io.fbx.limits import MOST_NODES
from kinema.io.fbx.nodes import Node
from kinema.io.fbx.settings import Space
from kinema.io.fbx.takes import Take
from kinema.io.fbx.transforms import ROTATION, SCALING, TRANSLATION, XYZ, order_of, pivots_of, to_euler
from kinema.math import arrays
from kinema.model.skeleton import Skeleton

_SAME = 1e-4
"""Difference of two transforms, as a share of their largest number, below which they count as equal; also the cosine
between two axes that count as perpendicular."""

_SINGULAR = 1e-12
"""Determinant of a matrix whose largest number is 1, below which it has no usable inverse."""

_NUMBERS_A_NODE = 10
"""Charged for each node of the file, for each mesh that may have instances: the time it takes, in numbers."""

Copies = dict[tuple[Key, Key], dict[Key, Node]]
"""For a node and a mesh that it shows, the copies of nodes by the keys of these."""


def add_instances(
    document: FbxDocument, nodes: list[Node], takes: list[Take], skeleton: Skeleton, space: Space
) -> tuple[list[Node], Copies]:
    """Return the nodes with the copies that instances need, and which these are. skeleton: of the nodes."""
    showing: dict[Key, tuple[Object, list[Node]]] = {}
    for node in nodes:
        for geometry, _ in document.below(node.object, "Geometry"):
            showing.setdefault(geometry.key, (geometry, []))[1].append(node)
    whole, copies = list(nodes), Copies()
    moving: set[Node] | None = None
    for geometry, where in showing.values():
        clusters = list(clusters_of(document, geometry)) if len(where) > 1 else []
        element = next((each.element for each in clusters if _has_matrices(each.element)), None)
        if element is None:
            continue
        document.budget.charge(_NUMBERS_A_NODE * len(nodes) * (1 + len(takes)), geometry.element)
        moving = _moving(nodes, takes) if moving is None else moving
        needed = _with_parents(nodes, {link.object.key for each in clusters for link in document.below(each, "Model")})
        if not needed:
            continue
        bind = matrix_of(element.at("TransformLink")) @ matrix_of(element.at("Transform"))
        for node in where:
            if node not in moving and _is_bound(node, bind, skeleton, space):
                continue
            if len(whole) + len(needed) >= MOST_NODES:
                element.fail(f"is shown by {len(where):,} nodes; with {MOST_NODES:,} nodes in all, copies included")
            inverse = _inverting(node, bind, whole[-1].shown + 1)
            if inverse is None:
                document.problems.append(f"{node.object.name!r} shows a skin that is sheared; it is shown once")
                continue
            whole.append(inverse)
            made: dict[Key, Node] = {}
            for each in needed:
                above = made[each.parent.key] if each.parent is not None else inverse
                first = whole[-1].shown + 1
                made[each.key] = replace(each, parent=above, joint=first, shown=first + each.split)
                whole.append(made[each.key])
            copies[node.key, geometry.key] = made
    return whole, copies


def clusters_of(document: FbxDocument, owner: Object) -> Iterator[Object]:
    """Yield the clusters of the skins of a mesh, or of a node before version 7."""
    for skin, _ in document.below(owner, "Deformer"):
        if skin.subtype == "Skin":
            yield from (each for each, _ in document.below(skin, "Deformer") if each.subtype == "Cluster")


def _has_matrices(cluster: Element) -> bool:
    """Whether a cluster says where its mesh was bound; some without vertices do not."""
    return all(cluster.maybe(name) is not None for name in ("TransformLink", "Transform"))


def matrix_of(element: Element) -> Any:
    """Read a matrix, (4, 4); a file writes it by columns."""
    values = element.numbers()
    if len(values) != 16:
        element.fail(f"has {len(values)} numbers; a matrix has 16")
    matrix = values.reshape(4, 4).T.copy()
    matrix[3] = (0.0, 0.0, 0.0, 1.0)
    return matrix


def _with_parents(nodes: list[Node], wanted: set[Key]) -> list[Node]:
    """Return the nodes with these keys and all above them, parents first."""
    found: set[Node] = set()
    for node in reversed(nodes):  # Children come after their parents.
        if node.key in wanted or node in found:
            found.add(node)
            if node.parent is not None:
                found.add(node.parent)
    return [node for node in nodes if node in found]


def _is_bound(node: Node, bind: Any, skeleton: Skeleton, space: Space) -> bool:
    """Whether a node is at rest where it was when a skin was bound."""
    turned = np.eye(4)
    turned[:3, :3] = arrays.to_matrix(space.rotation)
    there, here = turned @ space.matrices(bind), skeleton.rest_world[node.shown]
    return bool(np.abs(there - here).max() <= _SAME * np.abs(there).max())


def _moving(nodes: list[Node], takes: list[Take]) -> set[Node]:
    """Return the nodes that a take moves from where they are at rest, and those below them."""
    found: set[Node] = set()
    for node in nodes:
        away = node.parent in found
        for name, static in node.static.items():
            for channel in (channel for take in takes for _, channel in take.channels(node.key, name)):
                for curve, value in zip(channel.curves, static.tolist(), strict=True):
                    away |= curve is not None and np.abs(curve.values - value).max() > _SAME * max(1.0, abs(value))
        if away:
            found.add(node)
    return found


def _inverting(node: Node, bind: Any, joint: int) -> Node | None:
    """Return a node below another that inverts its bind transform, as a joint; None if it is no rotation and scale."""
    size = np.abs(bind[:3, :3]).max()
    if not size > 0.0 or abs(np.linalg.det(bind[:3, :3] / size)) < _SINGULAR:
        return None
    inverse = np.eye(4)
    inverse[:3, :3] = np.linalg.inv(bind[:3, :3] / size)
    lengths = np.linalg.norm(inverse[:3, :3], axis=0)
    scales, axes = lengths / size, inverse[:3, :3] / lengths
    inverse[:3, 3] = inverse[:3, :3] @ (-bind[:3, 3] / size)
    if np.linalg.det(axes) < 0:
        scales[0], axes[:, 0] = -scales[0], -axes[:, 0]
    if np.abs(axes.T @ axes - np.eye(3)).max() > _SAME:
        return None
    name = f"{node.object.name}_bind"
    object = Object(f"{node.key} {name}", "Model", name, "Null", node.object.element, Properties(None))
    turn = to_euler(arrays.from_matrix(axes), XYZ)
    static = {TRANSLATION: inverse[:3, 3], ROTATION: turn, SCALING: scales}
    return Node(object, node, pivots_of(object), order_of(object), static, joint=joint, shown=joint)
