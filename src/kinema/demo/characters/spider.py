"""A spider: eight legs of four bones, a body and an abdomen; stands, walks and runs. Its data is `spider.toml`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.demo.characters.gait import CharacterGait, FootStep, foot_path, make_clip, through
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.demo.characters.sheet import made_once, sheet
from kinema.demo.characters.spider_body import shelled
from kinema.math import arrays
from kinema.model.character import Character


@made_once
def spider(*, moves: bool = True) -> Character:
    """A spider with the clips "idle", "walk" (0.4 m/s) and "run" (1.1 m/s): four legs swing while four stand.

    The root joint travels in "walk" and "run"; events say when a leg touches down ("l1_down") and leaves the ground
    ("l1_up"). moves: whether it has its clips, which take most of the time to make it.
    """
    own = sheet("spider")
    gaits = own.gaits.items() if moves else ()
    clips = {name: make_clip(name, own.skeleton, gait, _carry, _plant) for name, gait in gaits}
    return Character(own.skeleton, clips, own.rig, (shelled(own),), "spider")


def _carry(puppet: Puppet, gait: CharacterGait, phase: Any) -> None:
    body = puppet.skeleton.index("body")
    puppet.offsets[:, body, 0], puppet.offsets[:, body, 1] = gait.at(phase, "sway", "height")
    yaw, pitch, tilt, abdomen = gait.at(phase, "yaw", "pitch", "tilt", "abdomen")
    puppet.rotate(body, compose(rotation(Y, yaw), rotation(X, pitch), rotation(Z, tilt)))
    puppet.rotate("abdomen", rotation(X, abdomen))
    puppet.rotate("head", rotation(X, -pitch))


def _plant(puppet: Puppet, gait: CharacterGait, leg: str, own: Any) -> FootStep:
    """Rotate a leg until its plane contains the tip's target, then bend it down to the target."""
    side, n = leg[0], leg[1:]
    coxa, femur, tibia, tarsus, tip = (
        puppet.skeleton.index(f"{joint}_{n}_{side}") for joint in ("coxa", "femur", "tibia", "tarsus", "tip")
    )
    step = gait.steps["tip"]  # As far ahead of the tip's rest position as behind it.
    step = replace(step, ahead=float(puppet.rest[tip, 2]) + step.ahead, side=float(puppet.rest[tip, 0]))
    target = foot_path(gait.foot, step, gait.stride, own).ankle
    body, _ = puppet.transform("body")
    seen = arrays.rotate(arrays.conj(body), target - puppet.transform(coxa)[1])
    out = puppet.rest[femur] - puppet.rest[coxa]
    aimed = rotation(Y, np.arctan2(seen[:, 0], seen[:, 2]) - np.arctan2(out[0], out[2]))
    puppet.rotate(coxa, aimed)
    whole, hinge = arrays.mul(body, aimed), arrays.unit(np.cross(out, -Y))
    last = arrays.mul(whole, rotation(hinge, -gait.numbers["grip"] * through(gait.keys["air"], own)))
    ankle = target - arrays.rotate(last, puppet.rest[tip] - puppet.rest[tarsus])
    puppet.reach((femur, tibia, tarsus), ankle, hinge, arrays.rotate(whole, hinge))
    puppet.hold(tarsus, last)
    return step
