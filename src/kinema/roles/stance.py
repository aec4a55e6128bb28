"""`Stance`: a moment in which the body stands on its legs, and which way it faces then.

Everything that needs a pose is measured there: rest, unless rest lies down or hangs in the air in another way than the
clips have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.pose import Pose
from kinema.roles import words
from kinema.roles.constants import FLOOR_BAND, FOOT_TILT, FULL_TRAVEL, FULL_VOTE, SIDES_VOTE, SNAP
from kinema.roles.evidence import Evidence, Moving
from kinema.roles.limbs import Pair
from kinema.roles.posture import Posture
from kinema.roles.symmetry import Symmetry


@dataclass(frozen=True, eq=False)
class Stance:
    """world: (J, 4, 4). pose: the pose that is, None for rest. up, forward: (3,), unit, at right angles. sure: how
    clearly it faces that way, 0 to 1.

    first_is_left: whether the first side of the symmetry is the left one. says_otherwise: whether names call it right.
    """

    world: Any
    pose: Pose | None
    up: Any
    forward: Any
    first_is_left: bool
    sure: float
    says_otherwise: bool

    @property
    def places(self) -> Any:
        """(J, 3)."""
        return self.world[:, :3, 3]

    def height(self, joint: int) -> float:
        return float(self.places[joint] @ self.up)

    def ahead(self, way: Any) -> float:
        return float(way @ self.forward)

    def level(self, way: Any) -> float:
        """Length of a way over the ground."""
        return float(np.linalg.norm(way - self.up * (way @ self.up)))


def find(
    evidence: Evidence,
    symmetry: Symmetry,
    pairs: list[Pair],
    posture: Posture,
    hips: int,
    *,
    forward: Any = None,
    sides: Mapping[int, str] | None = None,
) -> Stance:
    """forward: where it is known. sides: joints that are known to be "left" or "right"."""
    world, pose = _standing(evidence, posture)
    places, up = world[:, :3, 3], posture.up
    across = _flat(symmetry.across if pose is None else _across(places, pairs), up)
    ahead = arrays.unit(np.cross(across, up))
    if forward is not None:
        known = _flat(np.asarray(forward, float), up)
        return Stance(world, pose, up, known, bool(np.cross(up, known) @ across > 0), 1.0, False)
    votes = list(_votes(evidence, places, posture, hips, ahead))
    told = _sides(pairs, sides or {})
    said = told or _sides(pairs, dict(enumerate(map(words.side, evidence.skeleton.names))))
    votes = [float(np.sign(told))] if told else [*votes, SIDES_VOTE * float(np.sign(said))]
    total, weight = sum(votes), sum(map(abs, votes))
    facing = ahead if total >= 0 else -ahead
    first_is_left = total >= 0  # The left is up x forward, and ahead was made so that this is the first side.
    wrong = said != 0 and (said > 0) != first_is_left
    return Stance(world, pose, up, facing, first_is_left, abs(total) / weight if weight else 0.0, wrong)


# --- the moment ------------------------------------------------------------------------------------------------


def _standing(evidence: Evidence, posture: Posture) -> tuple[Any, Pose | None]:
    """Rest if it stands there; else the moment of the clips in which its feet are lowest and most level, if any."""
    rest = evidence.skeleton.rest_world.astype(np.float64)
    if not posture.legs or not evidence.clips or _stands(evidence, posture, rest[np.newaxis])[0]:
        return rest, None
    for moving in evidence.clips:
        stands = _stands(evidence, posture, moving.world)
        if stands.any():
            ends = moving.places[:, [end for pair in posture.legs for end in pair.ends]]
            uneven = np.ptp(ends @ posture.up, axis=1) + np.where(stands, 0.0, np.inf)
            at = int(np.argmin(uneven))
            return moving.world[at], moving.clip.sample(moving.times[at])
    return rest, None


def _stands(evidence: Evidence, posture: Posture, world: Any) -> Any:
    """(F,): whether all legs reach the lowest level, with feet as level as they mostly are."""
    heights = world[..., :3, 3] @ posture.up
    body = heights[:, evidence.body]
    band = FLOOR_BAND * np.ptp(body, axis=1)
    stands = np.ones(len(world), bool)
    for path in (path for pair in posture.legs for path in pair.both):
        stands &= heights[:, path[-1]] - body.min(axis=1) <= band
        stands &= heights[:, path[0]] > heights[:, path[-1]]
        if len(posture.legs) == 1 and len(path) > 3:
            usual = np.median(np.concatenate([_slopes(moving.world, path, posture.up) for moving in evidence.clips]))
            stands &= np.abs(_slopes(world, path, posture.up) - usual) <= FOOT_TILT
    return stands


def _slopes(world: Any, path: tuple[int, ...], up: Any) -> Any:
    """(F,): how steeply a foot's last bone points down, radians, in the moments in which its end is low."""
    way = world[:, path[-1], :3, 3] - world[:, path[-2], :3, 3]
    return np.arcsin(np.clip(-(arrays.unit(way) @ up), -1.0, 1.0))


def _across(places: Any, pairs: list[Pair]) -> Any:
    """From one side of the body to the other."""
    return np.sum([places[pair.one[0]] - places[pair.other[0]] for pair in pairs], axis=0)


# --- which way it faces ----------------------------------------------------------------------------------------


def _flat(way: Any, up: Any) -> Any:
    """A direction at right angles to up, of length 1."""
    flat = way - up * (way @ up)
    if np.linalg.norm(flat) < 1 - SNAP:
        flat = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    return arrays.unit(flat)


def _sides(pairs: list[Pair], sides: Mapping[int, str]) -> int:
    """Joints of the first side that are left, less those that are right; on the other side the other way round."""
    said = 0
    for pair in pairs:
        for sign, path in zip((1, -1), pair.both, strict=True):
            said += sign * sum({"left": 1, "right": -1}.get(sides.get(joint, ""), 0) for joint in path)
    return said


def _votes(evidence: Evidence, rest: Any, posture: Posture, hips: int, ahead: Any) -> Iterator[float]:
    """What speaks for facing ahead (above 0) or the other way, each by its weight."""

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
        goes = {word.removesuffix("ing") for word in words.split(clip.clip.name)} & {"walk", "run", "trot"}
        yield (1.5 if goes else 0.5) * _travels(clip, posture, hips, evidence.size)


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
    low = np.take_along_axis(ends @ up, np.argmin(ends @ up, axis=1)[:, np.newaxis], axis=1)
    standing = ((ends @ up) <= low + 0.02 * np.ptp(places @ up, axis=1)[:, np.newaxis])[:-1]
    moved = np.diff(places[:, hips], axis=0)[:, np.newaxis] - np.diff(ends, axis=0)
    along = ((moved * ahead[:, np.newaxis]).sum(axis=-1) * standing).sum(axis=1)
    return float(along.sum() / max(np.abs(along).sum(), FULL_TRAVEL * size))
