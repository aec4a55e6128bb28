"""A fox: 36 joints, half a metre at the withers, that stands, walks and trots."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from kinema.demo.characters.bones import Bone, build, hinge, mirrored, socket
from kinema.demo.characters.gait import FootShape
from kinema.demo.characters.quadruped_body import furred
from kinema.demo.characters.quadruped_moves import clips
from kinema.model.character import Character
from kinema.model.rig import Leg, Rig
from kinema.model.skeleton import Skeleton

SOLE = FootShape(ankle=0.034, heel=0.022, ball=0.062, ball_height=0.0, tip=0.062)
"""Of each paw: the rig, the gaits and the skin all keep to it."""


@cache
def bones() -> tuple[Bone, ...]:
    side = [*_head_side(), *_front_leg(), *_hind_leg()]
    return (*_trunk(), *side, *mirrored(side))


def _row(parent: str, limit: tuple[float, float], points: list[tuple[str, float, float]]) -> list[Bone]:
    """Bones end to end in the middle plane: (name, y, z) of where each one starts; the last has no name and ends it."""
    row: list[Bone] = []
    for (name, y, z), (_, end_y, end_z) in pairwise(points):
        above = row[-1].name if row else parent
        row.append(Bone(name, above, (0.0, y, z), (0.0, end_y, end_z), (0.0, 1.0, 0.0), socket(*limit)))
    return row


def _trunk() -> list[Bone]:
    root = Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.2, 0.0))
    hips = Bone("hips", "root", (0.0, 0.500, -0.250), (0.0, 0.505, -0.140), (0.0, 1.0, 0.0))
    back = [("spine_1", 0.505, -0.140), ("spine_2", 0.505, -0.020), ("chest", 0.500, 0.100), ("", 0.510, 0.225)]
    neck = [("neck_1", 0.510, 0.225), ("neck_2", 0.575, 0.300), ("head", 0.645, 0.365), ("", 0.640, 0.560)]
    tail = [("tail_1", 0.515, -0.300), ("tail_2", 0.490, -0.375), ("tail_3", 0.440, -0.440)]
    tail += [("tail_4", 0.385, -0.500), ("tail_5", 0.340, -0.570), ("", 0.315, -0.650)]
    return [
        root,
        hips,
        *_row("hips", (25, 15), back),
        *_row("chest", (50, 35), neck),
        Bone("jaw", "head", (0.0, 0.630, 0.400), (0.0, 0.610, 0.520), (0.0, 1.0, 0.0), hinge(-35, 3)),
        *_row("hips", (45, 30), tail),
    ]


def _head_side() -> list[Bone]:
    eye, ear = (0.0375, 0.672, 0.428), (0.038, 0.698, 0.372)
    return [
        Bone("eye_l", "head", eye, (0.0525, 0.674, 0.448), (0.0, 1.0, 0.0), socket(35, 10)),
        Bone("ear_l", "head", ear, (0.060, 0.795, 0.360), (0.0, 0.0, 1.0), socket(40, 40)),
    ]


def _front_leg() -> list[Bone]:
    x, back = 0.070, (0.0, 0.0, -1.0)
    top, shoulder, elbow = (0.048, 0.535, 0.160), (x, 0.390, 0.250), (x, 0.298, 0.158)
    wrist, foot, tip = (x, 0.103, 0.166), (x, SOLE.ankle, 0.180), (x, 0.012, 0.180 + SOLE.tip)
    return [
        Bone("scapula_l", "chest", top, shoulder, back, socket(35, 20)),
        Bone("upper_arm_l", "scapula_l", shoulder, elbow, back, socket(80, 30)),
        Bone("forearm_l", "upper_arm_l", elbow, wrist, back, hinge(-85, 42)),
        Bone("wrist_l", "forearm_l", wrist, foot, back, hinge(-35, 120)),
        Bone("front_foot_l", "wrist_l", foot, tip, (0.0, 1.0, 0.0), socket(85, 25)),
    ]


def _hind_leg() -> list[Bone]:
    x, back = 0.072, (0.0, 0.0, -1.0)
    hip, knee, hock = (x, 0.465, -0.250), (x, 0.310, -0.165), (x, 0.165, -0.300)
    foot, tip = (x, SOLE.ankle, -0.265), (x, 0.012, -0.265 + SOLE.tip)
    return [
        Bone("thigh_l", "hips", hip, knee, back, socket(80, 30)),
        Bone("shin_l", "thigh_l", knee, hock, back, hinge(-70, 70)),
        Bone("hock_l", "shin_l", hock, foot, back, hinge(-75, 57)),
        Bone("hind_foot_l", "hock_l", foot, tip, (0.0, 1.0, 0.0), socket(85, 25)),
    ]


@cache
def skeleton() -> Skeleton:
    return build(bones())


@cache
def rig() -> Rig:
    chains = {"front": ("upper_arm", "forearm", "wrist", "front_foot"), "hind": ("thigh", "shin", "hock", "hind_foot")}
    return Rig(
        skeleton=skeleton(),
        hips="hips",
        spine=("spine_1", "spine_2", "chest"),
        neck=("neck_1", "neck_2"),
        head="head",
        eyes=("eye_l", "eye_r"),
        legs=[
            Leg(
                name=f"{end}_{side}",
                joints=[f"{joint}_{side[0]}" for joint in chain],
                sole=SOLE.ankle,
                heel=SOLE.heel,
                tip=SOLE.tip,
            )
            for end, chain in chains.items()
            for side in ("left", "right")
        ],
        tails=[[f"tail_{n}" for n in range(1, 6)]],
    )


@cache
def quadruped() -> Character:
    """A fox with the clips "idle", "walk" (0.8 m/s, four beats) and "run" (a trot, 2.2 m/s).

    The root joint travels in "walk" and "run"; events say when a paw touches down ("front_left_down") and leaves the
    ground ("front_left_up").
    """
    skin = furred(skeleton(), bones())
    return Character(skeleton(), clips(skeleton(), SOLE), rig(), (skin,), "quadruped")
