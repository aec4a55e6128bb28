"""Skins: the surfaces of a file, each bound to its joints.

A cluster lists the positions of a mesh that follow a node, with weights, and two matrices of the pose that they were
bound in: from the mesh to the node (`Transform`), and from the node to the world (`TransformLink`). A mesh without
clusters follows its node, and so do positions without weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.io.fbx.blend_shapes import ShapeChannel, shapes_of
from kinema.io.fbx.document import SEVEN, FbxDocument, Key, Object
from kinema.io.fbx.element import Element
from kinema.io.fbx.instances import Copies, clusters_of, matrix_of
from kinema.io.fbx.limits import NUMBERS_A_SURFACE
from kinema.io.fbx.meshes import MaterialMesh, colours_of, read_meshes
from kinema.io.fbx.nodes import Node
from kinema.io.fbx.settings import Space
from kinema.io.fbx.transforms import geometric
from kinema.io.gltf.skins import to_screen
from kinema.io.surfaces import Binding, Surface, bound, following, skinned
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

_MOST_JOINTS = 4
"""Joints that a vertex follows in the end; more are counted to say so."""

_WIDEST = 8
"""Joints per position that are handed on."""

_NUMBERS_A_BOUND_JOINT = 64
"""Charged for each cluster: its matrices, and what is computed from them."""


@dataclass(frozen=True)
class Shown:
    """A mesh on a node."""

    node: Node
    element: Element
    """The geometry, or the node before version 7."""
    meshes: list[MaterialMesh]
    binding: Binding | None
    """The joints of its skin, in our space; None if it follows its node."""
    slots: Any
    """(P, k): which of these joints each position follows."""
    weights: Any
    """(P, k)."""


def read_shown(document: FbxDocument, nodes: list[Node], copies: Copies, space: Space) -> list[Shown]:
    """Read what the nodes show: each mesh once for every node that shows it. copies: of nodes, for instances."""
    found: list[Shown] = []
    known: dict[int, list[MaterialMesh]] = {}
    joints = {node.key: node for node in nodes}
    for node in nodes:
        for element, owner in _geometries(document, node.object):
            if id(element) not in known:
                known[id(element)] = read_meshes(document, element)
            meshes = known[id(element)]
            if not meshes:
                continue
            document.budget.charge(NUMBERS_A_SURFACE + 30 * sum(len(mesh.vertices) for mesh in meshes), element)
            if document.version < SEVEN and element.maybe("Shape") is not None:
                document.problems.append(f"mesh of {node.object.name!r} has shapes; it is shown without them")
            clusters = list(clusters_of(document, owner))
            own = copies.get((node.key, owner.key))
            if clusters and own is None and any(each.element is element for each in found):
                document.problems.append(f"{node.object.name!r} shows the skin of another node, where its joints are")
                continue
            found.append(_shown(document, node, element, meshes, clusters, own or joints, space))
    return found


def _geometries(document: FbxDocument, node: Object) -> list[tuple[Element, Object]]:
    """Return the meshes of a node, each with the object that its skin is connected to."""
    if document.version < SEVEN:
        if node.element.maybe("Points") is not None:
            document.problems.append(f"{node.subtype or 'unknown'} geometry of {node.name!r} is not read")
        return [(node.element, node)] if node.element.maybe("Vertices") is not None else []
    found = []
    for geometry, _ in document.below(node, "Geometry"):
        if geometry.subtype == "Mesh":
            found.append((geometry.element, geometry))
        elif geometry.subtype != "Shape":
            document.problems.append(f"{geometry.subtype or 'unknown'} geometry of {node.name!r} is not read")
    return found


def _shown(
    document: FbxDocument,
    node: Node,
    element: Element,
    meshes: list[MaterialMesh],
    clusters: list[Object],
    joints: dict[Key, Node],
    space: Space,
) -> Shown:
    """Read how a mesh is bound."""
    placed = geometric(node.object)
    slots: dict[int, int] = {}
    binds: list[Any] = []
    pulls: list[tuple[Any, Any, int]] = []
    for cluster in clusters:
        target = next((link.object for link in document.below(cluster, "Model") if link.object.key in joints), None)
        indices, weights = (cluster.element.maybe(name) for name in ("Indexes", "Weights"))
        if target is None or indices is None or weights is None:
            continue
        document.budget.charge(_NUMBERS_A_BOUND_JOINT, cluster.element)
        joint = joints[target.key].shown
        if joint not in slots:
            slots[joint] = len(binds)
            binds.append(matrix_of(cluster.element.at("Transform")) @ placed)
        pulls.append((*_pulls(cluster.element, indices, weights), slots[joint]))
    if not pulls:
        return Shown(node, element, meshes, None, None, None)
    # A position without weight stays with the mesh's own node.
    own = slots.setdefault(node.shown, len(binds))
    if own == len(binds):
        binds.append(placed)
    count = 1 + max(int(mesh.positions.max()) for mesh in meshes)
    chosen, weights = _strongest(pulls, count, own)
    binding = Binding(np.array(list(slots)), space.matrices(np.array(binds)))
    return Shown(node, element, meshes, binding, chosen, weights)


def _pulls(cluster: Element, indices: Element, weights: Element) -> tuple[Any, Any]:
    """Read the positions of a cluster and their weights, both (n,)."""
    which, how_much = indices.numbers(np.int64), weights.numbers()
    if len(which) != len(how_much):
        cluster.fail(f"has {len(which)} positions and {len(how_much)} weights")
    if len(which) and which.min() < 0:
        indices.fail("has a position below 0")
    return which, np.maximum(how_much, 0.0)


def _strongest(pulls: list[tuple[Any, Any, int]], count: int, own: int) -> tuple[Any, Any]:
    """Return the slots with the largest weights of each position, (P, k), and the weights. own: slot without any."""
    at = np.concatenate([which for which, _, _ in pulls])
    weights = np.concatenate([weight for _, weight, _ in pulls])
    slots = np.concatenate([np.full(len(which), slot) for which, _, slot in pulls])
    used = (at < count) & (weights > 0)
    at, weights, slots = at[used], weights[used], slots[used]
    order = np.lexsort((-weights, at))
    at, weights, slots = at[order], weights[order], slots[order]
    rank = np.arange(len(at)) - np.searchsorted(at, at, side="left")
    width = max(int(min(rank.max(initial=0) + 1, _WIDEST)), _MOST_JOINTS)
    made = np.zeros((count, width), np.int64), np.zeros((count, width))
    some = rank < width
    made[0][at[some], rank[some]] = slots[some]
    made[1][at[some], rank[some]] = weights[some]
    alone = ~made[1].any(axis=1)
    made[0][alone, 0], made[1][alone, 0] = own, 1.0
    return made


def bind(skeleton: Skeleton, shown: list[Shown], document: FbxDocument) -> Skeleton:
    """Return the skeleton with the bind matrices of the skins."""
    return bound(skeleton, [each.binding for each in shown if each.binding is not None], document.root)


def read_skins(
    document: FbxDocument,
    shown: list[Shown],
    channels: dict[Element, list[ShapeChannel]],
    skeleton: Skeleton,
    space: Space,
) -> list[Skin]:
    """Return the surfaces, each bound to its joints. skeleton: from `bind`."""
    skins = []
    for each in shown:
        colours = colours_of(document, each.node.object)
        placed = space.matrices(geometric(each.node.object))
        for mesh in each.meshes:
            vertices, normals, triangles = space.vectors(mesh.vertices), space.normals(mesh.normals), mesh.triangles
            if space.mirrored:
                triangles = triangles[:, ::-1]
            shapes = shapes_of(mesh, channels.get(each.element, []), space)
            colour = None
            if 0 <= mesh.material < len(colours):
                colour = np.tile(to_screen(colours[mesh.material]), (len(vertices), 1))
            if each.binding is None:
                surface = Surface(each.element, vertices, triangles, normals, colour, None, None, shapes)
                skins.append(following(surface, each.node.shown, skeleton, placed))
                continue
            slots, weights = each.slots[mesh.positions], each.weights[mesh.positions]
            surface = Surface(each.element, vertices, triangles, normals, colour, slots, weights, shapes)
            skins.append(skinned(surface, each.binding, skeleton, document.problems))
    return skins
