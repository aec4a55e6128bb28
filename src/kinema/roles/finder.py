"""`find`: which joint of a skeleton is what, by topology and geometry first and names second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kinema.errors import InputError
from kinema.model.clip import Clip
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.roles import draft, evidence, limb_details, limbs, posture, soles, stance, symmetry, trunk
from kinema.roles.draft import Draft
from kinema.roles.evidence import Evidence
from kinema.roles.given import apply, sides_of
from kinema.roles.known import as_overrides
from kinema.roles.overrides import Overrides
from kinema.roles.stance import Stance

MOST_JOINTS = 4096
"""Joints that are looked at; a larger skeleton is no body (and would take long: pairs are compared)."""


_MEASURED = ("sole", "toe_sole", "heel", "tip", "toes", "girdle", "twists")
"""Fields of limbs that are measured after the roles are settled."""

Limb = TypeVar("Limb", Leg, Arm)


def find(
    skeleton: Skeleton,
    clips: Sequence[Clip] | Mapping[str, Clip] = (),
    *,
    known: Mapping[str, int] | None = None,
    overrides: Overrides | None = None,
    skins: Sequence[Skin] = (),
) -> Rig | None:
    """Find the rig of a skeleton; None where nothing in it is like a body.

    clips, skins: what else the file has: clips show the floor and the legs that stand on it, skins which joints are
    more than handles. known: joints by VRM's names of human bones ("leftUpperLeg"), as a file's own table has them.
    overrides: roles set by the user; they take precedence over both.
    """
    if not isinstance(skeleton, Skeleton):
        raise InputError(f"skeleton must be a Skeleton, got {type(skeleton).__name__}")
    clips = list(clips.values()) if isinstance(clips, Mapping) else list(clips)
    overrides = (overrides or Overrides()).over(as_overrides(known or {}))
    facts = evidence.gather(skeleton, clips, skins) if len(skeleton) <= MOST_JOINTS else None
    if facts is None:
        return None
    if evidence.rest_is_collapsed(facts):
        facts = evidence.as_in_clips(facts)
    found, standing = _roles(facts, overrides)
    if not _is_body(facts, found):
        return None
    return _rig(facts, found, standing, overrides, skins)


def _roles(facts: Evidence, overrides: Overrides) -> tuple[Draft, Stance]:
    """Find every role, then apply the overrides."""
    mirror = symmetry.find(facts)
    pairs = limbs.find(facts, mirror)
    upright = posture.find(facts, mirror, pairs, overrides.up)
    hips = trunk.find_hips(facts, upright)
    sides = sides_of(facts.skeleton, overrides)
    standing = stance.find(facts, mirror, pairs, upright, hips, forward=overrides.forward, sides=sides)
    middle = trunk.find(facts, mirror, upright, pairs, standing, hips)
    found = draft.make(facts, mirror, pairs, upright, middle, standing)
    return apply(facts, found, overrides), standing


def _is_body(facts: Evidence, found: Draft) -> bool:
    """Legs, arms, or at least a head or a tail that is called so."""
    named = [found.head] if found.head is not None else []
    named += [tail[0] for tail in found.tails]
    return bool(found.legs or found.arms or any(facts.kind(joint) in ("head", "tail") for joint in named))


def _rig(facts: Evidence, found: Draft, standing: Stance, overrides: Overrides, skins: Sequence[Skin]) -> Rig:
    measured, floor, sole_doubts = soles.measure(facts, standing, found.legs, skins)
    chains = [leg.joints for leg in found.legs.values()] + [arm.joints for arm in found.arms.values()]
    twists = {joints: limb_details.twists(facts, joints) for joints in chains}
    return Rig(
        skeleton=facts.skeleton,
        hips=found.hips,
        spine=found.spine,
        neck=found.neck,
        head=found.head,
        eyes=found.eyes,
        legs=[
            _with_given(
                overrides.legs,
                Leg(
                    name=name,
                    joints=leg.joints,
                    toe=leg.toe,
                    sole=measured[name].sole,
                    toe_sole=measured[name].toe_sole,
                    heel=measured[name].heel,
                    tip=measured[name].tip,
                    toes=limb_details.toes(facts, standing, found.hips, leg),
                    girdle=limb_details.girdle(facts, found, leg),
                    twists=twists[leg.joints][0],
                ),
            )
            for name, leg in found.legs.items()
        ],
        arms=[
            _with_given(
                overrides.arms,
                Arm(
                    name=name,
                    joints=arm.joints,
                    shoulder=arm.shoulder,
                    fingers=arm.fingers,
                    twists=twists[arm.joints][0],
                ),
            )
            for name, arm in found.arms.items()
        ],
        tails=found.tails,
        forward=standing.forward,
        up=standing.up,
        floor=floor if overrides.floor is None else overrides.floor,
        stance=standing.pose,
        confidence=found.confidence,
        doubts=[*(doubt.text for doubt in found.doubts), *_twist_doubts(facts, twists), *sole_doubts],
    )


def _with_given(overrides: Sequence[Limb], found: Limb) -> Limb:
    """Return a limb with what overrides give of it besides its roles, which are applied already."""
    given = next((limb for limb in overrides if limb.name == found.name), None)
    values = {name: getattr(given, name) for name in _MEASURED if getattr(given, name, None) not in (None, ())}
    return replace(found, **values)


def _twist_doubts(facts: Evidence, twists: Mapping[Any, Any]) -> list[str]:
    names = [repr(facts.skeleton.names[joint]) for _, nameless in twists.values() for joint in nameless]
    return [f"Taken as twist joints by where they lie: {', '.join(names[:6])}."] if names else []
