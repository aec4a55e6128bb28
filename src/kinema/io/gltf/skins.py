"""Skins: the surfaces of a document, each bound to its joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.io.gltf.accessors import Accessors, float64
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document
from kinema.io.gltf.limits import MOST_NODES, NUMBERS_A_BOUND_JOINT
from kinema.io.gltf.primitives import numbers_of, read_surfaces
from kinema.io.surfaces import Binding, following, skinned
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin


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


def read_skins(document: Document, skeleton: Skeleton, bindings: list[Binding], accessors: Accessors) -> list[Skin]:
    """Read every surface of the file, once for each node that shows it. skeleton: from `bound`."""
    surfaces = read_surfaces(document, accessors)
    skins = []
    for node, cursor in enumerate(document.root.each("nodes")):
        binding = bindings[cursor.index("skin", len(bindings))] if cursor.has("skin") else None
        for surface in surfaces[cursor.index("mesh", len(surfaces))] if cursor.has("mesh") else ():
            accessors.charge(numbers_of(len(surface.vertices)) + surface.triangles.size, surface.cursor)
            if binding is None or surface.joints is None:
                skins.append(following(surface, document.joint_of_node[node], skeleton))
            else:
                skins.append(skinned(surface, binding, skeleton, document.problems))
    return skins
