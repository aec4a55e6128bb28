"""The body and clothes of the humanoid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import both, limb, lump, surface
from kinema.demo.characters.bones import Bone, Point
from kinema.demo.characters.skins import Part, flesh_of, skin
from kinema.meshes import globe, half_ball, tube
from kinema.skeleton import Skeleton
from kinema.skin import Skin

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Palette:
    """Colours of a person and their clothes; red, green and blue from 0 to 1."""

    skin: Colour = (0.80, 0.60, 0.48)
    hair: Colour = (0.20, 0.13, 0.09)
    iris: Colour = (0.22, 0.36, 0.42)
    shirt: Colour = (0.20, 0.42, 0.58)
    trousers: Colour = (0.24, 0.25, 0.31)
    shoes: Colour = (0.36, 0.20, 0.13)


_SKINS = ((0.80, 0.60, 0.48), (0.88, 0.69, 0.58), (0.66, 0.46, 0.33), (0.45, 0.30, 0.21), (0.31, 0.20, 0.14))
_HAIRS = ((0.20, 0.13, 0.09), (0.07, 0.06, 0.06), (0.42, 0.28, 0.15), (0.62, 0.47, 0.26), (0.45, 0.44, 0.43))
_SHIRTS = ((0.20, 0.42, 0.58), (0.68, 0.28, 0.22), (0.30, 0.48, 0.30), (0.80, 0.77, 0.70), (0.76, 0.58, 0.22))
_TROUSERS = ((0.24, 0.25, 0.31), (0.22, 0.28, 0.42), (0.42, 0.36, 0.28), (0.17, 0.17, 0.18))
_SHOES = ((0.36, 0.20, 0.13), (0.12, 0.12, 0.13), (0.60, 0.58, 0.55))
_IRISES = ((0.22, 0.36, 0.42), (0.28, 0.17, 0.09), (0.24, 0.38, 0.24))


def colours(seed: int) -> Palette:
    """Return the colours for a seed; seed 0 is the default look."""
    if seed == 0:
        return Palette()
    draw = np.random.default_rng(seed)
    kinds = (_SKINS, _HAIRS, _IRISES, _SHIRTS, _TROUSERS, _SHOES)
    return Palette(*(kind[int(draw.integers(len(kind)))] for kind in kinds))


_RADII = {  # Radii of the flesh around each bone, at its start and end, metres: which joint the skin follows.
    "hips": (0.130, 0.125),
    "spine_1": (0.120, 0.115),
    "spine_2": (0.115, 0.120),
    "spine_3": (0.120, 0.130),
    "chest": (0.130, 0.090),
    "neck_1": (0.060, 0.055),
    "neck_2": (0.055, 0.055),
    "head": (0.075, 0.060),
    "jaw": (0.030, 0.030),
    "clavicle": (0.060, 0.060),
    "upper_arm": (0.058, 0.045),
    "forearm": (0.044, 0.028),
    "hand": (0.030, 0.034),
    "thigh": (0.090, 0.058),
    "shin": (0.058, 0.040),
    "foot": (0.045, 0.035),
    "toe": (0.034, 0.028),
}
_SPINE = ("hips", "spine_1", "spine_2", "spine_3", "chest")


def dressed(skeleton: Skeleton, bones: Sequence[Bone], palette: Palette) -> Skin:
    at = {bone.name: bone for bone in bones}
    flesh = flesh_of(bones, _radii(bones))
    parts = [_shirt(at, palette), _trousers(palette), *_head(palette)]
    for side in ("l", "r"):
        foot = at[f"foot_{side}"]
        x, y, z = foot.start
        flesh[foot.name] = limb(((x, y - 0.045, z - 0.025), 0.045), (foot.end, 0.035))  # From the heel on.
        parts += [
            _sleeve(at, side, palette),
            _arm(at, side, palette),
            _shoe(at, side, palette),
            *_fingers(at, side, palette),
        ]
        parts += _eye(at, side, palette)
    return skin(skeleton, flesh, parts)


def _radii(bones: Sequence[Bone]) -> dict[str, tuple[float, float]]:
    by_kind = {}
    for bone in bones:
        kind = bone.name.removesuffix("_l").removesuffix("_r")
        if kind in _RADII:
            by_kind[bone.name] = _RADII[kind]
        elif kind[-2:] in ("_1", "_2", "_3"):
            by_kind[bone.name] = (0.009, 0.008)
        elif kind in ("eye", "lid"):
            by_kind[bone.name] = (0.01, 0.01)
    return by_kind


def _shirt(at: dict[str, Bone], palette: Palette) -> Part:
    arm = at["upper_arm_l"]
    blobs = [
        limb(
            ((0.0, 0.985, -0.012), 0.108),
            ((0.0, 1.060, -0.006), 0.100),
            ((0.0, 1.130, -0.006), 0.097),
            ((0.0, 1.230, -0.014), 0.104),
            ((0.0, 1.310, -0.024), 0.108),
            ((0.0, 1.375, -0.034), 0.088),
            stretch=(1.46, 1.0, 1.0),
        ),
        limb(((0.0, 1.420, -0.034), 0.064), ((0.0, 1.462, -0.028), 0.058)),  # collar
        *both(
            lump((0.066, 1.318, 0.036), (0.068, 0.056, 0.036)),  # breast
            lump((0.080, 1.330, -0.078), (0.062, 0.080, 0.034)),  # back
            limb(((0.036, 1.452, -0.036), 0.034), ((0.150, 1.420, -0.032), 0.040)),  # trapezius
            lump((0.166, 1.400, -0.028), (0.052, 0.054, 0.054)),  # shoulder
            limb((arm.start, 0.049), (_between(arm.start, arm.end, 0.22), 0.048)),
        ),
    ]
    joints = [*_SPINE, "neck_1", "clavicle_l", "clavicle_r", "upper_arm_l", "upper_arm_r"]
    return Part(surface(blobs, 0.0315, palette.shirt, melt=0.014, floor=0.925), joints)


def _sleeve(at: dict[str, Bone], side: str, palette: Palette) -> Part:
    arm = at[f"upper_arm_{side}"]
    line = [_between(arm.start, arm.end, share) for share in (0.05, 0.18, 0.32, 0.46, 0.60)]
    mesh = tube(line, (0.038, 0.045, 0.048, 0.051, 0.053), 12, palette.shirt, bulge=0.02)
    return Part(mesh, ["chest", *(f"{name}_{side}" for name in ("clavicle", "upper_arm", "forearm"))])


def _trousers(palette: Palette) -> Part:
    leg = limb(
        ((0.083, 0.890, -0.008), 0.081),
        ((0.090, 0.780, -0.002), 0.079),
        ((0.092, 0.660, 0.004), 0.071),
        ((0.092, 0.535, 0.010), 0.058),
        ((0.092, 0.470, 0.006), 0.055),
        ((0.092, 0.375, -0.014), 0.057),
        ((0.092, 0.250, -0.018), 0.049),
        ((0.092, 0.090, -0.018), 0.047),
    )
    blobs = [
        limb(((0.0, 0.915, -0.012), 0.094), ((0.0, 1.000, -0.012), 0.086), stretch=(1.42, 1.0, 1.0)),
        *both(leg, lump((0.068, 0.888, -0.058), (0.070, 0.076, 0.052))),
    ]
    joints = ["hips", "spine_1", "spine_2", "thigh_l", "thigh_r", "shin_l", "shin_r"]
    return Part(surface(blobs, 0.0330, palette.trousers, melt=0.010, floor=0.062), joints)


def _shoe(at: dict[str, Bone], side: str, palette: Palette) -> Part:
    x, _, z = at[f"foot_{side}"].start
    inward = -0.003 if side == "l" else 0.003
    blobs = [
        limb(((x, 0.095, z - 0.002), 0.034), ((x, 0.060, z - 0.004), 0.038)),
        lump((x, 0.034, z - 0.026), (0.036, 0.044, 0.041)),  # heel
        limb(((x, 0.056, z + 0.015), 0.036), ((x - inward, 0.034, z + 0.100), 0.037)),
        lump((x - inward, 0.024, z + 0.120), (0.048, 0.034, 0.050)),  # ball
        lump((x + inward, 0.020, z + 0.160), (0.042, 0.030, 0.046)),  # toes
    ]
    mesh = surface(blobs, 0.0205, palette.shoes, melt=0.008, floor=0.0)
    return Part(mesh, [f"shin_{side}", f"foot_{side}", f"toe_{side}"], 0.004)


def _arm(at: dict[str, Bone], side: str, palette: Palette) -> Part:
    upper, fore, hand = (at[f"{name}_{side}"] for name in ("upper_arm", "forearm", "hand"))
    across, along, palm = hand.axes.T
    thumb = at[f"thumb_1_{side}"]
    to_thumb = across if across[2] > 0 else -across
    blobs = [
        limb(
            (_between(upper.start, upper.end, 0.45), 0.043),
            (_between(upper.start, upper.end, 0.90), 0.038),
            (_between(fore.start, fore.end, 0.25), 0.040),
            (_between(fore.start, fore.end, 0.80), 0.028),
            (fore.end, 0.025),
            (_point(np.array(hand.start) + along * 0.03), 0.022),
        ),
        lump(
            _point(np.array(hand.start) + along * 0.054 - to_thumb * 0.003),
            (0.041, 0.050, 0.0145),
            np.column_stack((to_thumb, along, palm)),
        ),
        limb((thumb.start, 0.015), (thumb.end, 0.011)),
    ]
    names = [f"{name}_{side}" for name in ("upper_arm", "forearm", "hand", "thumb_1")]
    return Part(surface(blobs, 0.0205, palette.skin, melt=0.007), names)


def _fingers(at: dict[str, Bone], side: str, palette: Palette) -> list[Part]:
    parts = []
    for name, width in (("thumb", 0.0115), ("index", 0.0095), ("middle", 0.0098), ("ring", 0.0093), ("little", 0.0082)):
        row = [at[f"{name}_{n}_{side}"] for n in (1, 2, 3)]
        joints = np.array([bone.start for bone in row] + [row[-1].end])
        stations = [(0, -0.2, 1.0), (0, 0.5, 0.95), (1, -0.15, 0.95), (1, 0.2, 0.93), (2, -0.15, 0.90), (2, 0.2, 0.88)]
        stations += [(2, 0.75, 0.80), (2, 1.0, 0.45)]
        line = [joints[n] + (joints[n + 1] - joints[n]) * share for n, share, _ in stations]
        radii = [width * size for _, _, size in stations]
        parts.append(Part(tube(line, radii, 6, palette.skin), [f"hand_{side}", *(bone.name for bone in row)]))
    return parts


def _head(palette: Palette) -> list[Part]:
    skull = [
        lump((0.0, 1.666, -0.010), (0.070, 0.077, 0.089)),
        limb(((0.0, 1.650, 0.026), 0.057), ((0.0, 1.605, 0.034), 0.048), ((0.0, 1.566, 0.046), 0.031)),  # face, chin
        limb(((0.0, 1.425, -0.034), 0.053), ((0.0, 1.500, -0.022), 0.050), ((0.0, 1.600, -0.014), 0.052)),  # neck
        *both(
            limb(((0.008, 1.668, 0.074), 0.009), ((0.046, 1.666, 0.058), 0.009)),  # brow
            limb(((0.016, 1.566, 0.050), 0.024), ((0.046, 1.606, 0.002), 0.023)),  # jaw
            lump((0.077, 1.636, -0.012), (0.008, 0.031, 0.018)),  # ear
        ),
    ]
    sockets = both(lump((0.031, 1.645, 0.086), (0.020, 0.012, 0.017)))
    mesh = surface(skull, 0.0155, palette.skin, melt=0.0075, carve=sockets)
    return [
        Part(mesh, ["chest", "neck_1", "neck_2", "head", "jaw"]),
        _nose(palette),
        _hair(palette),
        *_features(palette),
    ]


def _nose(palette: Palette) -> Part:
    """Make the nose, finer than the rest of the head."""
    bridge = limb(((0.0, 1.656, 0.076), 0.006), ((0.0, 1.632, 0.092), 0.0075), ((0.0, 1.6185, 0.098), 0.0085))
    wings = both(lump((0.009, 1.6145, 0.087), (0.006, 0.005, 0.008)))
    root = limb(((0.0, 1.650, 0.072), 0.008), ((0.0, 1.620, 0.080), 0.013))
    return Part(surface([bridge, root, *wings], 0.0085, palette.skin, melt=0.004), ["head"])


def _hair(palette: Palette) -> Part:
    cap = [
        lump((0.0, 1.673, -0.014), (0.079, 0.079, 0.092)),
        lump((0.0, 1.625, -0.052), (0.062, 0.062, 0.050)),
    ]
    temples = both(lump((0.088, 1.606, 0.006), (0.034, 0.046, 0.040)))
    face = lump((0.0, 1.606, 0.112), (0.100, 0.092, 0.110))
    return Part(surface(cap, 0.0175, palette.hair, melt=0.009, carve=[face, *temples]), ["head"])


def _features(palette: Palette) -> list[Part]:
    """Make lips and brows."""
    corner, bow = np.array((0.023, 1.585, 0.071)), np.array((0.010, 1.586, 0.0805))
    other = np.array((-1.0, 1.0, 1.0))
    lips = [corner * other, bow * other, (0.0, 1.585, 0.082), bow, corner]
    red = (palette.skin[0] * 0.86, palette.skin[1] * 0.66, palette.skin[2] * 0.66)
    brow = np.array([(0.013, 1.668, 0.083), (0.022, 1.672, 0.081), (0.036, 1.673, 0.074), (0.049, 1.667, 0.063)])
    widths = (0.003, 0.004, 0.0035, 0.0015)
    brows = [tube(line, widths, 5, palette.hair) for line in (brow, brow * other)]
    return [
        Part(tube(lips, (0.002, 0.0052, 0.005, 0.0052, 0.002), 6, red), ["head", "jaw"]),
        *(Part(mesh, ["head"]) for mesh in brows),
    ]


def _eye(at: dict[str, Bone], side: str, palette: Palette) -> list[Part]:
    centre, ahead = at[f"eye_{side}"].start, (0.0, 0.0, 1.0)
    white, black = (0.93, 0.92, 0.90), (0.03, 0.03, 0.04)
    bands = [(0.24, black), (0.56, palette.iris), (math.pi, white)]
    lid = tuple(0.94 * c for c in palette.skin)
    upper, lower = math.radians(70), math.radians(56)
    return [
        Part(globe(centre, 0.0135, ahead, bands, 12), [f"eye_{side}"]),
        Part(half_ball(centre, 0.0150, (0.0, math.sin(upper), -math.cos(upper)), lid), [f"lid_{side}"]),
        Part(half_ball(centre, 0.0146, (0.0, -math.sin(lower), -math.cos(lower)), lid), ["head"]),
    ]


def _between(start: Point, end: Point, share: float) -> Point:
    return _point(np.array(start) + share * np.subtract(end, start))


def _point(array: Any) -> Point:
    x, y, z = (float(value) for value in array)
    return (x, y, z)
