"""Find left and right: the mirror plane of a body at rest, and the partner of each joint across it.

The plane is searched among those between limbs of equal lengths; then joints are paired from the root down, since a
partner's parent is the parent's partner. Poses may be asymmetric: similarity counts, not exact reflection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.skeleton import mirror_names
from kinema.roles.evidence import SAME_PLACE, Evidence

ALIKE = 0.7
"""Two limbs are a pair if the shorter is at least this long, as a share of the other."""

MIRROR_SLACK = 0.06
"""How far from its mirror image a joint may be, in shares of the body's size, to be half as convincing."""

PAIR_COST = 0.6
"""Largest difference between partners, as a share of their own size."""

ALONG_X = 0.04
"""Bonus of a mirror plane perpendicular to x, as in nearly all files: it only decides ties."""

ACROSS_X = 0.985
"""A mirror plane is taken to lie across x if it is within 10 degrees of it: this cosine. Crooked poses tilt it."""

MOST_CHILDREN = 24
"""Children of one joint that are compared with each other, the longest: a spider's legs and then some."""

MOST_MIRRORED = 256
"""Joints whose mirror images are looked for."""

MOST_PLANES = 48
"""Mirror planes that are tried, those of the longest limbs first."""


@dataclass(frozen=True, eq=False)
class Symmetry:
    """across: (3,), unit, from one side to the other. partner: (J,), the joint on the other side; itself for a joint in
    the middle; -1 for one without. score: how well the body is its own mirror image, 0 to 1.
    """

    across: Any
    partner: Any
    score: float

    def paired(self, joint: int) -> bool:
        return self.partner[joint] >= 0 and self.partner[joint] != joint


def find(evidence: Evidence) -> Symmetry:
    names = evidence.skeleton.names
    index = {name: i for i, name in enumerate(names)}
    named = {index[a]: index[b] for a, b in mirror_names(names).items()}
    named |= {b: a for a, b in named.items()}
    across, score = _plane(evidence, named)
    return Symmetry(across, _partners(evidence, across, named), score)


# --- the plane -------------------------------------------------------------------------------------------------


def _plane(evidence: Evidence, named: dict[int, int]) -> tuple[Any, float]:
    """The direction across the mirror plane, and how well it mirrors the body onto itself."""
    positions = evidence.rest[evidence.body]
    middle = positions.mean(axis=0)
    seen = positions[:: 1 + len(positions) // MOST_MIRRORED]
    best, found = 0.0, np.array((1.0, 0.0, 0.0))
    for a, b in _candidates(evidence, named):
        way = evidence.middle[a] - evidence.middle[b]
        if np.linalg.norm(way) <= SAME_PLACE * evidence.size:
            continue
        across = arrays.unit(way)
        through = (evidence.middle[a] + evidence.middle[b]) / 2
        image = seen - 2 * np.outer((seen - through) @ across, across)
        apart = _nearest_squared(image - middle, positions - middle) / (MIRROR_SLACK * evidence.size) ** 2
        score = float(np.mean(1 / (1 + apart)))
        if score + ALONG_X * abs(across[0]) > best:
            best, found = score + ALONG_X * abs(across[0]), across
    return _snapped(found), min(best, 1.0)


def _nearest_squared(points: Any, others: Any) -> Any:
    """(n,): the squared distance from each point to the nearest of some others; no table of differences is made."""
    squares = (points**2).sum(axis=1)[:, np.newaxis] + (others**2).sum(axis=1) - 2 * points @ others.T
    return np.maximum(squares.min(axis=1), 0.0)


def _snapped(across: Any) -> Any:
    """Along x if it nearly is: a crooked pose tilts what it shows of the plane."""
    return np.array((np.copysign(1.0, across[0]), 0.0, 0.0)) if abs(across[0]) > ACROSS_X else across


def _candidates(evidence: Evidence, named: dict[int, int]) -> list[tuple[int, int]]:
    """Pairs of joints that hang from one parent and are as long as each other, the longest first."""
    found = []
    for parent in np.flatnonzero(evidence.body).tolist():
        for a, b in combinations(_longest(evidence, parent), 2):
            longer = max(evidence.extent(a), evidence.extent(b))
            if named.get(a) == b or min(evidence.extent(a), evidence.extent(b)) >= ALIKE * longer:
                found.append((longer, a, b))
    return [(a, b) for _, a, b in sorted(found, reverse=True)[:MOST_PLANES]]


def _longest(evidence: Evidence, parent: int) -> list[int]:
    """The children of a joint, in their order; of very many the longest."""
    return sorted(sorted(evidence.children[parent], key=evidence.extent, reverse=True)[:MOST_CHILDREN])


# --- partners --------------------------------------------------------------------------------------------------


def _partners(evidence: Evidence, across: Any, named: dict[int, int]) -> Any:
    """(J,): see `Symmetry`."""
    partner = np.full(len(evidence.skeleton), -1)
    waiting = [(int(j), int(j)) for j in np.flatnonzero(evidence.body) if evidence.parent(int(j)) < 0]
    while waiting:
        p, q = waiting.pop()
        partner[p], partner[q] = q, p
        waiting.extend(_matched(evidence, p, q, across, named))
    return partner


def _matched(evidence: Evidence, p: int, q: int, across: Any, named: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Children of two partners (or of one joint in the middle) that go together, the likest first."""
    if p == q and len(evidence.children[p]) == 1:  # Wherever a body stands in its file, it starts in the middle.
        yield evidence.children[p][0], evidence.children[p][0]
        return
    if p == q:
        couples = [*combinations(_longest(evidence, p), 2), *((a, a) for a in evidence.children[p])]
    else:
        couples = [(a, b) for a in _longest(evidence, p) for b in _longest(evidence, q)]
    costs = [(_unlike(evidence, a, b, p, q, across, named), a, b) for a, b in couples]
    taken: set[int] = set()
    for cost, a, b in sorted(costs):
        if cost <= PAIR_COST and not taken & {a, b}:
            taken |= {a, b}
            yield a, b


def _unlike(evidence: Evidence, a: int, b: int, p: int, q: int, across: Any, named: dict[int, int]) -> float:
    """Return the difference between joint b below q and the mirror image of a below p, with their descendants; 0:
    equal."""

    def seen(joint: int, parent: int) -> Any:
        return np.stack((evidence.rest[joint], evidence.middle[joint])) - evidence.rest[parent]

    one, other = seen(a, p), seen(b, q)
    image = one - 2 * np.outer(one @ across, across)
    size = max(evidence.extent(a), evidence.extent(b), SAME_PLACE * evidence.size)
    cost = float(np.linalg.norm(image - other, axis=-1).max()) / size
    if a == b:
        return cost if named.get(a) is None else 2 * cost + PAIR_COST
    least = SAME_PLACE * evidence.size
    cost += abs(float(np.log2(max(evidence.extent(a), least) / max(evidence.extent(b), least))))
    if named.get(a) == b:
        return 0.3 * cost
    return cost if named.get(a) is None and named.get(b) is None else 2 * cost
