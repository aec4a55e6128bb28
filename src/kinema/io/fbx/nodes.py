"""Nodes: the tree of a file as a skeleton. Every node is a joint.

A joint multiplies the whole transform of its parent. A node may leave its parent's scale out ("inherit type" Rrs), or
apply it after its own rotation, axis by axis (RrSs). Where that makes a difference, the parent becomes two joints: one
without its scale, from which such children start, and one below it with the scale, named `..._scale`, which carries
what the node shows and its other children.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.constants import LARGEST_FLOAT64
from kinema.errors import InputError
from kinema.io import names
from kinema.io.fbx.document import FbxDocument, Key, Object
from kinema.io.fbx.limits import MOST_NODES
from kinema.io.fbx.settings import Space
from kinema.io.fbx.takes import Take
from kinema.io.fbx.transforms import ONE, ROTATION, SCALING, TRANSLATION, Pivots, from_euler, order_of, pivots_of
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

AXIS_BY_AXIS, WHOLE, WITHOUT_PARENT = 0, 1, 2
"""Codes of InheritType: how the scale of the parent is inherited."""

_EQUAL_SCALES = 1e-6
"""Difference of scales, as a share, below which they count as equal."""

_DEEPEST = 64
"""Nodes below each other that inherit scale in a way of their own; each computes those of all above."""

_SCALE = "_scale"
"""Suffix of the joint that carries the scale of a node of two joints."""


@dataclass(eq=False)
class Node:
    """A node of the scene."""

    object: Object
    parent: Node | None
    pivots: Pivots
    order: int
    static: dict[str, Any]
    """{property: (3,)}: its translation, rotation and scale without a take."""
    inherits: int = WHOLE
    """How it inherits the scale of its parent, where that makes a difference."""
    depth: int = 0
    """How many nodes above it inherit in such a way, one after the other."""
    scalings: int = 0
    """How many scales of nodes above its own is multiplied by."""
    split: bool = False
    """Whether it is two joints."""
    joint: int = 0
    """The joint that moves and rotates."""
    shown: int = 0
    """The joint that scales, to which what the node shows belongs: the same one unless it is split."""

    @property
    def key(self) -> Key:
        return self.object.key

    @property
    def moved_by_parent(self) -> bool:
        """Whether its translation is scaled by its parent here, not by a joint."""
        return self.inherits != WHOLE


def read_nodes(document: FbxDocument, takes: list[Take]) -> list[Node]:
    """Read all nodes, parents before their children. takes: they may animate scales."""
    objects = [each for each in document.each("Model") if not _is_view(each)]
    if not objects:
        document.root.fail("the file has no nodes, and so no skeleton")
    if len(objects) > MOST_NODES:
        document.root.fail(f"the file has {len(objects):,} nodes; at most {MOST_NODES:,} are allowed")
    nodes = _ordered(document, objects)
    even = {node.key: _scales(node, takes) for node in nodes}
    for node in nodes:
        kind = node.object.properties.whole("InheritType", AXIS_BY_AXIS)
        parent = node.parent
        if parent is None or kind not in (AXIS_BY_AXIS, WITHOUT_PARENT):
            continue
        low, high = even[parent.key]
        if kind == AXIS_BY_AXIS and parent.inherits == WHOLE and high - low <= _EQUAL_SCALES * abs(high):
            continue  # A scale that is the same along all axes at all times commutes with rotations.
        if max(abs(low - 1), abs(high - 1)) <= _EQUAL_SCALES and parent.inherits == WHOLE:
            continue
        if parent.depth == _DEEPEST:
            document.problems.append(
                f"node {node.object.name!r} inherits scale through too many nodes; it inherits all"
            )
            continue
        node.inherits, node.depth, parent.split = kind, parent.depth + 1, True
        node.scalings = parent.scalings + (kind == AXIS_BY_AXIS)
    joint = 0
    for node in nodes:
        node.joint, node.shown = joint, joint + node.split
        joint += 1 + node.split
    return nodes


def _is_view(node: Object) -> bool:
    """Whether a node is one of the cameras that an editor looks through, which old files list among the others."""
    return node.subtype == "CameraSwitcher" or (node.subtype == "Camera" and node.name.startswith("Producer "))


def _ordered(document: FbxDocument, objects: list[Object]) -> list[Node]:
    """Order nodes with parents first; children keep the order of the file."""
    parents: dict[Key, Object | None] = {}
    children: dict[Key | None, list[Object]] = {}
    listed = {each.key for each in objects}
    for each in objects:
        above = [
            link.object for link in document.above(each, "Model") if not link.property and link.object.key in listed
        ]
        if len(above) + document.is_top(each) > 1:
            document.problems.append(f"node {each.name!r} has several parents; the first is kept")
        parents[each.key] = above[0] if above else None
        children.setdefault(above[0].key if above else None, []).append(each)
    made: dict[Key, Node] = {}
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        each = waiting.pop()
        above_it = parents[each.key]
        made[each.key] = Node(
            each,
            made[above_it.key] if above_it is not None else None,
            pivots_of(each),
            order_of(each),
            {
                name: np.array(each.properties.vector(name, ONE if name == SCALING else (0.0, 0.0, 0.0)))
                for name in (TRANSLATION, ROTATION, SCALING)
            },
        )
        waiting.extend(reversed(children.get(each.key, [])))
    lost = next((each for each in objects if each.key not in made), None)
    if lost is not None:
        lost.element.fail(f"is {lost.name!r}, its own descendant; nodes must form a tree")
    return list(made.values())


def _scales(node: Node, takes: list[Take]) -> tuple[float, float]:
    """Return the smallest and largest scale of a node, along any axis at any time."""
    values = [node.static[SCALING]]
    for take in takes:
        for _, channel in take.channels(node.key, SCALING):
            for curve, default in zip(channel.curves, channel.defaults, strict=True):
                values.append(np.array([default]) if curve is None else curve.values)
    found = np.concatenate(values)
    return float(found.min()), float(found.max())


@dataclass(frozen=True)
class NodeMotion:
    """The local transforms of the joints of a node over time, in our space."""

    translations: Any
    """(n, 3), of its joint."""
    rotations: Any
    """(n, 4), of its joint."""
    scales: Any
    """(n, 3), of the joint that it shows things on."""


class Mover:
    """Computes what nodes do over time, in one take or in none."""

    def __init__(self, space: Space, take: Take | None) -> None:
        self._space, self._take = space, take

    def motions(self, nodes: list[Node], ticks: Any) -> list[NodeMotion]:
        """Return what several nodes do at the same times, (n,)."""
        pivots = Pivots.of([node.pivots for node in nodes])
        scales = _Scales(self, ticks)
        t, r = (np.stack([self.values(node, name, ticks) for node in nodes]) for name in (TRANSLATION, ROTATION))
        s = np.stack([scales.own(node) for node in nodes])
        orders = np.array([node.order for node in nodes])
        turns = np.empty((*r.shape[:2], 4))
        for order in np.unique(orders):
            turns[orders == order] = from_euler(r[orders == order], int(order))
        t, turns, _ = pivots.local(t, turns, s)
        for i, node in enumerate(nodes):
            if node.moved_by_parent and node.parent is not None:
                t[i] *= scales.carried(node.parent)
                s[i] = s[i] * scales.handed_down(node)
        t, turns = self._space.vectors(t), self._space.rotations(turns)
        for i, node in enumerate(nodes):
            if node.parent is None:
                t[i] = arrays.rotate(self._space.rotation, t[i])
                turns[i] = arrays.mul(self._space.rotation, turns[i])
        return [NodeMotion(*parts) for parts in zip(t, arrays.unit(turns), s, strict=True)]

    def values(self, node: Node, property: str, ticks: Any) -> Any:
        """Return a property of a node, (n, 3)."""
        static = node.static[property]
        if self._take is None:
            return np.tile(static, (len(ticks), 1))
        return self._take.values(node.key, property, static, ticks, node.order)


class _Scales:
    """The scales of nodes at some times, each computed once."""

    def __init__(self, mover: Mover, ticks: Any) -> None:
        self._mover, self._ticks = mover, ticks
        self._own: dict[Node, Any] = {}
        self._carried: dict[Node, Any] = {}

    def own(self, node: Node) -> Any:
        """Return the scale of a node, (n, 3)."""
        if node not in self._own:
            self._own[node] = self._mover.values(node, SCALING, self._ticks)
        return self._own[node]

    def carried(self, node: Node) -> Any:
        """Return the scale of what a node shows, apart from that of the joints above, (n, 3)."""
        if node not in self._carried:
            self._carried[node] = self.own(node) * self.handed_down(node)
        return self._carried[node]

    def handed_down(self, node: Node) -> Any:
        """Return the part of that scale which is not the node's own, (n, 3)."""
        above = node
        while above.inherits not in (WHOLE, AXIS_BY_AXIS) and above.parent is not None:
            above = above.parent
        return np.ones(3) if above.inherits == WHOLE or above.parent is None else self.carried(above.parent)


def read_skeleton(document: FbxDocument, nodes: list[Node], space: Space) -> Skeleton:
    """Return the skeleton in the pose that the file has without a take."""
    count = nodes[-1].shown + 1
    t, r, s = np.zeros((count, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)), np.ones((count, 3))
    parents, named = [-1] * count, [""] * count
    motions = Mover(space, None).motions(nodes, np.zeros(1))
    for node, motion in zip(nodes, motions, strict=True):
        above = node.parent
        parents[node.shown] = node.joint
        parents[node.joint] = -1 if above is None else above.joint if node.moved_by_parent else above.shown
        named[node.shown] = f"{node.object.name}{_SCALE}"
        named[node.joint] = node.object.name or f"node_{node.joint}"
        t[node.joint], r[node.joint], s[node.shown] = motion.translations[0], motion.rotations[0], motion.scales[0]
    try:
        skeleton = Skeleton(names.unique([names.readable(name) for name in named]), parents, Pose(t, r, s))
    except InputError as problem:
        document.root.fail(f"the nodes do not make a skeleton: {problem}")
    if not (np.abs(skeleton.rest_world) <= LARGEST_FLOAT64).all():
        document.root.fail(f"the nodes give a joint a position or scale above {LARGEST_FLOAT64:g}")
    return skeleton
