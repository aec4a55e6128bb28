"""Whole characters of a crowd: they walk in rings over hills, look at a target, and reach for it where it is near.

All of them are one `Animator`: clips, feet on the ground, hands and head of thousands in one call.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from kinema.behaviours.feet import Feet
from kinema.behaviours.hands import Hands
from kinema.behaviours.head import Head
from kinema.behaviours.play import Play
from kinema.demo.characters.crowd_skin import followed
from kinema.demo.characters.humanoid import humanoid, skin_of
from kinema.demo.characters.humanoid_body import colours
from kinema.demo.characters.shells import Detail
from kinema.math import arrays
from kinema.pipeline import Animator
from kinema.world.height_field import HeightField

APART = 0.95
"""Distance between neighbours along and across the rings, m."""
INNERMOST = 2.0
"""Radius of the first ring, m."""
SPEED = 1.35
"""Of the walk, m/s."""
NEAR = 1.2
"""Distance along the ground within which characters reach for the target, m."""
HILLS_EXTENT, HILLS_SPACING, HILLS_HEIGHT = 128.0, 2.0, 0.35
"""Width of the ground, distance between its heights, and their amplitude, m."""
LOOKS = 12
"""Number of different colourings."""
LEVELS = (Detail(), *(Detail(share, small=False) for share in (0.5, 0.25, 0.12)))
"""Levels of detail, finest first."""
STEPS_A_METRE = 8192
"""Matrices go to the page as whole numbers of 16 bits: 0.1 mm apart, up to 4 m from the character."""

_SIDES = ("l", "r")
DRAWN = (
    "hips",
    "spine_2",
    "chest",
    "neck_1",
    "head",
    *(f"{name}_{side}" for side in _SIDES for name in ("clavicle", "upper_arm", "forearm", "hand")),
    *(f"{name}_{side}" for side in _SIDES for name in ("thigh", "shin", "foot", "toe")),
)
"""Joints that the page draws; fingers and the face follow them."""


class People:
    """Characters in concentric rings. count: how many. seed: of their colours and phases."""

    def __init__(self, count: int, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.radii, self.phases = _rings(count)
        self.seed = seed
        starts = draw.uniform(0.0, 1.0, count)
        self.looks = draw.integers(0, LOOKS, count)
        person = humanoid()
        stages = [Play("walk", root_motion="extract", root="root", time=starts), Feet(), Hands()]
        self.animator = Animator(person, [*stages, Head()], ground=hills(), count=count)
        self._kept = np.array([person.skeleton.index(name) for name in DRAWN])
        self.reaching = np.zeros((count, 2), bool)
        """(N, 2): who reaches with the left and with the right hand."""
        self.milliseconds = 0.0
        """Duration of the last update."""

    def step(self, time: float, dt: float, target: Any) -> None:
        """Walk for dt seconds. time: seconds since the start, at the end of the step."""
        self._update(time - dt, dt, target)

    def settle(self, time: float, dt: float, target: Any) -> None:
        """Let gaze and hands follow the target for dt seconds while everybody stands still."""
        self.animator["play"].play("walk", speed=0.0)
        self._update(time, dt, target)
        self.animator["play"].play("walk", speed=1.0)

    def _update(self, start: float, dt: float, target: Any) -> None:
        """Make a frame from where everybody is at a time; the walk moves them on."""
        position, heading = self.transforms(start)
        self.animator.set_transform(position, arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), heading))
        self.animator.look_at(target)
        self._reach(position, heading, target)
        self.frame = self.animator.update(dt)
        self.milliseconds = float(self.frame.timings["total"])

    def transforms(self, time: float) -> tuple[Any, Any]:
        """Return positions (N, 3) and headings (N,), radians, after so many seconds."""
        angle = self.phases + SPEED * time / self.radii
        x, z = self.radii * np.cos(angle), -self.radii * np.sin(angle)
        return np.stack((x, hill_height(x, z), z), axis=-1), angle + math.pi

    def _reach(self, position: Any, heading: Any, target: Any) -> None:
        """Let everybody near the target reach for it with the hand on that side."""
        away = target - position
        near = np.hypot(away[:, 0], away[:, 2]) < NEAR
        on_left = away[:, 0] * np.cos(heading) - away[:, 2] * np.sin(heading) > 0
        hands = self.animator["hands"]
        for n, (arm, on_side) in enumerate((("left", on_left), ("right", ~on_left))):
            reaching = near & (on_side | self.reaching[:, n]) & ~self.reaching[:, 1 - n]
            if reaching.any():
                hands.reach(arm, target, rows=reaching)
            if (gone := self.reaching[:, n] & ~reaching).any():
                hands.release(arm, rows=gone)
            self.reaching[:, n] = reaching

    @property
    def joints(self) -> Any:
        """(N, J, 3): positions of all joints."""
        return self.frame.world[..., :3, 3]

    def reached(self) -> tuple[float, int, int]:
        """Return the largest distance of a reaching hand from the target, how many are there, and how many reach."""
        report = self.frame.reports["hands"]
        errors = np.asarray(report.error)[self.reaching]
        return float(errors.max(initial=0.0)), int(np.asarray(report.reached)[self.reaching].sum()), len(errors)

    def origins(self) -> Any:
        """Return (N, 4), float32: position of each character, and the number of its colouring."""
        return np.column_stack((self.frame.transform[:, :3, 3], self.looks)).astype(np.float32)

    def palettes(self) -> Any:
        """Return (N, J, 12), int16: 3x4 skinning matrices of the drawn joints, relative to the character's position.

        `STEPS_A_METRE` stand for 1.
        """
        rows = self.frame.palette[:, self._kept].copy()
        rows[..., 3] -= self.frame.transform[:, np.newaxis, :3, 3]
        steps = np.clip(rows.reshape(len(rows), len(DRAWN), 12) * STEPS_A_METRE, -32768, 32767)
        return steps.astype(np.int16)


def _rings(count: int) -> tuple[Any, Any]:
    """Return radii (N,), metres, and angles (N,), radians, of characters in rings, from the inside out."""
    radii: list[float] = []
    angles: list[float] = []
    radius = INNERMOST
    while len(radii) < count:
        seats = int(2 * math.pi * radius / APART)
        taken = min(seats, count - len(radii))
        radii += [radius] * taken
        angles += [2 * math.pi * n / seats for n in range(taken)]
        radius += APART
    return np.array(radii), np.array(angles)


# --- the ground ------------------------------------------------------------------------------------------------


def hill_height(x: Any, z: Any) -> Any:
    """Return heights of the hills, metres."""
    return HILLS_HEIGHT * np.sin(0.31 * x) * np.cos(0.27 * z) + 0.5 * HILLS_HEIGHT * np.sin(0.17 * x + 0.23 * z)


@cache
def hills() -> HeightField:
    along = np.arange(-HILLS_EXTENT / 2, HILLS_EXTENT / 2 + HILLS_SPACING / 2, HILLS_SPACING)
    heights = hill_height(along[:, np.newaxis], along)
    return HeightField(heights.astype(np.float32), (-HILLS_EXTENT / 2, -HILLS_EXTENT / 2), HILLS_SPACING)


# --- for the page ----------------------------------------------------------------------------------------------


@cache
def packed_ground() -> bytes:
    """Return the hills for the page: counts of vertices and triangles, then both, 32-bit little-endian numbers."""
    side = round(HILLS_EXTENT / HILLS_SPACING) + 1
    along = np.linspace(-HILLS_EXTENT / 2, HILLS_EXTENT / 2, side)
    x, z = (each.reshape(-1) for each in np.meshgrid(along, along, indexing="ij"))
    corner = np.arange(side * side).reshape(side, side)
    a, b, c, d = (each.reshape(-1) for each in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    triangles = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    vertices = np.stack((x, hill_height(x, z), z), axis=-1)
    counts = np.array((len(vertices), len(triangles)), "<u4")
    return counts.tobytes() + vertices.astype("<f4").tobytes() + triangles.astype("<u4").tobytes()


@cache
def packed_level(number: int) -> bytes:
    """Return a level of detail for the page: counts, then its arrays, 32-bit little-endian numbers.

    For each vertex: position, normal, colour, two joints, two weights, and the slot of its colour in
    `palettes_of_looks`, or -1. Then the triangles.
    """
    skin = skin_of(LEVELS[number])
    joints, weights = followed(skin, humanoid().skeleton, DRAWN)
    slots = np.full(len(skin.vertices), -1.0)
    for slot, colour in enumerate(_palette(0)):
        slots[np.abs(skin.colours - colour).max(axis=1) < 1e-4] = slot
    counts = np.array((len(skin.vertices), len(skin.triangles)), "<u4")
    reals = (skin.vertices, skin.normals, skin.colours, joints, weights, slots)
    packed = [np.asarray(array, "<f4").tobytes() for array in reals]
    return b"".join((counts.tobytes(), *packed, skin.triangles.astype("<u4").tobytes()))


def _palette(seed: int) -> list[Any]:
    palette = colours(seed)
    return [palette.skin, palette.hair, palette.iris, palette.shirt, palette.trousers, palette.shoes]


def palettes_of_looks() -> list[list[Any]]:
    """Return the colours of each look, by slot."""
    return [_palette(seed) for seed in range(LOOKS)]
