"""MJCF: the bodies, joints and shapes of a MuJoCo model (mujoco.readthedocs.io/en/stable/XMLreference.html).

A body becomes a joint of its name. The joints of a body move it one after the other: each but the last becomes a joint
of its own above it, and so does a last one that is not at the body's origin.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from kinema.io.robot.parts import MOST_PARTS, NO_ROTATION, RIGID, Mimic, Part, RobotSource, character, moving
from kinema.io.robot.shapes import Shape, Shapes
from kinema.io.robot.xml import Element
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.limits import Cone

_DRAWN = 2
"""Shapes of higher groups are for collisions, by habit."""

_NOTHING = (np.zeros(3), np.array(NO_ROTATION))


def read(tree: Element, file: str, folder: Path | None) -> Character:
    """Make the character of a <mujoco> model."""
    return _Model(tree, folder).character(file)


class _Model:
    """A model while it is read."""

    def __init__(self, tree: Element, folder: Path | None) -> None:
        self.tree = tree
        for unknown in ("include", "attach"):
            for element in tree.iter(unknown):
                assert isinstance(element, Element)
                element.fail("takes parts from another file, which is not read; load that file, or the compiled model")
        compiler = tree.first("compiler")
        said = {} if compiler is None else compiler.attrib
        self.to_radians = 1.0 if said.get("angle", "degree") == "radian" else math.pi / 180.0
        self.order = said.get("eulerseq", "xyz")
        self.auto_limits = said.get("autolimits", "true") == "true"
        self.source = RobotSource(directions=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
        meshes = said.get("meshdir", said.get("assetdir", ""))
        self.shapes = Shapes(folder, self.source.problems)
        self.defaults: dict[str, dict[str, dict[str, str]]] = {}
        for default in tree.each("default"):
            self._read_defaults(default, {})
        self.assets = {
            mesh.get("name", Path(mesh.get("file", "")).stem): (f"{meshes}/{mesh.get('file', '')}", mesh)
            for assets in tree.each("asset")
            for mesh in assets.each("mesh")
        }
        self.parts: list[Part] = []

    def _read_defaults(self, default: Element, above: dict[str, dict[str, str]]) -> None:
        own = {kind: dict(values) for kind, values in above.items()}
        for child in default.each():
            if child.tag != "default":
                own.setdefault(str(child.tag), {}).update(child.attrib)
        self.defaults[default.get("class", "main")] = own
        for inner in default.each("default"):
            self._read_defaults(inner, own)

    def with_defaults(self, element: Element, kind: str, of_class: str) -> Element:
        """Return an element with what its class says and it does not."""
        known = self.defaults.get(element.get("class", of_class), self.defaults.get("main", {}))
        full = Element(str(element.tag), {**known.get(kind, {}), **element.attrib})
        full.file, full.line = element.file, element.line
        return full

    def character(self, file: str) -> Character:
        bodies = [body for world in self.tree.each("worldbody") for body in world.each("body", "frame")]
        root = -1
        moved = [joint for body in bodies for joint in body.each("joint") if joint.get("type") != "free"]
        if len(bodies) != 1 or bodies[0].tag != "body" or moved:
            self.parts.append(Part("world", -1))
            root = 0
        for body in bodies:
            self.add(body, root, "main", _NOTHING)
        if not bodies:
            self.tree.fail("has no bodies")
        for group in self.tree.each("equality"):
            for equality in group.each("joint"):
                self._add_mimic(equality)
        return character(self.parts, file, self.source, drawn=not self.shapes.missing)

    def _add_mimic(self, equality: Element) -> None:
        constant, factor = [*equality.numbers("polycoef", (0.0, 1.0)).tolist(), 0.0, 0.0][:2]
        if equality.get("joint2"):
            self.source.mimics[equality.name("joint1")] = Mimic(equality.name("joint2"), factor, constant)

    def add(self, element: Element, parent: int, of_class: str, frame: tuple[Any, Any]) -> None:
        """Add a body, or what a frame holds. frame: where the parent's space is for it."""
        place = _after(frame, self.placed(element))
        of_class = element.get("childclass", of_class)
        if element.tag == "frame":
            for child in element.each("body", "frame"):
                self.add(child, parent, of_class, place)
            return
        if len(self.parts) > MOST_PARTS:
            element.fail(f"is one of more than {MOST_PARTS:,}")
        name = element.get("name") or f"body_{len(self.parts)}"
        at = self._add_joints(element, name, parent, of_class, place)
        self._add_shapes(element, self.parts[at], of_class, _NOTHING)
        for child in element.each("body", "frame"):
            self.add(child, at, of_class, _NOTHING)

    def _add_joints(self, body: Element, name: str, parent: int, of_class: str, place: tuple[Any, Any]) -> int:
        """Add the parts of a body; return the index of the one that carries its children."""
        joints = [self.with_defaults(joint, "joint", of_class) for joint in body.each("joint")]
        free = body.first("freejoint") is not None or any(joint.get("type") == "free" for joint in joints)
        joints = [joint for joint in joints if joint.get("type") != "free"]
        position, rotation = place
        before = np.zeros(3)
        for k, joint in enumerate(joints):
            anchor = joint.numbers("pos", (0.0, 0.0, 0.0), 3)
            last = k == len(joints) - 1 and not anchor.any()
            title = joint.get("name") or f"{name}_joint_{k}"
            part = Part(name if last else title, parent, position + arrays.rotate(rotation, anchor - before), rotation)
            self._set_joint(part, joint, title)
            parent = len(self.parts)
            self.parts.append(part)
            position, rotation, before = np.zeros(3), np.array(NO_ROTATION), anchor
            if last:
                return parent
        part = Part(name, parent, position - before, rotation, None if free else RIGID)
        self.parts.append(part)
        return len(self.parts) - 1

    def _set_joint(self, part: Part, joint: Element, title: str) -> None:
        kind = {"hinge": "hinge", "slide": "slider", "ball": "ball"}.get(joint.get("type", "hinge"))
        if kind is None:
            joint.fail(f"is a {joint.get('type')!r:.60} joint; known are hinge, slide, ball and free")
        unit = 1.0 if kind == "slider" else self.to_radians
        ends = joint.numbers("range", (0.0, 0.0), 2) * unit
        said = joint.get("limited", "auto")
        limited = (joint.get("range") is not None and self.auto_limits) if said == "auto" else said == "true"
        if kind == "ball":
            part.limit = Cone(float(ends[1])) if limited else None
            return
        axis = joint.numbers("axis", (0.0, 0.0, 1.0), 3)
        if not axis.any():
            joint.fail("has an axis without a direction")
        part.at_rest = joint.number("ref", 0.0) * unit
        otherwise = math.inf if kind == "slider" else math.pi
        low, high = (ends - part.at_rest) if limited else (-otherwise, otherwise)
        part.limit, part.joint = moving(kind, axis, float(low), float(high)), title

    def placed(self, element: Element) -> tuple[Any, Any]:
        """Return the position and the rotation that an element has in the space above."""
        position = element.numbers("pos", (0.0, 0.0, 0.0), 3)
        if element.get("quat") is not None:
            w, *xyz = element.numbers("quat", (), 4)
            rotation = np.array((*xyz, w))
            return position, arrays.unit(rotation) if rotation.any() else np.array(NO_ROTATION)
        if element.get("euler") is not None:
            return position, self._from_euler(element, element.numbers("euler", (), 3) * self.to_radians)
        if element.get("axisangle") is not None:
            *axis, angle = element.numbers("axisangle", (), 4)
            length = float(np.linalg.norm(axis)) or 1.0
            return position, arrays.from_axis_angle(np.array(axis) / length, np.array(angle * self.to_radians))
        if element.get("xyaxes") is not None:
            first = element.numbers("xyaxes", (), 6)
            x = first[:3] / (np.linalg.norm(first[:3]) or 1.0)
            y = first[3:] - x * (x @ first[3:])
            y = y / (np.linalg.norm(y) or 1.0)
            return position, arrays.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))
        if element.get("zaxis") is not None:
            return position, _from_z(element.numbers("zaxis", (), 3))
        return position, np.array(NO_ROTATION)

    def _from_euler(self, element: Element, angles: Any) -> Any:
        """Lower case rotates about axes that rotate along, upper case about those that stay."""
        if len(self.order) != 3 or not set(self.order.lower()) <= set("xyz"):
            element.fail(f"has euler angles in the order {self.order[:20]!r}; allowed are three of x, y and z")
        rotation = np.array(NO_ROTATION)
        for letter, angle in zip(self.order, angles, strict=True):
            about = arrays.from_axis_angle(np.eye(3)["xyz".index(letter.lower())], np.array(angle))
            rotation = arrays.mul(rotation, about) if letter.islower() else arrays.mul(about, rotation)
        return rotation

    def _add_shapes(self, body: Element, part: Part, of_class: str, frame: tuple[Any, Any]) -> None:
        for given in body.each("geom"):
            geom = self.with_defaults(given, "geom", of_class)
            if geom.number("group", 0.0) <= _DRAWN:
                part.shapes += self._shape(geom, frame)
        for inner in body.each("frame"):
            self._add_shapes(inner, part, inner.get("childclass", of_class), _after(frame, self.placed(inner)))

    def _shape(self, geom: Element, frame: tuple[Any, Any]) -> list[Shape]:
        place = self.placed(geom)
        size = np.zeros(3)
        given = geom.numbers("size", ())[:3]
        size[: len(given)] = given
        ends = geom.numbers("fromto", (), None)
        if len(ends) == 6:
            way = ends[3:] - ends[:3]
            place, size[1] = (0.5 * (ends[:3] + ends[3:]), _from_z(way)), 0.5 * float(np.linalg.norm(way))
        place = _after(frame, place)
        colour = tuple(np.clip(geom.numbers("rgba", (0.6, 0.6, 0.65, 1.0), 4)[:3], 0.0, 1.0).tolist())
        kind = geom.get("type", "mesh" if geom.get("mesh") else "sphere")
        file = ""
        if kind == "mesh":
            file, mesh = self.assets.get(geom.get("mesh", ""), ("", geom))
            size = mesh.numbers("scale", (1.0, 1.0, 1.0), 3)
        elif kind not in ("box", "ellipsoid"):
            size = size[[0, 0, 0 if kind == "sphere" else 1]]
        return self.shapes.made(kind, size, place, colour, file)


def _after(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the place that a place has in the space of another one."""
    return first[0] + arrays.rotate(first[1], second[0]), arrays.mul(first[1], second[1])


def _from_z(direction: Any) -> Any:
    """Return the smallest rotation from z to a direction."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.array(NO_ROTATION)
    x, y, z = direction / length
    if z < -1.0 + 1e-12:
        return np.array((1.0, 0.0, 0.0, 0.0))
    return arrays.unit(np.array((-y, x, 0.0, 1.0 + z)))
