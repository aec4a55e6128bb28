"""A person: a mannequin of 60 joints, 1.75 m tall, that stands, walks and runs. Its data is `humanoid.toml`."""

from functools import cache
from typing import Any

import numpy as np

from kinema.demo.characters.gait import CharacterGait, FootStep, foot_path, make_clip, through
from kinema.demo.characters.humanoid_body import colours, dressed
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.demo.characters.sheet import made_once, sheet
from kinema.demo.characters.shells import Detail
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.skin import Skin

_CURLS = {"thumb": 0.35, "index": 0.8, "middle": 0.95, "ring": 1.05, "little": 1.15}
"""How much each finger curls, as shares of the gait's curl."""


@made_once
def humanoid(seed: int = 0) -> Character:
    """A person with the clips "idle", "walk" (1.35 m/s) and "run" (3.2 m/s). seed: how they look; 0 is the usual one.

    Skeleton, rig and clips are the same for all seeds. The root joint travels in "walk" and "run"; events say when a
    foot touches down ("left_down", "right_down") and leaves the ground ("left_up", "right_up").
    """
    own = sheet("humanoid")
    return Character(own.skeleton, dict(_clips()), own.rig, (dressed(own, colours(own, seed)),), "humanoid")


@cache
def skin_of(detail: Detail) -> Skin:
    """Return the skin of seed 0, more or less fine."""
    own = sheet("humanoid")
    return dressed(own, colours(own, 0), detail)


@cache
def _clips() -> dict[str, Clip]:
    own = sheet("humanoid")
    return {name: make_clip(name, own.skeleton, gait, _carry, _plant) for name, gait in own.gaits.items()}


def _carry(puppet: Puppet, gait: CharacterGait, phase: Any) -> None:
    """Move hips and chest; the head stays almost level and faces ahead."""
    rig, hips = sheet("humanoid").rig, puppet.skeleton.index("hips")
    puppet.offsets[:, hips] = np.stack(gait.at(phase, "sway", "height", "surge"), axis=-1)
    pelvis = _turned(*gait.at(phase, "yaw", "lean", "tilt"))
    chest_yaw, chest_lean, chest_tilt = gait.at(phase, "chest_yaw", "chest_lean", "chest_tilt")
    chest = _turned(chest_yaw, chest_lean, chest_tilt)
    head = _turned(0.15 * chest_yaw, 0.4 * chest_lean, 0.2 * chest_tilt)
    puppet.rotate(hips, pelvis)
    puppet.rotate_along(rig.spine, arrays.mul(arrays.conj(pelvis), chest))
    puppet.rotate_along((*rig.neck, "head"), arrays.mul(arrays.conj(chest), head))
    if not gait.speed:  # It looks around.
        look, nod = gait.at(phase, "look", "nod")
        puppet.rotate("head", compose(rotation(Y, look), rotation(X, nod)))


def _turned(yaw: Any, lean: Any, tilt: Any) -> Any:
    return compose(rotation(Y, yaw), rotation(X, lean), rotation(Z, tilt))


def _plant(puppet: Puppet, gait: CharacterGait, leg: str, own: Any) -> FootStep:
    """Bend a leg so that its foot follows its path, the knee where the foot points, and swing the arm beside it."""
    side, sign = leg[0], 1.0 if leg == "left" else -1.0
    step = gait.step("foot", sign)
    path = foot_path(gait.foot, step, gait.stride, own)
    thigh, shin, foot, toe = (f"{name}_{side}" for name in ("thigh", "shin", "foot", "toe"))
    puppet.reach((thigh, shin, foot), path.ankle, X, arrays.rotate(rotation(Y, path.out), X))
    puppet.hold(foot, path.foot())
    puppet.hold(toe, path.toe())
    _swing(puppet, gait, side, sign, own)
    if not gait.speed:  # It breathes and blinks.
        puppet.rotate(f"clavicle_{side}", rotation(Z, sign * gait.waves["breath"](own)))
        puppet.rotate(f"lid_{side}", rotation(X, through(gait.keys["blink"], own)))
    return step


def _swing(puppet: Puppet, gait: CharacterGait, side: str, sign: float, own: Any) -> None:
    """Swing an arm against its leg. sign: 1 on the left, -1 on the right."""
    shoulder, elbow, wrist = (puppet.skeleton.index(f"{name}_{side}") for name in ("upper_arm", "forearm", "hand"))
    upper, lower = (puppet.rest[b] - puppet.rest[a] for a, b in ((shoulder, elbow), (elbow, wrist)))
    swing, bend = gait.at(own, "swing", "elbow")
    inward, twist, curl = (gait.numbers[name] for name in ("inward", "twist", "curl"))
    puppet.rotate(shoulder, compose(rotation(X, swing), rotation(Z, -sign * inward), rotation(upper, sign * twist)))
    puppet.rotate(f"clavicle_{side}", rotation(Y, sign * 0.18 * swing))
    puppet.rotate(elbow, rotation(np.cross(upper, lower), bend))
    for finger, share in _CURLS.items():
        for n in (1, 2, 3):
            j = puppet.skeleton.index(f"{finger}_{n}_{side}")
            puppet.rotate(j, rotation(puppet.skeleton.rest_world[j, :3, 0], curl * share))
