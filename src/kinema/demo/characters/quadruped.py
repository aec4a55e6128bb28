"""A fox: 36 joints, half a metre at the withers, that stands, walks and trots. Its data is `quadruped.toml`."""

from __future__ import annotations

from typing import Any

from kinema.demo.characters.gait import CharacterGait, FootStep, foot_path, make_clip, through
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.demo.characters.quadruped_body import furred
from kinema.demo.characters.sheet import made_once, sheet
from kinema.model.character import Character

_LEGS = {  # Joints, and the bend axis of the second one: a rotation about +X moves its lower end back.
    "front": (("upper_arm", "forearm", "wrist", "front_foot"), -X),
    "hind": (("thigh", "shin", "hock", "hind_foot"), X),
}


@made_once
def quadruped() -> Character:
    """A fox with the clips "idle", "walk" (0.8 m/s, four beats) and "run" (a trot, 2.2 m/s).

    The root joint travels in "walk" and "run"; events say when a paw touches down ("front_left_down") and leaves the
    ground ("front_left_up").
    """
    own = sheet("quadruped")
    clips = {name: make_clip(name, own.skeleton, gait, _carry, _plant) for name, gait in own.gaits.items()}
    return Character(own.skeleton, clips, own.rig, (furred(own),), "quadruped")


def _carry(puppet: Puppet, gait: CharacterGait, phase: Any) -> None:
    """Bend the trunk sideways and up and down; neck and tail follow."""
    rig, hips = sheet("quadruped").rig, puppet.skeleton.index("hips")
    puppet.offsets[:, hips, 0], puppet.offsets[:, hips, 1] = gait.at(phase, "sway", "height")
    yaw, pitch, tilt, nod = gait.at(phase, "yaw", "pitch", "tilt", "nod")
    puppet.rotate(hips, compose(rotation(Y, yaw), rotation(X, pitch), rotation(Z, tilt)))
    puppet.rotate_along(
        rig.spine, compose(rotation(Y, -2.0 * yaw), rotation(X, -1.6 * pitch), rotation(Z, -1.2 * tilt))
    )
    puppet.rotate_along((*rig.neck, "head"), compose(rotation(Y, yaw), rotation(X, nod)))
    puppet.rotate("head", rotation(X, -1.1 * nod))
    for n, joint in enumerate(rig.tails[0]):
        wag, droop = gait.at(phase - 0.07 * n, "wag", "droop")
        puppet.rotate(joint, compose(rotation(Y, 0.5 * wag), rotation(X, -droop)))


def _plant(puppet: Puppet, gait: CharacterGait, leg: str, own: Any) -> FootStep:
    """Bend a leg so that its foot follows its path."""
    end, side = leg.split("_")
    names, bends = _LEGS[end]
    joints = [f"{name}_{side[0]}" for name in names]
    if end == "front":
        puppet.rotate(f"scapula_{side[0]}", rotation(X, gait.waves["scapula"](own)))
    step = gait.step(end, 1.0 if side == "left" else -1.0)
    path = foot_path(gait.foot, step, gait.stride, own)
    puppet.reach_on(joints, path.ankle, bends, through(gait.keys[end], own))
    puppet.hold(joints[-1], path.foot())
    return step
