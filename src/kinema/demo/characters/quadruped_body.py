"""The body and fur of the fox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinema.demo.characters.blobs import Blob, both, limb, lump, surface
from kinema.demo.characters.bones import Bone
from kinema.demo.characters.skins import Part, flesh_of, ramp, skin
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh, globe, tube

_RADII = {  # Radii of the flesh around each bone, at its start and end, metres: which joint the skin follows.
    "hips": (0.080, 0.085),
    "spine_1": (0.085, 0.090),
    "spine_2": (0.090, 0.100),
    "chest": (0.105, 0.100),
    "neck_1": (0.085, 0.065),
    "neck_2": (0.065, 0.055),
    "head": (0.055, 0.025),
    "jaw": (0.018, 0.012),
    "ear": (0.020, 0.008),
    "eye": (0.010, 0.010),
    "tail_1": (0.024, 0.030),
    "tail_2": (0.030, 0.040),
    "tail_3": (0.040, 0.045),
    "tail_4": (0.045, 0.040),
    "tail_5": (0.040, 0.012),
    "scapula": (0.035, 0.050),
    "upper_arm": (0.048, 0.036),
    "forearm": (0.034, 0.019),
    "wrist": (0.019, 0.019),
    "front_foot": (0.020, 0.016),
    "thigh": (0.060, 0.042),
    "shin": (0.040, 0.020),
    "hock": (0.019, 0.018),
    "hind_foot": (0.020, 0.016),
}
_RED, _WHITE, _DARK, _BLACK = (0.78, 0.38, 0.14), (0.93, 0.89, 0.82), (0.16, 0.10, 0.08), (0.04, 0.04, 0.05)


def furred(skeleton: Skeleton, bones: Sequence[Bone]) -> Skin:
    at = {bone.name: bone for bone in bones}
    radii = {
        bone.name: _RADII[kind] for bone in bones if (kind := bone.name.removesuffix("_l").removesuffix("_r")) in _RADII
    }
    flesh = flesh_of(bones, radii)
    fur = Part(
        _coat(surface(_flesh(at), 0.0172, _RED, melt=0.010, floor=0.0)),
        [n for n in flesh if not n.startswith("eye")],
        0.008,
    )
    ears = [_ear(at, side) for side in ("l", "r")]
    eyes = [_eye(at, side) for side in ("l", "r")]
    nose = Part(globe((0.0, 0.648, 0.556), 0.014, (0.0, 0.3, 1.0), [(np.pi, _BLACK)], 8), ["head"])
    return skin(skeleton, flesh, [fur, *ears, *eyes, nose])


def _flesh(at: dict[str, Bone]) -> list[Blob]:
    trunk = limb(
        ((0.0, 0.480, -0.275), 0.072),
        ((0.0, 0.485, -0.200), 0.084),
        ((0.0, 0.484, -0.090), 0.086),
        ((0.0, 0.460, 0.040), 0.105),
        ((0.0, 0.445, 0.140), 0.115),
        ((0.0, 0.470, 0.215), 0.092),
        stretch=(0.86, 1.0, 1.0),
    )
    neck = limb(((0.0, 0.480, 0.205), 0.092), ((0.0, 0.560, 0.285), 0.076), ((0.0, 0.640, 0.360), 0.058))
    ruff = lump((0.0, 0.480, 0.270), (0.058, 0.080, 0.048))
    head = [
        lump((0.0, 0.665, 0.385), (0.060, 0.053, 0.062)),
        limb(((0.0, 0.652, 0.430), 0.034), ((0.0, 0.642, 0.490), 0.022), ((0.0, 0.640, 0.545), 0.014)),
        limb(((0.0, 0.622, 0.420), 0.022), ((0.0, 0.618, 0.510), 0.011)),  # jaw
    ]
    tail = limb(
        *((at[f"tail_{n}"].start, r) for n, r in ((1, 0.022), (2, 0.032), (3, 0.046), (4, 0.052), (5, 0.040))),
        (at["tail_5"].end, 0.008),
    )
    side = [
        lump((0.046, 0.640, 0.388), (0.032, 0.027, 0.034)),  # cheek
        lump((0.062, 0.440, 0.215), (0.036, 0.085, 0.062)),  # shoulder
        lump((0.060, 0.420, -0.235), (0.042, 0.095, 0.078)),  # haunch
        limb((at["upper_arm_l"].start, 0.044), (at["forearm_l"].start, 0.034)),
        limb((at["forearm_l"].start, 0.033), (at["wrist_l"].start, 0.019), (at["front_foot_l"].start, 0.018)),
        limb((at["thigh_l"].start, 0.052), (at["shin_l"].start, 0.042)),
        limb((at["shin_l"].start, 0.040), (at["hock_l"].start, 0.019), (at["hind_foot_l"].start, 0.018)),
    ]
    for name in ("front_foot_l", "hind_foot_l"):
        x, _, z = at[name].start
        side += [lump((x, 0.017, z + 0.022), (0.025, 0.020, 0.038)), lump((x, 0.020, z - 0.002), (0.020, 0.020, 0.020))]
    return [trunk, neck, ruff, *head, tail, *both(*side)]


def _coat(mesh: Mesh) -> Mesh:
    """Colour the coat: red above, white below and at the tail's tip, dark legs and ears."""
    x, y, z = mesh.vertices.T
    down = -mesh.normals[:, 1]
    legs = (y < 0.30) & (z > -0.36)
    middle = ramp(-np.abs(x), -0.055, -0.040)
    white = ramp(down, 0.25, 0.75) * ramp(z, -0.15, 0.05) * middle * (y > 0.33)
    white = np.maximum(white, ramp(z, 0.40, 0.44) * ramp(-y, -0.645, -0.630))
    white = np.maximum(white, ramp(-z, 0.575, 0.600))
    white = np.maximum(
        white,
        ramp(mesh.normals[:, 2] - 0.4 * mesh.normals[:, 1], 0.4, 0.8) * middle * (y > 0.36) * (y < 0.60) * (z > 0.2),
    )
    dark = np.maximum(ramp(-y, -0.26, -0.16) * legs, ramp(y, 0.755, 0.775))
    colours = mesh.colours
    for share, colour in ((white, _WHITE), (dark, _DARK)):
        colours = colours + share[:, np.newaxis] * (np.array(colour) - colours)
    return replace(mesh, colours=colours)


def _ear(at: dict[str, Bone], side: str) -> Part:
    bone = at[f"ear_{side}"]
    line = [np.array(bone.start) + share * np.subtract(bone.end, bone.start) for share in (-0.15, 0.15, 0.4, 0.7, 1.0)]
    return Part(_coat(tube(line, (0.022, 0.025, 0.022, 0.013, 0.003), 9, _RED)), ["head", bone.name])


def _eye(at: dict[str, Bone], side: str) -> Part:
    bone = at[f"eye_{side}"]
    ahead = tuple(np.subtract(bone.end, bone.start))
    bands = [(0.38, _BLACK), (0.90, (0.85, 0.55, 0.12)), (np.pi, _BLACK)]
    return Part(globe(bone.start, 0.0155, ahead, bands, 10), [bone.name])
