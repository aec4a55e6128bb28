"""`Stance`: a moment in which the body stands on its legs, and which way it faces then.

Everything that needs a pose is measured there: rest, unless rest lies down or hangs in the air in another way than the
clips have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.roles import words
from kinema.roles.constants import FULL_VOTE, SNAP
from kinema.roles.evidence import Evidence, Moving
from kinema.roles.limbs import Pair
from kinema.roles.posture import Posture
from kinema.roles.symmetry import Symmetry


@dataclass(frozen=True, eq=False)
class Stance:
    """places: (J, 3). up, forward: (3,), unit, at right angles. sure: how clearly it faces that way, 0 to 1.

    first_is_left: whether the first side of the symmetry is the left one. says_otherwise: whether names call it right.
    """

    places: Any
    up: Any
    forward: Any
    first_is_left: bool
    sure: float
    says_otherwise: bool

    def height(self, joint: int) -> float:
        return float(self.places[joint] @ self.up)

    def ahead(self, way: Any) -> float:
        return float(way @ self.forward)

    def level(self, way: Any) -> float:
        """Length of a way over the ground."""
        return float(np.linalg.norm(way - self.up * (way @ self.up)))


def find(
    evidence: Evidence, symmetry: Symmetry, pairs: list[Pair], posture: Posture, hips: int, forward: Any = None
) -> Stance:
    """forward: where it is known."""
    places, up = evidence.rest, posture.up
    across = _flat(symmetry.across, up)
    ahead = arrays.unit(np.cross(across, up))
    if forward is not None:
        known = _flat(np.asarray(forward, float), up)
        return Stance(places, up, known, bool(np.cross(up, known) @ across > 0), 1.0, False)
    votes = list(_votes(evidence, pairs, posture, hips, ahead))
    said = _sides(evidence, pairs)
    total = sum(votes) + 3.0 * np.sign(said)
    weight = sum(map(abs, votes)) + 3.0 * abs(np.sign(said))
    facing = ahead if total >= 0 else -ahead
    # The left is up x forward, so the first side is the left where up x forward points to it.
    first_is_left = bool(np.cross(up, facing) @ across > 0)
    wrong = said != 0 and (said > 0) != first_is_left
    return Stance(places, up, facing, first_is_left, abs(total) / weight if weight else 0.0, wrong)


def _flat(way: Any, up: Any) -> Any:
    """A direction at right angles to up, of length 1."""
    flat = way - up * (way @ up)
    if np.linalg.norm(flat) < 1 - SNAP:
        flat = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    return arrays.unit(flat)


def _sides(evidence: Evidence, pairs: list[Pair]) -> int:
    """Names on the first side that say left, less those that say right."""
    said = 0
    for pair in pairs:
        for joint in pair.one:
            said += {"left": 1, "right": -1, "": 0}[words.side(evidence.skeleton.names[joint])]
        for joint in pair.other:
            said -= {"left": 1, "right": -1, "": 0}[words.side(evidence.skeleton.names[joint])]
    return said


def _votes(evidence: Evidence, pairs: list[Pair], posture: Posture, hips: int, ahead: Any) -> Iterator[float]:
    """What speaks for facing ahead (above 0) or the other way, each by its weight."""
    rest = evidence.rest

    def share(way: Any, of: float) -> float:
        return float(np.clip(way @ ahead / max(FULL_VOTE * of, np.finfo(float).tiny), -1.0, 1.0))

    for pair in posture.legs:
        for path in pair.both:
            length = evidence.length(path)
            if len(posture.legs) <= 2 and len(path) > 3:
                yield 1.5 * share(rest[path[-1]] - rest[path[-2]], length)  # Toes point ahead.
            if len(posture.legs) == 1:
                bend = rest[path[1]] - (rest[path[0]] + rest[path[min(2, len(path) - 1)]]) / 2
                yield 0.5 * share(bend, length)  # Knees too.
    if len(posture.legs) > 1:
        for pair in posture.legs:  # The skeleton starts at the hips.
            yield share(rest[pair.attach] - rest[hips], evidence.size)
    for joint in np.flatnonzero(evidence.body).tolist():
        kind = evidence.kind(joint)
        if kind in ("jaw", "eye") and (up := evidence.parent(joint)) >= 0:
            yield share(rest[joint] - rest[up], 0.3 * evidence.size)
        if kind == "tail":
            yield -0.5 * share(rest[joint] - rest[hips], evidence.size)
        if kind == "head" and len(posture.legs) > 1:
            yield 2.0 * share(rest[joint] - rest[hips], evidence.size)
    for clip in evidence.clips:
        yield 1.5 * _travels(clip, posture, hips)


def _travels(clip: Moving, posture: Posture, hips: int) -> float:
    """-1 to 1: whether a clip goes ahead, seen from how the body is turned at each moment; 0 where it stays.

    In a clip that walks on the spot, it is the feet on the ground that go back.
    """
    if not posture.legs or "back" in clip.name.lower() or len(clip.world) < 2:
        return 0.0
    places, up = clip.places, posture.up
    pair = posture.legs[0]
    across = places[:, pair.one[0]] - places[:, pair.other[0]]
    ahead = arrays.unit(np.cross(across, up))[:-1]
    ends = places[:, [end for pair in posture.legs for end in pair.ends]]
    low = np.take_along_axis(ends @ up, np.argmin(ends @ up, axis=1)[:, np.newaxis], axis=1)
    standing = ((ends @ up) <= low + 0.02 * np.ptp(places @ up, axis=1)[:, np.newaxis])[:-1]
    moved = np.diff(places[:, hips], axis=0)[:, np.newaxis] - np.diff(ends, axis=0)
    along = ((moved * ahead[:, np.newaxis]).sum(axis=-1) * standing).sum(axis=1)
    size = np.abs(along).sum()
    return float(along.sum() / size) if size > 0 else 0.0
