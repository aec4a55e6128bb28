"""A person: a mannequin of 60 joints, 1.75 m tall, that stands, walks and runs."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

from kinema.demo.characters.bones import Bone, Point, build, hinge, mirrored, socket
from kinema.demo.characters.gait import FootShape
from kinema.demo.characters.humanoid_body import colours, dressed
from kinema.demo.characters.humanoid_moves import clips
from kinema.demo.characters.shells import Detail
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

SOLE = FootShape(ankle=0.085, heel=0.056, ball=0.13, ball_height=0.03, tip=0.198)
"""The shoe's: the rig, the gaits and the skin all keep to it."""

ARM_DOWN = math.radians(50)
"""How far the arms hang below level at rest."""

_FINGERS = {  # Where the knuckle is: along the hand and towards the thumb. Lengths of the three bones. Metres.
    "index": (0.088, 0.026, (0.040, 0.025, 0.021)),
    "middle": (0.091, 0.005, (0.044, 0.029, 0.022)),
    "ring": (0.087, -0.015, (0.041, 0.027, 0.021)),
    "little": (0.079, -0.034, (0.032, 0.020, 0.019)),
}


@cache
def bones() -> tuple[Bone, ...]:
    side = [*_head_side(), *_arm(), *_leg()]
    return (*_trunk(), *side, *mirrored(side))


def _trunk() -> list[Bone]:
    up = [
        ("hips", 0.940, -0.010, None),
        ("spine_1", 1.010, -0.018, socket(25, 15)),
        ("spine_2", 1.090, -0.024, socket(25, 15)),
        ("spine_3", 1.170, -0.030, socket(25, 15)),
        ("chest", 1.260, -0.034, socket(25, 15)),
        ("neck_1", 1.455, -0.030, socket(30, 25)),
        ("neck_2", 1.505, -0.018, socket(30, 25)),
        ("head", 1.560, -0.006, socket(40, 40)),
        ("", 1.750, -0.006, None),
    ]
    row = [Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.2, 0.0))]
    for (name, y, z, limit), (_, end_y, end_z, _) in pairwise(up):
        row.append(Bone(name, row[-1].name, (0.0, y, z), (0.0, end_y, end_z), limit=limit))
    jaw = Bone("jaw", "head", (0.0, 1.606, 0.012), (0.0, 1.556, 0.078), limit=hinge(-3, 30))
    return [*row, jaw]


def _head_side() -> list[Bone]:
    at, ahead = (0.031, 1.645, 0.066), (0.031, 1.645, 0.086)
    return [
        Bone("eye_l", "head", at, ahead, (0.0, 1.0, 0.0), socket(40, 10)),
        Bone("lid_l", "head", at, ahead, (0.0, -1.0, 0.0), hinge(-15, 85)),
    ]


def _arm() -> list[Bone]:
    shoulder = (0.180, 1.415, -0.030)
    down = ARM_DOWN
    elbow = _beyond(shoulder, (math.cos(down), -math.sin(down), 0.0), 0.285)
    fore = (math.cos(down) * math.cos(0.14), -math.sin(down) * math.cos(0.14), math.sin(0.14))
    wrist = _beyond(elbow, fore, 0.250)
    palm = (-math.sin(down), -math.cos(down), 0.0)  # What the palm faces: the thigh.
    row = [
        Bone("clavicle_l", "chest", (0.022, 1.425, 0.005), shoulder, limit=socket(30, 20)),
        Bone("upper_arm_l", "clavicle_l", shoulder, elbow, limit=socket(125, 90)),
        Bone("forearm_l", "upper_arm_l", elbow, wrist, limit=hinge(-math.degrees(0.14), 142)),
        Bone("hand_l", "forearm_l", wrist, _beyond(wrist, fore, 0.09), palm, socket(80, 80)),
    ]
    return [*row, *_fingers(row[-1], palm)]


def _fingers(hand: Bone, palm: Point) -> list[Bone]:
    across, along, _ = hand.axes.T
    if across[2] < 0:
        across = -across  # Towards the thumb: ahead, as the arms hang.
    made: list[Bone] = []
    thumb = [(0.022, 0.020, 0.012), (0.052, 0.046, 0.026), (0.080, 0.058, 0.030), (0.104, 0.064, 0.030)]
    positions = {"thumb": [_sum(hand.start, (along, u), (across, v), (palm, w)) for u, v, w in thumb]}
    for name, (out, aside, lengths) in _FINGERS.items():
        spread = 0.9 * aside
        positions[name] = [_sum(hand.start, (along, out), (across, aside), (palm, 0.002))]
        for length in lengths:
            positions[name].append(_sum(positions[name][-1], (along, length), (across, spread * length)))
    for name, row in positions.items():
        parent, first = hand.name, socket(50, 30) if name == "thumb" else socket(95, 20)
        faces = palm if name != "thumb" else _sum((0.0, 0.0, 0.0), (palm, 0.5), (across, -0.8))
        for n in range(3):
            limit = first if n == 0 else hinge(-15, 100)
            made.append(Bone(f"{name}_{n + 1}_l", parent, row[n], row[n + 1], faces, limit))
            parent = made[-1].name
    return made


def _leg() -> list[Bone]:
    x, back = 0.092, (0.0, 0.0, -1.0)
    hip, knee, ankle = (x, 0.920, -0.010), (x, 0.495, 0.004), (x, SOLE.ankle, -0.020)
    straight = math.atan2(0.014, 0.425) + math.atan2(0.024, 0.410)
    ball, tip = (x, SOLE.ball_height, -0.020 + SOLE.ball), (x, SOLE.ball_height * 0.6, -0.020 + SOLE.tip)
    return [
        Bone("thigh_l", "hips", hip, knee, back, socket(115, 45)),
        Bone("shin_l", "thigh_l", knee, ankle, back, hinge(-math.degrees(straight), 145)),
        Bone("foot_l", "shin_l", ankle, ball, (0.0, 1.0, 0.0), socket(60, 35)),
        Bone("toe_l", "foot_l", ball, tip, (0.0, 1.0, 0.0), hinge(-50, 75)),
    ]


def _beyond(start: Point, direction: Point, length: float) -> Point:
    return _sum(start, (direction, length))


def _sum(start: Point, *steps: tuple[Point, float]) -> Point:
    """A point reached from another by steps: directions, each with a length."""
    x, y, z = (start[i] + sum(direction[i] * length for direction, length in steps) for i in range(3))
    return (float(x), float(y), float(z))


@cache
def skeleton() -> Skeleton:
    return build(bones())


@cache
def rig() -> Rig:
    return Rig(
        skeleton=skeleton(),
        hips="hips",
        spine=("spine_1", "spine_2", "spine_3", "chest"),
        neck=("neck_1", "neck_2"),
        head="head",
        eyes=("eye_l", "eye_r"),
        legs=[
            Leg(
                name=name,
                joints=(f"thigh_{s}", f"shin_{s}", f"foot_{s}"),
                toe=f"toe_{s}",
                sole=SOLE.ankle,
                toe_sole=SOLE.ball_height,
                heel=SOLE.heel,
                tip=SOLE.tip,
            )
            for name, s in (("left", "l"), ("right", "r"))
        ],
        arms=[
            Arm(
                name=name,
                joints=(f"upper_arm_{s}", f"forearm_{s}", f"hand_{s}"),
                shoulder=f"clavicle_{s}",
                fingers=[[f"{finger}_{n}_{s}" for n in (1, 2, 3)] for finger in ("thumb", *_FINGERS)],
            )
            for name, s in (("left", "l"), ("right", "r"))
        ],
    )


@cache
def humanoid(seed: int = 0) -> Character:
    """A person with the clips "idle", "walk" (1.35 m/s) and "run" (3.2 m/s). seed: how they look; 0 is the usual one.

    Skeleton, rig and clips are the same for all seeds. The root joint travels in "walk" and "run"; events say when a
    foot touches down ("left_down", "right_down") and leaves the ground ("left_up", "right_up").
    """
    skin = dressed(skeleton(), bones(), colours(seed))
    return Character(skeleton(), dict(_clips()), rig(), (skin,), "humanoid")


@cache
def skin_of(detail: Detail) -> Skin:
    """Return the skin of seed 0, more or less fine."""
    return dressed(skeleton(), bones(), colours(0), detail)


@cache
def _clips() -> dict[str, Clip]:
    return clips(skeleton(), SOLE)
