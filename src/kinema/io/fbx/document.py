"""`FbxDocument`: a file as FBX keeps it: its objects by kind, what is connected to what, and their properties.

From version 7 an object has a number; before, its name with its class ("Model::Hips") identifies it. What an object
does not say, the template of its class says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from kinema.errors import FileError
from kinema.io import names
from kinema.io.fbx import ascii, binary
from kinema.io.fbx.element import Budget, Element, decoded
from kinema.io.fbx.limits import NEWEST, NUMBERS_A_LINK, OLDEST
from kinema.io.source import Source

SEVEN = 7000
"""Version from which objects have numbers, and animation is made of objects."""

_TEXT_STARTS = (b"; FBX", b"FBXHeaderExtension")

Key = int | str
"""What identifies an object."""

SCENE: tuple[Key, ...] = (0, "Model::Scene", "Scene\0\1Model", "Scene")
"""Keys of the root of all nodes, which is no object."""

_PROPERTIES = (("Properties70", "P", 4), ("Properties60", "Property", 3))
"""The element that holds properties, the name of each inside, and how many values precede theirs: name, types and
flags."""


class Properties:
    """The properties of an object, and of its template."""

    def __init__(self, element: Element | None, template: Properties | None = None) -> None:
        self._element, self._template = element, template

    @cached_property
    def _known(self) -> dict[str, tuple[Element, int]]:
        """{name: its element, and how many values precede its own}; most objects are never asked."""
        known: dict[str, tuple[Element, int]] = {}
        for holder, name, skipped in _PROPERTIES:
            inside = self._element.maybe(holder) if self._element is not None else None
            for each in inside.children if inside is not None else ():
                first = each.first() if each.name == name else None
                if isinstance(first, bytes):
                    known[decoded(first)] = (each, skipped)
        return known

    def _find(self, name: str, count: int) -> tuple[Element, int] | None:
        found = self._known.get(name)
        if found is None and self._template is not None:
            found = self._template._find(name, count)
        return found if found is not None and len(found[0].values) >= found[1] + count else None

    def vector(self, name: str, otherwise: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> tuple[float, ...]:
        """Return three numbers."""
        found = self._find(name, 3)
        return otherwise if found is None else tuple(found[0].number(found[1] + i) for i in range(3))

    def number(self, name: str, otherwise: float = 0.0) -> float:
        found = self._find(name, 1)
        return otherwise if found is None else found[0].number(found[1])

    def whole(self, name: str, otherwise: int = 0) -> int:
        found = self._find(name, 1)
        return otherwise if found is None else found[0].whole(found[1])

    def maybe_whole(self, name: str) -> int | None:
        """Return a whole number, or None if the file gives none."""
        return None if self._find(name, 1) is None else self.whole(name)


@dataclass(eq=False)
class Object:
    """A node, a mesh, a skin, a curve, ..."""

    key: Key
    kind: str
    """Name of its element: Model, Geometry, Deformer, AnimationCurve, ..."""
    name: str
    subtype: str
    """Such as Mesh and LimbNode for a Model, Skin and Cluster for a Deformer."""
    element: Element
    properties: Properties


class Link(NamedTuple):
    """One end of a connection."""

    object: Object
    property: str
    """The property of the owner that it drives; "" if it belongs to the owner as a whole."""


@dataclass(eq=False, kw_only=True)
class FbxDocument(Source):
    """A file as FBX keeps it, and what was found out about its character."""

    metric: bool = True
    version: int
    root: Element
    budget: Budget
    metres: float = 1.0
    """Metres of the file's unit."""
    fps: float = 30.0
    """Frames per second of its takes."""
    starts: dict[str, float] = field(default_factory=dict)
    """{clip: seconds} of the file's time at which each clip begins."""
    _objects: dict[Key, Object] = field(default_factory=dict)
    _below: dict[Key, list[tuple[Key, str]]] = field(default_factory=dict)
    _above: dict[Key, list[tuple[Key, str]]] = field(default_factory=dict)

    def each(self, kind: str) -> Iterator[Object]:
        """Yield the objects of a kind, in the order of the file."""
        return (found for found in self._objects.values() if found.kind == kind)

    def below(self, owner: Object | Key, kind: str) -> list[Link]:
        """Return the objects of a kind that are connected to an owner, in the order of the file."""
        return self._links(self._below, owner, kind)

    def above(self, owned: Object | Key, kind: str) -> list[Link]:
        """Return the objects of a kind that an object is connected to."""
        return self._links(self._above, owned, kind)

    def is_top(self, owned: Object) -> bool:
        """Return whether a node belongs to the scene itself."""
        return any(key in SCENE for key, _ in self._above.get(owned.key, ()))

    def _links(self, ends: dict[Key, list[tuple[Key, str]]], end: Object | Key, kind: str) -> list[Link]:
        listed = ends.get(end.key if isinstance(end, Object) else end, ())
        self.budget.charge(NUMBERS_A_LINK * len(listed), self.root)
        found = ((self._objects.get(other), name) for other, name in listed)
        return [Link(other, name) for other, name in found if other is not None and other.kind == kind]


def detect(head: bytes) -> bool:
    """Whether a file begins like FBX. head: its first bytes, without a byte order mark and leading blanks."""
    return head.startswith((binary.MAGIC.rstrip(b"\0 "), *_TEXT_STARTS))


def parse(data: bytes, name: str) -> FbxDocument:
    """Read the objects and connections of a file. name: of the file."""
    form = binary if data.startswith(binary.MAGIC.rstrip(b"\0 ")) else ascii
    version = form.version(data, name)
    if not OLDEST <= version <= NEWEST:
        raise FileError(
            f"the file is of FBX version {version}; versions {OLDEST} to {NEWEST // 100 * 100} are read. "
            "Open it in Blender or Autodesk's FBX Converter and save it in a newer version",
            name,
        )
    budget = Budget(name, len(data))
    document = FbxDocument(version=version, root=form.parse(data, budget), budget=budget, problems=budget.problems)
    _read_objects(document)
    _read_connections(document)
    return document


def _read_objects(document: FbxDocument) -> None:
    templates = _templates(document.root.maybe("Definitions"))
    everything = document.root.maybe("Objects")
    for element in everything.children if everything is not None else ():
        if not element.values:
            continue
        key: Key = element.whole() if document.version >= SEVEN else element.text()
        if key in document._objects or key in SCENE:
            continue
        named = 1 if document.version >= SEVEN else 0
        subtype = element.text(named + 1) if len(element.values) > named + 1 else ""
        document._objects[key] = Object(
            key,
            element.name,
            _short(element.text(named)) if len(element.values) > named else "",
            subtype,
            element,
            Properties(element, templates.get(element.name)),
        )


def _templates(definitions: Element | None) -> dict[str, Properties]:
    """Return the first template of each kind of object."""
    found: dict[str, Properties] = {}
    for each in definitions.each("ObjectType") if definitions is not None else ():
        template = each.maybe("PropertyTemplate")
        if template is not None and each.values:
            found.setdefault(each.text(), Properties(template))
    return found


def _short(name: str) -> str:
    """Return a name without the class that a text writes before it, and a binary file behind it."""
    before, _, after = name.partition("::")
    return names.readable(after if after or name.endswith("::") else name.partition("\0\1")[0] if before else name)


def _read_connections(document: FbxDocument) -> None:
    holder = document.root.maybe("Connections")
    for element in holder.children if holder is not None else ():
        if len(element.values) < 3:
            continue
        kind, property = element.text(), ""
        if kind not in ("OO", "OP"):
            continue
        if document.version >= SEVEN:
            child: Key = element.whole(1)
            owner: Key = element.whole(2)
        else:
            child, owner = element.text(1), element.text(2)
        if kind == "OP" and len(element.values) > 3:
            property = element.text(3)
        document._below.setdefault(owner, []).append((child, property))
        document._above.setdefault(child, []).append((owner, property))


def scene_properties(document: FbxDocument) -> Properties:
    """Return the settings of the whole file; versions before 7 keep them among the objects."""
    inside = document.root.maybe("Objects")
    found: Any = document.root.maybe("GlobalSettings")
    if found is None and inside is not None:
        found = inside.maybe("GlobalSettings")
    return Properties(found)
