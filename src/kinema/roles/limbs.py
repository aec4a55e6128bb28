"""Limbs: the ways down from the middle of a body to where its two sides end, in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from kinema.roles import name_tokens
from kinema.roles.evidence import SAME_PLACE, Evidence
from kinema.roles.symmetry import Symmetry

LIMB_LENGTH = 0.12
"""Shortest arm or leg, as a share of the body's size. Ears and eyes are shorter, and hang from the head."""

SPLIT_LENGTH, SPLIT_SPREAD = 0.5, 0.25
"""A branch within a limb makes limbs of their own if both parts have this share of its length below, and their ends
lie this share apart: legs from a common anchor do, fingers do not."""

OFF_MIDDLE = 0.05
"""Share of the body's size between two joints from which on they lie clearly on either side: clavicles often do not."""


@dataclass(frozen=True)
class Pair:
    """Two limbs alike. Paths run from the first joint off the middle to the end; `one` is on the side that the
    symmetry's `across` points to. attach: the joint in the middle that both hang from.
    """

    attach: int
    one: tuple[int, ...]
    other: tuple[int, ...]

    @property
    def both(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.one, self.other

    @property
    def ends(self) -> tuple[int, int]:
        return self.one[-1], self.other[-1]


def find(evidence: Evidence, symmetry: Symmetry) -> list[Pair]:
    """Every pair of limbs, however short."""
    pairs = []
    for attach in np.flatnonzero(symmetry.partner == np.arange(len(evidence.skeleton))).tolist():
        for top in evidence.children[attach]:
            other = int(symmetry.partner[top])
            if other < 0 or other == top or not _on_first_side(evidence, symmetry, top, other):
                continue
            for path in _paths(evidence, top):
                partners = _partner_path(symmetry, path)
                pairs.append(Pair(attach, path[: len(partners)], partners))
    return pairs


def is_long(evidence: Evidence, pair: Pair) -> bool:
    """Whether a pair is long enough for arms or legs, and no fins."""
    fins = any(evidence.kind(joint) == "fin" for path in pair.both for joint in path)
    return not fins and min(evidence.length((pair.attach, *path)) for path in pair.both) >= LIMB_LENGTH * evidence.size


def named(evidence: Evidence, pair: Pair) -> str:
    """Return "leg" or "arm" by the majority of the telling names along a pair, else ""."""
    named_as = [name_tokens.limb(evidence.skeleton.names[joint]) for path in pair.both for joint in path]
    legs, arms = named_as.count("leg"), named_as.count("arm")
    return "" if legs == arms else "leg" if legs > arms else "arm"


def _on_first_side(evidence: Evidence, symmetry: Symmetry, top: int, other: int) -> bool:
    """Whether a limb belongs to the first side: by its first joint that is clearly off the middle, as arms may hang
    across the body at rest; where there is none, by all of its joints.
    """
    joint = top
    while (partner := int(symmetry.partner[joint])) >= 0:
        way = (evidence.rest[joint] - evidence.rest[partner]) @ symmetry.across
        if abs(way) > OFF_MIDDLE * evidence.size:
            return bool(way > 0)
        if not evidence.children[joint]:
            break
        joint = max(evidence.children[joint], key=lambda child: evidence.extent(child))
    way = (evidence.middle[top] - evidence.middle[other]) @ symmetry.across
    return bool(way > 0 or (way == 0 and top < other))


def _partner_path(symmetry: Symmetry, path: tuple[int, ...]) -> tuple[int, ...]:
    """The partners of a path's joints, as far as they have any."""
    found = [int(symmetry.partner[joint]) for joint in path]
    return tuple(found[: found.index(-1)] if -1 in found else found)


def _paths(evidence: Evidence, top: int) -> Iterator[tuple[int, ...]]:
    """The way down from a joint along the longest branches; several ways where whole limbs part."""
    path, total = [top], evidence.extent(top)
    while children := evidence.children[path[-1]]:
        long = [child for child in children if evidence.extent(child) >= SPLIT_LENGTH * total]
        if len(long) > 1 and _spread(evidence, long) >= SPLIT_SPREAD * total:
            for child in long:
                yield from _paths(evidence, _apart(evidence, child, long))
            return
        path.append(max(children, key=lambda child: evidence.extent(child)))
    yield tuple(path)


def _apart(evidence: Evidence, child: int, siblings: list[int]) -> int:
    """The first joint of a limb that does not coincide with another limb's: further up they only share an anchor."""
    near = SAME_PLACE * evidence.size
    shared = [s for s in siblings if s != child and np.linalg.norm(evidence.rest[s] - evidence.rest[child]) <= near]
    below = evidence.children[child]
    return below[0] if shared and len(below) == 1 else child


def _spread(evidence: Evidence, joints: list[int]) -> float:
    """The largest distance between the ends of what starts with these joints."""
    ends = [evidence.rest[_end(evidence, joint)] for joint in joints]
    return max(float(np.linalg.norm(a - b)) for a, b in combinations(ends, 2))


def _end(evidence: Evidence, joint: int) -> int:
    while children := evidence.children[joint]:
        joint = max(children, key=lambda child: evidence.extent(child))
    return joint
