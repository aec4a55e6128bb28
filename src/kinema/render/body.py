"""The meshes that are drawn of a character in a pose: its bones, its skin, or both.

Bones are spindles, joints are balls, and a person's head is a large ball.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.render.camera import DrawingSpace, along
from kinema.render.look import Theme
from kinema.render.meshes import Mesh, globe, joined, smoothed, tube

BONE_WIDTH = 0.036
"""Largest radius of a bone that is one body size long. It grows with the square root of the length, so that fingers are
visible and a thigh is no balloon."""

KNOB = 0.8
"""Radius of a joint's ball, as a fraction of the thickest bone at the joint."""

BONE_AT, BONE_SHAPE = (0.0, 0.04, 0.16, 0.5, 1.0), (0.35, 0.62, 1.0, 0.84, 0.45)
"""Outline of a bone: positions along it, and the radius there as a fraction of the largest."""

SIDES = 10
"""Sides of a bone's tube: looks round at the sizes drawn."""

SMALLEST_KNOB = 0.006
"""Body sizes: radius of the ball of a joint without bones."""

SHORTEST_BONE = 1e-3
"""Body sizes. Shorter bones are invisible, and may have no direction."""

HEAD = 0.06
"""Body sizes: largest radius of the ball that stands for a head."""

HEAD_ABOVE, HEAD_AROUND = 0.7, 0.6
"""Height of that ball above the head joint, in radii, if nothing is below the joint in the hierarchy; and its radius as
a fraction of the distance to the farthest descendant, if there is one."""

SKULL_SIDES = 28
"""Sides of that ball."""

SIDEWAYS = 0.02
"""Body sizes from the middle at which a limb counts as left or right."""


_WHITE = (1.0, 1.0, 1.0)

_SPINDLE = tube([(0.0, at, 0.0) for at in BONE_AT], BONE_SHAPE, SIDES, _WHITE, bulge=0.0)
"""A bone from the origin to (0, 1, 0), of radius 1."""

_BALL, _SKULL = (
    globe(
        (0.0, 0.0, 0.0),
        1.0,
        (0.0, 1.0, 0.0),
        [(2 * np.pi * k / sides, _WHITE) for k in range(1, sides // 2 + 1)],
        sides,
    )
    for sides in (SIDES, SKULL_SIDES)
)


def drawn_joints(character: Character) -> Any:
    """Return the indices of the joints that are drawn, in order.

    With a rig, these are the hips and all joints below. Without one, the joints that carry skin and those between
    them. Without skin, all joints from where the skeleton first branches, so that no bone runs from the origin of the
    file to the hips.
    """
    skeleton = character.skeleton
    if character.rig is not None:
        return skeleton.below([character.rig.hips])
    carrying = [skin.joints[skin.weights > 0] for skin in character.skins]
    if carrying and np.concatenate(carrying).size:
        used = np.unique(np.concatenate(carrying)).tolist()
        return np.intersect1d(skeleton.below(used), skeleton.above(used))
    return skeleton.below([_body(skeleton, int(root)) for root in np.flatnonzero(skeleton.parents < 0)])


def _body(skeleton: Skeleton, joint: int) -> int:
    """Return the first joint from here down that has more than one chain of joints below it."""
    children = skeleton.children(joint)
    while len(children) == 1:
        joint = children[0]
        children = skeleton.children(joint)
    longer = [child for child in children if skeleton.children(child)]
    # Files keep meshes, lights and cameras beside the skeleton, as single joints.
    return _body(skeleton, longer[0]) if len(longer) == 1 else joint


@dataclass(frozen=True)
class DrawnBones:
    """What is drawn of a skeleton."""

    joints: Any
    """(n,): indices of the joints that are drawn."""
    parents: Any
    """(n,): each one's parent as an index into `joints`; -1 if it has none."""
    colours: Any
    """(n, 3): colour of each joint's ball and of the bone that leads to it."""
    head: Any
    """Indices into `joints` of a person's head and the joints below it; empty if there is none."""

    @classmethod
    def of(cls, character: Character, theme: Theme, skull: bool = True) -> DrawnBones:
        """Choose what to draw of a character. skull: whether a person's head is drawn as a ball."""
        joints = drawn_joints(character)
        slot = np.full(len(character.skeleton) + 1, -1)
        slot[joints] = np.arange(len(joints))
        rig, skeleton = character.rig, character.skeleton
        heads = [rig.head] if skull and rig is not None and rig.head is not None and rig.arms else []
        head = slot[skeleton.below(heads)]
        head = head[head >= 0]
        return cls(joints, slot[skeleton.parents[joints]], _sided(skeleton, rig, theme)[joints], head)

    def mesh(self, at: Any) -> Mesh:
        """Return the mesh of joints at positions (n, 3) in drawing space."""
        ends = np.flatnonzero(self.parents >= 0)
        starts = self.parents[ends]
        way = at[ends] - at[starts]
        length = np.linalg.norm(way, axis=1)
        seen = length > SHORTEST_BONE
        ends, starts, way, length = ends[seen], starts[seen], way[seen], length[seen]
        width = BONE_WIDTH * np.sqrt(length)
        knobs = np.full(len(at), SMALLEST_KNOB)
        np.maximum.at(knobs, starts, KNOB * width)
        np.maximum.at(knobs, ends, BONE_SHAPE[-1] * width)
        spindles = _many(_SPINDLE, at[starts], _frames(way, length, width), self.colours[ends])
        balls = _many(_BALL, at, np.eye(3) * knobs[:, np.newaxis, np.newaxis], self.colours)
        return joined([spindles, balls, *self._skull(at)])

    def _skull(self, at: Any) -> list[Mesh]:
        """Return a ball around the joints below the head, or above the head joint if there are none."""
        if not len(self.head):
            return []
        joint, below = at[self.head[0]], at[self.head]
        away = np.linalg.norm(below - joint, axis=1)
        if away.max() > HEAD / 2:
            middle, radius = 0.5 * (joint + below[np.argmax(away)]), min(HEAD, HEAD_AROUND * away.max())
        else:
            parent = self.parents[self.head[0]]
            neck_way = joint - at[parent] if parent >= 0 else np.zeros(3)
            middle, radius = joint + HEAD_ABOVE * HEAD * arrays.unit(neck_way), HEAD
        return [_many(_SKULL, middle[np.newaxis], radius * np.eye(3)[np.newaxis], self.colours[self.head[:1]])]


def _sided(skeleton: Skeleton, rig: Rig | None, theme: Theme) -> Any:
    """Return (J, 3): colours of all joints; left and right limbs, as they are at rest, have their own."""
    colours = np.tile(theme.middle, (len(skeleton), 1))
    if rig is None:
        return colours
    rest = skeleton.rest_world[:, :3, 3]
    left = np.cross(rig.up, rig.forward)
    size = np.ptp(rest @ np.stack((left, rig.up, rig.forward)).T, axis=0).max()
    legs = [leg.joints for leg in rig.legs]
    arms = [arm.joints if arm.shoulder is None else (arm.shoulder, *arm.joints) for arm in rig.arms]
    for limb in (*legs, *arms):
        aside = (rest[list(limb)].mean(axis=0) - rest[int(rig.hips)]) @ left
        if abs(aside) > SIDEWAYS * size:
            colours[skeleton.below([limb[0]])] = theme.left if aside > 0 else theme.right
    return colours


def _frames(way: Any, length: Any, width: Any) -> Any:
    """Return (n, 3, 3): matrices that scale and rotate a spindle to run along `way`."""
    along = way / length[:, np.newaxis]
    flattest = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    side = arrays.unit(np.cross(along, flattest))
    return np.stack((side * width[:, np.newaxis], way, np.cross(side, along) * width[:, np.newaxis]), axis=-1)


def _many(shape: Mesh, origins: Any, frames: Any, colours: Any) -> Mesh:
    """Copy a shape for each origin (n, 3), matrix (n, 3, 3) with perpendicular columns, and colour (n, 3)."""
    each, count = len(shape.vertices), len(origins)
    vertices = origins[:, np.newaxis] + shape.vertices @ frames.transpose(0, 2, 1)
    size = (frames**2).sum(axis=1, keepdims=True)
    # Normals transform with the inverse: a surface stretched along an axis faces it less.
    inverse = frames / np.where(size > 0, size, 1.0)
    normals = arrays.unit(shape.normals @ inverse.transpose(0, 2, 1))
    triangles = shape.triangles + each * np.arange(count)[:, np.newaxis, np.newaxis]
    return Mesh(
        vertices.reshape(-1, 3), triangles.reshape(-1, 3), normals.reshape(-1, 3), np.repeat(colours, each, axis=0)
    )


@dataclass(frozen=True)
class DrawnBody:
    """What is drawn of one pose, in drawing space: bones, a skin, or bones that show through a skin."""

    bones: Mesh | None = None
    skin: Mesh | None = None

    def moved(self, offset: Any) -> DrawnBody:
        return DrawnBody(_moved(self.bones, offset), _moved(self.skin, offset))

    @classmethod
    def joined(cls, bodies: list[DrawnBody]) -> DrawnBody:
        bones, skins = (
            [mesh for mesh in each if mesh is not None]
            for each in zip(*((body.bones, body.skin) for body in bodies), strict=True)
        )
        return cls(joined(bones) if bones else None, joined(skins) if skins else None)


@dataclass(frozen=True)
class Sculptor:
    """Build bodies from a character's poses. show: "bones", "skin" or "both"."""

    character: Character
    theme: Theme
    show: str

    def __post_init__(self) -> None:
        if self.show != "bones" and not self.character.skins:
            raise InputError(f"show is {self.show!r}, but {self.character.name!r} has no skin; allowed is 'bones'")

    def body(self, pose: Pose, weights: Mapping[str, Any], space: DrawingSpace) -> DrawnBody:
        """Return what is drawn of a pose. weights: of blend shapes, by name."""
        return DrawnBody(
            None if self.show == "skin" else self._bones.mesh(space.points(self._joints(pose))),
            None if self.show == "bones" else self._skin(pose, weights, space),
        )

    def outline(self, pose: Pose) -> Any:
        """Return (k, 3): points that a picture of the pose must show, in the character's space."""
        if self.show == "bones":
            return self._joints(pose)
        palette = self.character.skeleton.palette(pose)
        points = np.concatenate([skin.deform(palette) for skin in self.character.skins]).astype(np.float64)
        # The farthest in 26 directions are enough to fit a picture around them.
        ways = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])
        return points[np.argmax(along(ways, points), axis=0)]

    @cached_property
    def _bones(self) -> DrawnBones:
        return DrawnBones.of(self.character, self.theme, skull=self.show == "bones")

    def _joints(self, pose: Pose) -> Any:
        """Return (n, 3): positions of the joints that are drawn, in the character's space."""
        return self.character.skeleton.world(pose)[self._bones.joints, :3, 3].astype(np.float64)

    def _skin(self, pose: Pose, weights: Mapping[str, Any], space: DrawingSpace) -> Mesh:
        """Return all skins as the pose deforms them, with new normals."""
        palette = self.character.skeleton.palette(pose)
        return joined(
            [
                smoothed(
                    space.points(skin.deform(palette, weights).astype(np.float64)),
                    skin.triangles,
                    self.theme.skin if skin.colours is None else skin.colours,
                )
                for skin in self.character.skins
            ]
        )


def _moved(mesh: Mesh | None, offset: Any) -> Mesh | None:
    if mesh is None:
        return None
    return Mesh(mesh.vertices + offset, mesh.triangles, mesh.normals, mesh.colours)
