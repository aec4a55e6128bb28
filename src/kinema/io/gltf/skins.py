"""Skins: the triangles and vertex attributes of a document's meshes as surfaces, each bound to its joints."""

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io.gltf.accessors import Accessors, float64
from kinema.io.gltf.blend_shapes import read_shaped_nodes
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import DRACO, Document, requires
from kinema.io.gltf.limits import (
    MOST_NODES,
    NUMBERS_A_BOUND_JOINT,
    NUMBERS_A_SHAPE,
    NUMBERS_A_SURFACE,
    NUMBERS_A_VERTEX,
)
from kinema.io.surfaces import Binding, Surface, following, skinned, unit_normals
from kinema.model.blend_shapes import BlendShape
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

TRIANGLES, STRIP, FAN = 4, 5, 6
"""Modes that make a surface; others are points and lines."""

_MOST_SETS = 8
"""Sets of four joints per vertex that are read, JOINTS_0 to JOINTS_7; most files have one."""

Widths = tuple[int, ...]
"""Allowed numbers per element."""


def numbers_of(vertices: int) -> int:
    """Numbers that a surface with this many vertices needs."""
    return vertices * NUMBERS_A_VERTEX + NUMBERS_A_SURFACE


def read_surfaces(document: Document, accessors: Accessors) -> list[list[Surface]]:
    """Read the surfaces of each mesh. Other primitives, and those that cannot be decoded, are skipped and noted."""
    meshes = document.root.each("meshes")
    found = [[_surface(document, cursor, accessors) for cursor in mesh.each("primitives")] for mesh in meshes]
    return [[surface for surface in surfaces if surface is not None] for surfaces in found]


def _surface(document: Document, cursor: Cursor, accessors: Accessors) -> Surface | None:
    extensions = cursor.maybe("extensions")
    if extensions is not None and extensions.has(DRACO) and requires(document, DRACO):
        return None  # Noted once for the whole file.
    attributes = cursor.at("attributes")
    mode = cursor.whole("mode", 0, FAN, otherwise=TRIANGLES)
    if mode < TRIANGLES or not attributes.has("POSITION"):
        document.problems.append(f"{cursor.path} is not a surface; it is ignored")
        return None
    vertices = _vectors(attributes, "POSITION", accessors, (3,))
    accessors.charge(numbers_of(len(vertices)), cursor)
    triangles = _triangles(cursor, mode, len(vertices), accessors)
    normals = _vectors(attributes, "NORMAL", accessors, (3,), len(vertices)) if attributes.has("NORMAL") else None
    colours = _colours(document, cursor, attributes, len(vertices), accessors)
    joints, weights = _influences(attributes, len(vertices), accessors)
    normals = unit_normals(vertices, triangles, normals)
    shapes = _targets(cursor, len(vertices), accessors)
    return Surface(cursor, vertices, triangles, normals, colours, joints, weights, shapes)


def _targets(cursor: Cursor, count: int, accessors: Accessors) -> list[BlendShape]:
    """Read the blend shapes of a primitive; nodes name them."""
    shapes = []
    for number, target in enumerate(cursor.each("targets")):
        accessors.charge(NUMBERS_A_SHAPE + 3 * count, target)
        has = target.has("POSITION")
        offsets = _vectors(target, "POSITION", accessors, (3,), count) if has else np.zeros((count, 3))
        moved = np.flatnonzero(offsets.any(axis=1))
        try:
            shapes.append(BlendShape(str(number), moved, offsets[moved]))
        except InputError as problem:
            target.fail(f"does not make a blend shape: {problem}")
    return shapes


def _vectors(attributes: Cursor, name: str, accessors: Accessors, widths: Widths, count: int | None = None) -> Any:
    """Read an attribute as finite float64, (V, n)."""
    array = float64(_attribute(attributes, name, accessors, widths, count))
    if not np.isfinite(array).all():
        first = int(np.argmin(np.isfinite(array).all(axis=-1)))
        attributes.at(name).fail(f"has numbers that are not finite, the first in element {first}")
    return array


def _attribute(attributes: Cursor, name: str, accessors: Accessors, widths: Widths, count: int | None) -> Any:
    """Read an attribute, (V, n), with one of these widths and as many elements as there are vertices."""
    array = accessors.read(attributes, name)
    if array.shape[1] not in widths:
        attributes.at(name).fail(f"has elements of {array.shape[1]} numbers; expected {' or '.join(map(str, widths))}")
    if count is not None and len(array) != count:
        attributes.at(name).fail(f"has {len(array):,} elements; there are {count:,} vertices")
    return array


def _triangles(cursor: Cursor, mode: int, vertices: int, accessors: Accessors) -> Any:
    """Read the triangles of any mode, (T, 3), counter-clockwise."""
    if cursor.has("indices"):
        corners = accessors.read(cursor, "indices")
        if corners.shape[1] != 1 or corners.dtype.kind != "u":
            cursor.at("indices").fail(f"are {corners.dtype} of width {corners.shape[1]}; expected whole numbers")
        corners = corners[:, 0].astype(np.int64)
        if corners.size and corners.max() >= vertices:
            cursor.at("indices").fail(f"refer to vertex {corners.max()} of {vertices}")
    else:
        corners = np.arange(vertices)
    if mode == TRIANGLES:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    at = np.arange(max(len(corners) - 2, 0))
    if mode == FAN:
        return np.stack((corners[at + 1], corners[at + 2], np.full(len(at), corners[0])), axis=1)
    odd = at % 2  # Every second triangle of a strip would face the other way.
    return np.stack((corners[at], corners[at + 1 + odd], corners[at + 2 - odd]), axis=1)


def _influences(attributes: Cursor, count: int, accessors: Accessors) -> tuple[Any, Any]:
    """Read joints (V, k) and weights (V, k) of all sets together; None if there are none."""
    joints, weights = [], []
    for number in range(_MOST_SETS):
        if not attributes.has(f"JOINTS_{number}") or not attributes.has(f"WEIGHTS_{number}"):
            break
        which = _attribute(attributes, f"JOINTS_{number}", accessors, (4,), count)
        if which.dtype.kind != "u":
            attributes.at(f"JOINTS_{number}").fail(f"are {which.dtype}; expected whole numbers")
        joints.append(which.astype(np.int64))
        weights.append(np.maximum(_vectors(attributes, f"WEIGHTS_{number}", accessors, (4,), count), 0.0))
    if not joints:
        return None, None
    return np.concatenate(joints, axis=1), np.concatenate(weights, axis=1)


def _colours(document: Document, cursor: Cursor, attributes: Cursor, count: int, accessors: Accessors) -> Any:
    """Vertex colours times the material's, (V, 3), converted to sRGB; None if there are neither."""
    factor = np.array(_base_colour(document, cursor)[:3])
    if attributes.has("COLOR_0"):
        light = _vectors(attributes, "COLOR_0", accessors, (3, 4), count)[:, :3] * factor
    elif (factor < 1).any():
        light = np.tile(factor, (count, 1))
    else:
        return None
    return to_screen(np.clip(light, 0.0, 1.0))


def _base_colour(document: Document, cursor: Cursor) -> tuple[float, ...]:
    white = (1.0, 1.0, 1.0, 1.0)
    if not cursor.has("material"):
        return white
    materials = document.root.each("materials")
    look = materials[cursor.index("material", len(materials))].maybe("pbrMetallicRoughness")
    return white if look is None else look.numbers("baseColorFactor", white)


def to_screen(light: Any) -> Any:
    """Convert linear light, 0 to 1, to sRGB (IEC 61966-2-1)."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def to_light(shown: Any) -> Any:
    """Convert sRGB to linear light, 0 to 1."""
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


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
    """Read every surface of the file, once for each node that shows it. skeleton: from `bound`.

    Sets the document's `shaped`.
    """
    surfaces = read_surfaces(document, accessors)
    document.shaped = read_shaped_nodes(document, surfaces, accessors)
    skins = []
    for node, cursor in enumerate(document.root.each("nodes")):
        binding = bindings[cursor.index("skin", len(bindings))] if cursor.has("skin") else None
        for surface in surfaces[cursor.index("mesh", len(surfaces))] if cursor.has("mesh") else ():
            accessors.charge(numbers_of(len(surface.vertices)) + surface.triangles.size, surface.cursor)
            if surface.shapes:
                accessors.charge(NUMBERS_A_SHAPE * len(surface.shapes), surface.cursor)
                named = zip(surface.shapes, *document.shaped[node], strict=False)
                shapes = [replace(shape, name=name, weight=weight) for shape, name, weight in named]
                surface = replace(surface, shapes=shapes)
            if binding is None or surface.joints is None:
                skins.append(following(surface, document.joint_of_node[node], skeleton))
            else:
                skins.append(skinned(surface, binding, skeleton, document.problems))
    return skins
