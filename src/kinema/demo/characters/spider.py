"""A spider: eight legs of four bones, a body and an abdomen; stands, walks and runs. A metre across."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from kinema.demo.characters.bones import Bone, Point, build, hinge, mirrored, socket
from kinema.demo.characters.puppet import Y
from kinema.demo.characters.spider_body import shelled
from kinema.demo.characters.spider_moves import clips
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.rig import Leg, Rig
from kinema.model.skeleton import Skeleton

_AIMS = (38.0, 72.0, 106.0, 143.0)
"""Which way each leg of the left side points at rest, degrees from straight ahead."""

_REACH = (0.48, 0.41, 0.41, 0.49)
"""How far from the middle of the body each leg stands, metres."""

_BODY = 0.150
"""Height of the body, metres."""

_LEAN = 0.35
"""How far the last bone leans in from upright, radians."""

_COXA, _FEMUR, _TIBIA, _TARSUS = 0.055, 0.205, 0.240, 0.140


@cache
def bones() -> tuple[Bone, ...]:
    trunk = [
        Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.1, 0.0)),
        Bone("body", "root", (0.0, _BODY, 0.0), (0.0, _BODY, 0.110), (0.0, 1.0, 0.0)),
        Bone("head", "body", (0.0, _BODY, 0.060), (0.0, _BODY, 0.130), (0.0, 1.0, 0.0), socket(20, 10)),
        Bone(
            "abdomen",
            "body",
            (0.0, _BODY + 0.010, -0.075),
            (0.0, _BODY + 0.050, -0.290),
            (0.0, 1.0, 0.0),
            socket(30, 15),
        ),
    ]
    side = [bone for n in range(4) for bone in _leg(n)]
    return (*trunk, *side, *mirrored(side))


def _leg(n: int) -> list[Bone]:
    """Up from the body, over the knee, down to the tip, all in one upright plane; every joint a hinge."""
    aim = math.radians(_AIMS[n])
    out = np.array((math.sin(aim), 0.0, math.cos(aim)))
    start = np.array((0.052 * math.sin(aim), _BODY - 0.010, 0.020 + 0.062 * math.cos(aim)))
    femur = start + out * _COXA
    tip = start + out * (_REACH[n] - start @ out + 0.020 * out[2])
    tip[1] = 0.0
    tarsus = tip + _TARSUS * (Y * math.cos(_LEAN) - out * math.sin(_LEAN))
    knee = _over(femur, tarsus)
    row = [_point(point) for point in (start, femur, knee, tarsus, tip, tip + 0.02 * out)]
    rise, fold, ankle = (_bend(*row[k : k + 3]) for k in range(3))
    upright, away, level = _point(Y), _point(out), _point(np.cross(out, Y))
    name = f"{n + 1}_l"
    return [
        # Bones that face level have an upright +X of their own, the others a level one, about which + is up and out.
        Bone(f"coxa_{name}", "body", row[0], row[1], level, hinge(-50, 50)),
        Bone(f"femur_{name}", f"coxa_{name}", row[1], row[2], upright, hinge(-45 - rise, 85 - rise)),
        Bone(f"tibia_{name}", f"femur_{name}", row[2], row[3], away, hinge(fold - 150, fold - 3)),
        Bone(f"tarsus_{name}", f"tibia_{name}", row[3], row[4], away, hinge(ankle - 75, ankle + 15)),
        Bone(f"tip_{name}", f"tarsus_{name}", row[4], row[5], upright),
    ]


def _bend(start: Point, middle: Point, end: Point) -> float:
    """Degrees between two bones; 0 is straight."""
    upper, lower = arrays.unit(np.subtract(middle, start)), arrays.unit(np.subtract(end, middle))
    return math.degrees(math.acos(upper @ lower))


def _point(point: Any) -> Point:
    x, y, z = (float(value) for value in point)
    return (x, y, z)


def _over(femur: Any, tarsus: Any) -> Any:
    """Where the knee is between both, above the line from one to the other."""
    line = tarsus - femur
    length = float(np.linalg.norm(line))
    along = (_FEMUR**2 - _TIBIA**2 + length**2) / (2 * length)
    aside = arrays.unit(Y - line * line[1] / length**2)
    return femur + line * along / length + aside * math.sqrt(_FEMUR**2 - along**2)


@cache
def skeleton() -> Skeleton:
    return build(bones())


@cache
def rig() -> Rig:
    names = ("coxa", "femur", "tibia", "tarsus", "tip")
    return Rig(
        skeleton=skeleton(),
        hips="body",
        head="head",
        legs=[
            Leg(name=f"{side}{n}", joints=[f"{joint}_{n}_{side}" for joint in names], sole=0.0, heel=0.0, tip=0.0)
            for side in ("l", "r")
            for n in (1, 2, 3, 4)
        ],
    )


@cache
def spider(*, moves: bool = True) -> Character:
    """A spider with the clips "idle", "walk" (0.4 m/s) and "run" (1.1 m/s): four legs swing while four stand.

    The root joint travels in "walk" and "run"; events say when a leg touches down ("l1_down") and leaves the ground
    ("l1_up"). moves: whether it has its clips, which take most of the time to make it.
    """
    own = clips(skeleton()) if moves else {}
    return Character(skeleton(), own, rig(), (shelled(skeleton(), bones()),), "spider")
