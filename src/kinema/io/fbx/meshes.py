"""Meshes: polygons as triangles, a surface for each material.

A mesh has positions, and polygons that list them; the last of a polygon is written as its complement. Normals and
materials lie in layers, one per corner, position, polygon or mesh, each straight or through an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io.fbx.document import FbxDocument, Object
from kinema.io.fbx.element import Element
from kinema.io.fbx.limits import NUMBERS_A_SURFACE
from kinema.io.surfaces import fans, unit_normals

_NUMBERS_A_CORNER = 40
"""Charged for each corner of a polygon: its vertex, normal, joints and weights, and what is computed on the way."""

_NORMAL_STEP = 1e-3
"""Normals of a position that differ by less, along every axis, make one vertex."""


@dataclass(frozen=True)
class MaterialMesh:
    """Triangles of one material, in the space of their mesh."""

    element: Element
    positions: Any
    """(V,): the position of the mesh that each vertex is at."""
    vertices: Any
    """(V, 3)."""
    triangles: Any
    """(T, 3)."""
    normals: Any
    """(V, 3), unit."""
    material: int
    """Which of the materials of the node, -1 without."""


def read_meshes(document: FbxDocument, element: Element) -> list[MaterialMesh]:
    """Read the surfaces of a mesh, one for each material. element: the geometry, or the node before version 7."""
    points = element.maybe("Vertices")
    indices = element.maybe("PolygonVertexIndex")
    if points is None or indices is None:
        return []
    positions = points.numbers()
    if len(positions) % 3:
        points.fail(f"has {len(positions):,} numbers; positions have three each")
    positions = positions.reshape(-1, 3)
    corners = indices.numbers(np.int64)
    document.budget.charge(_NUMBERS_A_CORNER * (len(corners) + len(positions)) + NUMBERS_A_SURFACE, element)
    ends = np.flatnonzero(corners < 0)
    corners = np.where(corners < 0, ~corners, corners)[: ends[-1] + 1 if len(ends) else 0]
    if len(corners) and corners.max() >= len(positions):
        indices.fail(f"refers to position {corners.max()} of {len(positions)}")
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    sizes = ends - starts + 1
    polygons = np.repeat(np.arange(len(ends)), sizes)
    triangles, owners = fans(starts, sizes)
    if not len(triangles):
        return []
    normals = _layer(document, element, "LayerElementNormal", ("Normals", "NormalsIndex"), 3, corners, polygons)
    materials = _layer(document, element, "LayerElementMaterial", ("Materials", "Materials"), 1, corners, polygons)
    chosen = np.full(len(owners), -1) if materials is None else materials[starts[owners], 0]
    return list(_by_material(element, positions, corners, triangles, normals, chosen))


def _layer(
    document: FbxDocument, element: Element, name: str, parts: tuple[str, str], width: int, corners: Any, polygons: Any
) -> Any:
    """Return what a layer says of each corner, (C, width); None without the layer. parts: its values, its index."""
    layer = element.maybe(name)
    if layer is None or layer.maybe(parts[0]) is None:
        return None
    try:
        values = layer.at(parts[0]).numbers(np.float64 if width > 1 else np.int64)
    except FileError:  # Normals that are no numbers, for example, which can be computed.
        values = np.zeros(0)
    mapping, reference = (
        layer.at(key).text() if layer.maybe(key) is not None else "Direct"
        for key in ("MappingInformationType", "ReferenceInformationType")
    )
    which = {
        "ByPolygonVertex": np.arange(len(corners)),
        "ByPolygon": polygons,
        "ByVertice": corners,
        "ByVertex": corners,
        "AllSame": np.zeros(len(corners), np.int64),
    }.get(mapping)
    table = values.reshape(-1, width) if len(values) % width == 0 else np.zeros((0, width))
    if which is not None and reference in ("IndexToDirect", "Index") and parts[0] != parts[1]:
        index = layer.maybe(parts[1])
        listed = index.numbers(np.int64) if index is not None else np.zeros(0, np.int64)
        which = listed[which] if len(which) == 0 or which.max() < len(listed) else None
    if which is None or (len(which) and (which.min() < 0 or which.max() >= len(table))):
        document.problems.append(f"{layer.path} does not fit its mesh; it is ignored")
        return None
    return table[which]


def _by_material(
    element: Element, positions: Any, corners: Any, triangles: Any, normals: Any, chosen: Any
) -> Iterator[MaterialMesh]:
    """Yield the triangles of each material, with a vertex for each position and normal."""
    for material in np.unique(chosen):
        some = triangles[chosen == material]
        at, where = _distinct(corners[some.reshape(-1)], None if normals is None else normals[some.reshape(-1)])
        element.budget.charge(NUMBERS_A_SURFACE, element)
        vertices = positions[corners[some.reshape(-1)][at]]
        own = None if normals is None else normals[some.reshape(-1)][at]
        joined = where.reshape(-1, 3)
        position = corners[some.reshape(-1)][at]
        yield MaterialMesh(element, position, vertices, joined, unit_normals(vertices, joined, own), int(material))


def _distinct(positions: Any, normals: Any) -> tuple[Any, Any]:
    """Return the first of corners that are alike, (V,), in the order of their positions, and each corner's vertex."""
    keys = positions.astype(np.int64)
    if normals is not None:
        steps = np.rint(np.clip(np.nan_to_num(normals), -1, 1) / _NORMAL_STEP).astype(np.int64) + 1024
        sides = (steps[:, 0] << 22) + (steps[:, 1] << 11) + steps[:, 2]
        _, rank = np.unique(sides, return_inverse=True)
        keys = keys * (int(rank.max(initial=0)) + 1) + rank
    _, at, where = np.unique(keys, return_index=True, return_inverse=True)
    return at, where


def colours_of(document: FbxDocument, node: Object) -> list[Any]:
    """Return the colours of the materials of a node, (3,), linear light, in their order."""
    found = []
    for material, _ in document.below(node, "Material"):
        factor = material.properties.number("DiffuseFactor", 1.0)
        found.append(np.clip(np.array(material.properties.vector("DiffuseColor", (0.8, 0.8, 0.8))) * factor, 0.0, 1.0))
    return found
