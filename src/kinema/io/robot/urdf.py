"""URDF: links and the joints between them (wiki.ros.org/urdf/XML)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from kinema import quat
from kinema.io.robot.parts import MOST_PARTS, RIGID, Mimic, Part, RobotSource, character, moving
from kinema.io.robot.shapes import Shape, Shapes
from kinema.io.robot.xml import Element
from kinema.model.character import Character

_KINDS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider"}
_GREY = (0.62, 0.64, 0.67)


def read(tree: Element, file: str, folder: Path | None) -> Character:
    """Make the character of a <robot>: a joint for each link, named after it."""
    for macro in tree.each():
        if str(macro.tag).startswith("xacro:"):
            macro.fail("is a macro; expand the file first: `xacro robot.xacro > robot.urdf`")
    source = RobotSource(directions=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    links = {link.name(): link for link in tree.each("link")}
    joints: dict[str, list[Element]] = {}
    above: dict[str, Element] = {}
    for joint in tree.each("joint"):
        parent, child = (_end(joint, end) for end in ("parent", "child"))
        for name in (parent, child):
            if name not in links:
                joint.fail(f"{joint.name()[:60]!r} refers to the link {name[:60]!r}, which is not there")
        if child in above:
            joint.fail(f"{joint.name()[:60]!r}: the link {child[:60]!r} has a parent already")
        above[child] = joint
        joints.setdefault(parent, []).append(joint)
    roots = [name for name in links if name not in above]
    if not roots or len(links) > MOST_PARTS:
        tree.fail(f"has {len(links):,} links and {len(roots):,} roots; allowed are up to {MOST_PARTS:,}, and a root")
    if len(roots) > 1:
        source.problems.append(f"{len(roots)} links have no parent; the body is that of {roots[0]!r}")
    shapes = Shapes(folder, source.problems)
    colours = {each.get("name", ""): _colour(each) for each in tree.each("material")}
    parts: list[Part] = []
    queue = [(roots[0], -1)]
    for title, at in queue:
        part = Part(title, at, shapes=_visuals(links[title], shapes, colours))
        if at >= 0:
            _set_joint(part, above[title], source)
        queue += [(_end(joint, "child"), len(parts)) for joint in joints.get(title, ())]
        parts.append(part)
    return character(parts, file, source, drawn=not shapes.missing)


def _end(joint: Element, end: str) -> str:
    found = joint.first(end)
    return joint.fail(f"{joint.get('name')!r:.60} has no <{end}>") if found is None else found.name("link")


def _origin(element: Element) -> tuple[Any, Any]:
    """Return the position and the rotation of an <origin>."""
    origin = element.first("origin")
    if origin is None:
        return np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0))
    roll, pitch, yaw = origin.numbers("rpy", (0.0, 0.0, 0.0), 3)
    return origin.numbers("xyz", (0.0, 0.0, 0.0), 3), quat.from_euler((yaw, pitch, roll), "ZYX")


def _set_joint(part: Part, joint: Element, source: RobotSource) -> None:
    """Set where a part stands, and how it may move."""
    name, kind = joint.name(), joint.get("type", "")
    part.position, part.rotation = _origin(joint)
    if kind in ("floating", "planar"):
        part.limit = None if kind == "floating" else RIGID
        source.problems.append(f"joint {name!r:.60} is {kind}; it {'may rotate' if kind == 'floating' else 'is fixed'}")
        return
    if kind not in _KINDS:
        if kind != "fixed":
            joint.fail(f"{name[:60]!r} is {kind[:60]!r}; known are fixed, floating, planar, {', '.join(_KINDS)}")
        return
    axis = joint.first("axis")
    along = np.array((1.0, 0.0, 0.0)) if axis is None else axis.numbers("xyz", (1.0, 0.0, 0.0), 3)
    if not along.any():
        joint.fail(f"{name[:60]!r} has an axis without a direction")
    limit = joint.first("limit")
    low = high = 0.0
    if limit is not None:
        low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
        part.velocity = limit.number("velocity", math.inf) if limit.get("velocity") else math.inf
    if kind == "continuous" or (limit is None and kind == "revolute"):
        low, high = -math.pi, math.pi
    part.limit, part.joint = moving(_KINDS[kind], along, low, high), name
    mimic = joint.first("mimic")
    if mimic is not None:
        follows = Mimic(mimic.name("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
        source.mimics[name] = follows


def _colour(material: Element | None) -> tuple[float, ...]:
    colour = None if material is None else material.first("color")
    return _GREY if colour is None else tuple(np.clip(colour.numbers("rgba", (*_GREY, 1.0), 4)[:3], 0.0, 1.0).tolist())


def _visuals(link: Element, shapes: Shapes, colours: dict[str, tuple[float, ...]]) -> list[Shape]:
    """Return the shapes of a link."""
    found: list[Shape] = []
    for visual in link.each("visual"):
        material = visual.first("material")
        own = material is not None and material.first("color") is not None
        colour = _colour(material) if own or material is None else colours.get(material.get("name", ""), _GREY)
        for shape in (each for geometry in visual.each("geometry") for each in geometry.each()):
            if shape.tag == "box":
                size = 0.5 * shape.numbers("size", (0.0, 0.0, 0.0), 3)
            elif shape.tag == "mesh":
                size = shape.numbers("scale", (1.0, 1.0, 1.0), 3)
            else:
                radius = shape.number("radius", 0.0)
                size = np.array((radius, radius, 0.5 * shape.number("length", 2.0 * radius)))
            found += shapes.made(str(shape.tag), size, _origin(visual), colour, shape.get("filename", ""))
    return found
