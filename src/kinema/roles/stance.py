"""`Stance`: a moment in which the body stands on its legs, and which way it faces then.

Everything that needs a pose is measured there: rest, unless rest lies down or hangs in the air in another way than the
clips have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.pose import Pose
from kinema.roles import facing
from kinema.roles.constants import FLOOR_BAND, FOOT_TILT, SNAP
from kinema.roles.evidence import Evidence
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
    if forward is not None:
        known = _flat(np.asarray(forward, float), up)
        return Stance(world, pose, up, known, bool(np.cross(up, known) @ across > 0), 1.0, False)
    ahead = arrays.unit(np.cross(across, up))  # Where up x ahead, the left, is the symmetry's first side.
    found = facing.find(evidence, pairs, posture, hips, places, ahead, sides or {})
    return Stance(world, pose, up, ahead if found.ahead else -ahead, found.ahead, found.sure, found.says_otherwise)


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


def _flat(way: Any, up: Any) -> Any:
    """A direction at right angles to up, of length 1."""
    flat = way - up * (way @ up)
    if np.linalg.norm(flat) < 1 - SNAP:
        flat = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    return arrays.unit(flat)
