"""Takes: what curves do to the properties of nodes, and to the percentages of blend shapes, in layers.

The first layer replaces the value that the node has. Each later one adds to it, or takes its place, by the layer's
weight. The layer also says whether rotations are added angle by angle or as rotations, and scales as factors or as
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinema.io import names
from kinema.io.fbx.curves import Curve, read_curve, read_old_curve
from kinema.io.fbx.document import SEVEN, FbxDocument, Key, Object, Properties
from kinema.io.fbx.element import Element
from kinema.io.fbx.limits import MOST_CLIPS
from kinema.io.fbx.settings import LATEST
from kinema.io.fbx.transforms import ROTATION, SCALING, TRANSLATION, from_euler, to_euler
from kinema.math import arrays

_ADDITIVE, _OVERRIDE, _PASSTHROUGH = 0, 1, 2
"""Codes of BlendMode: add to what is below, take its place, or take its place by the layer's weight."""

PERCENT = "DeformPercent"
"""The property of a channel of blend shapes."""

_OLD = {"T": TRANSLATION, "R": ROTATION, "S": SCALING}
"""Properties by the names of their channels in versions before 7."""

_NUMBERS_A_KEY = 10
"""Charged for each key: what a `Curve` keeps, and what is computed from it."""

_NUMBERS_A_CHANNEL = 200
"""Charged for each channel of each layer of each take: several takes may list one layer."""

Animated = tuple[Key, str]
"""A node by its key, and a property of it."""


@dataclass(frozen=True)
class TakeChannel:
    """What one layer does to a property of three numbers."""

    curves: tuple[Curve | None, Curve | None, Curve | None]
    defaults: tuple[float, ...]
    """Values where there is no curve."""

    def at(self, ticks: Any) -> Any:
        """Return the values at times, (n, 3)."""
        columns = [
            np.full(len(ticks), default) if curve is None else curve.at(ticks)
            for curve, default in zip(self.curves, self.defaults, strict=True)
        ]
        return np.stack(columns, axis=1)


@dataclass
class TakeLayer:
    """Channels with a weight."""

    weight: float | Curve = 1.0
    mode: int = _OVERRIDE
    whole_rotations: bool = False
    """Whether rotations are combined as rotations, not angle by angle."""
    factors: bool = False
    """Whether scales are combined as factors."""
    channels: dict[Animated, TakeChannel] = field(default_factory=dict)

    def weights(self, ticks: Any) -> Any:
        """Return its weight at times, (n, 1)."""
        weights = self.weight.at(ticks) / 100.0 if isinstance(self.weight, Curve) else np.full(len(ticks), self.weight)
        return np.clip(weights, 0.0, 1.0)[:, np.newaxis]

    def combined(self, below: Any, own: Any, ticks: Any, property: str, order: int) -> Any:
        """Combine values, (n, 3), with those of the layers below. order: code of the order of rotation."""
        if self.mode == _OVERRIDE:
            return own
        weight = self.weights(ticks)
        if property == ROTATION and self.whole_rotations:
            lower, upper = from_euler(below, order), from_euler(own, order)
            if self.mode == _ADDITIVE:
                upper = arrays.mul(lower, upper)
            return to_euler(arrays.slerp(lower, upper, weight[:, 0]), order)
        if property == SCALING and self.factors:
            factor = np.abs(own) ** weight * np.sign(own)
            return below * factor if self.mode == _ADDITIVE else np.abs(below) ** (1 - weight) * np.sign(below) * factor
        return below + own * weight if self.mode == _ADDITIVE else below + (own - below) * weight


@dataclass
class Take:
    """An animation of the file."""

    name: str
    first: int
    last: int
    """Ticks between which it plays."""
    layers: list[TakeLayer]
    animated: set[Key]
    """Keys of the nodes and of the channels of blend shapes that it moves."""

    def channels(self, node: Key, property: str) -> Iterator[tuple[TakeLayer, TakeChannel]]:
        """Yield the layers that animate a property, from the lowest."""
        for layer in self.layers:
            channel = layer.channels.get((node, property))
            if channel is not None:
                yield layer, channel

    def values(self, node: Key, property: str, static: Any, ticks: Any, order: int) -> Any:
        """Return a property at times, (n, 3). static: its value without a take, (3,)."""
        values = np.tile(static, (len(ticks), 1))
        for layer, channel in self.channels(node, property):
            own = channel.at(ticks)
            values = own if layer is self.layers[0] else layer.combined(values, own, ticks, property, order)
        return values

    def curves(self, node: Key, property: str) -> list[Curve]:
        """Return all curves that a property depends on."""
        found: list[Curve] = []
        for layer, channel in self.channels(node, property):
            found += [curve for curve in channel.curves if curve is not None]
            found += [layer.weight] if isinstance(layer.weight, Curve) else []
        return found


def read_takes(document: FbxDocument) -> list[Take]:
    """Read the takes that animate a node or a blend shape. Empty ones are left out and noted."""
    nodes = {node.key: node for node in document.each("Model")}
    read = _new_takes if document.version >= SEVEN else _old_takes
    takes = []
    for number, (name, span, layers) in enumerate(read(document, nodes)):
        if number == MOST_CLIPS:
            document.root.fail(f"has more than {MOST_CLIPS:,} takes, the most that are allowed")
        animated = {node for layer in layers for node, _ in layer.channels}
        if not animated:
            document.problems.append(f"take {name!r} animates no node and no shape; it is ignored")
            continue
        takes.append(Take(name, *_span(span, layers), layers, animated))
    return takes


def _span(span: tuple[int, int] | None, layers: list[TakeLayer]) -> tuple[int, int]:
    """Return when a take plays: when it says so, or while there are keys."""
    if span is not None and -LATEST <= span[0] < span[1] <= LATEST:
        return span
    curves = [curve for layer in layers for channel in layer.channels.values() for curve in channel.curves if curve]
    if not curves:
        return (0, 0)
    return min(int(curve.times[0]) for curve in curves), max(int(curve.times[-1]) for curve in curves)


def _static(node: Object, property: str) -> tuple[float, ...]:
    return node.properties.vector(property, (1.0, 1.0, 1.0) if property == SCALING else (0.0, 0.0, 0.0))


def percent_of(channel: Object) -> float:
    """Return the percentage of a channel of blend shapes without a take."""
    written = channel.element.maybe(PERCENT)
    return channel.properties.number(PERCENT, written.number() if written is not None else 0.0)


# --- from version 7 --------------------------------------------------------------------------------------------

_Found = tuple[str, "tuple[int, int] | None", list[TakeLayer]]
"""Name, span and layers of a take."""


def _new_takes(document: FbxDocument, nodes: dict[Key, Object]) -> Iterator[_Found]:
    known: dict[Key, Curve | None] = {}
    for stack in document.each("AnimationStack"):
        layers = [_layer(document, link.object, nodes, known) for link in document.below(stack, "AnimationLayer")]
        solo = [layer for layer, only, _ in layers if only]
        heard = solo or [layer for layer, _, muted in layers if not muted]
        span = tuple(stack.properties.maybe_whole(name) for name in ("LocalStart", "LocalStop"))
        yield stack.name, (span[0] or 0, span[1]) if span[1] is not None else _declared(document, stack.name), heard


def _declared(document: FbxDocument, name: str) -> tuple[int, int] | None:
    """Return when a take plays by the list of takes at the end of a file."""
    takes = document.root.maybe("Takes")
    for take in takes.each("Take") if takes is not None else ():
        if take.values and take.text() == name:
            return _local_time(take)
    return None


def _local_time(take: Element) -> tuple[int, int] | None:
    times = take.maybe("LocalTime")
    if times is None:
        return None
    both = times.numbers(np.int64)
    return (int(both[0]), int(both[1])) if len(both) == 2 else None


def _layer(
    document: FbxDocument, layer: Object, nodes: dict[Key, Object], known: dict[Key, Curve | None]
) -> tuple[TakeLayer, bool, bool]:
    """Read a layer, whether it is heard alone, and whether it is muted. known: the curves that were read."""
    properties = layer.properties
    made = TakeLayer(
        np.clip(properties.number("Weight", 100.0) / 100.0, 0.0, 1.0),
        properties.whole("BlendMode", _ADDITIVE),
        properties.whole("RotationAccumulationMode") == 0,
        properties.whole("ScaleAccumulationMode") == 0,
    )
    for curves, property in document.below(layer, "AnimationCurveNode"):
        document.budget.charge(_NUMBERS_A_CHANNEL, curves.element)
        if property == "Weight":
            made.weight = next((curve for curve in _curves(document, curves, known) if curve is not None), made.weight)
        for node, animated in document.above(curves, "Model") if not property else ():
            if animated in _OLD.values() and node.key in nodes:
                channel = _channel(curves.properties, _curves(document, curves, known), _static(node, animated))
                made.channels.setdefault((node.key, animated), channel)
        for shapes, animated in document.above(curves, "Deformer") if not property else ():
            if animated == PERCENT:
                static = (percent_of(shapes), 0.0, 0.0)
                channel = _channel(curves.properties, _curves(document, curves, known), static)
                made.channels.setdefault((shapes.key, animated), channel)
    return made, bool(properties.whole("Solo")), bool(properties.whole("Mute"))


def _curves(document: FbxDocument, node: Object, known: dict[Key, Curve | None]) -> list[Curve | None]:
    """Return the curves of x, y and z."""
    found: list[Curve | None] = [None, None, None]
    for curve, property in document.below(node, "AnimationCurve"):
        axis = "XYZ".find(property[-1:]) if property[:2] == "d|" and len(property) == 3 else 0
        if curve.key not in known:
            known[curve.key] = _charged(read_curve(curve), curve.element)
        if axis >= 0 and found[axis] is None:
            found[axis] = known[curve.key]
    return found


def _channel(properties: Properties, curves: list[Curve | None], static: tuple[float, ...]) -> TakeChannel:
    defaults = tuple(properties.number(f"d|{axis}", value) for axis, value in zip("XYZ", static, strict=True))
    return TakeChannel((curves[0], curves[1], curves[2]), defaults)


def _charged(curve: Curve | None, element: Element) -> Curve | None:
    if curve is not None:
        element.budget.charge(_NUMBERS_A_KEY * len(curve.times), element)
    return curve


# --- before version 7 ------------------------------------------------------------------------------------------


def _old_takes(document: FbxDocument, nodes: dict[Key, Object]) -> Iterator[_Found]:
    takes = document.root.maybe("Takes")
    for take in takes.each("Take") if takes is not None else ():
        layer = TakeLayer()
        for model in take.each("Model"):
            node = nodes.get(model.text()) if model.values else None
            transform = _called(model, "Transform")
            if node is None or transform is None:
                continue
            for letter, property in _OLD.items():
                channel = _called(transform, letter)
                if channel is not None:
                    made = _old_channel(channel, _static(node, property))
                    layer.channels.setdefault((node.key, property), made)
        name = names.readable(take.text()) if take.values else "take"
        yield name, _local_time(take), [layer] if layer.channels else []


def _called(element: Element, name: str) -> Element | None:
    """Return the channel of this name inside."""
    return next((each for each in element.each("Channel") if each.values and each.text() == name), None)


def _old_channel(channel: Element, static: tuple[float, ...]) -> TakeChannel:
    curves: list[Curve | None] = []
    defaults = []
    for axis, value in zip("XYZ", static, strict=True):
        inside = _called(channel, axis)
        default = inside.maybe("Default") if inside is not None else None
        defaults.append(default.number() if default is not None else value)
        curves.append(_charged(read_old_curve(inside), inside) if inside is not None else None)
    return TakeChannel((curves[0], curves[1], curves[2]), tuple(defaults))
