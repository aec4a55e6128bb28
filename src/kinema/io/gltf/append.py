"""Add clips to a file: one animation each, with their own keys."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.io.gltf.output import Output, Stored, float32
from kinema.model.clip import Clip, Track
from kinema.model.skeleton import Skeleton

REST = {"translation": "translations", "rotation": "rotations", "scale": "scales"}
"""Track paths, and the corresponding arrays of a pose."""


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
