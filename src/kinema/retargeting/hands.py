"""Hands that touch: trunk, head, a thigh or the other hand; and arms that keep clear of broad bodies.

The parts of both bodies are capsules. A hand that is near a part of the source is brought as near to that part of the
target, at the same place along it and on the same side; one that is farther off stays where its directions put it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.metrics.capsules import capsules_of
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Fingers, Rig
from kinema.model.skeleton import Joint
from kinema.retargeting.placed import rotations_of
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector

TOUCHES, APART = 0.04, 0.18
"""Leg lengths from a part up to which a hand is kept as near to it, and from which on it is free."""

NEAREST = 0.03
"""Leg lengths that a part is farther from a hand than the nearest one, from which on it does not hold the hand: between
two thighs that are wide apart, a hand would touch neither."""

KEPT = 0.1
"""Leg lengths within which a hand that touches in the source touches in the result."""

SMOOTHING = 0.05
"""Seconds, standard deviation, over which it is smoothed how much a hand is held by a part."""

PLAIN = {"trunk": 0.16, "thigh": 0.09, "head": 0.13, "hand": 0.04}
"""Radii of the parts of a body without a skin, leg lengths: those of a person."""

FEWEST, PERCENTILE = 20, 60.0
"""Vertices of a head from which its size is measured, and percentage of them that are nearer to its middle."""

HAND_LENGTH = 0.09
"""Leg lengths from the wrist to the middle of a hand without fingers."""

STRETCHED = 0.98
"""Share of its length to which an arm is stretched so that its hand touches: where a thigh is out of reach of that, the
hand touches it higher up."""

SHOULDER_MOBILITY = 0.1
"""How easily clavicles rotate where joints of arms do so with 1: shoulders come along where arms do not reach."""

ELBOW_STRENGTH = 0.2
"""How much elbows count beside hands where not both can be where they belong."""


class Part(NamedTuple):
    """A capsule between two points, each in the space of a joint."""

    joints: tuple[int, int]
    offsets: Any
    """(2, 3)."""
    radius: float
    """Metres."""


@dataclass(frozen=True, eq=False)
class Touching:
    """The parts of a body, and points of its arms. Names of limbs are those of the target."""

    rig: Rig
    parts: Mapping[str, Part]
    hands: Mapping[str, Part]
    """The middle of each hand, as a capsule without length, by the name of the arm."""
    elbows: Mapping[str, Part]
    """Elbows, by the name of the arm."""

    def point(self, name: str) -> Part:
        """A hand or an elbow by its name: "left" or "left elbow"."""
        return self.hands[name] if name in self.hands else self.elbows[name]

    def points(self, world: Any, part: Part, axes: Any) -> Any:
        """Where the ends of a part are, (F, 2, 3), canonical axes."""
        ends = [
            np.einsum("frc,c->fr", world[:, joint, :3, :3], offset) + world[:, joint, :3, 3]
            for joint, offset in zip(part.joints, part.offsets, strict=True)
        ]
        return np.stack(ends, axis=1) @ axes


def touching(character: Character, rig: Rig, legs: Mapping[str, str], arms: Mapping[str, str]) -> Touching:
    """Find the parts of a body. legs, arms: names of its limbs by those of the target."""
    known = {}
    if character.skins:
        found = capsules_of(character)
        known = dict(zip(found.names, found.radii.tolist(), strict=True))
    leg, parts = rig.leg_length, {}
    top = (*rig.neck, *([] if rig.head is None else [rig.head]), *rig.spine[-1:])
    ends = {"trunk": [rig.hips, top[0]]} if top else {}
    ends |= {f"{name} thigh": list(rig.leg(other).joints[:2]) for name, other in legs.items()}
    for name, (start, stop) in ends.items():
        kind, limb = name.split()[-1], legs.get(name.split()[0], "")
        radius = known.get(f"{limb}_{kind}" if limb else kind, PLAIN[kind] * leg)
        parts[name] = Part((int(start), int(stop)), np.zeros((2, 3)), radius)
    if rig.head is not None:
        parts["head"] = _head(character, rig)
    hands = {name: _hand(rig, rig.arm(other)) for name, other in arms.items()}
    elbows = {f"{name} elbow": _at_joint(rig, int(rig.arm(other).joints[1])) for name, other in arms.items()}
    return Touching(rig, parts | {f"{name} hand": hand for name, hand in hands.items()}, hands, elbows)


def _at_joint(rig: Rig, joint: int) -> Part:
    return Part((joint, joint), np.zeros((2, 3)), PLAIN["hand"] * rig.leg_length)


def _head(character: Character, rig: Rig) -> Part:
    """A ball around the head: the skin that follows it, or above its joint."""
    assert rig.head is not None
    head, leg = int(rig.head), rig.leg_length
    world = rig.standing_world[head].astype(np.float64)
    rest = rig.skeleton.rest_world[head].astype(np.float64)
    followers = {int(joint) for joint in rig.skeleton.below([head])}
    own = [
        skin.vertices[(np.where(np.isin(skin.joints, list(followers)), skin.weights, 0.0)).sum(axis=-1) >= 0.5]
        for skin in character.skins
        if skin.rebind is None
    ]
    vertices = np.concatenate(own) if own else np.zeros((0, 3))
    middle, radius = rest[:3, 3], 0.0
    if len(vertices) >= FEWEST:
        middle = vertices.astype(np.float64).mean(axis=0)
        radius = float(np.percentile(np.linalg.norm(vertices - middle, axis=-1), PERCENTILE))
    if np.linalg.norm(middle - rest[:3, 3]) < 2.0 * radius:
        offset = np.linalg.pinv(rest[:3, :3]) @ (middle - rest[:3, 3])
    else:  # Without a skin, and with one that is bound in another pose than that at rest.
        radius = PLAIN["head"] * leg
        offset = np.linalg.pinv(world[:3, :3]) @ (np.array(rig.up) * radius)
    return Part((head, head), np.stack((offset, offset)), radius)


def _hand(rig: Rig, arm: Arm) -> Part:
    """The middle of a hand: half-way to its knuckles, or ahead of the wrist."""
    wrist, world = int(arm.joints[-1]), rig.standing_world.astype(np.float64)
    at = world[:, :3, 3]
    knuckles = [at[int(chain[0])] for name, chain in Fingers.of(arm.fingers).items() if name != "thumb"]
    if knuckles:
        way = (np.mean(knuckles, axis=0) - at[wrist]) / 2
    else:
        way = arrays.unit(at[wrist] - at[int(arm.joints[-2])]) * HAND_LENGTH * rig.leg_length
    offset = np.linalg.pinv(world[wrist, :3, :3]) @ way
    return Part((wrist, wrist), np.stack((offset, offset)), PLAIN["hand"] * rig.leg_length)


@dataclass(frozen=True, eq=False)
class Near:
    """How near hands and elbows are to parts, by frame. The keys are (hand or elbow, part)."""

    gaps: Mapping[tuple[str, str], Any]
    """(F,): leg lengths between their surfaces."""
    places: Mapping[tuple[str, str], Any]
    """(F,): where along the part, 0 to 1."""
    ways: Mapping[tuple[str, str], Any]
    """(F, 3): unit, from the part to the hand, canonical axes."""


def near_parts(body: Touching, world: Any, axes: Any, side: Any = 1.0) -> Near:
    """Measure hands and parts. world: (F, J, 4, 4). side: factors of canonical positions."""
    gaps, places, ways = {}, {}, {}
    leg = body.rig.leg_length
    for arm, part in _pairs(body):
        point = body.point(arm)
        hand = body.points(world, point, axes)[:, 0] * side
        ends = body.points(world, body.parts[part], axes) * side
        along = ends[:, 1] - ends[:, 0]
        square = np.maximum((along**2).sum(axis=-1), 1e-18)
        place = np.clip(((hand - ends[:, 0]) * along).sum(axis=-1) / square, 0.0, 1.0)
        way = hand - ends[:, 0] - place[:, np.newaxis] * along
        length = np.linalg.norm(way, axis=-1)
        gaps[arm, part] = (length - body.parts[part].radius - point.radius) / leg
        places[arm, part], ways[arm, part] = place, way / np.maximum(length, 1e-12)[:, np.newaxis]
    return Near(gaps, places, ways)


def _pairs(body: Touching) -> Iterator[tuple[str, str]]:
    for arm in body.hands:
        yield from ((arm, part) for part in body.parts if part != f"{arm} hand")
    for elbow in body.elbows:
        yield from ((elbow, part) for part in body.parts if not part.endswith("hand"))


def kept_touches(source: Near, result: Near) -> tuple[int, int]:
    """Count the frames in which a hand touches the part in the result that it is nearest to in the source, and those in
    which it touches it in the source.
    """
    touches = kept = 0
    for hand in dict.fromkeys(name for name, _ in source.gaps if not name.endswith("elbow")):
        keys = [key for key in source.gaps if key[0] == hand]
        ours, theirs = (np.stack([near.gaps[key] for key in keys], axis=-1) for near in (source, result))
        nearest, every = np.argmin(ours, axis=-1), np.arange(len(ours))
        touch = ours[every, nearest] < TOUCHES
        touches += int(touch.sum())
        kept += int((touch & (theirs[every, nearest] < KEPT)).sum())
    return kept, touches


def hold_hands(body: Touching, poses: Pose, axes: Any, source: Near, hands: float, arm_space: float, dt: float) -> Pose:
    """Move arms so that hands touch what those of the source touch, and so that they keep clear of the body.

    hands, arm_space: 0 to 1, how much. dt: seconds from frame to frame.
    """
    rig = body.rig
    world = rig.skeleton.world(poses)
    now = near_parts(body, world, axes)
    effectors = []
    for name in [*body.hands, *(body.elbows if arm_space else ())]:
        point = body.point(name)
        at = body.points(world, point, axes)[:, 0]
        way, total = np.zeros_like(at), np.zeros(len(at))
        for key in source.gaps:
            if key[0] == name:
                share = _share(source, now, key, hands, arm_space, dt)
                way += share[:, np.newaxis] * (_wanted(body, world, axes, source, key, hands > 0.0) - at)
                total += share
        way /= np.maximum(total, 1.0)[:, np.newaxis]
        joint = int(point.joints[0])
        moved = world[:, joint, :3, 3] + way @ axes.T
        if name in body.hands:
            effectors.append(Effector(joint, moved, rotation=rotations_of(world[:, joint])))
        else:
            effectors.append(Effector(joint, moved, strength=ELBOW_STRENGTH))
    return move_arms(rig, [rig.arm(name) for name in body.hands], poses, effectors, shoulders=hands > 0.0)


def move_arms(rig: Rig, arms: Sequence[Arm], poses: Pose, effectors: Sequence[Effector], shoulders: bool) -> Pose:
    """Move arms, and shoulders a little, to effectors; the rest of the body stays."""
    if not effectors:
        return poses
    names = tuple(arm.name for arm in arms)
    solver = rig.skeleton.cached(  # The rig keeps its id.
        ("arms", id(rig), names, shoulders), lambda: (rig, _arms_alone(rig, arms, shoulders))
    )[1]
    return solver.solve(poses, effectors)[0]


def _arms_alone(rig: Rig, arms: Sequence[Arm], shoulders: bool) -> FullBody:
    mobility: dict[Joint, float] = dict.fromkeys(range(len(rig.skeleton)), 0.0)
    if shoulders:
        mobility |= {int(arm.shoulder): SHOULDER_MOBILITY for arm in arms if arm.shoulder is not None}
    mobility |= {int(joint): 1.0 for arm in arms for joint in arm.joints}
    return FullBody(rig.skeleton, rig, root="fixed", attempts=1, mobility=mobility)


def _share(source: Near, now: Near, key: Any, hands: float, arm_space: float, dt: float) -> Any:
    """(F,): how much a part holds a hand."""
    gap = source.gaps[key]
    near = arrays.smoothstep(np.clip((APART - gap) / (APART - TOUCHES), 0.0, 1.0))
    nearest = np.min([gaps for other, gaps in source.gaps.items() if other[0] == key[0]], axis=0)
    near *= 1.0 - arrays.smoothstep(np.clip((gap - nearest) / NEAREST, 0.0, 1.0))
    share = np.zeros_like(gap) if key[0].endswith("elbow") else hands * near
    if arm_space and not key[1].endswith("hand"):
        share = np.maximum(share, arm_space * (now.gaps[key] < np.minimum(gap, APART)))
    return smooth_gaussian(share[:, np.newaxis], SMOOTHING / dt, "edge")[:, 0]


def _wanted(body: Touching, world: Any, axes: Any, source: Near, key: Any, touches: bool) -> Any:
    """(F, 3): where a hand is as near to a part as that of the source. touches: within reach, before it is at the same
    place along it.
    """
    arm, part = key
    hand, leg = body.point(arm), body.rig.leg_length
    gap = source.gaps[key] * leg
    at = body.points(world, hand, axes)[:, 0]
    ends = body.points(world, body.parts[part], axes)
    along = ends[:, 1] - ends[:, 0]
    off = (body.parts[part].radius + hand.radius + gap)[:, np.newaxis] * source.ways[key]
    place = source.places[key]
    if touches and arm in body.hands:
        joints = [int(joint) for joint in body.rig.arm(arm).joints]
        shoulder, wrist = (world[:, joint, :3, 3] @ axes for joint in (joints[0], joints[-1]))
        start = ends[:, 0] + off - (at - wrist) - shoulder
        place = _within_reach(place, start, along, STRETCHED * float(body.rig.skeleton.length(joints)))
    middle = ends[:, 0] + place[:, np.newaxis] * along
    if part.endswith("hand"):  # Both come half of the way.
        return (middle + at) / 2 + off / 2
    return middle + off


def _within_reach(place: Any, start: Any, along: Any, reach: float) -> Any:
    """(F,): the places nearest to these, (F,), on the ways from points, (F, 3), along vectors, (F, 3), that are no
    farther than so much from the origin; those nearest to it where none is.
    """
    square = np.maximum((along**2).sum(axis=-1), 1e-18)
    nearest = -(start * along).sum(axis=-1) / square
    beyond = reach**2 - (start**2).sum(axis=-1) + nearest**2 * square
    half = np.sqrt(np.maximum(beyond, 0.0) / square)
    return np.clip(np.clip(place, nearest - half, nearest + half), 0.0, 1.0)
