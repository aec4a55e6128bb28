"""Which way a body faces: what its feet, knees, face, tail, walk and names say, weighed against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.roles import words
from kinema.roles.constants import FULL_TRAVEL, FULL_VOTE, STANDING_BAND, VOTES
from kinema.roles.evidence import Evidence, Moving
from kinema.roles.limbs import Pair
from kinema.roles.posture import Posture


@dataclass(frozen=True)
class Facing:
    """ahead: whether it faces the way asked about, not the opposite one. sure: how clearly, 0 to 1. says_otherwise:
    whether names of left and right say the opposite.
    """

    ahead: bool
    sure: float
    says_otherwise: bool


def find(
    evidence: Evidence,
    pairs: list[Pair],
    posture: Posture,
    hips: int,
    places: Any,
    ahead: Any,
    sides: Mapping[int, str],
) -> Facing:
    """Whether the body faces ahead, (3,). places: (J, 3), as it stands. sides: joints known to be "left" or "right";
    facing ahead, the first side of each pair is the left one.
    """
    if told := _sides(pairs, sides):
        return Facing(told > 0, 1.0, False)
    said = _sides(pairs, dict(enumerate(map(words.side, evidence.skeleton.names))))
    votes = [VOTES["sides"] * float(np.sign(said)), *_votes(evidence, posture, hips, places, ahead)]
    total, weight = sum(votes), sum(map(abs, votes))
    return Facing(total >= 0, abs(total) / weight if weight else 0.0, said != 0 and (said > 0) != (total >= 0))


def _sides(pairs: list[Pair], sides: Mapping[int, str]) -> int:
    """Joints of the first side that are left, less those that are right; on the other side the other way round."""
    said = 0
    for pair in pairs:
        for sign, path in zip((1, -1), pair.both, strict=True):
            said += sign * sum({"left": 1, "right": -1}.get(sides.get(joint, ""), 0) for joint in path)
    return said


def _votes(evidence: Evidence, posture: Posture, hips: int, places: Any, ahead: Any) -> Iterator[float]:
    """What speaks for facing ahead (above 0) or the other way, each by its weight."""

    def share(way: Any, of: float) -> float:
        return float(np.clip(way @ ahead / max(FULL_VOTE * of, np.finfo(float).tiny), -1.0, 1.0))

    for pair in posture.legs:
        for path in pair.both:
            length = evidence.length(path)
            if len(posture.legs) <= 2 and len(path) > 3:
                yield VOTES["toes"] * share(places[path[-1]] - places[path[-2]], length)
            if len(posture.legs) == 1:
                bend = places[path[1]] - (places[path[0]] + places[path[2]]) / 2
                yield VOTES["knees"] * share(bend, length)
        if len(posture.legs) > 1:  # The skeleton starts at the hips.
            yield VOTES["chest"] * share(places[pair.attach] - places[hips], evidence.size)
    for joint in np.flatnonzero(evidence.body).tolist():
        kind = evidence.kind(joint)
        if kind in ("jaw", "eye") and (up := evidence.parent(joint)) >= 0:
            yield VOTES["face"] * share(places[joint] - places[up], 0.3 * evidence.size)
        if kind == "tail":
            yield -VOTES["tail"] * share(places[joint] - places[hips], evidence.size)
        if kind == "head" and len(posture.legs) > 1:
            yield VOTES["head"] * share(places[joint] - places[hips], evidence.size)
    for clip in evidence.clips:
        goes = {word.removesuffix("ing") for word in words.split(clip.clip.name)} & {"walk", "run", "trot"}
        yield VOTES["walk" if goes else "clip"] * _travels(clip, posture, hips, evidence.size)


def _travels(clip: Moving, posture: Posture, hips: int, size: float) -> float:
    """-1 to 1: whether a clip goes ahead, seen from how the body is turned at each moment; 0 where it stays.

    In a clip that walks on the spot, it is the feet on the ground that go back. size: of the body.
    """
    if not posture.legs or "back" in clip.clip.name.lower() or len(clip.world) < 2:
        return 0.0
    places, up = clip.places, posture.up
    pair = posture.legs[0]
    across = places[:, pair.one[0]] - places[:, pair.other[0]]
    ahead = arrays.unit(np.cross(across, up))[:-1]
    ends = places[:, [end for pair in posture.legs for end in pair.ends]]
    heights = ends @ up
    standing = (heights - heights.min(axis=1, keepdims=True) <= STANDING_BAND * size)[:-1]
    moved = np.diff(places[:, hips], axis=0)[:, np.newaxis] - np.diff(ends, axis=0)
    along = ((moved * ahead[:, np.newaxis]).sum(axis=-1) * standing).sum(axis=1)
    return float(along.sum() / max(np.abs(along).sum(), FULL_TRAVEL * size))
