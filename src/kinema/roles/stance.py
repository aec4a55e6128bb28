"""`Stance`: a pose in which the body stands on its legs, and the direction it faces.

Measurements that need a pose use it: the rest pose, unless that lies down or hangs in the air.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.roles import facing
from kinema.roles.evidence import Evidence, Moving
from kinema.roles.limbs import Pair
from kinema.roles.posture import FLOOR_BAND, SNAP, Posture
from kinema.roles.symmetry import Symmetry

FOOT_TILT = math.radians(30)
"""Radians: a rest pose whose feet point down by this much more or less than they do while they stand is not one to
measure soles in."""

STILL = 0.2
"""Leg lengths a second up or down below which a joint of a foot is still. Along the ground it may move: in a clip that
walks in place it does."""

LOW = 0.1
"""Leg lengths above the lowest of a clip within which the end of a foot may stand."""

TWISTED = 0.5
"""Body sizes that one foot may be above the other instead of a radian between the lines of hips, shoulders and feet."""

CROOKED = math.radians(4)
"""Radians between the lines of hips, shoulders and feet from which a body is twisted, as in an idle pose."""

LEAST_FOOT = 0.1
"""Share of the way from a knee to the end of its leg that goes ahead, at least, for this end to be a toe."""

ALONG_AXIS = math.radians(10)
"""Radians from an axis of the file within which a twisted body is taken to face along it."""

LEVEL_FOOT = (math.radians(-10), math.radians(40))
"""Radians that a foot points down from its ankle to its end if it stands flat: least and most of what rigs have. A rest
pose in between is taken as it is; clips may show feet on tiptoe alone."""


@dataclass(frozen=True, eq=False)
class Stance:
    """A moment in which a body stands.

    world: (J, 4, 4). pose: the pose it is, None for rest. up, forward: (3,), unit, at right angles. sure: how clearly
    it faces that way, 0 to 1. first_is_left: whether the first side of the symmetry is the left one. against: the
    witnesses of `facing` that say it faces the other way.
    """

    world: Any
    pose: Pose | None
    up: Any
    forward: Any
    first_is_left: bool
    sure: float
    against: tuple[str, ...]

    @property
    def positions(self) -> Any:
        """(J, 3)."""
        return self.world[:, :3, 3]

    def height(self, joint: int) -> float:
        return float(self.positions[joint] @ self.up)

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
    positions, up = world[:, :3, 3], posture.up
    across = symmetry.across if pose is None else facing.across_of(pairs, positions, evidence.size)
    lines = _lines(evidence, posture, positions)
    known = [*lines, _flat(across, up)] if pose is None else lines
    crooked = bool(lines) and len(posture.legs) == 1 and _twist(known) > CROOKED
    if lines and (pose is not None or crooked):
        across = sum(lines)  # Fingers and arms would outweigh hips and feet in a mirror plane.
    across = _flat(across, up)
    if crooked:
        across = _snapped(across)
    if forward is not None:
        known = _flat(np.asarray(forward, float), up)
        return Stance(world, pose, up, known, bool(np.cross(up, known) @ across > 0), 1.0, ())
    ahead = arrays.unit(np.cross(across, up))  # Where up x ahead, the left, is the symmetry's first side.
    found = facing.find(evidence, pairs, posture, hips, world, ahead, sides or {})
    return Stance(world, pose, up, ahead if found.ahead else -ahead, found.ahead, found.sure, found.against)


# --- the moment ------------------------------------------------------------------------------------------------


def _standing(evidence: Evidence, posture: Posture) -> tuple[Any, Pose | None]:
    """Return the rest pose if it stands; otherwise the sample of the clips with the most level feet and the least
    twisted trunk, if possible with all feet flat and still.
    """
    rest = evidence.skeleton.rest_world.astype(np.float64)
    if not posture.legs or not evidence.clips or _stands(evidence, posture, rest[np.newaxis])[0]:
        return rest, None
    best: tuple[float, Any, Pose] | None = None
    for moving in evidence.clips:
        stands = _stands(evidence, posture, moving.world)
        if not stands.any():
            continue
        ends = moving.positions[:, [end for pair in posture.legs for end in pair.ends]]
        uneven = np.ptp(ends @ posture.up, axis=1) / evidence.size + np.where(stands, 0.0, np.inf)
        uneven += np.where(all_still(evidence, posture, moving), 0.0, 1.0)
        uneven += TWISTED * _twist(_lines(evidence, posture, moving.positions))
        at = int(np.argmin(uneven))
        if best is None or uneven[at] < best[0]:
            best = float(uneven[at]), moving.world[at], moving.clip.sample(moving.times[at])
    return (rest, None) if best is None else (best[1], best[2])


def _lines(evidence: Evidence, posture: Posture, positions: Any) -> list[Any]:
    """Return the level directions from side to side that hips, shoulders and feet show, (..., 3) each and unit."""
    across = [facing.across_of([pair], positions, evidence.size) for pair in (*posture.legs, *posture.others)]
    if len(posture.legs) == 1 and min(map(len, posture.legs[0].both)) > 3:
        one, other = (positions[..., path[-1], :] - positions[..., path[-3], :] for path in posture.legs[0].both)
        ahead = np.cross(posture.up, arrays.unit(one) + arrays.unit(other)) / 2
        if np.median(np.linalg.norm(ahead, axis=-1)) > LEAST_FOOT:
            across.append(ahead * np.sign((ahead * across[0]).sum(axis=-1, keepdims=True)))
    level = [each - posture.up * (each @ posture.up)[..., np.newaxis] for each in across]
    return [arrays.unit(each) for each in level if np.linalg.norm(each, axis=-1).min() > 0]


def _twist(lines: list[Any]) -> Any:
    """(F,): the largest angle between a line from side to side and the first, radians."""
    angles = [np.arccos(np.clip((each * lines[0]).sum(axis=-1), -1.0, 1.0)) for each in lines]
    return np.max(angles, axis=0) if angles else 0.0


def all_still(evidence: Evidence, posture: Posture, moving: Moving) -> Any:
    """(F,): whether every foot of a clip is low and moves neither up nor down."""
    paths = [path for pair in posture.legs for path in pair.both]
    return np.all([_still(evidence, path, moving, posture.up) for path in paths], axis=0)


def _still(evidence: Evidence, path: tuple[int, ...], moving: Moving, up: Any) -> Any:
    """(F,): whether a foot is low and moves neither up nor down, at its end and at the joint before."""
    leg = max(evidence.length(path), np.finfo(float).tiny)
    heights = moving.positions[:, path[-2:]] @ up
    low = heights[:, -1] - heights[:, -1].min() < LOW * leg
    return low & (np.abs(moving.velocity(heights)) < STILL * leg).all(axis=1)


def _stands(evidence: Evidence, posture: Posture, world: Any) -> Any:
    """(F,): whether all legs reach the lowest level, with feet as level as they are while they stand."""
    heights = world[..., :3, 3] @ posture.up
    body = heights[:, evidence.body]
    band = FLOOR_BAND * np.ptp(body, axis=1)
    stands = np.ones(len(world), bool)
    for path in (path for pair in posture.legs for path in pair.both):
        stands &= heights[:, path[-1]] - body.min(axis=1) <= band
        stands &= heights[:, path[0]] > heights[:, path[-1]]
        if len(posture.legs) == 1 and len(path) > 3:
            slope = _slopes(evidence, world, path, posture.up)
            usual = _usual_slope(evidence, path, posture.up)
            level = (slope > LEVEL_FOOT[0]) & (slope < LEVEL_FOOT[1])
            stands &= level if usual is None else level | (np.abs(slope - usual) <= FOOT_TILT)
    return stands


def _usual_slope(evidence: Evidence, path: tuple[int, ...], up: Any) -> float | None:
    """How steeply a foot's last bone points down while the foot stands, radians; None if no clip shows it stand."""
    shown = [_slopes(evidence, each.world, path, up)[_still(evidence, path, each, up)] for each in evidence.clips]
    slopes = np.concatenate(shown) if shown else np.zeros(0)
    return float(np.median(slopes)) if slopes.size else None


def _slopes(evidence: Evidence, world: Any, path: tuple[int, ...], up: Any) -> Any:
    """(F,): how steeply a foot points down from its ankle to its end, radians."""
    ankle = path[-3] if evidence.end[path[-1]] and len(path) > 4 else path[-2]
    way = world[:, path[-1], :3, 3] - world[:, ankle, :3, 3]
    return np.arcsin(np.clip(-(arrays.unit(way) @ up), -1.0, 1.0))


def _snapped(across: Any) -> Any:
    """An axis of the file if a direction nearly is one: characters are made along axes, however they stand."""
    axis = int(np.argmax(np.abs(across)))
    near = abs(across[axis]) > math.cos(ALONG_AXIS)
    return np.eye(3)[axis] * np.sign(across[axis]) if near else across


def _flat(way: Any, up: Any) -> Any:
    """A direction at right angles to up, of length 1."""
    flat = arrays.unit(way) - up * (arrays.unit(way) @ up)
    if np.linalg.norm(flat) < 1 - SNAP:
        flat = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    return arrays.unit(flat)
