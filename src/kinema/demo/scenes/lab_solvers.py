"""The solvers that the lab compares: those of the library, and two from textbooks as plain NumPy.

Chains are (N + 1, 3), metres, +Y at rest, and every joint is a ball joint inside a cone. Each solver can be stopped
after a number of passes, so that the lab can show one pass after the other.

References: Jacobian transpose and damped least squares as in Buss, "Introduction to Inverse Kinematics with Jacobian
Transpose, Pseudoinverse and Damped Least Squares Methods", 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinema.constants import TOLERANCE
from kinema.math import arrays
from kinema.model.limits import Cone
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector
from kinema.solvers.chain.ccd import ccd
from kinema.solvers.chain.compensating import compensating
from kinema.solvers.chain.fabrik import fabrik
from kinema.solvers.limb.two_bone import two_bone

DAMPING = 0.1
"""Of damped least squares, chain lengths: small enough to arrive, large enough to stay calm near full reach."""
MOST_PASSES = 100
"""Of the solvers from textbooks."""
STUCK = 1e-9
"""Radians below which a pass changes nothing: a target on the line of a straight chain."""
LARGEST_STEP = 0.3
"""Longest way of the end that one pass of damped least squares asks for, chain lengths."""


class Problem(NamedTuple):
    """What all solvers get."""

    start: Any
    """(N + 1, 3): the chain to start from."""
    target: Any
    """(3,)."""
    angle: float | None
    """Largest angle between a bone and the one before it, radians; None for any."""

    @property
    def limits(self) -> list[Cone] | None:
        return None if self.angle is None else [Cone(self.angle)] * (len(self.start) - 1)


class Answer(NamedTuple):
    """A chain, and how many passes it took."""

    joints: Any
    iterations: int


def inside_cones(joints: Any, angle: float | None) -> Any:
    """Rotate each bone to within `angle` radians of the bone before it, the first one of +Y. Returns (N + 1, 3).

    For solvers that take no limits of their own: their chains get the same ones as those of the others.
    """
    if angle is None:
        return joints
    limited, before = joints.copy(), np.array((0.0, 1.0, 0.0))
    for i, bone in enumerate(np.diff(joints, axis=0)):
        length = np.linalg.norm(bone)
        along = bone / length if length else before
        aside = along - (along @ before) * before
        size = np.linalg.norm(aside)
        if along @ before < np.cos(angle) and size > 0.0:
            along = np.cos(angle) * before + np.sin(angle) * aside / size
        limited[i + 1], before = limited[i] + length * along, along
    return limited


# --- of the library ----------------------------------------------------------------------------------------------


def _limb(problem: Problem, most: int | None) -> Answer:
    """Return a chain that bends in its middle joint only."""
    start, middle = problem.start, len(problem.start) // 2
    lengths = np.linalg.norm(np.diff(start, axis=0), axis=1)
    if most == 0:
        return Answer(start, 0)
    halves = np.array((lengths[:middle].sum(), lengths[middle:].sum()))
    limb = two_bone(start[0], problem.target, halves, hint=np.array((1.0, 0.0, 0.0)))
    along = np.concatenate(([0.0], np.cumsum(lengths)))[:, np.newaxis]
    upper = start[0] + (limb.mid - start[0]) * along / halves[0]
    lower = limb.mid + (limb.end - limb.mid) * (along - halves[0]) / halves[1]
    return Answer(inside_cones(np.where(along <= halves[0], upper, lower), problem.angle), 1)


def _chain(solver: Callable[..., Any]) -> Callable[[Problem, int | None], Answer]:
    def solve(problem: Problem, most: int | None) -> Answer:
        if most == 0:
            return Answer(problem.start, 0)
        solved = solver(problem.start, problem.target, limits=problem.limits, max_iterations=most)
        return Answer(solved.joints, int(solved.iterations))

    return solve


@lru_cache(maxsize=64)
def _body_of(bones: int, length: float, angle: float | None, most: int | None) -> FullBody:
    offsets = np.zeros((bones + 1, 3))
    offsets[1:, 1] = length / bones
    rest = Pose(offsets, np.tile((0.0, 0.0, 0.0, 1.0), (bones + 1, 1)))
    limits = None if angle is None else [*[Cone(angle)] * bones, None]
    skeleton = Skeleton([f"joint {n}" for n in range(bones + 1)], range(-1, bones), rest, limits)
    if most is None:
        return FullBody(skeleton, root="fixed")
    return FullBody(skeleton, root="fixed", max_steps=most, attempts=1)


def _body(problem: Problem, most: int | None) -> Answer:
    """Return the chain as the solver of whole bodies leaves it, always from rest."""
    if most == 0:
        return Answer(problem.start, 0)
    lengths = np.linalg.norm(np.diff(problem.start, axis=0), axis=1)
    body = _body_of(len(lengths), round(float(lengths.sum()), 9), problem.angle, most)
    pose, report = body.solve(body.skeleton.rest, [Effector(len(lengths), problem.target)])
    world = body.skeleton.world(pose)[:, :3, 3] + problem.start[0]
    return Answer(inside_cones(world, problem.angle), int(report.steps))


def _moved(problem: Problem, most: int | None) -> Answer:
    """Return the chain of compensating angles after some frames of 1/60 s; a pass is a frame."""
    joints, state = problem.start, None
    for _ in range(most or 0):
        moved = compensating(joints, problem.target, state, dt=1 / 60)
        joints, state = inside_cones(moved.joints, problem.angle), moved.state
    return Answer(joints, most or 0)


# --- from textbooks ----------------------------------------------------------------------------------------------


def _jacobian(joints: Any) -> Any:
    """Return (3, 3N): how the end moves with rotations of each joint about x, y and z."""
    ways = joints[-1] - joints[:-1]
    return np.cross(np.eye(3), ways[:, np.newaxis]).reshape(-1, 3).T


def _rotated(joints: Any, angles: Any) -> Any:
    """Return the chain with each joint, and all after it, rotated. angles: (N, 3), rotation vectors."""
    size = np.linalg.norm(angles, axis=1, keepdims=True)
    axes = np.where(size > 0.0, angles / np.where(size > 0.0, size, 1.0), (1.0, 0.0, 0.0))
    turn, ways = np.eye(3), np.diff(joints, axis=0)
    for j, own in enumerate(arrays.to_matrix(arrays.from_axis_angle(axes, size[:, 0]))):
        turn = turn @ own
        ways[j] = turn @ ways[j]
    return joints[0] + np.concatenate((np.zeros((1, 3)), np.cumsum(ways, axis=0)))


def _transpose(joints: Any, miss: Any, length: float) -> Any:
    """Return the rotation vectors of one pass: along the gradient, as far as is best for a straight way."""
    jacobian = _jacobian(joints)
    along = jacobian.T @ miss
    way = jacobian @ along
    return along * (miss @ way) / max(float(way @ way), np.finfo(float).tiny)


def _damped(joints: Any, miss: Any, length: float) -> Any:
    """Return the rotation vectors of one pass: J^T (J J^T + d^2 I)^-1 miss."""
    far = float(np.linalg.norm(miss))
    asked = miss * min(1.0, LARGEST_STEP * length / max(far, np.finfo(float).tiny))
    jacobian = _jacobian(joints)
    return jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + (DAMPING * length) ** 2 * np.eye(3), asked)


def _textbook(angles: Callable[[Any, Any, float], Any]) -> Callable[[Problem, int | None], Answer]:
    def solve(problem: Problem, most: int | None) -> Answer:
        joints = problem.start
        length = float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())
        for passes in range(MOST_PASSES if most is None else most):
            miss = problem.target - joints[-1]
            if np.linalg.norm(miss) <= TOLERANCE * length:
                return Answer(joints, passes)
            turned = angles(joints, miss, length).reshape(-1, 3)
            if np.abs(turned).max() < STUCK:
                return Answer(joints, passes)
            joints = inside_cones(_rotated(joints, turned), problem.angle)
        return Answer(joints, MOST_PASSES if most is None else most)

    return solve


SOLVERS: dict[str, tuple[str, Callable[[Problem, int | None], Answer]]] = {
    "two_bone": ("Two-bone", _limb),
    "fabrik": ("FABRIK", _chain(fabrik)),
    "ccd": ("CCD", _chain(ccd)),
    "damped": ("Damped least squares", _textbook(_damped)),
    "transpose": ("Jacobian transpose", _textbook(_transpose)),
    "body": ("Whole-body solver", _body),
    "compensating": ("Compensating angles", _moved),
}
"""Solvers by name, with their titles and what solves from a start: to the end, or for a number of passes at most."""
