"""Blend shapes: what channels do to the positions of a mesh, and how takes animate them.

A channel has a percentage and one shape or several, each of which is reached at a percentage of its own; between these
the way is straight, and beyond the last it goes on. Every shape becomes one with a weight of its own. A shape lists
positions and how far each moves. Blender scales each of these by a percentage, in the place of the one of the shape.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io import names
from kinema.io.fbx.document import FbxDocument, Object
from kinema.io.fbx.element import Element
from kinema.io.fbx.meshes import MaterialMesh
from kinema.io.fbx.settings import Space
from kinema.io.fbx.takes import PERCENT, Take, percent_of
from kinema.model.blend_shapes import LARGEST_WEIGHT, BlendShape

_FULL = 100.0
"""Percentage at which a shape is reached, unless the file says so."""

_DECIMALS = 6
"""Of the percentages at which shapes are reached: nearer to each other, they are equal, and no weight overflows."""

_NUMBERS_A_SHAPE = 1_000
"""Charged for each shape, and again for each surface that it moves: the time it takes, in numbers."""


@dataclass(frozen=True, eq=False)
class PositionShape:
    """How far a shape moves positions of its mesh."""

    name: str
    positions: Any
    """(n,), each at most once."""
    offsets: Any
    """(n, 3), in the space of the mesh."""


@dataclass(frozen=True, eq=False)
class ShapeChannel:
    """Shapes that one percentage drives."""

    object: Object
    shapes: tuple[PositionShape, ...]
    full: Any
    """(n,): percentages at which they are reached."""

    def weights(self, percents: Any) -> Any:
        """Return the weights of the shapes at percentages, (k, n)."""
        stops = np.unique(np.append(self.full, 0.0))
        if len(stops) < 2:
            return np.zeros((len(percents), len(self.full)))
        after = np.clip(np.searchsorted(stops, percents), 1, len(stops) - 1)
        share = (percents - stops[after - 1]) / (stops[after] - stops[after - 1])
        of_stops = np.zeros((len(percents), len(stops)))
        rows = np.arange(len(percents))
        of_stops[rows, after - 1], of_stops[rows, after] = 1.0 - share, share
        found = of_stops[:, np.searchsorted(stops, self.full)] * (self.full != 0.0)
        return np.clip(found, -LARGEST_WEIGHT, LARGEST_WEIGHT)

    def at(self, take: Take, ticks: Any) -> Any:
        """Return the weights at times of a take, (k, n)."""
        static = np.array((percent_of(self.object), 0.0, 0.0))
        return self.weights(take.values(self.object.key, PERCENT, static, ticks, 0)[:, 0])


def read_channels(document: FbxDocument) -> dict[Element, list[ShapeChannel]]:
    """Return the channels of each mesh that has shapes, by its element, in the order of the file."""
    listed: list[tuple[Element, Object, list[Object]]] = []
    for deformer in document.each("Deformer"):
        for mesh, _ in document.above(deformer, "Geometry") if deformer.subtype == "BlendShape" else ():
            for channel, _ in document.below(deformer, "Deformer"):
                document.budget.charge(_NUMBERS_A_SHAPE, channel.element)
                driven = document.below(channel, "Geometry") if channel.subtype == "BlendShapeChannel" else []
                shapes = [link.object for link in driven]
                listed.append((mesh.element, channel, [shape for shape in shapes if shape.subtype == "Shape"]))
    named = iter(
        names.unique([each.name or channel.name or "shape" for _, channel, shapes in listed for each in shapes])
    )
    found: dict[Element, list[ShapeChannel]] = {}
    for element, channel, shapes in listed:
        if shapes:
            read = [_shape(shape.element, next(named)) for shape in shapes]
            found.setdefault(element, []).append(_channel(channel, read))
    return found


def _channel(channel: Object, shapes: list[PositionShape]) -> ShapeChannel:
    written = channel.element.maybe("FullWeights")
    full = written.numbers() if written is not None else np.zeros(0)
    if len(shapes) == 1 and len(full) == len(shapes[0].positions) != 1:
        shapes = [replace(shapes[0], offsets=shapes[0].offsets * full[:, np.newaxis] / _FULL)]
    full = np.round(full, _DECIMALS) if len(full) == len(shapes) else np.full(len(shapes), _FULL)
    return ShapeChannel(channel, tuple(shapes), full)


def _shape(element: Element, name: str) -> PositionShape:
    positions, offsets = element.at("Indexes").numbers(np.int64), element.at("Vertices").numbers()
    if len(offsets) != 3 * len(positions):
        element.fail(f"has {len(positions):,} positions and {len(offsets):,} numbers to move them; each needs three")
    element.budget.charge(_NUMBERS_A_SHAPE + 10 * len(positions), element)
    if len(np.unique(positions)) < len(positions) or (len(positions) and positions.min() < 0):
        element.at("Indexes").fail("has a position twice or below 0")
    return PositionShape(name, positions, offsets.reshape(-1, 3))


def shapes_of(mesh: MaterialMesh, channels: list[ShapeChannel], space: Space) -> list[BlendShape]:
    """Return the shapes of the vertices of one material."""
    made = []
    for channel in channels:
        weights = channel.weights(np.array([percent_of(channel.object)]))[0]
        for shape, weight in zip(channel.shapes, weights.tolist(), strict=True):
            mesh.element.budget.charge(
                _NUMBERS_A_SHAPE + 10 * (len(mesh.positions) + len(shape.positions)), mesh.element
            )
            order = np.argsort(shape.positions)
            sorted_positions = np.append(shape.positions[order], np.iinfo(np.int64).max)
            at = np.searchsorted(sorted_positions, mesh.positions)
            vertices = np.flatnonzero(sorted_positions[at] == mesh.positions)
            offsets = shape.offsets[order[at[vertices]]]
            moved = offsets.any(axis=1)
            try:
                made.append(BlendShape(shape.name, vertices[moved], space.vectors(offsets[moved]), weight))
            except InputError as problem:
                mesh.element.fail(f"has a shape that cannot be used: {problem}")
    return made
