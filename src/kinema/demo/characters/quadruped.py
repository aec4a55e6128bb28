"""A fox: 36 joints, half a metre at the withers, that stands, walks and trots. Its data is `quadruped.toml`."""

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import blobs_of, surface
from kinema.demo.characters.bones import Bone
from kinema.demo.characters.gait import CharacterGait, FootStep, foot_path, make_clip, through
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.demo.characters.sheet import Sheet, made_once, sheet
from kinema.demo.characters.skins import SkinPart, flesh_of, ramp, skin
from kinema.model.character import Character
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh, globe, tube

_LEGS = {  # Joints, and the bend axis of the second one: a rotation about +X moves its lower end back.
    "front": (("upper_arm", "forearm", "wrist", "front_foot"), -X),
    "hind": (("thigh", "shin", "hock", "hind_foot"), X),
}


_RED, _WHITE, _DARK, _BLACK = (0.78, 0.38, 0.14), (0.93, 0.89, 0.82), (0.16, 0.10, 0.08), (0.04, 0.04, 0.05)


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


def furred(own: Sheet) -> Skin:
    """Make the skin of the fox."""
    flesh = flesh_of(own.bones.values(), own.data["flesh"])
    coat = _coat(surface(blobs_of(own.data["blobs"]["body"]), 0.0172, _RED, melt=0.010, floor=0.0))
    fur = SkinPart(coat, [n for n in flesh if not n.startswith("eye")], 0.008)
    ears = [_ear(own.bones[f"ear_{side}"]) for side in ("l", "r")]
    eyes = [_eye(own.bones[f"eye_{side}"]) for side in ("l", "r")]
    nose = SkinPart(globe((0.0, 0.648, 0.556), 0.014, (0.0, 0.3, 1.0), [(np.pi, _BLACK)], 8), ["head"])
    return skin(own.skeleton, flesh, [fur, *ears, *eyes, nose])


def _coat(mesh: Mesh) -> Mesh:
    """Colour the coat: red above, white below and at the tail's tip, dark legs and ears."""
    x, y, z = mesh.vertices.T
    _, up, ahead = mesh.normals.T
    legs = (y < 0.30) & (z > -0.36)
    middle = ramp(-np.abs(x), -0.055, -0.040)
    chest = ramp(ahead - 0.4 * up, 0.4, 0.8) * middle * (y > 0.36) * (y < 0.60) * (z > 0.2)
    white = ramp(-up, 0.25, 0.75) * ramp(z, -0.15, 0.05) * middle * (y > 0.33)
    for share in (ramp(z, 0.40, 0.44) * ramp(-y, -0.645, -0.630), ramp(-z, 0.575, 0.600), chest):
        white = np.maximum(white, share)
    dark = np.maximum(ramp(-y, -0.26, -0.16) * legs, ramp(y, 0.755, 0.775))
    colours = mesh.colours
    for share, colour in ((white, _WHITE), (dark, _DARK)):
        colours = colours + share[:, np.newaxis] * (np.array(colour) - colours)
    return replace(mesh, colours=colours)


def _ear(bone: Bone) -> SkinPart:
    line = [np.array(bone.start) + share * np.subtract(bone.end, bone.start) for share in (-0.15, 0.15, 0.4, 0.7, 1.0)]
    return SkinPart(_coat(tube(line, (0.022, 0.025, 0.022, 0.013, 0.003), 9, _RED)), ["head", bone.name])


def _eye(bone: Bone) -> SkinPart:
    ahead = tuple(np.subtract(bone.end, bone.start))
    bands = [(0.38, _BLACK), (0.90, (0.85, 0.55, 0.12)), (np.pi, _BLACK)]
    return SkinPart(globe(bone.start, 0.0155, ahead, bands, 10), [bone.name])
