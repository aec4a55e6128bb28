"""How the spider stands, walks and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.characters.gait import FootShape, FootStep, Wave, degrees, foot_path, footfalls, phases, through
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.skeleton import Skeleton

_JOINTS = ("coxa", "femur", "tibia", "tarsus", "tip")

_POINT = FootShape(ankle=0.0)
"""The tip of a leg touches the ground at a point."""


@dataclass(frozen=True, kw_only=True)
class SpiderGait:
    """A gait. period: seconds per cycle. speed: metres per second. lift: phase at which a leg leaves the ground.

    up: how high a tip swings, metres. height, sway: of the body, metres. pitch, tilt, yaw: of the body, radians.
    abdomen: of that against the body, radians. grip: how far a tarsus leans out while its leg is in the air, radians.
    """

    period: float
    speed: float
    lift: float
    up: float
    height: Wave
    sway: Wave
    pitch: Wave
    tilt: Wave
    yaw: Wave
    abdomen: Wave
    grip: float


STAND = SpiderGait(
    period=4.0,
    speed=0.0,
    lift=1.0,
    up=0.0,
    height=Wave(0.006, 0.3, 2),
    sway=Wave(0.006, 0.15),
    pitch=degrees(1.5, 0.3),
    tilt=degrees(1.0, 0.2),
    yaw=degrees(1.5, 0.6),
    abdomen=degrees(3.0, 0.35, 2),
    grip=0.0,
)
WALK = SpiderGait(
    period=0.70,
    speed=0.40,
    lift=24 / 42,
    up=0.055,
    height=Wave(0.005, 0.2, 2),
    sway=Wave(0.007, 0.25),
    pitch=degrees(1.0, 0.1, 2),
    tilt=degrees(1.2, 0.25),
    yaw=degrees(2.0, 0.05),
    abdomen=degrees(2.5, 0.2, 2),
    grip=0.25,
)
RUN = SpiderGait(
    period=0.40,
    speed=1.0,
    lift=13 / 24,
    up=0.050,
    height=Wave(0.006, 0.2, 2, mean=-0.010),
    sway=Wave(0.005, 0.25),
    pitch=degrees(1.2, 0.1, 2, mean=1.0),
    tilt=degrees(1.2, 0.25),
    yaw=degrees(1.5, 0.05),
    abdomen=degrees(3.0, 0.25, 2),
    grip=0.30,
)


def clips(skeleton: Skeleton) -> dict[str, Clip]:
    return {name: _going(name, skeleton, gait) for name, gait in (("idle", STAND), ("walk", WALK), ("run", RUN))}


def _going(name: str, skeleton: Skeleton, gait: SpiderGait) -> Clip:
    """Make one cycle. Its first and last frame differ only by the distance travelled."""
    phase = phases(gait.period)
    puppet = Puppet(skeleton, len(phase))
    _carry(puppet, gait, phase)
    events = []
    for side in ("l", "r"):
        for n in (1, 2, 3, 4):
            start = _start(side, n, len(phase) - 1)
            _plant(puppet, gait, [f"{joint}_{n}_{side}" for joint in _JOINTS], phase - start)
            if gait.speed:
                events += footfalls(f"{side}{n}", start, gait.lift, gait.period)
    puppet.offsets[:, 0, 2] = gait.speed * gait.period * phase
    return puppet.clip(name, gait.period, events)


def _carry(puppet: Puppet, gait: SpiderGait, phase: Any) -> None:
    body = puppet.skeleton.index("body")
    puppet.offsets[:, body, 0] = gait.sway(phase)
    puppet.offsets[:, body, 1] = gait.height(phase)
    puppet.rotate(
        body, compose(rotation(Y, gait.yaw(phase)), rotation(X, gait.pitch(phase)), rotation(Z, gait.tilt(phase)))
    )
    puppet.rotate("abdomen", rotation(X, gait.abdomen(phase)))
    puppet.rotate("head", rotation(X, -gait.pitch(phase)))


def _start(side: str, n: int, frames: int) -> float:
    """Return the phase of touch-down, at a key: neighbours are half a cycle apart, front legs slightly later."""
    start = (0.5 if (side == "r") != (n % 2 == 0) else 0.0) + 0.03 * (4 - n)
    return round(start * frames) % frames / frames


def _plant(puppet: Puppet, gait: SpiderGait, joints: Sequence[str], own: Any) -> None:
    """Rotate a leg until its plane contains the tip's target, then bend it down to the target."""
    coxa, femur, tibia, tarsus, tip = (puppet.skeleton.index(joint) for joint in joints)
    target = foot_path(_POINT, _step(gait, puppet.rest[tip]), gait.speed * gait.period, own).ankle
    body, _ = puppet.transform("body")
    seen = arrays.rotate(arrays.conj(body), target - puppet.transform(coxa)[1])
    out = puppet.rest[femur] - puppet.rest[coxa]
    aimed = rotation(Y, np.arctan2(seen[:, 0], seen[:, 2]) - np.arctan2(out[0], out[2]))
    puppet.rotate(coxa, aimed)
    leg, hinge = arrays.mul(body, aimed), arrays.unit(np.cross(out, -Y))
    last = arrays.mul(leg, rotation(hinge, -gait.grip * _in_air(gait, own)))
    ankle = target - arrays.rotate(last, puppet.rest[tip] - puppet.rest[tarsus])
    puppet.reach((femur, tibia, tarsus), ankle, hinge, arrays.rotate(leg, hinge))
    puppet.hold(tarsus, last)


def _step(gait: SpiderGait, rest: Any) -> FootStep:
    """Make a step as far ahead of the tip's rest position as behind it."""
    lift, half = gait.lift, gait.speed * gait.period * gait.lift / 2
    swing = [(lift + (1 - lift) * share, gait.up * up, share) for share, up in ((0.3, 0.85), (0.65, 0.9))]
    return FootStep(
        ahead=float(rest[2]) + half,
        side=float(rest[0]),
        heel_off=lift,
        tip_off=lift,
        lift=lift,
        swing=swing if lift < 1 else (),
        landing=0.6,
    )


def _in_air(gait: SpiderGait, own: Any) -> Any:
    """Return 0 on the ground, 1 in the middle of the swing."""
    keys = [(0.0, 0.0), (gait.lift, 0.0), ((1 + gait.lift) / 2, 1.0)] if gait.lift < 1 else [(0.0, 0.0)]
    return through(keys, own)
