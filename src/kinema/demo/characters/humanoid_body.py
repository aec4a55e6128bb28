"""The body of the humanoid: a mannequin of smooth shells over dark joints.

Every shell between two joints is rigid, and every joint is a ball around its own centre, so that limbs bend without
losing volume. Only waist, neck and chest deform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.characters.bones import Bone, Point
from kinema.demo.characters.humanoid_head import eye, head
from kinema.demo.characters.shells import FULL, Detail, Section, ball, rod, shell
from kinema.demo.characters.skins import Part, ramp, skin
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Palette:
    """Colours of the mannequin; red, green and blue from 0 to 1."""

    skin: Colour = (0.87, 0.74, 0.62)
    hair: Colour = (0.25, 0.17, 0.13)
    iris: Colour = (0.16, 0.42, 0.52)
    shirt: Colour = (0.20, 0.50, 0.62)
    trousers: Colour = (0.40, 0.44, 0.52)
    shoes: Colour = (0.88, 0.50, 0.28)
    joint: Colour = (0.17, 0.20, 0.25)


_SKINS = ((0.87, 0.74, 0.62), (0.80, 0.62, 0.48), (0.62, 0.45, 0.34), (0.43, 0.31, 0.25))
_HAIRS = ((0.25, 0.17, 0.13), (0.10, 0.09, 0.09), (0.46, 0.31, 0.17), (0.70, 0.54, 0.32), (0.55, 0.54, 0.53))
_IRISES = ((0.16, 0.42, 0.52), (0.36, 0.22, 0.11), (0.22, 0.42, 0.24))
_SHIRTS = ((0.20, 0.50, 0.62), (0.76, 0.36, 0.28), (0.36, 0.54, 0.36), (0.82, 0.64, 0.28), (0.50, 0.42, 0.62))
_TROUSERS = ((0.40, 0.44, 0.52), (0.56, 0.52, 0.44), (0.30, 0.36, 0.48), (0.34, 0.34, 0.36))
_SHOES = ((0.88, 0.50, 0.28), (0.90, 0.88, 0.84), (0.28, 0.28, 0.30))


def colours(seed: int) -> Palette:
    """Return the colours for a seed; seed 0 is the default look."""
    if seed == 0:
        return Palette()
    draw = np.random.default_rng(seed)
    kinds = (_SKINS, _HAIRS, _IRISES, _SHIRTS, _TROUSERS, _SHOES)
    return Palette(*(kind[int(draw.integers(len(kind)))] for kind in kinds))


_WITH_JOINTS = 0.2
"""Least detail at which there are dark joints between the shells. With less, they are less than a pixel wide, and limbs
and feet are rods that reach over them."""


def dressed(skeleton: Skeleton, bones: Sequence[Bone], palette: Palette, detail: Detail = FULL) -> Skin:
    """Make the skin of the mannequin."""
    at = {bone.name: bone for bone in bones}
    parts = [*_trunk(at, palette, detail), *head(palette.skin, palette.hair, detail)]
    for side in ("l", "r"):
        parts += [*_arm(at, side, palette, detail), *_hand(at, side, palette, detail), *_leg(at, side, palette, detail)]
        parts += [*_foot(at, side, palette, detail), *eye(at, side, palette.skin, palette.iris, detail)]
    if detail.share < _WITH_JOINTS:
        parts = [part for part in parts if not np.array_equal(part.mesh.colours[0], palette.joint)]
    return skin(skeleton, {}, parts)


def _rigid(mesh: Mesh, joint: str) -> Part:
    return Part(mesh, [joint])


# --- trunk -----------------------------------------------------------------------------------------------------


def _trunk(at: dict[str, Bone], palette: Palette, detail: Detail) -> list[Part]:
    upright = np.eye(3)
    shirt = [
        Section(0.960, 0.0, 0.0, -0.012),
        Section(0.975, 0.105, 0.074, -0.012),
        Section(1.040, 0.119, 0.085, -0.010),
        Section(1.100, 0.119, 0.086, -0.009),
        Section(1.170, 0.126, 0.091, -0.010),
        Section(1.250, 0.142, 0.102, -0.014),
        Section(1.320, 0.157, 0.109, -0.018),
        Section(1.375, 0.167, 0.102, -0.024),
        Section(1.415, 0.171, 0.086, -0.030),
        Section(1.445, 0.153, 0.066, -0.032),
        Section(1.464, 0.104, 0.057, -0.033),
        Section(1.478, 0.055, 0.049, -0.031),
        Section(1.481, 0.0, 0.0, -0.031),
    ]
    pelvis = [
        Section(0.842, 0.0, 0.0, -0.010),
        Section(0.850, 0.034, 0.044, -0.010),
        Section(0.880, 0.088, 0.080, -0.014),
        Section(0.920, 0.131, 0.097, -0.019),
        Section(0.960, 0.138, 0.096, -0.017),
        Section(1.000, 0.129, 0.091, -0.012),
        Section(1.022, 0.122, 0.087, -0.011),
        Section(1.030, 0.100, 0.075, -0.011),
        Section(1.032, 0.0, 0.0, -0.011),
    ]
    belt = [
        Section(1.008, 0.0, 0.0, -0.011),
        Section(1.010, 0.120, 0.084, -0.011),
        Section(1.016, 0.1285, 0.0915, -0.011),
        Section(1.040, 0.1250, 0.0900, -0.010),
        Section(1.046, 0.1180, 0.0840, -0.010),
        Section(1.048, 0.0, 0.0, -0.010),
    ]
    neck = [
        Section(1.390, 0.0, 0.0, -0.034),
        Section(1.405, 0.050, 0.050, -0.034),
        Section(1.460, 0.047, 0.048, -0.030),
        Section(1.510, 0.044, 0.047, -0.022),
        Section(1.570, 0.045, 0.049, -0.014),
        Section(1.610, 0.030, 0.030, -0.010),
        Section(1.620, 0.0, 0.0, -0.010),
    ]
    origin = (0.0, 0.0, 0.0)
    return [
        _torso(at, shell(origin, upright, shirt, palette.shirt, **detail.size(26, 22), square=2.2)),
        _stacked(at, shell(origin, upright, neck, palette.skin, **detail.size(16, 11)), _NECK, 0.045),
        _rigid(shell(origin, upright, belt, palette.joint, **detail.size(20, 9), square=2.2), "hips"),
        _rigid(shell(origin, upright, pelvis, palette.trousers, **detail.size(24, 12), square=2.2), "hips"),
    ]


_SPINE = ("hips", "spine_1", "spine_2", "spine_3", "chest")
_NECK = ("chest", "neck_1", "neck_2", "head")


def _stacked(at: dict[str, Bone], mesh: Mesh, joints: Sequence[str], blend: float) -> Part:
    """Make a part that follows joints above each other. blend: metres above and below each joint that it bends over."""
    heights = [at[name].start[1] for name in joints[1:]]
    above = [ramp(mesh.vertices[:, 1], height - blend, height + blend) for height in heights]
    ends = np.ones(len(mesh.vertices)), np.zeros(len(mesh.vertices))
    reached = np.stack((ends[0], *above, ends[1]), axis=1)
    return Part(mesh, joints, shares=reached[:, :-1] - reached[:, 1:])


def _torso(at: dict[str, Bone], mesh: Mesh) -> Part:
    """Make a part that follows the spine and, at the shoulders, the clavicles."""
    spine = _stacked(at, mesh, _SPINE, 0.08)
    x, y, _ = mesh.vertices.T
    sides = [_CLAVICLE * ramp(sign * x, 0.0, 0.17) * ramp(y, 1.25, 1.43) for sign in (1.0, -1.0)]
    rest = 1.0 - sides[0] - sides[1]
    shares = np.column_stack((spine.shares * rest[:, np.newaxis], *sides))
    return Part(mesh, [*_SPINE, "clavicle_l", "clavicle_r"], shares=shares)


_CLAVICLE = 0.85
"""Largest share of the clavicles in the torso, at the tips of the shoulders."""


# --- arms ------------------------------------------------------------------------------------------------------


def _arm(at: dict[str, Bone], side: str, palette: Palette, detail: Detail) -> list[Part]:
    upper, fore = at[f"upper_arm_{side}"], at[f"forearm_{side}"]
    above = [
        Section(-0.044, 0.0, 0.0),
        Section(-0.031, 0.0313, 0.0313),
        Section(0.0, 0.0445, 0.0450),
        Section(0.060, 0.0465, 0.048),
        Section(0.130, 0.044, 0.046),
        Section(0.210, 0.039, 0.040),
        Section(0.262, 0.036, 0.037),
        Section(0.270, 0.030, 0.030),
        Section(0.272, 0.0, 0.0),
    ]
    below = [
        Section(0.014, 0.0, 0.0),
        Section(0.016, 0.031, 0.031),
        Section(0.026, 0.037, 0.038),
        Section(0.075, 0.041, 0.040),
        Section(0.150, 0.035, 0.033),
        Section(0.215, 0.028, 0.025),
        Section(0.232, 0.025, 0.022),
        Section(0.236, 0.0, 0.0),
    ]
    return [
        _limb(upper, above, palette.shirt, detail, (16, 11)),
        _limb(fore, below, palette.skin, detail, (14, 10)),
        _joint(fore.start, 0.0355, fore, palette.joint, fore.name, detail),
        _joint(fore.end, 0.0245, fore, palette.joint, f"hand_{side}", detail),
    ]


def _limb(bone: Bone, sections: Sequence[Section], colour: Any, detail: Detail, size: tuple[int, int]) -> Part:
    """Make a limb between two joints. size: sides and rings at full detail."""
    if detail.share >= _WITH_JOINTS:
        return _rigid(shell(bone.start, bone.axes, sections, colour, **detail.size(*size)), bone.name)
    radii = (max(section.wide for section in sections), sections[-3].wide)
    return _rigid(_rod(bone.start, bone.end, radii, colour), bone.name)


def _rod(start: Point, end: Point, radii: tuple[float, float], colour: Any) -> Mesh:
    """Make the coarsest limb: four sides, pointed ends."""
    return rod(start, end, radii, colour, sides=4, rings=1)


def _joint(at: Point, radius: float, bone: Bone, colour: Any, joint: str, detail: Detail) -> Part:
    return _rigid(ball(at, radius, bone.axes[:, 1], colour, **detail.size(14, 5)), joint)


def _hand(at: dict[str, Bone], side: str, palette: Palette, detail: Detail) -> list[Part]:
    hand = at[f"hand_{side}"]
    sections = [
        Section(0.006, 0.0, 0.0, 0.001),
        Section(0.010, 0.021, 0.015, 0.001),
        Section(0.030, 0.032, 0.019, 0.002),
        Section(0.065, 0.041, 0.018, 0.003),
        Section(0.088, 0.040, 0.014, 0.003),
        Section(0.097, 0.030, 0.008, 0.002),
        Section(0.099, 0.0, 0.0, 0.002),
    ]
    if not detail.small:
        sections[-3:] = [Section(0.110, 0.038, 0.013), Section(0.165, 0.026, 0.009), Section(0.180, 0.0, 0.0)]
    palm = shell(hand.start, hand.axes, sections, palette.skin, **detail.size(14, 7), square=2.5)
    return [_rigid(palm, hand.name), *(_fingers(at, side, palette, detail) if detail.small else ())]


def _fingers(at: dict[str, Bone], side: str, palette: Palette, detail: Detail) -> list[Part]:
    parts = []
    for name, width in (("thumb", 0.0125), ("index", 0.0096), ("middle", 0.0100), ("ring", 0.0095), ("little", 0.0084)):
        for n, sizes in enumerate(((1.08, 1.0), (1.0, 0.92), (0.92, 0.80)), start=1):
            bone, (first, last) = at[f"{name}_{n}_{side}"], sizes
            end = bone.end if n < 3 else _before(bone, width * last)
            radii = (width * first, width * last)
            parts.append(_rigid(rod(bone.start, end, radii, palette.skin, **detail.size(7, 2)), bone.name))
    return parts


def _before(bone: Bone, distance: float) -> Point:
    """Return the point on a bone at a distance from its end, metres."""
    x, y, z = (float(value) for value in np.array(bone.end) - distance * bone.axes[:, 1])
    return (x, y, z)


# --- legs ------------------------------------------------------------------------------------------------------


def _leg(at: dict[str, Bone], side: str, palette: Palette, detail: Detail) -> list[Part]:
    thigh, shin = at[f"thigh_{side}"], at[f"shin_{side}"]
    above = [
        Section(-0.078, 0.0, 0.0),
        Section(-0.055, 0.055, 0.055),
        Section(0.0, 0.078, 0.080),
        Section(0.080, 0.077, 0.082, -0.004),
        Section(0.200, 0.067, 0.072, -0.006),
        Section(0.310, 0.057, 0.060, -0.004),
        Section(0.390, 0.052, 0.053),
        Section(0.402, 0.044, 0.044),
        Section(0.404, 0.0, 0.0),
    ]
    below = [
        Section(0.020, 0.0, 0.0),
        Section(0.022, 0.042, 0.042),
        Section(0.034, 0.049, 0.050),
        Section(0.100, 0.053, 0.056, 0.010),
        Section(0.170, 0.050, 0.053, 0.012),
        Section(0.270, 0.040, 0.041, 0.006),
        Section(0.350, 0.034, 0.035, 0.002),
        Section(0.378, 0.032, 0.033),
        Section(0.384, 0.0, 0.0),
    ]
    return [
        _limb(thigh, above, palette.trousers, detail, (18, 11)),
        _limb(shin, below, palette.trousers, detail, (16, 11)),
        _joint(shin.start, 0.0495, shin, palette.joint, shin.name, detail),
        _joint(shin.end, 0.033, shin, palette.joint, f"foot_{side}", detail),
    ]


def _foot(at: dict[str, Bone], side: str, palette: Palette, detail: Detail) -> list[Part]:
    """Make foot and toes. At the ball of the foot both are round about the toe joint, so that the foot can roll."""
    foot, toe = at[f"foot_{side}"], at[f"toe_{side}"]
    x, height, z = toe.start
    heel = foot.start[2] - 0.056
    out = 0.004 if side == "l" else -0.004
    lengthwise = np.column_stack(((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)))
    if detail.share < _WITH_JOINTS:
        back, front = (x + out, 0.042, heel + 0.034), (x + out, 0.030, z + 0.040)
        return [_rigid(_rod(back, front, (0.042, 0.030), palette.shoes), foot.name)]
    sections = [
        Section(heel, 0.0, 0.0, 0.034),
        Section(heel + 0.012, 0.030, 0.040, 0.036),
        Section(heel + 0.050, 0.036, 0.052, 0.048),
        Section(heel + 0.085, 0.036, 0.050, 0.046),
        Section(heel + 0.130, 0.041, 0.040, 0.038),
        Section(z - 0.010, 0.045, 0.032, 0.032),
        Section(z + 0.016, 0.044, 0.026, height),
        Section(z + 0.028, 0.030, 0.012, height),
        Section(z + 0.030, 0.0, 0.0, height),
    ]
    tip = toe.start[2] + 0.068
    toes = [
        Section(z - 0.024, 0.0, 0.0, height),
        Section(z - 0.020, 0.034, 0.020, height),
        Section(z, 0.046, 0.030, height),
        Section(z + 0.030, 0.045, 0.028, 0.024),
        Section(z + 0.056, 0.036, 0.024, 0.019),
        Section(tip, 0.0, 0.0, 0.014),
    ]
    shapes = {foot: sections, toe: toes}
    parts = []
    for bone, row in shapes.items():
        mesh = shell((x + out, 0.0, 0.0), lengthwise, row, palette.shoes, **detail.size(16, 9), square=2.6)
        flat = mesh.vertices.copy()
        flat[:, 1] = np.maximum(flat[:, 1], 0.0)
        parts.append(_rigid(Mesh(flat, mesh.triangles, mesh.normals, mesh.colours), bone.name))
    return parts
