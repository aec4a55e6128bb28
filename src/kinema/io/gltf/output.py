"""`Output`: a binary glTF file under construction, and clips that are added to it: one animation each, with their own
keys.
"""

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io.gltf.accessors import COMPONENTS, SHAPES
from kinema.io.gltf.blend_shapes import WEIGHTS, keys_of
from kinema.io.gltf.document import MAGIC, ShapedNode
from kinema.model.blend_shapes import ShapeTrack
from kinema.model.clip import Clip, Track
from kinema.model.skeleton import Skeleton

ALIGNMENT = 4
"""Bytes: chunks, buffer views and arrays start at multiples of this."""

VERTICES, INDICES = 34962, 34963
"""Targets of buffer views."""

_LARGEST_GLB = 2**32 - 1
"""Bytes of a binary glTF file: its length is stored in 32 bits."""

_CODES = {dtype: code for code, dtype in COMPONENTS.items()}
_TYPES = {columns * rows: name for name, (columns, rows) in SHAPES.items() if name != "MAT2"}


REST = {"translation": "translations", "rotation": "rotations", "scale": "scales"}
"""Track paths, and the corresponding arrays of a pose."""


@dataclass(frozen=True)
class Stored:
    """An array for the file."""

    array: Any
    """(count, width), in one of the format's types."""
    bounded: bool = False
    """Whether to store its minimum and maximum."""


class Output:
    """A file that starts with existing JSON and bytes, which stay unchanged, and is added to.

    tree: the JSON. binary: the first buffer. chunks: unknown chunks that follow it in the file.
    """

    json: dict[str, Any]

    def __init__(self, tree: Mapping[str, Any], binary: bytes = b"", chunks: bytes = b"") -> None:
        self.json = dict(tree)
        self._own: set[str] = set()
        self.shaped: dict[int, ShapedNode] = {}
        """The blend shapes of each node that has some."""
        self._pieces, self._length = [binary], len(binary)
        self._before = len(binary)
        self._chunks = chunks

    @property
    def length(self) -> int:
        """Bytes in the first buffer so far."""
        return self._length

    # --- adding ------------------------------------------------------------------------------------------------

    def listed(self, key: str) -> list[Any]:
        """Return an array of the JSON to add to. Elements may be replaced, not modified: they belong to the source."""
        if key not in self._own:
            self.json[key] = list(self.json.get(key, ()))
            self._own.add(key)
        return self.json[key]

    def add(self, key: str, thing: Mapping[str, Any]) -> int:
        """Add an element to an array of the JSON and return its index. Members that are None are omitted."""
        things = self.listed(key)
        things.append({name: value for name, value in thing.items() if value is not None})
        return len(things) - 1

    def add_view(self, data: bytes, target: int | None = None) -> int:
        """Add bytes with a buffer view, and return its index."""
        self._pad()
        start = self._length
        self._append(data)
        return self.add(
            "bufferViews", {"buffer": 0, "byteOffset": start or None, "byteLength": len(data), "target": target}
        )

    def add_arrays(self, arrays: Iterable[Stored], target: int | None = None) -> list[int]:
        """Add arrays to one buffer view, and return the indices of their accessors."""
        view, data, accessors = len(self.listed("bufferViews")), bytearray(), []
        for stored in arrays:
            accessors.append(self.add("accessors", _accessor(stored, view, len(data))))
            data += stored.array.tobytes()
            data += bytes(-len(data) % ALIGNMENT)
        self.add_view(bytes(data), target)
        return accessors

    def add_sparse(self, rows: Any, values: Any, count: int) -> int:
        """Add an array of float32, (count, n), that is zero except for some rows, and return its accessor."""
        order = np.argsort(rows)
        indices, some = rows[order].astype("<u4"), float32(values[order], "offsets of a blend shape")
        whole = np.concatenate((some, np.zeros((int(len(rows) < count), some.shape[1]), "<f4")))
        accessor = {**_accessor(Stored(whole, bounded=True), 0, 0), "count": count, "bufferView": None}
        if len(rows):
            accessor["sparse"] = {
                "count": len(rows),
                "indices": {"bufferView": self.add_view(indices.tobytes()), "componentType": _CODES[indices.dtype]},
                "values": {"bufferView": self.add_view(some.tobytes())},
            }
        return self.add("accessors", accessor)

    def _append(self, data: bytes) -> None:
        self._pieces.append(data)
        self._length += len(data)

    def _pad(self) -> None:
        self._append(bytes(-self._length % ALIGNMENT))

    # --- the file ----------------------------------------------------------------------------------------------

    def glb(self) -> Iterator[bytes]:
        """Yield the bytes of the file, in pieces."""
        if self._length > self._before:
            buffers = self.listed("buffers")
            buffers[:1] = [{**(buffers[0] if buffers else {}), "byteLength": self._length}]
        try:
            text = json.dumps(self.json, separators=(",", ":"), allow_nan=False).encode("ascii")
        except (ValueError, RecursionError) as problem:  # Unread parts may hold 1e999.
            raise InputError(f"the file's JSON cannot be written again: {problem}") from None
        text += b" " * (-len(text) % ALIGNMENT)
        self._pad()
        binary = 8 + self._length if self._length else 0
        size = 12 + 8 + len(text) + binary + len(self._chunks)
        if size > _LARGEST_GLB:
            raise InputError(f"the file would have {size:,} bytes; the format allows {_LARGEST_GLB:,}")
        yield struct.pack("<4sII", MAGIC, 2, size)
        yield struct.pack("<I4s", len(text), b"JSON") + text
        if self._length:
            yield struct.pack("<I4s", self._length, b"BIN\0")
            yield from self._pieces
        yield self._chunks


def _accessor(stored: Stored, view: int, offset: int) -> dict[str, Any]:
    array = stored.array
    return {
        "bufferView": view,
        "byteOffset": offset or None,
        "componentType": _CODES[array.dtype],
        "count": len(array),
        "type": _TYPES[array.shape[1]],
        "min": array.min(axis=0).tolist() if stored.bounded else None,
        "max": array.max(axis=0).tolist() if stored.bounded else None,
    }


def float32(array: Any, what: str) -> Any:
    """Convert to float32. what: name of the array, for the error if a number is too large."""
    with np.errstate(over="ignore"):
        small = np.ascontiguousarray(array, "<f4")
    if not np.isfinite(small).all():
        raise InputError(f"{what} has numbers beyond {np.finfo(np.float32).max:.3g}, the largest that glTF can store")
    return small


# --- clips ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Keys:
    """A track as the file stores it, in float32."""

    target: int
    """The joint that it moves, or the node whose blend shapes it weighs."""
    path: str
    interpolation: str
    times: Any
    """(K,)."""
    values: Any
    """(K, n), or (K, 3, n) for a cubic spline; weights of n blend shapes."""


def add_clip(output: Output, name: str, clip: Clip, node_of_joint: Sequence[int]) -> None:
    """Add a clip as an animation, with what it does to the blend shapes that the output knows. node_of_joint: the node
    of each joint.

    Tracks keep their keys and interpolation; tracks that stay at rest are omitted. In glTF a clip ends at its last
    key: if the clip is longer, one track repeats its last value at the end.
    """
    tracks = [_keys(clip, track) for track in clip.tracks]
    named = {track.shape: track for track in clip.shapes}
    tracks += [keys for node, each in output.shaped.items() if (keys := _shape_keys(clip, node, each, named))]
    tracks = _whole(tracks, clip)
    arrays: list[Stored] = []
    inputs: dict[bytes, int] = {}
    for track in tracks:
        if track.times.tobytes() not in inputs:
            inputs[track.times.tobytes()] = len(arrays)
            arrays.append(Stored(track.times[:, np.newaxis], bounded=True))
    outputs = len(arrays)
    widths = [1 if track.path == WEIGHTS else track.values.shape[-1] for track in tracks]
    arrays += [Stored(track.values.reshape(-1, width)) for track, width in zip(tracks, widths, strict=True)]
    accessors = output.add_arrays(arrays)
    samplers, channels = [], []
    for k, track in enumerate(tracks):
        source = accessors[inputs[track.times.tobytes()]]
        samplers.append({"input": source, "interpolation": track.interpolation, "output": accessors[outputs + k]})
        node = track.target if track.path == WEIGHTS else node_of_joint[track.target]
        channels.append({"sampler": k, "target": {"node": node, "path": track.path}})
        known = output.listed("nodes")[node]
        if "matrix" in known and track.path != WEIGHTS:  # A node with a matrix must not be animated.
            kept = {key: value for key, value in known.items() if key != "matrix"}
            output.listed("nodes")[node] = {**kept, **local_transform(clip.skeleton, track.target)}
    output.add("animations", {"name": name, "channels": channels, "samplers": samplers})


def _keys(clip: Clip, track: Track) -> _Keys:
    what = f"clip {clip.name!r}, {track.path} of {clip.skeleton.names[int(track.joint)]!r},"
    values, how = float32(track.values, what), track.interpolation
    if how == "CUBICSPLINE" and len(values) == 1:  # A spline needs two keys; with one, it is constant.
        values, how = values[:, 1], "LINEAR"
    return _Keys(int(track.joint), track.path, how, _seconds(track.times, what), values)


def _shape_keys(clip: Clip, node: int, shaped: ShapedNode, tracks: Mapping[str, ShapeTrack]) -> _Keys | None:
    """Return the keys of all blend shapes of a node; None if the clip moves none."""
    found = keys_of(shaped, tracks)
    if found is None:
        return None
    what = f"clip {clip.name!r}, weights of {shaped.names[0]!r} and others,"
    return _Keys(node, WEIGHTS, found[2], _seconds(found[0], what), float32(found[1], what))


def _seconds(times: Any, what: str) -> Any:
    """Convert times to float32."""
    # Times that are equal in float32 are a smallest step apart, so that a jump stays a jump: as integers, consecutive
    # floats differ by 1, and there is no -0.
    small = float32(times, what)
    order, numbers = np.arange(len(small), dtype=np.int32), (small + np.float32(0.0)).view(np.int32)
    return (np.maximum.accumulate(numbers - order) + order).view(np.float32)


def _whole(tracks: list[_Keys], clip: Clip) -> list[_Keys]:
    """The tracks that are not at rest, at least one, the last of them as long as the clip."""
    moving = [track for track in tracks if not _at_rest(track, clip.skeleton)] or tracks[:1]
    if not moving:
        moving = [_keys(clip, Track(0, "translation", [0.0], clip.skeleton.rest.translations[:1]))]
    end = np.float32(clip.duration)
    if end > max(track.times[-1] for track in moving):
        last = moving[-1]
        values = np.concatenate((last.values, last.values[-1:]))
        if last.interpolation == "CUBICSPLINE":
            values[-2, 2] = values[-1, 0] = 0.0  # Constant between them.
        moving[-1] = replace(last, times=np.append(last.times, end), values=values)
    return moving


def _at_rest(track: _Keys, skeleton: Skeleton) -> bool:
    """Whether the track does nothing."""
    if track.path == WEIGHTS:
        return False
    rest = getattr(skeleton.rest, REST[track.path])[track.target].astype(np.float32)
    if track.interpolation == "CUBICSPLINE":
        rest = np.stack((np.zeros_like(rest), rest, np.zeros_like(rest)))
    return bool((track.values == rest).all() or (track.path == "rotation" and (track.values == -rest).all()))


def local_transform(skeleton: Skeleton, joint: int) -> dict[str, list[float]]:
    """The rest transform of a joint relative to its parent, as members of a node; identity parts are omitted."""
    rest = skeleton.rest
    parts = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
    values = {path: getattr(rest, REST[path])[joint].tolist() for path in parts}
    return {path: value for path, value in values.items() if value != list(parts[path])}
