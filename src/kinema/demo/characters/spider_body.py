"""The body of the spider."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinema.demo.characters.blobs import blobs_of, surface
from kinema.demo.characters.bones import Bone
from kinema.demo.characters.sheet import Sheet
from kinema.demo.characters.skins import SkinPart, flesh_of, skin
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh, globe, tube

_SHELL, _PALE, _DARK, _MARK = (0.23, 0.16, 0.12), (0.52, 0.38, 0.24), (0.10, 0.07, 0.06), (0.74, 0.52, 0.22)


def shelled(own: Sheet) -> Skin:
    """Make the skin of the spider."""
    flesh, body = flesh_of(own.bones.values(), own.data["flesh"]), own.data["body"]
    blobs = {name: blobs_of(rows) for name, rows in own.data["blobs"].items()}
    trunk = surface(blobs["body"], 0.0130, _SHELL, melt=0.008)
    abdomen = surface(blobs["abdomen"], 0.0185, _SHELL, melt=0.020)
    parts = [
        SkinPart(trunk, ["body", "head"]),
        SkinPart(_marked(abdomen, own.bones["abdomen"]), ["body", "abdomen"]),
        *(_eye(*row) for row in body["eyes"]),
        *(_feeler(np.array(body["feeler"]), sign) for sign in (1.0, -1.0)),
    ]
    for leg in own.rig.legs:
        parts.append(_leg([own.bones[own.skeleton.names[int(j)]] for j in leg.joints[:4]], body["leg"]))
    return skin(own.skeleton, flesh, parts)


def _eye(x: float, y: float, z: float, size: float) -> SkinPart:
    bands = [(0.5, (0.30, 0.30, 0.32)), (np.pi, (0.02, 0.02, 0.03))]
    return SkinPart(globe((x, y, z), size, (x * 8, 0.4, 1.0), bands, 7), ["head"])


def _feeler(line: np.ndarray, sign: float) -> SkinPart:
    """Make a feeler beside the jaws. line: x, y, z and radius on the left."""
    return SkinPart(tube(line[:, :3] * (sign, 1.0, 1.0), line[:, 3], 6, _SHELL), ["head"])


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
