"""How the humanoid stands, walks and runs: foot paths and waves over a cycle, converted to poses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.demo.characters.gait import (
    FootPath,
    FootShape,
    FootStep,
    Wave,
    degrees,
    foot_path,
    footfalls,
    phases,
    through,
)
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.skeleton import Skeleton

_SPINE = ("spine_1", "spine_2", "spine_3", "chest")
_NECK = ("neck_1", "neck_2", "head")
_SIDES = (("l", "left", 1.0), ("r", "right", -1.0))


@dataclass(frozen=True, kw_only=True)
class TrunkMotion:
    """Motion of hips and chest over a cycle, in metres from rest and radians; the left foot touches down at phase 0.

    yaw, chest_yaw: to the left. lean, chest_lean: forward. tilt, chest_tilt: the left side up.
    """

    height: Wave
    sway: Wave
    surge: Wave
    yaw: Wave
    lean: Wave
    tilt: Wave
    chest_yaw: Wave
    chest_lean: Wave
    chest_tilt: Wave


@dataclass(frozen=True, kw_only=True)
class ArmMotion:
    """Motion of an arm over the cycle of the leg on its side, radians.

    swing: back. elbow: how far it bends more than at rest. inward: how much nearer to the body they hang than at rest.
    twist: how far the elbows point out. curl: of each finger joint.
    """

    swing: Wave
    elbow: Wave
    inward: float
    twist: float
    curl: float


@dataclass(frozen=True, kw_only=True)
class HumanoidGait:
    """A gait. period: seconds per cycle. speed: metres per second."""

    period: float
    speed: float
    step: FootStep
    trunk: TrunkMotion
    arms: ArmMotion


WALK = HumanoidGait(
    period=1.0,
    speed=1.35,
    step=FootStep(
        ahead=0.318,
        side=0.065,
        out=math.radians(6),
        heel_off=0.34,
        tip_off=0.54,
        lift=37 / 60,
        pitch=[
            (0.0, -0.35),
            (0.09, 0.0),
            (0.34, 0.0),
            (0.45, 0.16),
            (0.54, 0.52),
            (0.617, 1.05),
            (0.66, 1.19),
            (0.76, 0.70),
            (0.86, 0.03),
            (0.94, -0.30),
        ],
        roll=0.49,
        swing=[(0.70, 0.150, 0.16), (0.80, 0.084, 0.50), (0.90, 0.034, 0.86)],
        landing=0.5,
    ),
    trunk=TrunkMotion(
        height=Wave(0.0175, 0.30, 2, mean=-0.030),
        sway=Wave(0.020, 0.27),
        surge=Wave(0.008, 0.12, 2),
        yaw=degrees(-5.5),
        lean=degrees(1.0, 0.05, 2, mean=4.0),
        tilt=degrees(3.5, 0.16),
        chest_yaw=degrees(6.0),
        chest_lean=degrees(1.0, 0.10, 2, mean=2.0),
        chest_tilt=degrees(-1.2, 0.20),
    ),
    arms=ArmMotion(
        swing=degrees(20.0, 0.02, mean=2.0),
        elbow=degrees(11.0, 0.52, mean=20.0),
        inward=math.radians(28),
        twist=math.radians(7),
        curl=math.radians(22),
    ),
)

RUN = HumanoidGait(
    period=0.70,
    speed=3.2,
    step=FootStep(
        ahead=0.215,
        side=0.045,
        out=math.radians(4),
        heel_off=0.17,
        tip_off=0.28,
        lift=15 / 42,
        pitch=[
            (0.0, -0.16),
            (0.06, 0.0),
            (0.17, 0.0),
            (0.24, 0.35),
            (0.28, 0.63),
            (0.357, 1.10),
            (0.42, 1.36),
            (0.56, 1.53),
            (0.72, 0.70),
            (0.86, -0.07),
            (0.94, -0.21),
        ],
        roll=0.45,
        swing=[(0.46, 0.275, 0.08), (0.58, 0.325, 0.30), (0.72, 0.25, 0.68), (0.88, 0.13, 0.99)],
        landing=0.6,
    ),
    trunk=TrunkMotion(
        height=Wave(0.032, 0.42, 2, mean=-0.058),
        sway=Wave(0.010, 0.17),
        surge=Wave(0.008, 0.0, 2),
        yaw=degrees(-7.0),
        lean=degrees(2.0, 0.10, 2, mean=9.0),
        tilt=degrees(4.0, 0.14),
        chest_yaw=degrees(12.0),
        chest_lean=degrees(1.5, 0.12, 2, mean=9.0),
        chest_tilt=degrees(-2.0, 0.15),
    ),
    arms=ArmMotion(
        swing=degrees(34.0, mean=8.0),
        elbow=degrees(12.0, 0.5, mean=82.0),
        inward=math.radians(20),
        twist=math.radians(2),
        curl=math.radians(58),
    ),
)

_STAND = TrunkMotion(
    height=Wave(0.002, 0.45, mean=-0.004),
    sway=Wave(0.016, 0.20),
    surge=Wave(0.004, 0.55),
    yaw=degrees(1.5, 0.25),
    lean=degrees(0.4, 0.3, 1, mean=1.0),
    tilt=degrees(1.3, 0.18),
    chest_yaw=degrees(-1.6, 0.35),
    chest_lean=degrees(-1.0, 0.45, 1, mean=0.5),
    chest_tilt=degrees(-0.8, 0.22),
)
_HANG = ArmMotion(
    swing=degrees(0.8, 0.4, mean=1.0),
    elbow=degrees(1.5, 0.5, mean=9.0),
    inward=math.radians(29),
    twist=math.radians(6),
    curl=math.radians(17),
)
_STANDING = 4.0  # Seconds of a cycle: one breath, one shift of the weight from foot to foot.


def clips(skeleton: Skeleton, sole: FootShape) -> dict[str, Clip]:
    return {
        "idle": _standing(skeleton, sole),
        "walk": _going("walk", skeleton, sole, WALK),
        "run": _going("run", skeleton, sole, RUN),
    }


def _going(name: str, skeleton: Skeleton, sole: FootShape, gait: HumanoidGait) -> Clip:
    """Make one cycle. Its first and last frame differ only by the distance travelled."""
    phase = phases(gait.period)
    puppet = Puppet(skeleton, len(phase))
    stride = gait.speed * gait.period
    _carry(puppet, gait.trunk, phase)
    events = []
    for side, leg, sign in _SIDES:
        start = 0.0 if sign > 0 else 0.5
        step = replace(gait.step, side=sign * gait.step.side, out=sign * gait.step.out)
        _plant(puppet, side, foot_path(sole, step, stride, phase - start))
        _swing(puppet, side, sign, gait.arms, phase - start)
        events += footfalls(leg, start, step.lift, gait.period)
    puppet.offsets[:, 0, 2] = stride * phase
    return puppet.clip(name, gait.period, events)


def _standing(skeleton: Skeleton, sole: FootShape) -> Clip:
    """Make the idle clip: breathing, shifting weight from foot to foot, blinking."""
    phase = phases(_STANDING)
    puppet = Puppet(skeleton, len(phase))
    _carry(puppet, _STAND, phase)
    breath = Wave(1.0, 0.45)(phase)
    puppet.rotate("head", compose(rotation(Y, degrees(3.0, 0.62)(phase)), rotation(X, degrees(1.2, 0.3, 2)(phase))))
    still = FootStep(ahead=0.0, side=0.0, heel_off=1.0, tip_off=1.0, lift=1.0)
    for side, _, sign in _SIDES:
        step = replace(still, ahead=-0.02 + 0.025 * sign, side=0.115 * sign, out=math.radians(9) * sign)
        _plant(puppet, side, foot_path(sole, step, 0.0, phase))
        _swing(puppet, side, sign, _HANG, phase)
        puppet.rotate(f"clavicle_{side}", rotation(Z, sign * math.radians(1.2) * breath))
        puppet.rotate(f"lid_{side}", rotation(X, through(_blinks(0.21, 0.66), phase)))
    return puppet.clip("idle", _STANDING)


def _blinks(*at: float) -> list[tuple[float, float]]:
    """Return keys of the rotation of the upper lids, radians, for blinks at some phases."""
    shut = math.radians(48)
    return [key for p in at for key in ((p - 0.02, 0.0), (p - 0.006, shut), (p + 0.004, shut), (p + 0.05, 0.0))]


def _carry(puppet: Puppet, trunk: TrunkMotion, phase: Any) -> None:
    """Move hips and chest; the head stays almost level and faces ahead."""
    hips = puppet.skeleton.index("hips")
    puppet.offsets[:, hips] = np.stack((trunk.sway(phase), trunk.height(phase), trunk.surge(phase)), axis=-1)
    pelvis = _turned(trunk.yaw(phase), trunk.lean(phase), trunk.tilt(phase))
    chest = _turned(trunk.chest_yaw(phase), trunk.chest_lean(phase), trunk.chest_tilt(phase))
    head = _turned(0.15 * trunk.chest_yaw(phase), 0.4 * trunk.chest_lean(phase), 0.2 * trunk.chest_tilt(phase))
    puppet.rotate(hips, pelvis)
    puppet.rotate_along(_SPINE, arrays.mul(arrays.conj(pelvis), chest))
    puppet.rotate_along(_NECK, arrays.mul(arrays.conj(chest), head))


def _turned(yaw: Any, lean: Any, tilt: Any) -> Any:
    return compose(rotation(Y, yaw), rotation(X, lean), rotation(Z, tilt))


def _plant(puppet: Puppet, side: str, path: FootPath) -> None:
    """Bend a leg so that its foot follows the path; the knee points where the foot does."""
    thigh, shin, foot, toe = (f"{name}_{side}" for name in ("thigh", "shin", "foot", "toe"))
    puppet.reach((thigh, shin, foot), path.ankle, X, arrays.rotate(rotation(Y, path.out), X))
    puppet.hold(foot, path.foot())
    puppet.hold(toe, path.toe())


def _swing(puppet: Puppet, side: str, sign: float, arms: ArmMotion, own: Any) -> None:
    """Swing an arm against its leg. own: phase of the leg on this side. sign: 1 on the left, -1 on the right."""
    shoulder, elbow, wrist = (puppet.skeleton.index(f"{name}_{side}") for name in ("upper_arm", "forearm", "hand"))
    upper, lower = (puppet.rest[b] - puppet.rest[a] for a, b in ((shoulder, elbow), (elbow, wrist)))
    swing = arms.swing(own)
    hanging = compose(rotation(X, swing), rotation(Z, -sign * arms.inward), rotation(upper, sign * arms.twist))
    puppet.rotate(shoulder, hanging)
    puppet.rotate(f"clavicle_{side}", rotation(Y, sign * 0.18 * swing))
    puppet.rotate(elbow, rotation(np.cross(upper, lower), arms.elbow(own)))
    for share, finger in ((0.35, "thumb"), (0.8, "index"), (0.95, "middle"), (1.05, "ring"), (1.15, "little")):
        for n in (1, 2, 3):
            j = puppet.skeleton.index(f"{finger}_{n}_{side}")
            puppet.rotate(j, rotation(puppet.skeleton.rest_world[j, :3, 0], arms.curl * share))
