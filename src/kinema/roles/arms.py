"""Find shoulder, upper arm, forearm, hand and fingers of limbs that are not legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kinema.model.rig import FINGERS, Fingers
from kinema.roles import name_tokens
from kinema.roles.evidence import SAME_PLACE, Evidence
from kinema.roles.legs import bending

ARM_BONES = 0.4
"""Smallest ratio of the lengths of upper arm and forearm."""


@dataclass(frozen=True)
class FoundArm:
    """joints: upper arm, forearm, hand. named: whether names and lengths agree on them; None without telling names.
    guessed: whether fingers have their names by their order alone, and are fewer than five.
    """

    joints: tuple[int, ...]
    shoulder: int | None
    fingers: Fingers
    named: bool | None
    guessed: bool = False


def find(evidence: Evidence, path: Sequence[int]) -> FoundArm:
    joints = bending(evidence, path)
    by_length = _above_fingers(evidence, joints) or _longest_two(evidence, joints)
    by_name = _called(evidence, joints)
    chosen = by_name or by_length
    before = joints.index(chosen[0])
    agree = None if by_name is None else by_name == by_length
    thumb, others = _fingers(evidence, chosen)
    known = [_finger_name(evidence, chain) for chain in others]
    guessed = not all(known) or len(set(known)) < len(known)
    names = [*FINGERS[1:], *(f"finger_{n}" for n in range(6, 2 + len(others)))][: len(others)] if guessed else known
    fingers = Fingers((*thumb, *others), (*FINGERS[: len(thumb)], *names))
    shoulder = joints[before - 1] if before else None
    return FoundArm(chosen, shoulder, fingers, agree, guessed and 0 < len(others) < 4)


def _above_fingers(evidence: Evidence, joints: Sequence[int]) -> tuple[int, int, int] | None:
    """Return the first joint that branches and the two before it, if their bones are as long as an arm's."""
    k = next((k for k, joint in enumerate(joints) if len(evidence.children[joint]) > 1), 0)
    if k < 2:
        return None
    bones = [evidence.length(joints[n : n + 2]) for n in (k - 2, k - 1)]
    return (joints[k - 2], joints[k - 1], joints[k]) if min(bones) >= ARM_BONES * max(bones) else None


def _longest_two(evidence: Evidence, joints: Sequence[int]) -> tuple[int, int, int]:
    """Return the three joints of the two longest consecutive bones."""
    spans = [evidence.length(joints[k : k + 3]) for k in range(len(joints) - 2)]
    k = spans.index(max(spans))
    return joints[k], joints[k + 1], joints[k + 2]


def _called(evidence: Evidence, joints: Sequence[int]) -> tuple[int, int, int] | None:
    found, at = [], 0
    for kind in ("upper_arm", "forearm", "hand"):
        at = next((k for k in range(at, len(joints)) if evidence.kind(joints[k]) == kind), -1)
        if at < 0:
            return None
        found.append(joints[at])
    return found[0], found[1], found[2]


def _fingers(evidence: Evidence, joints: Sequence[int]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the thumb, if there is one, and the other chains below the hand, from the index to the little finger.

    A hand has two or more, or those that are named as fingers.
    """
    forearm, hand = joints[1], joints[2]
    starts = [start for start in evidence.children[hand] if not evidence.end[start]]
    if len(evidence.children[forearm]) > 2:  # Palm bones side by side, without a hand joint between.
        starts += [start for start in evidence.children[forearm] if start != hand and not evidence.end[start]]
    called = [start for start in starts if any(_is_finger(evidence, j) for j in evidence.below(start))]
    starts = called if called else starts if len(starts) > 1 else []
    chains = [_chain(evidence, start) for start in starts]
    thumb = [chain for chain in chains if any(evidence.kind(j) == "thumb" for j in chain)]
    if not called and chains:
        if max(map(len, chains)) > 2:  # Beside fingers of three joints, a single joint is a held object.
            chains = [chain for chain in chains if len(chain) > 1]
        # The thumb leaves the hand first.
        thumb = [min(chains, key=lambda chain: evidence.length((hand, chain[0])))]
    return thumb[:1], _in_order(evidence, [chain for chain in chains if chain not in thumb[:1]], thumb)


def _in_order(
    evidence: Evidence, fingers: list[tuple[int, ...]], thumb: list[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Sort fingers from the index to the little one: by name if all are named, else from the thumb outwards."""
    names = [_finger_name(evidence, chain) for chain in fingers]
    if all(names) and len(set(names)) == len(names):
        return [chain for _, chain in sorted(zip(map(FINGERS.index, names), fingers, strict=True))]
    if not thumb:
        return fingers
    start = evidence.rest[thumb[0][0]]
    # Palm bones start close together: compare the far ends.
    return sorted(fingers, key=lambda chain: float(np.linalg.norm(evidence.rest[chain[len(chain) // 2]] - start)))


def _finger_name(evidence: Evidence, chain: Sequence[int]) -> str:
    """Return which finger the names of a chain say it is; "" if they do not."""
    return next(filter(None, (name_tokens.finger(evidence.skeleton.names[joint]) for joint in chain)), "")


def _is_finger(evidence: Evidence, joint: int) -> bool:
    return evidence.kind(joint) in ("finger", "thumb")


def _chain(evidence: Evidence, start: int) -> tuple[int, ...]:
    """Return the joints from a knuckle down, without end markers and joints that coincide with the next."""
    way = [start]
    while below := [child for child in evidence.children[way[-1]] if not evidence.end[child]]:
        way.append(max(below, key=evidence.extent))
    near = SAME_PLACE * evidence.size
    kept = [j for j, below in pairwise(way) if evidence.length((j, below)) > near]
    return (*kept, way[-1])
