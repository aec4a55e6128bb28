"""Skins: the surfaces of a document, each bound to its joints.

glTF has an inverse-bind matrix per joint and skin; a `Skeleton` has one per joint. It gets those of the first skin that
a joint is in, and the surfaces of other skins are transformed to match: a vertex v bound to a joint by the skin's
matrix B equals the vertex inverse(S) B v bound by the skeleton's matrix S. If that is the same transform for all joints
of a skin, as nearly always, it is applied to the vertices; if not, the skin keeps a matrix per joint.

A surface without a skin follows its node, as if bound to it alone with an identity inverse-bind matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io.gltf.accessors import Accessors, float64
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document
from kinema.io.gltf.limits import MOST_NODES, NUMBERS_A_BOUND_JOINT
from kinema.io.gltf.primitives import Surface, read_surfaces, unit_normals
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

_SINGULAR = 1e-9
"""A matrix whose smallest scale is this share of its largest has no usable inverse: a part scaled away, for example."""

_SAME_BIND = 1e-6
"""Share of a surface's size within which two skins bind it the same; the rounding of float32."""


@dataclass(frozen=True)
class Binding:
    """One skin of the document."""

    joints: Any
    """(n,): joints of the skeleton."""
    inverse_bind: Any
    """(n, 4, 4): from the mesh to each joint."""


def read_bindings(document: Document, accessors: Accessors) -> list[Binding]:
    """Read the document's skins, in its order."""
    skins = document.root.each("skins")
    if len(skins) > MOST_NODES:  # One per node is all that can be used.
        document.root.at("skins").fail(f"has {len(skins):,} elements; at most {MOST_NODES:,} are allowed")
    return [_binding(document, cursor, accessors) for cursor in skins]


def _binding(document: Document, cursor: Cursor, accessors: Accessors) -> Binding:
    nodes = document.joint_of_node
    joints = [nodes[joint.as_whole(0, len(nodes) - 1)] for joint in cursor.each("joints")]
    if not joints or len(set(joints)) < len(joints):
        cursor.fail("has the same joint twice" if joints else "has no joints")
    accessors.charge(len(joints) * NUMBERS_A_BOUND_JOINT, cursor)
    return Binding(np.array(joints), _inverse_bind(cursor, len(joints), accessors))


def _inverse_bind(cursor: Cursor, joints: int, accessors: Accessors) -> Any:
    """Read the matrices, (joints, 4, 4); missing ones are the identity."""
    if not cursor.has("inverseBindMatrices"):
        return np.tile(np.eye(4), (joints, 1, 1))
    columns = accessors.read(cursor, "inverseBindMatrices")
    matrices_at = cursor.at("inverseBindMatrices")
    if columns.shape[1] != 16 or columns.dtype.kind != "f":
        matrices_at.fail("are not matrices of 4 by 4 floats")
    if len(columns) < joints:
        matrices_at.fail(f"are {len(columns)}; there are {joints} joints")
    matrices = float64(columns[:joints]).reshape(joints, 4, 4).swapaxes(1, 2)
    if not np.isfinite(matrices).all():
        matrices_at.fail("have numbers that are not finite")
    matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return matrices


def bound(document: Document, skeleton: Skeleton, bindings: list[Binding]) -> Skeleton:
    """Return the skeleton with the inverse-bind matrices of the first skin that each joint is in.

    All are invertible: singular matrices of a skin are ignored, and a joint scaled to zero at rest gets the identity.
    """
    inverse = np.tile(np.eye(4), (len(skeleton), 1, 1))
    rest_world = skeleton.rest_world
    invertible = _invertible(rest_world)
    inverse[invertible] = np.linalg.inv(rest_world[invertible])
    settled = np.zeros(len(skeleton), bool)
    for binding in bindings:
        news = _invertible(binding.inverse_bind) & ~settled[binding.joints]
        inverse[binding.joints[news]] = binding.inverse_bind[news]
        settled[binding.joints[news]] = True
    try:
        return Skeleton(skeleton.names, skeleton.parents, skeleton.rest, inverse_bind=inverse)
    except InputError as problem:
        document.root.at("nodes").fail(f"do not make a skeleton: {problem}")


def _invertible(matrices: Any) -> Any:
    """(n,): whether each matrix has a usable inverse."""
    sizes = np.linalg.svd(matrices[:, :3, :3], compute_uv=False)
    return sizes[:, 2] > sizes[:, 0] * _SINGULAR


def read_skins(document: Document, skeleton: Skeleton, bindings: list[Binding], accessors: Accessors) -> list[Skin]:
    """Read every surface of the file, once for each node that shows it. skeleton: from `bound`."""
    surfaces = read_surfaces(document, accessors)
    skins = []
    for node, cursor in enumerate(document.root.each("nodes")):
        binding = bindings[cursor.index("skin", len(bindings))] if cursor.has("skin") else None
        for surface in surfaces[cursor.index("mesh", len(surfaces))] if cursor.has("mesh") else ():
            accessors.charge(surface.numbers, surface.cursor)
            if binding is None or surface.joints is None:
                skins.append(_following(surface, document.joint_of_node[node], skeleton))
            else:
                skins.append(_skinned(document, surface, binding, skeleton))
    return skins


def _following(surface: Surface, joint: int, skeleton: Skeleton) -> Skin:
    """Bind a surface to its node."""
    joints = np.zeros((len(surface.vertices), 4), np.int64)
    joints[:, 0] = joint
    weights = np.tile((1.0, 0.0, 0.0, 0.0), (len(joints), 1))
    return _transformed(surface, np.linalg.inv(skeleton.inverse_bind[joint]), joints, weights, None)


def _skinned(document: Document, surface: Surface, binding: Binding, skeleton: Skeleton) -> Skin:
    slots, weights = _strongest(document, surface)
    pulling = weights > 0
    if slots[pulling].max() >= len(binding.joints):
        surface.cursor.fail(f"uses joint {slots[pulling].max()} of a skin that has {len(binding.joints)}")
    slots = np.where(pulling, slots, 0)
    theirs = skeleton.inverse_bind[binding.joints]
    same = (theirs == binding.inverse_bind).all(axis=(1, 2), keepdims=True)
    across = np.where(same, np.eye(4), np.linalg.inv(theirs) @ binding.inverse_bind)
    used = np.unique(slots[pulling])
    first = across[used[0]]
    if _alike(across[used], first, surface.vertices):
        return _transformed(surface, first, binding.joints[slots], weights, None)
    rebind = np.tile(np.eye(4), (len(skeleton), 1, 1))
    rebind[binding.joints] = across
    return _transformed(surface, np.eye(4), binding.joints[slots], weights, rebind[:, :3])


def _strongest(document: Document, surface: Surface) -> tuple[Any, Any]:
    """The four joints with the largest weights per vertex, (V, 4), and the weights, which add up to 1."""
    slots, weights = surface.joints, surface.weights
    if slots.shape[1] > 4:
        order = np.argsort(-weights, axis=1, kind="stable")
        slots, sorted_weights = (np.take_along_axis(array, order, axis=1) for array in (slots, weights))
        if sorted_weights[:, 4:].any():
            document.problems.append(
                f"{surface.cursor.path} uses more than four joints per vertex; the four strongest are kept"
            )
        slots, weights = slots[:, :4], sorted_weights[:, :4]
    total = weights.sum(axis=1, keepdims=True)
    alone = np.array((1.0, 0.0, 0.0, 0.0))
    return slots, np.where(total > 0, weights / np.where(total > 0, total, 1.0), alone)


def _alike(matrices: Any, first: Any, vertices: Any) -> bool:
    """Whether matrices transform these vertices as the first one does."""
    size = np.abs(vertices).max(initial=0.0) * np.abs(first[:3, :3]).max() + np.abs(first[:3, 3]).max()
    off = np.abs(matrices - first)
    reach = off[:, :3, :3].max(initial=0.0) * np.abs(vertices).max(initial=0.0) + off[:, :3, 3].max(initial=0.0)
    return bool(reach <= size * _SAME_BIND)


def _transformed(surface: Surface, matrix: Any, joints: Any, weights: Any, rebind: Any) -> Skin:
    """Make a skin of a surface transformed by a matrix, (4, 4)."""
    vertices, triangles, normals = surface.vertices, surface.triangles, surface.normals
    if (matrix != np.eye(4)).any():
        linear = matrix[:3, :3]
        vertices = vertices @ linear.T + matrix[:3, 3]
        mirrored = np.linalg.det(linear / np.abs(linear).max()) < 0
        triangles = triangles[:, ::-1] if mirrored else triangles
        if _invertible(matrix[np.newaxis])[0]:
            normals = unit_normals(vertices, triangles, normals @ np.linalg.inv(linear))
    try:
        return Skin(vertices, triangles, joints, weights, normals, surface.colours, rebind)
    except InputError as problem:
        surface.cursor.fail(f"does not make a skin: {problem}")
