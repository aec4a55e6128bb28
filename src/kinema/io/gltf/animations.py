"""Animations: the channels of a document as clips, with their keys, each checked once.

Channels that animate anything but a node's translation, rotation or scale or the weights of its blend shapes
(extensions) are ignored: they count for the length of a clip and stay in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from kinema.constants import LARGEST_FLOAT64
from kinema.io import names
from kinema.io.gltf.accessors import Accessors, float64, normalised
from kinema.io.gltf.blend_shapes import WEIGHTS, read_shape_tracks
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document, ShapedNode
from kinema.model.clip import Clip, Interpolation, Path, Track
from kinema.model.sampling import INTERPOLATIONS, PATHS
from kinema.model.skeleton import Skeleton

_MOST_CLIPS = 10_000
"""The largest public clip packs have some hundreds; creating this many takes a fifth of a second."""

NO_NODE = -1
"""Marks a channel without a node."""


def read_clips(document: Document, skeleton: Skeleton, accessors: Accessors) -> dict[str, Clip]:
    """Read the clips by name, in the file's order. Names are made unique."""
    animations = document.root.each("animations")
    if len(animations) > _MOST_CLIPS:
        document.root.at("animations").fail(f"has {len(animations):,} elements; at most {_MOST_CLIPS:,} are allowed")
    named = names.unique([names.readable(name) or f"clip_{i}" for i, name in enumerate(animations.texts("name", ""))])
    times, ignored = Times(document, accessors), Counter[str]()
    clips = {}
    for name, animation in zip(named, animations, strict=True):
        groups, shaped, duration = _groups(document, animation, times, ignored)
        tracks = [track for kind, group in groups.items() for track in _tracks(animation, *kind, group, accessors)]
        clips[name] = Clip(name, skeleton, tracks, duration, shapes=read_shape_tracks(animation, shaped, accessors))
    document.problems += [f"channels that {what} are ignored: {count}" for what, count in ignored.items()]
    return clips


class Sampler(NamedTuple):
    """Keys, before it is known what they animate."""

    interpolation: str
    times: Any
    """(K,): seconds."""
    output: int
    """Index of the accessor of the values."""


def _samplers(animation: Cursor, times: Times) -> list[Sampler]:
    """Read the samplers of an animation, including unused ones."""
    cursors, accessors = animation.each("samplers"), times.accessors.cursors
    ways = cursors.texts("interpolation", "LINEAR")
    for cursor, way in zip(cursors, ways, strict=True) if not set(ways) <= INTERPOLATIONS.keys() else ():
        if way not in INTERPOLATIONS:
            cursor.at("interpolation").wrong(" or ".join(INTERPOLATIONS))
    seconds = map(times.read, cursors.wholes("input", 0, len(accessors) - 1))
    return list(map(Sampler, ways, seconds, cursors.wholes("output", 0, len(accessors) - 1)))


Groups = dict[tuple[str, str], list[tuple[int, Sampler]]]
"""Joints and their samplers, by path and interpolation."""


def _groups(
    document: Document, animation: Cursor, times: Times, ignored: Counter[str]
) -> tuple[Groups, list[tuple[ShapedNode, Sampler]], float]:
    """Read what an animation does to joints and to blend shapes, and the time of its last key.

    ignored: counts its other channels.
    """
    channels, joints = animation.each("channels"), document.joint_of_node
    samplers, targets = _samplers(animation, times), channels.under("target")
    nodes = targets.wholes("node", 0, len(joints) - 1, NO_NODE)
    keys = [samplers[which] for which in channels.wholes("sampler", 0, len(samplers) - 1)]
    groups: Groups = {}
    shaped: list[tuple[ShapedNode, Sampler]] = []
    taken: set[tuple[int, str]] = set()
    for path, node, sampler in zip(targets.texts("path"), nodes, keys, strict=True):
        if path not in PATHS and (path != WEIGHTS or node not in document.shaped):
            ignored[f"animate {names.readable(path)[:60]!r}"] += 1
        elif node == NO_NODE:
            ignored["have no node"] += 1
        elif (node, path) in taken:
            ignored["animate what another channel does"] += 1
        else:
            taken.add((node, path))
            if path == WEIGHTS:
                shaped.append((document.shaped[node], sampler))
                continue
            groups.setdefault((path, sampler.interpolation), []).append((joints[node], sampler))
    return groups, shaped, max((float(sampler.times[-1]) for sampler in keys), default=0.0)


def _tracks(
    animation: Cursor, path: str, how: str, group: list[tuple[int, Sampler]], accessors: Accessors
) -> list[Track]:
    """Read the tracks of joints with the same path and interpolation."""
    outputs = list({sampler.output: None for _, sampler in group})
    values = read_values(accessors, path, how == "CUBICSPLINE", outputs)
    tracks = []
    for joint, (_, times, output) in group:
        keys = values[output]
        if len(keys) != len(times):
            cursor = accessors.cursors[output]
            cursor.fail(f"has values for {len(keys)} keys; {animation.path} has {len(times)} times for them")
        accessors.charge(keys.size, animation)
        tracks.append(Track.of(joint, cast(Path, path), times, keys, cast(Interpolation, how)))
    return tracks


class Times:
    """The times of samplers by accessor."""

    def __init__(self, document: Document, accessors: Accessors) -> None:
        self.accessors = accessors
        self._problems = document.problems
        self._known: dict[int, Any] = {}

    def read(self, index: int) -> Any:
        """Return the times of an accessor, (K,): seconds, float64, increasing, 0 or more."""
        if index in self._known:
            return self._known[index]
        array, cursor = self.accessors.array(index), self.accessors.cursors[index]
        if array.shape[1] != 1:
            cursor.fail(f"has elements of {array.shape[1]} numbers; times have 1")
        times = float64(array[:, 0])
        # Comparisons with NaN are false, so this finds NaN too.
        if not (times[0] >= 0 and times[-1] <= LARGEST_FLOAT64 and (times[1:] >= times[:-1]).all()):
            cursor.fail("holds times of an animation; they must be finite, 0 or more, and increase")
        if not (times[1:] > times[:-1]).all():
            self._problems.append(f"{cursor.path} has several keys at one time; they are kept as a jump")
            times = spread(times)
        self._known[index] = times
        return times


def spread(times: Any) -> Any:
    """Separate equal times by the smallest step, so that a jump stays a jump."""
    rank = np.arange(len(times)) - np.searchsorted(times, times, side="left")
    return times + rank * np.spacing(times)


def read_values(accessors: Accessors, path: str, cubic: bool, wanted: list[int]) -> dict[int, Any]:
    """Return the values of accessors by index: (K, w), or with tangents (K, 3, w), float64, finite, rotations unit.

    wanted: indices of accessors. All are checked at once: files have thousands with a few keys each.
    """
    arrays = [_keys(accessors, index, path, cubic) for index in wanted]
    pile = float64(*arrays)
    ends = np.cumsum([len(array) for array in arrays])
    for problem, wrong in _problems(pile, path, cubic):
        if wrong.any():
            owner = wanted[int(np.searchsorted(ends, int(np.argmax(wrong)), side="right"))]
            accessors.cursors[owner].fail(problem)
    if path == "rotation" and not cubic:  # A spline is normalised when it is sampled.
        pile /= np.sqrt((pile * pile).sum(axis=-1, keepdims=True))
    return dict(zip(wanted, np.split(pile, ends[:-1]), strict=True))


def _keys(accessors: Accessors, index: int, path: str, cubic: bool) -> Any:
    """Return the array of an accessor in the shape its path needs, (K, w) or (K, 3, w)."""
    array, width = accessors.array(index), PATHS[path]
    if array.shape[1] != width or (cubic and len(array) % 3):
        needed = f"{'3 times ' if cubic else ''}{width} numbers"
        accessors.cursors[index].fail(f"holds values of an animation; a {path} needs {needed} a key")
    array = array if array.dtype.kind == "f" else normalised(array)
    return array.reshape(-1, 3, width) if cubic else array


def _problems(pile: Any, path: str, cubic: bool) -> Iterator[tuple[str, Any]]:
    """Yield possible problems of keys, and which keys have them, (K,)."""
    yield "has numbers that are not finite", ~np.isfinite(pile.reshape(len(pile), -1)).all(axis=1)
    if path == "rotation":
        rotations = pile[:, 1] if cubic else pile
        yield "has a rotation of zero; a quaternion has length 1", ~rotations.any(axis=-1)
