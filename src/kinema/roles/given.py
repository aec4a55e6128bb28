"""Apply overrides to the roles that were found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinema.errors import InputError
from kinema.model.rig import Arm, Fingers, Leg
from kinema.model.skeleton import Skeleton
from kinema.roles import name_tokens
from kinema.roles.arms import FoundArm
from kinema.roles.draft import Draft
from kinema.roles.evidence import Evidence
from kinema.roles.legs import FoundLeg
from kinema.roles.overrides import Overrides


def apply(evidence: Evidence, found: Draft, overrides: Overrides) -> Draft:
    """Apply overrides to a draft. Given roles have no doubts and no confidence; other roles lose their joints."""
    skeleton = evidence.skeleton
    given = _given(skeleton, overrides)
    left = _left(skeleton, found, given)
    settled = {*given, *(role for role in ("up", "forward") if getattr(overrides, role) is not None)}
    settled |= {role for role, joints in left.items() if joints in ((), None)}
    limbs: dict[str, dict[str, Any]] = {"legs": dict(found.legs), "arms": dict(found.arms)}
    for leg in overrides.legs:
        settled |= _replace_limb(limbs, "legs", leg, _leg(evidence, limbs["legs"].get(leg.name), leg))
    for arm in overrides.arms:
        settled |= _replace_limb(limbs, "arms", arm, _arm(skeleton, limbs["arms"].get(arm.name), arm))
    return replace(
        found,
        **given,
        **left,
        legs=limbs["legs"],
        arms=limbs["arms"],
        confidence={role: sure for role, sure in found.confidence.items() if role not in settled},
        doubts=tuple(doubt for doubt in found.doubts if doubt.role not in settled),
    )


def sides_of(skeleton: Skeleton, overrides: Overrides) -> dict[int, str]:
    """Joints that are left or right by the names of the limbs they are given to."""
    found: dict[int, str] = {}
    limbs: list[Leg | Arm] = [*overrides.legs, *overrides.arms]
    for limb in limbs:
        if side := name_tokens.side(limb.name):
            found.update({skeleton.index(joint): side for joint in limb.joints})
    return found


def _given(skeleton: Skeleton, overrides: Overrides) -> dict[str, Any]:
    """Joints of the roles that are given, limbs apart, by the name of the role."""
    given: dict[str, Any] = {}
    for role in ("spine", "neck", "eyes"):
        if (joints := getattr(overrides, role)) is not None:
            given[role] = tuple(skeleton.index(joint) for joint in joints)
    if overrides.hips is not None:
        given["hips"] = skeleton.index(overrides.hips)
    if overrides.head is not None:
        given["head"] = None if overrides.head == "" else skeleton.index(overrides.head)
    if overrides.tails is not None:
        given["tails"] = tuple(tuple(skeleton.index(joint) for joint in tail) for tail in overrides.tails)
    return given


def _left(skeleton: Skeleton, found: Draft, given: dict[str, Any]) -> dict[str, Any]:
    """What is left of spine, neck and head as found: none of them is also another, and the head is the last."""
    taken = {*given.get("spine", ()), *given.get("neck", ()), given.get("hips")}
    if given.get("head") is not None:
        taken |= set(skeleton.below([given["head"]]).tolist())
    left: dict[str, Any] = {
        role: tuple(joint for joint in getattr(found, role) if joint not in taken)
        for role in ("spine", "neck")
        if role not in given
    }
    if "head" not in given and found.head in taken:
        left["head"] = None
    return left


def _replace_limb(limbs: dict[str, dict[str, Any]], what: str, override: Leg | Arm, limb: Any) -> set[str]:
    """A limb under its name, replacing those that share joints with it. Returns the roles that this settles."""
    limbs[what][override.name] = limb
    if not override.joints:
        return set()
    gone = [
        (kind, name)
        for kind, others in limbs.items()
        for name, other in others.items()
        if other is not limb and set(other.joints) & set(limb.joints)
    ]
    for kind, name in gone:
        del limbs[kind][name]
    return {what, f"{what}.{override.name}", *(f"{kind}.{name}" for kind, name in gone)}


def _check_whole(what: str, override: Leg | Arm) -> None:
    if not override.joints:
        raise InputError(f"no {what} {override.name!r} was found that could be changed; give its joints too")


def _leg(evidence: Evidence, found: FoundLeg | None, override: Leg) -> FoundLeg:
    skeleton = evidence.skeleton
    if not override.joints and found is not None:
        toe = found.toe if override.toe is None else skeleton.index(override.toe)
        return replace(found, toe=toe)
    _check_whole("leg", override)
    joints = skeleton.branch(f"leg {override.name!r}", override.joints, 3)
    toe = None if override.toe is None else skeleton.index(override.toe)
    tip = joints[-1] if toe is None else toe
    while evidence.children[tip]:
        tip = max(evidence.children[tip], key=evidence.extent)
    return FoundLeg(joints, toe, tip)


def _arm(skeleton: Skeleton, found: FoundArm | None, override: Arm) -> FoundArm:
    shoulder = None if override.shoulder is None else skeleton.index(override.shoulder)
    given = Fingers.of(override.fingers)
    fingers = Fingers(([skeleton.index(joint) for joint in finger] for finger in given), given.names)
    if not override.joints and found is not None:
        return replace(
            found, shoulder=found.shoulder if shoulder is None else shoulder, fingers=fingers or found.fingers
        )
    _check_whole("arm", override)
    joints = skeleton.branch(f"arm {override.name!r}", override.joints, 3)
    if found is not None and found.joints == joints:
        shoulder, fingers = found.shoulder if shoulder is None else shoulder, fingers or found.fingers
    return FoundArm(joints, shoulder, fingers, None)
