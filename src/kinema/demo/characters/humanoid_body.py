"""The body of the humanoid: a mannequin of smooth shells over dark joints.

Every shell between two joints is rigid, and every joint is a ball around its own centre, so that limbs bend without
losing volume. Only waist, neck and chest deform.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import blobs_of, surface
from kinema.demo.characters.bones import Bone, Point
from kinema.demo.characters.sheet import Sheet
from kinema.demo.characters.shells import FULL, Detail, Section, ball, rod, shell
from kinema.demo.characters.skins import SkinPart, ramp, skin
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh, globe, half_ball, tube

_WITH_JOINTS = 0.2
"""Least detail at which there are dark joints between the shells. With less, they are less than a pixel wide, and limbs
and feet are rods that reach over them."""
_CLAVICLE = 0.85
"""Largest share of the clavicles in the torso, at the tips of the shoulders."""
_SPINE = ("hips", "spine_1", "spine_2", "spine_3", "chest")
_NECK = ("chest", "neck_1", "neck_2", "head")
_LENGTHWISE = np.column_stack(((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)))
"""Axes of the shells of a foot: they lie along it."""
_TAPER = ((1.08, 1.0), (1.0, 0.92), (0.92, 0.80))
"""Radii at both ends of the three bones of a finger, as shares of its own."""

Palette = Mapping[str, Any]
"""Colours of the mannequin by what has them; red, green and blue from 0 to 1."""


_EYE, _LID = 0.0200, 0.0213
"""Radii of the eyes and of the lids over them, metres."""

_COVERED = math.radians(64)
"""How far the lids cover an eye from its top and bottom. Together with a blink of 48 degrees they close it."""

_WITH_EYES = 0.4
"""Least detail at which there are eyes and brows: with less, the head is a few pixels high."""

_WITH_FACE = 0.2
"""Least detail at which the head has a face: with less, skull and hair are two balls."""

_EAR = (Section(-0.027, 0, 0), Section(-0.020, 0.006, 0.011), Section(0.008, 0.009, 0.018), Section(0.026, 0, 0))


def colours(own: Sheet, seed: int) -> Palette:
    """Return the colours for a seed; seed 0 is the default look."""
    draw = np.random.default_rng(seed)
    return {name: row[int(draw.integers(len(row))) if seed else 0] for name, row in own.data["colours"].items()}


def dressed(own: Sheet, palette: Palette, detail: Detail = FULL) -> Skin:
    """Make the skin of the mannequin."""
    body = _Mannequin(own, palette, detail)
    parts = [*body.trunk(), *head(own, palette, detail)]
    for side in ("l", "r"):
        parts += [*body.limb(side, "upper_arm", "forearm", "hand"), *body.hand(side)]
        parts += [*body.limb(side, "thigh", "shin", "foot"), *body.foot(side), *eye(own, side, palette, detail)]
    if not body.has_joints:
        parts = [part for part in parts if not np.array_equal(part.mesh.colours[0], palette["joint"])]
    return skin(own.skeleton, {}, parts)


@dataclass(frozen=True)
class _Mannequin:
    own: Sheet
    palette: Palette
    detail: Detail

    @property
    def has_joints(self) -> bool:
        return self.detail.share >= _WITH_JOINTS

    def bone(self, name: str, side: str) -> Bone:
        return self.own.bones[f"{name}_{side}"]

    def shell(self, name: str, origin: Any = (0.0, 0.0, 0.0), axes: Any = None) -> Mesh:
        """Make a shell of the table, upright or along some axes."""
        table = self.own.data["shells"][name]
        return shell(
            origin,
            np.eye(3) if axes is None else axes,
            [Section(*row) for row in table["sections"]],
            self.palette[table["colour"]],
            **self.detail.size(*table["size"]),
            square=table.get("square", 2.0),
        )

    def rod(self, start: Point, end: Point, radii: tuple[float, float], colour: str) -> Mesh:
        """Make the coarsest limb: four sides, pointed ends."""
        return rod(start, end, radii, self.palette[colour], sides=4, rings=1)

    # Parts.

    def trunk(self) -> list[SkinPart]:
        return [
            self._torso(self.shell("torso")),
            self._stacked(self.shell("neck"), _NECK, 0.045),
            *(SkinPart(self.shell(name), ["hips"]) for name in ("belt", "pelvis")),
        ]

    def _stacked(self, mesh: Mesh, joints: Sequence[str], blend: float) -> SkinPart:
        """Make a part that follows joints above each other. blend: metres around each joint over which it bends."""
        heights = [self.own.bones[name].start[1] for name in joints[1:]]
        above = [ramp(mesh.vertices[:, 1], height - blend, height + blend) for height in heights]
        ends = np.ones(len(mesh.vertices)), np.zeros(len(mesh.vertices))
        reached = np.stack((ends[0], *above, ends[1]), axis=1)
        return SkinPart(mesh, joints, shares=reached[:, :-1] - reached[:, 1:])

    def _torso(self, mesh: Mesh) -> SkinPart:
        """Make a part that follows the spine and, at the shoulders, the clavicles."""
        spine = self._stacked(mesh, _SPINE, 0.08)
        x, y, _ = mesh.vertices.T
        sides = [_CLAVICLE * ramp(sign * x, 0.0, 0.17) * ramp(y, 1.25, 1.43) for sign in (1.0, -1.0)]
        rest = 1.0 - sides[0] - sides[1]
        shares = np.column_stack((spine.shares * rest[:, np.newaxis], *sides))
        return SkinPart(mesh, [*_SPINE, "clavicle_l", "clavicle_r"], shares=shares)

    def limb(self, side: str, upper: str, lower: str, end: str) -> list[SkinPart]:
        """Make the shells of two bones, and the balls of the joints below them."""
        return [
            *(self._shell_around(name, side) for name in (upper, lower)),
            *(self._ball(j, side) for j in (lower, end)),
        ]

    def _shell_around(self, name: str, side: str) -> SkinPart:
        bone, table = self.bone(name, side), self.own.data["shells"][name]
        if self.has_joints:
            return SkinPart(self.shell(name, bone.start, bone.axes), [bone.name])
        radii = (max(wide for _, wide, *_ in table["sections"]), table["sections"][-3][1])
        return SkinPart(self.rod(bone.start, bone.end, radii, table["colour"]), [bone.name])

    def _ball(self, joint: str, side: str) -> SkinPart:
        on, end, radius = self.own.data["balls"][joint]
        bone = self.bone(on, side)
        mesh = ball(getattr(bone, end), radius, bone.axes[:, 1], self.palette["joint"], **self.detail.size(14, 5))
        return SkinPart(mesh, [f"{joint}_{side}"])

    def hand(self, side: str) -> list[SkinPart]:
        hand = self.bone("hand", side)
        palm = SkinPart(self.shell("hand" if self.detail.small else "mitten", hand.start, hand.axes), [hand.name])
        if not self.detail.small:
            return [palm]
        fingers = self.own.data["fingers"].items()
        return [palm, *(self._finger(side, name, n, width) for name, width in fingers for n in (1, 2, 3))]

    def _finger(self, side: str, name: str, n: int, width: float) -> SkinPart:
        """Make a bone of a finger. The last one ends by its own radius before its tip."""
        bone, (first, last) = self.bone(f"{name}_{n}", side), _TAPER[n - 1]
        end = bone.end if n < 3 else tuple(np.array(bone.end) - width * last * bone.axes[:, 1])
        radii = (width * first, width * last)
        return SkinPart(rod(bone.start, end, radii, self.palette["skin"], **self.detail.size(7, 2)), [bone.name])

    def foot(self, side: str) -> list[SkinPart]:
        """Make foot and toes. At the ball of the foot both are round about the toe joint, so that the foot can roll."""
        foot, toe = self.bone("foot", side), self.bone("toe", side)
        x = toe.start[0] + (0.004 if side == "l" else -0.004)
        if not self.has_joints:
            back, front = (x, 0.042, foot.start[2] - 0.056 + 0.034), (x, 0.030, toe.start[2] + 0.040)
            return [SkinPart(self.rod(back, front, (0.042, 0.030), "shoes"), [foot.name])]
        parts = []
        for name, bone in (("foot", foot), ("toe", toe)):
            mesh = self.shell(name, (x, 0.0, 0.0), _LENGTHWISE)
            flat = mesh.vertices.copy()
            flat[:, 1] = np.maximum(flat[:, 1], 0.0)
            parts.append(SkinPart(Mesh(flat, mesh.triangles, mesh.normals, mesh.colours), [bone.name]))
        return parts


# --- the head ------------------------------------------------------------------------------------------------------


def head(own: Sheet, palette: Mapping[str, Any], detail: Detail) -> list[SkinPart]:
    """Make skull, face and hair."""
    skin, hair = palette["skin"], palette["hair"]
    if detail.share < _WITH_FACE:
        balls = (((0.0, 1.632, 0.014), 0.086, skin), ((0.0, 1.668, -0.020), 0.090, hair))
        return [
            SkinPart(ball(at, size, (0.0, 1.0, 0.0), colour, sides=6, rings=3), ["head"]) for at, size, colour in balls
        ]
    blobs = {name: blobs_of(rows) for name, rows in own.data["blobs"].items()}
    skull = surface(blobs["skull"], 0.0125 / detail.share, skin, melt=0.010, carve=blobs["sockets"])
    locks = surface(blobs["hair"], 0.0140 / detail.share, hair, melt=0.008, carve=blobs["hairline"])
    parts = [_jawed(skull), SkinPart(locks, ["head"])]
    brow, mouth = (np.array(own.data["face"][line]) for line in ("brow", "mouth"))
    if detail.share >= _WITH_EYES:
        brows = [tube(line, (0.0025, 0.0036, 0.0034, 0.0016), 7, hair) for line in (brow, brow * (-1.0, 1.0, 1.0))]
        parts += [SkinPart(mesh, ["head"]) for mesh in brows]
    if not detail.small:
        return parts
    ears = []
    for sign in (1.0, -1.0):
        axes = np.column_stack(((0.94, 0.0, sign * -0.34), (0.0, 1.0, 0.0), (sign * 0.34, 0.0, 0.94)))
        ear = shell((sign * 0.078, 1.638, -0.010), axes, _EAR, skin, sides=10, rings=6)
        ears.append(SkinPart(ear, ["head"]))
    widths = 0.0019 * np.sqrt(np.clip(1.02 - np.linspace(-1.0, 1.0, len(mouth)) ** 2, 0.0, 1.0))
    return [*parts, *ears, _jawed(tube(mouth, widths, 6, hair))]


def _jawed(mesh: Mesh) -> SkinPart:
    """Make a part of the face: its lower front follows the jaw."""
    _, y, z = mesh.vertices.T
    jaw = 0.6 * ramp(-y, -1.630, -1.555) * ramp(z, -0.035, 0.060)
    return SkinPart(mesh, ["head", "jaw"], shares=np.column_stack((1.0 - jaw, jaw)))


def eye(own: Sheet, side: str, palette: Mapping[str, Any], detail: Detail) -> list[SkinPart]:
    """Make an eye and its lids."""
    if detail.share < _WITH_EYES:
        return []
    centre, ahead = own.bones[f"eye_{side}"].start, (0.0, 0.0, 1.0)
    white, black, iris = (0.95, 0.95, 0.94), (0.03, 0.03, 0.04), palette["iris"]
    bands = [(0.24, black), (0.50, iris), (0.56, tuple(0.4 * c for c in iris)), (math.pi, white)]
    lid = tuple(0.93 * c for c in palette["skin"])
    above, below = ((0.0, sign * math.sin(_COVERED), -math.cos(_COVERED)) for sign in (1.0, -1.0))
    eyeball = SkinPart(globe(centre, _EYE, ahead, bands, detail.size(14, 1)["sides"]), [f"eye_{side}"])
    if not detail.small:
        return [eyeball]
    return [
        eyeball,
        SkinPart(half_ball(centre, _LID, above, lid, 16), [f"lid_{side}"]),
        SkinPart(half_ball(centre, _LID - 0.0003, below, lid, 16), ["head"]),
    ]
