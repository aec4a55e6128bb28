"""Who walks where: characters, grounds of their own size, and what they are asked for.

Lengths of grounds are metres for human legs; a character walks over the ground scaled to its legs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import kinema as km
from kinema import demo
from kinema.demo.terrain import lay
from tests.assets import FOLDER

CHARACTERS = ("spider", "fox", "horse", "person")
MORE = ("CesiumMan", "KayKit_Knight", "m2m_fox", "m2m_spider")
"""Characters from files, beside the four that are held to the bars."""

GROUNDS = ("flat", "rocks", "slope12", "slope25", "stairs_up", "stairs_down", "directions")
RATES = (30, 60, 120, 240)

SPEEDS = (0.5, 1.0, 1.6)
"""Leg lengths per second: slow, usual, and fast. At each one walker goes straight ahead and one turns."""

TURN, TURN_TIME = 0.8, 1.5
"""Radians per second of a walker that turns, and seconds until it turns the other way."""

DIRECTIONS = ((0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.7, 0.7), (-0.7, 0.7), (0.0, 1.0), (0.0, -1.0))
"""Along the character's left and ahead: what a walker that changes its direction is asked for, one after the other."""

DIRECTION_TIME = 1.1
"""Seconds of each direction."""

SECONDS = 12.0
HUMAN_LEG = 0.84
"""Metres: the leg for which the sizes of the grounds are made."""

START, OBSTACLE = 1.0, 1.6
"""Metres ahead at which walkers start, and at which the obstacle begins."""

STEP_RISE, STEP_RUN, STEPS = 0.18, 0.29, 12
"""Metres of a step of the stairs (32 degrees), and how many there are."""


class Course(NamedTuple):
    """A ground along +Z: the mesh that is walked on, and its heights for those who measure."""

    x: Any
    """(X,): where the columns of the mesh are, ascending, metres."""
    z: Any
    """(Z,): where its rows are; two rows at the same z are the foot and the edge of a riser."""
    height: Any
    """(X, Z): metres."""
    section: tuple[float, float]
    """Where the obstacle begins and ends along z."""

    def ground(self) -> Any:
        """The mesh as the product takes it."""
        x, z = np.broadcast_arrays(self.x[:, np.newaxis], self.z)
        corner = (np.arange(len(self.x) - 1)[:, np.newaxis] * len(self.z) + np.arange(len(self.z) - 1)).reshape(-1)
        a, b, c, d = corner, corner + 1, corner + len(self.z) + 1, corner + len(self.z)
        triangles = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
        return km.TriangleMesh(np.stack((x, self.height, z), axis=-1).reshape(-1, 3), triangles)

    def height_at(self, points: Any) -> Any:
        """Heights of the mesh's triangles at points (..., 3), in NumPy alone."""
        i = np.clip(np.searchsorted(self.x, points[..., 0], side="right") - 1, 0, len(self.x) - 2)
        k = np.clip(np.searchsorted(self.z, points[..., 2], side="right") - 1, 0, len(self.z) - 2)
        wide, long = self.x[i + 1] - self.x[i], self.z[k + 1] - self.z[k]
        u, v = (points[..., 0] - self.x[i]) / wide, (points[..., 2] - self.z[k]) / np.where(long > 0.0, long, 1.0)
        h = self.height
        ahead_first = h[i, k] + v * (h[i, k + 1] - h[i, k]) + u * (h[i + 1, k + 1] - h[i, k + 1])
        aside_first = h[i, k] + u * (h[i + 1, k] - h[i, k]) + v * (h[i + 1, k + 1] - h[i + 1, k])
        return np.where(v >= u, ahead_first, aside_first)


@cache
def course_of(name: str, size: float) -> Course:
    """A ground for legs of this length, metres."""
    path, end = [], OBSTACLE + 20.0
    if name == "rocks":
        path = [(0.0, 0.0, 15.0, 0)]
        end = OBSTACLE + 15.0
    elif name.startswith("slope"):
        degrees = float(name.removeprefix("slope"))
        path = [(0.0, degrees, 1.8), (0.0, 0.0, 0.5), (0.0, -degrees, 1.8)]
        end = OBSTACLE + 4.1
    elif name.startswith("stairs"):
        path = [(STEP_RISE if name == "stairs_up" else -STEP_RISE, 0.0, STEP_RUN)] * STEPS
        end = OBSTACLE + STEP_RUN * STEPS
    vertices, _ = lay((0.0, 0.0, OBSTACLE), *path, (0.0, 0.0, 20.0)).mesh(0.05)
    x = np.unique(vertices[:, 0])
    grid = vertices.reshape(len(x), -1, 3) * (size / HUMAN_LEG)
    wide = 1.0 if name == "rocks" else 10.0
    section = OBSTACLE * size / HUMAN_LEG, end * size / HUMAN_LEG
    return Course(grid[:, 0, 0] * wide, grid[0, :, 2], grid[..., 1], section)


@cache
def character_of(name: str) -> km.Character:
    """One of our characters, the horse of the assets, or the file of this name."""
    made = {"spider": demo.spider, "fox": demo.quadruped, "person": demo.humanoid}
    if name in made:
        return made[name]()
    return km.load(FOLDER / "gltf" / f"{'m2m_horse' if name == 'horse' else name}.glb")


def leg_of(character: km.Character) -> float:
    """The length of a leg, metres."""
    return float(character.skeleton.length(character.rig.legs[0].joints))


@dataclass(frozen=True, eq=False)
class Walked:
    """Samples of N walkers, at 60 Hz or at the frame rate, whichever is less: F of them."""

    character: km.Character
    course: Course
    world: Any
    """(F, N, J, 4, 4), rebuilt from the poses."""
    rotations: Any
    """(F, N, J, 4): local."""
    transform: Any
    """(F, N, 4, 4)."""
    planted: Any
    """(F, N, L): as reported."""
    allowed: Any
    """(F, N): as reported."""
    asked: Any
    """(N,): leg lengths per second."""
    rate: int
    """Samples per second."""


def walked(name: str, ground: str, hz: int = 60, seconds: float = SECONDS, **settings: Any) -> Walked:
    """Walk a character over a ground: at each speed straight ahead, and through turns."""
    character = character_of(name)
    size = leg_of(character)
    course = course_of(ground, size)
    animator = km.Animator(character, [km.Locomotion(**settings)], ground=course.ground(), count=2 * len(SPEEDS))
    animator.set_transform((0.0, 0.0, START * size / HUMAN_LEG))
    poses, transforms, planted, allowed = [], [], [], []
    for number in range(round(seconds * hz)):
        _ask(animator["locomotion"], size, ground, number / hz)
        frame = animator.update(1.0 / hz)
        if number % max(hz // 60, 1) == 0:
            report = frame.reports["locomotion"]
            poses.append(frame.pose)
            transforms.append(frame.transform.astype(np.float64))
            planted.append(report.planted.copy())
            allowed.append(report.allowed.copy())
    rotations = np.array([pose.rotations for pose in poses], np.float64)
    local = _matrices(poses, rotations)
    world = _forward(character.skeleton.parents, local, np.array(transforms))
    others = np.array(transforms), np.array(planted), np.array(allowed)
    return Walked(character, course, world, rotations, *others, np.repeat(SPEEDS, 2), min(hz, 60))


def _ask(state: Any, size: float, ground: str, seconds: float) -> None:
    speeds = np.repeat(SPEEDS, 2) * size
    turn = TURN * (1 if (seconds / TURN_TIME + 0.5) % 2 < 1 else -1)
    way = np.array((0.0, 1.0))
    if ground == "directions":
        way = np.array(DIRECTIONS[int(seconds / DIRECTION_TIME) % len(DIRECTIONS)])
    velocity = np.stack([way[0] * speeds, 0 * speeds, way[1] * speeds], axis=-1)
    state.walk(velocity, turn * np.tile((0.0, 1.0), len(SPEEDS)))


def _matrices(poses: list[Any], rotations: Any) -> Any:
    """(F, N, J, 4, 4): local matrices of poses."""
    x, y, z, w = np.moveaxis(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), -1, 0)
    matrices = np.zeros((*rotations.shape[:-1], 4, 4))
    matrices[..., 0, :3] = np.stack((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)), axis=-1)
    matrices[..., 1, :3] = np.stack((2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)), axis=-1)
    matrices[..., 2, :3] = np.stack((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)), axis=-1)
    matrices[..., :3, :3] *= np.array([pose.scales for pose in poses], np.float64)[..., np.newaxis, :]
    matrices[..., :3, 3] = [pose.translations for pose in poses]
    matrices[..., 3, 3] = 1.0
    return matrices


def _forward(parents: Any, local: Any, transforms: Any) -> Any:
    """World matrices by forward kinematics: joints come after their parents."""
    world = np.empty_like(local)
    for joint, parent in enumerate(parents):
        world[:, :, joint] = (transforms if parent < 0 else world[:, :, parent]) @ local[:, :, joint]
    return world
