"""Animations: what a document's channels do to its nodes, as clips.

Channels to anything but a node's translation, rotation or scale (the weights of morph targets, what extensions add)
are left alone: they count for a clip's length, and stay in the file.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import numpy as np

from kinema.clip import Clip, Interpolation, Path, Track
from kinema.constants import LARGEST_FLOAT64
from kinema.io import names
from kinema.io.constants import GLTF_MOST_NUMBERS
from kinema.io.gltf.accessors import Accessors, normalised
from kinema.io.gltf.document import Document
from kinema.io.gltf.place import Place
from kinema.sampling import INTERPOLATIONS, PATHS
from kinema.skeleton import Skeleton


def read_clips(document: Document, skeleton: Skeleton, accessors: Accessors) -> dict[str, Clip]:
    """The clips by their names, in the file's order; names that come twice are made different."""
    animations = document.root.each("animations")
    named = names.unique([names.readable(place.text("name", "")) or f"clip_{i}" for i, place in enumerate(animations)])
    keys, left_alone = Keys(document, accessors), Counter[str]()
    clips = {}
    for name, animation in zip(named, animations, strict=True):
        tracks, duration = _tracks(document, animation, keys, left_alone)
        clips[name] = Clip(name, skeleton, tracks, duration)
    document.problems += [f"{count} channels move {path!r}, which is not played" for path, count in left_alone.items()]
    return clips


def _tracks(document: Document, animation: Place, keys: Keys, left_alone: Counter[str]) -> tuple[list[Track], float]:
    """The tracks of one animation, and its seconds until the last key of any channel."""
    samplers = animation.each("samplers")
    nodes = len(document.joint_of_node)
    tracks: dict[tuple[int, str], Track] = {}
    duration, numbers = 0.0, 0
    for channel in animation.each("channels"):
        target = channel.at("target")
        path = target.text("path")
        sampler = samplers[channel.index("sampler", len(samplers))]
        times = keys.times(sampler)
        duration = max(duration, times[-1])
        if path not in PATHS or not target.has("node"):
            left_alone[names.readable(path) if path not in PATHS else "no node"] += 1
            continue
        joint = document.joint_of_node[target.index("node", nodes)]
        if (joint, path) in tracks:
            document.problems.append(f"{channel.path} moves what another channel does; it is left out")
            continue
        tracks[joint, path] = track = keys.track(sampler, joint, path, times)
        numbers += track.values.size
        if numbers > GLTF_MOST_NUMBERS:
            animation.fail(f"has more than {GLTF_MOST_NUMBERS:,} numbers in its keys, the most that are read")
    return list(tracks.values()), float(duration)


class Keys:
    """Times and values of samplers, each accessor checked once: channels by the thousand share them."""

    def __init__(self, document: Document, accessors: Accessors) -> None:
        self._problems = document.problems
        self._accessors = accessors
        self._times: dict[int, Any] = {}
        self._values: dict[tuple[int, str, bool], Any] = {}

    def times(self, sampler: Place) -> Any:
        """(K,): seconds, float64, increasing, none negative."""
        index = sampler.index("input", len(self._accessors))
        if index not in self._times:
            self._times[index] = self._checked_times(sampler, index)
        return self._times[index]

    def track(self, sampler: Place, joint: int, path: str, times: Any) -> Track:
        how = sampler.one_of("interpolation", INTERPOLATIONS, "LINEAR")
        cubic = how == "CUBICSPLINE"
        key = sampler.index("output", len(self._accessors)), path, cubic
        if key not in self._values:
            self._values[key] = self._checked_values(sampler, *key)
        values = self._values[key]
        if len(values) != len(times):
            sampler.at("output").fail(f"has values for {len(values)} keys; its input has {len(times)}")
        return Track.of(joint, cast(Path, path), times, values, cast(Interpolation, how))

    def _checked_times(self, sampler: Place, index: int) -> Any:
        array, place = self._accessors.read(index), self._accessors.places[index]
        if array.shape[1] != 1:
            place.fail(f"has elements of {array.shape[1]} numbers; times have 1")
        times = array[:, 0].astype(np.float64)
        # Not a number is not after anything, so what increases to an end in range is all in range.
        if times[0] >= 0 and times[-1] <= LARGEST_FLOAT64 and (times[1:] > times[:-1]).all():
            return times
        if not (np.isfinite(times).all() and times[0] >= 0 and (times[1:] >= times[:-1]).all()):
            place.fail(f"is the input of {sampler.path}; times must be finite, 0 or more, and increase")
        self._problems.append(f"{place.path} has several keys at one time; they follow each other at once")
        return _spread(times)

    def _checked_values(self, sampler: Place, index: int, path: str, cubic: bool) -> Any:
        """(K, w), with tangents (K, 3, w): float64, finite, rotations at length 1."""
        array, place = normalised(self._accessors.read(index)), self._accessors.places[index]
        width = PATHS[path]
        if array.shape[1] != width or (cubic and len(array) % 3):
            place.fail(f"is the output of {sampler.path}, a {path}; it needs {'3 times ' * cubic}{width} numbers a key")
        values = array.astype(np.float64)
        flat = values.reshape(-1)
        if not flat @ flat <= np.inf or not np.isfinite(flat @ flat):
            place.fail("has numbers that are not finite")
        if cubic:
            values = values.reshape(-1, 3, width)
        if path == "rotation":
            _check_rotations(place, values[:, 1] if cubic else values)
            values = values if cubic else values / np.sqrt((values * values).sum(axis=-1, keepdims=True))
        return values


def _check_rotations(place: Place, values: Any) -> None:
    zero = ~values.any(axis=-1)
    if zero.any():
        place.fail(f"has a rotation of zero, in key {int(np.argmax(zero))}; a quaternion has length 1")


def _spread(times: Any) -> Any:
    """Times that do not decrease, made to increase by the least there is: a jump stays a jump."""
    rank = np.arange(len(times)) - np.searchsorted(times, times, side="left")
    return times + rank * np.maximum(np.spacing(times), np.finfo(times.dtype).tiny)
