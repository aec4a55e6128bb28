"""VRM: glTF with a table of the bones of a human; springs and their colliders, and node constraints."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from kinema.errors import InputError
from kinema.io.gltf.cursor import Cursor
from kinema.io.gltf.document import Document
from kinema.model.constraints import Constraint, checked_constraints
from kinema.model.skeleton import Skeleton
from kinema.model.springs import ALLOWED, Spring, SpringCollider, checked_springs

THUMBS = {
    f"{side}Thumb{before}": f"{side}Thumb{now}"
    for side in ("left", "right")
    for before, now in (("Proximal", "Metacarpal"), ("Intermediate", "Proximal"), ("Distal", "Distal"))
}
"""Names of the thumb bones in version 0, and in version 1. The names of all other bones are the same."""

NO_NODE = -1
"""The node of a missing bone in version 0."""


TIP_OF_VERSION_0 = 0.07
"""Metres by which version 0 continues the last bone of every chain."""

MOST = 1_000
"""Springs of a file, joints and colliders of a spring: ten times those of a character with long hair and skirts."""

_ORIGIN = (0.0, 0.0, 0.0)

_DOWN = (0.0, -1.0, 0.0)

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}

_AIMS = {
    f"{sign}{name}": tuple(side * x for x in axis)
    for sign, side in (("Positive", 1.0), ("Negative", -1.0))
    for name, axis in _AXES.items()
}

_NUMBERS = (
    ("stiffness", "stiffness", 1.0),
    ("drag", "dragForce", 0.4),
    ("gravity", "gravityPower", 0.0),
    ("radius", "hitRadius", 0.0),
)
"""Numbers of a spring, their names in both versions but one, and their values where a file has none."""


def read_humanoid(document: Document) -> dict[str, int]:
    """Read the table of bones as {bone: joint}, with the names of VRM 1 (`hips`, `leftUpperLeg`); empty without one.

    Axes are not changed: a VRM 0 character looks towards -z.
    """
    extensions = document.root.maybe("extensions")
    if extensions is None:
        return {}
    humanoid: dict[str, int] = {}
    for bone, cursor in _bones(extensions):
        node = cursor.index("node", len(document.joint_of_node))
        humanoid.setdefault(bone, document.joint_of_node[node])
    return humanoid


def _bones(extensions: Cursor) -> Iterator[tuple[str, Cursor]]:
    """Yield each bone's name and the object that refers to its node. VRM 1 animations have the same table."""
    for version in ("VRMC_vrm", "VRMC_vrm_animation"):
        if extensions.has(version):
            table = extensions.at(version).at("humanoid").at("humanBones")
            for bone in table.members():
                yield bone, table.at(bone)
            return
    if extensions.has("VRM"):
        for cursor in extensions.at("VRM").at("humanoid").each("humanBones"):
            if cursor.members().get("node") == NO_NODE:
                continue
            bone = cursor.text("bone")
            yield THUMBS.get(bone, bone), cursor


# --- springs and constraints ---------------------------------------------------------------------------------------


def read_springs(document: Document, skeleton: Skeleton) -> tuple[Spring, ...]:
    """Read the springs of a file, of either version. Those that cannot be used become problems of the document."""
    extensions = document.root.maybe("extensions")
    if extensions is None:
        return ()
    if extensions.has("VRMC_springBone"):
        springs = _of_version_1(extensions.at("VRMC_springBone"), document)
    elif extensions.has("VRM") and extensions.at("VRM").has("secondaryAnimation"):
        springs = _of_version_0(extensions.at("VRM").at("secondaryAnimation"), document, skeleton)
    else:
        return ()
    kept: list[Spring] = []
    rotated: set[int] = set()
    for spring in islice(springs, MOST):
        try:
            ((_, joints),) = checked_springs([spring], skeleton)
            if twice := rotated.intersection(joints[: len(joints) - (spring.tip == 0)]):
                raise InputError(f"{skeleton.names[min(twice)]!r} is rotated by another one")
        except InputError as problem:
            document.problems.append(f"a spring is ignored: {problem}")
        else:
            kept.append(spring)
            rotated.update(joints[: len(joints) - (spring.tip == 0)])
    return tuple(kept)


def read_constraints(document: Document, skeleton: Skeleton) -> tuple[Constraint, ...]:
    """Read the constraints of a file's nodes; none of them, and a problem of the document, if they do not fit."""
    found: list[Constraint] = []
    for node, joint in zip(document.root.each("nodes"), document.joint_of_node, strict=True):
        extensions = node.maybe("extensions")
        if extensions is not None and extensions.has("VRMC_node_constraint"):
            table = extensions.at("VRMC_node_constraint").at("constraint")
            for kind, key, axes in (("roll", "rollAxis", _AXES), ("aim", "aimAxis", _AIMS), ("rotation", "", {})):
                if table.has(kind):  # One, in a file that is right.
                    settings = table.at(kind)
                    axis = axes[settings.one_of(key, axes)] if key else _AXES["X"]
                    weight = min(max(settings.number("weight", 1.0), 0.0), 1.0)
                    source = _joint(settings, document, "source")
                    made = Constraint(joint=joint, source=source, kind=kind, axis=axis, weight=weight)  # type: ignore[arg-type]
                    found.append(made)
    try:
        checked_constraints(found, skeleton)
    except InputError as problem:
        document.problems.append(f"constraints are ignored: {problem}")
        return ()
    return tuple(found)


# --- version 1 -------------------------------------------------------------------------------------------------


def _of_version_1(table: Cursor, document: Document) -> Iterator[Spring]:
    """Yield the springs of `VRMC_springBone`. What it leaves out has the defaults of the specification."""
    colliders = [_collider(cursor, document) for cursor in islice(table.each("colliders"), MOST)]
    groups = [
        [
            collider
            for each in islice(group.each("colliders"), MOST)
            if (collider := colliders[each.as_whole(0, len(colliders) - 1)]) is not None
        ]
        for group in islice(table.each("colliderGroups"), MOST)
    ]
    for spring in table.each("springs"):
        joints = list(islice(spring.each("joints"), MOST))
        if len(joints) < 2:
            continue
        numbers: dict[str, Any] = {
            name: [_clamped(name, joint.number(key, usual)) for joint in joints] for name, key, usual in _NUMBERS
        }
        center = spring.maybe("center")
        yield Spring(
            joints=[_joint(joint, document) for joint in joints],
            gravity_direction=[joint.numbers("gravityDir", _DOWN) for joint in joints],
            colliders=_of_groups(spring, groups),
            center=None if center is None or center.value == NO_NODE else _joint(spring, document, "center"),
            **numbers,
        )


def _collider(cursor: Cursor, document: Document) -> SpringCollider | None:
    """Read a collider: its extended shape, which may also be hollow or a plane, or the plain one. None: of no node."""
    if cursor.members().get("node") == NO_NODE:
        return None
    shape = cursor.at("shape")
    extensions = cursor.maybe("extensions")
    if extensions is not None and extensions.has("VRMC_springBone_extended_collider"):
        shape = extensions.at("VRMC_springBone_extended_collider").maybe("shape") or shape
    kind = next((kind for kind in ("sphere", "capsule", "plane") if shape.has(kind)), None)
    if kind is None:
        shape.wrong("one with a sphere, a capsule or a plane")
    table = shape.at(kind)
    normal = table.numbers("normal", _AXES["Z"])
    return SpringCollider(
        joint=_joint(cursor, document),
        offset=table.numbers("offset", _ORIGIN),
        tail=table.numbers("tail", _ORIGIN) if kind == "capsule" else None,
        radius=_clamped("radius", table.number("radius", 0.0)),
        inside=table.flag("inside"),
        normal=None if kind != "plane" else normal if any(normal) else _AXES["Z"],
    )


# --- version 0 -------------------------------------------------------------------------------------------------


def _of_version_0(table: Cursor, document: Document, skeleton: Skeleton) -> Iterator[Spring]:
    """Yield the springs of `secondaryAnimation`: all joints below a root swing; a bone ends at its first child."""
    groups = [
        []
        if group.members().get("node") == NO_NODE
        else [_ball(ball, _joint(group, document)) for ball in islice(group.each("colliders"), MOST)]
        for group in islice(table.each("colliderGroups"), MOST)
    ]
    reached: set[int] = set()
    for group in table.each("boneGroups"):
        settings: dict[str, Any] = {
            name: _clamped(name, group.number("stiffiness" if key == "stiffness" else key, usual))
            for name, key, usual in _NUMBERS
        }
        if group.has("gravityDir"):
            settings["gravity_direction"] = _named(group.at("gravityDir"))
        if group.members().get("center", NO_NODE) != NO_NODE:
            settings["center"] = _joint(group, document, "center")
        settings["colliders"] = _of_groups(group, groups)
        for root in group.each("bones"):
            joint = document.joint_of_node[root.as_whole(0, len(document.joint_of_node) - 1)]
            for joints in _chains(skeleton, joint, reached):
                yield Spring(joints=joints, tip=TIP_OF_VERSION_0, **settings)


def _chains(skeleton: Skeleton, root: int, reached: set[int]) -> Iterator[list[int]]:
    """Yield chains of first children that hold all joints below a root but those already reached."""
    waiting = [root]
    while waiting:
        joint: int | None = waiting.pop()
        found: list[int] = []
        while joint is not None and joint not in reached:
            reached.add(joint)
            found.append(joint)
            children = skeleton.children(joint)
            joint = children[0] if children else None
            waiting += reversed(children[1:])
        if found:
            yield found


def _ball(cursor: Cursor, joint: int) -> SpringCollider:
    x, y, z = _named(cursor.at("offset")) if cursor.has("offset") else _ORIGIN
    radius = _clamped("radius", cursor.number("radius", 0.0))
    return SpringCollider(joint=joint, offset=(x, y, -z), radius=radius)  # Stored with z the other way.


def _named(cursor: Cursor) -> tuple[float, ...]:
    """Read a vector that is an object of x, y and z."""
    return tuple(cursor.number(name, 0.0) for name in "xyz")


# --- what they share -------------------------------------------------------------------------------------------


def _joint(cursor: Cursor, document: Document, key: str = "node") -> int:
    return document.joint_of_node[cursor.index(key, len(document.joint_of_node))]


def _clamped(name: str, value: float) -> float:
    """Move a number into what springs allow: files have drags of 1.01 and the like."""
    low, high = ALLOWED[name]
    return min(max(value, low), high)


def _of_groups(cursor: Cursor, groups: list[list[SpringCollider]]) -> tuple[SpringCollider, ...]:
    """Return the colliders of the groups that a spring names."""
    named = (groups[each.as_whole(0, len(groups) - 1)] for each in cursor.each("colliderGroups"))
    return tuple(islice(chain.from_iterable(named), MOST))
