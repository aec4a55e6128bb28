"""`Person`: the body that points show, as a character. It stands as the target does, with bones as long as measured.

Its joints are what every layout shows. Since it stands like the target, a rotation from its stance is the target's.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kinema.fitting.bones import make_local
from kinema.fitting.layouts import LIMBS, SIDES
from kinema.fitting.rests import hand_rest, limb_rests, trunk_rests
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import FINGERS, Arm, Fingers, Leg, Rig
from kinema.model.skeleton import Skeleton
from kinema.retargeting.parts import Body, palm_of

HIGH = 0.8
"""Share of the way from the hips to the shoulders at which the chest is."""

PHALANGES = 3
"""Joints of a finger."""

OWN_CLIPS, OWN_SECONDS, OWN_STEP = 3, 10.0, 0.1
"""Clips of the target, seconds of each, and seconds from pose to pose, that show about which axes its limbs bend."""

LEAST_BENDS, AGREED = 1.0, 0.8
"""Sum of the squared sines of a limb's bends that are enough, and least share of their axes that agree."""

DEFAULTS = {
    "shoulder": (0.21, 0.6, 0.0),
    "elbow": (0.53, 0.6, 0.0),
    "wrist": (0.82, 0.6, 0.0),
    "hip": (0.11, 0.0, 0.0),
    "knee": (0.11, -0.5, 0.0),
    "ankle": (0.11, -1.0, 0.0),
}
"""Leg lengths left, up and ahead of the hips, for limbs that the target lacks."""


@dataclass(frozen=True, eq=False)
class Stance:
    """How the target stands: where the points of a body are on it, canonical axes, its own unit."""

    body: Body
    hinges: Mapping[str, Any] = field(default_factory=dict)
    """(3,): the known axes about which limbs bend, canonical axes of the stance, by "left_arm" and so on."""

    @cached_property
    def at(self) -> dict[str, Any]:
        """(3,) by role word."""
        rig, positions = self.body.rig, self.body.positions
        side_of = {"left": 1.0, "right": -1.0}
        found = {
            f"{side}_{name}": self.body.carried_at + np.array(way) * (sign, 1.0, 1.0) * rig.leg_length
            for side, sign in side_of.items()
            for name, way in DEFAULTS.items()
        }
        for limbs, words in ((rig.legs, "leg"), (rig.arms, "arm")):
            for limb in limbs:
                roles = LIMBS.get(f"{limb.name}_{words}")
                if roles is not None:
                    joints = limb.joints[0], limb.joints[len(limb.joints) // 2], limb.joints[-1]
                    found |= {role: positions[int(joint)] for role, joint in zip(roles, joints, strict=True)}
        found["pelvis"] = 0.5 * (found["left_hip"] + found["right_hip"])
        middle = 0.5 * (found["left_shoulder"] + found["right_shoulder"])
        neck = [*rig.neck, *([] if rig.head is None else [rig.head])]
        found["neck"] = positions[int(neck[0])] if neck else middle + (0.0, 0.05 * rig.leg_length, 0.0)
        up = (0.0, 0.12 * rig.leg_length, 0.0)
        found["head"] = positions[int(rig.head)] if rig.head is not None and len(neck) > 1 else found["neck"] + up
        for leg in rig.legs:
            found |= self._foot(leg)
        return found

    def _foot(self, leg: Leg) -> dict[str, Any]:
        """Heel, tip and ball of a foot; the ball as a joint, above the sole."""
        rest = self.body.rig.standing_world.astype(np.float64)
        joints, points = self.body.rig.sole_points(leg)
        heel, ball, tip = (
            (rest[joint, :3, :3] @ point + rest[joint, :3, 3]) @ self.body.axes
            for joint, point in zip(joints, points, strict=True)
        )
        joint = ball if leg.toe is None else self.body.positions[int(leg.toe)]
        ahead = (0.0, 0.0, 1e-3 * self.body.rig.leg_length)  # Feet without a length still point ahead.
        return {f"{leg.name}_heel": heel, f"{leg.name}_toe": tip + ahead, f"{leg.name}_ball": joint}

    @cached_property
    def trunk_rests(self) -> list[Any]:
        """(4,) each: inverse rotations of the pelvis, upright and leaning as the trunk does, and of the chest."""
        return trunk_rests(self.at)

    @cached_property
    def limb_rests(self) -> dict[str, tuple[Any, Any]]:
        """(4,) each: rotations of both bones of each limb from the T-pose, by "left_arm" and so on."""
        return limb_rests(self.at, self.hinges)

    @cached_property
    def hand_rests(self) -> dict[str, Any]:
        """(4,) each: inverse rotations of the hands, by side."""
        found = {}
        for side in SIDES:
            arm = next((arm for arm in self.body.rig.arms if arm.name == side), None)
            palm = None if arm is None else palm_of(self.body.rig, arm, self.body.positions)
            found[side] = hand_rest(palm, side, self.limb_rests[f"{side}_arm"][1])
        return found

    def fingers(self, side: str) -> dict[str, Any]:
        """(n, 3), two or more: the joints of each finger that has a name, up to its tip where there is a joint."""
        arm = next((arm for arm in self.body.rig.arms if arm.name == side), None)
        chains = [] if arm is None else list(Fingers.of(arm.fingers).items())
        return {
            name: self.body.positions[[int(joint) for joint in chain]][: PHALANGES + 1]
            for name, chain in chains
            if name in FINGERS and len(chain) > 1
        }


def stance_of(character: Character) -> Stance:
    """Return how a character stands, and about which axes its limbs bend in its own clips; cached with its skeleton."""
    rig = character.rig
    assert rig is not None
    clips = tuple(character.clips.values())[:OWN_CLIPS]
    key = ("stance", id(rig), *(id(clip) for clip in clips))  # What is kept keeps its id.
    return rig.skeleton.cached(key, lambda: (clips, Stance(Body(rig), _hinges(clips, rig))))[1]


def _hinges(clips: tuple[Clip, ...], rig: Rig) -> dict[str, Any]:
    """The axes about which limbs bend, where all bends agree."""
    body, sums = Body(rig), dict[str, Any]()
    rest = arrays.rotation_of(rig.standing_world)
    for clip in clips:
        times = np.arange(0.0, min(float(clip.duration or 0.0), OWN_SECONDS), OWN_STEP)
        world = (
            rig.skeleton.world(clip.sample(times)).astype(np.float64) if times.size else np.zeros((0, len(rest), 4, 4))
        )
        for words, limbs in (("leg", rig.legs), ("arm", rig.arms)):
            for limb in limbs:
                first, middle, last = (int(limb.joints[k]) for k in (0, len(limb.joints) // 2, -1))
                upper, lower = (
                    arrays.unit(world[:, b, :3, 3] - world[:, a, :3, 3]) for a, b in ((first, middle), (middle, last))
                )
                turned = arrays.mul(arrays.rotation_of(world[:, first]), arrays.conj(rest[first]))
                bend = arrays.rotate(arrays.conj(turned), np.cross(upper, lower)) @ body.axes
                size = np.linalg.norm(bend, axis=-1, keepdims=True)
                total = sums.setdefault(f"{limb.name}_{words}", [np.zeros(3), 0.0])
                total[0] += (bend * size).sum(axis=0)
                total[1] += float((size**2).sum())
    agreed = {name: float(np.linalg.norm(axis)) for name, (axis, total) in sums.items() if total > LEAST_BENDS}
    return {name: sums[name][0] / size for name, size in agreed.items() if size > AGREED * sums[name][1]}


@dataclass(frozen=True, eq=False)
class Person:
    """The character that shows the points."""

    character: Character
    joints: Mapping[str, int]
    """Of the character, by the role word of the point where the bone begins; the trunk by "pelvis", "spine", "chest",
    "neck" and "head", hands by "left_wrist"."""

    @property
    def rig(self) -> Rig:
        """The roles of its joints."""
        assert self.character.rig is not None
        return self.character.rig


def make_person(stance: Stance, lengths: Mapping[tuple[str, str], float], floor: float, hands: bool) -> Person:
    """Make the character of a person who stands as the target does.

    lengths: metres of bones by their role words; those not given are scaled like the limbs. floor: height, metres.
    hands: whether points of fingers are known.
    """
    at, size = stance.at, _size(stance, lengths)
    place: dict[str, tuple[str, Any]] = {}
    middle = 0.5 * (at["left_shoulder"] + at["right_shoulder"])
    trunk = (middle - at["pelvis"]) * lengths.get(("pelvis", "shoulders"), size * np.linalg.norm(middle - at["pelvis"]))
    trunk = trunk / max(float(np.linalg.norm(middle - at["pelvis"])), 1e-12)
    place["pelvis"] = "", np.zeros(3)
    # The spine begins where the pelvis does: the trunk points where it is seen, however far the pelvis leans.
    place["spine"], place["chest"] = ("pelvis", 0.0 * trunk), ("spine", HIGH * trunk)
    for side in SIDES:
        for joint, pair, carrier, start in (
            ("shoulder", ("left_shoulder", "right_shoulder"), "chest", middle),
            ("hip", ("left_hip", "right_hip"), "pelvis", at["pelvis"]),
        ):
            way = at[f"{side}_{joint}"] - start
            wide = float(np.linalg.norm(at[pair[0]] - at[pair[1]]))
            way = way * lengths.get(pair, size * wide) / max(wide, 1e-12)
            place[f"{side}_{joint}"] = carrier, way + ((1.0 - HIGH) * trunk if carrier == "chest" else 0.0)
    place["neck"] = "chest", (1.0 - HIGH) * trunk + (at["neck"] - middle) * size
    place["head"] = "neck", (at["head"] - at["neck"]) * size
    for upper, lower in ((a, b) for roles in LIMBS.values() for a, b in itertools.pairwise(roles)):
        way = at[lower] - at[upper]
        wide = max(float(np.linalg.norm(way)), 1e-12)
        place[lower] = upper, way / wide * lengths.get((upper, lower), size * wide)
    for side in SIDES:
        if f"{side}_ball" in at:
            way = at[f"{side}_ball"] - at[f"{side}_ankle"]
            place[f"{side}_ball"] = f"{side}_ankle", way * size
        for name, chain in stance.fingers(side).items() if hands else ():
            before = f"{side}_wrist", at[f"{side}_wrist"]
            for number, position in enumerate(chain[: PHALANGES + 1], 1):
                role = f"{side}_{name}_{number}"
                place[role] = before[0], (position - before[1]) * size
                before = role, position
    return _character(stance, place, size, floor)


def _size(stance: Stance, lengths: Mapping[tuple[str, str], float]) -> float:
    """Metres of the person per unit of the target, by all limbs whose length is known."""
    theirs = [
        (lengths[a, b], np.linalg.norm(stance.at[b] - stance.at[a])) for a, b in limb_bones() if (a, b) in lengths
    ]
    own, other = (float(sum(each)) for each in zip(*theirs, strict=True)) if theirs else (1.0, 1.0)
    return own / other if other > 0 else 1.0


def limb_bones() -> list[tuple[str, str]]:
    """Return the role words of both ends of each bone of the limbs."""
    return [pair for roles in LIMBS.values() for pair in itertools.pairwise(roles)]


def _character(stance: Stance, place: Mapping[str, tuple[str, Any]], size: float, floor: float) -> Person:
    names = list(place)
    joints = {name: number for number, name in enumerate(names)}
    parents = [joints[place[name][0]] if place[name][0] else -1 for name in names]
    rest = Pose(np.array([place[name][1] for name in names]), np.tile((0.0, 0.0, 0.0, 1.0), (len(names), 1)))
    skeleton = Skeleton([_joint_name(name) for name in names], parents, rest)
    legs, rig = [], stance.body.rig
    for leg in (leg for leg in rig.legs if f"{leg.name}_leg" in LIMBS):
        own = [joints[role] for role in LIMBS[f"{leg.name}_leg"]]
        scaled: dict[str, Any] = {
            part: float(getattr(leg, part)) * size for part in ("sole", "toe_sole", "heel", "tip")
        }
        legs.append(Leg(name=leg.name, joints=own, toe=joints[f"{leg.name}_ball"], **scaled))
    arms = []
    for side in SIDES:
        fingers: dict[str, list[int]] = {}
        for name in FINGERS:
            chain = [joints[role] for n in (1, 2, 3, 4) if (role := f"{side}_{name}_{n}") in joints]
            if chain:
                fingers[name] = chain
        arms.append(Arm(name=side, joints=[joints[role] for role in LIMBS[f"{side}_arm"]], fingers=fingers))
    return Person(
        Character(
            skeleton,
            {},
            Rig(
                skeleton=skeleton,
                hips=0,
                spine=(joints["spine"], joints["chest"]),
                neck=(joints["neck"],),
                head=joints["head"],
                legs=legs,
                arms=arms,
                floor=floor,
                stance=None if rig.stance is None else rest,
            ),
            name="person",
        ),
        joints,
    )


def _joint_name(role: str) -> str:
    """The name of a joint by where its bone begins, as files of motions have it."""
    side, _, part = role.partition("_")
    named = {
        "hip": "UpLeg",
        "knee": "Leg",
        "ankle": "Foot",
        "ball": "ToeBase",
        "shoulder": "Arm",
        "elbow": "ForeArm",
        "wrist": "Hand",
    }
    if side not in SIDES:
        return {"pelvis": "Hips", "spine": "Spine", "chest": "Spine1", "neck": "Neck", "head": "Head"}[role]
    part = named.get(part) or f"Hand{part.replace('_', '').replace('little', 'pinky').capitalize()}"
    return f"{side.capitalize()}{part}"


def pose_of(person: Person, rotations: Mapping[str, Any], hips: Any) -> Pose:
    """Return poses, (T,), by rotations from the stance, (T, 4), of joints, and where the hips are, (T, 3)."""
    skeleton, count = person.character.skeleton, len(hips)
    translations = np.repeat(skeleton.rest.translations[np.newaxis].astype(np.float64), count, 0)
    translations[:, 0] = hips
    world, known = np.zeros((count, len(skeleton), 4)), np.zeros(len(skeleton), np.int64)
    for role, value in rotations.items():
        joint = person.joints.get(role)
        if joint is not None:
            world[:, joint], known[joint] = value, 1
    local = np.empty_like(world)
    make_local(world, known, skeleton.parents, local)
    return Pose.of(translations, local, np.ones_like(translations), names=skeleton.names)
