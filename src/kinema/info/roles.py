"""The roles of joints, by a rig."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kinema.model.rig import Arm, Fingers, Leg, Rig

_LEG, _ARM = ("thigh", "shin", "foot"), ("upper arm", "forearm", "hand")


class Role(NamedTuple):
    """The role of one joint."""

    joint: int
    path: str
    """For programs: "hips", "legs.left[0]", "arms.left.fingers[1][0]"."""
    label: str
    """For people: "left thigh"."""
    group: str
    """The role it belongs to, a key of `Rig.confidence`: "legs.left"."""


def roles_of(rig: Rig) -> Iterator[Role]:
    """Yield every role of a rig; a joint may have several."""
    yield Role(int(rig.hips), "hips", "hips", "hips")
    for group in ("spine", "neck"):
        yield from _chain(group, group, getattr(rig, group))
    if rig.head is not None:
        yield Role(int(rig.head), "head", "head", "head")
    for i, joint in enumerate(rig.eyes):
        side = ("left eye", "right eye")[i] if len(rig.eyes) == 2 else "eye"
        yield Role(int(joint), f"eyes[{i}]", side, "eyes")
    for leg in rig.legs:
        group = f"legs.{leg.name}"
        side = leg.name.replace("_", " ")
        yield from _limb(group, side, leg.joints, _LEG, "leg")
        if leg.toe is not None:
            yield Role(int(leg.toe), f"{group}.toe", f"{side} toe", group)
        if leg.girdle is not None:
            yield Role(int(leg.girdle), f"{group}.girdle", f"{side} girdle", group)
        for i, toe in enumerate(leg.toes):
            for k, joint in enumerate(toe):
                yield Role(int(joint), f"{group}.toes[{i}][{k}]", f"{side} toe {i + 1}", group)
        yield from _twists(group, side, leg)
    for arm in rig.arms:
        group, side = f"arms.{arm.name}", arm.name.replace("_", " ")
        if arm.shoulder is not None:
            yield Role(int(arm.shoulder), f"{group}.shoulder", f"{side} shoulder", group)
        yield from _limb(group, side, arm.joints, _ARM, "arm")
        for i, (finger, joints) in enumerate(Fingers.of(arm.fingers).items()):
            for k, joint in enumerate(joints):
                yield Role(int(joint), f"{group}.fingers[{i}][{k}]", f"{side} {finger}", group)
        yield from _twists(group, side, arm)
    for i, tail in enumerate(rig.tails):
        yield from _chain(f"tails[{i}]", "tail", tail)


def _twists(group: str, side: str, limb: Leg | Arm) -> Iterator[Role]:
    for i, twist in enumerate(limb.twists):
        yield Role(int(twist.joint), f"{group}.twists[{i}]", f"{side} twist {twist.fraction:.0%}", group)


def _chain(group: str, label: str, joints: Sequence[Any]) -> Iterator[Role]:
    for i, joint in enumerate(joints):
        yield Role(int(joint), f"{group}[{i}]", label, group)


def _limb(group: str, side: str, joints: Sequence[Any], parts: Sequence[str], what: str) -> Iterator[Role]:
    """Yield the roles of a limb. Three joints have names; of more, only the last has."""
    for i, joint in enumerate(joints):
        last = i == len(joints) - 1
        part = parts[i] if len(joints) == len(parts) else parts[-1] if last else f"{what} {i + 1}"
        yield Role(int(joint), f"{group}[{i}]", f"{side} {part}", group)
