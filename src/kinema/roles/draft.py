"""`Draft`: the roles that were found, with their confidence, before overrides and the measuring of soles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kinema.roles import arms, eyes, facing, legs, limbs, trunk
from kinema.roles.arms import FoundArm
from kinema.roles.evidence import Evidence
from kinema.roles.legs import FoundLeg
from kinema.roles.limbs import Pair
from kinema.roles.posture import Posture
from kinema.roles.stance import Stance
from kinema.roles.symmetry import Symmetry
from kinema.roles.trunk import Trunk

MOST_LEG_JOINTS = 8
"""Most joints of a leg: an insect's have up to seven parts. A longer chain without a name may be a rope."""

LEVEL_TRUNK = 0.2
"""Heights of the legs that the head is above the hips, less of which no body on two legs has: birds bend forward."""

UNCLEAR = 0.3
"""Smallest majority of the votes, as a share of all of them, for a facing to be clear."""


class Doubt(NamedTuple):
    """A sentence about an uncertain role. An override of that role removes it."""

    role: str
    """The role, as in `Rig.confidence`; "legs" for all legs, "" for none."""
    text: str


@dataclass(frozen=True)
class Draft:
    """Roles by joint index. confidence: by role, as in `Rig`."""

    hips: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None
    eyes: tuple[int, ...]
    tails: tuple[tuple[int, ...], ...]
    legs: dict[str, FoundLeg]
    arms: dict[str, FoundArm]
    confidence: dict[str, float] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()


def make(
    evidence: Evidence, symmetry: Symmetry, pairs: list[Pair], posture: Posture, middle: Trunk, stance: Stance
) -> Draft:
    names = evidence.skeleton.names
    sure: dict[str, float] = {"up": _share(posture.clear), "forward": _share(stance.sure)}
    doubts: list[Doubt] = []
    if evidence.bodies > 1:
        several = f"There are {evidence.bodies} bodies in the file; roles are those of the one with most joints."
        doubts.append(Doubt("", several))
    if stance.sure < UNCLEAR:
        doubts.append(Doubt("forward", "It is not clear which way it faces: the evidence is weak."))
    for witness in stance.against:
        doubts.append(Doubt("forward", _against(witness)))
    sure["hips"] = _by_name(0.8, evidence.kind(middle.hips), ("hips", "spine"))
    if middle.spine:
        sure["spine"] = _by_name(0.8, evidence.kind(middle.spine[0]), ("spine", "chest"))
    if middle.head is not None:
        sure["head"] = _by_name(0.7, evidence.kind(middle.head), ("head",))
        if sure["head"] < 0.5:
            called = f"The head is {names[middle.head]!r} by its position, but its name does not say so."
            doubts.append(Doubt("head", called))
        if middle.neck:
            sure["neck"] = min(sure["head"], _by_name(0.8, evidence.kind(middle.neck[0]), ("neck", "spine")))
    found_eyes = eyes.find(evidence, stance, pairs, middle.head)
    if found_eyes:
        sure["eyes"] = _by_name(0.5, evidence.kind(found_eyes[0]), ("eye",))
    all_legs = _legs(evidence, symmetry, stance, posture, sure, doubts)
    all_arms = _arms(evidence, stance, posture, sure, doubts)
    tails = trunk.find_tails(evidence, symmetry, stance, middle)
    if tails:
        sure["tails"] = _by_name(0.6, evidence.kind(tails[0][0]), ("tail",))
    if not all_legs:
        doubts.append(Doubt("legs", "No legs were found: nothing in a pair comes down to the lowest level."))
    if len(all_legs) == 2 and not all_arms and _lies_level(stance, middle, all_legs):
        doubts.append(Doubt("legs", "What is taken for legs may be fins or wings: it is one pair on a body that lies."))
        sure |= {role: value / 2 for role, value in sure.items() if role.startswith("legs.")}
    elif len(all_legs) == 2 and middle.head is not None and not all_arms:
        doubts.append(Doubt("arms", "No arms were found, though it has two legs and a head."))
    return Draft(
        middle.hips,
        middle.spine,
        middle.neck,
        middle.head,
        found_eyes or (),
        tuple(tails),
        all_legs,
        all_arms,
        sure,
        tuple(doubts),
    )


def _lies_level(stance: Stance, middle: Trunk, all_legs: dict[str, FoundLeg]) -> bool:
    """Whether the head, or the end of the trunk without one, is little higher than the hips: as of a fish."""
    end = middle.head if middle.head is not None else (middle.hips, *middle.spine)[-1]
    longest = max(float(np.ptp([stance.height(joint) for joint in leg.joints])) for leg in all_legs.values())
    return stance.height(end) - stance.height(middle.hips) < LEVEL_TRUNK * longest


# --- limbs by name ---------------------------------------------------------------------------------------------


def _legs(
    evidence: Evidence,
    symmetry: Symmetry,
    stance: Stance,
    posture: Posture,
    sure: dict[str, float],
    doubts: list[Doubt],
) -> dict[str, FoundLeg]:
    pairs = sorted(zip(posture.legs, posture.stands, strict=True), key=lambda each: -_ahead(stance, each[0]))
    ranks = _ranks(len(pairs))
    found = {}
    for rank, (pair, stands) in zip(ranks, pairs, strict=True):
        named_as = limbs.named(evidence, pair)
        both = legs.find(evidence, stance, symmetry.across, pair, 2 * len(pairs))
        odd = named_as != "leg" and len(both[0].joints) > MOST_LEG_JOINTS
        if odd:
            pair_name = f"Legs {rank.format('left')!r} and {rank.format('right')!r}"
            many = f"{pair_name} have {len(both[0].joints)} joints each and are not called legs: they may be anything."
            doubts.append(Doubt("legs", many))
        for side, leg in zip(_sides(stance), both, strict=True):
            name = rank.format(side)
            found[name] = leg
            for stray in legs.strays(evidence, leg.joints[-1])[:1]:
                called = evidence.skeleton.names[stray]
                elsewhere = f"The foot of leg {name!r} follows {called!r}, which hangs from elsewhere."
                doubts.append(Doubt(f"legs.{name}", elsewhere))
            likely = _share(0.5 + 0.4 * stands + {"leg": 0.3, "": 0.0, "arm": -0.1}[named_as])
            sure[f"legs.{name}"] = likely / 2 if odd else likely
    if len(pairs) == 1 and limbs.named(evidence, pairs[0][0]) == "arm":
        doubts.append(Doubt("legs", "What stands on the ground is called arms."))
    return {name: found[name] for rank in ranks for name in (rank.format("left"), rank.format("right"))}


def _arms(
    evidence: Evidence, stance: Stance, posture: Posture, sure: dict[str, float], doubts: list[Doubt]
) -> dict[str, FoundArm]:
    found: dict[str, FoundArm] = {}
    pairs = sorted(trunk.arm_pairs(evidence, posture), key=lambda pair: -stance.height(pair.one[0]))
    for pair in pairs:
        for side, path in zip(_sides(stance), pair.both, strict=True):
            name = (
                side
                if side not in found
                else next(f"{side}_{n}" for n in range(2, len(pairs) + 2) if f"{side}_{n}" not in found)
            )
            found[name] = arms.find(evidence, path)
            agreed = found[name].named
            sure[f"arms.{name}"] = 0.7 if agreed is None else 1.0 if agreed else 0.6
            if found[name].guessed:
                order = ", ".join(found[name].fingers.names)
                doubts.append(
                    Doubt(f"arms.{name}", f"The fingers of arm {name!r} are taken as {order} by their order.")
                )
            if agreed is False:
                called = ", ".join(repr(evidence.skeleton.names[joint]) for joint in found[name].joints)
                doubts.append(Doubt(f"arms.{name}", f"Arm {name!r} is {called} by name; its longest bones are others."))
    return {name: found[name] for name in sorted(found)}


def _ahead(stance: Stance, pair: Pair) -> float:
    return stance.ahead(stance.positions[[*pair.one[:1], *pair.other[:1], *pair.ends]].mean(axis=0))


def _ranks(pairs: int) -> list[str]:
    """Names of pairs of legs from the front to the back, with a field for the side."""
    if pairs == 1:
        return ["{}"]
    middle = [f"middle_{{}}_{n + 1}" for n in range(pairs - 2)] if pairs > 3 else ["middle_{}"] * (pairs - 2)
    return ["front_{}", *middle, "hind_{}"][:pairs] if pairs else []


def _sides(stance: Stance) -> Sequence[str]:
    return ("left", "right") if stance.first_is_left else ("right", "left")


# --- how sure --------------------------------------------------------------------------------------------------


def _share(value: float) -> float:
    return float(np.clip(value, 0.0, 1.0))


def _against(witness: str) -> str:
    """Describe a witness for the opposite facing."""
    if witness == "sides":
        return "Names call the left side right: it faces the other way by its shape."
    return f"It is not certain which way it faces: {facing.SPOKEN[witness]} the other way."


def _by_name(alone: float, kind: str, expected: Sequence[str]) -> float:
    """Return the confidence of a role.

    alone: the confidence by shape; agreeing names raise it, contradicting ones lower it.
    """
    if kind in expected:
        return 1.0
    return alone if kind in ("", "root") else alone / 2
