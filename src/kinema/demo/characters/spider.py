"""A spider: eight legs of four bones, a body and an abdomen; stands, walks and runs. Its data is `spider.toml`."""

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import blobs_of, surface
from kinema.demo.characters.bones import Bone
from kinema.demo.characters.gait import CharacterGait, FootStep, foot_path, make_clip, through
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, rotation
from kinema.demo.characters.sheet import Sheet, made_once, sheet
from kinema.demo.characters.skins import SkinPart, flesh_of, skin
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh, globe, tube

_SHELL, _PALE, _DARK, _MARK = (0.23, 0.16, 0.12), (0.52, 0.38, 0.24), (0.10, 0.07, 0.06), (0.74, 0.52, 0.22)


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


def shelled(own: Sheet) -> Skin:
    """Make the skin of the spider."""
    flesh, body = flesh_of(own.bones.values(), own.data["flesh"]), own.data["body"]
    blobs = {name: blobs_of(rows) for name, rows in own.data["blobs"].items()}
    line, radii = np.split(np.array(body["feeler"]), [3], axis=1)  # On the left.
    trunk = surface(blobs["body"], 0.0130, _SHELL, melt=0.008)
    abdomen = surface(blobs["abdomen"], 0.0185, _SHELL, melt=0.020)
    parts = [
        SkinPart(trunk, ["body", "head"]),
        SkinPart(_marked(abdomen, own.bones["abdomen"]), ["body", "abdomen"]),
        *(_eye(*row) for row in body["eyes"]),
        *(
            SkinPart(tube(line * (sign, 1.0, 1.0), radii[:, 0], 6, _SHELL), ["head"]) for sign in (1.0, -1.0)
        ),  # Feelers.
    ]
    for leg in own.rig.legs:
        parts.append(_leg([own.bones[own.skeleton.names[int(j)]] for j in leg.joints[:4]], body["leg"]))
    return skin(own.skeleton, flesh, parts)


def _eye(x: float, y: float, z: float, size: float) -> SkinPart:
    bands = [(0.5, (0.30, 0.30, 0.32)), (np.pi, (0.02, 0.02, 0.03))]
    return SkinPart(globe((x, y, z), size, (x * 8, 0.4, 1.0), bands, 7), ["head"])


def _marked(mesh: Mesh, bone: Bone) -> Mesh:
    """Colour the abdomen: a row of pale marks down its back, dark below."""
    start, end = np.array(bone.start), np.array(bone.end)
    along = (mesh.vertices - start) @ (end - start) / np.sum((end - start) ** 2)
    up, narrow = mesh.normals[:, 1], np.abs(mesh.vertices[:, 0]) < 0.012 + 0.045 * along
    marks = (up > 0.45) * np.clip(np.sin(along * 19.0) * 1.5, 0.0, 1.0) * narrow
    colours = mesh.colours + marks[:, np.newaxis] * (np.array(_MARK) - mesh.colours)
    below = np.clip(-up, 0.0, 1.0)
    return replace(mesh, colours=colours + 0.6 * below[:, np.newaxis] * (np.array(_DARK) - colours))


def _leg(row: list[Bone], stations: list[tuple[int, float, float]]) -> SkinPart:
    """Make a leg: a tube that swells along each bone, pale at the joints. stations: bone, share of it, and radius."""
    line = [np.array(row[k].start) + share * np.subtract(row[k].end, row[k].start) for k, share, _ in stations]
    mesh = tube(line, [radius for _, _, radius in stations], 7, _SHELL)
    pale = np.array([0 < k < 3 and not 0.05 <= share <= 0.8 for k, share, _ in stations])
    colours = mesh.colours.copy()
    colours[: 7 * len(stations)][np.repeat(pale, 7)] = _PALE
    return SkinPart(replace(mesh, colours=colours), ["body", *(bone.name for bone in row)], 0.005)
