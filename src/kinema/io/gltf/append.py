"""Clips added to a file: their keys as they are, one animation each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.clip import Clip, Track
from kinema.io.gltf.output import Output, Stored, float32
from kinema.skeleton import Skeleton


def add_clip(output: Output, name: str, clip: Clip, node_of_joint: Sequence[int]) -> None:
    """Add a clip as an animation. node_of_joint: for each joint, which node of the file it moves.

    Tracks keep their keys and how they go from one to the next. What stays at rest is left out. The format knows a clip's
    length by its last key alone: where the clip goes on after it, one track holds its last value until then.
    """
    tracks = [_stored(track) for track in _lasting(_telling(clip), clip)]
    arrays: list[Stored] = []
    position: dict[bytes, int] = {}
    for track in tracks:
        if track.times.tobytes() not in position:
            position[track.times.tobytes()] = len(arrays)
            arrays.append(Stored(track.times[:, np.newaxis], bounded=True))
    inputs = [position[track.times.tobytes()] for track in tracks]
    outputs = range(len(arrays), len(arrays) + len(tracks))
    arrays += [Stored(track.values.reshape(-1, track.values.shape[-1])) for track in tracks]
    accessors = output.add_arrays(arrays)
    samplers = [
        {"input": accessors[i], "output": accessors[o], "interpolation": track.interpolation}
        for track, i, o in zip(tracks, inputs, outputs, strict=True)
    ]
    channels = [
        {"sampler": k, "target": {"node": node_of_joint[int(track.joint)], "path": track.path}}
        for k, track in enumerate(tracks)
    ]
    for track in tracks:
        _make_movable(output, node_of_joint[int(track.joint)], clip.skeleton, int(track.joint))
    output.add("animations", {"name": name, "channels": channels, "samplers": samplers})
