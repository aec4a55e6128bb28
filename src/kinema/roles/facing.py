"""Find which way a body faces: independent witnesses vote, and disagreeing ones become doubts.

The axis from side to side is known already; only the sign is open. Feet, knees, a walk, a face, a tail and names each
vote for one of the two directions, with a weight by their reliability.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.roles import name_tokens
from kinema.roles.evidence import Evidence, Moving
from kinema.roles.limbs import Pair
from kinema.roles.posture import Posture

WEIGHTS = {
    "feet": 2.0,
    "skin": 2.0,
    "walk": 2.0,
    "head": 2.0,
    "sides": 1.5,
    "face": 1.5,
    "chest": 1.0,
    "knees": 1.0,
    "tail": 1.0,
    "clips": 0.5,
}
"""The weight of each witness. Feet and their skin point ahead in nearly every file, walks move ahead, and an animal's
head is before its hips. Files that were mirrored or exported the wrong way round have names of the wrong side, so
names count less. Clips that are not called walks may fall on their backs."""

SPOKEN = {
    "feet": "the feet point",
    "skin": "the skin of the feet reaches",
    "walk": "it walks",
    "head": "the head lies",
    "sides": "names of left and right point",
    "face": "eyes and jaw point",
    "chest": "the front legs lie",
    "knees": "the knees bend",
    "tail": "the tail points",
    "clips": "it moves",
}
"""The description of each disagreeing witness, before "the other way"."""

FULL_VOTE = 0.1
"""A foot that reaches ahead by this share of its leg votes in full."""

FULL_TRAVEL = 0.3
"""A clip that travels this share of the body's size votes in full."""

STANDING_BAND = 0.02
"""Feet within this share of the body's size above the lowest one stand with it."""

CLEAR_VOTE = 0.3
"""A witness that votes against the rest by at least this much, of 1, is named as a doubt."""

KNEE_BENT = 0.05
"""Leg lengths that a knee is off the line from hip to ankle to be clearly bent."""

FOOT_FOLLOWS = 0.5
"""Share of a vertex's weights that follow a foot for it to be the foot's skin."""

APART = 0.02
"""Joints of the two sides that are this share of the body's size apart show which way is across."""

_WALKS = frozenset(("walk", "run", "trot", "jog", "sprint", "gallop"))
_NOT_AHEAD = frozenset(("back", "backward", "backwards", "strafe", "left", "right", "side", "turn", "dodge"))


class Witness(NamedTuple):
    """One sign of which way a body faces."""

    name: str
    """A key of `WEIGHTS`."""
    vote: float
    """From -1, the opposite direction, to 1, the proposed direction."""


class Facing(NamedTuple):
    """The result of the vote."""

    ahead: bool
    """Whether the body faces the proposed direction, not the opposite one."""
    sure: float
    """How much the votes for it outweigh the others, 0 to 1."""
    against: tuple[str, ...]
    """Names of witnesses that clearly vote for the opposite."""


def find(
    evidence: Evidence,
    pairs: list[Pair],
    posture: Posture,
    hips: int,
    world: Any,
    ahead: Any,
    sides: Mapping[int, str],
) -> Facing:
    """Decide whether the body faces ahead, (3,), or the opposite way.

    world: (J, 4, 4), as it stands. sides: joints known to be "left" or "right"; facing ahead, the first side of each
    pair is the left one.
    """
    if known := _sides(pairs, sides):
        return Facing(known > 0, 1.0, ())
    witnesses = [each for each in _witnesses(evidence, pairs, posture, hips, world, ahead) if each.vote]
    votes = [WEIGHTS[each.name] * each.vote for each in witnesses]
    total, weight = sum(votes), sum(map(abs, votes))
    way = 1.0 if total >= 0 else -1.0
    against = tuple(each.name for each in witnesses if each.vote * way < -CLEAR_VOTE)
    return Facing(total >= 0, abs(total) / weight if weight else 0.0, against)


def across_of(pairs: Sequence[Pair], positions: Any, size: float) -> Any:
    """(..., 3): from the second side to the first, by the joints nearest the middle that are clearly apart: hips and
    shoulders. positions: (..., J, 3). size: of the body.

    In many files the first joint of each leg lies on the hips, where both sides coincide.
    """
    total = np.zeros((*positions.shape[:-2], 3))
    for pair in pairs:
        for one, other in zip(*pair.both, strict=False):
            way = positions[..., one, :] - positions[..., other, :]
            if np.median(np.linalg.norm(way, axis=-1)) > APART * size:
                total += way
                break
    return total


def _witnesses(
    evidence: Evidence, pairs: list[Pair], posture: Posture, hips: int, world: Any, ahead: Any
) -> Iterator[Witness]:
    positions = world[:, :3, 3]
    names = dict(enumerate(map(name_tokens.side, evidence.skeleton.names)))
    yield Witness("sides", float(np.sign(_sides(pairs, names))))
    yield from _legs(evidence, posture, world, ahead)
    yield from _animal(evidence, posture, hips, positions, ahead)
    faces = [j for j in np.flatnonzero(evidence.body).tolist() if evidence.kind(j) in ("jaw", "eye")]
    shares = [
        _share((positions[j] - positions[evidence.parent(j)]) @ ahead, 0.3 * evidence.size)
        for j in faces
        if evidence.parent(j) >= 0
    ]
    yield Witness("face", _mean(shares))
    yield from _clips(evidence, posture, hips)


def _sides(pairs: list[Pair], sides: Mapping[int, str]) -> int:
    """Joints of the first side that are left, less those that are right; on the other side the other way round."""
    votes = 0
    for pair in pairs:
        for sign, path in zip((1, -1), pair.both, strict=True):
            votes += sign * sum({"left": 1, "right": -1}.get(sides.get(joint, ""), 0) for joint in path)
    return votes


def _legs(evidence: Evidence, posture: Posture, world: Any, ahead: Any) -> Iterator[Witness]:
    """Feet, their skin, and knees at rest where no clip bends them."""
    positions = world[:, :3, 3]
    paths = [path for pair in posture.legs for path in pair.both]
    if len(posture.legs) > 2:
        return
    toes = [
        _share((positions[path[-1]] - positions[path[-2]]) @ ahead, evidence.length(path))
        for path in paths
        if len(path) > 3
    ]
    yield Witness("feet", _mean(toes))
    if len(posture.legs) == 1:
        yield Witness("skin", _mean([_skin_ahead(evidence, path, world, ahead) for path in paths if len(path) >= 3]))
        yield Witness("knees", _knees(evidence, posture, positions, ahead))


def _skin_ahead(evidence: Evidence, path: tuple[int, ...], world: Any, ahead: Any) -> float:
    """-1 to 1: whether the skin of a foot reaches further ahead of its ankle than behind it, as it stands."""
    skeleton, ankle = evidence.skeleton, path[2]
    foot = np.zeros(len(skeleton), bool)
    foot[skeleton.below([ankle])] = True
    palette = (world @ skeleton.inverse_bind)[:, :3]
    reach: list[Any] = []
    for skin in evidence.skins:
        mine = (skin.weights * foot[skin.joints]).sum(axis=1) > FOOT_FOLLOWS
        if mine.any():
            reach.append((skin.deform(palette)[mine].astype(np.float64) - world[ankle, :3, 3]) @ ahead)
    if not reach:
        return 0.0
    along = np.concatenate(reach)
    return _share(float(along.max() + along.min()), evidence.length(path))


def _knees(evidence: Evidence, posture: Posture, positions: Any, ahead: Any) -> float:
    """-1 to 1: which way knees are off the line from hip to ankle, in clips if they are clearly bent there, else as the
    body stands.
    """
    pair = posture.legs[0]
    for moving in evidence.clips:
        shown = _bends(evidence, pair, moving.positions)
        forward = arrays.unit(np.cross(across_of([pair], moving.positions, evidence.size), posture.up))
        along = (shown * forward).sum(axis=-1)[np.linalg.norm(shown, axis=-1) > KNEE_BENT]
        if along.size:
            return float(along.sum() / np.abs(along).sum())
    return float(np.clip(_bends(evidence, pair, positions).mean(axis=0) @ ahead / KNEE_BENT, -1.0, 1.0))


def _bends(evidence: Evidence, pair: Pair, positions: Any) -> Any:
    """(2, ..., 3): the way from the line between hip and ankle to each knee, leg lengths; positions (..., J, 3)."""
    found = []
    for path in pair.both:
        bones = [evidence.length(path[k : k + 2]) for k in range(len(path) - 1)]
        k = max(range(len(path) - 2), key=lambda k: min(bones[k], bones[k + 1]))
        hip, knee, ankle = (positions[..., path[k + n], :] for n in range(3))
        line = arrays.unit(ankle - hip)
        off = (knee - hip) - line * ((knee - hip) * line).sum(axis=-1, keepdims=True)
        found.append(off / max(evidence.length(path), np.finfo(float).tiny))
    return np.stack(found)


def _animal(evidence: Evidence, posture: Posture, hips: int, positions: Any, ahead: Any) -> Iterator[Witness]:
    """Head, chest and tail of what has more than two legs; a tail of anything."""
    joints = np.flatnonzero(evidence.body).tolist()

    def of(kind: str) -> float:
        found = [positions[joint] - positions[hips] for joint in joints if evidence.kind(joint) == kind]
        return _mean([_share(way @ ahead, evidence.size) for way in found])

    yield Witness("tail", -of("tail"))
    if len(posture.legs) > 1:
        yield Witness("head", of("head"))
        fronts = [positions[pair.attach] - positions[hips] for pair in posture.legs]
        yield Witness("chest", _share(max((way @ ahead for way in fronts), key=abs), evidence.size))


def _clips(evidence: Evidence, posture: Posture, hips: int) -> Iterator[Witness]:
    """Walks, and what else travels."""
    walks: list[float] = []
    others: list[float] = []
    for moving in evidence.clips:
        tokens = set(name_tokens.split(moving.clip.name))
        tokens |= {token.removesuffix("ing") for token in tokens}
        if not tokens & _NOT_AHEAD:
            (walks if tokens & _WALKS else others).append(_travels(moving, posture, hips, evidence.size))
    yield Witness("walk", _mean(walks))
    yield Witness("clips", _mean(others))


def _travels(moving: Moving, posture: Posture, hips: int, size: float) -> float:
    """-1 to 1: whether a clip goes ahead, seen from how the body is rotated at each moment; 0 where it stays.

    In a clip that walks on the spot, it is the feet on the ground that go back. size: of the body.
    """
    if not posture.legs or len(moving.world) < 2:
        return 0.0
    positions, up = moving.positions, posture.up
    ahead = arrays.unit(np.cross(across_of(posture.legs[:1], positions, size), up))[:-1]
    ends = positions[:, [end for pair in posture.legs for end in pair.ends]]
    heights = ends @ up
    standing = (heights - heights.min(axis=1, keepdims=True) <= STANDING_BAND * size)[:-1]
    moved = np.diff(positions[:, hips], axis=0)[:, np.newaxis] - np.diff(ends, axis=0)
    along = ((moved * ahead[:, np.newaxis]).sum(axis=-1) * standing).sum(axis=1)
    return float(along.sum() / max(np.abs(along).sum(), FULL_TRAVEL * size))


def _share(way: float, of: float) -> float:
    """-1 to 1: a length ahead, in full from a tenth of another length on."""
    return float(np.clip(way / max(FULL_VOTE * of, np.finfo(float).tiny), -1.0, 1.0))


def _mean(votes: Sequence[float]) -> float:
    return float(np.mean(votes)) if votes else 0.0
