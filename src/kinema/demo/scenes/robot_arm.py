"""`RobotArm`: the arm of a robot's file for the lab, whose joints turn about axes or slide along them, within limits.

Space: metres, y up, with the base at the origin. The solvers move joint angles, as those of robots do; each can be
stopped after a number of passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.scenes.character_files import loaded
from kinema.demo.scenes.lab_solvers import DAMPING, LARGEST_STEP, Answer
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.limits import Hinge, Slider
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector

MOST_JOINTS = 32
MOST_PASSES = 40
"""Of the solvers from textbooks."""
STILL = 1e-5
"""Radians below which a pass changes nothing worth waiting for."""
Y_UP = np.array((-0.5, -0.5, -0.5, 0.5))
"""From z up and x ahead, as robots have it, to y up and z ahead."""


class RobotArm:
    """The longest way through a robot: from its base to the end that most joints move.

    file: its name, "" for ours. Raises InputError if nothing in it moves, or too much.
    """

    def __init__(self, robot: Character, file: str = "") -> None:
        self.file = file
        whole = robot.skeleton
        path = _path(whole)
        if len(path) > MOST_JOINTS:
            raise InputError(f"{robot.name:.40} has {len(path)} joints in a row; the lab shows {MOST_JOINTS}")
        moves, rotations = np.array(whole.rest.translations[path], float), np.array(whole.rest.rotations[path], float)
        moves[0], rotations[0] = 0.0, arrays.mul(Y_UP, rotations[0])
        limits = [None, *(whole.limits[joint] for joint in path[1:])]
        names = [whole.names[joint] for joint in path]
        self.skeleton = Skeleton(names, range(-1, len(path) - 1), Pose(moves, rotations), limits)
        """Of the arm alone."""
        world = self.skeleton.rest_world
        self.rest = np.array(world[:, :3, 3], float)
        """(N, 3): its joints where all angles are 0."""
        self.length = float(np.linalg.norm(np.diff(self.rest, axis=0), axis=1).sum())
        if not self.moving:
            raise InputError(f"nothing moves in {robot.name:.40}: it has no revolute, continuous or prismatic joint")
        if not self.length:
            raise InputError(f"all joints of {robot.name:.40} are in one place")
        self._axes = np.zeros_like(self.rest)
        for j in self.moving:
            self._axes[j] = world[j, :3, :3] @ np.asarray(self.limit(j).axis, float)
        self._bodies: dict[int | None, FullBody] = {}

    @cached_property
    def moving(self) -> list[int]:
        """The joints that move."""
        return [j for j, limit in enumerate(self.skeleton.limits) if _moves(limit)]

    def limit(self, joint: int) -> Any:
        return self.skeleton.limits[joint]

    def solve(self, solver: str, target: Any, most: int | None = None) -> Answer:
        """Return its joints (N, 3) for a target (3,), from rest, after some passes at most; None: to the end."""
        return Answer(self.rest, 0) if most == 0 else SOLVERS[solver](self, np.asarray(target, float), most)


class _Moved:
    """Where the joints of an arm are at some angles."""

    def __init__(self, arm: RobotArm) -> None:
        self.arm, self.joints, self._axes = arm, arm.rest.copy(), arm._axes.copy()
        self.values = np.zeros(len(arm.rest))
        """(N,): radians or metres."""
        for j in arm.moving:
            self.move(j, 0.0)  # 0 may lie outside its limits.

    def move(self, joint: int, by: float) -> None:
        """Turn or slide a joint, as far as its limits allow."""
        limit, axis, at = self.arm.limit(joint), self._axes[joint], self.joints[joint].copy()
        by = min(max(self.values[joint] + by, limit.low), limit.high) - self.values[joint]
        self.values[joint] += by
        if isinstance(limit, Slider):
            self.joints[joint:] += axis * by
        elif by:
            turn = _turn(axis, by)
            self.joints[joint:] = (self.joints[joint:] - at) @ turn.T + at
            self._axes[joint:] = self._axes[joint:] @ turn.T

    def jacobian(self) -> Any:
        """Return (3, M): how the end moves with each joint that moves."""
        moving = self.arm.moving
        axes = self._axes[moving]
        slides = np.array([[isinstance(self.arm.limit(joint), Slider)] for joint in moving])
        return np.where(slides, axes, np.cross(axes, self.joints[-1] - self.joints[moving])).T

    def best(self, joint: int, target: Any) -> float:
        """Return how far to move one joint so that the end comes nearest to a target."""
        axis, at = self._axes[joint], self.joints[joint]
        if isinstance(self.arm.limit(joint), Slider):
            return float(axis @ (target - self.joints[-1]))
        end, wanted = (way - axis * (axis @ way) for way in (self.joints[-1] - at, target - at))
        return math.atan2(float(wanted @ (_across(axis) @ end)), float(end @ wanted))


def _by_passes(step: Callable[[_Moved, Any], None]) -> Callable[[RobotArm, Any, int | None], Answer]:
    """Return a solver that repeats a pass until the end arrives or nothing moves."""

    def solve(arm: RobotArm, target: Any, most: int | None) -> Answer:
        moved, most = _Moved(arm), MOST_PASSES if most is None else most
        for passes in range(most):
            before = moved.values.copy()
            if np.linalg.norm(target - moved.joints[-1]) <= TOLERANCE * arm.length:
                return Answer(moved.joints, passes)
            step(moved, target)
            if np.abs(moved.values - before).max() < STILL:
                return Answer(moved.joints, passes)
        return Answer(moved.joints, most)

    return solve


def _ccd(moved: _Moved, target: Any) -> None:
    for joint in reversed(moved.arm.moving):
        moved.move(joint, moved.best(joint, target))


def _damped(moved: _Moved, target: Any) -> None:
    miss, length = target - moved.joints[-1], moved.arm.length
    asked = miss * min(1.0, LARGEST_STEP * length / float(np.linalg.norm(miss)))
    jacobian = moved.jacobian()
    square = jacobian @ jacobian.T + (DAMPING * length) ** 2 * np.eye(3)
    _move_all(moved, jacobian.T @ np.linalg.solve(square, asked))


def _transpose(moved: _Moved, target: Any) -> None:
    miss = target - moved.joints[-1]
    jacobian = moved.jacobian()
    along = jacobian.T @ miss
    way = jacobian @ along
    _move_all(moved, along * (miss @ way) / max(float(way @ way), np.finfo(float).tiny))


def _move_all(moved: _Moved, by: Any) -> None:
    # From the end: a joint does not move those before it.
    for joint, one in reversed(list(zip(moved.arm.moving, by.tolist(), strict=True))):
        moved.move(joint, one)


def _body(arm: RobotArm, target: Any, most: int | None) -> Answer:
    if most not in arm._bodies:
        options: dict[str, Any] = {} if most is None else {"max_steps": most, "attempts": 1}
        arm._bodies[most] = FullBody(arm.skeleton, root="fixed", **options)
    body = arm._bodies[most]
    pose, report = body.solve(arm.skeleton.rest, [Effector(len(arm.rest) - 1, target)])
    return Answer(np.array(arm.skeleton.world(pose)[:, :3, 3], float), int(report.steps))


SOLVERS: dict[str, Callable[[RobotArm, Any, int | None], Answer]] = {
    "ccd": _by_passes(_ccd),
    "damped": _by_passes(_damped),
    "transpose": _by_passes(_transpose),
    "body": _body,
}
"""By the names that they have in the lab."""


@lru_cache(maxsize=1)
def six_axes() -> RobotArm:
    """Return an arm of six axes of our own."""
    name = "six_axes.urdf"
    return RobotArm(loaded(name, (files(__package__) / name).read_bytes()))


def _across(axis: Any) -> Any:
    """Return (3, 3): the cross product of an axis with whatever it is applied to."""
    x, y, z = axis.tolist()
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


def _turn(axis: Any, angle: float) -> Any:
    """Return (3, 3): the rotation about an axis, after Rodrigues."""
    across = _across(axis)
    return np.eye(3) + math.sin(angle) * across + (1.0 - math.cos(angle)) * (across @ across)


def _moves(limit: Any) -> bool:
    return isinstance(limit, Hinge | Slider) and limit.low < limit.high


def _path(skeleton: Skeleton) -> list[int]:
    """Return the joints from the root to the end that most joints move, the farthest such end."""
    parents, limits = skeleton.parents.tolist(), skeleton.limits
    found: list[tuple[int, float]] = []
    for joint, parent in enumerate(parents):
        moved, way = (0, 0.0) if parent < 0 else found[parent]
        step = float(np.linalg.norm(skeleton.rest.translations[joint]))
        found.append((moved + _moves(None if limits is None else limits[joint]), way + step))
    at = max(range(len(found)), key=found.__getitem__)
    path = [at]
    while parents[path[0]] >= 0:
        path.insert(0, parents[path[0]])
    return path
