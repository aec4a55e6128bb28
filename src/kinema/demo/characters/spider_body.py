"""The body of the spider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinema.demo.characters.blobs import both, limb, lump, surface
from kinema.demo.characters.bones import Bone
from kinema.demo.characters.skins import Part, flesh_of, skin
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh, globe, tube

_RADII = {  # Radii of the shell around each bone, at its start and end, metres: which joint the skin follows.
    "body": (0.060, 0.050),
    "head": (0.045, 0.030),
    "abdomen": (0.050, 0.100),
    "coxa": (0.022, 0.020),
    "femur": (0.020, 0.016),
    "tibia": (0.016, 0.012),
    "tarsus": (0.012, 0.005),
    "tip": (0.004, 0.004),
}
_TIP = 0.9893  # Position of the last ring along the last bone, so that the tube ends where the bone does.
_SHELL, _PALE, _DARK, _MARK = (0.23, 0.16, 0.12), (0.52, 0.38, 0.24), (0.10, 0.07, 0.06), (0.74, 0.52, 0.22)


def shelled(skeleton: Skeleton, bones: Sequence[Bone]) -> Skin:
    at = {bone.name: bone for bone in bones}
    flesh = flesh_of(bones, {bone.name: _RADII[bone.name.split("_")[0]] for bone in bones if bone.name != "root"})
    y, z = at["body"].start[1], at["body"].start[2]
    body = [
        lump((0.0, y, z + 0.010), (0.072, 0.042, 0.092)),
        lump((0.0, y + 0.012, z + 0.070), (0.050, 0.038, 0.050)),
        lump((0.0, y + 0.002, z - 0.070), (0.026, 0.022, 0.035)),
        *both(limb(((0.018, y - 0.005, z + 0.105), 0.020), ((0.017, y - 0.040, z + 0.135), 0.012))),  # jaws
    ]
    parts = [
        Part(surface(body, 0.0130, _SHELL, melt=0.008), ["body", "head"]),
        Part(_abdomen(at["abdomen"]), ["body", "abdomen"]),
        *(_eye(*spot, y, z) for spot in _EYES),
        *(_palp(x, y, z) for x in (1.0, -1.0)),
    ]
    for side in ("l", "r"):
        parts += [_leg(at, n, side) for n in (1, 2, 3, 4)]
    return skin(skeleton, flesh, parts)


_EYES = tuple(
    (sign * x, up, ahead, size)
    for sign in (1, -1)
    for x, up, ahead, size in (
        (0.014, 0.034, 0.112, 0.0110),
        (0.034, 0.034, 0.098, 0.0065),
        (0.014, 0.050, 0.086, 0.0055),
        (0.034, 0.046, 0.076, 0.0050),
    )
)


def _eye(x: float, up: float, ahead: float, size: float, y: float, z: float) -> Part:
    bands = [(0.5, (0.30, 0.30, 0.32)), (np.pi, (0.02, 0.02, 0.03))]
    return Part(globe((x, y + up, z + ahead), size, (x * 8, 0.4, 1.0), bands, 7), ["head"])


def _palp(x: float, y: float, z: float) -> Part:
    """Make a feeler beside the jaws."""
    line = [
        (0.034, -0.005, 0.085),
        (0.044, 0.010, 0.120),
        (0.052, 0.004, 0.150),
        (0.046, -0.030, 0.175),
        (0.042, -0.052, 0.185),
    ]
    points = [(x * a, y + b, z + c) for a, b, c in line]
    return Part(tube(points, (0.011, 0.010, 0.009, 0.008, 0.004), 6, _SHELL), ["head"])


def _abdomen(bone: Bone) -> Mesh:
    """Make the abdomen: an egg with a row of pale marks down its back."""
    start, end = np.array(bone.start), np.array(bone.end)
    egg = limb(
        *(
            (tuple(start + share * (end - start)), r)
            for share, r in ((0.10, 0.030), (0.40, 0.095), (0.62, 0.100), (0.92, 0.040))
        )
    )
    mesh = surface([egg, lump(tuple(end + (0.0, -0.02, -0.01)), (0.016, 0.016, 0.024))], 0.0185, _SHELL, melt=0.020)
    along = (mesh.vertices - start) @ (end - start) / np.sum((end - start) ** 2)
    marks = (
        (mesh.normals[:, 1] > 0.45)
        * np.clip(np.sin(along * 19.0) * 1.5, 0.0, 1.0)
        * (np.abs(mesh.vertices[:, 0]) < 0.012 + 0.045 * along)
    )
    below = np.clip(-mesh.normals[:, 1], 0.0, 1.0)
    colours = mesh.colours + marks[:, np.newaxis] * (np.array(_MARK) - mesh.colours)
    return replace(mesh, colours=colours + 0.6 * below[:, np.newaxis] * (np.array(_DARK) - colours))


def _leg(at: dict[str, Bone], n: int, side: str) -> Part:
    """Make a leg: a tube that swells along each bone, pale at the joints."""
    row = [at[f"{joint}_{n}_{side}"] for joint in ("coxa", "femur", "tibia", "tarsus")]
    stations = [
        (0, -0.3, 0.020),
        (0, 0.5, 0.021),
        (1, -0.06, 0.017),
        (1, 0.10, 0.020),
        (1, 0.45, 0.0205),
        (1, 0.85, 0.0165),
    ]
    stations += [(2, -0.03, 0.0145), (2, 0.12, 0.0165), (2, 0.45, 0.0160), (2, 0.88, 0.0115)]
    stations += [(3, 0.0, 0.0100), (3, 0.15, 0.0110), (3, 0.55, 0.0085), (3, _TIP, 0.0030)]
    line = [np.array(row[k].start) + share * np.subtract(row[k].end, row[k].start) for k, share, _ in stations]
    mesh = tube(line, [r for _, _, r in stations], 7, _SHELL)
    pale = np.array([k > 0 and (share < 0.05 or share > 0.8) and k < 3 for k, share, _ in stations])
    colours = mesh.colours.copy()
    colours[: 7 * len(stations)][np.repeat(pale, 7)] = _PALE
    names = ["body", *(bone.name for bone in row)]
    return Part(replace(mesh, colours=colours), names, 0.005)
