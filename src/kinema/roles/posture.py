"""Find the up direction and the legs: the limbs that reach the lowest level, at rest and in clips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.roles import limbs
from kinema.roles.evidence import Evidence
from kinema.roles.limbs import Pair
from kinema.roles.symmetry import Symmetry

FLOOR_BAND = 0.14
"""A limb stands if its end is in the lowest part of the body, by this share of the body's height."""

STANDS_OFTEN = 0.3
"""Share of the samples in which a leg's end must be at the lowest level: walking feet are up half the time."""

LEG_DROP = 0.1
"""Smallest height that a leg descends to the floor, as a share of its length: objects on the floor do not."""

SHORTEST_LEG = 0.4
"""The shortest leg, as a share of the longest one of the same body."""

UPRIGHT_PRIOR = {(1, 1): 1.3, (2, 1): 1.1}
"""Bonus of an axis as up, by axis and sign: y up is usual, z next."""

OFF_AXIS = 0.6
"""Penalty of a direction that is not along an axis."""

SNAP = 0.94
"""Up is taken to be an axis of the file if it is within 20 degrees of one: this cosine."""


@dataclass(frozen=True, eq=False)
class Posture:
    """up: (3,), unit. legs, others: the long pairs of limbs. stands: how often each pair of legs is at the bottom.

    clear: how much better up is than the next best direction, 0 to 1.
    """

    up: Any
    legs: tuple[Pair, ...]
    others: tuple[Pair, ...]
    stands: tuple[float, ...]
    clear: float


def find(evidence: Evidence, symmetry: Symmetry, pairs: list[Pair], up: Any = None) -> Posture:
    """up: where it is known."""
    long = [pair for pair in pairs if limbs.is_long(evidence, pair)]
    sources = [evidence.rest[np.newaxis], *(clip.positions for clip in evidence.clips)]
    candidates = [np.array(up)] if up is not None else list(_directions(evidence, symmetry, long))
    scores = [_prior(each) * sum(_support(evidence, long, s, each)[1] for s in sources) for each in candidates]
    order = sorted(range(len(scores)), key=lambda k: -scores[k])
    best = candidates[order[0]]
    clear = _clear([scores[k] for k in order]) if up is None else 1.0
    stands = np.mean([_support(evidence, long, s, best)[0] for s in sources], axis=0) if long else np.zeros(0)
    legs = [k for k, pair in enumerate(long) if _is_leg(evidence, pair, stands[k])]
    legs = _without_low_ones(evidence, long, _without_arms(evidence, long, legs, best))
    return Posture(
        best,
        tuple(long[k] for k in legs),
        tuple(pair for k, pair in enumerate(long) if k not in legs),
        tuple(float(stands[k]) for k in legs),
        clear,
    )


def _clear(scores: list[float]) -> float:
    """How much better the first is than the next, 0 to 1."""
    return 1.0 - scores[1] / scores[0] if len(scores) > 1 and scores[0] > 0 else 0.0


def _directions(evidence: Evidence, symmetry: Symmetry, long: list[Pair]) -> Iterator[Any]:
    """What may be up: the axes of the file, then what the limbs' ends show, all across the mirror plane."""
    across = symmetry.across
    axes = [sign * axis for axis in np.eye(3)[[1, 2, 0]] for sign in (1.0, -1.0) if abs(axis @ across) < SNAP]
    yield from axes
    shown = []
    for pair in long:
        shown.append(evidence.rest[pair.attach] - evidence.rest[list(pair.ends)].mean(axis=0))
    for a, b in combinations(long, 2):
        level = evidence.rest[list(a.ends)].mean(axis=0) - evidence.rest[list(b.ends)].mean(axis=0)
        shown += [np.cross(across, level), np.cross(level, across)]
    for way in shown:
        upright = way - across * (way @ across)
        if np.linalg.norm(upright) > 0:
            upright = arrays.unit(upright)
            if all(upright @ axis < SNAP for axis in axes):
                yield upright


def _prior(up: Any) -> float:
    axis = int(np.argmax(np.abs(up)))
    return UPRIGHT_PRIOR.get((axis, int(np.sign(up[axis]))), 1.0) if abs(up[axis]) > SNAP else OFF_AXIS


def _support(evidence: Evidence, long: list[Pair], positions: Any, up: Any) -> tuple[Any, float]:
    """How often each pair stands on the lowest level, (pairs,), and how well all of them together carry the body."""
    heights = positions @ up
    body = heights[:, evidence.body]
    lowest, tall = body.min(axis=1), np.ptp(body, axis=1)
    stands, total = np.zeros(len(long)), 0.0
    for k, pair in enumerate(long):
        for path in pair.both:
            end = heights[:, path[-1]]
            drop = (heights[:, list(path)].max(axis=1) - end) / max(evidence.length(path), evidence.size * 1e-6)
            low = (end - lowest <= FLOOR_BAND * tall) & (drop >= LEG_DROP)
            stands[k] += low.mean() / 2
            total += float((low * drop).mean()) * evidence.length(path) / evidence.size
    return stands, total


def _is_leg(evidence: Evidence, pair: Pair, stands: float) -> bool:
    """Select the pairs that stand; names decide close cases. A limb of fewer than three joints cannot bend."""
    named_as = limbs.named(evidence, pair)
    often = STANDS_OFTEN * {"leg": 0.25, "": 1.0, "arm": 1.5}[named_as]
    return min(map(len, pair.both)) >= 3 and stands >= often


def _without_arms(evidence: Evidence, long: list[Pair], legs: list[int], up: Any) -> list[int]:
    """Separate arms from legs if names mention both: low arms with fingers, or clear of the ground at rest, as when
    crawling or crouching.
    """
    called = {k: limbs.named(evidence, long[k]) for k in legs}
    if "leg" not in called.values():
        return legs
    at_rest, _ = _support(evidence, long, evidence.rest[np.newaxis], up)
    return [k for k in legs if called[k] != "arm" or (at_rest[k] > 0 and not _has_fingers(evidence, long[k]))]


def _without_low_ones(evidence: Evidence, long: list[Pair], legs: list[int]) -> list[int]:
    """Drop short limbs: legs are about equally long, and control handles beside them are not."""
    lengths = {k: evidence.length(long[k].one) for k in legs}
    return [k for k in legs if lengths[k] >= SHORTEST_LEG * max(lengths.values())]


def _has_fingers(evidence: Evidence, pair: Pair) -> bool:
    return any(len(evidence.children[joint]) > 2 for joint in pair.one[2:])
