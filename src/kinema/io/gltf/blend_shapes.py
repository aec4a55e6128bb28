"""Blend shapes, which glTF calls morph targets: their names and weights by node, and the channels that animate these.

A node that shows a mesh has a weight for each of its targets, so every node has shapes of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io import names
from kinema.io.gltf.accessors import Accessors, float64, normalised
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document, ShapedNode
from kinema.io.gltf.limits import NUMBERS_A_SHAPE
from kinema.io.surfaces import Surface
from kinema.model.blend_shapes import LARGEST_WEIGHT, ShapeTrack

WEIGHTS = "weights"
"""The path of channels that animate them."""

_PIECES = 16
"""Straight pieces that a span of a cubic spline becomes beside tracks of another kind: off by 1/256 of its bulge."""


def read_shaped_nodes(document: Document, surfaces: list[list[Surface]], accessors: Accessors) -> dict[int, ShapedNode]:
    """Return the blend shapes of each node that has some. surfaces: of each mesh."""
    meshes, found = document.root.each("meshes"), {}
    for node, cursor in enumerate(document.root.each("nodes")):
        which = cursor.index("mesh", len(surfaces)) if cursor.has("mesh") else None
        count = 0 if which is None else max((len(surface.shapes) for surface in surfaces[which]), default=0)
        if which is None or count == 0:
            continue
        accessors.charge(count * NUMBERS_A_SHAPE, cursor)
        found[node] = ShapedNode(_names(meshes[which], count), _weights(document, cursor, meshes[which], count))
    named = iter(names.unique([name for each in found.values() for name in each.names]))
    return {node: each._replace(names=tuple(next(named) for _ in each.names)) for node, each in found.items()}


def _names(mesh: Cursor, count: int) -> tuple[str, ...]:
    """Return the names of targets where most programs write them; others are numbered."""
    extras = mesh.members().get("extras")
    given = extras.get("targetNames") if isinstance(extras, dict) else None
    listed = [name if isinstance(name, str) else "" for name in given[:count]] if isinstance(given, list) else []
    listed += [""] * (count - len(listed))
    return tuple(names.readable(name) or f"shape_{i}" for i, name in enumerate(listed))


def _weights(document: Document, node: Cursor, mesh: Cursor, count: int) -> tuple[float, ...]:
    none = (0.0,) * count
    try:
        found = node.numbers(WEIGHTS, mesh.numbers(WEIGHTS, none))
    except FileError as problem:
        document.problems.append(f"{problem.problem}; they are taken for 0")
        return none
    return tuple(min(max(weight, -LARGEST_WEIGHT), LARGEST_WEIGHT) for weight in found)


def read_shape_tracks(
    animation: Cursor, channels: Sequence[tuple[ShapedNode, tuple[Any, Any, int]]], accessors: Accessors
) -> list[ShapeTrack]:
    """Return the tracks of channels that animate weights: a key holds those of all shapes of the node.

    channels: with the interpolation, the times and the accessor of the values of each.
    """
    tracks = []
    for node, (how, times, output) in channels:
        array, cursor, count = accessors.array(output), accessors.cursors[output], len(node.names)
        shape = (len(times), 3, count) if how == "CUBICSPLINE" else (len(times), count)
        if array.shape != (np.prod(shape), 1):
            cursor.fail(f"holds weights of {count} targets for {len(times)} keys; it needs {np.prod(shape):,} numbers")
        values = float64(normalised(array)).reshape(shape)
        if not np.isfinite(values).all():
            cursor.fail("has numbers that are not finite")
        values = np.clip(values, -LARGEST_WEIGHT, LARGEST_WEIGHT)
        accessors.charge(2 * values.size + count * NUMBERS_A_SHAPE, animation)
        tracks += [ShapeTrack(name, times, values[..., i], how) for i, name in enumerate(node.names)]
    return tracks


def keys_of(node: ShapedNode, tracks: Mapping[str, ShapeTrack]) -> tuple[Any, Any, str] | None:
    """Return times, values (K, S) or (K, 3, S), and the interpolation of all shapes of a node; None if none moves.

    Tracks whose times or interpolations differ become linear, with keys wherever one of them needs one.
    """
    found = [tracks[name] for name in node.names if name in tracks]
    if not found:
        return None
    first = found[0]
    alike = all(
        track.interpolation == first.interpolation and np.array_equal(track.times, first.times) for track in found
    )
    times = first.times if alike else np.unique(np.concatenate([_linear_times(track) for track in found]))
    cubic = alike and first.interpolation == "CUBICSPLINE" and len(times) > 1
    columns = []
    for name, weight in zip(node.names, node.weights, strict=True):
        track = tracks.get(name)
        if cubic:
            columns.append(np.tile((0.0, weight, 0.0), (len(times), 1)) if track is None else track.values)
        else:
            columns.append(np.full(len(times), weight) if track is None else track.at(times))
    how = first.interpolation if alike and (cubic or first.interpolation == "STEP") else "LINEAR"
    return times, np.stack(columns, axis=-1), how


def _linear_times(track: ShapeTrack) -> Any:
    """Return times between which a track is as good as linear: steps lie between two neighbouring times of a file."""
    times = track.times
    if track.interpolation == "STEP":
        with np.errstate(over="ignore"):  # What float32 cannot hold is refused where it is stored.
            before = np.nextafter(times[1:].astype(np.float32), np.float32(0.0))
        return np.unique(np.concatenate((times, before)))
    if track.interpolation == "CUBICSPLINE" and len(times) > 1:
        shares = np.arange(_PIECES) / _PIECES
        return np.append((times[:-1, np.newaxis] + shares * np.diff(times)[:, np.newaxis]).reshape(-1), times[-1])
    return times
