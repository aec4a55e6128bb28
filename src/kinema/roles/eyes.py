"""Find eyes: a small pair on the front of the head. Ears look similar, but point up and have more joints."""

from __future__ import annotations

import numpy as np

from kinema.roles.evidence import Evidence
from kinema.roles.limbs import Pair
from kinema.roles.stance import Stance

EYE_AHEAD = 0.5
"""Smallest distance of eyes ahead of the head's joint, as a share of their height above it."""

EYE_REACH = 0.75
"""Largest length of the chain below an eye, as a share of the distance to it: jaws and ears are longer."""


def find(evidence: Evidence, stance: Stance, pairs: list[Pair], head: int | None) -> tuple[int, int] | None:
    """Return the left and the right eye: by name, else by position."""
    if head is None:
        return None
    below = set(evidence.below(head))
    able = [pair for pair in pairs if pair.attach in below]
    called = [pair for pair in able if evidence.kind(pair.one[0]) == "eye" and evidence.kind(pair.other[0]) == "eye"]
    if not called and any(evidence.kind(pair.one[0]) for pair in able):  # Named as something else.
        able = [pair for pair in able if not evidence.kind(pair.one[0])]
    chosen = called or [pair for pair in able if _looks_ahead(evidence, stance, pair, head)]
    if not chosen:
        return None
    one, other = chosen[0].one[0], chosen[0].other[0]
    return (one, other) if stance.first_is_left else (other, one)


def _looks_ahead(evidence: Evidence, stance: Stance, pair: Pair, head: int) -> bool:
    """Whether a pair sits ahead of the head's joint rather than above it, and is no longer than an eye."""
    way = stance.positions[[pair.one[0], pair.other[0]]].mean(axis=0) - stance.positions[head]
    ahead, rise = stance.ahead(way), float(way @ stance.up)
    short = evidence.reach[pair.one[0]] <= EYE_REACH * float(np.linalg.norm(way))
    return short and ahead > EYE_AHEAD * abs(rise) and ahead > 0
