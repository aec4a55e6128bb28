"""Find what hangs on a limb besides its own joints: twist joints, single toes, and the girdle above a leg."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from kinema.model.rig import Twist
from kinema.roles import name_tokens
from kinema.roles.draft import Draft
from kinema.roles.evidence import SAME_PLACE, SKIN_SHARE, Evidence
from kinema.roles.legs import FoundLeg
from kinema.roles.stance import Stance

BESIDE_BONE = 0.1
"""Bone lengths that a twist joint may lie beside its bone: rigs put them into the middle of the flesh."""

WITHIN_BONE = (0.05, 0.95)
"""Where along its bone a joint must lie to be a twist joint without such a name, as shares of the bone."""

_TWISTS = frozenset(("twist", "twister", "roll"))


def twists(evidence: Evidence, joints: Sequence[int]) -> tuple[list[Twist], list[int]]:
    """Return the twist joints of a limb, and those of them that no name calls so."""
    found, nameless = [], []
    for bone, (start, end) in enumerate(pairwise(joints)):
        way = evidence.rest[end] - evidence.rest[start]
        length = float(np.linalg.norm(way))
        if length <= SAME_PLACE * evidence.size:
            continue
        for joint, between in _on_bone(evidence, start, end, joints):
            away = evidence.rest[joint] - evidence.rest[start]
            share = float(away @ way) / length**2
            named = bool(_TWISTS & set(name_tokens.split(evidence.skeleton.names[joint])))
            beside = float(np.linalg.norm(away - way * share)) > BESIDE_BONE * length
            if beside or not -SAME_PLACE <= share <= 1 + SAME_PLACE:
                continue
            if named or between or (_carries_skin(evidence, joint) and WITHIN_BONE[0] < share < WITHIN_BONE[1]):
                found.append(Twist(joint, bone, min(max(share, 0.0), 1.0)))
                if not (named or between):
                    nameless.append(joint)
    return sorted(found, key=lambda twist: (twist.bone, twist.fraction)), nameless


def _on_bone(evidence: Evidence, start: int, end: int, limb: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Yield joints that may lie on a bone, and whether each is between its two joints in the skeleton.

    The others are leaves beside the bone: they hang from its first joint, from a joint between, or in a chain of such.
    """
    skeleton = evidence.skeleton
    between = [joint for joint in skeleton.above([end]).tolist() if joint not in (start, end)]
    between = [joint for joint in between if start in skeleton.above([joint])]
    yield from ((joint, True) for joint in between)
    taken = {*limb, *between}
    for parent in (start, *between):
        for joint in skeleton.children(parent):
            below = skeleton.below([joint]).tolist()
            if not taken & set(below) and all(len(skeleton.children(j)) <= 1 for j in below):
                yield from ((int(j), False) for j in below)


def _carries_skin(evidence: Evidence, joint: int) -> bool:
    return evidence.weight is not None and bool(evidence.weight[joint] > SKIN_SHARE)


def toes(evidence: Evidence, stance: Stance, hips: int, leg: FoundLeg) -> tuple[tuple[int, ...], ...]:
    """Return the chains of a foot's single toes, from the inner one outwards: two or more that point ahead."""
    positions, carrier = stance.positions, leg.joints[-1] if leg.toe is None else leg.toe
    starts = [joint for joint in evidence.children[carrier] if not (evidence.end[joint] or evidence.helper[joint])]
    chains = [_chain(evidence, start) for start in starts]
    chains = [chain for chain in chains if stance.ahead(positions[chain[-1]] - positions[carrier]) > 0]
    left = np.cross(stance.up, stance.forward)
    outwards = left * np.sign((positions[leg.joints[0]] - positions[hips]) @ left)
    chains.sort(key=lambda chain: float(positions[chain[-1]] @ outwards))
    return tuple(chains) if len(chains) > 1 else ()


def _chain(evidence: Evidence, start: int) -> tuple[int, ...]:
    chain = [start]
    while below := [joint for joint in evidence.children[chain[-1]] if not evidence.end[joint]]:
        chain.append(max(below, key=evidence.extent))
    return tuple(chain)


def girdle(evidence: Evidence, found: Draft, leg: FoundLeg) -> int | None:
    """Return the joint above a leg's first that is on its own side, None where the leg hangs from the trunk."""
    above, trunk = evidence.parent(leg.joints[0]), {found.hips, *found.spine, *found.neck}
    shared = any(
        above in evidence.above(other.joints[0]) for other in found.legs.values() if other.joints[0] != leg.joints[0]
    )
    return None if above < 0 or above in trunk or shared or evidence.helper[above] else above
