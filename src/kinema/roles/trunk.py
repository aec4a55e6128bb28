"""Find the trunk of a body: hips, spine, neck, head, and tails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.roles import limbs, name_tokens
from kinema.roles.evidence import Evidence
from kinema.roles.limbs import Pair
from kinema.roles.posture import Posture
from kinema.roles.stance import Stance
from kinema.roles.symmetry import Symmetry

CLOSE_TO_HIPS = 0.4
"""A joint above where the legs hang from is the hips if it is this close, in leg lengths, and belongs to the body."""

HEAD_TOP = 1.5
"""A last joint that is this many times as far from the one before as that is from its own marks the top of the head."""


@dataclass(frozen=True)
class Trunk:
    """hips: what carries the body. spine: from above the hips to the chest. neck: from above the chest to below the
    head, which may be missing.
    """

    hips: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None


def find_hips(evidence: Evidence, posture: Posture) -> int:
    """The lowest joint that carries all legs and arms, or above it one that carries more of the body from close by."""
    carried = [pair.attach for pair in posture.legs] or [pair.attach for pair in posture.others]
    if not carried:
        return _top(evidence)
    arms = [pair.attach for pair in arm_pairs(evidence, posture)]
    hips = _common(evidence, carried)
    if not all(hips in evidence.above(arm) for arm in arms):
        hips = _common(evidence, [*carried, *arms])
    legs = [evidence.length(pair.one) for pair in posture.legs]
    near = CLOSE_TO_HIPS * (max(legs) if legs else evidence.size)
    up = evidence.parent(hips)
    while up >= 0 and np.linalg.norm(evidence.rest[up] - evidence.rest[hips]) <= near and _carries_more(evidence, up):
        hips, up = up, evidence.parent(up)
    return hips


def arm_pairs(evidence: Evidence, posture: Posture) -> list[Pair]:
    """Long limbs that do not stand: those called so, else the longest of three joints or more."""
    able = [pair for pair in posture.others if min(map(len, pair.both)) >= 3]
    able = [pair for pair in able if evidence.kind(pair.one[0]) not in ("ear", "jaw", "eye", "lid", "tail")]
    called = [pair for pair in able if limbs.named(evidence, pair) == "arm"]
    if called or not able or any(limbs.named(evidence, pair) for pair in (*able, *posture.legs)):
        return called[:1] if len(posture.legs) != 1 else called
    return [max(able, key=lambda pair: evidence.length(pair.one))] if len(posture.legs) == 1 else []


def find(
    evidence: Evidence, symmetry: Symmetry, posture: Posture, pairs: list[Pair], stance: Stance, hips: int
) -> Trunk:
    if not posture.legs and not posture.others:
        return _creeping(evidence, hips)
    chest = _chest(evidence, posture, hips)
    spine = _way(evidence, hips, chest)[1:]
    way = _way_to_head(evidence, symmetry, posture, stance, chest)
    if not way:
        return Trunk(hips, spine, (), None)
    head = _head_of(evidence, pairs, way)
    if spine:
        return Trunk(hips, spine, tuple(way[:head]), way[head])
    first = _neck_start(evidence, posture, way[:head])
    return Trunk(hips, tuple(way[:first]), tuple(way[first:head]), way[head])


def _neck_start(evidence: Evidence, posture: Posture, way: list[int]) -> int:
    """Return where the neck begins on the path from the hips to the head, for a body without arms.

    Names decide; else short limbs, such as wings; else the last third is the neck.
    """
    called = [k for k, joint in enumerate(way) if evidence.kind(joint) == "neck"]
    if called:
        return called[0]
    trunk = [k for k, joint in enumerate(way) if evidence.kind(joint) in ("spine", "chest")]
    hung = [k for k, joint in enumerate(way) if any(pair.attach == joint for pair in posture.others)]
    if trunk or hung:
        return max(trunk + hung) + 1
    return len(way) - round(len(way) / 3)


def _creeping(evidence: Evidence, hips: int) -> Trunk:
    """Find the trunk of a body without limbs: only names show which end is the head."""
    heads = [j for j in evidence.below(hips) if evidence.kind(j) == "head" and not evidence.end[j]]
    if not heads:
        return Trunk(hips, (), (), None)
    return Trunk(hips, _way(evidence, hips, heads[0])[1:-1], (), heads[0])


def find_tails(evidence: Evidence, symmetry: Symmetry, stance: Stance, trunk: Trunk) -> list[tuple[int, ...]]:
    """Chains in the middle that hang from the hips, or are called tails, of two joints or more."""
    taken = {trunk.hips, *trunk.spine, *trunk.neck, trunk.head}
    starts = [j for j in evidence.children[trunk.hips] if symmetry.partner[j] in (j, -1) and j not in taken]
    starts += [j for j in np.flatnonzero(evidence.body).tolist() if _starts_tail(evidence, j)]
    found = []
    for start in dict.fromkeys(starts):
        tail = tuple(j for j in _longest(evidence, start) if not evidence.end[j])
        kind = evidence.kind(start)
        if len(tail) > 1 and not taken & set(tail) and (kind == "tail" or _hangs_free(stance, tail, kind)):
            found.append(tail)
    return found


# --- hips and chest --------------------------------------------------------------------------------------------


def _top(evidence: Evidence) -> int:
    """The highest joint of a body that branches or moves anything."""
    at = int(np.flatnonzero(evidence.body)[0])
    while len(evidence.children[at]) == 1 and (evidence.weight is None or evidence.weight[at] == 0):
        at = evidence.children[at][0]
    return at


def _common(evidence: Evidence, joints: Sequence[int]) -> int:
    """The lowest joint that all of these are, or hang below."""
    shared = [set(evidence.above(joint)) for joint in joints]
    return next((j for j in evidence.above(joints[0]) if all(j in above for above in shared)), joints[0])


def _carries_more(evidence: Evidence, joint: int) -> bool:
    """Whether a joint belongs to the body itself: skin follows it, or it is called hips."""
    if evidence.kind(joint) == "root":
        return False
    return evidence.kind(joint) == "hips" or (evidence.weight is not None and bool(evidence.weight[joint] > 0))


def _chest(evidence: Evidence, posture: Posture, hips: int) -> int:
    """Where the arms, or the front legs, hang from: the one farthest from the hips."""
    below = [
        pair.attach for pair in (*arm_pairs(evidence, posture), *posture.legs) if hips in evidence.above(pair.attach)
    ]
    return max(below, key=lambda joint: len(evidence.above(joint)), default=hips)


def _way(evidence: Evidence, top: int, joint: int) -> tuple[int, ...]:
    above = evidence.above(joint)
    way = tuple(reversed(above[: above.index(top) + 1]))
    return tuple(j for j in way if j == top or not evidence.helper[j])


# --- head ------------------------------------------------------------------------------------------------------


def _way_to_head(evidence: Evidence, symmetry: Symmetry, posture: Posture, stance: Stance, chest: int) -> list[int]:
    """From above the chest to the end of what carries the head."""
    legs = {pair.one[0] for pair in posture.legs} | {pair.attach for pair in posture.legs}
    starts = [
        child
        for child in evidence.children[chest]
        if symmetry.partner[child] in (child, -1)
        and not legs & set(evidence.below(child))
        and not name_tokens.is_decoy(evidence.skeleton.names[child])
        and evidence.kind(child) not in ("tail", "jaw", "lid")
    ]
    if not starts:
        return []
    start = max(starts, key=lambda child: _headlike(evidence, posture, stance, chest, child))
    named = [j for j in evidence.below(start) if evidence.kind(j) == "head" and not evidence.end[j]]
    way = _way(evidence, start, named[0]) if named else tuple(_longest_middle(evidence, symmetry, start))
    return [j for j in way if not evidence.helper[j]]


def _headlike(evidence: Evidence, posture: Posture, stance: Stance, chest: int, child: int) -> float:
    below = evidence.below(child)
    called = any(evidence.kind(j) in ("head", "neck") for j in below)
    away = stance.positions[below] - stance.positions[chest]
    towards = stance.up if len(posture.legs) < 2 else stance.forward  # A person's head is above, an animal's ahead.
    return 10.0 * called + (float((away @ towards).max()) + 0.1 * evidence.extent(child)) / evidence.size


def _head_of(evidence: Evidence, pairs: list[Pair], way: list[int]) -> int:
    """Return the head on a path: by name, else by eyes or ears, else the last joint that moves anything."""
    for k, joint in enumerate(way):
        if evidence.kind(joint) == "head" and not name_tokens.is_end(evidence.skeleton.names[joint]):
            return k
    with_pairs = {pair.attach for pair in pairs}
    for k, joint in enumerate(way):
        if joint in with_pairs:
            return k
    moving = [joint for joint in way if not evidence.end[joint]]
    if len(moving) > 2 and not evidence.children[moving[-1]]:
        neck, last = evidence.length(moving[-3:-1]), evidence.length(moving[-2:])
        if last > HEAD_TOP * neck:  # Too far up for a head to start there: it is the crown.
            moving.pop()
    return max(len(moving) - 1, 0)


def _longest_middle(evidence: Evidence, symmetry: Symmetry, start: int) -> list[int]:
    way = [start]
    while middle := [j for j in evidence.children[way[-1]] if symmetry.partner[j] in (j, -1)]:
        way.append(max(middle, key=evidence.extent))
    return way


# --- tails -----------------------------------------------------------------------------------------------------


def _longest(evidence: Evidence, start: int) -> list[int]:
    way = [start]
    while evidence.children[way[-1]]:
        way.append(max(evidence.children[way[-1]], key=evidence.extent))
    return way


def _starts_tail(evidence: Evidence, joint: int) -> bool:
    up = evidence.parent(joint)
    return evidence.kind(joint) == "tail" and (up < 0 or evidence.kind(up) != "tail")


def _hangs_free(stance: Stance, tail: tuple[int, ...], kind: str) -> bool:
    """Whether a nameless chain may be a tail: it goes away from the hips, and not up."""
    way: Any = stance.positions[tail[-1]] - stance.positions[tail[0]]
    return kind in ("", "root") and float(way @ stance.up) < 0.7 * float(np.linalg.norm(way))
