"""Base poses and joint values of a clip."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kinema import notices, validation
from kinema.constants import LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import FileError, InputError, listed
from kinema.io.robot import RobotSource
from kinema.math import arrays
from kinema.model.character import Character, chosen_clip
from kinema.model.clip import Clip
from kinema.model.limits import Hinge, Slider
from kinema.model.skeleton import Skeleton
from kinema.solvers.goal.hinges import from_hinge_angles, hinge_angles, moving_hinges

LARGEST_FILE = 1
"""They are only written."""

MOST_NUMBERS = 100_000_000
"""Numbers of a file: ten hours of 30 joints at 100 frames per second."""

_FPS = 30.0
"""Frames per second of a clip that has no rate of its own."""

_OFF = math.radians(1.0)
"""Rotation that the joints cannot make, from which it is worth a warning."""


@dataclass(frozen=True)
class JointValues:
    """A clip of T frames of a robot with N joints."""

    fps: float
    base_positions: Any
    """(T, 3): of the first link, in the unit and the axes of the skeleton."""
    base_rotations: Any
    """(T, 4): x, y, z, w."""
    names: tuple[str, ...]
    values: Any
    """(T, N): radians, or lengths of sliders, as the robot's file counts them."""

    def by_name(self) -> dict[str, Any]:
        """Return the arrays by the names that robot learning gives them."""
        return {
            "fps": self.fps,
            "root_pos": self.base_positions,
            "root_rot": self.base_rotations,
            "dof_pos": self.values,
            "joint_names": np.array(self.names),
        }


def detect(head: bytes) -> bool:
    """No file begins like these: they are only written."""
    return False


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> NoReturn:
    """Refuse to read."""
    raise FileError("joint values are not read; they need their robot", name)


def one_clip(character: Character, clip: str | Clip | None) -> Clip:
    """Return the clip to write."""
    if clip is not None:
        return chosen_clip(character, clip)
    if len(character.clips) != 1:
        raise InputError(f"the file holds one clip; choose one with clip=: there are {listed(character.clips)}")
    return next(iter(character.clips.values()))


def frame_times(clip: Clip, fps: float | None, numbers: int) -> tuple[Any, float]:
    """Return the times of all frames and the rate. numbers: of a frame."""
    rate = validation.number("fps", (clip.fps or _FPS) if fps is None else fps, 1 / LONGEST_FRAME, 1 / SHORTEST_FRAME)
    count = round(float(clip.duration or 0.0) * rate) + 1
    if count * numbers > MOST_NUMBERS:
        raise InputError(f"{count:,} frames of {numbers} numbers; allowed are {MOST_NUMBERS:,} numbers")
    return np.arange(count) / rate, rate


def joint_values(character: Character, clip: str | Clip | None, fps: float | None) -> JointValues:
    """Return the values of a clip, and warn of what a robot cannot follow.

    Raises InputError for a body with other joints than hinges and sliders, unless it comes from a robot's file.
    """
    skeleton, source = character.skeleton, character.source
    robot = source if isinstance(source, RobotSource) else RobotSource()
    moved = moving_hinges(skeleton, range(len(skeleton)))
    free = [limit for limit, parent in zip(skeleton.limits, skeleton.parents, strict=True) if parent >= 0]
    if not moved or (robot is not source and not all(isinstance(limit, Hinge | Slider) for limit in free)):
        raise InputError("not all of its joints are hinges and sliders; such files hold the joint values of robots")
    chosen = one_clip(character, clip)
    times, rate = frame_times(chosen, fps, 13 * len(skeleton))
    pose = chosen.sample(times)
    values = hinge_angles(skeleton, pose, moved).astype(np.float64)
    world = skeleton.world(pose).astype(np.float64)
    base = _base(character, world)
    rebuilt = base[:, np.newaxis] @ skeleton.world(from_hinge_angles(skeleton, values, moved)).astype(np.float64)
    rebuilt = rebuilt if skeleton.parents[0] < 0 else world
    _warn_of_bends(skeleton, world, rebuilt)
    names = tuple(robot.joints.get(skeleton.names[j], skeleton.names[j]) for j in moved)
    for k, j in enumerate(moved):
        limit = skeleton.limits[j]
        if isinstance(limit, Hinge) and limit.high - limit.low > 2.0 * math.pi - 1e-6:
            values[:, k] = np.unwrap(values[:, k])
    values += np.array([robot.at_rest.get(name, 0.0) for name in names])
    for k, name in enumerate(names):
        mimic = robot.mimics.get(name)
        if mimic is not None and mimic.joint in names:
            values[:, k] = mimic.multiplier * values[:, names.index(mimic.joint)] + mimic.offset
    _warn_of_speed(names, values, rate, robot.velocities)
    base = base @ skeleton.rest_world[0]
    return JointValues(rate, base[:, :3, 3], arrays.continuous(arrays.from_matrix(base[:, :3, :3])), names, values)


def _base(character: Character, world: Any) -> Any:
    """(T, 4, 4): how the first link has moved from rest. A clip may move the hips, if nothing moves in between."""
    skeleton = character.skeleton
    at = 0 if character.rig is None else int(character.rig.hips)
    above = at
    while above > 0:
        limit = skeleton.limits[above]
        if not isinstance(limit, Hinge | Slider) or limit.low < limit.high:
            at = 0
            break
        above = int(skeleton.parents[above])
    return world[:, at] @ np.linalg.inv(skeleton.rest_world[at])


def _warn_of_bends(skeleton: Skeleton, world: Any, rebuilt: Any) -> None:
    """Warn of a clip that rotates links as the joints do not let them."""
    turn = np.swapaxes(world[..., :3, :3], -1, -2) @ rebuilt[..., :3, :3]
    cosine = np.clip((np.trace(turn, axis1=-2, axis2=-1) - 1.0) / 2.0, -1.0, 1.0)
    off = np.arccos(cosine).max(axis=0)
    worst = int(off.argmax())
    if off[worst] > _OFF:
        notices.warn(
            f"the clip rotates {skeleton.names[worst]!r} by up to {math.degrees(off[worst]):.0f} degrees where its "
            "joints do not let it; the values are the nearest that they can take"
        )


def _warn_of_speed(names: tuple[str, ...], values: Any, rate: float, top: dict[str, float]) -> None:
    """Warn of joints that move faster than the robot's file allows."""
    if len(values) < 2:
        return
    speed = np.abs(np.diff(values, axis=0)).max(axis=0) * rate
    fast = [k for k, name in enumerate(names) if speed[k] > top.get(name, math.inf)]
    if fast:
        worst = max(fast, key=lambda k: speed[k] / top[names[k]])
        notices.warn(
            f"{len(fast)} joints move faster than they can; {names[worst]!r} at {speed[worst]:.1f} a second, allowed "
            f"are {top[names[worst]]:.1f}"
        )
