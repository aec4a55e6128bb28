"""`Constraint`: a joint whose rotation follows another joint, such as the twist joint of a forearm.

These are the node constraints of VRM files. The stage `Constraints` rotates the joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import InputError
from kinema.model.skeleton import Joint, Skeleton

KINDS = ("roll", "aim", "rotation")
"""What a joint follows: rotation about one axis, position, or the whole rotation."""


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A joint that follows another one.

    Examples
    --------
    >>> twist = km.Constraint(joint="forearm_twist", source="hand_l", kind="roll", axis=(1, 0, 0), weight=0.5)
    """

    joint: Joint
    """The joint that is rotated."""
    source: Joint
    """The joint it follows."""
    kind: Literal["roll", "aim", "rotation"]
    """"roll": rotate about `axis` as far as the source is rotated about it from its rest pose. "aim": point `axis` at
    the source. "rotation": rotate from the rest pose as the source does."""
    axis: ArrayLike = (1.0, 0.0, 0.0)
    """(3,): of roll and aim, a direction in the joint's space."""
    weight: float = 1.0
    """How far the joint follows, 0 to 1: from its rest rotation to that of the constraint."""

    def __post_init__(self) -> None:
        validation.choice("kind", self.kind, KINDS)
        validation.axis("axis", self.axis)
        validation.number("weight", self.weight, 0.0, 1.0)


def checked_constraints(constraints: Any, skeleton: Skeleton) -> list[tuple[Constraint, int, int]]:
    """Return constraints with the indices of joint and source, each after those it depends on.

    Raises InputError for one that is wrong, for a joint with two, and for constraints that depend on each other.
    """
    waiting: dict[int, tuple[Constraint, int, int]] = {}
    for n, constraint in enumerate(validation.sequence("constraints", constraints, "constraints")):
        validation.instance(f"constraints[{n}]", constraint, Constraint)
        joint, source = skeleton.index(constraint.joint), skeleton.index(constraint.source)
        if joint in waiting:
            raise InputError(f"constraints[{n}] rotates {skeleton.names[joint]!r}, as another one does")
        if joint in _needed(skeleton, constraint, joint, source):
            raise InputError(f"constraints[{n}]: {skeleton.names[joint]!r} depends on itself")
        waiting[joint] = constraint, joint, source
    found: list[tuple[Constraint, int, int]] = []
    while waiting:
        free = [each for each in waiting.values() if not waiting.keys() & _needed(skeleton, *each)]
        if not free:
            names = ", ".join(repr(skeleton.names[joint]) for joint in waiting)
            raise InputError(f"constraints depend on each other: those of {names}")
        found += free
        for _, joint, _ in free:
            del waiting[joint]
    return found


def _needed(skeleton: Skeleton, constraint: Constraint, joint: int, source: int) -> set[int]:
    """Return the joints whose rotations a constraint reads: of its source, or all above both joints to aim."""
    if constraint.kind != "aim":
        return {source}
    above = {*skeleton.above([source]).tolist(), *skeleton.above([joint]).tolist()} - {source, joint}
    return above | ({joint} if joint in skeleton.above([source]) else set())
