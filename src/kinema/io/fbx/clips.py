"""Clips: takes as keys of joints.

Angles that change evenly do not make a rotation that does, and curves bend, so a take is sampled: at its keys, at the
frames of the file between them, and in the middle between two samples where the straight way is off by more than the
bounds below. Nothing is sampled between keys of consecutive frames: angles that jump there have no meaning between.
Then samples that lie on the straight way between others are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from kinema.io import names
from kinema.io.fbx.blend_shapes import ShapeChannel
from kinema.io.fbx.curves import Curve
from kinema.io.fbx.document import FbxDocument
from kinema.io.fbx.element import Element
from kinema.io.fbx.nodes import Mover, Node, NodeMotion
from kinema.io.fbx.settings import TICKS, Space
from kinema.io.fbx.takes import PERCENT, Take
from kinema.io.fbx.transforms import ROTATION, SCALING, TRANSLATION
from kinema.math import arrays
from kinema.model.blend_shapes import ShapeTrack
from kinema.model.clip import Clip, Path, Track
from kinema.model.skeleton import Skeleton

ANGLE_BOUND = 3e-3
"""Radians (0.2 degrees) that a rotation may be off between two samples."""

MOVE_BOUND = 3e-4
"""How far a position may be off there, as a share of the largest distance between two joints of the rest pose; and a
scale."""

SHAPE_BOUND = 1e-3
"""How far the weight of a blend shape may be off there."""

_CHECKED = (0.25, 0.75)
"""Shares of the time between two samples at which the way is checked: an even ease is half-way at half time."""

_ROUNDS = 5
"""Most times that the time between two samples is halved."""

_STRAIGHT = 1e-9
"""A sample that is off the straight way between its neighbours by less, as a share of the bounds' units, is dropped."""

_SPARSE = 0.5
"""Samples are dropped only if fewer than this share of them remain: tracks with the same times are sampled together."""

_WIDEST = 1.5
"""Radians between two keys of a rotation, above which samples between them are kept: the shorter way must be theirs."""

_MERGED = 1e-3
"""Share of a frame within which two times count as one."""

_SAMPLES_A_CALL = 50
"""Samples that take as long as asking a curve for any."""

_NUMBERS_A_CHECK = 16
"""Charged for each node and channel of each take: whether it is animated."""

_NUMBERS_A_SAMPLE = 40
"""Charged for each sample of each node: its transform, and what is computed on the way."""


def read_clips(
    document: FbxDocument,
    takes: list[Take],
    nodes: list[Node],
    channels: list[ShapeChannel],
    skeleton: Skeleton,
    space: Space,
) -> dict[str, Clip]:
    """Return the clips by name, in the file's order. Sets the document's `starts`."""
    clips = {}
    extent = float(np.ptp(skeleton.rest_world[:, :3, 3], axis=0).max(initial=0.0))
    for name, take in zip(names.unique([take.name or "take" for take in takes]), takes, strict=True):
        document.budget.charge(_NUMBERS_A_CHECK * (len(nodes) + len(channels)), document.root)
        sampler = _Sampler(document, take, Mover(space, take), extent)
        tracks = [track for group in _groups(take, nodes, document.fps) for track in sampler.tracks(group, skeleton)]
        driven = [channel for channel in channels if channel.object.key in take.animated]
        shapes = [track for channel in driven for track in _shape_tracks(take, channel, document.fps)]
        clips[name] = Clip(name, skeleton, tracks, (take.last - take.first) / TICKS, shapes=shapes)
        document.starts[name] = take.first / TICKS
    return clips


@dataclass(frozen=True)
class _Group:
    """Nodes that are sampled at the same times."""

    ticks: Any
    """(n,), float64: increasing."""
    settled: Any
    """(n - 1,): whether nothing is to be sampled between two times: a jump, or two keys a frame apart."""
    nodes: list[Node]


def _groups(take: Take, nodes: list[Node], fps: float) -> list[_Group]:
    """Group the nodes that a take moves by the times of their keys."""
    groups: dict[bytes, _Group] = {}
    moved: set[Node] = set()
    for node in nodes:
        inherited = node.moved_by_parent and node.parent in moved
        if node.key not in take.animated and not inherited:
            continue
        moved.add(node)
        ticks, settled = _grid(take, _curves(take, node), fps, node.object.element)
        node.object.element.budget.charge(_numbers(node, len(ticks)), node.object.element)
        groups.setdefault(ticks.tobytes() + settled.tobytes(), _Group(ticks, settled, [])).nodes.append(node)
    return list(groups.values())


def _curves(take: Take, node: Node) -> list[Curve]:
    """Return the curves that the motion of a node depends on."""
    curves = [curve for name in (TRANSLATION, ROTATION, SCALING) for curve in take.curves(node.key, name)]
    above = node
    while above.moved_by_parent and above.parent is not None:
        above = above.parent
        curves += take.curves(above.key, SCALING)
    return curves


def _numbers(node: Node, samples: int) -> int:
    """Return what is charged for the scales above that a node is multiplied by, each time it is sampled."""
    return _NUMBERS_A_SAMPLE * node.scalings * (samples + _SAMPLES_A_CALL)


def _grid(take: Take, curves: list[Curve], fps: float, element: Element) -> tuple[Any, Any]:
    """Return the times at which curves are sampled, ticks, and what is `settled`, both as in a group."""
    if not curves:
        return np.array([float(take.first)]), np.zeros(0, bool)
    nearest = _MERGED * TICKS / fps
    keys = np.unique(np.concatenate([curve.times for curve in curves]))
    # Curves of a node may have the same key a few ticks apart, by rounding; in one curve, that is a jump.
    keys = keys[np.diff(keys, prepend=keys[0] - TICKS) > nearest]
    jumps = np.unique(np.concatenate([curve.jumps(nearest) for curve in curves]))
    held = all(curve.outside == ("C", "C") for curve in curves)
    first, last = (max(take.first, int(keys[0])), min(take.last, int(keys[-1]))) if held else (take.first, take.last)
    keys = keys[(keys >= take.first) & (keys <= take.last)]
    frames = _frames(keys, first, last, fps, element)
    ends = np.array([take.first, take.last])[: 2 if len(keys) or len(frames) else 1]
    jumps = jumps[(jumps >= take.first) & (jumps <= take.last)]
    ticks = np.unique(np.concatenate((keys, frames, ends, jumps)).astype(np.float64))
    gaps, is_key = np.diff(ticks), np.isin(ticks, keys)
    dense = is_key[1:] & is_key[:-1] & (gaps <= (1 + _MERGED) * TICKS / fps)
    return ticks, dense | (gaps <= nearest)


def _frames(keys: Any, first: int, last: int, fps: float, element: Element) -> Any:
    """Return the frames from one time to another that are not keys, (n,): ticks."""
    step = TICKS / fps
    count = max(int((last - first) / step) + 2, 0)
    element.budget.charge(_NUMBERS_A_SAMPLE * (count + len(keys)), element)
    frames = (np.arange(count) + np.ceil(first / step)) * step
    frames = frames[(frames > first) & (frames < last)]
    if not len(keys):
        return frames
    after = np.clip(np.searchsorted(keys, frames), 0, len(keys) - 1)
    near = np.minimum(np.abs(keys[after] - frames), np.abs(keys[np.maximum(after - 1, 0)] - frames))
    return np.rint(frames[near > _MERGED * step])


@dataclass(frozen=True)
class _Sampler:
    """Samples a take."""

    document: FbxDocument
    take: Take
    mover: Mover
    extent: float
    """Metres: the largest distance between joints at rest, along an axis."""

    def tracks(self, group: _Group, skeleton: Skeleton) -> list[Track]:
        """Return the tracks of nodes with the same times."""
        motions = self.mover.motions(group.nodes, group.ticks)
        seconds = self._seconds(group.ticks)
        rough = self._off(group, motions)
        tracks = []
        for node, motion, off in zip(group.nodes, motions, rough, strict=True):
            times = seconds
            if off.any():
                ticks, motion = self._refined(_Group(group.ticks, group.settled, [node]), motion, off)
                times = self._seconds(ticks)
            tracks += _tracks(node, times, motion, skeleton, self.extent)
        return tracks

    def _seconds(self, ticks: Any) -> Any:
        return (ticks - self.take.first) / TICKS

    def _off(self, group: _Group, motions: list[NodeMotion]) -> list[Any]:
        """Return for each node which ways between samples are off by more than the bounds, (n - 1,)."""
        off = [np.zeros(len(group.settled), bool) for _ in group.nodes]
        if group.settled.all():
            return off
        for share in _CHECKED:
            true = self.mover.motions(group.nodes, group.ticks[:-1] + share * np.diff(group.ticks))
            for found, motion, there in zip(off, motions, true, strict=True):
                found |= ~group.settled & (_errors(motion, there, share, self.extent) > 1)
        return off

    def _refined(self, group: _Group, motion: NodeMotion, off: Any) -> tuple[Any, NodeMotion]:
        """Add samples of the only node of a group in the middle of ways that are off."""
        element = group.nodes[0].object.element
        for _ in range(_ROUNDS):
            element.budget.charge(
                _NUMBERS_A_SAMPLE * int(off.sum()) + _numbers(group.nodes[0], len(group.ticks)), element
            )
            middles = (group.ticks[1:] + group.ticks[:-1])[off] / 2
            ticks = np.sort(np.concatenate((group.ticks, middles)))
            group = _Group(ticks, np.repeat(group.settled, 1 + off), group.nodes)
            (motion,) = self.mover.motions(group.nodes, ticks)
            (off,) = self._off(group, [motion])
            if not off.any():
                break
        return group.ticks, motion


def _shape_tracks(take: Take, channel: ShapeChannel, fps: float) -> list[ShapeTrack]:
    """Return the tracks of the shapes of a channel that a take animates."""
    curves, element = take.curves(channel.object.key, PERCENT), channel.object.element
    ticks, settled = _grid(take, curves, fps, element)
    for _ in range(_ROUNDS):
        weights, off = channel.at(take, ticks), np.zeros(len(settled), bool)
        for share in _CHECKED:
            there = channel.at(take, ticks[:-1] + share * np.diff(ticks))
            straight = weights[:-1] + share * np.diff(weights, axis=0)
            off |= ~settled & (np.abs(straight - there).max(axis=1) > SHAPE_BOUND)
        if not off.any():
            break
        element.budget.charge(_NUMBERS_A_SAMPLE * int(off.sum()), element)
        ticks = np.sort(np.concatenate((ticks, ((ticks[1:] + ticks[:-1]) / 2)[off])))
        settled = np.repeat(settled, 1 + off)
    seconds = (ticks - take.first) / TICKS
    rising = np.diff(seconds, prepend=-1.0) > 0
    seconds, weights = seconds[rising], channel.at(take, ticks[rising])
    tracks = []
    for shape, values in zip(channel.shapes, weights.T, strict=True):
        kept = _needed(seconds, values[:, np.newaxis], False, 1.0)
        if np.ptp(values) <= _STRAIGHT:
            kept = slice(0, 1)
        tracks.append(ShapeTrack(shape.name, seconds[kept], values[kept]))
    return tracks


def _bounds(motion: NodeMotion, extent: float) -> tuple[float, float, float]:
    """Return what translations, rotations and scales may be off. Without an extent, that of the motion counts."""
    return MOVE_BOUND * (extent or float(np.ptp(motion.translations, axis=0).max()) or 1.0), ANGLE_BOUND, MOVE_BOUND


def _errors(motion: NodeMotion, true: NodeMotion, share: float, extent: float) -> Any:
    """Return how far straight ways are from the true ones at a share of them, in bounds, (n - 1,)."""
    bounds = _bounds(motion, extent)
    t, s = (
        np.abs(values[:-1] + (values[1:] - values[:-1]) * share - there).max(axis=1) / bound
        for values, there, bound in (
            (motion.translations, true.translations, bounds[0]),
            (motion.scales, true.scales, bounds[2]),
        )
    )
    between = arrays.slerp(motion.rotations[:-1], motion.rotations[1:], np.full(len(t), share))
    return np.maximum(np.maximum(t, s), arrays.angle_between(between, true.rotations) / bounds[1])


def _tracks(node: Node, times: Any, motion: NodeMotion, skeleton: Skeleton, extent: float) -> list[Track]:
    """Return the tracks of a node; none for what stays at rest."""
    bounds = _bounds(motion, extent)
    found = []
    parts = (
        ("translation", node.joint, motion.translations, skeleton.rest.translations, bounds[0]),
        ("rotation", node.joint, motion.rotations, skeleton.rest.rotations, bounds[1]),
        ("scale", node.shown, motion.scales, skeleton.rest.scales, bounds[2]),
    )
    for path, joint, values, rest, bound in parts:
        rotation = path == "rotation"
        if (np.abs(values - values[0]).max() if len(values) > 1 else 0.0) <= _STRAIGHT * bound:
            alike = abs(float(np.dot(values[0], rest[joint]))) > 1 - 1e-15 if rotation else None
            if alike if rotation else np.abs(values[0] - rest[joint]).max() <= _STRAIGHT * bound:
                continue
            found.append(Track.of(joint, cast(Path, path), times[:1], values[:1].copy()))
            continue
        kept = _needed(times, arrays.continuous(values) if rotation else values, rotation, bound)
        sparse = kept.sum() < _SPARSE * len(kept)
        track = (times[kept], values[kept]) if sparse else (times, values)
        found.append(Track.of(joint, cast(Path, path), *track))
    return found


def _needed(times: Any, values: Any, rotation: bool, bound: float) -> Any:
    """Return which samples do not lie on the straight way between their neighbours, (n,)."""
    kept = np.ones(len(times), bool)
    if len(times) < 3:
        return kept
    share = ((times[1:-1] - times[:-2]) / (times[2:] - times[:-2]))[:, np.newaxis]
    if rotation:
        between = arrays.slerp(values[:-2], values[2:], share[:, 0])
        off = arrays.angle_between(between, values[1:-1])
        steps = arrays.angle_between(values[:-1], values[1:])
        passed = np.floor(np.cumsum(steps) / _WIDEST)
        kept[1:-1] = (off > _STRAIGHT * 10) | (passed[1:] != passed[:-1])
    else:
        off = np.abs(values[:-2] + (values[2:] - values[:-2]) * share - values[1:-1]).max(axis=1)
        kept[1:-1] = off > _STRAIGHT * max(bound, float(np.abs(values).max()))
    return kept
