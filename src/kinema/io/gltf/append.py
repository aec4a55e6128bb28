"""Clips added to a file: their keys as they are, one animation each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.clip import Clip, Track
from kinema.io.gltf.output import Output, Stored, float32
from kinema.skeleton import Skeleton

REST = {"translation": "translations", "rotation": "rotations", "scale": "scales"}
"""What a track changes, and the pose's array of it."""


@dataclass(frozen=True)
class _Keys:
    """A track as the file stores it. times: (K,), values: (K, n), of a cubic one (K, 3, n); float32."""

    joint: int
    path: str
    interpolation: str
    times: Any
    values: Any


def add_clip(output: Output, name: str, clip: Clip, node_of_joint: Sequence[int]) -> None:
    """Add a clip as an animation. node_of_joint: for each joint, which node of the file it moves.

    Tracks keep their keys and how they go from one to the next; what stays at rest is left out. The format knows how
    long a clip is by its last key alone: where it goes on after that, one track holds its last value until the end.
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
        _make_movable(output, node, clip.skeleton, track.joint)
    output.add("animations", {"name": name, "channels": channels, "samplers": samplers})


def _keys(clip: Clip, track: Track) -> _Keys:
    what = f"clip {clip.name!r}, {track.path} of {clip.skeleton.names[int(track.joint)]!r},"
    times, values, how = _apart(float32(track.times, what)), float32(track.values, what), track.interpolation
    if how == "CUBICSPLINE" and len(times) == 1:  # A curve needs two keys; with one, it stands still.
        values, how = values[:, 1], "LINEAR"
    return _Keys(int(track.joint), track.path, how, times, values)


def _apart(times: Any) -> Any:
    """Times that float32 cannot tell apart, the least there is apart: a jump stays a jump. times: none negative."""
    order = np.arange(len(times), dtype=np.int32)
    numbers = (times + np.float32(0.0)).view(np.int32)  # Read as whole numbers, one float comes after another; no -0.
    return (np.maximum.accumulate(numbers - order) + order).view(np.float32)


def _whole(tracks: list[_Keys], clip: Clip) -> list[_Keys]:
    """The tracks that move something, at least one, the last of them lasting as long as the clip."""
    telling = [track for track in tracks if not _at_rest(track, clip.skeleton)] or tracks[:1]
    if not telling:
        telling = [_keys(clip, Track(0, "translation", [0.0], clip.skeleton.rest.translations[:1]))]
    end = np.float32(clip.duration)
    if end > max(track.times[-1] for track in telling):
        telling[-1] = _held(telling[-1], end)
    return telling


def _at_rest(track: _Keys, skeleton: Skeleton) -> bool:
    """Whether a joint without this track would do the same."""
    rest = getattr(skeleton.rest, REST[track.path])[track.joint].astype(np.float32)
    if track.interpolation == "CUBICSPLINE":
        rest = np.stack((np.zeros_like(rest), rest, np.zeros_like(rest)))
    return bool((track.values == rest).all() or (track.path == "rotation" and (track.values == -rest).all()))


def _held(track: _Keys, end: Any) -> _Keys:
    """The same keys, and the last once more at the end."""
    values = np.concatenate((track.values, track.values[-1:]))
    if track.interpolation == "CUBICSPLINE":
        values[-2, 2] = values[-1, 0] = 0.0  # Level from the one to the other.
    return replace(track, times=np.append(track.times, end), values=values)


def _make_movable(output: Output, node: int, skeleton: Skeleton, joint: int) -> None:
    """Give a node its place as translation, rotation and scale: one that has a matrix must not be animated."""
    known = output.listed("nodes")[node]
    if "matrix" in known:
        kept = {key: value for key, value in known.items() if key != "matrix"}
        output.listed("nodes")[node] = {**kept, **placement(skeleton, joint)}


def placement(skeleton: Skeleton, joint: int) -> dict[str, list[float]]:
    """Where a joint is at rest, relative to its parent, as a node has it; what is nothing is left out."""
    rest = skeleton.rest
    parts = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
    values = {path: getattr(rest, REST[path])[joint].tolist() for path in parts}
    return {path: value for path, value in values.items() if value != list(parts[path])}
