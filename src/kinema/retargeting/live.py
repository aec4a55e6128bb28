"""`Retargeter`: poses of one body onto another while they arrive, for mirrors, avatars and games.

Nothing of the future is known here. A foot stands while its lowest point is low and slow; what its sole slides then is
taken back, and eased out after it lifts off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, store3, store4
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.motion.contacts import RELEASE_SHARE
from kinema.retargeting.matching import match
from kinema.retargeting.parts import Body
from kinema.retargeting.retarget import check_scale, paired_bodies, rig_of
from kinema.retargeting.transfer import tables, transfer, transfer_frames
from kinema.retargeting.twists import spread_twists
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector

PLANTED_HEIGHT, PLANTED_SPEED = 0.05, 0.35
"""Leg lengths above the floor, and leg lengths a second along it, below which the lowest point of a foot stands."""

EASED_OUT = 0.04
"""Seconds in which half of a foot's shift is gone after it lifts off."""

EASED_UP = 0.02
"""Seconds in which half of the height is made up that a standing foot lacks."""

FRAME = 1.0 / 60.0
"""Seconds from pose to pose, if not given."""

LIVE_FOOT = Record(
    ankle=np.int64,
    source_ball=np.int64,
    target_ball=np.int64,
    source_points=(REAL, (3, 3)),
    target_points=(REAL, (3, 3)),
    spin=(REAL, 4),
    began=np.int64,
    stands=np.int64,
    source_at=(REAL, (3, 3)),
    target_at=(REAL, (3, 3)),
    shift=(REAL, 3),
    source_ankle=np.int64,
)
"""A foot of the target and the one that it follows. points: heel, ball and tip in the spaces of the ankle and of the
joint that carries the other two. spin: from the ankle's rotation without mirrors to the one that effectors take. began:
whether the frame before is known; stands: whether it stood there; at: where its points were, in the characters' spaces;
shift: by how much it was moved, canonical axes, metres."""

LIVE = Record(
    source_axes=(REAL, 4),
    target_axes=(REAL, 4),
    source_floor=REAL,
    target_floor=REAL,
    source_leg=REAL,
    target_leg=REAL,
    height=REAL,
    speed=REAL,
)
"""What all feet share: canonical axes of both bodies, heights of their floors, lengths of their legs, and the limits of
a foot that stands, leg lengths and leg lengths a second."""


@kernel
def _point(joint, at, joints, pose):
    """Where a point in the space of a joint is in the character's space. pose: t, r, s of all joints."""
    j = joint
    while j >= 0:
        at = xform.point((load3(pose[0][j]), load4(pose[1][j]), load3(pose[2][j])), at)
        j = joints[j].parent
    return at


@kernel
def _step_foot(foot, live, source, target, pose, moved, dt):
    """Step one foot: decide whether it stands, and by how much it is moved."""
    zero, half = like(dt, 0.0), like(dt, 0.5)
    to_source, to_target = quat.conj(load4(live.source_axes)), quat.conj(load4(live.target_axes))
    low, lowest, speed, total = like(dt, 1e30), like(dt, 1e30), zero, zero
    way = (zero, zero, zero)
    for k in range(3):
        at = _point(foot.source_ankle if k == 0 else foot.source_ball, load3(foot.source_points[k]), source, pose)
        seen = quat.rotate(to_source, at)
        height = seen[1] - live.source_floor
        if height < low:
            step = vec.sub(seen, quat.rotate(to_source, load3(foot.source_at[k])))
            low, speed = height, math.sqrt(step[0] * step[0] + step[2] * step[2]) / dt
        store3(foot.source_at[k], at)
        at = _point(foot.ankle if k == 0 else foot.target_ball, load3(foot.target_points[k]), target, moved)
        seen, before = quat.rotate(to_target, at), quat.rotate(to_target, load3(foot.target_at[k]))
        height = seen[1] - live.target_floor
        weight = max(like(dt, 1.0) - max(height, zero) / (like(dt, PLANTED_HEIGHT) * live.target_leg), zero)
        way = vec.add(way, vec.scale(vec.sub(seen, before), weight * weight))
        total += weight * weight
        lowest = min(lowest, height)
        store3(foot.target_at[k], at)
    size = live.source_leg * (like(dt, RELEASE_SHARE) if foot.stands != 0 else like(dt, 1.0))
    stands = (foot.began != 0) & (low < live.height * size) & (speed < live.speed * size)
    shift = load3(foot.shift)
    if stands:
        back = like(dt, 1.0) / total if (total > zero) & (foot.stands != 0) else zero
        keep = math.exp2(-dt / like(dt, EASED_UP)) if foot.began != 0 else zero
        shift = (shift[0] - way[0] * back, -lowest + (shift[1] + lowest) * keep, shift[2] - way[2] * back)
    else:
        keep = math.exp2(-dt / like(dt, EASED_OUT))
        shift = (shift[0] * keep, max(shift[1] * keep, -lowest), shift[2] * keep)
    longest = half * live.target_leg
    length = vec.length(shift)
    store3(foot.shift, vec.scale(shift, longest / length) if length > longest else shift)
    foot.stands, foot.began = 1 if stands else 0, 1


@batch
def step_feet(feet, live, source, target, pose, moved, rotations, dt, at, spins):
    """Step the feet of one body: write where their ankles belong, at (L, 3), and how they are rotated, spins (L, 4).

    rotations: (J, 4), of the target's joints in the character's space, without mirrors.
    """
    for k in range(feet.size):
        foot = feet[k]
        _step_foot(foot, live[0], source, target, pose, moved, dt)
        origin = (like(dt, 0.0), like(dt, 0.0), like(dt, 0.0))
        ankle = _point(foot.ankle, origin, target, moved)
        store3(at[k], vec.add(ankle, quat.rotate(load4(live[0].target_axes), load3(foot.shift))))
        store4(spins[k], quat.unit(quat.mul(load4(rotations[foot.ankle]), load4(foot.spin))))


class Retargeter:
    """Move poses of one body onto another as they arrive.

    Parameters
    ----------
    source, target
        The character whose poses arrive, and the one that is to move. Both need a rig.
    contacts
        Keep standing feet in place and above the floor.
    scale
        Length of the target per length of the source. Default: the ratio of their legs.
    mirror
        Swap left and right.

    Raises
    ------
    InputError
        If a rig is missing, or if the bodies have different numbers of legs.

    Examples
    --------
    >>> from kinema.demo import humanoid
    >>> person, hero = km.load("person.glb"), humanoid()
    >>> live = km.Retargeter(person, hero)
    >>> pose = live.update(person.clips["walk"].sample(0.2), dt=1 / 60)
    """

    def __init__(
        self,
        source: Character,
        target: Character,
        *,
        contacts: bool = True,
        scale: float | None = None,
        mirror: bool = False,
    ) -> None:
        contacts, mirror = validation.flag("contacts", contacts), validation.flag("mirror", mirror)
        ours, theirs = paired_bodies(rig_of("source", source), rig_of("target", target), mirror)
        self.matches = match(ours, theirs, mirror)
        self.scale = check_scale(scale, ours.rig, theirs.rig)
        self._source, self._target, self._body = source.skeleton, theirs, FullBody(target, attempts=1)
        self._tables = tables(ours, theirs, self.matches, self.scale, mirror)
        self._feet, self._live = _feet(ours, theirs, self.matches.legs if contacts else {})
        self._start = self._feet.copy()
        joints, legs = len(target.skeleton), len(self._feet)
        self._room = np.empty((1, max(len(source.skeleton), joints), 4)), np.empty((1, max(self._tables.parts, 1), 4))
        self._at, self._spins = np.empty((legs, 3)), np.empty((legs, 4))

    def __repr__(self) -> str:
        return f"Retargeter({self._source!r} onto {self._target.rig.skeleton!r})"

    def reset(self) -> None:
        """Forget the frames before: the next pose begins anew."""
        self._feet[:] = self._start

    def update(self, pose: Pose, dt: float = FRAME) -> Pose:
        """Move one pose, or a batch of independent ones.

        Parameters
        ----------
        pose
            Of the source. Contacts are tracked from call to call; poses of a batch are moved without contacts.
        dt
            Seconds since the pose before.

        Returns
        -------
        Pose
            Of the target, in double precision.
        """
        self._source.check(pose)
        if pose.shape:
            flat = Pose.of(*pose.flat())
            moved = self._finished(transfer(self._tables, flat, self._target))
            return Pose.of(*(part.reshape(*pose.shape, *part.shape[1:]) for part in moved.arrays()), names=moved.names)
        step = validation.number("dt", dt, 0.0)
        given = tuple([np.ascontiguousarray(array, np.float64) for array in pose.arrays()])
        stance = self._target.stance
        translations, rotations = stance.translations.copy(), np.empty_like(stance.rotations)
        world, shown = self._room
        frames = tuple([array[np.newaxis] for array in given])
        hips = translations[np.newaxis, int(self._target.rig.hips)]
        transfer_frames(0, 1, self._tables, frames, world, shown, rotations[np.newaxis], hips)
        moved = Pose.of(translations, rotations, stance.scales, names=self._target.rig.skeleton.names)
        if not len(self._feet) or step == 0.0:
            return self._finished(moved)
        known, parts = self._tables, moved.arrays()
        both = self._feet, self._live, known.source, known.target
        step_feet(*both, given, parts, world[0], step, self._at, self._spins)
        effectors = [
            Effector(int(leg.joints[-1]), self._at[k], rotation=self._spins[k])
            for k, leg in enumerate(self._target.rig.legs)
        ]
        return self._finished(self._body.solve(moved, effectors)[0])

    def _finished(self, pose: Pose) -> Pose:
        """Return a pose, or (F,), whose twist joints share the twist of their bones."""
        return spread_twists(self._target, pose)


def _feet(ours: Body, theirs: Body, legs: Any) -> tuple[Any, Any]:
    """The records of all feet, and of what they share."""
    feet, live = LIVE_FOOT.zeros(len(legs), np.float64), LIVE.zeros(1, np.float64)
    for k, leg in enumerate(theirs.rig.legs if legs else ()):
        other = ours.rig.leg(legs[leg.name])
        foot = feet[k]
        (foot.ankle, foot.target_ball, _), points = theirs.rig.sole_points(leg)
        foot.target_points[:] = points
        (foot.source_ankle, foot.source_ball, _), points = ours.rig.sole_points(other)
        foot.source_points[:] = points
        signs = theirs.signs[foot.ankle] * np.where(theirs.stance.scales[foot.ankle] < 0, -1.0, 1.0)
        foot.spin[:] = _spin(signs)
    for name, body in (("source", ours), ("target", theirs)):
        live[f"{name}_axes"] = body.axes_rotation
        live[f"{name}_floor"], live[f"{name}_leg"] = body.rig.floor, body.rig.leg_length
    live.height, live.speed = PLANTED_HEIGHT, PLANTED_SPEED
    return kernel_views(feet, live)


def _spin(signs: Any) -> Any:
    """The rotation that mirrors across axes leave, once they are made a rotation by the mirror through the origin."""
    diagonal = signs * np.prod(signs)
    flipped = np.flatnonzero(diagonal < 0)
    return (
        np.append(np.zeros(3), 1.0) if not flipped.size else np.append(np.eye(3)[np.flatnonzero(diagonal > 0)[0]], 0.0)
    )
