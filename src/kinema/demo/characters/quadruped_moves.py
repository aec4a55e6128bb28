"""How the fox stands, walks and trots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinema.demo.characters.gait import FootShape, FootStep, Keys, Wave, degrees, foot_path, footfalls, phases, through
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.model.clip import Clip
from kinema.model.skeleton import Skeleton

_SPINE = ("spine_1", "spine_2", "chest")
_NECK = ("neck_1", "neck_2", "head")
_TAIL = tuple(f"tail_{n}" for n in range(1, 6))
_LEGS = {  # Joints, and the bend axis of the second one: a rotation about +X moves its lower end back.
    "front": (("upper_arm", "forearm", "wrist", "front_foot"), -X),
    "hind": (("thigh", "shin", "hock", "hind_foot"), X),
}


@dataclass(frozen=True, kw_only=True)
class QuadrupedGait:
    """A gait. period: seconds per cycle. speed: metres per second; 0 stands. Angles in radians.

    starts: the phase at which each leg touches down. front, hind: their steps, on the left. front_cannon, hind_cannon:
    keys over the leg's cycle of the rotation of the last bone above the foot, its lower end back. scapula: of the
    shoulder blade, likewise. height, sway: of the hips, and all with them, metres. yaw, tilt, pitch: of the hips; the
    chest goes against them. nod: of the neck. wag, droop: of the tail, to the left and down.
    """

    period: float
    speed: float
    starts: dict[str, float]
    front: FootStep
    hind: FootStep
    front_cannon: Keys
    hind_cannon: Keys
    scapula: Wave
    height: Wave
    sway: Wave
    yaw: Wave
    tilt: Wave
    pitch: Wave
    nod: Wave
    wag: Wave
    droop: Wave


def _step(ahead: float, side: float, lift: float, pitch: Keys, swing: Sequence[tuple[float, float, float]]) -> FootStep:
    """Make the step of a left paw. It has no toe joint: it rolls over its tip once its heel leaves the ground."""
    heel_off = max(phase for phase, angle in pitch if angle == 0.0)
    return FootStep(
        ahead=ahead,
        side=side,
        out=math.radians(3),
        heel_off=heel_off,
        tip_off=lift,
        lift=lift,
        pitch=pitch,
        swing=swing,
        landing=0.7,
    )


WALK = QuadrupedGait(
    period=0.80,
    speed=0.80,
    starts={"hind_left": 0.0, "front_left": 0.25, "hind_right": 0.5, "front_right": 0.75},
    front=_step(
        0.180 + 0.215,
        0.058,
        30 / 48,
        [(0.0, -0.12), (0.04, 0.0), (0.40, 0.0), (0.55, 0.40), (0.625, 0.80), (0.72, 1.30), (0.84, 0.7), (0.94, -0.10)],
        [(0.74, 0.060, 0.27), (0.85, 0.060, 0.66), (0.94, 0.022, 0.95)],
    ),
    hind=_step(
        -0.265 + 0.225,
        0.060,
        30 / 48,
        [(0.0, -0.08), (0.04, 0.0), (0.40, 0.0), (0.55, 0.40), (0.625, 0.75), (0.72, 1.1), (0.84, 0.5), (0.94, -0.08)],
        [(0.74, 0.050, 0.27), (0.85, 0.048, 0.66), (0.94, 0.016, 0.96)],
    ),
    front_cannon=[(0.0, -0.30), (0.30, -0.10), (0.55, 0.30), (0.64, 0.62), (0.75, 1.15), (0.85, 0.80), (0.95, -0.10)],
    hind_cannon=[(0.0, -0.15), (0.30, 0.05), (0.55, 0.45), (0.64, 0.62), (0.72, 0.62), (0.82, 0.12), (0.92, -0.16)],
    scapula=degrees(-11.0, 0.98),
    height=Wave(0.006, 0.18, 2, mean=-0.020),
    sway=Wave(0.010, 0.30),
    yaw=degrees(-4.5, 0.02),
    tilt=degrees(2.5, 0.25),
    pitch=degrees(0.8, 0.10, 2),
    nod=degrees(3.0, 0.35, 2, mean=6.0),
    wag=degrees(9.0, 0.1),
    droop=degrees(2.0, 0.1, 2),
)

RUN = QuadrupedGait(
    period=0.50,
    speed=2.2,
    starts={"hind_left": 0.0, "front_right": 0.0, "hind_right": 0.5, "front_left": 0.5},
    front=_step(
        0.180 + 0.180,
        0.048,
        12 / 30,
        [(0.0, -0.10), (0.04, 0.0), (0.25, 0.0), (0.34, 0.35), (0.40, 0.75), (0.54, 1.5), (0.72, 1.2), (0.92, -0.05)],
        [(0.53, 0.080, 0.17), (0.71, 0.100, 0.60), (0.88, 0.046, 0.96)],
    ),
    hind=_step(
        -0.265 + 0.215,
        0.050,
        12 / 30,
        [(0.0, -0.08), (0.04, 0.0), (0.25, 0.0), (0.34, 0.35), (0.40, 0.75), (0.54, 1.3), (0.72, 0.8), (0.92, -0.05)],
        [(0.53, 0.056, 0.17), (0.71, 0.048, 0.60), (0.88, 0.022, 0.96)],
    ),
    front_cannon=[(0.0, -0.30), (0.20, -0.05), (0.34, 0.40), (0.40, 0.66), (0.56, 1.30), (0.74, 1.10), (0.93, -0.15)],
    hind_cannon=[
        (0.0, -0.12),
        (0.20, 0.10),
        (0.34, 0.55),
        (0.40, 0.70),
        (0.50, 0.80),
        (0.66, 0.28),
        (0.78, -0.08),
        (0.90, -0.20),
    ],
    scapula=degrees(-16.0, 0.97),
    height=Wave(0.014, 0.46, 2, mean=-0.018),
    sway=Wave(0.006, 0.20),
    yaw=degrees(-4.0),
    tilt=degrees(2.0, 0.2),
    pitch=degrees(1.2, 0.35, 2),
    nod=degrees(2.5, 0.40, 2, mean=10.0),
    wag=degrees(6.0, 0.1),
    droop=degrees(4.0, 0.1, 2, mean=-14.0),
)

STAND = QuadrupedGait(
    period=4.0,
    speed=0.0,
    starts={"hind_left": 0.0, "front_left": 0.0, "hind_right": 0.0, "front_right": 0.0},
    front=_step(0.180, 0.060, 1.0, [(0.0, 0.0)], ()),
    hind=_step(-0.265, 0.060, 1.0, [(0.0, 0.0)], ()),
    front_cannon=[(0.0, 0.0)],
    hind_cannon=[(0.0, 0.0)],
    scapula=Wave(0.0),
    height=Wave(0.003, 0.3, 2, mean=-0.010),
    sway=Wave(0.010, 0.2),
    yaw=degrees(1.0, 0.3),
    tilt=degrees(1.0, 0.2),
    pitch=degrees(0.5, 0.3, 2),
    nod=degrees(2.5, 0.35, 1, mean=-2.0),
    wag=degrees(12.0, 0.1, 2),
    droop=degrees(1.5, 0.1, 2),
)


def clips(skeleton: Skeleton, sole: FootShape) -> dict[str, Clip]:
    return {name: _going(name, skeleton, sole, gait) for name, gait in (("idle", STAND), ("walk", WALK), ("run", RUN))}


def _going(name: str, skeleton: Skeleton, sole: FootShape, gait: QuadrupedGait) -> Clip:
    """Make one cycle. Its first and last frame differ only by the distance travelled."""
    phase = phases(gait.period)
    puppet = Puppet(skeleton, len(phase))
    _carry(puppet, gait, phase)
    events = []
    for leg, start in gait.starts.items():
        step = gait.front if leg.startswith("front") else gait.hind
        _plant(puppet, sole, gait, leg, phase - start)
        if gait.speed:
            events += footfalls(leg, start, step.lift, gait.period)
    puppet.offsets[:, 0, 2] = gait.speed * gait.period * phase
    return puppet.clip(name, gait.period, events)


def _carry(puppet: Puppet, gait: QuadrupedGait, phase: Any) -> None:
    """Bend the trunk sideways and up and down; neck and tail follow."""
    hips = puppet.skeleton.index("hips")
    puppet.offsets[:, hips, 0] = gait.sway(phase)
    puppet.offsets[:, hips, 1] = gait.height(phase)
    yaw, pitch, tilt = gait.yaw(phase), gait.pitch(phase), gait.tilt(phase)
    puppet.rotate(hips, compose(rotation(Y, yaw), rotation(X, pitch), rotation(Z, tilt)))
    puppet.rotate_along(
        _SPINE, compose(rotation(Y, -2.0 * yaw), rotation(X, -1.6 * pitch), rotation(Z, -1.2 * gait.tilt(phase)))
    )
    puppet.rotate_along(_NECK, compose(rotation(Y, yaw), rotation(X, gait.nod(phase))))
    puppet.rotate("head", rotation(X, -1.1 * gait.nod(phase)))
    for n, joint in enumerate(_TAIL):
        late = phase - 0.07 * n
        puppet.rotate(joint, compose(rotation(Y, 0.5 * gait.wag(late)), rotation(X, -gait.droop(late))))


def _plant(puppet: Puppet, sole: FootShape, gait: QuadrupedGait, leg: str, own: Any) -> None:
    """Bend a leg so that its foot follows the path. own: (F,), phase of its own cycle."""
    end, side = leg.split("_")
    sign = 1.0 if side == "left" else -1.0
    names, bends = _LEGS[end]
    joints = [f"{name}_{side[0]}" for name in names]
    step, cannon = (gait.front, gait.front_cannon) if end == "front" else (gait.hind, gait.hind_cannon)
    if end == "front":
        puppet.rotate(f"scapula_{side[0]}", rotation(X, gait.scapula(own)))
    step = replace(step, side=sign * step.side, out=sign * step.out)
    path = foot_path(sole, step, gait.speed * gait.period, own)
    puppet.reach_on(joints, path.ankle, bends, through(cannon, own))
    puppet.hold(joints[-1], path.foot())
