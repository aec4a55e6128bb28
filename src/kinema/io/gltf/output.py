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
from kinema.io.gltf.document import MAGIC
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

    joint: int
    path: str
    interpolation: str
    times: Any
    """(K,)."""
    values: Any
    """(K, n), or (K, 3, n) for a cubic spline."""


def add_clip(output: Output, name: str, clip: Clip, node_of_joint: Sequence[int]) -> None:
    """Add a clip as an animation. node_of_joint: the node of each joint.

    Tracks keep their keys and interpolation; tracks that stay at rest are omitted. In glTF a clip ends at its last
    key: if the clip is longer, one track repeats its last value at the end.
    """
    tracks = _whole([_keys(clip, track) for track in clip.tracks], clip)
    arrays: list[Stored] = []
    inputs: dict[bytes, int] = {}
    for track in tracks:
        if track.times.tobytes() not in inputs:
            inputs[track.times.tobytes()] = len(arrays)
            arrays.append(Stored(track.times[:, np.newaxis], bounded=True))
    outputs = len(arrays)
    arrays += [Stored(track.values.reshape(-1, track.values.shape[-1])) for track in tracks]
    accessors = output.add_arrays(arrays)
    samplers, channels = [], []
    for k, track in enumerate(tracks):
        source = accessors[inputs[track.times.tobytes()]]
        samplers.append({"input": source, "interpolation": track.interpolation, "output": accessors[outputs + k]})
        node = node_of_joint[track.joint]
        channels.append({"sampler": k, "target": {"node": node, "path": track.path}})
        known = output.listed("nodes")[node]
        if "matrix" in known:  # A node with a matrix must not be animated.
            kept = {key: value for key, value in known.items() if key != "matrix"}
            output.listed("nodes")[node] = {**kept, **local_transform(clip.skeleton, track.joint)}
    output.add("animations", {"name": name, "channels": channels, "samplers": samplers})


def _keys(clip: Clip, track: Track) -> _Keys:
    what = f"clip {clip.name!r}, {track.path} of {clip.skeleton.names[int(track.joint)]!r},"
    times, values, how = float32(track.times, what), float32(track.values, what), track.interpolation
    # Times that are equal in float32 are a smallest step apart, so that a jump stays a jump: as integers, consecutive
    # floats differ by 1, and there is no -0.
    order, numbers = np.arange(len(times), dtype=np.int32), (times + np.float32(0.0)).view(np.int32)
    times = (np.maximum.accumulate(numbers - order) + order).view(np.float32)
    if how == "CUBICSPLINE" and len(times) == 1:  # A spline needs two keys; with one, it is constant.
        values, how = values[:, 1], "LINEAR"
    return _Keys(int(track.joint), track.path, how, times, values)


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
    rest = getattr(skeleton.rest, REST[track.path])[track.joint].astype(np.float32)
    if track.interpolation == "CUBICSPLINE":
        rest = np.stack((np.zeros_like(rest), rest, np.zeros_like(rest)))
    return bool((track.values == rest).all() or (track.path == "rotation" and (track.values == -rest).all()))


def local_transform(skeleton: Skeleton, joint: int) -> dict[str, list[float]]:
    """The rest transform of a joint relative to its parent, as members of a node; identity parts are omitted."""
    rest = skeleton.rest
    parts = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
    values = {path: getattr(rest, REST[path])[joint].tolist() for path in parts}
    return {path: value for path, value in values.items() if value != list(parts[path])}
