"""The parts of a body that a motion moves, each with its rotation from one T-pose that all bodies share.

Canonical axes are x left, y up and z ahead of a body. In the T-pose the body stands upright in them, arms to the sides,
palms down, legs down, feet ahead. `Part.reference` is the rotation from there to the body's own stance. A part that is
rotated by D from its stance is thus rotated by Q = D S from the T-pose, and Q means the same on every body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Fingers, Leg, Rig
from kinema.motion.soles import BALL, TIP

IDENTITY = (0.0, 0.0, 0.0, 1.0)

UP, DOWN, AHEAD, LEFT = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
"""Canonical axes."""

MIRROR = (-1.0, 1.0, 1.0)
"""Factors of canonical positions that swap left and right."""

SHORT = 1e-6
"""Body sizes below which a bone has no direction."""


@dataclass(frozen=True)
class Part:
    """A joint that a motion rotates."""

    group: str
    """What it belongs to, and what its counterpart belongs to: "trunk", "neck", "head", "left arm", "left leg", ..."""
    place: float
    """Where it is in its group, from 0 at the start to 1 at the end."""
    joint: int
    reference: tuple[float, float, float, float]
    """S: the rotation from the T-pose to the stance, canonical axes."""


SHAPE = ("axes", "axes_rotation", "stance", "signs", "rotations", "positions", "shape", "carried_legs", "carried_at")
"""What of a body neither its floor nor its flat feet change."""


@dataclass(frozen=True, eq=False)
class Body:
    """A rig as a motion sees it."""

    rig: Rig
    flat_feet: Mapping[str, Any] = field(default_factory=dict)
    """(3,): the up direction of feet that stand flat, canonical axes of the stance, where it is another than up; by the
    name of the leg."""
    flat_toes: Mapping[str, Any] = field(default_factory=dict)
    """(3,): that of toes that lie on the floor."""

    palms: frozenset[str] = frozenset()
    """Names of the arms whose palms say how hand and forearm are rotated: those that both bodies show."""

    @classmethod
    def of(cls, rig: Rig, palms: frozenset[str] = frozenset()) -> Body:
        """Return the body of a rig; the same one whenever it is asked for."""
        return rig.skeleton.cached(("body", id(rig), palms), lambda: cls(rig, palms=palms))  # It keeps the id.

    def standing(self, rig: Rig, flat_feet: Mapping[str, Any], flat_toes: Mapping[str, Any] | None = None) -> Body:
        """Return this body on the floor of another rig, with feet and toes that are flat there in another way."""
        new = replace(self, rig=rig, flat_feet=flat_feet, flat_toes=flat_toes or {})
        vars(new).update({name: getattr(self, name) for name in SHAPE})
        return new

    @cached_property
    def axes(self) -> Any:
        """(3, 3): the canonical axes as columns, in the character's space."""
        up, ahead = np.array(self.rig.up), np.array(self.rig.forward)
        return np.stack((np.cross(up, ahead), up, ahead), axis=-1)

    @cached_property
    def axes_rotation(self) -> Any:
        """(4,): the rotation from the canonical axes to the character's space."""
        return arrays.from_matrix(self.axes)

    @cached_property
    def stance(self) -> Pose:
        """The pose that references are measured in."""
        return (self.rig.skeleton.rest if self.rig.stance is None else self.rig.stance).astype(np.float64)

    @cached_property
    def signs(self) -> Any:
        """(J, 3): the signs of the scales of all joints above each, as a mirror across axes of its own space."""
        skeleton = self.rig.skeleton
        own, above = np.where(self.stance.scales < 0, -1.0, 1.0), np.ones((len(skeleton), 3))
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if parent >= 0:
                above[joint] = above[parent] * own[parent]
        return above

    @cached_property
    def rotations(self) -> Any:
        """(J, 4): rotations of the stance in the character's space, without mirrors."""
        locals_: Any = mirrored(self.stance.rotations, self.signs)
        found: list[Any] = []
        for own, parent in zip(locals_, self.rig.skeleton.parents.tolist(), strict=True):
            found.append(own if parent < 0 else arrays.mul(found[parent], own))
        return np.array(found)

    @cached_property
    def positions(self) -> Any:
        """(J, 3): of the stance, canonical axes."""
        return self.rig.standing_world[:, :3, 3].astype(np.float64) @ self.axes

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """All parts, in no order."""
        feet, toes = (
            {f"{name} foot": np.array(up) for name, up in found.items()} for found in (self.flat_feet, self.flat_toes)
        )
        return tuple(_made_flat(part, feet.get(part.group), toes.get(part.group)) for part in self.shape)

    @cached_property
    def sole_offsets(self) -> Any:
        """(L, 3, 3): heel, ball and tip of each sole in the spaces of the joints that carry them; the tip is as high as
        the ball while toes lie flat.
        """
        offsets = self.rig.sole_table[1].copy()
        for k, leg in enumerate(self.rig.legs):
            if leg.name in self.flat_toes and leg.toe is not None:
                up = self.axes @ self.flat_toes[leg.name]
                back = _swing(np.array(self.rig.up), up)
                linear = self.rig.standing_world[int(leg.toe), :3, :3].astype(np.float64)
                way = linear @ (offsets[k, TIP] - offsets[k, BALL])
                offsets[k, TIP] = offsets[k, BALL] + np.linalg.pinv(linear) @ arrays.rotate(back, way)
        return offsets

    @cached_property
    def shape(self) -> tuple[Part, ...]:
        """The parts, with feet that are flat in the stance."""
        return tuple(self._parts())

    @cached_property
    def carried_legs(self) -> list[Leg]:
        """The legs that hang on the hips, not on the chest: those of people, and the hind legs of animals."""
        above = {int(joint) for joint in (*self.rig.spine, *self.rig.neck)} - {int(self.rig.hips)}
        return [
            leg for leg in self.rig.legs if not above & {int(j) for j in self.rig.skeleton.above([leg.joints[0]])}
        ] or list(self.rig.legs)

    @cached_property
    def carried_at(self) -> Any:
        """(3,): the mean of the joints that those legs hang on, canonical axes; without legs, the hips."""
        joints = [int(leg.joints[0]) for leg in self.carried_legs] or [int(self.rig.hips)]
        return self.positions[joints].mean(axis=0)

    @cached_property
    def ankle_height(self) -> float:
        """Mean height of the ankles of those legs above the soles."""
        return float(np.mean([leg.sole for leg in self.carried_legs])) if self.rig.legs else 0.0

    def _parts(self) -> Iterator[Part]:
        rig = self.rig
        turned = self._trunk_turned()
        trunk = [int(joint) for joint in dict.fromkeys((rig.hips, *rig.spine))]
        neck, head = [int(joint) for joint in rig.neck], [] if rig.head is None else [int(rig.head)]
        for joint, place in zip(trunk, self._trunk_places(trunk), strict=True):
            yield Part("trunk", place, joint, _tuple(arrays.slerp(*turned, place)))
        for joint, place in zip(neck, _middles([*_places(self.positions[[*neck, *head]]), 1.0]), strict=False):
            yield Part("neck", place, joint, IDENTITY)
        for joint in head:
            yield Part("head", 1.0, joint, IDENTITY)
        for leg in rig.legs:
            yield from self._leg(leg)
        for arm in rig.arms:
            yield from self._arm(arm)

    def _trunk_turned(self) -> tuple[Any, Any]:
        """How hips and chest are rotated in the stance, by the lines from hip to hip and from shoulder to shoulder.

        Where shoulders are ahead of hips or behind them is the body's shape in a rest pose; in a frame of a clip it is
        how the body leans.
        """
        up = np.array(UP)
        hips = self.across(self.rig.legs)
        if hips is None:
            return np.array(IDENTITY), np.array(IDENTITY)
        shoulders = self.across(self.rig.arms) if self.rig.spine else None
        if shoulders is None:
            return _frame(hips, up), _frame(hips, up)
        if self.rig.stance is None:
            return _frame(hips, up), _frame(shoulders, up)
        middle = np.mean([self.positions[int(arm.joints[0])] for arm in self.rig.arms], axis=0)
        return _frame(hips, up), _frame(shoulders, middle - self.carried_at)

    def _trunk_places(self, trunk: Sequence[int]) -> list[float]:
        """Where the bones of the trunk are, by their middles; the hips are at 0 and the chest is at 1."""
        above = [int(joint) for joint in (*self.rig.neck, *([] if self.rig.head is None else [self.rig.head]))]
        middles = _middles(_places(self.positions[[*trunk, *above[:1]]]))[: len(trunk)]
        if len(trunk) < 3:
            return [0.0, 1.0][: len(trunk)]
        return [0.0, *(float(place) for place in middles[1 : len(trunk) - 1]), 1.0]

    def across(self, limbs: Sequence[Any]) -> Any:
        """The way from the right limb of a pair to the left one, (3,); None if there is no such pair."""
        named = {limb.name: limb for limb in limbs}
        if set(named) != {"left", "right"}:
            return None
        left, right = (self.positions[int(named[side].joints[0])] for side in ("left", "right"))
        way = left - right
        return way if way[0] > SHORT * self.rig.leg_length else None

    def _leg(self, leg: Leg) -> Iterator[Part]:
        joints, group = [int(joint) for joint in leg.joints], f"{leg.name} leg"
        middles = _middles(_places(self.positions[joints]))
        for joint, place, rotation in zip(joints[:-1], middles, self._swings(joints, DOWN, IDENTITY), strict=True):
            yield Part(group, place, joint, rotation)
        foot = self._foot(leg)
        yield Part(f"{leg.name} foot", 0.0, joints[-1], foot)
        if leg.toe is not None:
            yield Part(f"{leg.name} foot", 1.0, int(leg.toe), foot)

    def _foot(self, leg: Leg) -> Any:
        """How far the stance points a foot outwards."""
        rotation = np.array(IDENTITY)
        if leg.toe is not None:
            way = (self.positions[int(leg.toe)] - self.positions[int(leg.joints[-1])]) * (1.0, 0.0, 1.0)
            if np.linalg.norm(way) > SHORT * self.rig.leg_length and way[2] > 0.0:
                rotation = _swing(np.array(AHEAD), way)
        return _tuple(rotation)

    def _arm(self, arm: Arm) -> Iterator[Part]:
        joints, name = [int(joint) for joint in arm.joints], f"{arm.name} arm"
        if arm.shoulder is not None:
            yield Part(f"{arm.name} shoulder", 0.0, int(arm.shoulder), IDENTITY)
        side = float(np.sign(self.positions[joints[0]][0] - self.carried_at[0]) or 1.0)
        straight = side * np.array(LEFT)
        swings = self._swings(joints, straight, IDENTITY)
        swings.append(swings[-1])
        palm = palm_of(self.rig, arm, self.positions) if arm.name in self.palms else None
        if palm is not None:
            along = self.positions[joints[-1]] - self.positions[joints[-2]]
            swings[-2:] = [_tuple(_palm_frame(way, palm[1], side)) for way in (along, palm[0])]
        places = np.linspace(0.0, 1.0, len(joints))
        for joint, place, rotation in zip(joints, places, swings, strict=True):
            yield Part(name, float(place), joint, rotation)
        if palm is not None:
            yield from self._fingers(arm, straight, swings[-1])

    def _fingers(self, arm: Arm, straight: Any, hand: Any) -> Iterator[Part]:
        """The fingers of a hand, from the T-pose of a flat hand. Thumbs have none: they move as from their stance."""
        for finger, chain in Fingers.of(arm.fingers).items():
            joints = [int(joint) for joint in chain]
            swings = [hand] * len(joints) if finger == "thumb" else self._swings(joints, straight, hand)
            swings += swings[-1:] * (len(joints) - len(swings)) or [hand]
            places = _places(self.positions[joints])
            for joint, place, rotation in zip(joints, places, swings, strict=False):
                yield Part(f"{arm.name} {finger}", place, joint, rotation)

    def _swings(self, joints: Sequence[int], straight: Any, above: Any) -> list[Any]:
        """S of each bone of a limb: the smallest rotation from the direction that it has in the T-pose, on top of that
        of the bone above.
        """
        found, rotation = [], np.array(above)
        for upper, lower in pairwise(joints):
            way = self.positions[lower] - self.positions[upper]
            if np.linalg.norm(way) > SHORT * self.rig.leg_length:
                rotation = arrays.mul(_swing(arrays.rotate(rotation, np.array(straight)), way), rotation)
            found.append(_tuple(rotation))
        return found


def _made_flat(part: Part, foot: Any, toes: Any) -> Part:
    """A part whose up direction, where it is one of a foot, is another one in the stance, (3,), while it is flat on the
    floor. A foot is rolled only: heel and ball of the stance lie on its floor, which says the pitch.
    """
    if toes is not None and part.place > 0.0:
        return replace(part, reference=_tuple(arrays.mul(_swing(np.array(UP), toes), np.array(part.reference))))
    if foot is None:
        return part
    rotation = np.array(part.reference)
    ahead = arrays.rotate(rotation, np.array(AHEAD))
    return replace(part, reference=_tuple(arrays.mul(_swing(np.array(UP), foot - ahead * (foot @ ahead)), rotation)))


def palm_of(rig: Rig, arm: Arm, positions: Any) -> tuple[Any, Any] | None:
    """Return where a hand points and where its index finger is, seen from the little one; None with too few fingers.

    positions: (J, 3), of the stance.
    """
    chains = Fingers.of(arm.fingers).items()
    knuckles = [positions[int(chain[0])] for finger, chain in chains if finger != "thumb"]
    if len(knuckles) < 2:
        return None
    along, across = np.mean(knuckles, axis=0) - positions[int(arm.joints[-1])], knuckles[0] - knuckles[-1]
    if np.linalg.norm(np.cross(along, across)) < SHORT * rig.leg_length**2:
        return None
    return along, across


def shared_palms(source: Rig, target: Rig, arms: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the arms of both bodies of which both show a palm. arms: the source's by the target's."""
    shown = [
        {arm.name for arm in rig.arms if palm_of(rig, arm, rig.standing_world[:, :3, 3]) is not None}
        for rig in (source, target)
    ]
    both = {name: other for name, other in arms.items() if name in shown[1] and other in shown[0]}
    return frozenset(both.values()), frozenset(both)


def mirrored(rotations: Any, signs: Any) -> Any:
    """Return rotations, (..., J, 4), as they are seen through mirrors across axes, (J, 3) of 1 and -1, and back."""
    side = np.prod(signs, axis=-1, keepdims=True)
    return rotations * np.concatenate((side * signs, np.ones_like(side)), axis=-1)


def _places(positions: Any) -> list[float]:
    """Where points are along the path through them, from 0 to 1; evenly spaced if the path has no length."""
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(positions, axis=0), axis=-1))))
    return (along / along[-1] if along[-1] > 0 else np.linspace(0.0, 1.0, len(along))).tolist()


def _middles(places: Sequence[float]) -> list[float]:
    return [(a + b) / 2 for a, b in pairwise(places)]


def _palm_frame(along: Any, across: Any, side: float) -> Any:
    """The rotation from the T-pose to a hand that points along a direction, its index finger across it."""
    x = side * arrays.unit(along)
    z = arrays.unit(across - x * (across @ x))
    return arrays.from_matrix(np.stack((x, np.cross(z, x), z), axis=-1))


def _frame(left: Any, up: Any) -> Any:
    """The rotation from the canonical axes to a frame with this left axis and an up axis near this one."""
    x = arrays.unit(left)
    z = arrays.unit(np.cross(x, up))
    return arrays.from_matrix(np.stack((x, np.cross(z, x), z), axis=-1))


def _swing(start: Any, end: Any) -> Any:
    """The smallest rotation from one direction to another."""
    a, b = arrays.unit(start), arrays.unit(end)
    half = a + b
    if np.linalg.norm(half) < 1e-9:  # Opposite: about any axis across.
        axis = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
        return arrays.from_axis_angle(arrays.unit(axis), np.pi)
    half = arrays.unit(half)
    return np.append(np.cross(a, half), a @ half)


def _tuple(q: Any) -> Any:
    return tuple(float(number) for number in q)
