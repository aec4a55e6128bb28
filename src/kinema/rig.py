"""`Rig`: which joint is what. Behaviours ask for the left leg, never for a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from kinema import edge
from kinema.constants import ALONG_FOOT
from kinema.errors import InputError
from kinema.math import arrays
from kinema.skeleton import Joint, Skeleton


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One leg.

    name: how it is called, "left" or "front_right". joints: from the hip to the ankle, three or more, each below the
    one before; joints left out in between stay as animated. toe: the joint at the ball of the foot, if there is one.
    sole, toe_sole: height of the ankle and of the toe joint above the sole at rest, metres; measured against the rig's
    floor if not given. heel, tip: how far the sole goes behind the ankle and, from the ankle, ahead to the toes' end,
    metres along the foot; a third of the way to the toe joint and a third beyond it if not given.
    """

    name: str
    joints: Sequence[Joint]
    toe: Joint | None = None
    sole: float | None = None
    toe_sole: float | None = None
    heel: float | None = None
    tip: float | None = None


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One arm. joints: upper arm, forearm, hand, each below the one before. shoulder: the joint above that can help.

    fingers: chains of joints, thumb first where there is one.
    """

    name: str
    joints: Sequence[Joint]
    shoulder: Joint | None = None
    fingers: Sequence[Sequence[Joint]] = ()


@dataclass(frozen=True, kw_only=True)
class Rig:
    """The roles of a skeleton's joints. Joints may be given by name; they are kept as indices.

    hips: the joint that carries the body. spine: joints from above the hips to the chest. neck: from above the chest to
    below the head. eyes: left, right. tails: chains of joints. forward, up: directions in the character's space.
    floor: height of the ground the character stands on at rest, metres along up.
    """

    skeleton: Skeleton = field(repr=False)
    hips: Joint = 0
    spine: Sequence[Joint] = ()
    neck: Sequence[Joint] = ()
    head: Joint | None = None
    eyes: Sequence[Joint] = ()
    legs: Sequence[Leg] = ()
    arms: Sequence[Arm] = ()
    tails: Sequence[Sequence[Joint]] = ()
    forward: Any = (0.0, 0.0, 1.0)
    up: Any = (0.0, 1.0, 0.0)
    floor: float = 0.0

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        skeleton = self.skeleton
        put("hips", skeleton.index(self.hips))
        put("head", None if self.head is None else skeleton.index(self.head))
        put("floor", edge.number("floor", self.floor))
        put("up", edge.axis("up", self.up))
        put("forward", _across("forward", self.forward, self.up))
        for name in ("spine", "neck", "eyes"):
            put(name, tuple(skeleton.index(joint) for joint in getattr(self, name)))
        put("tails", tuple(_branch(skeleton, f"tails[{i}]", tail, 2) for i, tail in enumerate(self.tails)))
        put("legs", tuple(self._leg(leg) for leg in self.legs))
        put("arms", tuple(self._arm(arm) for arm in self.arms))
        _different("legs", self.legs)
        _different("arms", self.arms)

    def leg(self, name: str) -> Leg:
        return _named("leg", name, self.legs)

    def arm(self, name: str) -> Arm:
        return _named("arm", name, self.arms)

    def own_axes(self, joint: Joint) -> Any:
        """(4,): the turn from the character's axes to a joint's own at rest, so that `rotate(conj(it), forward)` is the
        joint's forward in its own space.
        """
        world = self.skeleton.rest_world[self.skeleton.index(joint), :3, :3]
        return arrays.from_matrix(world / np.linalg.norm(world, axis=0) * _handed(world))

    def sole_points(self, leg: Leg) -> tuple[tuple[int, int, int], Any]:
        """Where a foot touches the ground: the joints that carry heel, ball and tip, and where in their spaces these
        are, (3, 3). The heel goes with the ankle; ball and tip go with the toe, if there is one. At rest all three lie
        on the sole.
        """
        ankle = int(leg.joints[-1])
        joints = (ankle, *(2 * (ankle if leg.toe is None else int(leg.toe),)))
        rest = self.skeleton.rest_world.astype(np.float64)
        places = [
            np.linalg.pinv(rest[joint, :3, :3]) @ (point - rest[joint, :3, 3])
            for joint, point in zip(joints, self._sole_at_rest(leg), strict=True)
        ]
        return joints, np.array(places)

    def _sole_at_rest(self, leg: Leg) -> tuple[Any, Any, Any]:
        """Heel, ball and tip in the character's space at rest."""
        up, along = np.array(self.up), np.array(self.forward)
        ankle = self._at_rest(leg.joints[-1])
        under = ankle - up * leg.sole
        if leg.toe is None:  # The ball is where a tip a third beyond it puts it.
            return under - along * leg.heel, under + along * leg.tip * 0.75, under + along * leg.tip
        toe = self._at_rest(leg.toe)
        flat = toe - ankle - up * ((toe - ankle) @ up)
        if flat @ along > ALONG_FOOT * np.linalg.norm(flat):
            along = arrays.unit(flat)
        tip = ankle + along * leg.tip
        tip = tip + up * ((toe - tip) @ up - leg.toe_sole)
        return under - along * leg.heel, toe - up * leg.toe_sole, tip

    def _leg(self, leg: Leg) -> Leg:
        where = f"leg {leg.name!r}"
        joints = _branch(self.skeleton, where, leg.joints, 3)
        toe = None if leg.toe is None else self.skeleton.index(leg.toe)
        ahead = 0.0
        if toe is not None:
            _branch(self.skeleton, where, (joints[-1], toe), 2)
            ahead = float((self._at_rest(toe) - self._at_rest(joints[-1])) @ np.array(self.forward))
        height = self._height(joints[-1])
        toe_height = height if toe is None else self._height(toe)
        return Leg(
            name=leg.name,
            joints=joints,
            toe=toe,
            sole=_given(f"{where}: sole", leg.sole, height),
            toe_sole=_given(f"{where}: toe_sole", leg.toe_sole, toe_height),
            heel=_given(f"{where}: heel", leg.heel, max(ahead, 0.0) / 3),
            tip=_given(f"{where}: tip", leg.tip, max(ahead, 0.0) * 4 / 3),
        )

    def _arm(self, arm: Arm) -> Arm:
        where = f"arm {arm.name!r}"
        joints = _branch(self.skeleton, where, arm.joints, 3)
        shoulder = None if arm.shoulder is None else self.skeleton.index(arm.shoulder)
        if shoulder is not None:
            _branch(self.skeleton, where, (shoulder, joints[0]), 2)
        fingers = tuple(_branch(self.skeleton, f"{where}: finger", finger, 1) for finger in arm.fingers)
        return Arm(name=arm.name, joints=joints, shoulder=shoulder, fingers=fingers)

    def _at_rest(self, joint: Any) -> Any:
        return self.skeleton.rest_world[joint, :3, 3]

    def _height(self, joint: int) -> float:
        return float(self._at_rest(joint) @ np.array(self.up)) - self.floor


def _branch(skeleton: Skeleton, where: str, joints: Sequence[Joint], fewest: int) -> tuple[int, ...]:
    """Joints as indices, each below the one before."""
    found = tuple(skeleton.index(joint) for joint in joints)
    if len(found) < fewest:
        raise InputError(f"{where} has {len(found)} joints; it needs at least {fewest}")
    for upper, lower in pairwise(found):
        if upper == lower or upper not in skeleton.above([lower]):
            names = skeleton.names
            raise InputError(f"{where}: {names[lower]!r} is not below {names[upper]!r}; joints run down a branch")
    return found


def _across(name: str, value: Any, up: Any) -> tuple[float, ...]:
    """A direction at right angles to up."""
    ahead = np.array(edge.axis(name, value))
    flat = ahead - np.array(up) * (ahead @ np.array(up))
    if np.linalg.norm(flat) == 0.0:
        raise InputError(f"{name} runs along up; a character faces sideways from up")
    return edge.axis(name, flat)


def _given(name: str, value: float | None, otherwise: float) -> float:
    return edge.number(name, otherwise if value is None else value)


def _handed(world: Any) -> float:
    return -1.0 if np.linalg.det(world) < 0 else 1.0


def _different(what: str, limbs: Sequence[Any]) -> None:
    names = [limb.name for limb in limbs]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"{what}[{i}] is called {name!r}, as another one is; each needs a name of its own")


def _named(what: str, name: str, limbs: Sequence[Any]) -> Any:
    for limb in limbs:
        if limb.name == name:
            return limb
    raise InputError(f"there is no {what} {name!r}; there are {', '.join(repr(limb.name) for limb in limbs) or 'none'}")
