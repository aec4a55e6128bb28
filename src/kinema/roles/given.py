"""Putting the user's word over what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinema.errors import InputError
from kinema.rig import Arm, Leg
from kinema.roles import words
from kinema.roles.arms import FoundArm
from kinema.roles.draft import Draft
from kinema.roles.evidence import Evidence
from kinema.roles.legs import FoundLeg
from kinema.roles.overrides import Overrides
from kinema.skeleton import Skeleton


def apply(evidence: Evidence, found: Draft, said: Overrides) -> Draft:
    """The draft with what is said in place of what was found; roles that are given are certain."""
    skeleton = evidence.skeleton
    sure = dict(found.confidence)
    changed: dict[str, Any] = {}
    for role in ("spine", "neck", "eyes"):
        if (joints := getattr(said, role)) is not None:
            changed[role] = tuple(skeleton.index(joint) for joint in joints)
    if said.hips is not None:
        changed["hips"] = skeleton.index(said.hips)
    if said.head is not None:
        changed["head"] = None if said.head == "" else skeleton.index(said.head)
    if said.tails is not None:
        changed["tails"] = tuple(tuple(skeleton.index(joint) for joint in tail) for tail in said.tails)
    sure |= dict.fromkeys(changed, 1.0)
    sure |= {role: 1.0 for role in ("up", "forward") if getattr(said, role) is not None}
    legs, arms = dict(found.legs), dict(found.arms)
    for leg in said.legs:
        _put(legs, "legs", leg.name, _leg(evidence, legs.get(leg.name), leg), leg.joints, sure)
    for arm in said.arms:
        _put(arms, "arms", arm.name, _arm(skeleton, arms.get(arm.name), arm), arm.joints, sure)
    return replace(found, **changed, legs=legs, arms=arms, confidence=sure)


def sides_of(skeleton: Skeleton, said: Overrides) -> dict[int, str]:
    """Joints that are left or right by the names of the limbs they are given to."""
    found: dict[int, str] = {}
    limbs: list[Leg | Arm] = [*said.legs, *said.arms]
    for limb in limbs:
        if side := words.side(limb.name):
            found.update({skeleton.index(joint): side for joint in limb.joints})
    return found


def _put(limbs: dict[str, Any], what: str, name: str, limb: Any, joints: Any, sure: dict[str, float]) -> None:
    """A limb under its name, in place of those that have joints of its."""
    for other in [other for other, found in limbs.items() if other != name and set(found.joints) & set(limb.joints)]:
        del limbs[other]
        sure.pop(f"{what}.{other}", None)
    limbs[name] = limb
    if joints:
        sure[f"{what}.{name}"] = 1.0


def _check_whole(what: str, said: Leg | Arm) -> None:
    if not said.joints:
        raise InputError(f"no {what} {said.name!r} was found that could be changed; give its joints too")


def _leg(evidence: Evidence, found: FoundLeg | None, said: Leg) -> FoundLeg:
    skeleton = evidence.skeleton
    if not said.joints and found is not None:
        toe = found.toe if said.toe is None else skeleton.index(said.toe)
        return replace(found, toe=toe)
    _check_whole("leg", said)
    joints = skeleton.branch(f"leg {said.name!r}", said.joints, 3)
    toe = None if said.toe is None else skeleton.index(said.toe)
    tip = joints[-1] if toe is None else toe
    while evidence.children[tip]:
        tip = max(evidence.children[tip], key=evidence.extent)
    return FoundLeg(joints, toe, tip)


def _arm(skeleton: Skeleton, found: FoundArm | None, said: Arm) -> FoundArm:
    shoulder = None if said.shoulder is None else skeleton.index(said.shoulder)
    fingers = tuple(tuple(skeleton.index(joint) for joint in finger) for finger in said.fingers)
    if not said.joints and found is not None:
        return replace(
            found, shoulder=found.shoulder if shoulder is None else shoulder, fingers=fingers or found.fingers
        )
    _check_whole("arm", said)
    joints = skeleton.branch(f"arm {said.name!r}", said.joints, 3)
    if found is not None and found.joints == joints:
        shoulder, fingers = found.shoulder if shoulder is None else shoulder, fingers or found.fingers
    return FoundArm(joints, shoulder, fingers, None)
