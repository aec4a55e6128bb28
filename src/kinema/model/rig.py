"""`Rig`: the roles of a skeleton's joints. Behaviours use roles, such as the left leg, instead of joint names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from kinema import validation
from kinema.constants import STRAIGHT
from kinema.errors import InputError, listed
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint, Skeleton
from kinema.validation import Reals

ALONG_FOOT = 0.5
"""Cosine of the angle to the character's forward (60 degrees) up to which ankle to toe is the foot's direction."""


FINGERS = ("thumb", "index", "middle", "ring", "little")
"""Names of fingers, in their order."""


class Fingers(tuple[tuple[Joint, ...], ...]):
    """The fingers of a hand: chains of joints, thumb first, also by name: `fingers["index"]`.

    names: of the chains, as many; without them, they are called thumb, index, middle, ring, little, finger_6 and so on.
    """

    names: tuple[str, ...]

    def __new__(cls, chains: Iterable[Sequence[Joint]] = (), names: Sequence[str] = ()) -> Fingers:
        found = super().__new__(cls, (validation.sequence("a finger", chain, "joints") for chain in chains))
        usual = [*FINGERS, *(f"finger_{n + 1}" for n in range(len(FINGERS), len(found)))]
        found.names = tuple(names) or tuple(usual[: len(found)])
        return found

    @classmethod
    def of(cls, fingers: Mapping[str, Sequence[Joint]] | Iterable[Sequence[Joint]]) -> Fingers:
        """Fingers from chains by name, or from chains in their order."""
        if isinstance(fingers, Fingers):
            return fingers
        return cls(fingers.values(), tuple(fingers)) if isinstance(fingers, Mapping) else cls(fingers)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.names:
            raise InputError(f"there is no finger {key!r:.60}; there are {listed(self.names)}")
        return super().__getitem__(self.names.index(key))

    def __contains__(self, key: object) -> bool:
        return key in self.names if isinstance(key, str) else super().__contains__(key)

    def items(self) -> Iterator[tuple[str, tuple[Joint, ...]]]:
        """Yield the names and the chains."""
        return zip(self.names, self, strict=True)


@dataclass(frozen=True)
class Twist:
    """A joint on a bone of a limb that shares the rotation about that bone.

    Parameters
    ----------
    joint
        The twist joint. It lies on the bone, below its first joint or between its joints.
    bone
        Which bone of the limb: 0 is the one from the limb's first joint to its second.
    fraction
        Where it lies, from 0 at the start of the bone to 1 at its end. In the world it twists by this share of the way
        from the twist at the bone's start to the twist at its end.

    Examples
    --------
    >>> twist = km.Twist("forearm_twist_l", bone=1, fraction=0.5)
    """

    joint: Joint
    bone: int
    fraction: float


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One leg of a rig.

    Parameters
    ----------
    name
        "left", "front_right", or any other name that is unique in the rig.
    joints
        From hip to ankle, three or more, each below the previous one. Joints left out in between stay as animated.
    toe
        The joint at the ball of the foot, if there is one.
    sole, toe_sole
        Height of the ankle and of the toe joint above the sole at rest, metres. None measures it against the rig's
        floor.
    heel, tip
        How far the sole extends behind the ankle, and from the ankle ahead to the end of the toes, metres along the
        foot. None: a third of the way to the toe joint behind it, and a third of it beyond the toe joint.
    toes
        Chains of joints of single toes, from the inner one outwards. Empty where a foot has none or one for all.
    girdle
        The joint above the hip joint on its own side: the shoulder blade of a front leg, or a hip bone.
    twists
        Joints that share the twist of the leg's bones.

    Examples
    --------
    >>> leg = km.Leg(name="left", joints=("thigh_l", "shin_l", "foot_l"), toe="toe_l")
    """

    name: str
    joints: Sequence[Joint]
    toe: Joint | None = None
    sole: float | None = None
    toe_sole: float | None = None
    heel: float | None = None
    tip: float | None = None
    toes: Sequence[Sequence[Joint]] = ()
    girdle: Joint | None = None
    twists: Sequence[Twist] = ()


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One arm of a rig.

    Parameters
    ----------
    name
        "left", "right", or any other name that is unique in the rig.
    joints
        Upper arm, forearm and hand, each below the previous one.
    shoulder
        The joint above the upper arm that helps with far reaches, such as a clavicle.
    fingers
        Chains of joints by name, or in the order thumb, index, middle, ring, little. A rig has `Fingers`:
        `arm.fingers["index"]`.
    twists
        Joints that share the twist of the arm's bones.

    Examples
    --------
    >>> arm = km.Arm(name="left", joints=("upper_arm_l", "forearm_l", "hand_l"), shoulder="clavicle_l")
    """

    name: str
    joints: Sequence[Joint]
    shoulder: Joint | None = None
    fingers: Fingers | Mapping[str, Sequence[Joint]] | Sequence[Sequence[Joint]] = ()
    twists: Sequence[Twist] = ()


Limb = TypeVar("Limb", Leg, Arm)


@dataclass(frozen=True, kw_only=True)
class Rig:
    """The roles of a skeleton's joints. Joints may be given by name; they are stored as indices.

    `km.load` finds the rig of a file. Build one yourself to correct it or for a skeleton made in code.

    Parameters
    ----------
    skeleton
        The skeleton whose joints have the roles.
    hips
        The joint that carries the body.
    spine
        Joints from above the hips to the chest.
    neck
        Joints from above the chest to below the head.
    head
        The head joint.
    eyes
        Left and right eye.
    legs, arms
        Any number of `Leg` and `Arm`.
    tails
        Chains of joints.
    forward, up
        (3,): directions in the character's space.
    floor
        Height of the ground that the character stands on at rest, metres along `up`.
    stance
        A pose in which the character stands, for a skeleton that lies or hangs at rest. It replaces the rest pose
        wherever these docs say "at rest".
    confidence
        Confidence of each found role, 0 to 1, by name ("hips", "legs.left"). Roles that were given are not listed.
    doubts
        What the search was unsure about, as sentences.

    Examples
    --------
    >>> skeleton = km.load("person.glb").skeleton
    >>> rig = km.Rig(skeleton=skeleton, hips="hips", head="head")
    >>> rig.hips == skeleton.index("hips")
    True
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
    stance: Pose | None = field(default=None, repr=False)
    confidence: Mapping[str, float] = field(default_factory=dict, repr=False)
    doubts: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        set_field = partial(object.__setattr__, self)
        skeleton = self.skeleton
        validation.instance("skeleton", skeleton, Skeleton)
        set_field("_standing", self._checked_stance())
        set_field("hips", skeleton.index(self.hips))
        set_field("head", None if self.head is None else skeleton.index(self.head))
        set_field("floor", validation.number("floor", self.floor))
        set_field("up", validation.axis("up", self.up))
        set_field("forward", _across("forward", self.forward, self.up))
        for name in ("spine", "neck", "eyes"):
            set_field(name, skeleton.indices(name, getattr(self, name)))
        tails = validation.sequence("tails", self.tails, "chains of joints")
        set_field("tails", tuple(skeleton.branch(f"tails[{i}]", tail) for i, tail in enumerate(tails)))
        set_field("legs", tuple(self._leg(leg) for leg in _limbs("legs", self.legs, Leg)))
        set_field("arms", tuple(self._arm(arm) for arm in _limbs("arms", self.arms, Arm)))

    def leg(self, name: str) -> Leg:
        """The leg with a name."""
        return _named("leg", name, self.legs)

    def arm(self, name: str) -> Arm:
        """The arm with a name."""
        return _named("arm", name, self.arms)

    @cached_property
    def leg_length(self) -> float:
        """Mean length of the legs, from hip to ankle; without legs, half the height of the character at rest.

        In the character's unit, always above 0. Other lengths are given relative to it.
        """
        if self.legs:
            return float(np.mean([self.skeleton.length(leg.joints) for leg in self.legs])) or 1.0
        return 0.5 * float(np.ptp(self.skeleton.rest_world[:, :3, 3] @ np.array(self.up))) or 1.0

    @property
    def standing_world(self) -> Any:
        """(J, 4, 4): world matrices of the standing character: of the stance, or of the rest pose."""
        return self._standing.copy()  # type: ignore[attr-defined]

    def own_axes(self, joint: Joint) -> Reals:
        """Return the rotation from the character's axes to a joint's own axes at rest, (4,).

        To rotate a joint about an axis of the character, rotate it about `arrays.rotate(arrays.conj(own), axis)` in its
        own space. That holds below mirrored joints too.
        """
        at = self.skeleton.index(joint)
        world = self.standing_world[at, :3, :3]
        scales = (self.skeleton.rest if self.stance is None else self.stance).scales[at]
        size = np.linalg.norm(world, axis=0) * np.where(scales < 0, -1, 1)
        world = world / np.where(size == 0, 1, size)
        return arrays.from_matrix(-world if np.linalg.det(world) < 0 else world)

    def palm(self, arm: Arm) -> Reals | None:
        """Return where a palm points at rest, (2, 3), unit, None for a hand with fewer than two fingers and a thumb.

        First from the wrist to the knuckles; then, at right angles to it, from the little finger to the index finger.
        """
        fingers = [finger for name, finger in Fingers.of(arm.fingers).items() if name != "thumb"]
        if len(fingers) < 2:
            return None
        # The last joint before the phalanges that all fingers have: metacarpals start at the wrist.
        knuckles = np.array([self._at_rest(finger[max(0, len(finger) - 3)]) for finger in fingers])
        along = arrays.unit(knuckles.mean(axis=0) - self._at_rest(arm.joints[-1]))
        across = knuckles[0] - knuckles[-1]
        across = across - along * (across @ along)
        return np.stack((along, arrays.unit(across))) if np.linalg.norm(across) > 0 else None

    def sole_points(self, leg: Leg) -> tuple[tuple[int, int, int], Reals]:
        """Return the joints that carry heel, ball and tip of a foot, and these points in the joints' spaces, (3, 3).

        The heel belongs to the ankle; ball and tip belong to the toe, if there is one. At rest all three lie on the
        floor.
        """
        validation.instance("leg", leg, Leg)
        ankle = int(leg.joints[-1])
        joints = (ankle, *(2 * (ankle if leg.toe is None else int(leg.toe),)))
        rest = self.standing_world.astype(np.float64)
        points = [
            np.linalg.pinv(rest[joint, :3, :3]) @ (point - rest[joint, :3, 3])
            for joint, point in zip(joints, self._sole_at_rest(leg), strict=True)
        ]
        return joints, np.array(points)

    @cached_property
    def sole_table(self) -> tuple[Any, Any]:
        """`sole_points` of all legs: the joints, (L, 3), and the points, (L, 3, 3)."""
        joints, points = np.zeros((len(self.legs), 3), np.int64), np.zeros((len(self.legs), 3, 3))
        for i, leg in enumerate(self.legs):
            joints[i], points[i] = self.sole_points(leg)
        return joints, points

    def _sole_at_rest(self, leg: Leg) -> tuple[Any, Any, Any]:
        """Heel, ball and tip in the character's space at rest."""
        up, along = np.array(self.up), np.array(self.forward)
        ankle = self._at_rest(leg.joints[-1])
        under = ankle - up * leg.sole
        if leg.toe is None:  # The tip is a third beyond the ball.
            return under - along * leg.heel, under + along * leg.tip * 0.75, under + along * leg.tip
        toe = self._at_rest(leg.toe)
        flat = toe - ankle - up * ((toe - ankle) @ up)
        if flat @ along > ALONG_FOOT * np.linalg.norm(flat):
            along = arrays.unit(flat)
        tip = ankle + along * leg.tip
        tip = tip + up * ((toe - tip) @ up - leg.toe_sole)
        return under - along * leg.heel, toe - up * leg.toe_sole, tip

    def _checked_stance(self) -> Any:
        if self.stance is None:
            return self.skeleton.rest_world
        self.skeleton.check(self.stance)
        if self.stance.shape:
            raise InputError(f"stance must be one pose; got a batch {self.stance.shape}")
        return self.skeleton.world(self.stance)

    def _leg(self, leg: Leg) -> Leg:
        where = f"leg {leg.name!r}"
        joints = self.skeleton.branch(where, leg.joints, 3)
        toe = None if leg.toe is None else self.skeleton.index(leg.toe)
        ahead = 0.0
        toes = validation.sequence(f"{where}: toes", leg.toes, "chains of joints")
        girdle = None if leg.girdle is None else self.skeleton.index(leg.girdle)
        if girdle is not None:
            self.skeleton.branch(where, (girdle, joints[0]))
        if toe is not None:
            self.skeleton.branch(where, (joints[-1], toe))
            way = self._at_rest(toe) - self._at_rest(joints[-1])
            ahead = float(np.linalg.norm(way - np.array(self.up) * (way @ np.array(self.up))))
        height = self._height(joints[-1])
        toe_height = height if toe is None else self._height(toe)
        return Leg(
            name=leg.name,
            joints=joints,
            toe=toe,
            sole=_given(f"{where}: sole", leg.sole, height),
            toe_sole=_given(f"{where}: toe_sole", leg.toe_sole, toe_height),
            heel=_given(f"{where}: heel", leg.heel, ahead / 3),
            tip=_given(f"{where}: tip", leg.tip, ahead * 4 / 3),
            toes=tuple(self.skeleton.branch(f"{where}: toe", toe, 1) for toe in toes),
            girdle=girdle,
            twists=self._twists(where, leg.twists, len(joints) - 1),
        )

    def _arm(self, arm: Arm) -> Arm:
        where = f"arm {arm.name!r}"
        joints = self.skeleton.branch(where, arm.joints, 3)
        shoulder = None if arm.shoulder is None else self.skeleton.index(arm.shoulder)
        if shoulder is not None:
            self.skeleton.branch(where, (shoulder, joints[0]))
        if not isinstance(arm.fingers, Mapping):
            validation.sequence(f"{where}: fingers", arm.fingers, "chains of joints")
        given = Fingers.of(arm.fingers)
        fingers = Fingers((self.skeleton.branch(f"{where}: finger", finger, 1) for finger in given), given.names)
        twists = self._twists(where, arm.twists, len(joints) - 1)
        return Arm(name=arm.name, joints=joints, shoulder=shoulder, fingers=fingers, twists=twists)

    def _twists(self, where: str, twists: Sequence[Twist], bones: int) -> tuple[Twist, ...]:
        for n, twist in enumerate(validation.sequence(f"{where}: twists", twists, "Twist")):
            validation.instance(f"{where}: twists[{n}]", twist, Twist)
        return tuple(
            Twist(
                self.skeleton.index(twist.joint),
                int(validation.number(f"{where}: bone of a twist", twist.bone, 0, bones - 1)),
                validation.number(f"{where}: fraction of a twist", twist.fraction, 0.0, 1.0),
            )
            for twist in twists
        )

    def _at_rest(self, joint: Any) -> Any:
        return self.standing_world[joint, :3, 3]

    def _height(self, joint: int) -> float:
        return float(self._at_rest(joint) @ np.array(self.up)) - self.floor


def _across(name: str, value: Any, up: Any) -> tuple[float, ...]:
    """Check a direction and make it perpendicular to up."""
    ahead = np.array(validation.axis(name, value))
    flat = ahead - np.array(up) * (ahead @ np.array(up))
    if np.linalg.norm(flat) < STRAIGHT:
        raise InputError(f"{name} runs along up; a character faces sideways from up")
    return validation.axis(name, flat)


def _given(name: str, value: float | None, otherwise: float) -> float:
    return validation.number(name, otherwise if value is None else value)


def _limbs(what: str, value: Any, kind: type[Limb]) -> tuple[Limb, ...]:
    """Check limbs, each with a name of its own."""
    limbs = validation.sequence(what, value, f"{kind.__name__}(name=..., joints=...)")
    seen: set[str] = set()
    for i, limb in enumerate(limbs):
        if not isinstance(limb, kind):
            raise InputError(f"{what}[{i}] is {limb!r:.60}; allowed is {kind.__name__}(name=..., joints=...)")
        if not isinstance(limb.name, str):
            raise InputError(f"{what}[{i}] has the name {limb.name!r:.60}; allowed are strings")
        if limb.name in seen:
            raise InputError(f"{what}[{i}] is called {limb.name!r}, as another one is; each needs a name of its own")
        seen.add(limb.name)
    return limbs


def _named(what: str, name: str, limbs: Sequence[Limb]) -> Limb:
    for limb in limbs:
        if isinstance(name, str) and limb.name == name:
            return limb
    raise InputError(f"there is no {what} {name!r:.60}; there are {listed(limb.name for limb in limbs)}")
